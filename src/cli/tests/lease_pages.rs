//! Pages for the projects whose elections are judged: what stands between `<!-- generated: … -->` and `<!-- end -->` in
//! `model/services/observed-lease/pages` is made here, from verdicts, executions and scripts. `UPDATE_EXPECT=1` writes it anew.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use fencepost::catalogue;
use fencepost::model::units::Duration;
use fencepost_doctor::{Doctor, ElectionQuestion, Promise, Verdict};
use serde_json::Value;

use crate::program::{fencepost, folder, json, stderr};

fn pages() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../model/services/observed-lease/pages")
}

#[test]
fn ol_2_the_page_on_release_on_cancel_is_what_is_found() {
    is_as_generated("release-on-cancel.md");
}

#[test]
fn ol_3_the_page_on_deposed_leaders_is_what_is_found() {
    is_as_generated("deposed-leader.md");
}

#[test]
fn eq_l_1_the_page_on_settings_without_slack_is_what_is_found() {
    is_as_generated("settings-without-slack.md");
}

fn is_as_generated(name: &str) {
    let path = pages().join(name);
    let page = fs::read_to_string(&path).expect("a page");
    let mut text = String::new();
    let mut rest = page.as_str();
    while let Some((before, behind)) = rest.split_once("<!-- generated: ") {
        let (what, behind) = behind.split_once(" -->\n").expect("a generated part has a name");
        let (_, after) = behind.split_once("<!-- end -->").expect("a generated part has an end");
        let _ = write!(text, "{before}<!-- generated: {what} -->\n\n{}\n<!-- end -->", made(what));
        rest = after;
    }
    assert!(!text.is_empty(), "{name} has generated parts");
    expect_file![path].assert_eq(&(text + rest));
}

fn made(what: &str) -> String {
    let (kind, names) = what.split_once(' ').unwrap_or((what, ""));
    match kind {
        "verdicts" => verdicts(&names.split(' ').collect::<Vec<_>>()),
        "counterexample" => counterexample(names),
        "script" => script(names),
        "arranged" => arranged(names),
        "slack" => slack(),
        "judged" => judged(names),
        _ => panic!("there is no generator `{kind}`"),
    }
}

