//! The elector of the Python package `kubernetes` 37.0.2, unmodified, held against the program `PythonElector` and against the state
//! machine with the settings of the recipe `python` (OL-K-21). Both are told the same at the same instants of one clock; what they do then
//! must be the same: each request with what it says, each sleep, each callback, and the end.

mod alone;
mod package;
mod schedule;
mod side_by_side;
mod wire;

use std::ops::Range;
use std::thread;

use fencepost_model::time::Ticks;
use fencepost_observed_lease::{Boundary, Expiry, PollFrom, Settings};
use package::PythonPackage;
pub use schedule::Draw;
use schedule::{ElectionSchedule, ElectorPlan, Fate, FateEnd, LockObject, ModelForm};
use side_by_side::{Agreement, Difference, Tally, compare};

/// As the package has it.
fn unchanged(_: &mut Settings) {}

/// A smaller schedule in which both still part, and how.
fn shrink(
    package: &mut PythonPackage,
    schedule: &ElectionSchedule,
    form: ModelForm,
    change: fn(&mut Settings),
) -> Option<(ElectionSchedule, Difference)> {
    let mut found = compare(package, schedule, form, change).err().map(|difference| (schedule.clone(), difference))?;
    loop {
        found.0.ends = found.1.at;
        let smaller = found.0.smaller().into_iter().find_map(|schedule| {
            let difference = compare(package, &schedule, form, change).err()?;
            Some((schedule, difference))
        });
        let Some(smaller) = smaller else { return Some(found) };
        found = smaller;
    }
}

/// Compares both in the schedules of these seeds: how often what has happened.
fn compare_seeds(package: &mut PythonPackage, form: ModelForm, seeds: impl Iterator<Item = u64>) -> Tally {
    let mut tally = Tally::new();
    for seed in seeds {
        let schedule = ElectionSchedule::drawn(seed);
        match compare(package, &schedule, form, unchanged) {
            Ok(shown) => shown.tally.into_iter().for_each(|(what, count)| *tally.entry(what).or_default() += count),
            Err(first) => {
                let (smaller, difference) = shrink(package, &schedule, form, unchanged).expect("they part");
                panic!(
                    "seed {seed}, {form:?}: they part\n{schedule}{}\nshrunk:\n{smaller}{}",
                    first.story, difference.story
                );
            }
        }
    }
    tally
}

/// Compares both in the schedules of these seeds, two processes of the package side by side: how often what has happened. None: there is
/// no package.
fn compare_many(form: ModelForm, seeds: Range<u64>) -> Option<Tally> {
    let halves = [0, 1].map(|half| {
        let seeds = seeds.clone().filter(move |seed| seed % 2 == half);
        thread::spawn(move || Some(compare_seeds(&mut PythonPackage::start()?, form, seeds)))
    });
    let mut tally = Tally::new();
    for half in halves {
        let counts = half.join().expect("both do the same")?;
        counts.into_iter().for_each(|(what, count)| *tally.entry(what).or_default() += count);
    }
    println!("{tally:?}");
    Some(tally)
}

/// What the schedules must show, or the comparison says little.
const EXPECTED: [(&str, u64); 14] = [
    ("started", 2_000),
    ("stopped", 500),
    ("acquired", 2_000),
    ("taken over", 250),
    ("written", 10_000),
    ("conflict", 250),
    ("error", 5_000),
    ("lost", 100),
    ("answer lost", 100),
    ("operator", 1_000),
    ("GET", 20_000),
    ("POST", 2_000),
    ("PUT", 10_000),
    ("at the very end of the lease", 150),
];

#[test]
fn ol_k_21_the_program_does_what_the_package_does_in_two_thousand_schedules() {
    let Some(tally) = compare_many(ModelForm::Program, 0..2_000) else { return };
    for (what, at_least) in EXPECTED {
        let count = tally.get(what).copied().unwrap_or(0);
        assert!(count >= at_least, "{what}: {count} times, and {at_least} are expected");
    }
}

#[test]
fn ol_k_21_the_state_machine_does_what_the_package_does() {
    let Some(tally) = compare_many(ModelForm::StateMachine, 2_000..2_400) else { return };
    assert!(tally["stopped"] >= 100, "{tally:?}");
}

/// What a model does differently.
type Mistake = fn(&mut Settings);

