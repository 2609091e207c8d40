//! Programs that are wrong: the error of each, and its place.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::SystemTime;

use fencepost::checker::{Engine, InternalError, Options};
use fencepost::lease::{self, Lease, LeaseMessage, Lending};
use fencepost::model::finding::Verdict;
use fencepost::model::ids::{Index, RawId};
use fencepost::model::normal::Normal;
use fencepost::model::program::{Gone, Handle, Lap, ProgramError, ProgramErrorKind, Recipe};
use fencepost::sim::{Hunt, SchedulerKind, Settings};
use fencepost::{Property, Scenario, Ticks};
use serde::{Deserialize, Serialize};

/// One client that runs it.
fn alone<R: Recipe<Lease>>(recipe: R) -> Scenario<Lease> {
    lease::lock("mistake").programs(recipe).scenario().clients(1).promise(Property::MutualExclusion)
}

/// The error with which both engines refuse it.
fn refused<R: Recipe<Lease> + Clone>(recipe: R) -> ProgramError {
    let by = |engine| {
        let scenario = alone(recipe.clone());
        let scenario = lease::SERVICE.any(&scenario);
        match scenario.check(&Options { engine, ..Options::default() }).expect_err("it is wrong") {
            InternalError::Program(error) => error,
            other => panic!("another error: {other}"),
        }
    };
    let error = by(Engine::Dataflow);
    assert_eq!(std::mem::discriminant(&by(Engine::Stateright).kind), std::mem::discriminant(&error.kind));
    error
}

/// A recipe without a value.
macro_rules! recipe {
    ($name:ident = $text:literal, |$lender:ident| $body:block) => {
        #[derive(Clone, Debug, Normal, Serialize, Deserialize)]
        #[normal(crate = fencepost::model)]
        struct $name;

        impl Recipe<Lease> for $name {
            const NAME: &'static str = $text;

            async fn lap(&mut self, $lender: &Handle<Lease>) -> Result<Lap, Gone> $body
        }
    };
}

static CALLS: AtomicU32 = AtomicU32::new(0);

recipe!(Counting = "counting", |lender| {
    lender.borrow().await;
    // What a static remembers is no part of the state.
    if CALLS.fetch_add(1, Relaxed).is_multiple_of(2) {
        lender.sleep(Ticks::new(1)).await
    } else {
        lender.give_back(Index::numbered(1))
    }
    lender.sleep(Ticks::new(3)).await;
    Ok(Lap::Again)
});

recipe!(Clocked = "clocked", |lender| {
    lender.borrow().await;
    // The clock of this machine is not that of the world.
    let since = SystemTime::UNIX_EPOCH.elapsed().expect("it is past 1970");
    lender.sleep(Ticks::new(i64::from(1 + since.subsec_nanos() % 997))).await;
    Ok(Lap::Again)
});

thread_local! {
    static TURNS: Cell<u32> = const { Cell::new(0) };
}

recipe!(Remembering = "remembering", |lender| {
    lender.borrow().await;
    // A cell of the thread is no part of the state, either.
    let turns = TURNS.replace(TURNS.get() + 1);
    lender.sleep(Ticks::new(i64::from(1 + turns % 997))).await;
    Ok(Lap::Again)
});

static LAPS: AtomicU32 = AtomicU32::new(1);

recipe!(Slowing = "slowing", |lender| {
    lender.borrow().await;
    // Longer in each lap of the process.
    lender.sleep(Ticks::new(LAPS.fetch_add(1, Relaxed).into())).await;
    Ok(Lap::Again)
});

recipe!(Restless = "restless", |lender| {
    let deadline = lender.deadline(Ticks::new(1));
    deadline.is_over().await;
    Ok(Lap::Again)
});

recipe!(Deaf = "deaf", |lender| {
    lender.borrow().await;
    std::future::pending::<()>().await;
    Ok(Lap::Done)
});

recipe!(Panicking = "panicking", |lender| {
    match lender.borrow().await {
        LeaseMessage::Lent(loan) => assert!(loan.raw() > 7, "no loan is so small"),
        other => panic!("{other}"),
    }
    Ok(Lap::Done)
});

recipe!(Endless = "endless", |lender| {
    loop {
        lender.sleep(Ticks::new(1)).await;
    }
});

/// What it counts is no part of its text.
#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
#[normal(crate = fencepost::model)]
struct Forgetful {
    #[normal(skip = "a count")]
    #[serde(skip)]
    laps: u8,
}

impl Recipe<Lease> for Forgetful {
    const NAME: &'static str = "forgetful";

    async fn lap(&mut self, lender: &Handle<Lease>) -> Result<Lap, Gone> {
        lender.sleep(Ticks::new(1)).await;
        self.laps += 1;
        Ok(if self.laps < 3 { Lap::Again } else { Lap::Done })
    }
}

