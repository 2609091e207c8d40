//! The crate kubert 0.25.0: its patches carry the version that it has read (OL-K-22).

use std::time::Duration;

use kubert::lease::{ClaimParams, LeaseManager};
use kubert_k8s_openapi::api::coordination::v1::Lease;
use kubert_kube_client::{Api, Client, Config};
use tokio::time::sleep;

use crate::stand_in::{StandIn, unchanged};

const LEASE: Duration = Duration::from_secs(2);

async fn manager(address: &str) -> LeaseManager {
    let config = Config::new(format!("http://{address}").parse().expect("an address"));
    let api: Api<Lease> = Api::namespaced(Client::try_from(config).expect("a client"), "default");
    LeaseManager::init(api, "lead").await.expect("the lease is there")
}

/// The holder, as a client of this name finds it when it has claimed the lease.
async fn holder(manager: &LeaseManager, claimant: &str) -> String {
    let params = ClaimParams { lease_duration: LEASE, renew_grace_period: LEASE / 2 };
    manager.ensure_claimed(claimant, &params).await.expect("an answer").holder.clone()
}

pub async fn they_take_turns(stand_in: &StandIn, [a, b]: &[String; 2]) {
    stand_in
        .begin("kubert: a client that is refused takes over when the lease is over, and at once when it is vacated")
        .await;
    stand_in.create_lease().await;
    let (a, b) = (manager(a).await, manager(b).await);
    assert_eq!((holder(&a, "a").await, holder(&b, "b").await), ("a".to_owned(), "a".to_owned()));
    sleep(LEASE * 6 / 10).await;
    assert_eq!(holder(&a, "a").await, "a", "it renews within the last half of its lease");
    b.sync().await.expect("an answer");
    sleep(LEASE * 6 / 10).await;
    assert_eq!(holder(&b, "b").await, "a", "renewed");
    sleep(LEASE * 6 / 10).await;
    assert_eq!(holder(&b, "b").await, "b", "a has paused");
    assert!(b.vacate("b").await.expect("an answer"), "it gives the lease back");
    a.sync().await.expect("an answer");
    assert_eq!(holder(&a, "a").await, "a");
    let (found, takeovers) = stand_in.verdict().await;
    assert_eq!(found, Vec::<String>::new());
    assert!(matches!(&takeovers[..], [one] if unchanged(one) >= 2.0), "{takeovers:?}");
}

pub async fn the_second_of_two_patches_is_refused(stand_in: &StandIn, [a, b]: &[String; 2]) {
    stand_in.begin("kubert: two clients find the lease over, and the patch of the second is refused").await;
    stand_in.create_lease().await;
    assert_eq!(holder(&manager(a).await, "old").await, "old");
    sleep(LEASE * 6 / 5).await;
    let (a, b) = (manager(a).await, manager(b).await);
    stand_in.plan("on PATCH *leases/lead: delay-request 300ms").await;
    let (one, two) = tokio::join!(holder(&a, "a"), holder(&b, "b"));
    assert_eq!(one, two, "one of them leads, and the other one knows it");
    let (found, takeovers) = stand_in.verdict().await;
    assert_eq!(found, Vec::<String>::new());
    assert_eq!(takeovers.len(), 1, "{takeovers:?}");
}
