//! What was read from a configuration as it is in the field, and how each of its fields was understood.

use std::fmt;

use fencepost_model::service::Service;
use serde_json::{Map, Value};

/// A line and a column, each from 1.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

/// What is wrong with a configuration, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigurationError {
    /// The file, or the option that has the text.
    pub file: String,
    /// Where the mistake begins.
    pub place: Place,
    /// The mistake, and what would be right.
    pub message: String,
}

impl ConfigurationError {
    /// A mistake at this place of this file.
    pub fn at(file: &str, place: Place, message: impl Into<String>) -> Self {
        ConfigurationError { file: file.to_owned(), place, message: message.into() }
    }
}

impl fmt::Display for ConfigurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.place.line, self.place.column, self.message)
    }
}

impl std::error::Error for ConfigurationError {}

/// A configuration that was read.
#[derive(Clone, PartialEq, Debug)]
pub struct Understood<Q> {
    /// What kind of configuration it is, for people.
    pub kind: String,
    /// The settings; pauses, latency and drift are 0, for only a scenario file says them.
    pub question: Q,
    /// Whether it says how long clients pause and messages travel. None says how clocks run.
    pub has_bounds: bool,
    /// How each field was understood, in the order of the text; then the defaults of those that it does not have.
    pub fields: Vec<Field>,
    /// What the settings rest on besides, as sentences.
    pub assumptions: Vec<String>,
    /// Options of the command line that no field of such a configuration can say.
    pub without_field: Vec<&'static str>,
}

impl<Q> Understood<Q> {
    /// An option of the command line comes before what the configuration says of the same setting. `by` is that option with its value.
    pub fn override_setting(&mut self, option: &str, by: &str) {
        for field in self.fields.iter_mut().filter(|field| field.option == Some(option)) {
            field.reading = Reading::WithoutEffect(format!("overridden by {by}"));
        }
    }
}

/// How a field was understood.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Where it stands; none: it is not set, and has its default.
    pub place: Option<Place>,
    /// Its value as it was written; none: it is not set, or it says nothing about a lock and might be secret.
    pub value: Option<String>,
    /// What it means here.
    pub reading: Reading,
    /// The option of the command line that says the same, without its dashes; none: there is none, or the field says nothing.
    pub option: Option<&'static str>,
}

impl Field {
    pub(crate) fn absent(name: &str, reading: Reading) -> Field {
        Field { name: name.to_owned(), place: None, value: None, reading, option: None }
    }
}

/// What a field means for a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reading {
    /// It is a setting, as the command line says it.
    Setting(String),
    /// No verdict depends on it, for this reason.
    WithoutEffect(String),
    /// This program does not know it, and leaves it out.
    Unknown {
        /// A known name that is written almost like it.
        meant: Option<&'static str>,
    },
}

impl Reading {
    /// An unknown name, among these that are known.
    pub(crate) fn unknown(name: &str, known: impl IntoIterator<Item = &'static str>) -> Reading {
        Reading::Unknown { meant: nearest(name, known) }
    }
}

/// The known name that is written almost like another one: one letter in four is another, missing, too many or exchanged.
pub(crate) fn nearest(name: &str, known: impl IntoIterator<Item = &'static str>) -> Option<&'static str> {
    let edits = |known: &str| strsim::osa_distance(&name.to_ascii_lowercase(), &known.to_ascii_lowercase());
    let near = known.into_iter().map(|known| (edits(known), known)).min()?;
    (0 < near.0 && near.0 <= near.1.len() / 4).then_some(near.1)
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reading::Setting(setting) => f.write_str(setting),
            Reading::WithoutEffect(why) => write!(f, "no verdict depends on it: {why}"),
            Reading::Unknown { meant: None } => f.write_str("not known here, and left out of every verdict"),
            Reading::Unknown { meant: Some(meant) } => {
                write!(f, "WARNING: not known here, and left out of every verdict; did you mean `{meant}`?")
            }
        }
    }
}

/// The first setting that differs between what is judged and what was asked, and how what is judged has it.
///
/// # Panics
/// The settings are not written as a table.
pub(crate) fn first_difference<S: Service>(judged: &S::Settings, asked: &S::Settings) -> Option<(String, String)> {
    let (judged, asked) = (table::<S>(judged), table::<S>(asked));
    let name = judged.keys().chain(asked.keys()).find(|name| judged.get(*name) != asked.get(*name))?;
    let wanted = judged.get(name).map_or("has its default".to_owned(), |value| format!("is {value}"));
    Some((name.clone(), wanted))
}

fn table<S: Service>(settings: &S::Settings) -> Map<String, Value> {
    match serde_json::to_value(settings) {
        Ok(Value::Object(table)) => table,
        other => panic!("settings are written as a table, and not as {other:?}"),
    }
}
