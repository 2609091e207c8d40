//! The crate kube-leader-election 0.44.0: it reads, decides, and patches without a version (OL-K-23).

use std::time::Duration;

use kube_leader_election::{LeaseLock, LeaseLockParams, LeaseLockResult};
use tokio::time::sleep;

use crate::stand_in::{StandIn, client, unchanged};

const LEASE: Duration = Duration::from_secs(2);

fn lock(address: &str, holder: &str) -> LeaseLock {
    let (holder_id, lease_name) = (holder.to_owned(), "lead".to_owned());
    LeaseLock::new(client(address), "default", LeaseLockParams { holder_id, lease_name, lease_ttl: LEASE })
}

async fn leads(lock: &LeaseLock) -> bool {
    matches!(lock.try_acquire_or_renew().await.expect("an answer"), LeaseLockResult::Acquired(_))
}

pub async fn they_take_turns(stand_in: &StandIn, [a, b]: &[String; 2]) {
    stand_in.begin("kube-leader-election: a client that is refused takes over when the lease is over").await;
    let (a, b) = (lock(a, "a"), lock(b, "b"));
    assert!(leads(&a).await && !leads(&b).await, "a creates it, and b waits");
    sleep(LEASE / 2).await;
    assert!(leads(&a).await && !leads(&b).await, "a renews it");
    sleep(LEASE * 6 / 5).await;
    assert!(leads(&b).await && !leads(&a).await, "a has paused");
    b.step_down().await.expect("it steps down");
    sleep(LEASE * 6 / 5).await;
    assert!(leads(&a).await, "the lease is free, and counted to its end all the same");
    let (found, takeovers) = stand_in.verdict().await;
    assert_eq!(found, Vec::<String>::new());
    assert!(matches!(&takeovers[..], [one] if unchanged(one) >= 2.0), "{takeovers:?}");
}

/// OL-19.
pub async fn two_patches_acquire_one_lease(stand_in: &StandIn, [a, b]: &[String; 2]) {
    stand_in
        .begin("kube-leader-election: two clients find the lease over, and both of their patches acquire it (OL-19)")
        .await;
    assert!(leads(&lock(a, "old")).await);
    sleep(LEASE * 6 / 5).await;
    // Both have read before either of the patches arrives.
    stand_in.plan("on PATCH *leases/lead: delay-request 300ms").await;
    let (a, b) = (lock(a, "a"), lock(b, "b"));
    assert_eq!(tokio::join!(leads(&a), leads(&b)), (true, true), "both lead");
    let (found, takeovers) = stand_in.verdict().await;
    assert_eq!(found, ["lease-exclusion"]);
    assert!(takeovers.len() == 2 && unchanged(&takeovers[1]) < 1.0, "{takeovers:?}");
}

pub async fn a_late_renewal_extends_the_lease_of_another(stand_in: &StandIn, [a, b]: &[String; 2]) {
    stand_in
        .begin(
            "kube-leader-election: a late renewal extends the lease of the successor, and its sender leads on (OL-19)",
        )
        .await;
    let (a, b) = (lock(a, "a"), lock(b, "b"));
    assert!(leads(&a).await);
    stand_in.plan("on PATCH *leases/lead from a #1: delay-request 3000ms").await;
    let late = async {
        let told = a.try_acquire_or_renew().await.expect("an answer");
        let LeaseLockResult::Acquired(lease) = told else { panic!("it is told that it does not lead") };
        lease.spec.and_then(|spec| spec.holder_identity)
    };
    let successor = async {
        sleep(LEASE * 6 / 5).await;
        assert!(leads(&b).await, "the lease is over");
        stand_in.lease().await["spec"]["renewTime"].clone()
    };
    let (holder, renewed) = tokio::join!(late, successor);
    assert_eq!(holder.as_deref(), Some("b"), "the answer that makes it lead names another");
    let now = stand_in.lease().await;
    assert_eq!(now["spec"]["holderIdentity"], "b");
    assert_ne!(now["spec"]["renewTime"], renewed, "the late renewal counts for b");
    stand_in.verdict().await;
}