#[test]
fn a_program_that_is_not_deterministic_is_refused_with_the_place() {
    let error = refused(Counting);
    let ProgramErrorKind::NotDeterministic { before, now } = &error.kind else { panic!("{error}") };
    let is = |begin: &str| before.starts_with(begin) || now.starts_with(begin);
    assert!(is("send: ") && is("sleep for 1 tick"), "{error}");
    let text = error.to_string();
    assert!(text.starts_with("the program `counting` cannot be explored: it is not deterministic"), "{text}");
    assert!(text.contains("told 1: [0] "), "{text}");
}

#[test]
fn a_program_that_reads_a_clock_or_a_hidden_cell_is_refused_with_the_place() {
    for error in [refused(Clocked), refused(Remembering)] {
        let ProgramErrorKind::NotDeterministic { before, now } = &error.kind else { panic!("{error}") };
        assert!(before.starts_with("sleep for ") && now.starts_with("sleep for ") && before != now, "{error}");
        assert!(error.to_string().contains("told 1: [0] "), "{error}");
    }
}

#[test]
fn a_program_that_never_waits_is_stopped() {
    let error = refused(Restless);
    assert_eq!(error.kind, ProgramErrorKind::NeverWaits);
    assert!(error.to_string().contains("it goes on without waiting"), "{error}");
}

/// The error behind the panic with which a simulation ends.
fn behind<T>(act: impl FnOnce() -> T) -> ProgramError {
    let Err(panic) = catch_unwind(AssertUnwindSafe(act)) else { panic!("it is wrong") };
    ProgramError::behind(panic.downcast_ref::<String>().expect("a message")).expect("of a program")
}

#[test]
fn a_simulation_ends_with_the_error_of_a_program_whichever_thread_it_is_in() {
    let scenario = alone(Restless);
    let scenario = lease::SERVICE.any(&scenario);
    let error = behind(|| scenario.simulate(&Settings { seed: 1, ..Settings::default() }));
    assert_eq!((error.program.as_str(), &error.kind), ("restless", &ProgramErrorKind::NeverWaits));
    let hunt = Hunt { seeds: 0..1_000_000_000, workers: 2, ..Hunt::default() };
    assert_eq!(behind(|| scenario.hunt(&hunt, &|_| false)).kind, ProgramErrorKind::NeverWaits);
}

/// A run is taken twice, the second time to be recorded. A hunt takes each run once and compares nothing.
#[test]
fn a_simulation_compares_laps_that_are_told_the_same() {
    let scenario = alone(Slowing);
    let scenario = lease::SERVICE.any(&scenario);
    for scheduler in SchedulerKind::ALL {
        let error = behind(|| scenario.simulate(&Settings { seed: 1, scheduler, ..Settings::default() }));
        assert!(matches!(error.kind, ProgramErrorKind::NotDeterministic { .. }), "{error}");
    }
}

#[test]
fn a_program_that_hides_something_from_its_text_is_refused() {
    let error = refused(Forgetful { laps: 0 });
    assert!(matches!(error.kind, ProgramErrorKind::Head(_)), "{error}");
    assert!(error.to_string().contains("lost between laps"), "{error}");
}

#[test]
fn a_program_that_waits_for_something_else_is_refused() {
    let error = refused(Deaf);
    assert_eq!(error.kind, ProgramErrorKind::WaitsForNothing);
    assert!(error.to_string().contains("Await only what the handle offers"), "{error}");
}

#[test]
fn a_panic_is_a_violation_with_its_story() {
    let scenario = alone(Panicking);
    let scenario = lease::SERVICE.any(&scenario);
    for engine in Engine::ALL {
        let outcomes =
            scenario.check(&Options { engine, ..Options::default() }).unwrap_or_else(|error| panic!("{error}"));
        let found = outcomes.iter().find(|outcome| outcome.finding.property == Property::NoPanic).expect("promised");
        let Verdict::Violated(story) = &found.finding.verdict else { panic!("{:?}", found.finding.verdict) };
        let last = story.steps.last().expect("it has steps");
        let message = &last.violations[0].message;
        assert!(message.starts_with("the program of client 1 panics: no loan is so small"), "{message}");
        assert!(message.contains("mistakes.rs:"), "the place: {message}");
        assert!(found.trace.as_ref().expect("it has a trace").replay().is_ok());
    }
}

#[test]
fn a_lap_that_is_told_too_much_makes_the_search_bounded() {
    let scenario = alone(Endless);
    let scenario = lease::SERVICE.any(&scenario);
    for engine in Engine::ALL {
        for outcome in
            scenario.check(&Options { engine, ..Options::default() }).unwrap_or_else(|error| panic!("{error}"))
        {
            let Verdict::Bounded { by } = &outcome.finding.verdict else { panic!("{:?}", outcome.finding.verdict) };
            assert!(by.contains("more than 64 things (`endless`, which began as null; last: ["), "{by}");
        }
    }
}