/// With one thing done differently, some schedule tells the two apart, and it shrinks to a short story.
#[test]
fn a_model_with_a_mistake_is_told_apart_from_the_package() {
    let Some(mut package) = PythonPackage::start() else { return };
    let state_machine: [(&str, Mistake); 3] = [
        ("the instant of expiry does not count", |settings| settings.boundary = Boundary::Strict),
        ("the deadline counts from the last success", |settings| settings.poll_from = PollFrom::LastSuccess),
        ("the recorded duration counts", |settings| settings.expiry = Expiry::Recorded),
    ];
    let program: [(&str, Mistake); 2] = [
        ("the deadline is a tick longer", |settings| {
            settings.terms.iter_mut().for_each(|terms| terms.renew_deadline = terms.renew_deadline + Ticks::new(1));
        }),
        ("the sleep is a tick shorter", |settings| {
            settings.terms.iter_mut().for_each(|terms| terms.retry_period = terms.retry_period - Ticks::new(1));
        }),
    ];
    let all = state_machine.map(|mistake| (ModelForm::StateMachine, mistake)).into_iter();
    for (form, (mistake, change)) in all.chain(program.map(|mistake| (ModelForm::Program, mistake))) {
        let found = (0..200).find_map(|seed| {
            let schedule = ElectionSchedule::drawn(seed);
            shrink(&mut package, &schedule, form, change).map(|found| (seed, found))
        });
        let (seed, (smaller, difference)) = found.unwrap_or_else(|| panic!("{mistake}: no schedule shows it"));
        println!("{mistake}: seed {seed}\n{smaller}{}", difference.story);
        let faults = smaller.electors.iter().flat_map(|elector| &elector.fates).filter(|fate| **fate != Fate::PLAIN);
        assert!(faults.count() <= 8, "{mistake}: {smaller}");
    }
}

/// A schedule with ticks of 100 ms and the defaults 15/10/2.
fn defaults(electors: usize, seconds: i64) -> ElectionSchedule {
    ElectionSchedule {
        tick: 100,
        lock: LockObject::Lease,
        electors: vec![ElectorPlan::new([150, 100, 20]); electors],
        operator: Vec::new(),
        ends: seconds * 10,
        order: 1,
    }
}

/// Both forms of the model, each against the package.
fn both(schedule: &ElectionSchedule) -> Option<[Agreement; 2]> {
    let mut package = PythonPackage::start()?;
    Some([ModelForm::Program, ModelForm::StateMachine].map(|form| {
        compare(&mut package, schedule, form, unchanged).unwrap_or_else(|difference| panic!("{}", difference.story))
    }))
}

/// How long a leader acts on after its last acknowledged renewal, in ticks of 100 ms, if each attempt fails after `c` of them.
fn gives_up_after(c: i64) -> Option<[i64; 2]> {
    let mut schedule = defaults(1, 100);
    // A read and a creation, then a read and a write four times, the last of them at 6 s.
    schedule.electors[0].fates = [Fate::PLAIN; 10].into_iter().chain([Fate::fails_after(c); 60]).collect();
    Some(both(&schedule)?.map(|shown| {
        let [(1, 0, Some(end))] = shown.tenures[..] else { panic!("{:?}", shown.tenures) };
        assert_eq!(shown.acknowledged[&1], 60);
        end - 60
    }))
}

#[test]
fn ol_k_21_attempts_that_fail_at_once_lose_the_lease_after_12_seconds() {
    assert!(gives_up_after(0).is_none_or(|ticks| ticks == [120; 2]));
}

#[test]
fn ol_k_21_attempts_that_fail_after_1900_ms_lose_it_after_13_700_ms() {
    assert!(gives_up_after(19).is_none_or(|ticks| ticks == [137; 2]));
}

#[test]
fn ol_k_21_attempts_that_fail_after_30_seconds_lose_it_after_34() {
    assert!(gives_up_after(300).is_none_or(|ticks| ticks == [340; 2]));
}

/// The poll at the very end of the lease is the first one that takes over.
#[test]
fn ol_k_21_a_contender_takes_over_at_the_first_poll_at_the_end_of_its_own_lease() {
    // Client 2 reads the record of client 1 at `seen`, and every 2 s from then on; client 1 never renews it.
    for (lease, seen, taken) in [(150, 1, 161), (140, 1, 141), (141, 1, 161), (139, 1, 141)] {
        let mut schedule = defaults(2, 18);
        schedule.electors[0].fates =
            [Fate::PLAIN; 2].into_iter().chain([Fate { delays: [0, 0], end: FateEnd::Lost }]).collect();
        schedule.electors[1].starts = seen;
        schedule.electors[1].terms[0] = lease;
        // Only this object takes durations that are no whole seconds.
        schedule.lock = LockObject::ConfigMap;
        let Some(shown) = both(&schedule) else { return };
        for shown in shown {
            assert_eq!(shown.tenures, [(1, 0, None), (2, taken, None)], "lease {lease}");
        }
    }
}

/// EQ-L11 does not concern it: its own observation counts.
#[test]
fn ol_k_21_wall_clocks_that_are_apart_change_nothing() {
    let tenures = [0, 300].map(|ahead| {
        let mut schedule = defaults(2, 60);
        schedule.electors[0].fates = [Fate::PLAIN; 10].into_iter().chain([Fate::fails_after(0); 30]).collect();
        schedule.electors[1].ahead = ahead;
        both(&schedule).map(|shown| shown.map(|shown| shown.tenures))
    });
    assert_eq!(tenures[0], tenures[1]);
}
