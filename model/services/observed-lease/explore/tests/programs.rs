//! Electors as programs, line by line from their sources, against the state machine with their settings: the same verdicts on every
//! scenario of the catalogue that has these settings.

use fencepost_checker::{Engine, Limits, Options};
use fencepost_model::time::Ticks;
use fencepost_observed_lease::{Expiry, Guard, OnCancel, OnLoss, PollFrom, Release, RowClock, Settings, as_programs};
use fencepost_observed_lease_explore::{SERVICE, Service, service};
use fencepost_registry::AnyScenario;

/// Promises and verdicts; that no program panics is promised of programs only.
pub(super) fn words(scenario: &dyn AnyScenario) -> Vec<(String, &'static str)> {
    words_with(scenario, &Options { workers: 2, ..Options::default() })
}

fn words_with(scenario: &dyn AnyScenario, options: &Options) -> Vec<(String, &'static str)> {
    let outcomes = scenario.check(options);
    let findings = outcomes.unwrap_or_else(|error| panic!("{error}")).into_iter().map(|outcome| outcome.finding);
    let words = findings.map(|finding| (finding.property.to_string(), finding.verdict.word()));
    words.filter(|(property, word)| property != NO_PANIC || *word == "violated").collect()
}

const NO_PANIC: &str = "no-panic";

/// Compares the two forms of every scenario with clients that can be programs, of these or of the others: how many there are.
fn compare(is_chosen: impl Fn(&str) -> bool) -> usize {
    let mut compared = 0;
    for (name, text) in service().scenarios().iter().filter(|(name, _)| is_chosen(name)) {
        let scenario = service().read(text, name).expect("it is valid");
        let machine = scenario.of::<Service>().expect("it is one of this service");
        let Some(mut program) = as_programs(machine) else { continue };
        let expected = words(&*scenario);
        // Where a promise is broken soon, the search goes on for the rest only: a panic would be found on the way.
        if expected.iter().all(|(_, word)| *word == "violated") {
            program.promises.retain(|promise| promise.property.to_string() != NO_PANIC);
        }
        assert_eq!(words(SERVICE.any(&program)), expected, "{name}");
        compared += 1;
    }
    compared
}

/// Their spaces are searched for some seconds, or for minutes.
const LARGE: [&str; 5] =
    ["ol01-defaults-2s", "ol01-defaults-3s", "ol06-timeout-1", "ol06-timeout-1-short", "ol06-timeout-2"];

#[test]
#[ignore = "takes some seconds: cargo test --tests -- --ignored"]
fn the_electors_line_by_line_get_the_verdicts_of_the_state_machine() {
    assert_eq!(compare(|name| !LARGE.contains(&name)), 114);
}

#[test]
#[ignore = "takes minutes: .ci/long"]
fn so_they_do_where_the_state_space_is_large_by_hand() {
    assert_eq!(compare(|name| LARGE.contains(&name)), LARGE.len());
}

/// What a program does differently.
type Change = fn(&mut Settings);

/// A comparison of verdicts sees a program that does one thing differently.
#[test]
fn a_program_with_another_setting_gets_another_verdict() {
    let changes: [(&str, Change); 14] = [
        ("ol02-tell-first", |settings| settings.on_loss = OnLoss::ReleaseThenTell),
        ("ol03-fresh-record", |settings| settings.release = Release::FreshVersion),
        ("ol06-context", |settings| settings.cuts_requests = false),
        ("ol07-recorded", |settings| settings.expiry = Expiry::Own),
        ("ol24-check-0", |settings| settings.guard = Guard::None),
        ("ol04-wait-3", |settings| (settings.on_cancel, settings.grace) = (OnCancel::ReleaseAtOnce, None)),
        ("ol08-success-3", |settings| settings.poll_from = PollFrom::Poll),
        ("ol12-5-4", |settings| settings.lease = Ticks::new(15)),
        ("ol11-fabric8-1", |settings| settings.lease = Ticks::new(3)),
        ("ol11-kubert-0", |settings| settings.wall_ahead[1] = Ticks::new(1)),
        ("ol11-litestream-3", |settings| settings.lease = Ticks::new(3)),
        ("ol19-conditional", |settings| settings.conditional = false),
        ("ol28-database-3", |settings| settings.row_clock = RowClock::Client),
        ("ol29-keep-alive", |settings| settings.keep_alive = false),
    ];
    for (name, change) in changes {
        let (_, text) = service().scenarios().iter().find(|(other, _)| *other == name).expect("it is in the list");
        let scenario = service().read(text, name).expect("it is valid");
        let mut other = scenario.of::<Service>().expect("it is one of this service").clone();
        change(&mut other.service);
        let mut program = as_programs(&other).expect("it has one");
        program.promises.retain(|promise| promise.property.to_string() != NO_PANIC);
        let (before, after) = (words(&*scenario), words(SERVICE.any(&program)));
        assert_eq!((before[0].1, after[0].1), ("proven", "violated"), "{name}");
    }
}

