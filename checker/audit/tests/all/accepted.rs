//! What the checker writes is accepted, and it writes nothing without a proof.

use std::sync::Mutex;

use fencepost::Expect;
use fencepost::checker::{Limits, Options};
use fencepost::model::finding::Finding;
use fencepost_audit::{AuditOptions, audit};

use crate::{SYMMETRIC, about, accepted, certificate, changed, findings, of_kind, on, scenario};

/// Small scenarios of every service: promises about steps, promises about endless executions, weak and strong fairness, faults, clocks.
const SMALL: [&str; 19] = [
    "lease-late-write",
    "lease-late-write-fenced",
    "b03-fencing",
    "consul-capitals",
    "consul-small-letters",
    "consul-turns",
    "b15-recreate-session",
    "b21-checkpointed",
    "b36-no-fault",
    "f38-closes-connection",
    "ranks-refused",
    "b35-no-expiry",
    "redlock-restart-delayed",
    "copied-lock-heals",
    "ol23-re-read",
    "ol10-restart-unique",
    "e03-longer",
    "e13-fixed",
    "watch-resumes",
];

#[test]
fn certificates_of_every_service_are_accepted() {
    for name in SMALL {
        let scenario = scenario(name);
        let text = certificate(name);
        let audited = audit(&text, &about(&scenario.to_toml())).unwrap_or_else(|error| panic!("{name}: {error}"));
        let proven = findings(&*scenario);
        let proven = proven.iter().filter(|finding| finding.verdict.certificate().is_some());
        assert_eq!(audited.promises, proven.map(|finding| finding.property).collect::<Vec<_>>(), "{name}");
        assert_eq!(audited.scenario, name);
        assert!(
            audited.trusted.len() > 7 && audited.members > 1 && audited.transitions >= audited.members - 1,
            "{name}"
        );
    }
}

/// The set is what a search finds that leaves out no message; clients change places in both.
#[test]
fn the_closed_set_is_what_a_search_with_all_messages_counts() {
    for name in ["lease-late-write-fenced", "b03-fencing", "copied-lock-heals", "e03-longer", SYMMETRIC] {
        let options = Options { leaves_out_unheard: false, ..Options::default() };
        let outcomes = scenario(name).check(&options).expect("no internal error");
        let states = outcomes[0].finding.states;
        assert_eq!(accepted(&certificate(name)).members as u64, states, "{name}");
    }
}

/// Clients change places only where no promise about endless executions follows each of them, and only then that is believed.
#[test]
fn symmetry_is_believed_where_clients_change_places() {
    for (name, worlds, is_believed) in [(SYMMETRIC, 9_014, true), ("consul-turns", 1_108, false)] {
        let audited = accepted(&certificate(name));
        assert_eq!(audited.members, worlds, "{name}");
        assert_eq!(audited.trusted.iter().any(|law| law.starts_with("symmetry: ")), is_believed, "{name}");
    }
}

/// What an earlier run has checked is believed, and not checked again.
#[test]
fn an_audit_goes_on_where_an_earlier_one_ended() {
    let good = certificate(SYMMETRIC);
    let told = Mutex::new(Vec::new());
    let tell = |checked| told.lock().expect("no panic").push(checked);
    let whole = audit(&good, &AuditOptions { tell: &tell, ..on(1) }).expect("it is a certificate");
    assert_eq!(told.lock().expect("no panic").drain(..).collect::<Vec<_>>(), [4_096, 8_192]);
    let rest = audit(&good, &AuditOptions { from: 8_192, tell: &tell, ..on(1) }).expect("it is a certificate");
    assert!(told.lock().expect("no panic").is_empty());
    let (earlier, laws) = rest.trusted.split_first().expect("there are some");
    assert_eq!(earlier, "an earlier run: it has checked the first 8192 worlds of this file");
    assert_eq!((laws, rest.members), (&whole.trusted[..], whole.members));
    // A transition of the last world is missing.
    let wrong = changed(&good, |lines| {
        let last = *of_kind(lines, "member").last().expect("worlds");
        lines[last]["member"][4].as_array_mut().expect("targets").pop();
    });
    let from = |from| audit(&wrong, &AuditOptions { from, ..on(2) });
    assert!(from(8_192).expect_err("it is wrong").to_string().starts_with("refused: world 9013: "));
    for all in [9_014, 9_015] {
        let error = from(all).expect_err("nothing is left to check").to_string();
        assert!(error.ends_with(&format!("it has 9014 worlds, and none behind the first {all}")), "{error}");
    }
}

#[test]
fn a_certificate_is_the_same_each_time_and_audited_alike_on_any_number_of_threads() {
    let text = certificate("lease-late-write-fenced");
    assert_eq!(text, certificate("lease-late-write-fenced"));
    assert_eq!(audit(&text, &on(1)), audit(&text, &on(7)));
}

#[test]
fn without_a_proof_there_is_no_certificate() {
    let written = |name: &str, findings: &[Finding]| {
        let error =
            scenario(name).certify(findings, &Options::default(), &mut Vec::new()).expect_err("nothing to certify");
        error.to_string()
    };
    let broken = findings(&*scenario("lease-duplicates"));
    assert!(written("lease-duplicates", &broken).contains("none is proven"));
    let mut wanted = broken;
    wanted[0].expect = Expect::Proven;
    assert!(written("lease-duplicates", &wanted).contains("`mutual-exclusion` is violated"));
    let proven = findings(&*scenario("lease-late-write-fenced"));
    let limits = Limits { states: Some(100), depth: None };
    let options = Options { limits, ..Options::default() };
    let cut = scenario("lease-late-write-fenced").certify(&proven, &options, &mut Vec::new()).expect_err("it is cut");
    assert!(cut.to_string().contains("--max-states 100"), "{cut}");
    // A verdict that is wrong: the promise is broken.
    let mut wrong = findings(&*scenario("lease-late-write"));
    let verdict = wrong.iter().find(|finding| finding.verdict.certificate().is_some()).expect("one").verdict.clone();
    wrong.iter_mut().for_each(|finding| finding.verdict = verdict.clone());
    assert!(written("lease-late-write", &wrong).contains("contains a violation"));
}

/// The auditor is to be read by people who do not believe the checker.
#[test]
fn the_auditor_has_at_most_600_lines_of_code() {
    let sources = [
        include_str!("../../src/lib.rs"),
        include_str!("../../src/main.rs"),
        include_str!("../../src/certificate.rs"),
        include_str!("../../src/closed.rs"),
        include_str!("../../src/endless.rs"),
        include_str!("../../src/trust.rs"),
        include_str!("../../src/witness.rs"),
    ];
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    let lines: usize = sources.iter().map(|source| source.lines().filter(is_code).count()).sum();
    assert!(lines <= 600, "{lines}");
    let modules = sources[0].lines().filter(|line| line.starts_with("mod ")).count();
    assert_eq!(sources.len(), modules + 2, "every file is counted");
}
