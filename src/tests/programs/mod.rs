//! Programs: the same verdicts as the state machine that does the same, in both engines, with and without symmetry, for any
//! number of workers; the simulator, shrinking and replay; and the errors of programs that are wrong.
//!
//! ```text
//! laws          what must be true of every program
//! agreement     all engines and options say the same, also of random programs
//! executions    what a published client does its recipe can do, and the other way round
//! guides        `consul lock`, the guides and the Go client's lock in the catalogue
//! go_lock       the Go client's lock, line by line, against the recipe with settings
//! go_semaphore  the Go client's semaphore, in the same way
//! lock_timeout  `consul lock -timeout`
//! mistakes      programs that are wrong
//! our_lock      what a user writes, with a bug and without
//! redlock       Redlock as its page has it, against the state machine
//! semaphore     RabbitMQ's persistent semaphore, step by step, against the state machines
//! shared        tasks that share cells and mailboxes
//! stores        the recipes of the stores, against the state machine
//! third_parties programs that want no lock
//! work_queue    programs that work off a queue, and write to keys of the resource
//! versions      a program that compares versions of the resource
//! wall_clocks   programs that read a wall clock, clocks with rates, and processes that sleep
//! ```

mod agreement;
mod executions;
mod go_lock;
mod go_semaphore;
mod guides;
mod laws;
mod lock_timeout;
mod mistakes;
mod our_lock;
mod redlock;
mod semaphore;
mod shared;
mod stores;
mod third_parties;
mod versions;
mod wall_clocks;
mod work_queue;

use fencepost::checker::{Engine, Options};
use fencepost::lease::{self, Lease, Loan, SERVICE};
use fencepost::model::fact::Leaving;
use fencepost::model::ids::{ClientId, Index, Token};
use fencepost::model::normal::Normal;
use fencepost::model::program::{Gone, Handle, Lap, Recipe, Wanted};
use fencepost::model::service::Service;
use fencepost::sim::{Hunt, Settings};
use fencepost::{AnyScenario, Property, Scenario, Ticks, catalogue};
use serde::{Deserialize, Serialize};

/// The scenario of the catalogue.
fn shipped<S: Service>(name: &str) -> Scenario<S> {
    let scenario = catalogue::named(name).expect("it is in the catalogue");
    scenario.of::<S>().expect("it is one of this service").clone()
}

/// The same, with its clients as programs.
fn with_programs(name: &str) -> Scenario<Lease> {
    let scenario = shipped::<Lease>(name);
    let (lease, retry_every) = (scenario.service.lease, scenario.service.retry_every);
    scenario.programs(Loan { lease, retry_every, last: Index::NONE })
}

