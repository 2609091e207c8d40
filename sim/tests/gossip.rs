//! DetectorSettings: what it does to checks and sessions is something that the checker's abstract detector may do, and it notices the dead
//! as soon as real agents do.

use fencepost::catalogue;
use fencepost::consul::{CheckKind, Consul, ConsulFault, Timer};
use fencepost_model::ids::{ClientId, ProcessId};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::Ticks;
use fencepost_model::world::{Action, Fault, Link};
use fencepost_sim::{
    Curve, Cuts, DetectorSettings, Profile, Settings, Trial, TrialOutcome, prepare, simulate, trial, walk,
};

/// Three clients that contend for one lock many times; their sessions have no TTL, and end when gossip declares their nodes failed.
fn scenario(detection: i64, crashes: u8, cuts: u8, false_alarms: u8) -> Scenario<Consul> {
    let network = if cuts > 0 { "[network]\ncuts = \"drop\"\nways = \"both\"" } else { "" };
    let text = format!(
        "name = \"gossip\"
        about = \"Sessions end when gossip gives a node up.\"
        system = \"consul-lock\"
        clients = 3
        rounds = 20
        [service]
        lock_delay = 1
        belief = \"until-told\"
        waiting = \"watch\"
        retry_every = 5
        patience = 10
        [service.health]
        checks = [\"serf-health\"]
        detection = {detection}
        crash = \"node\"
        {network}
        [budget]
        crashes = {crashes}
        restarts = {crashes}
        cuts = {cuts}
        retries = 200
        false_alarms = {false_alarms}
        [[promise]]
        property = \"mutual-exclusion\"
        expect = \"violated\""
    );
    let scenario = catalogue::read(&text, "gossip").expect("the scenario is possible");
    scenario.of::<Consul>().expect("it is about Consul").clone()
}

fn settings(seed: u64, gossip: DetectorSettings) -> Settings {
    let mending = Curve::new(vec![1000, 40_000]).expect("a curve");
    let profile = Profile { detector: Some(gossip), mending, ..Profile::default() };
    Settings { seed, profile, storm: 240, ends_with_storm: true, ..Settings::default() }
}

/// What gossip did to nodes in a run.
#[derive(PartialEq, Eq, Debug, Default)]
struct Verdicts {
    /// How long each node that it gave up had been silent, in thousandths of a tick.
    silences: Vec<i64>,
    /// How often it was wrong.
    alarms: usize,
}

fn verdicts(scenario: &Scenario<Consul>, settings: &Settings) -> Verdicts {
    let scenario = prepare(scenario, settings);
    let mut found = Verdicts::default();
    let mut now = Ticks::ZERO;
    // For each client, how many faults keep it silent, and since when.
    let mut silent = [(0, Ticks::ZERO); 4];
    let place = |client: ClientId| usize::from(client.0);
    for action in walk(&scenario, settings).actions {
        let ends = |link: Link| link.from.client().or(link.to.client());
        let (client, change) = match action {
            Action::Advance(by) => {
                now = now + by;
                continue;
            }
            Action::Wake { timer: Timer::Suspect(client), .. } => {
                let (count, since) = silent[place(client)];
                assert!(count > 0, "a node that is not silent takes a false alarm");
                found.silences.push((now - since).count());
                continue;
            }
            Action::Fault(Fault::Service(ConsulFault::FalseAlarm(_, CheckKind::SerfHealth))) => {
                found.alarms += 1;
                continue;
            }
            Action::Fault(Fault::Crash(client)) => (Some(client), 1),
            Action::Fault(Fault::Restart(client)) => (Some(client), -1),
            Action::Fault(Fault::Cut(link)) => (ends(link).filter(|_| is_to_server(link)), 1),
            Action::Fault(Fault::Heal(link)) => (ends(link).filter(|_| is_to_server(link)), -1),
            _ => continue,
        };
        if let Some(client) = client {
            let (count, since) = &mut silent[place(client)];
            if *count == 0 {
                *since = now;
            }
            *count += change;
        }
    }
    found
}

fn is_to_server(link: Link) -> bool {
    link.from == ProcessId::Server || link.to == ProcessId::Server
}

/// With one fault at a time the bound that the checker assumes, five seconds of silence, never holds gossip back: with a bound
/// of one second the run is the same.
#[test]
fn c_inv_4_the_abstract_detector_allows_every_verdict_of_gossip() {
    let mut silences = Vec::new();
    for seed in 0..200 {
        let settings = settings(seed, DetectorSettings { servers: 3, ..DetectorSettings::default() });
        let crash = seed % 2 == 0;
        let (crashes, cuts) = if crash { (1, 0) } else { (0, 1) };
        let found = verdicts(&scenario(5, crashes, cuts, 9), &settings);
        assert_eq!(found, verdicts(&scenario(1, crashes, cuts, 9), &settings), "seed {seed}");
        if crash {
            assert_eq!(found.alarms, 0, "seed {seed}: no false alarm without a fault");
        }
        silences.extend(found.silences);
    }
    silences.sort_unstable();
    assert!(silences.len() > 150, "{}", silences.len());
    assert!(silences[0] >= 5000, "{silences:?}");
    let median = silences[silences.len() / 2];
    assert!((5400..6400).contains(&median), "{median}: 5.9 s was observed");
}

/// A suspicion outlives a short blip, and a node that was cut off for long comes back with verdicts of its own about all others. The
/// abstract detector can do so within its budget for false alarms only; without one, gossip has to wait, or is ignored.
#[test]
fn c_inv_4_after_a_partition_gossip_is_early_or_wrong_within_the_budget_only() {
    let (mut early, mut alarms) = (0, 0);
    for seed in 0..100 {
        let settings = settings(seed, DetectorSettings { servers: 3, ..DetectorSettings::default() });
        let alone = verdicts(&scenario(1, 2, 2, 0), &settings);
        assert_eq!(alone.alarms, 0, "seed {seed}");
        early += alone.silences.iter().filter(|silence| **silence < 5000).count();
        let held_back = verdicts(&scenario(5, 2, 2, 1), &settings);
        assert!(held_back.silences.iter().all(|silence| *silence >= 5000), "seed {seed}: {held_back:?}");
        assert!(held_back.alarms <= 1, "seed {seed}: {held_back:?}");
        alarms += verdicts(&scenario(5, 2, 2, 90), &settings).alarms;
    }
    assert_eq!((early, alarms), (2, 21));
}

#[test]
fn a_run_with_gossip_is_repeated_by_its_trace_without_any() {
    let settings = settings(4, DetectorSettings { loss: 300, stalls_nodes: true, ..DetectorSettings::default() });
    let run = simulate(&scenario(5, 2, 2, 90), &settings);
    assert_eq!(run, simulate(&scenario(5, 2, 2, 90), &settings));
    let text = run.trace.to_text();
    assert!(text.contains("false alarm") && text.contains("gossip declares the node"), "gossip is right and wrong");
    let replayed = catalogue::read_trace(&text).unwrap().replay().expect("every step was possible");
    assert_eq!(u64::try_from(replayed.story.steps.len()).unwrap(), run.actions);
    assert_eq!(run.digest, "786c92ea4a04dff6");
}

/// A cut between a node and the servers is no silence where other nodes are a bridge.
#[test]
fn other_nodes_bridge_a_partition() {
    let given_up = |cut| -> usize {
        let gossip = DetectorSettings { cut, others: 3, ..DetectorSettings::default() };
        (0..40).map(|seed| verdicts(&scenario(5, 0, 2, 0), &settings(seed, gossip.clone())).silences.len()).sum()
    };
    assert!(given_up(Cuts::Node) > 40);
    assert_eq!(given_up(Cuts::Bridged), 0);
}

fn trials(gossip: DetectorSettings, members: u16, slow: u16, watch: i64, seeds: u64) -> Vec<TrialOutcome> {
    let Profile { stall, stall_every, .. } = Profile::default();
    let asked = Trial { gossip, members, slow, stall, stall_every, watch };
    (0..seeds).map(|seed| trial(&asked, seed)).collect()
}

fn median(outcomes: &[TrialOutcome], time: impl Fn(&TrialOutcome) -> Option<i64>) -> i64 {
    let mut times: Vec<i64> = outcomes.iter().map(|outcome| time(outcome).expect("it was noticed")).collect();
    times.sort_unstable();
    times[times.len() / 2]
}

/// Observed on a real agent: 5.9 s from SIGKILL to a critical serfHealth, 0.4 s from SIGTERM to being deregistered, shutting down
/// included.
#[test]
fn c_inv_4_a_killed_agent_is_given_up_after_some_six_seconds_and_one_that_leaves_at_once() {
    for members in [3, 4, 5] {
        let outcomes = trials(DetectorSettings::default(), members, 0, 60_000, 200);
        let mut notices: Vec<i64> = outcomes.iter().filter_map(|outcome| outcome.detected[1]).collect();
        notices.sort_unstable();
        assert_eq!(notices.len(), 200);
        assert!(notices[0] >= 5000 && notices[190] < 8000, "{members}: {notices:?}");
        assert!((5300..6500).contains(&median(&outcomes, |outcome| outcome.detected[1])), "{members} members");
        assert!(median(&outcomes, |outcome| outcome.left) < 400);
    }
}

/// As published: far fewer members are taken for dead that are not, and the dead are noticed as soon.
#[test]
fn lifeguard_is_wrong_more_rarely_and_hardly_later() {
    let pool =
        |lifeguard| trials(DetectorSettings { loss: 250, lifeguard, ..DetectorSettings::default() }, 40, 8, 60_000, 12);
    let (swim, lifeguard) = (pool(false), pool(true));
    let mistakes = |outcomes: &[TrialOutcome]| outcomes.iter().map(|outcome| outcome.mistakes[1]).sum::<u64>();
    assert!(mistakes(&swim) > 10 * mistakes(&lifeguard).max(1), "{} {}", mistakes(&swim), mistakes(&lifeguard));
    let noticed = |outcomes: &[TrialOutcome]| median(outcomes, |outcome| outcome.detected[1]);
    assert!(noticed(&lifeguard) < noticed(&swim) * 3 / 2, "{} {}", noticed(&lifeguard), noticed(&swim));
}

/// Where nothing arrives, every member is declared failed, and a crash is not noticed: the trial ends and reports that.
#[test]
fn a_network_that_loses_everything_is_measured_too() {
    let outcome = &trials(DetectorSettings { loss: 1000, ..DetectorSettings::default() }, 3, 0, 60_000, 1)[0];
    assert_eq!((outcome.detected, outcome.left), ([None; 3], None));
    assert_eq!(outcome.mistakes[0], 6, "each of three gives up two");
}

#[test]
fn a_pool_is_as_pinned_as_any_run() {
    let outcomes = trials(DetectorSettings { loss: 100, ..DetectorSettings::default() }, 20, 4, 60_000, 2);
    let pinned = [([7594, 7772, 7883], 221, 42), ([6810, 7008, 7030], 97, 20)];
    for (outcome, (detected, left, mistakes)) in outcomes.iter().zip(pinned) {
        let TrialOutcome { detected: found, left: good_bye, mistakes: [all, of_healthy], .. } = *outcome;
        assert_eq!((found, good_bye, all, of_healthy), (detected.map(Some), Some(left), mistakes, 0));
    }
}
