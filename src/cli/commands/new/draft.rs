//! A scenario as far as it is chosen, and the rules for each answer.

use fencepost::Property;
use fencepost::catalogue::CATALOGUE;
use fencepost::model::units::Duration;
use serde_json::Value;

use super::starts::Start;
use crate::fields::{Field, fields, find};

/// What goes into the scenario file. Values are written as TOML.
#[derive(Debug)]
pub struct Draft {
    pub name: String,
    pub start: Start,
    pub recipe: Option<String>,
    pub clients: String,
    pub rounds: String,
    pub writes: String,
    /// Settings of `[service]`: path and value.
    pub settings: Vec<(String, String)>,
    /// Bounds of `[synchrony]`: name and value.
    pub delays: Vec<(&'static str, String)>,
    /// Budgets: name and number.
    pub faults: Vec<(String, String)>,
    /// Promises with their bounds.
    pub promises: Vec<(Property, Option<String>)>,
}

/// The schema of the scenario files of one system.
#[derive(Debug)]
pub struct Fields {
    /// Of the file itself.
    pub scenario: Vec<Field>,
    /// Of `[service]`.
    pub service: Vec<Field>,
    /// Of `[synchrony]`.
    pub synchrony: Vec<Field>,
    /// Of `[budget]`.
    pub budget: Vec<Field>,
}

impl Fields {
    /// Those of a system of the catalogue.
    pub fn of(system: &str) -> Self {
        let service = CATALOGUE.service(system).expect("the system is in the catalogue");
        let root: Value = service.schema("/definitions");
        let table = |name: &str| fields(&root, &root["properties"][name]);
        Fields {
            scenario: fields(&root, &root),
            service: table("service"),
            synchrony: table("synchrony"),
            budget: table("budget"),
        }
    }

    /// A setting of `[service]` by its path.
    ///
    /// # Errors
    /// There is none of this path; the message has the names that are like it.
    pub fn setting(&self, path: &str) -> Result<&Field, String> {
        find(&self.service, path).ok_or_else(|| {
            let names = self.service.iter().map(|field| field.name.as_str());
            format!("there is no setting `{path}`; {}", suggestion(names, path))
        })
    }
}

/// The names that are like a word, or all of them.
pub fn suggestion<'a>(names: impl Iterator<Item = &'a str> + Clone, word: &str) -> String {
    let near = names.clone().min_by_key(|name| strsim::osa_distance(name, word));
    match near.filter(|name| strsim::osa_distance(name, word) <= word.len().div_ceil(3)) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("there are `{}`", names.collect::<Vec<_>>().join("`, `")),
    }
}

/// The name of a scenario, which its file and its test have as well.
pub fn name(text: &str) -> Result<String, String> {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let begins = text.starts_with(|c: char| c.is_ascii_lowercase());
    if begins && text.chars().all(is_part) {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "`{text}` is no name: it begins with a lower-case letter, and has such letters, digits and hyphens, as our-lock"
        ))
    }
}

/// A whole number within bounds.
pub fn number(text: &str, low: u32, high: u32) -> Result<String, String> {
    match text.parse::<u32>() {
        Ok(number) if (low..=high).contains(&number) => Ok(number.to_string()),
        _ => Err(format!("`{text}` is no whole number from {low} to {high}")),
    }
}

/// A duration as TOML: a number of ticks, or a text with a unit.
pub fn duration(text: &str) -> Result<String, String> {
    if let Ok(ticks) = text.parse::<u64>() {
        return Ok(ticks.to_string());
    }
    let is_duration = text.parse::<Duration>();
    is_duration.map(|_| format!("\"{text}\"")).map_err(|error| format!("{error}; a number without a unit is in ticks"))
}

/// The value of a setting as TOML; `none` leaves a setting out that has no default.
pub fn setting(field: &Field, text: &str) -> Result<Option<String>, String> {
    if text == "none" && field.default.is_none() && !field.values.iter().any(|(word, _)| word == "none") {
        return Ok(None);
    }
    if field.kind == "a duration" {
        return duration(text).map(Some);
    }
    let word = text.trim_matches('"');
    if field.kind == "a word" {
        let words = field.values.iter().map(|(word, _)| word.as_str());
        let is_known = words.clone().any(|known| known == word);
        return if is_known {
            Ok(Some(format!("\"{word}\"")))
        } else {
            Err(format!("`{word}`: {}", suggestion(words, word)))
        };
    }
    let is_toml = format!("it = {text}").parse::<toml::Table>().is_ok();
    Ok(Some(if is_toml { text.to_owned() } else { format!("\"{word}\"") }))
}

/// The default of a setting when other durations have units: the number of ticks times the length of a tick.
pub fn scaled(value: &str, tick: Option<Duration>) -> String {
    match (value.parse::<i64>(), tick) {
        (Ok(ticks), Some(tick)) if ticks > 0 => {
            format!("\"{}\"", Duration::of_nanoseconds(tick.nanoseconds().saturating_mul(ticks)))
        }
        _ => value.to_owned(),
    }
}

/// The length of a tick that makes a given duration out of its default number of ticks; none: the duration has no unit.
pub fn tick(given: &str, default: &str) -> Option<Duration> {
    let given: Duration = given.trim_matches('"').parse().ok()?;
    let ticks = default.parse::<i64>().unwrap_or(1).max(1);
    Some(Duration::of_nanoseconds(given.nanoseconds() / ticks)).filter(|tick| *tick > Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_become_toml_or_a_message_that_says_what_to_write() {
        let fields = Fields::of("consul-lock");
        let value = |path: &str, text: &str| setting(fields.setting(path).expect("a setting"), text);
        assert_eq!(value("ttl", "15s"), Ok(Some("\"15s\"".to_owned())));
        assert_eq!(value("ttl", "3"), Ok(Some("3".to_owned())));
        assert_eq!(value("ttl", "none"), Ok(None));
        assert_eq!(value("belief", "self-limiting"), Ok(Some("\"self-limiting\"".to_owned())));
        assert_eq!(value("belief", "none"), Ok(Some("\"none\"".to_owned())), "it is one of its values");
        assert_eq!(value("semaphore.limits", "[1, 2]"), Ok(Some("[1, 2]".to_owned())));
        assert!(value("belief", "self-limitting").expect_err("a typo").contains("did you mean `self-limiting`?"));
        assert!(value("ttl", "15 parsecs").expect_err("no unit").contains("unknown unit"));
        assert!(fields.setting("tll").expect_err("a typo").contains("did you mean `ttl`?"));
        assert!(name("Our lock").is_err() && name("2nd").is_err() && name("our-lock-2").is_ok());
        assert!(number("0", 1, 9).is_err() && number("x", 1, 9).is_err() && number("9", 1, 9).is_ok());
    }

    #[test]
    fn defaults_keep_their_ratio_to_a_duration_with_a_unit() {
        let tick = tick("\"15s\"", "2");
        assert_eq!(tick, Some("7.5s".parse().expect("a duration")));
        assert_eq!(
            (scaled("1", tick), scaled("2", tick), scaled("0", tick)),
            ("\"7.5s\"".to_owned(), "\"15s\"".to_owned(), "0".to_owned())
        );
        assert_eq!(
            (scaled("\"self-limiting\"", tick), scaled("1", None)),
            ("\"self-limiting\"".to_owned(), "1".to_owned())
        );
        assert_eq!(super::tick("3", "2"), None);
    }
}
