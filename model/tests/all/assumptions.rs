//! Each kind of assumption holds of executions of its scenario, and fails of executions of a scenario in which it is
//! broken: a bound that is wider, another setting, or a fault built into the model.

use std::collections::BTreeSet;

use fencepost::consul::Consul;
use fencepost::with_scenario;
use fencepost::{AnyScenario, catalogue};
use fencepost_model::assumption::{Class, Declared, Execution};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};

/// How many executions are tried, and how many steps each has at most.
const EXECUTIONS: usize = 3_000;
const STEPS: usize = 120;

/// A random execution; the passing of time is picked as rarely as any other action.
fn execution<P: Service>(scenario: &Scenario<P>, random: &mut TestRng) -> Execution<P> {
    let mut world = scenario.observed();
    let (mut actions, mut enabled) = (Vec::new(), Vec::new());
    let length = 1 + random.next_u32() as usize % STEPS;
    while actions.len() < length {
        scenario.enabled(&world, &mut enabled);
        let Some(action) = enabled.get(random.next_u32() as usize % enabled.len().max(1)).copied() else { break };
        world.step(scenario, &action);
        actions.push(action);
    }
    Execution::of(scenario, &actions)
}

fn random() -> TestRng {
    TestRng::deterministic_rng(RngAlgorithm::ChaCha)
}

fn named(name: &str) -> Box<dyn AnyScenario> {
    catalogue::named(name).unwrap_or_else(|| panic!("{name} is not in the catalogue"))
}

/// The scenario with some settings changed, each a dotted path and a TOML value.
fn edited(scenario: &dyn AnyScenario, edits: &[(&str, &str)]) -> Result<Box<dyn AnyScenario>, String> {
    let mut table: toml::Table = toml::from_str(&scenario.to_toml()).expect("a scenario is TOML");
    for (path, value) in edits {
        let value: toml::Table = toml::from_str(&format!("value = {value}")).expect("the value is TOML");
        let (tables, key) = path.rsplit_once('.').unwrap_or(("", path));
        let mut inner = &mut table;
        for name in tables.split('.').filter(|name| !name.is_empty()) {
            let entry = inner.entry(name).or_insert_with(|| toml::Table::new().into());
            inner = entry.as_table_mut().expect("it is a table");
        }
        match &value["value"] {
            toml::Value::String(word) if word == "absent" => inner.remove(key),
            value => inner.insert((*key).to_owned(), value.clone()),
        };
    }
    let text = toml::to_string(&table).expect("a table is TOML");
    catalogue::read(&text, "edited").map_err(|error| error.to_string())
}

/// Scenario, kind of assumption, and the edits that break it.
type Row = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// A third party whose work has an end in each round.
const READER: &str = r#"[{ client = 3, name = "observer", head = '{"kind":"leader","checks":false,"values":null,"count":0,"observe":"get","told":null}' }]"#;

