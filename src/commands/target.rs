//! What a command works on: a scenario's name, a hazard's number, or a file.

use std::fs;
use std::path::Path;

use fencepost::model::{catalogue, with_scenario};
use fencepost::{AnyScenario, Suite};

use super::Trouble;

/// The scenarios that a word on the command line means.
pub fn find(word: &str) -> Result<Vec<AnyScenario>, Trouble> {
    if Path::new(word).extension().is_some_and(|extension| extension == "toml") || word.contains(['/', '\\']) {
        return read(word).map(|scenario| vec![scenario]);
    }
    let all = catalogue::all();
    let named: Vec<AnyScenario> =
        all.iter().filter(|scenario| scenario.name() == word || shows(scenario, word)).cloned().collect();
    if !named.is_empty() {
        return Ok(named);
    }
    let close: Vec<&str> = all.iter().map(AnyScenario::name).filter(|name| is_close(name, word)).collect();
    let hint = if close.is_empty() {
        "see `fencepost list`".to_owned()
    } else {
        format!("did you mean {}?", close.join(", "))
    };
    Err(Trouble::Input(format!("there is no scenario, hazard or file `{word}`; {hint}")))
}

/// The one scenario that a word means.
pub fn one(word: &str) -> Result<AnyScenario, Trouble> {
    let mut found = find(word)?;
    if found.len() > 1 {
        let names: Vec<&str> = found.iter().map(AnyScenario::name).collect();
        return Err(Trouble::Input(format!("{word} means several scenarios; choose one of {}", names.join(", "))));
    }
    Ok(found.remove(0))
}

fn read(file: &str) -> Result<AnyScenario, Trouble> {
    let text = fs::read_to_string(file).map_err(|error| Trouble::Input(format!("{file} cannot be read: {error}")))?;
    AnyScenario::from_toml(&text, file).map_err(|error| Trouble::Input(error.to_string()))
}

/// Whether the scenario shows the hazard.
fn shows(scenario: &AnyScenario, hazard: &str) -> bool {
    with_scenario!(scenario, scenario => {
        let main = scenario.hazard.as_slice();
        main.iter().chain(&scenario.also).any(|other| other.eq_ignore_ascii_case(hazard))
    })
}

fn is_close(name: &str, word: &str) -> bool {
    let word = word.to_lowercase();
    name.contains(&word)
        || word.split('-').filter(|part| part.len() > 2).filter(|part| name.contains(part)).count() >= 2
}

/// The scenarios of a suite; the full one contains the standard one.
pub fn suite(wanted: Suite) -> Vec<AnyScenario> {
    catalogue::all()
        .into_iter()
        .filter(|scenario| with_scenario!(scenario, scenario => scenario.suite) <= wanted)
        .collect()
}
