//! The recipes as programs, line by line from their sources, against the state machine with their settings: the same verdicts on every
//! scenario of the catalogue whose clients can be programs.

use fencepost_checker::{Engine, Options};
use fencepost_etcd::{
    GoElection, GoMutex, HolderTerms, Nested, OnError, Reads, SessionTerms, Settings, Stop, as_programs,
};
use fencepost_etcd_explore::{SERVICE, Service, service};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::Ticks;
use fencepost_registry::AnyScenario;

/// The scenario of the catalogue.
fn shipped(name: &str) -> Scenario<Service> {
    let (_, text) = service().scenarios().iter().find(|(other, _)| *other == name).expect("it is in the list");
    let scenario = service().read(text, name).expect("it is valid");
    scenario.of::<Service>().expect("it is one of this service").clone()
}

/// Promises and verdicts; that no program panics is promised of programs only.
pub(super) fn words(scenario: &dyn AnyScenario, options: &Options) -> Vec<(String, &'static str)> {
    let outcomes = scenario.check(options);
    let findings = outcomes.unwrap_or_else(|error| panic!("{error}")).into_iter().map(|outcome| outcome.finding);
    let words = findings.map(|finding| (finding.property.to_string(), finding.verdict.word()));
    words.filter(|(property, word)| property != NO_PANIC || *word == "violated").collect()
}

const NO_PANIC: &str = "no-panic";

fn usual() -> Options {
    Options { workers: 2, ..Options::default() }
}

/// Where a promise is broken soon, the search goes on for the rest only: a panic would be found on the way.
fn without_panics(mut program: Scenario<Service>) -> Scenario<Service> {
    program.promises.retain(|promise| promise.property.to_string() != NO_PANIC);
    program
}

/// Compares the two forms of every scenario with clients that can be programs, of these or of the others: how many there are.
fn compare(is_chosen: impl Fn(&str) -> bool) -> usize {
    let (mut compared, mut differ) = (0, Vec::new());
    for (name, _) in service().scenarios().iter().filter(|(name, _)| is_chosen(name)) {
        let machine = shipped(name);
        let Some(mut program) = as_programs(&machine) else { continue };
        let expected = words(SERVICE.any(&machine), &usual());
        if expected.iter().all(|(_, word)| *word == "violated") {
            program = without_panics(program);
        }
        let found = words(SERVICE.any(&program), &usual());
        if found != expected {
            differ.push(format!("{name}: {expected:?}, and of the programs {found:?}"));
        }
        compared += 1;
    }
    assert!(differ.is_empty(), "{} differ\n{}", differ.len(), differ.join("\n"));
    compared
}

/// Their spaces are searched for some seconds each, and for minutes together.
const LARGE: [&str; 34] = [
    "e02-3-4",
    "e02-final-get",
    "e04-elected-late",
    "e04-long",
    "e04-rest",
    "e04-short",
    "e04-term-check",
    "e05-after-the-end",
    "e05-at-the-end",
    "e05-checkpointed",
    "e05-stop-sooner",
    "e06-change-sooner",
    "e06-restart",
    "e10-waiting",
    "e11-again",
    "e11-closed",
    "e11-kept",
    "e11-mutex",
    "e12-cancelled",
    "e12-not-cancelled",
    "e12-txn",
    "e12-unguarded",
    "e16-equal",
    "e16-final-get",
    "e16-final-get-done",
    "e16-guarded",
    "e16-long",
    "e16-short",
    "e18-equal",
    "e18-less",
    "e18-long",
    "e18-short",
    "e20-alone-equal",
    "e20-confirmed",
];

/// These for a minute each.
const LARGEST: [&str; 5] = ["e20-long", "e20-short", "e21-by-name", "e21-compares", "e21-new-session"];

#[test]
#[ignore = "takes some seconds: cargo test --tests -- --ignored"]
fn the_recipes_line_by_line_get_the_verdicts_of_the_state_machine() {
    assert_eq!(compare(|name| !LARGE.contains(&name) && !LARGEST.contains(&name)), 57);
}

#[test]
#[ignore = "takes minutes: .ci/long"]
fn so_they_do_where_the_state_space_is_large_by_hand() {
    assert_eq!(compare(|name| LARGE.contains(&name)), LARGE.len());
    assert_eq!(compare(|name| LARGEST.contains(&name)), LARGEST.len());
}

/// What a program does differently.
type Change = fn(&mut Settings);

