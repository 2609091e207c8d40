//! What was written of an election, by whatever name, as a question: the settings, those of the program where there are none, and how each was
//! understood.

use std::collections::BTreeSet;

use fencepost_model::units::Duration;

use super::ElectionConfiguration;
use super::programs::{KnownProgram, recipe_of};
use super::stanza::DISABLES;
use crate::asked::QuestionError;
use crate::configuration::{ConfigurationError, Field, Place, Reading, Understood};
use crate::election::question::{ElectionQuestion, timeout_of};

/// A setting of an election.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum ElectionSetting {
    Elects,
    Lease,
    RenewDeadline,
    RetryPeriod,
    Releases,
}

impl ElectionSetting {
    /// The option of the command line that says the same.
    fn option(self) -> Option<&'static str> {
        match self {
            ElectionSetting::Elects => None,
            ElectionSetting::Lease => Some("lease"),
            ElectionSetting::RenewDeadline => Some("renew-deadline"),
            ElectionSetting::RetryPeriod => Some("retry-period"),
            ElectionSetting::Releases => Some("release"),
        }
    }
}

/// A setting as it was written.
#[derive(Clone, Debug)]
pub(super) struct GivenSetting {
    pub setting: ElectionSetting,
    /// The name of the flag or of the field.
    pub name: String,
    pub place: Place,
    /// Where the value stands.
    pub value_place: Place,
    pub value: String,
    /// What a reader may not expect of it.
    pub remark: Option<&'static str>,
    /// Whether programs that elect no leader have such a name, too, as `--lease-duration`.
    pub is_generic: bool,
}

/// How settings are written, for those that are not set.
pub(super) struct Spelling {
    /// The source, as `the manifest`.
    pub of: &'static str,
    pub names: [&'static str; 4],
    /// What turns an election on, as `… does`.
    pub turns_on: &'static str,
}

/// What was written, and what is known of the program.
pub(super) struct Written<'a> {
    pub file: &'a str,
    pub kind: String,
    pub program: &'static KnownProgram,
    /// The recipe that the user says.
    pub recipe: Option<&'static str>,
    /// The *N* of Kubernetes 1.*N*, if the image says it.
    pub version: Option<u16>,
    pub given: Vec<GivenSetting>,
    /// What says nothing about a verdict.
    pub others: Vec<Field>,
    /// What the settings rest on.
    pub assumptions: Vec<String>,
    pub spelling: Spelling,
}

/// Whether an election is on.
enum ElectionSwitch {
    On,
    Off { place: Place, why: String },
    Unsaid { why: String },
}