#[test]
fn the_searches_agree_about_the_electors() {
    for name in ["ol02-timeout-4", "ol04-grace-more", "ol09-truncated", "ol10-unique", "ol18-no-delete", "ol21-again"] {
        let (_, text) = service().scenarios().iter().find(|(other, _)| *other == name).expect("it is in the list");
        let scenario = service().read(text, name).expect("it is valid");
        let program = as_programs(scenario.of::<Service>().expect("it is one of this service")).expect("it has one");
        let usual = words(SERVICE.any(&program));
        for engine in [Engine::Dataflow, Engine::Stateright] {
            let plain = Options { engine, symmetry: false, ..Options::default() };
            assert_eq!(words_with(SERVICE.any(&program), &plain), usual, "{name}: {engine:?}");
        }
        // What is strictly after an instant comes earlier there.
        if name == "ol21-again" {
            continue;
        }
        // On a finer clock, the recorded durations that a program reads are its own.
        let fine = program.refined(2);
        assert_eq!(words(SERVICE.any(&fine)), usual, "{name}: half a tick");
    }
}

/// One of these, by SplitMix64.
pub(super) fn draw<'a>(state: &mut u64, options: &[&'a str]) -> &'a str {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*state ^ *state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    options[usize::try_from((mixed ^ mixed >> 31) % options.len() as u64).expect("a place in the list")]
}

const PYTHON: &str =
    "expiry = \"own\"\nrenewal = \"read-write\"\ngives_up = \"after-attempt\"\ncuts_requests = false\nsleep_max = 0\n";
const DYNAMO: &str =
    "boundary = \"strict\"\nrenewal = \"write-only\"\ngives_up = \"never\"\nrecognises_itself = false\nsleep_max = 0\n";

