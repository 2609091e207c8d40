//! Elections as they are configured in the field: flags of programs, as they stand in a manifest or on a command line, and the stanza
//! `leaderElection` of their configuration files. Each becomes a question, and says of each setting where it comes from. What is not set
//! there comes from the program: it is an assumption, and is printed as one.

mod flags;
mod programs;
mod stanza;

use fencepost_model::units::Duration;

use self::programs::KnownProgram;
use super::question::{ElectionQuestion, RECIPES};
use crate::asked::QuestionError;
use crate::configuration::{ConfigurationError, Field, Place, Reading, Understood};

pub use flags::{ProgramStart, of_arguments, of_flags};
pub use stanza::{StanzaMember, of_stanza};

/// Whether a program takes part in an election.
#[derive(Clone, PartialEq, Debug)]
pub enum ElectionConfiguration {
    /// It does, with these settings.
    Elects(Box<Understood<ElectionQuestion>>),
    /// It does not.
    Idle {
        /// Where that is said; none: nothing says that it does.
        place: Option<Place>,
        /// Why, as the end of a sentence about the program.
        why: String,
    },
}

/// The field that turns an election off (OpenShift's `LeaderElection`).
const DISABLES: &str = "disable";

/// A setting of an election.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum ElectionSetting {
    Elects,
    Lease,
    RenewDeadline,
    RetryPeriod,
    Releases,
}

/// A setting as it was written.
#[derive(Clone, Debug)]
struct GivenSetting {
    setting: ElectionSetting,
    /// The name of the flag or of the field.
    name: String,
    place: Place,
    /// Where the value stands.
    value_place: Place,
    value: String,
    /// What a reader may not expect of it.
    remark: Option<&'static str>,
}

/// How settings are written, for those that are not set.
struct Spelling {
    /// The source, as `the manifest`.
    of: &'static str,
    names: [&'static str; 4],
}

/// What was written, and what is known of the program.
struct Written<'a> {
    file: &'a str,
    kind: String,
    program: &'static KnownProgram,
    /// The recipe that the user says.
    recipe: Option<&'a str>,
    /// That of the image's version, and why.
    of_version: Option<(&'static str, String)>,
    given: Vec<GivenSetting>,
    /// What says nothing about a verdict.
    others: Vec<Field>,
    spelling: Spelling,
}

impl Written<'_> {
    fn error(&self, place: Place, message: impl Into<String>) -> ConfigurationError {
        ConfigurationError::at(self.file, place, message)
    }

    /// The last one counts, as in Go.
    fn last(&self, setting: ElectionSetting) -> Option<&GivenSetting> {
        self.given.iter().rev().find(|given| given.setting == setting)
    }

    fn truth(&self, given: &GivenSetting) -> Result<bool, ConfigurationError> {
        match &*given.value {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
            other => {
                Err(self.error(given.value_place, format!("`{}` is true or false, and not `{other}`", given.name)))
            }
        }
    }

    fn duration(&self, given: &GivenSetting) -> Result<Duration, ConfigurationError> {
        let value = &given.value;
        if value.contains("$(") || value.contains("{{") {
            let message = format!(
                "`{}` is `{value}`, and what stands for that is not in this file: write the duration, as 15s",
                given.name
            );
            return Err(self.error(given.value_place, message));
        }
        value.parse().map_err(|error| self.error(given.value_place, format!("`{}`: {error}", given.name)))
    }

    /// Whether it takes part: a flag or the stanza says so, or the program does of its own; none of both: why not.
    fn elects(&self) -> Result<Result<(), (Option<Place>, String)>, ConfigurationError> {
        if let Some(given) = self.last(ElectionSetting::Elects) {
            let is_disabling = given.name == DISABLES;
            if self.truth(given)? != is_disabling {
                return Ok(Ok(()));
            }
            return Ok(Err((
                Some(given.place),
                format!("elects no leader, because `{}` is {is_disabling}", given.name),
            )));
        }
        let has_durations = self.given.iter().any(|given| given.setting != ElectionSetting::Elects);
        if self.program.elects || has_durations && !self.program.is_known() {
            return Ok(Ok(()));
        }
        Ok(Err((
            None,
            "elects no leader: nothing turns an election on, as `--leader-elect` or `--leader-election` do".to_owned(),
        )))
    }

