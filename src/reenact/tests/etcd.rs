//! Counterexamples of etcd: planned without a server, and driven at the real one that `FENCEPOST_ETCD` names.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use fencepost_etcd::{Etcd, EtcdMutation};
use fencepost_model::scenario::{Suite, from_toml};
use fencepost_model::trace::Trace;
use fencepost_reenact::{
    DrivenEtcd, EtcdCommands, Means, Obstacle, PlanError, ReenactmentOutcome, is_alone, plan, reenact,
};
use fencepost_serve::{Clock, Server, Settings};

use crate::catalogue::{counterexample, counterexamples, story};

const EVERYTHING: Means = Means { restart: true, tool: false, pause: true };

fn hopeless(trace: &Trace<Etcd>, means: Means) -> ReenactmentOutcome {
    match plan(trace, means, 1) {
        Err(PlanError::Hopeless(outcome)) => outcome,
        Err(PlanError::NoExecution(why)) => panic!("{why}"),
        Ok(_) => panic!("it has a schedule"),
    }
}

#[test]
fn every_counterexample_has_a_schedule_or_a_reason_why_it_has_none() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for found in counterexamples::<Etcd>(Suite::Standard) {
        let name = match plan(&found.trace, EVERYTHING, 1) {
            Ok(_) => "planned",
            Err(PlanError::Hopeless(ReenactmentOutcome::Undecided { why })) => {
                panic!("{} {}: {why}", found.scenario, found.property)
            }
            Err(PlanError::Hopeless(outcome)) => outcome.name(),
            Err(PlanError::NoExecution(why)) => panic!("{} {}: {why}", found.scenario, found.property),
        };
        *counts.entry(name).or_default() += 1;
    }
    assert!(counts["planned"] >= 24, "{counts:?}");
}

#[test]
fn faults_of_three_members_cannot_be_caused_at_one() {
    for (name, property, obstacle) in [
        ("e05-stop-sooner", "eventually-acquired", Obstacle::LeaderChange),
        ("e04-long", "mutual-exclusion", Obstacle::StalledLeader),
        ("e07-list", "linearizable", Obstacle::Cluster),
        ("e26-back-sooner", "eventually-acquired", Obstacle::ServerClock),
    ] {
        let outcome = hopeless(&counterexample::<Etcd>(name, property, None), EVERYTHING);
        assert!(matches!(outcome, ReenactmentOutcome::Outside { needs, .. } if needs == obstacle), "{name}: {outcome}");
    }
}

#[test]
fn ttls_are_whole_seconds_and_no_shorter_than_etcd_grants() {
    let trace = counterexample::<Etcd>("lease-ends-no-sooner", "eventually-acquired", None);
    let plan = plan(&trace, EVERYTHING, 1).expect("a schedule");
    assert_eq!((3 * plan.schedule.tick) % 1_000, 0);
    assert!(3 * plan.schedule.tick >= 2_000);
}

#[test]
fn a_compaction_is_alone_at_its_server() {
    assert!(is_alone(&counterexample::<Etcd>("e11-kept", "eventually-acquired", None)));
    assert!(!is_alone(&counterexample::<Etcd>("e10-held", "mutual-exclusion", None)));
}

/// The server pauses for less than a TTL; the renewal that was sent meanwhile is answered when it goes on (E-LS-11).
const PAUSED: [&str; 12] = [
    "client 1 is asked to acquire",
    "the server receives from client 1: grant a lease for session 1.1 [1]",
    "the server receives from client 1: renew the lease of session 1.1 [2]",
    "the server receives from client 1: if key 1.1 is absent, put it; get the oldest key [3]",
    "1 tick passes",
    "1 tick passes",
    "client 1 wakes: the next renewal",
    "the server pauses",
    "the server receives from client 1: renew the lease of session 1.1 [4]",
    "1 tick passes",
    "1 tick passes",
    "the server wakes: there is a leader again",
];

/// The server restarts, and every lease begins anew, with the election timeout in addition (E-LD-2).
const RESTARTED: [&str; 15] = [
    "client 1 is asked to acquire",
    "the server receives from client 1: grant a lease for session 1.1 [1]",
    "the server receives from client 1: if key 1.1 is absent, put it; get the oldest key [3]",
    "the server receives from client 1: renew the lease of session 1.1 [2]",
    "client 1 crashes",
    "all members restart",
    "the server wakes: there is a leader again",
    "1 tick passes",
    "1 tick passes",
    "1 tick passes",
    "1 tick passes",
    "1 tick passes",
    "1 tick passes",
    "1 tick passes",
    "the server wakes: the leader revokes the overdue lease of session 1.1",
];

fn scenario(name: &str) -> (&'static str, String) {
    let (name, text) = fencepost_etcd::SCENARIOS.iter().find(|(other, _)| *other == name).expect("in the catalogue");
    (name, (*text).to_owned())
}

fn told(name: &str, change: impl Fn(String) -> String, labels: &[&str]) -> Trace<Etcd> {
    let (name, text) = scenario(name);
    story(&from_toml::<Etcd>(&change(text), name).expect("a scenario"), labels)
}

