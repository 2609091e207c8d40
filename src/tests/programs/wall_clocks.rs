//! Programs that read a wall clock, clocks with rates, and processes that sleep: the laws of programs hold, a reading shows no instant, and
//! what the scenario does not say of its clocks is refused.

use fencepost::checker::{InternalError, Options};
use fencepost::model::ids::ClientId;
use fencepost::model::mutation::CheckerMutation;
use fencepost::model::normal::Normal;
use fencepost::model::program::{Gone, Handle, Lap, ProgramError, ProgramErrorKind, Recipe};
use fencepost::model::time::StartTime;
use fencepost::observed_lease::{
    self, LeaseApi as _, LeaseRecord, ObservedLease, Rate, RowUntil, SERVICE, Settings, as_programs,
};
use fencepost::{Property, Scenario, Ticks};
use serde::{Deserialize, Serialize};

use super::laws::{a_run_is_a_cache, names_have_no_meaning, on_walks, the_usual_laws_hold};
use super::shipped;

fn program(name: &str) -> Scenario<ObservedLease> {
    as_programs(&shipped(name)).expect("its clients can be programs")
}

/// Each client that believes a writer's clock, rows by both clocks, naps, rates, and a caller that cancels after a renewal.
const ALL: [&str; 9] = [
    "ol11-kubert-1",
    "ol11-fabric8-2",
    "ol11-litestream-4",
    "ol19-unconditional",
    "ol28-client-2",
    "ol29-keep-alive",
    "ol08-poll-2",
    "ol12-5-4",
    "ol04-wait-4",
];

#[test]
fn the_laws_of_programs_hold_with_readings_of_wall_clocks_naps_and_rates() {
    for name in ALL {
        let scenario = program(name);
        on_walks(&scenario, a_run_is_a_cache);
        on_walks(&scenario, names_have_no_meaning);
        on_walks(&scenario, the_usual_laws_hold);
    }
}

/// Mutants of the normal form: readings that are clamped too early do not stand for those that were read.
#[test]
#[should_panic(expected = "left == right")]
fn a_reading_that_is_forgotten_too_early_is_found() {
    let mut scenario = program("ol11-kubert-1");
    scenario.mutation = Some(CheckerMutation::ElapsedForgotten.into());
    on_walks(&scenario, names_have_no_meaning);
}

#[test]
fn only_the_difference_of_wall_clocks_counts() {
    let scenario = program("ol11-kubert-1");
    let moved = |ticks: [i64; 2]| {
        let mut scenario = scenario.clone();
        scenario.service.wall_ahead = ticks.into_iter().map(Ticks::new).collect();
        let outcomes = SERVICE.any(&scenario).check(&Options::default()).unwrap_or_else(|error| panic!("{error}"));
        outcomes.into_iter().map(|outcome| outcome.finding.verdict.word()).collect::<Vec<_>>()
    };
    // All clocks moved by the same: nothing changes.
    assert_eq!(moved([0, 1]), ["violated", "proven"]);
    assert_eq!(moved([5, 6]), ["violated", "proven"]);
    assert_eq!(moved([0, 0]), ["proven", "proven"]);
    assert_eq!(moved([5, 5]), ["proven", "proven"]);
}

/// One client that runs it.
fn refused<R: Recipe<ObservedLease>>(recipe: R, settings: Settings) -> ProgramError {
    let check = observed_lease::lock("clocks").settings(|own: &mut Settings| *own = settings);
    let scenario = check.scenario().clients(1).program(ClientId(1), recipe).promise(Property::MutualExclusion);
    match SERVICE.any(&scenario).check(&Options::default()).expect_err("it is refused") {
        InternalError::Program(error) => error,
        other => panic!("another error: {other}"),
    }
}

/// A recipe without a value.
macro_rules! recipe {
    ($name:ident = $text:literal, |$api:ident| $body:block) => {
        #[derive(Clone, Debug, Normal, Serialize, Deserialize)]
        #[normal(crate = fencepost::model)]
        struct $name;

        impl Recipe<ObservedLease> for $name {
            const NAME: &'static str = $text;

            async fn lap(&mut self, $api: &Handle<ObservedLease>) -> Result<Lap, Gone> $body
        }
    };
}

recipe!(Peeking = "peeking", |api| {
    let read: StartTime = api.wall_time().await.into();
    api.sleep(Ticks::new(1)).await;
    // Its reading is a number, and the number has no meaning.
    if read.0.ticks() % 2 == 0 {
        api.sleep(Ticks::new(1)).await
    } else {
        api.sleep(Ticks::new(2)).await
    }
    Ok(Lap::Again)
});

