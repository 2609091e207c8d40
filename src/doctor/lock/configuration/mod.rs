//! Configurations as they are in the field: Vault's `consul` storage stanza, the flags of `consul lock`, and the Go client's options as
//! JSON; and scenario files in units. Each becomes a question, and says of each of its fields how it was understood.
//!
//! Defaults are those of the published clients: `api/lock.go` and `api/semaphore.go` (C-LCK-1, C-SEM-1), `command/lock/lock.go` (C-CLI-1),
//! and `physical/consul/consul.go` of Vault, which hands `session_ttl` and `lock_wait_time` to the Go client.

mod document;
mod lock_command;
mod lock_options;
mod scenario;
mod vault;

use fencepost_model::units::Duration;

use self::document::{DocumentValue, Item, Member};
use crate::asked::QuestionError;
use crate::lock::question::{LOCK_DELAY_MAX, LockQuestion};

pub use crate::configuration::{ConfigurationError, Field, Place, Reading};

pub use lock_command::of_lock_command;
pub use scenario::of_scenario;

/// A configuration of a lock, or of a semaphore.
pub type Configuration = crate::configuration::Understood<LockQuestion>;

/// Reads a file: Vault's configuration in HCL or JSON, or `api.LockOptions` or `api.SemaphoreOptions` in JSON.
///
/// ```
/// use fencepost_doctor::lock::configuration::of_file;
///
/// let text = "storage \"consul\" {\n  path = \"vault/\"\n  session_ttl = \"30s\"\n}\n";
/// let read = of_file(text, "vault.hcl").expect("it is one of Vault's");
/// assert_eq!(read.question.ttl.expect("it has one").to_string(), "30s");
/// let error = of_file("storage \"consul\" {\n  session_ttl = \"30\"\n}\n", "vault.hcl").expect_err("no unit");
/// assert!(error.to_string().starts_with("vault.hcl:2:17: "), "{error}");
/// ```
///
/// # Errors
/// It is none of these, or a setting cannot be meant; with the place.
pub fn of_file(text: &str, file: &str) -> Result<Configuration, ConfigurationError> {
    let members = document::read(text, file)?;
    let source = Source { file };
    if members.iter().any(|member| vault::STANZAS.contains(&member.name.as_str())) {
        return vault::read(&source, &members);
    }
    if members.iter().any(|member| lock_options::knows(&member.name)) {
        return lock_options::read(&source, &members);
    }
    let place = members.first().map_or(Place { line: 1, column: 1 }, |member| member.place);
    Err(source.error(
        place,
        "this is neither Vault's configuration (`storage \"consul\" { … }`) nor the Go client's options as JSON (`{\"Key\": …, \"SessionTTL\": …}`)",
    ))
}

/// The text that is read, for errors.
struct Source<'a> {
    file: &'a str,
}

impl Source<'_> {
    fn error(&self, place: Place, message: impl Into<String>) -> ConfigurationError {
        ConfigurationError::at(self.file, place, message)
    }

    fn text<'b>(&self, member: &'b Member) -> Result<&'b str, ConfigurationError> {
        match &member.item.value {
            DocumentValue::Text(text) => Ok(text),
            _ => Err(self.wrong(member, "a text in quotes")),
        }
    }

    fn wrong(&self, member: &Member, wanted: &str) -> ConfigurationError {
        let Item { place, .. } = member.item;
        self.error(place, format!("`{}` is {wanted}, and here stands {}", member.name, member.item.kind()))
    }

    /// A duration with a unit.
    fn duration(&self, member: &Member, text: &str) -> Result<Duration, ConfigurationError> {
        text.parse().map_err(|error| self.error(member.item.place, format!("`{}`: {error}", member.name)))
    }

    /// Refuses a name that stands twice.
    fn no_doubles(&self, members: &[Member]) -> Result<(), ConfigurationError> {
        for (at, member) in members.iter().enumerate() {
            if let Some(first) = members[..at].iter().find(|other| other.name.eq_ignore_ascii_case(&member.name)) {
                let message =
                    format!("`{}` stands in line {} already: leave one of them", member.name, first.place.line);
                return Err(self.error(member.place, message));
            }
        }
        Ok(())
    }

    /// The configuration, if its settings can be meant. A mistake is at the field that has the setting.
    fn checked(
        &self,
        kind: impl Into<String>,
        question: LockQuestion,
        fields: Vec<Field>,
    ) -> Result<Configuration, ConfigurationError> {
        match question.validate() {
            Ok(()) => Ok(Configuration {
                kind: kind.into(),
                question,
                has_bounds: false,
                fields,
                assumptions: Vec::new(),
                without_field: Vec::new(),
            }),
            Err(QuestionError { setting, message }) => {
                let has_it =
                    |field: &&Field| matches!(&field.reading, Reading::Setting(text) if text.contains(setting));
                let place = fields.iter().filter(has_it).find_map(|field| field.place);
                Err(self.error(place.unwrap_or(Place { line: 1, column: 1 }), format!("{setting}: {message}")))
            }
        }
    }
}

impl Field {
    fn of(member: &Member, reading: Reading) -> Field {
        let value = match reading {
            // What says nothing about a lock may be a token or a key.
            Reading::Setting(_) => Some(member.item.shown()),
            Reading::WithoutEffect(_) | Reading::Unknown { .. } => None,
        };
        Field { name: member.name.clone(), place: Some(member.place), value, reading, option: None }
    }
}

/// A TTL, and the renewals of the Go client: every half of it (C-API-2).
fn renewed(question: &mut LockQuestion, ttl: Duration) -> Reading {
    question.renews_at_half = true;
    question.set_ttl(Some(ttl));
    let half = question.renew_every.unwrap_or_default();
    Reading::Setting(format!("ttl {ttl}, renew-every {half}: the Go client renews after half the TTL (C-API-2)"))
}

/// A lock-delay as the Go client asks for it, and as Consul grants it.
fn delayed(question: &mut LockQuestion, asked: Duration) -> Reading {
    if asked == Duration::ZERO {
        return Reading::Setting(format!(
            "lock-delay {}: the Go client cannot ask for none, and the server takes its default (C-API-1)",
            question.lock_delay
        ));
    }
    question.lock_delay = asked.min(LOCK_DELAY_MAX);
    if asked > LOCK_DELAY_MAX {
        return Reading::Setting(format!("lock-delay {LOCK_DELAY_MAX}: Consul grants no more (C-LD-3)"));
    }
    Reading::Setting(format!("lock-delay {asked}"))
}