fn paused() -> Trace<Etcd> {
    told("e27-between", |text| text.replace("freeze = 7", "freeze = 2"), &PAUSED)
}

#[test]
fn a_pause_needs_commands_and_a_restart_needs_one_more() {
    assert!(plan(&paused(), EVERYTHING, 1).is_ok() && is_alone(&paused()));
    let outcome = hopeless(&paused(), Means { restart: true, ..Means::default() });
    assert!(matches!(outcome, ReenactmentOutcome::Outside { step: 8, needs: Obstacle::Pause }), "{outcome}");
}

/// The server, if there is one, with the user's commands for it if they are asked for.
fn server(with_commands: bool) -> Option<DrivenEtcd> {
    let Ok(address) = std::env::var("FENCEPOST_ETCD") else {
        eprintln!("skipped: no real etcd server, for FENCEPOST_ETCD names none");
        return None;
    };
    let variable = |name: &str| std::env::var(name).ok();
    let pause = variable("FENCEPOST_ETCD_PAUSE").zip(variable("FENCEPOST_ETCD_RESUME"));
    let commands = EtcdCommands { restart: variable("FENCEPOST_ETCD_RESTART"), pause };
    if with_commands && (commands.restart.is_none() || commands.pause.is_none()) {
        eprintln!("skipped: FENCEPOST_ETCD_RESTART, FENCEPOST_ETCD_PAUSE or FENCEPOST_ETCD_RESUME is not set");
        return None;
    }
    Some(DrivenEtcd::connect(&address, commands).expect("an empty etcd server"))
}

fn outcome(trace: &Trace<Etcd>, server: &DrivenEtcd) -> ReenactmentOutcome {
    reenact(trace, server).expect("a server that answers").outcome
}

#[test]
fn counterexamples_without_watches_happen_at_the_stand_in() {
    let settings = Settings { clock: Clock::Real, ..Settings::default() };
    let stand_in = Server::start_etcd(settings, "127.0.0.1:0").expect("a free port");
    let address = stand_in.address().to_string();
    let server = DrivenEtcd::connect(&address, EtcdCommands::default()).expect("an empty server");
    for (name, property) in [
        ("e10-held", "mutual-exclusion"),
        ("e24-shared", "mutual-exclusion"),
        ("lease-ends-no-sooner", "eventually-acquired"),
    ] {
        let trace = counterexample::<Etcd>(name, property, None);
        assert_eq!(outcome(&trace, &server), ReenactmentOutcome::Happened, "{name}");
    }
    // Nothing is left behind, and a server in use is refused.
    assert!(DrivenEtcd::connect(&address, EtcdCommands::default()).is_ok());
    let mut stream = std::net::TcpStream::connect(&address).expect("it listens");
    let put =
        "POST /v3/kv/put HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 14\r\n\r\n{\"key\":\"YQ==\"}";
    stream.write_all(put.as_bytes()).expect("it reads");
    stream.read_to_string(&mut String::new()).expect("it answers");
    let refused = DrivenEtcd::connect(&address, EtcdCommands::default()).expect_err("it is in use").to_string();
    assert!(refused.contains("it has 1 keys and 0 leases"), "{refused}");
}

/// One after the other: the server must be empty at the beginning of each test.
#[test]
fn counterexamples_happen_and_that_of_a_wrong_model_is_refused_at_a_real_etcd() {
    let Some(server) = server(false) else { return };
    for (name, property) in [
        ("e01-fencing", "mutual-exclusion"),
        ("e02-3-4", "mutual-exclusion"),
        ("e10-waiting", "mutual-exclusion"),
        ("e11-kept", "eventually-acquired"),
        ("e21-by-name", "mutual-exclusion"),
        ("e23-c", "eventually-acquired"),
        ("e24-shared", "sequencer-sound"),
    ] {
        let trace = counterexample::<Etcd>(name, property, None);
        assert_eq!(outcome(&trace, &server), ReenactmentOutcome::Happened, "{name} at etcd {}", server.version);
    }
    // E-TXN-6: a put with a lease that is gone is refused, whatever a wrong model says.
    let wrong = Some(EtcdMutation::PutWithoutLease.into());
    let outcome = outcome(&counterexample::<Etcd>("put-needs-its-lease", "session-consistency", wrong), &server);
    assert!(matches!(outcome, ReenactmentOutcome::Refused { .. }), "{outcome}");
    assert!(outcome.to_string().contains("/v3/kv/txn: 404"), "{outcome}");
}

#[test]
#[ignore = "it pauses and restarts the server"]
fn an_etcd_server_pauses_and_restarts() {
    let Some(server) = server(true) else { return };
    assert_eq!(outcome(&paused(), &server), ReenactmentOutcome::Happened);
    // When in its restart the server was promoted is not known, so its timers may be late.
    let restarted = told(
        "e06-restart",
        |text| {
            let text = text.replace("checkpoint = 3\n", "").replace("server_delay = 0\n", "");
            text.replace("bound = 10\n", "")
        },
        &RESTARTED,
    );
    assert_eq!(outcome(&restarted, &server), ReenactmentOutcome::Happened);
}