recipe!(Patient = "patient", |api| {
    let read = api.wall_time().await;
    api.deadline_after(read, Ticks::new(5)).passed().await;
    Ok(Lap::Again)
});

recipe!(Generous = "generous", |api| {
    let record = LeaseRecord { holder: None, duration: Ticks::new(9), transitions: 0 };
    let read = api.wall_time().await;
    api.create(record.renewed_at(read)).await.ok();
    api.sleep(Ticks::new(1)).await;
    Ok(Lap::Again)
});

recipe!(LongRow = "long-row", |api| {
    let read = api.wall_time().await;
    api.take_row(RowUntil::Client(read, Ticks::new(9)), Some(read)).await.ok();
    api.sleep(Ticks::new(1)).await;
    Ok(Lap::Again)
});

recipe!(Odd = "odd", |api| {
    api.sleep(Ticks::new(1)).await;
    Ok(Lap::Again)
});

recipe!(Reader = "reader", |api| {
    api.wall_time().await;
    api.sleep(Ticks::new(2)).await;
    Ok(Lap::Again)
});

#[test]
fn a_program_that_looks_into_a_reading_is_refused() {
    let error = refused(Peeking, Settings::default());
    assert!(matches!(error.kind, ProgramErrorKind::NotDeterministic { .. }), "{error}");
}

#[test]
fn a_program_counts_no_longer_from_a_reading_than_the_settings_say() {
    // The lease of the settings is 4.
    for error in [
        refused(Patient, Settings::default()),
        refused(Generous, Settings::default()),
        refused(LongRow, Settings::default()),
    ] {
        assert!(matches!(error.kind, ProgramErrorKind::Clock(_)), "{error}");
        assert!(
            error.to_string().contains("the settings of the scenario name durations up to 4 ticks only"),
            "{error}"
        );
    }
}

recipe!(RowElsewhere = "row-elsewhere", |api| {
    api.take_row(RowUntil::Database(Ticks::new(2)), None).await.ok();
    api.sleep(Ticks::new(1)).await;
    Ok(Lap::Again)
});

recipe!(OldRow = "old-row", |api| {
    let read = api.wall_time().await;
    api.sleep(Ticks::new(5)).await;
    api.take_row(RowUntil::Client(read, Ticks::new(2)), Some(read)).await.ok();
    Ok(Lap::Again)
});

recipe!(LongLeast = "long-least", |api| {
    api.end_row(RowUntil::Database(Ticks::new(9))).await.ok();
    api.sleep(Ticks::new(1)).await;
    Ok(Lap::Again)
});

/// The store compares times of clients with each other, and with the beginning of a row: what the normal form does not keep apart is refused.
#[test]
fn a_program_asks_for_rows_as_the_scenario_has_them() {
    let says = |error: ProgramError, text: &str| {
        assert!(matches!(&error.kind, ProgramErrorKind::Request(why) if why.contains(text)), "{error}");
    };
    says(refused(RowElsewhere, Settings::default()), "the system is `observed-lease`: write `lease-row`");
    says(in_a_row("ol28-database-3", OldRow), "`service.row_clock` is not `client`");
    says(in_a_row("ol28-client-2", OldRow), "is too old");
    says(in_a_row("ol28-database-3", LongLeast), "a least time of 9 ticks is too long");
}

/// The scenario with one client that runs it.
fn in_a_row<R: Recipe<ObservedLease>>(name: &str, recipe: R) -> ProgramError {
    let mut scenario = shipped::<ObservedLease>(name).clients(1).program(ClientId(1), recipe);
    scenario.service.wall_ahead.truncate(1);
    match SERVICE.any(&scenario).check(&Options::default()).expect_err("it is refused") {
        InternalError::Program(error) => error,
        other => panic!("another error: {other}"),
    }
}

#[test]
fn a_clock_with_a_rate_waits_for_whole_ticks_and_has_no_wall_clock() {
    let slow = || Settings { rates: vec![Rate { shows: 2, per: 3 }], ..Settings::default() };
    let slow =
        || Settings { retry_period: Ticks::new(2), renew_deadline: Ticks::new(4), lease: Ticks::new(8), ..slow() };
    assert!(refused(Odd, slow()).to_string().contains("no whole number of ticks of true time"));
    assert!(refused(Reader, slow()).to_string().contains("has a rate of its own"));
}