/// A comparison of verdicts sees a program that does one thing differently.
#[test]
#[ignore = "takes some seconds: cargo test --tests -- --ignored"]
fn a_program_with_another_setting_gets_another_verdict() {
    let changes: [(&str, Change); 11] = [
        ("e01-self-limiting", |settings| (settings.stop, settings.margin) = (Stop::Never, Ticks::ZERO)),
        ("e02-final-get", |settings| settings.final_get = false),
        ("e03-looks", |settings| (settings.stop, settings.margin) = (Stop::Never, Ticks::ZERO)),
        ("e07-range", |settings| settings.reads = Reads::Local),
        ("e11-closed", |settings| settings.on_error = OnError::Keep),
        ("e13-close", |settings| settings.closes_session = false),
        ("e15-close", |settings| settings.closes_session = false),
        ("e17-no-loop", |settings| settings.done_loop = Ticks::new(1)),
        ("e21-compares", |settings| settings.unlock_compares = false),
        ("e23-outer-first", |settings| settings.nested = Nested::First),
        ("e24-own", |settings| settings.shared_lease = true),
    ];
    for (name, change) in changes {
        let machine = shipped(name);
        let mut other = machine.clone();
        change(&mut other.service);
        let program = without_panics(as_programs(&other).expect("it has one"));
        let (before, after) = (words(SERVICE.any(&machine), &usual()), words(SERVICE.any(&program), &usual()));
        assert_eq!((before[0].1, after[0].1), ("proven", "violated"), "{name}");
    }
}

#[test]
#[ignore = "takes some seconds: cargo test --tests -- --ignored"]
fn the_searches_agree_about_the_recipes() {
    for name in ["e01-self-limiting", "e03-looks", "e10-held", "e13-fixed", "e19-own-key", "e24-shared"] {
        let program = as_programs(&shipped(name)).expect("it has one");
        let found = words(SERVICE.any(&program), &Options::default());
        for engine in [Engine::Dataflow, Engine::Stateright] {
            let plain = Options { engine, symmetry: false, ..Options::default() };
            assert_eq!(words(SERVICE.any(&program), &plain), found, "{name}: {engine:?}");
        }
        // On a finer clock its TTL is longer.
        assert_eq!(words(SERVICE.any(&program.refined(2)), &usual()), found, "{name}: half a tick");
    }
}

/// The session of a scenario's clients, of whose messages none is lost, and their user as far as it stops.
fn terms_of(settings: &Settings) -> (SessionTerms, HolderTerms) {
    let Settings { ttl, renew_after, resend_after, done_loop, stop, margin, looks_before_entry, .. } = *settings;
    let terms = SessionTerms {
        ttl,
        lease: None,
        renew_after,
        resend_after,
        resends: false,
        done_loop,
        first_deadline: ttl,
        limit: (stop == Stop::BeforeExpiry).then(|| ttl - margin),
    };
    (terms, HolderTerms { stop, looks_before_entry, ..HolderTerms::default() })
}

/// `Proclaim` compares the create revision: a candidate whose key is gone is not the leader, whatever `Campaign` said (E-CC-20, E-CC-22). That
/// mends E-10 where the key of a waiting candidate is deleted, and nothing else.
#[test]
#[ignore = "takes half a minute: .ci/long"]
fn a_candidate_that_proclaims_before_it_begins_is_no_phantom_by_hand() {
    let machine = shipped("e10-waiting");
    let (terms, holder) = terms_of(&machine.service);
    for (proclaims, expected) in [(false, "violated"), (true, "proven")] {
        let mut candidate = GoElection::with(terms.clone(), holder);
        candidate.proclaims = proclaims;
        let found = words(SERVICE.any(&machine.clone().programs(candidate)), &usual());
        assert_eq!(found[0], ("mutual-exclusion".to_owned(), expected), "proclaims: {proclaims}");
    }
}

/// `TryLock` again and again, one tick after it was refused.
fn by_try_lock(name: &str, change: impl Fn(&mut HolderTerms)) -> Vec<(String, &'static str)> {
    let machine = shipped(name);
    let (terms, mut holder) = terms_of(&machine.service);
    change(&mut holder);
    let mut client = GoMutex::with(terms, holder);
    client.tries_after = Some(Ticks::new(1));
    words(SERVICE.any(&without_panics(machine.clone().programs(client))), &usual())
}

/// What a user must do beside `Lock` it must do beside `TryLock`, too.
#[test]
fn e_cc_16_try_lock_excludes_others_as_lock_does() {
    let kept = by_try_lock("e01-self-limiting", |_| {});
    assert_eq!(kept, words(SERVICE.any(&without_panics(shipped("e01-self-limiting"))), &usual()));
    assert_eq!(kept[0], ("mutual-exclusion".to_owned(), "proven"));
    let careless = by_try_lock("e01-self-limiting", |holder| holder.stop = Stop::Never);
    assert_eq!(careless[0], ("mutual-exclusion".to_owned(), "violated"));
}