const ROWS: &[Row] = &[
    // Time, messages and clocks.
    ("message-delay", "b01-one-pause", &[("synchrony.message_delay", "9")]),
    ("wake-delay", "lease-just-enough", &[("synchrony.wake_delay", "9")]),
    ("server-delay", "b20-ttl", &[("synchrony.server_delay", "9")]),
    ("instant-responses", "b44-clock-jump", &[("network.replies", "\"travel\"")]),
    ("clock-rates", "b01-no-fencing", &[("clocks.skew", "2"), ("budget.slips", "2")]),
    ("clock-skew", "consul-skew-covered", &[("clocks.skew", "9"), ("budget.slips", "9")]),
    ("slow-clients", "b09-plain-lease", &[("clocks.drift", "\"any\"")]),
    // Faults.
    ("no-other-faults", "b01-no-fencing", &[("budget.losses", "1")]),
    ("losses", "b31-no-reread", &[("budget.losses", "9")]),
    ("duplicates", "lease-duplicates", &[("budget.duplicates", "9")]),
    ("crashes", "b02-fencing", &[("budget.crashes", "9"), ("budget.restarts", "9")]),
    ("restarts", "b38-retries", &[("budget.crashes", "9"), ("budget.restarts", "9")]),
    ("pauses", "b01-one-pause", &[("budget.pauses", "9")]),
    ("cuts", "b11-patient", &[("budget.cuts", "9")]),
    ("slips", "b09-plain-lease", &[("budget.slips", "9")]),
    ("operator-actions", "b16-no-delete", &[("budget.operator", "9")]),
    ("retries", "b31-no-reread", &[("budget.retries", "9"), ("budget.losses", "9")]),
    ("retries", "f37-own-ghost", &[("budget.retries", "9"), ("budget.cuts", "9")]),
    ("retries", "b47-anonymous-node", &[("budget.retries", "9"), ("budget.losses", "9")]),
    ("resource-restarts", "lease-late-write-forgotten", &[("budget.resource_restarts", "9"), ("rounds", "9")]),
    ("fault-place", "lease-pause-before-grant", &[("fault_place", "\"absent\"")]),
    ("cut-links", "b11-patient", &[("network.cuts", "\"hold\"")]),
    ("shared-budget", "b45-quorum", &[("budget.shared", "\"absent\""), ("budget.splits", "9")]),
    ("leader-losses", "b13-retry", &[("budget.leader_losses", "9")]),
    ("depositions", "b25-unbounded", &[("budget.depositions", "9")]),
    ("server-restarts", "consul-restart", &[("budget.server_restarts", "9")]),
    ("false-alarms", "b18-false-alarm", &[("budget.false_alarms", "9")]),
    ("lost-connections", "f32-probe-holder", &[("budget.lost_connections", "9")]),
    ("broker-restarts", "f25-durable", &[("budget.broker_restarts", "9")]),
    ("node-crashes", "b39-verify-holder", &[("budget.node_crashes", "9")]),
    ("partitions", "b37-ignore", &[("budget.partitions", "9")]),
    ("node-restarts", "b44-amnesia", &[("budget.node_restarts", "9")]),
    ("clock-jumps", "b44-clock-jump", &[("budget.clock_jumps", "9")]),
    ("splits", "b45-split", &[("budget.splits", "9")]),
    // Limits of the kernel.
    ("finite-rounds", "lease-just-enough", &[("rounds", "9")]),
    ("finite-writes", "b01-no-fencing", &[("writes", "9")]),
    ("unread-resource", "b01-fencing", &[("resource", "\"unchanged\""), ("service.sequencer", "\"version\"")]),
    ("prefix", "lease-late-write", &[("prefix", "\"absent\"")]),
    ("durable-resource", "b01-fencing", &[("mutation", "\"resource-forgets\"")]),
    // The lease.
    ("lease", "lease-just-enough", &[("service.lease", "9")]),
    // Consul.
    ("session-ttl", "b01-no-fencing", &[("service.ttl", "9")]),
    ("lock-delay", "b02-fencing", &[("service.lock_delay", "9")]),
    ("session-checks", "b18-serf-health", &[("service.health.checks", "[\"node-check\"]")]),
    ("failure-detection", "b18-delay-too-short", &[("service.health.detection", "0")]),
    ("reaping", "certain-node-reaped", &[("service.health.reap_after", "0")]),
    ("log", "consul-delayed-log", &[("service.servers.log", "\"instant\"")]),
    ("expiry", "consul-renewed-in-vain", &[("service.servers.expiry", "\"one-step\"")]),
    ("outage-length", "b13-retry", &[("service.servers.outage_max", "99")]),
    ("leader-timers", "b21-checkpointed", &[("service.servers.timers", "\"start-anew\"")]),
    ("requests-without-leader", "b21-checkpointed", &[("service.servers.requests", "\"refused\"")]),
    ("leader-is-complete", "b13-retry", &[("mutation", "\"leader-is-behind\"")]),
    ("leader-lease", "b25-window", &[("service.servers.lingers_max", "99")]),
    ("renewals", "b24-term-check", &[("service.servers.renewals", "\"from-memory\"")]),
    ("restarts-from", "consul-snapshot", &[("service.servers.restarts", "\"from-log\"")]),
    ("restarts-from", "consul-restart", &[("service.servers.restarts", "\"from-snapshot\"")]),
    ("snapshot-is-complete", "consul-snapshot", &[("mutation", "\"restart-loses-entries\"")]),
    ("semaphore-limit", "b28-ignore-conflict", &[("service.semaphore.limits", "[4]")]),
    ("operator-repertoire", "b02-fencing", &[("service.operator", "[\"delete\", \"put\"]")]),
    // RabbitMQ.
    ("heartbeat", "b38-retries", &[("service.heartbeat", "1"), ("budget.crashes", "9")]),
    ("lease-margin", "f13-lease", &[("service.lease_margin", "0")]),
    (
        "nodes",
        "b39-verify-holder",
        &[("service.cluster.nodes", "3"), ("service.cluster.go_down", "[3]"), ("budget.node_crashes", "9")],
    ),
    ("disk-is-complete", "f25-durable", &[("mutation", "\"restart-loses-durable\"")]),
    // Small stores and independent nodes.
    ("semaphore-limit", "b33-conditional-return", &[("service.limit", "5")]),
    ("request-age", "b34-timestamps-late", &[("synchrony.message_delay", "99"), ("service.memory", "999")]),
    ("nodes", "b44-late-answers", &[("service.nodes", "5")]),
    ("node-lease", "b44-late-answers", &[("service.lease", "9")]),
    ("grants", "b45-async-copy", &[("service.grants", "\"by-quorum\"")]),
    ("restarted-nodes", "b44-amnesia", &[("service.keeps", "true")]),
    ("restarted-nodes", "b44-fsync", &[("service.keeps", "false")]),
    ("unique-values", "b44-late-answers", &[("mutation", "\"unlocks-foreign\"")]),
    // Observed leases.
    ("store-errors", "ol24-hold", &[("budget.store_errors", "9")]),
    ("nap-length", "ol08-poll-1", &[("service.nap", "99")]),
    ("naps", "ol08-poll-1", &[("budget.naps", "9")]),
    ("stale-reads", "stale-reads-are-harmless", &[("budget.stale_reads", "9")]),
    // etcd.
    ("disconnections", "watch-resumes", &[("budget.disconnections", "9")]),
    ("leader-stalls", "e04-long", &[("budget.leader_stalls", "9")]),
    ("server-pauses", "e27-longer", &[("budget.server_pauses", "9")]),
    ("slow-applies", "e09-lag", &[("budget.slow_applies", "9")]),
    ("stale-members", "e07-range", &[("budget.stale_members", "9")]),
    ("wall-clock-jumps", "e26-back", &[("budget.wall_clock_jumps", "9")]),
    ("finite-work", "observe-first-value", &[("rounds", "9"), ("program", READER)]),
];