/// The verdicts of scenarios of the catalogue.
fn verdicts(names: &[&str]) -> String {
    let mut table =
        "| scenario | what it has | faults | release | promise | verdict | states |\n|---|---|---|---|---|---|---|\n"
            .to_owned();
    let output = fencepost(&[&["check"], names, &["--json", "--quiet"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for line in json(&output) {
        let word = |name: &str| line[name].as_str().expect("a text").to_owned();
        let scenario = catalogue::named(&word("scenario")).expect("it is in the catalogue");
        let about = &scenario.description().about;
        let (name, property, verdict) = (word("scenario"), word("property"), word("verdict"));
        let (faults, release) = (faults(&name), release(&name));
        let states = &line["states"];
        let _ = writeln!(table, "| `{name}` | {about} | {faults} | {release} | {property} | {verdict} | {states} |");
    }
    table
}

/// A file of the service, as `scenarios/ol05-tell-first.toml`.
fn toml_of(file: &str) -> toml::Table {
    let text = fs::read_to_string(pages().join("..").join(file)).expect("a file of the service");
    text.parse().unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The faults that a scenario has, and how long answers take.
fn faults(name: &str) -> String {
    let scenario = toml_of(&format!("scenarios/{name}.toml"));
    let budget = scenario["budget"].as_table().expect("a table");
    let mut parts: Vec<String> = budget
        .iter()
        .map(|(fault, count)| match (&**fault, count.as_integer()) {
            ("cuts", Some(1)) => "a link is cut once, and may heal".to_owned(),
            ("store_errors", Some(1)) => "one client gets errors for a while".to_owned(),
            ("pauses", Some(1)) => "one pause".to_owned(),
            _ => format!("{fault} = {count}"),
        })
        .collect();
    let replies = scenario.get("network").and_then(|network| network.get("replies")).and_then(toml::Value::as_str);
    parts
        .push(if replies == Some("instant") { "instant answers" } else { "answers are steps of their own" }.to_owned());
    parts.join("; ")
}

/// How the elector of a scenario releases, by the scenario or by its recipe.
fn release(name: &str) -> String {
    let scenario = toml_of(&format!("scenarios/{name}.toml"));
    let service = &scenario["service"];
    let recipe = service.get("recipe").and_then(toml::Value::as_str);
    let recipe = recipe.map_or_else(toml::Table::new, |recipe| toml_of(&format!("recipes/{recipe}.toml")));
    let setting = |name: &str| service.get(name).or_else(|| recipe.get(name));
    let rule = setting("release").and_then(toml::Value::as_str).unwrap_or("never");
    let repeats = setting("release_repeats").and_then(toml::Value::as_bool) == Some(true);
    let repeats = if repeats { ", repeated" } else { "" };
    let order = setting("on_loss").and_then(toml::Value::as_str).filter(|order| *order == "tell-then-release");
    let order = if order.is_some() { ", after the work is told" } else { "" };
    format!("`{rule}`{repeats}{order}")
}

/// The verdict of the doctor on settings as they are on the command line.
fn judged(options: &str) -> String {
    let words: Vec<&str> = ["doctor", "client-go"].into_iter().chain(options.split(' ')).collect();
    let bounds = ["--pause", "0s", "--latency", "0s", "--drift", "0ppm", "--property", "mutual-exclusion"];
    let lines = json(&fencepost(&[&words[..], &bounds, &["--json", "--quiet"]].concat()));
    let text = |name: &str| lines[0][name].as_str().unwrap_or("–").to_owned();
    format!(
        "| settings | promise | verdict | proven as | states |\n|---|---|---|---|---|\n| `{options}` | {} | {} | {} | {} |\n",
        text("property"),
        text("verdict"),
        text("scenario"),
        lines[0]["states"]
    )
}

/// A step of an execution: the instant, what happens, what comes of it.
struct PageStep {
    at: i64,
    label: String,
    facts: Vec<String>,
}

/// The shortest counterexample of a scenario; its ticks are seconds, or units.
fn counterexample(name: &str) -> String {
    let folder = folder(&format!("lease-page-{name}"));
    let output = fencepost(&["check", name, "--json", "--quiet", "--out", folder.to_str().expect("text")]);
    let trace = json(&output)[0]["trace"].as_str().expect("a trace").to_owned();
    let trace = fs::read_to_string(&trace).or_else(|_| fs::read_to_string(folder.join(&trace))).expect("readable");
    let lines = trace.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let steps = lines.filter(|line| line["label"].is_string()).map(|line| {
        let mut facts = texts(&line["facts"]);
        let violations = line["violations"].as_array().into_iter().flatten();
        facts.extend(violations.map(|one| format!("**{}**", one["message"].as_str().expect("a sentence"))));
        PageStep {
            at: line["at"].as_i64().expect("an instant"),
            label: line["label"].as_str().expect("it is").to_owned(),
            facts,
        }
    });
    shown(steps.collect())
}

/// How long that is: in ticks of a second, or with a unit where the scenario has them.
fn seconds(length: &str) -> i64 {
    if let Some(ticks) = length.strip_suffix(" ticks").or(length.strip_suffix(" tick")) {
        return ticks.parse().expect("a number");
    }
    let length: Duration = length.parse().expect("a duration");
    length.in_ticks_of(Duration::of_seconds(1)).expect("whole seconds")
}

/// A script with what was recorded.
fn script(name: &str) -> String {
    let path = pages().join("../scripts").join(format!("{name}.txt"));
    let text = fs::read_to_string(path).expect("a script");
    let mut steps: Vec<PageStep> = Vec::new();
    let mut now = 0;
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.starts_with("scenario ")) {
        if let Some(length) = line.strip_suffix(" pass").or(line.strip_suffix(" passes")) {
            now += seconds(length);
        } else if let Some(fact) = line.strip_prefix("    ") {
            steps.last_mut().expect("a fact comes after a step").facts.push(fact.to_owned());
        } else {
            steps.push(PageStep { at: now, label: line.to_owned(), facts: Vec::new() });
        }
    }
    shown(steps)
}

/// An execution in exact durations: of the doctor, for settings as they are on the command line.
fn arranged(options: &str) -> String {
    let words: Vec<&str> = ["doctor", "client-go"].into_iter().chain(options.split(' ')).collect();
    let bounds = ["--pause", "0s", "--latency", "0s", "--drift", "0ppm", "--property", "mutual-exclusion"];
    let lines = json(&fencepost(&[&words[..], &bounds, &["--json", "--quiet"]].concat()));
    let steps = lines[0]["execution"].as_array().unwrap_or_else(|| panic!("{options} is broken")).iter();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let steps = steps.map(|step| {
        let at: Duration = text(&step["at"]).parse().expect("a duration");
        let mut facts: Vec<String> = step["facts"].as_array().expect("facts").iter().map(text).collect();
        facts.extend(step["violations"].as_array().expect("violations").iter().map(|one| format!("**{}**", text(one))));
        (at, text(&step["label"]), facts)
    });
    let steps: Vec<_> = steps.collect();
    let is_whole = |at: &Duration| at.nanoseconds() % 1_000_000_000 == 0;
    assert!(steps.iter().all(|(at, ..)| is_whole(at)), "the page has whole seconds");
    shown(
        steps
            .into_iter()
            .map(|(at, label, facts)| PageStep { at: at.nanoseconds() / 1_000_000_000, label, facts })
            .collect(),
    )
}

/// A table of the steps. A contender that wakes and reads what it knows already is one line; how long it sleeps, and that time passes, is
/// none.
fn shown(steps: Vec<PageStep>) -> String {
    let mut table = "| at | what happens | what comes of it |\n|---|---|---|\n".to_owned();
    let is_shown = |step: &PageStep| {
        let label = &step.label;
        !(label.contains(" draws option ")
            || label.ends_with("it sleeps for the shortest time")
            || label.contains(" pass"))
    };
    let steps: Vec<PageStep> = steps.into_iter().filter(is_shown).collect();
    let mut rest = &steps[..];
    while let [PageStep { at, label, facts }, behind @ ..] = rest {
        rest = behind;
        if let Some(client) = label.strip_suffix(" wakes: the next attempt begins") {
            let read = format!("the server receives from {client}: read the lease");
            let answer = format!("{client} receives from the server: ");
            let [looks, answers] = [0, 1].map(|place| behind.get(place));
            let is_refused = |step: &PageStep| step.facts.iter().any(|fact| fact.contains(" is refused: "));
            let looks = looks.filter(|step| step.label.starts_with(&read));
            let answers = answers.filter(|step| step.label.starts_with(&answer) && is_refused(step));
            let refused = match (looks, answers) {
                (Some(step), _) if is_refused(step) => 1,
                (Some(_), Some(_)) => 2,
                _ => 0,
            };
            if refused > 0 {
                rest = &behind[refused..];
                let _ = writeln!(
                    table,
                    "| {at} | {client} reads the lease | another holds it, and the record is younger than a lease |"
                );
                continue;
            }
        }
        let label = label.split(" [").next().unwrap_or(label).replace("the server receives from ", "");
        let _ = writeln!(table, "| {at} | {label} | {} |", facts.join("; "));
    }
    table
}

/// Published settings.
struct PublishedSettings {
    who: &'static str,
    source: &'static str,
    /// LeaseDuration, RenewDeadline and RetryPeriod in milliseconds.
    terms: [i64; 3],
    /// ReleaseOnCancel, as far as that is known.
    release: &'static str,
    /// Whether requests time out after half the renew deadline; else after nothing that is known.
    times_out: bool,
}

/// As in the collection of facts about leases.
const PUBLISHED: [PublishedSettings; 13] = [
    of(
        "Kubernetes components, controller-runtime",
        "component-base `v1alpha1/defaults.go`; controller-runtime@86a0d40e",
        [15_000, 10_000, 2_000],
        "optional",
        true,
    ),
    of("kubernetes-csi sidecars", "csi-lib-utils@4dbcbf1a", [15_000, 10_000, 5_000], "optional", false),
    of("OpenShift library-go since 2021-07", "library-go@93ac9206a", [137_000, 107_000, 26_000], "yes", false),
    of(
        "OpenShift, single node, since 2021-12",
        "library-go, `LeaderElectionSNOConfig`",
        [270_000, 240_000, 60_000],
        "yes",
        false,
    ),
    of("OpenShift 2019-04 to 2021-07", "library-go@602112cbd", [60_000, 35_000, 10_000], "since 2020", false),
    of("OpenShift 2019-03", "library-go#305", [120_000, 90_000, 20_000], NO, false),
    of("ovn-kubernetes to 2023-10", "ovn-kubernetes#3959", [60_000, 30_000, 20_000], "yes", false),
    of("ovn-kubernetes 2023-10 to 2026-05", "ovn-kubernetes@fc3ff2ff3", [100_000, 90_000, 20_000], "yes", false),
    of("cert-manager", "cert-manager@2d0d7f7f7", [60_000, 40_000, 15_000], "yes", false),
    of("knative", "knative/pkg@521cb33b3", [60_000, 40_000, 10_000], "yes", false),
    of("kube-ovn", "kubeovn/kube-ovn#7179", [30_000, 20_000, 6_000], "not known", false),
    of("openstack-operator", "openstack-operator#1442", [30_000, 20_000, 5_000], "not known", false),
    of("whereabouts", "whereabouts@3a262bd0", [1_500, 1_000, 500], "yes", false),
];

/// Settings that are published without ReleaseOnCancel.
const NO: &str = "no";

const fn of(
    who: &'static str,
    source: &'static str,
    terms: [i64; 3],
    release: &'static str,
    times_out: bool,
) -> PublishedSettings {
    PublishedSettings { who, source, terms, release, times_out }
}

/// What a cut alone does to published settings, without ReleaseOnCancel and with it, and the least lease in whole seconds that is proven.
fn slack() -> String {
    let mut table = "| who | L / D / R | source | a cut link alone | slack | least L that is proven | ReleaseOnCancel as published | with it | slack with it, over a dead link |\n|---|---|---|---|---|---|---|---|---|\n".to_owned();
    let mut doctor = Doctor::default();
    let milliseconds = |count: i64| Duration::of_nanoseconds(count * 1_000_000);
    for PublishedSettings { who, source, terms, release, times_out } in PUBLISHED {
        let [lease, renew_deadline, retry_period] = terms.map(milliseconds);
        let client_go = ElectionQuestion::of_recipe("client-go").expect("it is known");
        let asked = ElectionQuestion { lease, renew_deadline, retry_period, ..client_go };
        let mut judge = |question: &ElectionQuestion| {
            question.validate().unwrap_or_else(|mistake| panic!("{who}: {mistake}"));
            match doctor.judge(question, Promise::MutualExclusion).expect("no internal error") {
                Verdict::Kept(_) => true,
                Verdict::Broken(_) => false,
                Verdict::Unknown { why } => panic!("{who}: {why}"),
            }
        };
        let mut judge_lease = |lease: Duration| judge(&ElectionQuestion { lease, ..asked.clone() });
        let acts_on = terms[1] + terms[2];
        // The doctor tells no durations apart that are nearer than a hundredth.
        let step = if acts_on > 200_000 { 10_000 } else { 1_000 };
        let least = (acts_on / step + 1) * step;
        let below = if terms[1] < least - step { least - step } else { least - 1 };
        assert!(judge_lease(milliseconds(least)) && !judge_lease(milliseconds(below)), "{who}: EQ-L1");
        let verdict = shown_verdict(judge_lease(lease));
        let slack = terms[0] / 1_000 * 1_000 - acts_on;
        let name = terms.map(milliseconds_shown).join(" / ");
        // EQ-L2: a release over a dead link takes the timeout of a request, or the renew deadline.
        let takes = if times_out { terms[1] / 2 } else { terms[1] };
        let (with_it, slack_with_it) = if release == NO {
            ("–", "–".to_owned())
        } else {
            let request_timeout = times_out.then(|| milliseconds(takes));
            let released = ElectionQuestion { release: true, request_timeout, ..asked.clone() };
            (shown_verdict(judge(&released)), milliseconds_shown(slack - takes))
        };
        let (slack, least) = (milliseconds_shown(slack), milliseconds_shown(least));
        let _ = writeln!(
            table,
            "| {who} | {name} | {source} | {verdict} | {slack} | {least} | {release} | {with_it} | {slack_with_it} |"
        );
    }
    table
}

fn shown_verdict(is_kept: bool) -> &'static str {
    if is_kept { "one leader" } else { "**two leaders**" }
}

/// In seconds.
fn milliseconds_shown(count: i64) -> String {
    let sign = if count < 0 { "-" } else { "" };
    let (whole, rest) = (count.abs() / 1_000, count.abs() % 1_000);
    if rest == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{}", rest / 100) }
}
