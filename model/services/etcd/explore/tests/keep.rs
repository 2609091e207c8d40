//! KEEP, which no property of the kernel expresses: a holder that is well, renews in time and loses no message keeps its lock. The hazards
//! whose lines are about it are here, as a property of Rust.

use fencepost_checker::Options;
use fencepost_etcd::{Etcd, Settings, Stop};
use fencepost_etcd_explore::SERVICE;
use fencepost_model::fact::{Fact, Leaving};
use fencepost_model::properties::{Level, Memory, View};
use fencepost_model::scenario::{Replies, Scenario};
use fencepost_model::time::Ticks;

/// No client leaves because its time is over, or because it is told so.
fn keep(view: &View<'_, Etcd>, _: &mut Memory) -> Result<(), String> {
    for fact in view.facts {
        if let Fact::Left { client, why: why @ (Leaving::Lapsed | Leaving::Notified) } = fact {
            return Err(format!("{client} was well, and leaves: {why}"));
        }
    }
    Ok(())
}

/// The verdict on KEEP of two clients that stop on `Done`, with one fault.
fn verdict(fault: &str, change: impl FnOnce(&mut Settings)) -> &'static str {
    let mut scenario = Scenario::<Etcd>::new("keep").message_delay(0).wake_delay(0).server_delay(0).rounds(1);
    scenario.network.replies = Replies::Instant;
    let scenario = scenario
        .service(|settings| {
            settings.stop = Stop::OnDone;
            change(settings);
        })
        .allow(fault, 1)
        .own_property("keep", Level::Belief, keep);
    let outcome = SERVICE.any(&scenario).check(&Options::default()).expect("no internal error").remove(0);
    outcome.finding.verdict.word()
}

#[test]
fn e_8_renewed_before_it_existed() {
    // Fixed in 3.4.20: a renewal waits until the leader has applied the grant (E-LS-3).
    assert_eq!(verdict("slow_applies", |settings| settings.waits_for_apply = false), "violated");
    assert_eq!(verdict("slow_applies", |_| {}), "proven");
}

#[test]
fn e_9_slow_apply_starves_every_renewal() {
    let lag = |ticks: i64| move |settings: &mut Settings| settings.apply_lag = Ticks::new(ticks);
    assert_eq!(verdict("slow_applies", lag(2)), "violated");
    assert_eq!(verdict("slow_applies", lag(1)), "proven");
}

#[test]
fn e_27_the_server_pauses_and_the_client_is_punished() {
    // Two ticks are a second.
    let freeze = |ticks: i64| {
        move |settings: &mut Settings| {
            (settings.ttl, settings.renew_after, settings.done_loop) = (Ticks::new(6), Ticks::new(2), Ticks::new(2));
            settings.freeze = Ticks::new(ticks);
        }
    };
    assert_eq!(verdict("server_pauses", freeze(1)), "proven");
    // What is left of a lease at least when the server pauses: T - T/3.
    assert_eq!(verdict("server_pauses", freeze(3)), "proven");
    assert_eq!(verdict("server_pauses", freeze(4)), "violated");
    assert_eq!(verdict("server_pauses", freeze(7)), "violated");
}