/// Promises, verdicts, and counts.
type Verdicts = Vec<(Property, &'static str, u64, u64)>;

fn verdicts(scenario: &dyn AnyScenario, options: &Options) -> Verdicts {
    let outcomes = scenario.check(options).unwrap_or_else(|error| panic!("{error}"));
    let line = |outcome: fencepost::AnyOutcome| {
        let finding = outcome.finding;
        (finding.property, finding.verdict.word(), finding.states, finding.transitions)
    };
    outcomes.into_iter().map(line).collect()
}

/// The verdicts alone; that no program panics is promised of programs only.
fn words(verdicts: &Verdicts) -> Vec<(Property, &'static str)> {
    let lines = verdicts.iter().filter(|(property, ..)| *property != Property::NoPanic);
    lines.map(|(property, word, ..)| (*property, *word)).collect()
}

/// Both engines, symmetry on and off, one and two workers: verdicts agree, and counts where the search is the same.
fn agreed(scenario: &dyn AnyScenario) -> Verdicts {
    let by =
        |engine, workers, symmetry| verdicts(scenario, &Options { engine, workers, symmetry, ..Options::default() });
    let usual = by(Engine::Dataflow, 1, true);
    let name = scenario.name();
    assert_eq!(by(Engine::Dataflow, 2, true), usual, "{name}: two workers");
    assert_eq!(by(Engine::Stateright, 1, true), usual, "{name}: stateright");
    let plain = by(Engine::Dataflow, 1, false);
    assert_eq!(by(Engine::Dataflow, 2, false), plain, "{name}: two workers, without symmetry");
    assert_eq!(by(Engine::Stateright, 1, false), plain, "{name}: stateright, without symmetry");
    assert_eq!(words(&plain), words(&usual), "{name}: symmetry");
    usual
}

#[test]
#[ignore = "takes some seconds: cargo test --tests -- --ignored"]
fn the_client_of_the_lease_as_a_program_gets_the_verdicts_of_the_state_machine() {
    for (name, _) in lease::SCENARIOS {
        let machine = catalogue::named(name).expect("it is in the catalogue");
        // The two largest are searched in one way only: stateright remembers no steps, and runs each lap again.
        let is_large = ["lease-just-enough", "lease-duplicates"].contains(name);
        let program = with_programs(name);
        let program =
            if is_large { verdicts(SERVICE.any(&program), &Options::default()) } else { agreed(SERVICE.any(&program)) };
        assert_eq!(words(&program), words(&verdicts(&*machine, &Options::default())), "{name}");
        let no_panic = program.iter().find(|(property, ..)| *property == Property::NoPanic).expect("it is promised");
        assert_eq!(no_panic.1, "proven", "{name}");
    }
}

#[test]
#[ignore = "takes some seconds: cargo test --tests -- --ignored"]
fn programs_and_state_machines_compete_for_one_lock() {
    let mixed = with_programs("lease-one-tick-less");
    let mixed = Scenario { programs: Vec::new(), ..mixed.clone() }.program(
        ClientId(2),
        Loan { lease: mixed.service.lease, retry_every: mixed.service.retry_every, last: Index::NONE },
    );
    let all = agreed(SERVICE.any(&mixed));
    assert_eq!(
        all.iter().find(|(property, ..)| *property == Property::MutualExclusion).expect("promised").1,
        "violated"
    );
    let mixed = Scenario { service: with_programs("lease-just-enough").service, ..mixed };
    let all = verdicts(SERVICE.any(&mixed), &Options::default());
    assert_eq!(all.iter().find(|(property, ..)| *property == Property::MutualExclusion).expect("promised").1, "proven");
}

/// It enters without a request.
#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
#[normal(crate = fencepost::model)]
struct Barge;

impl Recipe<Lease> for Barge {
    const NAME: &'static str = "barge";

    async fn lap(&mut self, lender: &Handle<Lease>) -> Result<Lap, Gone> {
        lender.sleep(Ticks::new(1)).await;
        lender.enter(Token::default());
        while lender.user().await == Wanted::Write {
            lender.send_write(Token::default());
        }
        lender.leave(Leaving::Done);
        Ok(Lap::Done)
    }
}

#[test]
fn a_seed_breaks_a_program_and_the_trace_is_shrunk_written_read_and_replayed() {
    let scenario = lease::lock("barge").programs(Barge).promise(Property::MutualExclusion).scenario();
    let scenario = SERVICE.any(&scenario);
    let hunt = Hunt { seeds: 0..2_000, workers: 2, only: vec![Property::MutualExclusion], ..Hunt::default() };
    let seed = scenario.hunt(&hunt, &|_| false).seed.expect("some seed breaks it");
    let run = scenario.simulate(&Settings { seed, ..Settings::default() });
    assert!(run.violations.iter().any(|violation| violation.property == Property::MutualExclusion));
    assert_eq!(run, scenario.simulate(&Settings { seed, ..Settings::default() }), "the same seed, the same run");
    let small = run.trace.shrink(Property::MutualExclusion).unwrap_or_else(|error| panic!("{error}"));
    assert!(small.steps() <= run.trace.steps());
    let text = small.to_text();
    assert!(
        text.contains("\"name\":\"barge\"") && text.contains("\"package\":\"all\""),
        "the trace names program and crate: {text}"
    );
    let read = scenario.read_trace(&text).unwrap_or_else(|error| panic!("{error}"));
    let replayed = read.replay().unwrap_or_else(|error| panic!("{error}"));
    assert!(
        replayed
            .story
            .steps
            .last()
            .expect("it has steps")
            .violations
            .iter()
            .any(|it| it.property == Property::MutualExclusion)
    );
    let rests_on = fencepost::rests_on(&replayed.assumptions);
    assert!(rests_on.contains("programs are deterministic") && rests_on.contains("`barge`"), "{rests_on}");
    let unknown = text.replace("\"name\":\"barge\"", "\"name\":\"borrowed\"");
    assert_ne!(unknown, text);
    let refused = match scenario.read_trace(&unknown) {
        Ok(trace) => trace.scenario().validate().expect_err("the name is unknown").to_string(),
        Err(error) => error.to_string(),
    };
    assert!(refused.contains("the program `borrowed`") && refused.contains("is not known here"), "{refused}");
}
