//! The vocabulary of `style.md` §3 as a test: words that the field does not use are found in code, documents and scenario files, with
//! the term to write instead.

use std::fs;
use std::path::{Path, PathBuf};

/// Old words in lower case, with the term to write instead. Only whole words match; a part of an identifier between underscores is a
/// whole word.
const OLD: [(&[&str], &str); 24] = [
    (&["somebody", "someone"], "the participant: a client, an operator, another client"),
    (&["nobody"], "no client, no operator, …"),
    (&["whoever", "anybody", "anyone", "everybody"], "a client that …, any client, each client"),
    (&["put to the test"], "goals reached; or: vacuous, goals not reached"),
    (&["misfortune", "misfortunes", "mishap", "mishaps"], "fault"),
    (&["grave", "graves", "bury", "buried"], "tombstone"),
    (&["doom", "dooms", "doomed"], "expiring, expiry pending"),
    (&["seat", "seats"], "host, slot or permit"),
    (&["breach", "breaches", "breached"], "violation"),
    (&["wish", "wishes", "wishing"], "command"),
    (&["trouble", "troubles"], "error or fault"),
    (&["an act", "the act", "one act", "this act", "each act"], "operator action"),
    (&["so many"], "the number of …"),
    (&["possible all the time", "possible again and again"], "weakly fair, strongly fair"),
    (&["our fault"], "internal error"),
    (&["was overlooked", "state overlooked"], "fingerprint collision"),
    (&["happens in the end"], "eventually; or: weakly fair, strongly fair"),
    (&["found broken"], "violation found"),
    (&["every run was searched", "everything was searched"], "state space exhausted"),
    (&["late for ever"], "delay unbounded"),
    (&["gone on with", "how manieth"], "resumed; sequence number"),
    (&["roster", "rosters"], "stores, sequence nodes, leases"),
    (&["parcel", "parcels", "quarry", "depot"], "work item, target, pool"),
    (&["node of the node"], "node of client …"),
];

/// Files, or names within them, that keep an old word.
struct Exception {
    /// The beginning of the file's path.
    path: &'static str,
    /// A part of the line in lower case; empty: any line.
    part: &'static str,
    /// The reason why the old word stays.
    reason: &'static str,
}

const EXCEPTIONS: [Exception; 12] = [
    except("src/tests/words.rs", "", "the table itself"),
    except("model/services/consul/rules.md", "", "quotes sources and facts about Consul"),
    except("model/services/rabbitmq/rules.md", "", "quotes the published text of the semaphore"),
    except("model/services/consul/documents", "says = ", "quotes a document"),
    except("model/services/rabbitmq/documents", "says = ", "quotes a document"),
    except("model", "certain-nobody-interferes", "the name of a scenario: traces and pins contain it"),
    except("checker/tests/catalogue.txt", "certain-nobody-interferes", "the same, in the pins"),
    except("checker/tests/partial-order.txt", "certain-nobody-interferes", "the same, in the pins"),
    except("checker/tests/subsumption.txt", "certain-nobody-interferes", "the same, in the pins"),
    except("model/src/finding/mod.rs", "alias = \"breaches\"", "an older name that is still read"),
    except("model/src/trace/mod.rs", "alias = \"breaches\"", "an older name that is still read"),
    except("src/conform", "nobody", "the id and node that no agent has, in requests and constants"),
];

const fn except(path: &'static str, part: &'static str, reason: &'static str) -> Exception {
    Exception { path, part, reason }
}

/// Every source, document, scenario and script of the project, in order.
fn files() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut open: Vec<PathBuf> =
        ["model", "sim", "checker", "reports", "src", ".github"].iter().map(|folder| root.join(folder)).collect();
    let mut found = vec![root.join("README.md"), root.join("Cargo.toml")];
    while let Some(folder) = open.pop() {
        for entry in
            fs::read_dir(&folder).expect("a folder of the project").map(|entry| entry.expect("readable").path())
        {
            if entry.is_dir() {
                open.push(entry);
            } else if entry
                .extension()
                .is_some_and(|extension| ["rs", "md", "toml", "txt"].iter().any(|known| extension == *known))
            {
                found.push(entry);
            }
        }
    }
    found.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("text");
        (path.strip_prefix(root).expect("inside").to_owned(), text)
    };
    found.into_iter().map(read).collect()
}

