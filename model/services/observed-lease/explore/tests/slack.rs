//! The slack of published settings, by bisection of proofs: the longest lease that a cut alone breaks is how long a holder acts on, and
//! the slack is what the published lease has beyond it. `slack.md` has the results; it is held against the searches here.
//! If it differs, the test prints the table that should stand there.

use std::fmt::Write as _;

use fencepost_checker::Options;
use fencepost_observed_lease_explore::service;

/// Who publishes the settings; L, D and R in ticks; a tick in milliseconds; the recorded lease in ticks, if it is truncated.
struct Published {
    who: &'static str,
    terms: [i64; 3],
    tick: i64,
    recorded: Option<i64>,
}

const fn row(who: &'static str, terms: [i64; 3], tick: i64) -> Published {
    Published { who, terms, tick, recorded: None }
}

const PUBLISHED: [Published; 12] = [
    row("Kubernetes components, controller-runtime", [15, 10, 2], 1_000),
    row("kubernetes-csi sidecars", [15, 10, 5], 1_000),
    row("OpenShift single node since 2021-12", [9, 8, 2], 30_000),
    row("OpenShift 2019-04 to 2021-07", [12, 7, 2], 5_000),
    row("OpenShift 2019-03", [12, 9, 2], 10_000),
    row("ovn-kubernetes to 2023-10", [6, 3, 2], 10_000),
    row("ovn-kubernetes to 2026-05", [10, 9, 2], 10_000),
    row("cert-manager", [12, 8, 3], 5_000),
    row("knative", [6, 4, 1], 10_000),
    row("kube-ovn", [15, 10, 3], 2_000),
    row("openstack-operator", [6, 4, 1], 5_000),
    Published { who: "whereabouts", terms: [3, 2, 1], tick: 500, recorded: Some(2) },
];

/// What is varied beside the lease.
#[derive(Copy, Clone)]
enum Release {
    Never,
    WithoutTimeout,
    /// The timeout is half the deadline.
    WithTimeout,
}

/// Whether a cut between holder and store never lets two act at once.
fn is_proven(lease: i64, deadline: i64, retry: i64, release: Release) -> bool {
    let more = match release {
        Release::Never => String::new(),
        Release::WithoutTimeout => "release = \"fresh-version\"\n".to_owned(),
        Release::WithTimeout => format!("release = \"fresh-version\"\nrequest_timeout = {}\n", deadline / 2),
    };
    // The last whole tick below 2.2 periods (OL-K-6).
    let longest = (11 * retry + 4) / 5 - 1;
    let text = format!(
        "name = \"slack\"\nsystem = \"observed-lease\"\nabout = \"A cut alone.\"\nclients = 2\n\n[service]\nlease = {lease}\n\
         renew_deadline = {deadline}\nretry_period = {retry}\nsleep_max = {longest}\n{more}\n[synchrony]\nmessage_delay = 0\nwake_delay = 0\n\
         server_delay = 0\n\n[network]\nreplies = \"instant\"\ncuts = \"drop\"\nways = \"both\"\n\n[budget]\ncuts = 1\n\n\
         [[promise]]\nproperty = \"mutual-exclusion\"\n"
    );
    let scenario = service().read(&text, "slack").expect("it is valid");
    let outcomes = scenario.check(&Options::default()).expect("no internal error");
    match outcomes[0].finding.verdict.word() {
        "proven" => true,
        "violated" => false,
        word => panic!("{lease}/{deadline}/{retry} is {word}"),
    }
}

/// How long a cut holder acts on, in ticks: the longest lease with two at once.
fn acts_on(deadline: i64, retry: i64, release: Release) -> i64 {
    let (mut broken, mut proven) = (deadline + 1, 2 * deadline + retry + 1);
    assert!(!is_proven(broken, deadline, retry, release) && is_proven(proven, deadline, retry, release));
    while proven - broken > 1 {
        let middle = i64::midpoint(broken, proven);
        if is_proven(middle, deadline, retry, release) { proven = middle } else { broken = middle }
    }
    broken
}

fn seconds(ticks: i64, tick: i64) -> String {
    let milliseconds = ticks * tick;
    match milliseconds % 1_000 {
        0 => (milliseconds / 1_000).to_string(),
        _ => format!(
            "{}{}.{}",
            if milliseconds < 0 { "-" } else { "" },
            milliseconds.abs() / 1_000,
            milliseconds.abs() % 1_000 / 100
        ),
    }
}

fn table() -> String {
    let mut table = String::new();
    for Published { who, terms: [lease, deadline, retry], tick, recorded } in PUBLISHED {
        let effective = recorded.unwrap_or(lease);
        let (plain, released) =
            (acts_on(deadline, retry, Release::Never), acts_on(deadline, retry, Release::WithoutTimeout));
        assert_eq!((plain, released), (retry + deadline, retry + 2 * deadline), "{who}: EQ-L1, EQ-L2");
        let slack = |acts_on: i64| seconds(effective - acts_on, tick);
        let with_timeout =
            if deadline % 2 == 0 { slack(acts_on(deadline, retry, Release::WithTimeout)) } else { "–".to_owned() };
        let name = [lease, deadline, retry].map(|ticks| seconds(ticks, tick)).join(" / ");
        writeln!(
            table,
            "| {who} | {name} | {} | {} | {} | {with_timeout} |",
            seconds(1, tick),
            slack(plain),
            slack(released),
        )
        .expect("a text takes it");
    }
    table
}

#[test]
fn the_slack_of_published_settings_is_as_it_is_written() {
    let page = include_str!("../../slack.md");
    let table = table();
    assert!(page.contains(&table), "slack.md should have these rows:\n{table}");
}
