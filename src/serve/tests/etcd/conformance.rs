//! The stand-in is held against the model by what holds real servers: over sockets, with random calls and callers that go away, and with several
//! clients at once and leases in real time. With `FENCEPOST_COMMANDS=20000` more of them.

use std::env;

use fencepost_conform::etcd::{EtcdOrder, EtcdPace, EtcdScript, EtcdServer, crowd, hunt, order};
use fencepost_conform::{LATENESS, Removal};
use fencepost_serve::{Server, Settings, Timers};

/// A stand-in for a version of etcd.
fn serve(version: &str) -> (Server, EtcdServer) {
    let (timers, etcd) = (Timers::Seeded(500_000_000), version.parse().expect("a version"));
    let settings = Settings { timers, etcd, ..Settings::default() };
    let server = Server::start_etcd(settings, "127.0.0.1:0").expect("a free port");
    let etcd = EtcdServer::connect(&format!("http://{}", server.address())).expect("it answers");
    assert_eq!(etcd.version.to_string(), version);
    (server, etcd)
}

/// Random calls, one after the other.
fn answers_as_the_model_says(version: &str, without: u64) {
    let asked = env::var("FENCEPOST_COMMANDS").ok().and_then(|commands| commands.parse().ok());
    let commands = asked.unwrap_or(without);
    let (_server, etcd) = serve(version);
    etcd.make_room(Removal::Nothing).expect("it is empty");
    let found = hunt(&etcd, 7, commands, &mut |_| {}).expect("it answers");
    let differs = found.difference.and_then(|sequence| sequence.exchanges.last().cloned());
    assert!(differs.is_none(), "{differs:?} instead of {:?}", differs.as_ref().map(|exchange| exchange.expected()));
    assert!(found.tally.total() >= commands);
}

#[test]
fn a_served_etcd_answers_as_the_model_says() {
    answers_as_the_model_says("3.4.23", 1_000);
}

#[test]
fn a_served_etcd_answers_as_its_version_does() {
    for version in ["3.5.1", "3.5.16", "3.5.30"] {
        answers_as_the_model_says(version, 600);
    }
}

#[test]
fn a_served_etcd_answers_crowds_in_some_order() {
    let asked = env::var("FENCEPOST_COMMANDS").is_ok();
    for (version, pace, count) in [
        ("3.4.23", EtcdPace::Busy, 12),
        ("3.4.23", EtcdPace::Slow, 1),
        ("3.4.23", EtcdPace::Queues, 3),
        ("3.5.16", EtcdPace::Queues, 4),
    ] {
        let (_server, etcd) = serve(version);
        for place in 0..if asked { 10 * count } else { count } {
            let crowd = crowd(&etcd, &EtcdScript::drawn(7, place, pace)).expect("it answers");
            let found = order(&crowd, LATENESS);
            assert!(matches!(found, EtcdOrder::Possible { .. }), "{found:?} {crowd:?}");
        }
    }
}