/// Whether the line, in lower case, contains the phrase as whole words.
fn has(line: &str, phrase: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric();
    line.match_indices(phrase).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + phrase.len()..].chars().next();
        !before.is_some_and(is_letter) && !after.is_some_and(is_letter)
    })
}

fn is_excepted(path: &Path, line: &str) -> bool {
    EXCEPTIONS.iter().any(|exception| path.starts_with(exception.path) && line.contains(exception.part))
}

#[test]
fn code_documents_and_scenarios_use_the_terms_of_the_field() {
    let mut found = Vec::new();
    for (path, text) in files() {
        for (number, line) in text.lines().enumerate() {
            let line = line.to_lowercase();
            for (words, instead) in OLD {
                if let Some(word) = words.iter().find(|word| has(&line, word)).filter(|_| !is_excepted(&path, &line)) {
                    found.push(format!("{}:{}: “{word}”: write {instead}", path.display(), number + 1));
                }
            }
        }
    }
    assert!(found.is_empty(), "{} old words:\n{}", found.len(), found.join("\n"));
}

/// Documentation that answers a question which no reader has asked.
const RIDDLES: [&str; 14] = [
    "Which one.",
    "Which.",
    "Who.",
    "Whose.",
    "Why.",
    "Why not.",
    "What it is.",
    "What it says.",
    "Nothing.",
    "Neither.",
    "By it.",
    "As it is.",
    "See above.",
    "There is none.",
];

#[test]
fn documentation_of_a_field_names_its_content() {
    let mut found = Vec::new();
    for (path, text) in files() {
        for (number, line) in text.lines().enumerate() {
            if line.trim().strip_prefix("/// ").is_some_and(|sentence| RIDDLES.contains(&sentence)) {
                found.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "write what it is, with its unit or range:\n{}", found.join("\n"));
}

/// Names that once had several meanings each, or that the field does not use. A name has one meaning; other types say which one of their
/// domain they are (`CheckOutcome`, `SweepPlan`).
const ONE_MEANING: [&str; 26] = [
    "Act", "Belief", "Depot", "Few", "How", "Line", "List", "Mistake", "Names", "Never", "Outcome", "Overflow",
    "Parcel", "Plan", "Quarry", "Question", "Run", "Searched", "Shape", "Step", "Taken", "Text", "Trouble", "Value",
    "Wish", "Word",
];

/// The name of the type that a line at the left margin defines.
fn defined(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub(crate) ").or(line.strip_prefix("pub(super) ")).or(line.strip_prefix("pub "));
    let (keyword, rest) = rest.unwrap_or(line).split_once(' ')?;
    let name = rest.split(|c: char| !c.is_alphanumeric()).next()?;
    ["struct", "enum", "trait", "type"].contains(&keyword).then_some(name)
}

#[test]
fn a_type_name_has_one_meaning() {
    let files = files();
    for name in ONE_MEANING {
        let is_code = |path: &Path| path.extension().is_some_and(|extension| extension == "rs");
        let lines = files.iter().filter(|(path, _)| is_code(path)).flat_map(|(path, text)| {
            text.lines().filter(|line| defined(line) == Some(name)).map(|line| format!("{}: {line}", path.display()))
        });
        let found: Vec<String> = lines.collect();
        assert!(found.len() <= 1, "qualify `{name}` by its domain:\n{}", found.join("\n"));
    }
    assert_eq!(defined("pub(super) struct Plan<P: Service> {"), Some("Plan"));
    assert_eq!((defined("    pub struct Plan;"), defined("use crate::Plan;")), (None, None));
}

#[test]
fn old_words_are_found_as_whole_words() {
    assert!(has("if nobody writes", "nobody") && has("nobody.", "nobody") && has("is_breach()", "breach"));
    assert!(!has("a seated client", "seat") && !has("engraves", "graves"));
}

#[test]
fn every_exception_has_a_reason_and_is_needed() {
    let files = files();
    for exception in &EXCEPTIONS {
        assert!(!exception.reason.is_empty(), "{}", exception.path);
        let is_needed = files.iter().filter(|(path, _)| path.starts_with(exception.path)).any(|(_, text)| {
            let lines = text.lines().map(str::to_lowercase);
            lines
                .filter(|line| line.contains(exception.part))
                .any(|line| OLD.iter().flat_map(|(words, _)| *words).any(|word| has(&line, word)))
        });
        assert!(is_needed, "{} “{}” has no old word any more: remove the exception", exception.path, exception.part);
    }
}
