//! What a command works on: a scenario's name, a hazard's number, or a file.

use std::fs;
use std::path::Path;

use fencepost::AnyTrace;
use fencepost::catalogue;
use fencepost::model::scenario::ScenarioError;
use fencepost::{AnyScenario, Property, Suite};

use crate::args::Common;
use crate::exit::CommandError;

/// The scenarios that a word on the command line means.
pub fn find(word: &str, common: &Common) -> Result<Vec<Box<dyn AnyScenario>>, CommandError> {
    if is_file(word) {
        return read(word, common).map(|scenario| vec![scenario]);
    }
    if let Some(named) = catalogue::named(word) {
        return Ok(vec![named]);
    }
    let all = catalogue::all();
    let showing: Vec<Box<dyn AnyScenario>> = all.iter().filter(|scenario| shows(&***scenario, word)).cloned().collect();
    if !showing.is_empty() {
        return Ok(showing);
    }
    let hint = match close(&all, word)[..] {
        [] => "see `fencepost list`".to_owned(),
        ref names => format!("did you mean {}?", names.join(", ")),
    };
    Err(CommandError::Input(format!("there is no scenario, hazard or file `{word}`; {hint}")))
}

/// Whether a word is the path of a scenario file, and no name.
pub fn is_file(word: &str) -> bool {
    Path::new(word).extension().is_some_and(|extension| extension == "toml") || word.contains(['/', '\\'])
}

/// How another command names a scenario that was found by this word: a file by its path.
pub fn address(word: &str, scenario: &dyn AnyScenario) -> String {
    if is_file(word) { quoted(word) } else { scenario.name().to_owned() }
}

/// A word as a shell takes it for one.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%\\".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The one scenario that a word means.
pub fn one(word: &str, common: &Common) -> Result<Box<dyn AnyScenario>, CommandError> {
    let mut found = find(word, common)?;
    if found.len() > 1 {
        let names: Vec<&str> = found.iter().map(|scenario| scenario.name()).collect();
        return Err(CommandError::Input(format!("{word} means several scenarios; choose one of {}", names.join(", "))));
    }
    Ok(found.remove(0))
}

fn read(file: &str, common: &Common) -> Result<Box<dyn AnyScenario>, CommandError> {
    let text =
        fs::read_to_string(file).map_err(|error| CommandError::Input(format!("{file} cannot be read: {error}")))?;
    let scenario = parse(&text, file)?;
    if let Some(mutation) = scenario.mutation().filter(|_| !common.allow_mutation) {
        let message = format!(
            "`{}` breaks the model on purpose: no verdict would be about the service. Leave it out; or take the mutant with --allow-mutation",
            mutation.name()
        );
        return Err(CommandError::Input(ScenarioError::at(&text, file, "mutation", message).to_string()));
    }
    catalogue::outdated(&text, file).iter().for_each(|name| eprintln!("warning: {name}"));
    Ok(scenario)
}

/// The trace in a file. It is not replayed yet.
pub fn trace(path: &Path) -> Result<Box<dyn AnyTrace>, CommandError> {
    let file = path.display();
    let text =
        fs::read_to_string(path).map_err(|error| CommandError::Input(format!("{file} cannot be read: {error}")))?;
    let trace = parse_trace(&text, &file.to_string())?;
    catalogue::outdated_in_trace(&text).iter().for_each(|name| eprintln!("warning: {file}: line 1: {name}"));
    Ok(trace)
}

/// The scenario that stands in a file.
pub fn parse(text: &str, file: &str) -> Result<Box<dyn AnyScenario>, CommandError> {
    catalogue::read(text, file).map_err(|error| CommandError::Input(error.to_string()))
}

/// The trace that stands in a file.
pub fn parse_trace(text: &str, file: &str) -> Result<Box<dyn AnyTrace>, CommandError> {
    catalogue::read_trace(text).map_err(|error| CommandError::Input(format!("{file}: {error}")))
}

/// Why there is nothing to look for.
pub fn nothing(scenario: &dyn AnyScenario, property: Option<Property>) -> String {
    match property {
        Some(property) => format!("{} does not promise `{property}`", scenario.name()),
        None => format!("{} promises nothing: add a [[promise]]", scenario.name()),
    }
}

/// Whether the scenario shows the hazard.
fn shows(scenario: &dyn AnyScenario, hazard: &str) -> bool {
    let described = scenario.description();
    let mut all = described.hazard.into_iter().chain(described.also.iter().map(String::as_str));
    all.any(|other| other.eq_ignore_ascii_case(hazard))
}

/// The maximum number of suggested names.
const SUGGESTIONS: usize = 6;

/// The names that are like the word: those that contain it, else those that are nearly the same, the nearest first.
fn close<'a>(all: &'a [Box<dyn AnyScenario>], word: &str) -> Vec<&'a str> {
    let word = word.to_lowercase();
    let names = || all.iter().map(|scenario| scenario.name());
    let containing: Vec<&str> = names().filter(|name| name.contains(&word)).collect();
    if !containing.is_empty() {
        return containing;
    }
    let mut near: Vec<(usize, &str)> = names().filter_map(|name| Some((distance(name, &word)?, name))).collect();
    near.sort_unstable();
    near.into_iter().take(SUGGESTIONS).map(|(_, name)| name).collect()
}

/// How many edits lead from the word to the name, or to as many of its first parts as the word has; none: too many.
fn distance(name: &str, word: &str) -> Option<usize> {
    let parts = word.split('-').count();
    let beginning = name.split('-').take(parts).collect::<Vec<_>>().join("-");
    let edits = |text: &str| strsim::osa_distance(text, word);
    let fewest = edits(name).min(edits(&beginning));
    (fewest <= word.chars().count().div_ceil(4)).then_some(fewest)
}

/// The scenarios of a suite; the full one contains the standard one.
pub fn suite(wanted: Suite) -> Vec<Box<dyn AnyScenario>> {
    catalogue::all().into_iter().filter(|scenario| scenario.description().suite <= wanted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_is_answered_with_the_names_like_it() {
        for (word, suggested) in [
            ("b06-lok", "b06-lock-index-cleanup"),
            ("b01-no-fencng", "b01-no-fencing"),
            ("B01-NO-FENCING", "b01-no-fencing"),
            ("no-fencing", "b01-no-fencing"),
            ("b44-clok-jump", "b44-clock-jump"),
        ] {
            let Err(error) = find(word, &Common::default()) else { panic!("`{word}` is no scenario") };
            assert!(error.to_string().contains(suggested), "{word}: {error}");
        }
        let Err(error) = find("nothing-like-it", &Common::default()) else { panic!("it is no scenario") };
        assert!(error.to_string().ends_with("see `fencepost list`"), "{error}");
    }

    #[test]
    fn a_word_with_blanks_or_quotes_is_quoted_for_a_shell() {
        assert_eq!(quoted("a/b-1.toml"), "a/b-1.toml");
        assert_eq!(quoted("my file.toml"), "'my file.toml'");
        assert_eq!(quoted("it's.toml"), "'it'\\''s.toml'");
    }
}
