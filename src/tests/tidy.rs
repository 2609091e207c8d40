//! House rules as tests: what each package may know, that the tree explains itself, that rules, citations and tests agree.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use fencepost::catalogue;
use fencepost::registry::Description;
use fencepost::reports::choice::{Choice, ChoiceAnswer};
use fencepost::reports::documents;
use fencepost::with_scenario;
use fencepost::{Expect, Promise, Property, Suite};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below a folder with one of the extensions, in order.
fn files(folder: &str, extensions: &[&str]) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(path) = open.pop() {
        for entry in fs::read_dir(&path).expect("a folder of the project").map(|entry| entry.expect("readable").path())
        {
            if entry.is_dir() {
                open.push(entry);
            } else if entry.extension().is_some_and(|extension| extensions.iter().any(|wanted| extension == *wanted)) {
                let text = fs::read_to_string(&entry).expect("text");
                found.push((entry.strip_prefix(root()).expect("inside").to_owned(), text));
            }
        }
    }
    found.sort();
    found
}

/// The part of a file above its tests.
fn code(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests").next().expect("a part")
}

#[track_caller]
fn forbid(folder: &str, words: &[&str], allowed: &[&str]) {
    for (path, text) in files(folder, &["rs"]) {
        if allowed.iter().any(|allowed| path.starts_with(allowed)) {
            continue;
        }
        for word in words {
            let line = code(&text).lines().position(|line| !line.trim_start().starts_with("//") && line.contains(word));
            assert_eq!(line, None, "{}: `{word}` does not belong here", path.display());
        }
    }
}

#[test]
fn the_model_has_no_clock_randomness_io_threads_floats_or_hash_maps() {
    let words = [
        "std::time",
        "rand::",
        "rand_",
        "std::fs",
        "std::io",
        "std::net",
        "std::env",
        "std::thread",
        ": f32",
        ": f64",
        "as f32",
        "as f64",
        "HashMap",
        "HashSet",
    ];
    forbid("model/src", &words, &[]);
    forbid("model/services", &words, &[]);
}

/// Architecture invariant: what belongs to a service lies in its folder. Tests are excepted, and the failure detector of `sim`.
#[test]
fn the_kernel_and_the_explorers_name_no_service() {
    let services = ["consul", "rabbitmq", "etcd", "redlock", "gossip", "serf", "amqp"];
    for folder in ["model/src", "sim/src", "checker/src", "reports/src"] {
        for (path, text) in files(folder, &["rs"]) {
            if path.starts_with("sim/src/detector") {
                continue;
            }
            let text = text.to_lowercase();
            for word in services {
                let line = text.lines().position(|line| line.contains(word));
                assert_eq!(line, None, "{}: `{word}` belongs to a service", path.display());
            }
        }
    }
}

#[test]
fn explorers_read_no_clock_and_iterate_no_hash_map() {
    for folder in ["sim/src", "checker/src"] {
        forbid(folder, &["std::time", "Instant::now", "SystemTime", "HashMap", "HashSet", "std::env"], &[]);
        forbid(folder, &["std::fs"], &["checker/src/engine/disk/folder.rs"]);
    }
}

#[test]
fn only_one_folder_names_stateright() {
    forbid("checker/src", &["stateright::"], &["checker/src/stateright", "checker/src/check.rs", "checker/src/lib.rs"]);
    forbid("src", &["stateright::"], &["src/tests", "src/cli/tests", "src/conform/tests"]);
}

#[test]
fn packages_depend_only_on_allowed_packages() {
    let depends = |folder: &str, on: &str| {
        fs::read_to_string(root().join(folder).join("Cargo.toml")).expect("a manifest").contains(on)
    };
    for (folder, stranger) in [
        ("model", "fencepost-sim"),
        ("model", "fencepost-checker"),
        ("model", "fencepost-reports"),
        ("sim", "fencepost-checker"),
        ("sim", "fencepost-reports"),
        ("checker", "fencepost-sim"),
        ("checker", "fencepost-reports"),
        ("checker/audit", "fencepost-checker"),
        ("checker/audit", "fencepost-sim"),
        ("checker/audit", "fencepost-reports"),
        ("checker/audit", "fencepost-registry"),
        ("reports", "fencepost-sim"),
        ("reports", "fencepost-checker"),
    ] {
        assert!(!depends(folder, stranger), "{folder} must not know {stranger}");
    }
    let services =
        fs::read_dir(root().join("model/services")).expect("the services").map(|entry| entry.expect("readable"));
    for service in services.map(|entry| entry.file_name().to_string_lossy().into_owned()) {
        for stranger in ["fencepost-sim", "fencepost-checker", "fencepost-reports", "fencepost-registry"] {
            let folder = format!("model/services/{service}");
            assert!(
                !depends(&folder, stranger),
                "{folder} must not know {stranger}: what compiles it for them is beside it"
            );
        }
    }
}

