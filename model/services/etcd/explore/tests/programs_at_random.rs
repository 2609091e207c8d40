//! The recipes as programs against the state machine, with settings at random, in small worlds with a fault.

use fencepost_checker::laws::Draw;
use fencepost_checker::{Limits, Options};
use fencepost_etcd::as_programs;
use fencepost_etcd_explore::{SERVICE, Service, service};
use fencepost_registry::AnyScenario;

use super::programs::words;

/// One of these.
fn pick<'a>(draw: &mut Draw, options: &[&'a str]) -> &'a str {
    options[usize::try_from(draw.below(options.len() as u64)).expect("a place in the list")]
}

/// A scenario with settings of a client at random.
fn drawn(case: u64) -> String {
    let draw = &mut Draw(case.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let is_election = draw.below(3) == 0;
    let renews = draw.below(4) > 0;
    let rounds = 1 + u64::from(draw.below(4) == 0);
    let system = if is_election { "etcd-election" } else { "etcd-mutex" };
    let mut text = format!("name = \"drawn-{case}\"\nsystem = \"{system}\"\nabout = \"Settings at random.\"\n");
    text += &format!("clients = 2\nrounds = {rounds}\nwrites = {}\n\n[service]\n", u64::from(draw.below(4) == 0));
    text += pick(draw, &["", "ttl = 2\n", "ttl = 4\n", "ttls = [4, 2]\n"]);
    text += pick(draw, &["", "scan_delay = 1\n"]);
    text += pick(draw, &["", "watches_own_key = true\n"]);
    text += pick(draw, &["", "guard = \"txn\"\n"]);
    text += pick(draw, &["", "", "outage = 2\n"]);
    let stops =
        ["", "stop = \"before-expiry\"\nmargin = 1\n", "stop = \"before-expiry\"\nlooks_before_entry = false\n"];
    if renews {
        text += pick(draw, &[stops[0], stops[1], stops[2], "stop = \"on-done\"\n"]);
        text += pick(draw, &["", "done_loop = 0\n"]);
        text += pick(draw, &["", "done_cancels = true\n"]);
        text += pick(draw, &["", "first_deadline = 2\n", "first_deadline = 5\n"]);
        text += pick(draw, &["", "renew_after = 2\n"]);
    } else {
        text += "renews = false\n";
        text += pick(draw, &stops);
    }
    if is_election {
        text += pick(draw, &["", "on_error = \"close\"\n", "on_error = \"again\"\n"]);
    } else if renews {
        text += pick(draw, &["", "final_get = true\n"]);
        text += pick(draw, &["", "unlock_compares = true\n"]);
    }
    // A program's process ends with its last round, and its renewals with it.
    if rounds == 1 && renews {
        text += pick(draw, &["", "closes_session = false\n", "closes_session = false\nleave = \"abandon\"\n"]);
    }
    let fault = pick(
        draw,
        &[
            "cuts = 1\n",
            "losses = 1\n",
            "crashes = 1\n",
            "crashes = 1\nrestarts = 1\n",
            "leader_losses = 1\n",
            "server_restarts = 1\n",
            "disconnections = 1\n",
            "operator = 1\n",
        ],
    );
    if fault.starts_with("operator") {
        text += pick(
            draw,
            &[
                "operator = [\"delete-held\"]\n",
                "operator = [\"delete-waiting\", \"compact\"]\n",
                "operator = [\"revoke-held\"]\n",
                "operator = [\"revoke-waiting\"]\n",
                "operator = [\"detach\"]\n",
            ],
        );
    }
    text += "\n[synchrony]\nmessage_delay = 0\nserver_delay = 0\n";
    text += pick(draw, &["wake_delay = 0\n", "wake_delay = 0\n", "wake_delay = 1\n"]);
    text += "\n[network]\nreplies = \"instant\"\n";
    text += pick(draw, &["ways = \"both\"\n", "ways = \"one\"\n", "cuts = \"drop\"\nways = \"both\"\n"]);
    text += &format!("\n[budget]\n{fault}");
    for promise in ["mutual-exclusion", "single-owner", "token-order", "eventually-acquired"] {
        text += &format!("\n[[promise]]\nproperty = \"{promise}\"\n");
    }
    if text.contains("writes = 1") {
        text += "\n[[promise]]\nproperty = \"no-lost-update\"\n";
    }
    text
}

/// Compares the verdicts about these scenarios, where the search ends soon: how many were compared, and how many of them are violations.
fn compare_drawn(cases: std::ops::Range<u64>) -> [usize; 2] {
    let (mut compared, mut violated, mut differ) = (0, 0, Vec::new());
    for case in cases {
        let text = drawn(case);
        let scenario = service().read(&text, "drawn").unwrap_or_else(|error| panic!("{error}\n{text}"));
        let machine = scenario.of::<Service>().expect("it is one of this service");
        let program = as_programs(machine).unwrap_or_else(|| panic!("there is a program\n{text}"));
        let soon = |scenario: &dyn AnyScenario| {
            let limits = Limits { states: Some(12_000), ..Limits::default() };
            words(scenario, &Options { limits, ..Options::default() })
        };
        let (machine, program) = (soon(&*scenario), soon(SERVICE.any(&program)));
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
#[ignore = "takes some seconds: cargo test --tests -- --ignored"]
fn they_get_the_same_verdicts_with_settings_at_random() {
    assert_eq!(compare_drawn(0..8), [16, 6]);
}

#[test]
#[ignore = "takes minutes: .ci/long"]
fn so_they_do_in_two_hundred_scenarios_by_hand() {
    assert_eq!(compare_drawn(0..200), [401, 161]);
}
