//! Pages for the projects whose elections are judged: what stands between `<!-- generated: … -->` and `<!-- end -->` in
//! `model/services/observed-lease/pages` is made here, from verdicts, executions and scripts. `UPDATE_EXPECT=1` writes it anew.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use fencepost::catalogue;
use fencepost::model::units::Duration;
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
        _ => panic!("there is no generator `{kind}`"),
    }
}

/// The verdicts of scenarios of the catalogue.
fn verdicts(names: &[&str]) -> String {
    let mut table = "| scenario | what it has | promise | verdict | states |\n|---|---|---|---|---|\n".to_owned();
    let output = fencepost(&[&["check"], names, &["--json", "--quiet"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for line in json(&output) {
        let word = |name: &str| line[name].as_str().expect("a text").to_owned();
        let scenario = catalogue::named(&word("scenario")).expect("it is in the catalogue");
        let about = &scenario.description().about;
        let (name, property, verdict) = (word("scenario"), word("property"), word("verdict"));
        let _ = writeln!(table, "| `{name}` | {about} | {property} | {verdict} | {} |", line["states"]);
    }
    table
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

/// A script with what was recorded.
fn script(name: &str) -> String {
    let path = pages().join("../scripts").join(format!("{name}.txt"));
    let text = fs::read_to_string(path).expect("a script");
    let mut steps: Vec<PageStep> = Vec::new();
    let mut now = 0;
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.starts_with("scenario ")) {
        let passes = line.split_once(" tick").filter(|(_, rest)| rest.trim_start_matches('s').starts_with(" pass"));
        if let Some((ticks, _)) = passes {
            now += ticks.parse::<i64>().expect("a number");
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

/// A table of the steps. A contender that wakes and reads what it knows already is one line, and how long it sleeps is none.
fn shown(steps: Vec<PageStep>) -> String {
    let mut table = "| at | what happens | what comes of it |\n|---|---|---|\n".to_owned();
    let mut steps = steps.into_iter().peekable();
    while let Some(PageStep { at, label, facts }) = steps.next() {
        if label.contains(" draws option ") || label.ends_with("it sleeps for the shortest time") {
            continue;
        }
        let is_attempt = label.ends_with(" wakes: the next attempt begins");
        let looks = steps.next_if(|next| {
            is_attempt
                && next.label.contains(": read the lease")
                && next.facts.iter().any(|fact| fact.contains(" is refused: "))
        });
        if looks.is_some() {
            let client = label.trim_end_matches(" wakes: the next attempt begins");
            let _ = writeln!(
                table,
                "| {at} | {client} reads the lease | the record names another, and has not stood for a lease |"
            );
            continue;
        }
        let label = label.split(" [").next().unwrap_or(&label).replace("the server receives from ", "");
        let _ = writeln!(table, "| {at} | {label} | {} |", facts.join("; "));
    }
    table
}