#[test]
fn reports_read_findings_and_nothing_else_of_the_model() {
    for (path, text) in files("reports/src", &["rs"]) {
        for line in text.lines().filter(|line| line.contains("fencepost_model::")) {
            assert!(line.contains("fencepost_model::finding"), "{}: {line}", path.display());
        }
    }
}

#[test]
fn every_file_begins_with_a_module_comment() {
    for folder in ["src", "model", "sim", "checker", "reports"] {
        for (path, text) in files(folder, &["rs"]) {
            assert!(text.starts_with("//!"), "{} does not begin with what it is for", path.display());
        }
    }
}

#[test]
fn files_that_documents_name_exist() {
    let folders = ["src", "model", "sim", "checker", "reports"];
    let readme = (PathBuf::from("README.md"), fs::read_to_string(root().join("README.md")).expect("readable"));
    let mut named = 0;
    for (path, text) in folders.iter().flat_map(|folder| files(folder, &["md"])).chain([readme]) {
        let folder = root().join(path.parent().expect("a file is in a folder"));
        let is_inside = |name: &&str| {
            folders.iter().any(|folder| name.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
        };
        let quoted = text.split('`').skip(1).step_by(2).filter(is_inside).map(|name| root().join(name));
        let links = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        // Links of Rust's documentation, within listings.
        let links = links.filter(|link| !link.contains("::"));
        for there in quoted.chain(links.map(|link| folder.join(link))) {
            assert!(there.exists(), "{} names {}, and there is none", path.display(), there.display());
            named += 1;
        }
    }
    assert!(named > 20, "only {named} names were found: are they still looked for?");
}

#[test]
fn the_top_level_holds_the_known_folders_and_nothing_else() {
    let known = [
        "Cargo.toml",
        "Cargo.lock",
        "LICENSE",
        "README.md",
        "model",
        "sim",
        "checker",
        "reports",
        "src",
        "target",
        "out",
    ];
    for entry in fs::read_dir(root()).expect("the root") {
        let name = entry.expect("readable").file_name().into_string().expect("text");
        assert!(name.starts_with('.') || known.contains(&name.as_str()), "{name} has no place at the top level");
    }
}

#[test]
fn every_scenario_file_begins_with_its_name_and_is_in_the_catalogue() {
    let listed: BTreeSet<&str> = catalogue::files().map(|(name, _)| name).collect();
    let is_scenario = |path: &Path| path.parent().is_some_and(|folder| folder.ends_with("scenarios"));
    for (path, text) in files("model/services", &["toml"]).into_iter().filter(|(path, _)| is_scenario(path)) {
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("a name");
        assert!(text.starts_with(&format!("name = \"{name}\"\n")), "{name}: the file begins with its own name");
        assert!(listed.contains(name), "{name} is not in the catalogue");
    }
}

/// Numbers of rules in a text: `C-KV-8`, `OL-K-5`, `E-CC-11`, `R-Q-35`, `F-6`.
fn rules_in(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-';
    let is_rule = |word: &&str| {
        let parts: Vec<&str> = word.split('-').collect();
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match parts[..] {
            ["C" | "OL" | "E", group, number] => !group.is_empty() && is_number(number),
            ["R", "Q", number] | ["F", number] => is_number(number),
            _ => false,
        }
    };
    text.split(|c| !is_part(c)).filter(is_rule).map(str::to_owned).collect()
}

/// The rules on a page: those that have to be tested, and all.
fn page(service: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let page = fs::read_to_string(root().join("model/services").join(service).join("rules.md")).expect("the rules");
    let (implemented, _) = page.split_once("## Cited, and left out").expect("two parts");
    let heads = |text: &str| {
        text.lines()
            .filter_map(|line| line.strip_prefix("- **"))
            .filter_map(|line| rules_in(line.split(' ').next()?.trim_matches('*')).pop_first())
            .collect::<BTreeSet<String>>()
    };
    (heads(implemented), heads(&page))
}

#[test]
fn every_rule_that_is_cited_stands_in_the_rules_and_is_tested_or_left_out() {
    let pages = ["consul", "rabbitmq", "observed-lease", "etcd"].map(page);
    let known = |rule: &String| pages.iter().any(|(_, all)| all.contains(rule));
    let mut tests = String::new();
    for (path, text) in [files("model", &["rs", "toml", "txt"]), files("src", &["rs"])].concat() {
        for rule in rules_in(&text) {
            assert!(known(&rule), "{} cites {rule}, which is in no rules.md", path.display());
        }
        tests += &text;
        // A script is the test of the rule that its name begins with.
        if path.extension().is_some_and(|extension| extension == "txt") {
            tests += &format!("    {}\n", path.file_stem().expect("a name").to_string_lossy());
        }
    }
    for rule in pages.iter().flat_map(|(implemented, _)| implemented) {
        let name = format!("{}_", rule.to_lowercase().replace('-', "_"));
        assert!(
            tests.contains(&format!("fn {name}")) || tests.contains(&format!("    {name}")),
            "{rule} has no test of its name"
        );
    }
}

#[test]
fn every_flaw_that_the_report_names_is_shown_and_mended_by_a_scenario() {
    let promises: Vec<(String, Property, Expect)> = catalogue::all()
        .iter()
        .flat_map(|any| {
            with_scenario!(any, scenario => {
                let expected = |promise: &Promise| (scenario.name.clone(), promise.property, promise.expect);
                scenario.promises.iter().map(expected).collect::<Vec<_>>()
            })
        })
        .collect();
    let is_expected = |promise: &documents::Promise, expect: Expect| {
        promises.contains(&(promise.scenario.clone(), promise.property, expect))
    };
    let mut count = 0;
    for flaw in catalogue::documents().map(documents::Document::read).flat_map(|document| document.flaws) {
        assert!(is_expected(&flaw.shown, Expect::Violated), "{}: {:?}", flaw.number, flaw.shown);
        assert!(flaw.fixed.iter().all(|fixed| is_expected(fixed, Expect::Proven)), "{}: {:?}", flaw.number, flaw.fixed);
        count += 1;
    }
    assert!(count > 50, "{count}");
}

/// The page to choose by says nothing that the standard suite does not check, and asks every service everything.
#[test]
fn every_service_answers_every_question_by_promises_of_the_standard_suite_or_says_why_not() {
    let choice = Choice::shipped();
    let standard: Vec<_> =
        catalogue::all().into_iter().filter(|scenario| scenario.description().suite == Suite::Standard).collect();
    for promise in choice.promises() {
        let scenario = standard.iter().find(|scenario| scenario.name() == promise.scenario);
        let scenario = scenario.unwrap_or_else(|| panic!("`{}` is not in the standard suite", promise.scenario));
        let is_made = scenario.promises().iter().any(|made| made.property == promise.property);
        assert!(is_made, "`{}` does not promise {}", promise.scenario, promise.property.name());
    }
    let keys: Vec<&str> = choice.services.iter().map(|service| service.key.as_str()).collect();
    for question in &choice.questions {
        let answers: Vec<&str> = question.answers.keys().map(String::as_str).collect();
        assert!(keys.iter().all(|key| answers.contains(key)) && answers.len() == keys.len(), "{}", question.title);
    }
    for answer in choice.questions.iter().flat_map(|question| question.answers.values()) {
        match answer {
            ChoiceAnswer::Shown(promises) => assert!(!promises.is_empty(), "an answer without a promise"),
            ChoiceAnswer::None(why) => assert!(why.ends_with('.'), "a reason is a sentence: {why}"),
        }
    }
}

/// The table of hazards that etcd shares with Consul shows verdicts of both services, of scenarios about those hazards.
#[test]
fn what_etcd_shares_with_consul_is_shown_by_scenarios_of_both() {
    let page = fs::read_to_string(root().join("model/services/etcd/README.md")).expect("the page");
    let table = page.split_once("**Neighbours.**").expect("a part").1;
    let scenarios = catalogue::all();
    let mut rows = 0;
    for row in table.lines().filter(|line| line.starts_with("| E-")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [_, hazard, consul, etcd, decides, _] = cells[..] else { panic!("four columns: {row}") };
        let (numbers, _) = hazard.split_once(": ").expect("a title");
        let (own, neighbour) = numbers.split_once(", ").expect("two numbers");
        for (cell, system, number) in [(consul, "consul", neighbour), (etcd, "etcd", own)] {
            let shown: Vec<&str> = cell.split('`').collect();
            assert!(shown.len() >= 5, "two scenarios: {cell}");
            for pair in shown[1..].chunks(2) {
                let (name, mark) = (pair[0], pair[1].trim());
                let scenario = scenarios.iter().find(|scenario| scenario.name() == name);
                let scenario = scenario.unwrap_or_else(|| panic!("no scenario `{name}`"));
                let expected = if mark == "✓" { Expect::Proven } else { Expect::Violated };
                assert_eq!(scenario.promises()[0].expect, expected, "{name} {mark}");
                let about = scenario.description();
                assert!(about.system.starts_with(system), "{name} is of {}", about.system);
                assert_eq!(about.hazard, Some(number), "{name}");
                assert!(system == "consul" || about.also.iter().any(|also| also == neighbour), "{name}");
            }
        }
        assert!(decides.len() > 20, "what decides the difference: {row}");
        rows += 1;
    }
    let shared: BTreeSet<&String> = scenarios
        .iter()
        .map(|scenario| scenario.description())
        .filter(|about| about.system.starts_with("etcd"))
        .flat_map(|about| about.also)
        .collect();
    assert_eq!(rows, shared.len(), "{shared:?}");
}

#[test]
fn every_flaw_of_the_published_text_has_a_scenario_or_a_reason() {
    let page = fs::read_to_string(root().join("model/services/rabbitmq/rules.md")).expect("the rules");
    let flaws = page.split_once("## Flaws of the published text").expect("a part").1;
    let mut shown = 0;
    for flaw in flaws.split("\n- **").skip(1) {
        let number = flaw.split(' ').next().expect("a number").trim_matches('*');
        let quoted = format!("\"{number}\"");
        let is_shown = fencepost::catalogue::files().any(|(_, text)| text.contains(&quoted));
        assert_ne!(is_shown, flaw.contains("No scenario"), "{number}");
        shown += usize::from(is_shown);
    }
    assert!(shown >= 36, "{shown} flaws have a scenario");
}

#[test]
fn every_scenario_has_a_story_and_sources_and_every_hazard_one_title() {
    let mut titles: BTreeMap<String, (String, String)> = BTreeMap::new();
    for any in catalogue::all() {
        let Description { name, hazard, title, story, sources, .. } = any.description();
        assert!(!story.is_empty() && !sources.is_empty(), "{name}: `story` and `sources` are missing");
        assert_eq!(hazard.is_some(), !title.is_empty(), "{name}: a hazard has a title, and nothing else has");
        let Some(hazard) = hazard else { continue };
        let (known, first) = titles.entry(hazard.to_owned()).or_insert((title.to_owned(), name.to_owned()));
        assert_eq!(known, title, "{hazard} has one title in {first}, and another one in {name}");
    }
    assert!(titles.len() > 70, "{} hazards", titles.len());
}

/// Lines that are neither empty nor comments, of the file or the folder with the program.
#[test]
fn the_readme_of_observed_leases_has_the_lines_of_code_of_each_program() {
    let folder = root().join("model/services/observed-lease/src/programs");
    let texts = |folder: &Path| -> Vec<(PathBuf, String)> {
        let files = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
        files.map(|path| (path.clone(), fs::read_to_string(path).expect("a text"))).collect()
    };
    let lines =
        |text: &str| text.lines().filter(|line| !line.trim().is_empty() && !line.trim().starts_with("//")).count();
    let readme = fs::read_to_string(folder.join("../../README.md")).expect("a text");
    let rows = readme.lines().filter(|line| line.starts_with("| `") && line.contains('@') || line.contains("arrow-rs"));
    let mut counted = 0;
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [_, name, .., count, _] = cells[..] else { panic!("a row is short: {row}") };
        let begin = format!("pub struct {} {{", name.trim_matches('`'));
        let is_there = |(_, text): &(PathBuf, String)| text.contains(&begin);
        let own = texts(&folder).into_iter().find(is_there).map(|(_, text)| lines(&text));
        let inner =
            ["client_go"].map(|inner| texts(&folder.join(inner))).into_iter().find(|all| all.iter().any(is_there));
        let expected = own.or_else(|| inner.map(|all| all.iter().map(|(_, text)| lines(text)).sum()));
        assert_eq!(Some(count.to_owned()), expected.map(|lines: usize| lines.to_string()), "{name}");
        counted += 1;
    }
    assert_eq!(counted, 11);
}
