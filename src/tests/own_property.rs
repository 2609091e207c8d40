//! A property of a user's own: judged by both engines and by the simulator, and violation under its name.

use fencepost::checker::{Engine, Options};
use fencepost::lease::{Lease, SERVICE};
use fencepost::model::fact::Fact;
use fencepost::sim::{Hunt, Settings};
use fencepost::{Expect, Level, Memory, Property, Scenario, Ticks, View, verify};

/// At most this number of entries in one execution: the property remembers earlier steps.
fn entries<const MAX: u32>(view: &View<'_, Lease>, memory: &mut Memory) -> Result<(), String> {
    let new = view.facts.iter().filter(|fact| matches!(fact, Fact::Entered { .. })).count();
    memory[0] += u32::try_from(new).expect("a step has few facts");
    if memory[0] <= MAX { Ok(()) } else { Err(format!("the lock was entered {} times", memory[0])) }
}

/// Never two messages under way: no fact tells of that.
fn quiet(view: &View<'_, Lease>, _: &mut Memory) -> Result<(), String> {
    let count = view.after.network.iter().count();
    if count < 2 { Ok(()) } else { Err(format!("{count} messages are under way")) }
}

fn our_lock() -> Scenario<Lease> {
    Scenario::<Lease>::new("our-lock").rounds(1).service(|lease| lease.lease = Ticks::new(2))
}

/// Checks the only promise with both engines.
fn verdicts(scenario: &Scenario<Lease>) -> Vec<String> {
    let judged = Engine::ALL.map(|engine| {
        let outcome = SERVICE
            .any(scenario)
            .check(&Options { engine, ..Options::default() })
            .expect("no internal error")
            .remove(0);
        let story = outcome.finding.verdict.story();
        let violation = story.and_then(|story| story.steps.last()?.violations.first().cloned());
        let violation = violation.map(|violation| format!(": {} {}", violation.property, violation.message));
        format!("{} {}{}", outcome.finding.property, outcome.finding.verdict.word(), violation.unwrap_or_default())
    });
    judged.to_vec()
}

#[test]
fn a_property_that_holds_is_proven_by_both_engines() {
    let scenario = our_lock().own_property("two-entries", Level::Belief, entries::<2>);
    assert_eq!(verdicts(&scenario), ["two-entries proven"; 2]);
    verify(SERVICE.any(&scenario));
}

#[test]
fn a_property_that_remembers_is_violated_in_both_engines_and_by_a_seed() {
    let scenario = our_lock().own_property("one-entry", Level::Belief, entries::<1>);
    assert_eq!(verdicts(&scenario), ["one-entry violated: one-entry the lock was entered 2 times"; 2]);
    let scenario = SERVICE.any(&scenario);
    let hunt = Hunt { settings: Settings::default(), seeds: 0..200, ..Hunt::default() };
    let seed = scenario.hunt(&hunt, &|_| false).seed.expect("a seed finds it");
    let run = scenario.simulate(&Settings { seed, ..Settings::default() });
    let violation = run.violations.first().expect("it was found with this seed");
    assert_eq!((violation.property.name(), violation.message.as_str()), ("one-entry", "the lock was entered 2 times"));
}

#[test]
fn a_property_of_states_is_judged_after_every_step() {
    let scenario = our_lock().own_property("quiet", Level::Record, quiet);
    assert_eq!(verdicts(&scenario), ["quiet violated: quiet 2 messages are under way"; 2]);
}

#[test]
fn a_property_of_ones_own_stands_beside_the_others() {
    let mut scenario =
        our_lock().own_property("one-entry", Level::Belief, entries::<1>).promise(Property::MutualExclusion);
    scenario.promises[0].expect = Expect::Violated;
    let findings = SERVICE.any(&scenario).check(&Options::default()).expect("no internal error");
    let written = toml::Value::try_from(findings[0].finding.property).expect("a property is written as its name");
    assert_eq!(written.as_str(), Some("one-entry"));
    assert!(findings.iter().any(|outcome| outcome.finding.property == Property::MutualExclusion));
}

#[test]
fn a_taken_or_undefined_name_is_refused() {
    let taken = our_lock().own_property("mutual-exclusion", Level::Belief, entries::<1>);
    let mistake = taken.validate().expect_err("the name is taken").to_string();
    assert!(mistake.contains("is the name of another property"), "{mistake}");
    let mut undefined = our_lock().own_property("one-entry", Level::Belief, entries::<1>);
    undefined.own_properties.clear();
    let mistake = undefined.validate().expect_err("the property is undefined").to_string();
    assert!(mistake.contains("is not defined: add it by `own_property`"), "{mistake}");
}
