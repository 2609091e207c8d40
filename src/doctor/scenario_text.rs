//! The text of a scenario file, for errors with places, and for what stands in it.

use fencepost_model::scenario::ScenarioError;
use fencepost_model::units::Duration;

use crate::configuration::{ConfigurationError, Field, Place, Reading};
use crate::rounding::FINEST;

/// A file, and its table.
pub(crate) struct ScenarioText<'a> {
    pub(crate) text: &'a str,
    pub(crate) file: &'a str,
    table: toml::Table,
}

impl<'a> ScenarioText<'a> {
    /// What is no TOML is refused, with its place, when it is read as a scenario.
    pub(crate) fn new(text: &'a str, file: &'a str) -> Self {
        ScenarioText { text, file, table: text.parse().unwrap_or_default() }
    }

    pub(crate) fn error(&self, path: &str, message: impl Into<String>) -> ScenarioError {
        ScenarioError::at(self.text, self.file, path, message.into())
    }

    /// The tick of a scenario; `elsewhere` says where to go with one that has none that `doctor` judges.
    pub(crate) fn tick(&self, tick: Option<Duration>, elsewhere: &str) -> Result<Duration, ScenarioError> {
        let Some(tick) = tick else {
            let message =
                format!("`doctor` judges seconds: write durations with units, or `tick = \"500ms\"`; {elsewhere}");
            return Err(self.error("clients", message));
        };
        match tick.in_ticks_of(FINEST) {
            Some(_) => Ok(tick),
            None => Err(self.error("tick", format!("`doctor` judges no tick finer than {FINEST}: this one is {tick}"))),
        }
    }

    /// The value at a path, where the file has it.
    pub(crate) fn value(&self, path: &str) -> Option<&toml::Value> {
        let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
        let value = self.table.get(first)?;
        rest.map_or(Some(value), |rest| rest.split('.').try_fold(value, |value, name| value.get(name)))
    }

    /// A field as it was understood, where the file has it.
    pub(crate) fn field(&self, path: &str, value: String, reading: Reading) -> Option<Field> {
        self.value(path)?;
        let ScenarioError { line, column, .. } = self.error(path, "");
        Some(Field {
            name: path.to_owned(),
            place: Some(Place { line, column }),
            value: Some(value),
            reading,
            option: None,
        })
    }
}

/// A mistake of a scenario as one of a configuration.
pub(crate) fn mistake(error: ScenarioError) -> ConfigurationError {
    let place = Place { line: error.line, column: error.column };
    ConfigurationError { file: error.file, place, message: error.message }
}