/// How an execution breaks the assumption of another scenario, if one is found.
fn broken<P: Service>(held: &Scenario<P>, executed: &Scenario<P>, kind: &str) -> Option<String> {
    let declared: Vec<Declared<P>> = held.declared().into_iter().filter(|it| it.assumption.kind == kind).collect();
    if declared.is_empty() {
        return None;
    }
    let mut random = random();
    (0..EXECUTIONS).find_map(|_| {
        let execution = execution(executed, &mut random);
        declared.iter().find_map(|assumption| assumption.holds(&execution).err())
    })
}

#[test]
fn every_kind_of_assumption_can_fail() {
    let mut missing = Vec::new();
    for (kind, name, edits) in ROWS {
        let held = named(name);
        let executed = match edited(&*held, edits) {
            Ok(executed) => executed,
            Err(error) => {
                missing.push(format!("{kind} of {name}: {error}"));
                continue;
            }
        };
        let found = with_scenario!(&held, held => {
            broken(held, executed.of().expect("an edit does not change the system"), kind)
        });
        if found.is_none() {
            missing.push(format!("{kind} of {name}"));
        }
    }
    assert!(missing.is_empty(), "no execution breaks: {}", missing.join(", "));
}

#[test]
fn every_kind_that_can_fail_has_a_row() {
    let mut kinds = BTreeSet::new();
    for scenario in catalogue::all() {
        with_scenario!(&scenario, scenario => {
            let declared = scenario.declared().into_iter();
            kinds.extend(declared.filter(Declared::can_fail).map(|it| it.assumption.kind.to_string()));
        });
    }
    let rows = ROWS.iter().map(|(kind, ..)| (*kind).to_owned());
    // Fairness is about endless executions, and has a test of its own; so has the mutation, which no scenario has.
    let rows: BTreeSet<String> = rows.chain(["weak-fairness", "strong-fairness"].map(str::to_owned)).collect();
    assert_eq!(kinds, rows);
}

/// The last two states of an execution taken as a round: what stays enabled in both, and is not taken, is put off for ever.
#[test]
fn an_unfair_round_breaks_weak_and_strong_fairness() {
    for (kind, name) in [("weak-fairness", "b21-elections-stop"), ("strong-fairness", "b21-elections-stop")] {
        let scenario = named(name);
        let scenario = scenario.of::<Consul>().expect("it is a scenario of Consul");
        let declared = scenario.declared().into_iter().find(|it| it.assumption.kind == kind).expect("it is assumed");
        let mut random = random();
        let unfair = (0..EXECUTIONS).find_map(|_| {
            let execution = execution(scenario, &mut random);
            let from = execution.worlds().len().saturating_sub(2);
            declared.holds(&execution.repeating_from(from)).err()
        });
        assert!(unfair.is_some_and(|found| found.contains("never taken")), "{kind}");
    }
}

#[test]
fn every_assumption_holds_of_random_executions_of_its_scenario() {
    let mut wrong = BTreeSet::new();
    for scenario in catalogue::all() {
        with_scenario!(&scenario, scenario => {
            let (mut random, declared) = (random(), scenario.declared());
            for _ in 0..12 {
                let execution = execution(scenario, &mut random);
                for assumption in &declared {
                    if let Err(how) = assumption.holds(&execution) {
                        wrong.insert(format!("{}: {}: {how}", scenario.name, assumption.assumption));
                    }
                }
            }
        });
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_mutant_stands_first_and_holds_of_its_own_executions_only() {
    let plain = named("b01-no-fencing");
    let mutant = edited(&*plain, &[("mutation", "\"acquire-steals\"")]).expect("it is possible");
    let mutant = mutant.of::<Consul>().expect("an edit does not change the system");
    let first = &mutant.assumptions()[0];
    assert_eq!((first.kind.as_ref(), first.class), ("mutation", Class::Mutation));
    assert!(first.sentence.starts_with("MUTANT: ") && first.sentence.contains("C-KV-10"), "{first}");
    assert_eq!(mutant.declared()[0].holds(&execution(mutant, &mut random())), Ok(()));
    let plain = plain.of::<Consul>().expect("it is a scenario of Consul");
    assert!(mutant.declared()[0].holds(&execution(plain, &mut random())).is_err());
}
