//! Questions from configurations as they are in the field: reading them, and saying how each field was understood.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use fencepost::model::units::Duration;
use fencepost_doctor::configuration::{Field, Reading, Understood};
use fencepost_doctor::lock::configuration::{Configuration, of_file, of_lock_command, of_scenario};
use fencepost_doctor::{Asked, ElectionQuestion, LockQuestion, Quantity, SessionQuestion, SessionStop};

use super::assumed::AssumedBounds;
use crate::exit::CommandError;
use crate::json::UnderstoodJson;
use crate::target::quoted;

/// The configuration in a file: a scenario, if its name ends in `.toml`.
pub fn read(path: &Path) -> Result<Configuration, CommandError> {
    let file = path.display();
    let text =
        fs::read_to_string(path).map_err(|error| CommandError::Input(format!("{file} cannot be read: {error}")))?;
    let is_scenario = path.extension().is_some_and(|extension| extension == "toml");
    let read = if is_scenario { of_scenario } else { of_file };
    read(&text, &file.to_string()).map_err(|error| CommandError::Input(error.to_string()))
}

/// The configuration in a command line of `consul lock`.
pub fn read_lock_command(line: &str) -> Result<Configuration, CommandError> {
    of_lock_command(line, "--consul-lock").map_err(|error| CommandError::Input(error.to_string()))
}

/// How each field was understood, for people. `command` asks the same question, with what the command line says.
pub fn told<Q>(configuration: &Understood<Q>, command: &str) -> String {
    let mut text = format!("read as {}:\n", configuration.kind);
    for field in &configuration.fields {
        let shown = match (&field.value, field.place) {
            (Some(value), Some(place)) => format!("{} = {value} (line {})", field.name, place.line),
            (None, Some(place)) => format!("{} (line {})", field.name, place.line),
            (_, None) => format!("{} is not set", field.name),
        };
        let _ = writeln!(text, "  {shown}: {}", field.reading);
    }
    let _ = writeln!(text, "the same question: {command}\n");
    text
}

pub fn understood<Q>(configuration: &Understood<Q>) -> Vec<UnderstoodJson> {
    let one = |field: &Field| UnderstoodJson {
        field: field.name.clone(),
        line: field.place.map(|place| place.line),
        column: field.place.map(|place| place.column),
        value: field.value.clone(),
        kind: match field.reading {
            Reading::Setting(_) => "setting",
            Reading::WithoutEffect(_) => "without-effect",
            Reading::Unknown { .. } => "unknown",
        },
        meaning: field.reading.to_string(),
    };
    configuration.fields.iter().map(one).collect()
}

/// The command that asks this question. What was not given stays so: else it would not be warned of any more.
pub fn command(question: &LockQuestion, assumed: &AssumedBounds) -> String {
    let defaults = LockQuestion::of_recipe(question.recipe).expect("the question has a known recipe");
    let mut text = format!("fencepost doctor consul-lock --recipe {}", question.recipe);
    let mut add = |option: &str, value: String| {
        let _ = write!(text, " --{option} {}", quoted(&value));
    };
    if let Some(slots) = question.slots {
        add("slots", slots.to_string());
    }
    add("ttl", or_none(question.ttl));
    if question.ttl.is_some() && !question.follows_ttl() {
        add("renew-every", or_none(question.renew_every));
    }
    if question.slots.is_none() {
        add("lock-delay", question.lock_delay.to_string());
    }
    if question.belief != defaults.belief {
        add("belief", question.belief.to_string());
    }
    if question.grace != defaults.grace {
        add("grace", question.grace.to_string());
    }
    text += &bounds(question, assumed);
    let mut add = |option: &str| {
        let _ = write!(text, " --{option}");
    };
    if question.false_alarm {
        add("false-alarm");
    }
    if question.fencing {
        add("fencing");
    }
    text
}

/// The command that asks this question about an election.
pub fn election_command(question: &ElectionQuestion, assumed: &AssumedBounds) -> String {
    let ElectionQuestion { recipe, lease, renew_deadline, retry_period, request_timeout, stop_time, .. } = question;
    let mut text = format!(
        "fencepost doctor client-go --recipe {recipe} --lease {lease} --renew-deadline {renew_deadline} --retry-period {retry_period} \
         --request-timeout {}",
        or_none(*request_timeout)
    );
    if question.release {
        text += " --release";
    }
    if !assumed.has(Quantity::StopTime) {
        let _ = write!(text, " --stop-time {stop_time}");
    }
    text + &bounds(question, assumed)
}

/// The command that asks this question about a session of etcd.
pub fn session_command(question: &SessionQuestion, assumed: &AssumedBounds) -> String {
    let SessionQuestion { recipe, ttl, stop, margin, dial_timeout, .. } = question;
    let mut text = format!("fencepost doctor etcd --recipe {recipe} --ttl {ttl} --stop {}", stop.name());
    if *stop == SessionStop::BeforeExpiry {
        let _ = write!(text, " --margin {margin}");
    }
    if *dial_timeout > Duration::ZERO {
        let _ = write!(text, " --dial-timeout {dial_timeout}");
    }
    text + &bounds(question, assumed)
}

/// The bounds that were given.
fn bounds<Q: Asked>(question: &Q, assumed: &AssumedBounds) -> String {
    let given = [Quantity::Pause, Quantity::Latency, Quantity::Drift].into_iter().filter(|bound| !assumed.has(*bound));
    given.filter_map(|bound| Some(format!(" --{} {}", bound.name(), bound.of(question)?))).collect()
}

fn or_none(duration: Option<Duration>) -> String {
    duration.map_or("none".to_owned(), |duration| duration.to_string())
}