    fn read(self) -> Result<ElectionConfiguration, ConfigurationError> {
        if let Err((place, why)) = self.elects()? {
            return Ok(ElectionConfiguration::Idle { place, why });
        }
        let (recipe, why) = match (self.recipe, &self.of_version) {
            (Some(recipe), _) => (recipe, String::new()),
            (None, Some((recipe, why))) => (*recipe, why.clone()),
            (None, None) if self.program.recipe == "client-go" => {
                ("client-go", "line v0.37, if --recipe says nothing else".to_owned())
            }
            (None, None) => (self.program.recipe, "if --recipe says nothing else".to_owned()),
        };
        let mut question = ElectionQuestion::of_recipe(recipe)
            .map_err(|mistake| self.error(Place { line: 1, column: 1 }, mistake.to_string()))?;
        let mut fields = self.durations(&mut question)?;
        if self.program.times_out && question.request_timeout.is_none() {
            question.request_timeout = Some(half(question.renew_deadline));
        }
        question.release = match self.last(ElectionSetting::Releases) {
            Some(given) => self.truth(given)?,
            None => self.program.releases,
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
        let reading = if last == given.place {
            let remark = given.remark.map(|remark| format!("; {remark}")).unwrap_or_default();
            Reading::Setting(meaning + &remark)
        } else {
            Reading::WithoutEffect(format!("it stands again in line {}, and the last one counts", last.line))
        };
        Field { name: given.name.clone(), place: Some(given.place), value: Some(given.value.clone()), reading }
    }

    /// What is not written comes from the program.
    fn assume(&self, question: &ElectionQuestion, recipe: &str, why: &str, fields: &mut Vec<Field>) {
        let Spelling { of, names } = &self.spelling;
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
            let text = format!("{value}: assumed, not in {of}: default of {source}");
            fields.push(Field::absent(name, Reading::Setting(text)));
        }
        if self.last(ElectionSetting::Releases).is_none() {
            let value = if question.release { "on" } else { "off" };
            let text = format!("{value}: assumed, not in {of}: {}; --release says otherwise", self.program.remark);
            fields.push(Field::absent("ReleaseOnCancel", Reading::Setting(text)));
        }
        let timeout = match question.request_timeout {
            None => format!("none: assumed, not in {of}: a lock of resourcelock.New keeps the client's (OL-K-13)"),
            Some(timeout) => format!("{timeout}: assumed, not in {of}: half the renew deadline, at least 1s (OL-K-13)"),
        };
        fields.push(Field::absent("request-timeout", Reading::Setting(timeout)));
        if self.recipe.is_none() {
            fields.push(Field::absent("recipe", Reading::Setting(format!("{recipe}: assumed, not in {of}: {why}"))));
        }
    }

    /// A mistake in a setting is at the flag that has it.
    fn checked(
        &self,
        question: ElectionQuestion,
        fields: Vec<Field>,
    ) -> Result<ElectionConfiguration, ConfigurationError> {
        let kind = self.kind.clone();
        match question.validate() {
            Ok(()) => {
                Ok(ElectionConfiguration::Elects(Box::new(Understood { kind, question, has_bounds: false, fields })))
            }
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

/// The timeout of requests that goes with a renew deadline (OL-K-13).
fn half(deadline: Duration) -> Duration {
    Duration::of_nanoseconds(deadline.nanoseconds() / 2).max(Duration::of_seconds(1))
}

/// The recipe with this name.
fn known(recipe: Option<&str>) -> Option<&'static str> {
    recipe.and_then(|name| RECIPES.into_iter().find(|recipe| *recipe == name))
}
