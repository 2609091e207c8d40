//! Reductions must not change a verdict: random small scenarios, each with all reductions, without symmetry, and with the messages to which
//! no process reacts.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::{env, thread};

use fencepost::consul::{Behavior, BeliefRule, Consul, SERVICE, Sequencer, Waiting, Writes};
use fencepost_checker::{Limits, Options};
use fencepost_model::finding::Finding;
use fencepost_model::ids::ClientId;
use fencepost_model::programs::ScenarioProgram;
use fencepost_model::properties::Property;
use fencepost_model::resource::Accepts;
use fencepost_model::scenario::Scenario;
use fencepost_model::time::Ticks;

/// A client that runs another program, or the same one more slowly, is not like the others; nor is one that begins with another value, where a prefix may
/// have hidden it. Without a prefix the world at the start shows these values, which may name the client.
#[test]
fn clients_with_different_programs_are_not_alike() {
    let program = |client: u16, factor| ScenarioProgram {
        client: (client > 0).then_some(ClientId(client)),
        name: "a recipe".to_owned(),
        package: "a package".to_owned(),
        head: "null".to_owned(),
        factor,
    };
    let mut scenario = Scenario::<Consul>::new("programs").clients(3);
    let alike = |scenario: &Scenario<Consul>| scenario.treats_alike(ClientId(1), ClientId(2));
    assert!(alike(&scenario));
    scenario.programs = vec![program(0, 1)];
    assert!(alike(&scenario));
    scenario.programs.push(program(2, 2));
    assert!(!alike(&scenario) && scenario.treats_alike(ClientId(1), ClientId(3)));
    scenario.programs[1].factor = 1;
    assert!(alike(&scenario), "the same program under a name of its own");
    scenario.programs[1].head = "1".to_owned();
    assert!(alike(&scenario), "the start shows it");
    scenario.prefix.push("time passes by 1 tick".to_owned());
    assert!(!alike(&scenario));
    scenario.programs = vec![program(2, 1)];
    assert!(!alike(&scenario), "one runs none");
}

/// How many scenarios of at least a thousand states are compared, unless `FENCEPOST_CASES` says how many, as `.ci/run` does.
const WANTED: usize = 40;

fn wanted() -> usize {
    env::var("FENCEPOST_CASES").map_or(WANTED, |cases| cases.parse().expect("FENCEPOST_CASES is a number"))
}

/// Larger ones take too long here.
const STATES_MAX: u64 = 6_000;

/// Draws without a library: the scenarios are the same everywhere.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[usize::try_from(self.below(list.len() as u64)).expect("lists are short")]
    }

    fn ticks(&mut self, bound: u64) -> Ticks {
        Ticks::new(self.below(bound).cast_signed())
    }
}

/// A scenario that may be impossible.
pub(crate) fn scenario(number: u64) -> Scenario<Consul> {
    let draw = &mut Draw(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let clients = draw.one_of(&[2, 2, 3]);
    let mut scenario = Scenario::<Consul>::new("random").clients(clients).writes(u8::from(draw.below(3) == 0));
    let delays = [None, Some(Ticks::ZERO), Some(Ticks::ZERO), Some(Ticks::new(1))];
    scenario.synchrony.message_delay = draw.one_of(&delays);
    scenario.synchrony.wake_delay = draw.one_of(&delays);
    let (delay, retry) = (draw.ticks(3), Ticks::new(1) + draw.ticks(2));
    scenario = scenario.service(|consul| {
        consul.ttl = draw.one_of(&[None, Some(Ticks::new(1)), Some(Ticks::new(2))]);
        consul.renew_every = consul.ttl.filter(|_| draw.below(2) == 0).map(|_| Ticks::new(1));
        (consul.lock_delay, consul.retry_every) = (delay, retry);
        consul.behavior = draw.one_of(&[Behavior::Release, Behavior::Release, Behavior::Delete]);
        consul.belief = draw.one_of(&[BeliefRule::UntilTold, BeliefRule::SelfLimiting, BeliefRule::None]);
        consul.sequencer = draw.one_of(&[Sequencer::None, Sequencer::LockIndex, Sequencer::ModifyIndex]);
        consul.waiting = draw.one_of(&[Waiting::default(), Waiting::Watch]);
        consul.writes = draw.one_of(&[Writes::Acknowledged, Writes::Async]);
    });
    scenario = scenario.resource(draw.one_of(&[Accepts::All, Accepts::NotLower]));
    scenario = scenario.budget(|budget| {
        (budget.crashes, budget.losses) = (draw.one_of(&[0, 0, 1]), draw.one_of(&[0, 0, 0, 1]));
        (budget.pauses, budget.cuts) = (draw.one_of(&[0, 0, 1]), draw.one_of(&[0, 0, 0, 1]));
    });
    scenario.promise(Property::MutualExclusion).promise(Property::NoLostUpdate)
}

fn explored(scenario: &Scenario<Consul>, is_reduced: bool, states: Option<u64>) -> Vec<Finding> {
    let limits = Limits { states, depth: None };
    let options = Options { limits, symmetry: is_reduced, leaves_out_unheard: is_reduced, ..Options::default() };
    SERVICE
        .any(scenario)
        .check(&options)
        .expect("no internal error")
        .into_iter()
        .map(|outcome| outcome.finding)
        .collect()
}

#[test]
fn verdicts_with_and_without_reductions_agree_on_random_scenarios() {
    let (next, wanted) = (AtomicU64::new(0), wanted());
    let seen: Mutex<Vec<(bool, u64, u64)>> = Mutex::default();
    let compare = || {
        loop {
            let number = next.fetch_add(1, Relaxed);
            if seen.lock().expect("no worker panics").len() >= wanted {
                return;
            }
            let scenario = scenario(number);
            if scenario.validate().is_err() {
                continue;
            }
            let without = explored(&scenario, false, Some(STATES_MAX));
            let states = without.iter().map(|finding| finding.states).max().unwrap_or_default();
            if states < 1000 || without.iter().any(|finding| finding.verdict.word() == "bounded") {
                continue;
            }
            let with = explored(&scenario, true, None);
            let essence =
                |finding: &Finding| (finding.verdict.word(), finding.verdict.story().map(|story| story.steps.len()));
            for (one, other) in with.iter().zip(&without) {
                assert_eq!(essence(one), essence(other), "scenario {number}, {}", one.property);
                assert!(one.states <= other.states, "scenario {number}");
            }
            let sum = |findings: &[Finding]| findings.iter().map(|finding| finding.states).sum::<u64>();
            let is_violated = with.iter().any(|finding| finding.verdict.story().is_some());
            seen.lock().expect("no worker panics").push((is_violated, sum(&with), sum(&without)));
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(compare);
        }
    });
    let seen = seen.into_inner().expect("no worker panics");
    let violated = seen.iter().filter(|(is_violated, ..)| *is_violated).count();
    assert!(violated.min(seen.len() - violated) >= wanted / 5, "{violated} of {} are violated", seen.len());
    let (with, without) = seen.iter().fold((0, 0), |(with, without), one| (with + one.1, without + one.2));
    assert!(without * 10 > with * 22, "reductions gain more than a factor of two: {with} states, {without} without");
}