impl Written<'_> {
    pub fn read(self) -> Result<ElectionConfiguration, ConfigurationError> {
        match self.switch()? {
            ElectionSwitch::On => self.question(),
            ElectionSwitch::Off { place, why } => Ok(ElectionConfiguration::Idle { place, why }),
            ElectionSwitch::Unsaid { why } => Ok(ElectionConfiguration::Unsaid { why }),
        }
    }

    fn error(&self, place: Place, message: impl Into<String>) -> ConfigurationError {
        ConfigurationError::at(self.file, place, message)
    }

    /// The last one counts, as in Go.
    fn last(&self, setting: ElectionSetting) -> Option<&GivenSetting> {
        self.given.iter().rev().find(|given| given.setting == setting)
    }

    /// Refuses a value in whose place another one will stand.
    fn is_written_out(&self, given: &GivenSetting, example: &str) -> Result<(), ConfigurationError> {
        let value = &given.value;
        if !(value.contains("$(") || value.contains("{{")) {
            return Ok(());
        }
        let message =
            format!("`{}` is `{value}`, and what stands for that is not in this file: write {example}", given.name);
        Err(self.error(given.value_place, message))
    }

    fn truth(&self, given: &GivenSetting) -> Result<bool, ConfigurationError> {
        self.is_written_out(given, "true or false")?;
        match &*given.value {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
            other => {
                Err(self.error(given.value_place, format!("`{}` is true or false, and not `{other}`", given.name)))
            }
        }
    }

    fn duration(&self, given: &GivenSetting) -> Result<Duration, ConfigurationError> {
        self.is_written_out(given, "the duration, as 15s")?;
        given.value.parse().map_err(|error| self.error(given.value_place, format!("`{}`: {error}", given.name)))
    }

    fn switch(&self) -> Result<ElectionSwitch, ConfigurationError> {
        if let Some(given) = self.last(ElectionSetting::Elects) {
            let is_disabling = given.name == DISABLES;
            if self.truth(given)? != is_disabling {
                return Ok(ElectionSwitch::On);
            }
            let why = format!("elects no leader, because `{}` is {is_disabling}", given.name);
            return Ok(ElectionSwitch::Off { place: given.place, why });
        }
        if self.program.elects || !self.program.is_known && self.has_durations() {
            return Ok(ElectionSwitch::On);
        }
        let why = match self.program.is_known {
            true => format!("nothing turns an election on, as {}", self.spelling.turns_on),
            false => format!(
                "nothing here says that it elects a leader, as {}; it may do so of its own",
                self.spelling.turns_on
            ),
        };
        Ok(ElectionSwitch::Unsaid { why })
    }

    /// Whether settings are those of an election by their names. One such as `--lease-duration` may be of something else.
    fn has_durations(&self) -> bool {
        let settings = self.given.iter().filter(|given| given.setting != ElectionSetting::Elects);
        let (generic, own): (Vec<_>, Vec<_>) = settings.partition(|given| given.is_generic);
        !own.is_empty() || generic.iter().map(|given| given.setting).collect::<BTreeSet<_>>().len() > 1
    }

    fn question(self) -> Result<ElectionConfiguration, ConfigurationError> {
        let (recipe, why) = match (self.recipe, self.version) {
            (Some(recipe), _) => (recipe, String::new()),
            (None, Some(version)) => recipe_of(version),
            (None, None) if self.program.recipe == "client-go" => {
                ("client-go", "line v0.37, if --recipe says nothing else".to_owned())
            }
            (None, None) => (self.program.recipe, "if --recipe says nothing else".to_owned()),
        };
        let mut question = ElectionQuestion::of_recipe(recipe).expect("recipes of programs and of users are known");
        let mut fields = self.durations(&mut question)?;
        if self.program.times_out {
            question.request_timeout = Some(timeout_of(question.renew_deadline));
        }
        question.release = match self.last(ElectionSetting::Releases) {
            Some(given) => self.truth(given)?,
            None => self.program.releases.of(self.version).0,
        };
        fields.extend(self.others.iter().cloned());
        let releases = if question.release { "on" } else { "off" };
        for given in &self.given {
            let meaning = match given.setting {
                ElectionSetting::Elects => "the program takes part in an election".to_owned(),
                ElectionSetting::Releases => format!("ReleaseOnCancel {releases}"),
                _ => continue,
            };
            fields.push(self.field(given, meaning));
        }
        fields.sort_by_key(|field| field.place.map_or((1, None), |place| (0, Some(place))));
        self.assume(&question, recipe, &why, &mut fields);
        self.checked(question, fields)
    }

    /// Sets the durations, those of the program first, for the timeout of requests goes with the deadline.
    fn durations(&self, question: &mut ElectionQuestion) -> Result<Vec<Field>, ConfigurationError> {
        let [lease, deadline, retry] = self.program.terms();
        (question.lease, question.retry_period) = (lease, retry);
        question.set_renew_deadline(deadline);
        let mut fields = Vec::new();
        for given in &self.given {
            let meaning = match given.setting {
                ElectionSetting::Lease => {
                    question.lease = self.duration(given)?;
                    format!("lease {}", question.lease)
                }
                ElectionSetting::RenewDeadline => {
                    question.set_renew_deadline(self.duration(given)?);
                    format!("renew-deadline {}", question.renew_deadline)
                }
                ElectionSetting::RetryPeriod => {
                    question.retry_period = self.duration(given)?;
                    format!("retry-period {}", question.retry_period)
                }
                ElectionSetting::Elects | ElectionSetting::Releases => continue,
            };
            fields.push(self.field(given, meaning));
        }
        Ok(fields)
    }

    fn field(&self, given: &GivenSetting, meaning: String) -> Field {
        let last = self.last(given.setting).map_or(given.place, |last| last.place);
        let (reading, option) = if last == given.place {
            let remark = given.remark.map(|remark| format!("; {remark}")).unwrap_or_default();
            (Reading::Setting(meaning + &remark), given.setting.option())
        } else {
            (Reading::WithoutEffect(format!("it stands again in line {}, and the last one counts", last.line)), None)
        };
        let (place, value) = (Some(given.place), Some(given.value.clone()));
        Field { name: given.name.clone(), place, value, reading, option }
    }

    /// What is not written comes from the program.
    fn assume(&self, question: &ElectionQuestion, recipe: &str, why: &str, fields: &mut Vec<Field>) {
        let Spelling { of, names, .. } = &self.spelling;
        let mut assumed = |name: &str, option: Option<&'static str>, text: String| {
            let reading = Reading::Setting(text);
            fields.push(Field { option, ..Field::absent(name, reading) });
        };
        let settings = [
            ElectionSetting::Elects,
            ElectionSetting::Lease,
            ElectionSetting::RenewDeadline,
            ElectionSetting::RetryPeriod,
        ];
        let source = self.program.source;
        for (setting, name) in settings.into_iter().zip(names) {
            if self.last(setting).is_some() {
                continue;
            }
            let value = match setting {
                ElectionSetting::Lease => format!("lease {}", question.lease),
                ElectionSetting::RenewDeadline => format!("renew-deadline {}", question.renew_deadline),
                ElectionSetting::RetryPeriod => format!("retry-period {}", question.retry_period),
                _ if self.program.elects => "on".to_owned(),
                _ => "on, for other settings of an election are there".to_owned(),
            };
            assumed(name, setting.option(), format!("{value}: assumed, not in {of}: default of {source}"));
        }
        if self.last(ElectionSetting::Releases).is_none() {
            let (releases, source) = self.program.releases.of(self.version);
            let value = if releases { "on" } else { "off" };
            let text = format!("{value}: assumed, not in {of}: {source}; --release says otherwise");
            assumed("ReleaseOnCancel", ElectionSetting::Releases.option(), text);
        }
        let timeout = question.request_timeout.map_or("none".to_owned(), |timeout| timeout.to_string());
        let source = match question.request_timeout {
            Some(_) if !self.program.times_out => {
                "as the recipe has it: half the renew deadline, at least 1s (OL-K-13)"
            }
            _ => self.program.timeout_source,
        };
        assumed("request-timeout", Some("request-timeout"), format!("{timeout}: assumed, not in {of}: {source}"));
        if self.recipe.is_none() {
            assumed("recipe", Some("recipe"), format!("{recipe}: assumed, not in {of}: {why}"));
        }
    }

    /// A mistake in a setting is at the flag that has it.
    fn checked(
        &self,
        question: ElectionQuestion,
        fields: Vec<Field>,
    ) -> Result<ElectionConfiguration, ConfigurationError> {
        let (kind, assumptions) = (self.kind.clone(), self.assumptions.clone());
        match question.validate() {
            Ok(()) => Ok(ElectionConfiguration::Elects(Box::new(Understood {
                kind,
                question,
                has_bounds: false,
                fields,
                assumptions,
                without_field: Vec::new(),
            }))),
            Err(QuestionError { setting, message }) => {
                let of = |setting| self.last(setting).map(|given| given.value_place);
                let own = match setting {
                    "lease" => of(ElectionSetting::Lease),
                    "renew-deadline" => of(ElectionSetting::RenewDeadline),
                    "retry-period" => of(ElectionSetting::RetryPeriod),
                    _ => None,
                };
                let place = own.or_else(|| self.given.first().map(|given| given.place));
                Err(self.error(place.unwrap_or(Place { line: 1, column: 1 }), format!("{setting}: {message}")))
            }
        }
    }
}