/// A scenario with settings of one of the clients at random, in a small world with a fault.
fn drawn(case: u64) -> String {
    let state = &mut case.clone();
    let elector = draw(state, &["", "", "", "renewal = \"read-write\"\n", PYTHON, DYNAMO]);
    let mut text = format!("name = \"drawn-{case}\"\nsystem = \"observed-lease\"\nabout = \"Settings at random.\"\n");
    text += draw(state, &["clients = 2\n", "clients = 2\n", "clients = 2\nrounds = 2\n"]);
    text += "\n[service]\n";
    text += draw(
        state,
        &["lease = 3\n", "lease = 4\n", "lease = 5\n", "lease = 7\nrenew_deadline = 3\nretry_period = 2\n"],
    );
    text += elector;
    text += draw(state, &["", "", "request_timeout = 1\n", "request_timeout = 2\n"]);
    text += draw(state, &["", "stop_time = 1\n", "stop_time = 2\n"]);
    match elector {
        PYTHON => {}
        DYNAMO => {
            text += draw(state, &["", "renew_period = 2\n"]);
            text += draw(state, &["", "guard = \"lease\"\n", "guard = \"safe-time\"\nsafe_time = 2\n"]);
            let calls = ["", "patience = 1\nmemory = \"per-call\"\ncall_again = 1\n", "patience = 0\ncall_again = 1\n"];
            text += draw(state, &calls);
        }
        _ => {
            text += draw(state, &["sleep_max = 0\n", "sleep_max = 2\n", "sleep_max = 3\n"]);
            text += draw(state, &["", "", "cuts_requests = false\n", "second = 2\n"]);
            text += draw(
                state,
                &[
                    "",
                    "release = \"cached-version\"\n",
                    "release = \"fresh-version\"\n",
                    "release = \"fresh-version\"\nrelease_repeats = true\n",
                    "release = \"fresh-record\"\non_loss = \"tell-then-release\"\n",
                ],
            );
            let waits = "cancels = \"any-time\"\non_cancel = \"wait-renewing\"\ngrace = 2\n";
            text += draw(state, &["", "cancels = \"any-time\"\n", waits]);
            text += draw(
                state,
                &["", "token = \"transitions\"\n", "token = \"resource-version\"\n", "identity = \"hostname\"\n"],
            );
        }
    }
    let wakes = draw(state, &["0", "0", "1"]);
    text += &format!("\n[synchrony]\nmessage_delay = 0\nwake_delay = {wakes}\nserver_delay = 0\n");
    text += "\n[network]\nreplies = \"instant\"\n";
    text += draw(state, &["cuts = \"drop\"\nways = \"both\"\n", "ways = \"one\"\n", "ways = \"both\"\n"]);
    text += "\n[budget]\n";
    text += draw(
        state,
        &[
            "cuts = 1\n",
            "store_errors = 1\n",
            "crashes = 1\nrestarts = 1\n",
            "pauses = 1\n",
            "crashes = 1\n",
            "stale_reads = 1\ncuts = 1\n",
        ],
    );
    for promise in ["mutual-exclusion", "lease-exclusion", "single-owner"] {
        text += &format!("\n[[promise]]\nproperty = \"{promise}\"\n");
    }
    let bound = draw(state, &["3", "5", "7", "9"]);
    text += &format!("\n[[promise]]\nproperty = \"eventually-acquired\"\nbound = {bound}\n");
    if text.contains("token") {
        text += "\n[[promise]]\nproperty = \"token-order\"\n";
    }
    text
}

/// Compares the verdicts about these scenarios, where the search ends soon: the number of verdicts compared, and how many of them are
/// violations.
pub(super) fn compare_drawn(drawn: fn(u64) -> String, cases: std::ops::Range<u64>) -> [usize; 2] {
    let (mut compared, mut violated, mut differ) = (0, 0, Vec::new());
    for case in cases {
        let text = drawn(case);
        let scenario = service().read(&text, "drawn").unwrap_or_else(|error| panic!("{error}\n{text}"));
        let machine = scenario.of::<Service>().expect("it is one of this service");
        let program = as_programs(machine).unwrap_or_else(|| panic!("there is a program\n{text}"));
        let soon = |scenario: &dyn AnyScenario| {
            let limits = Limits { states: Some(4_000), ..Limits::default() };
            words_with(scenario, &Options { limits, ..Options::default() })
        };
        let (machine, program) = (soon(&*scenario), soon(SERVICE.any(&program)));
        // A panic of a program is one violation more.
        let names = |all: &[(String, &str)]| all.iter().map(|(property, _)| property.clone()).collect::<Vec<_>>();
        assert_eq!(names(&machine), names(&program), "{text}");
        for ((property, expected), (_, word)) in machine.into_iter().zip(program) {
            if expected != "bounded" && word != "bounded" {
                if word != expected {
                    differ.push(format!("{property} is {expected}, and of the programs {word}\n{text}"));
                }
                compared += 1;
                violated += usize::from(word == "violated");
            }
        }
    }
    assert!(differ.is_empty(), "{} verdicts differ\n{}", differ.len(), differ.join("\n"));
    [compared, violated]
}

#[test]
fn they_get_the_same_verdicts_with_settings_at_random() {
    assert_eq!(compare_drawn(drawn, 0..6), [11, 3]);
}

#[test]
#[ignore = "takes minutes: .ci/long"]
fn so_they_do_in_four_hundred_scenarios_by_hand() {
    assert_eq!(compare_drawn(drawn, 0..400), [945, 575]);
}
