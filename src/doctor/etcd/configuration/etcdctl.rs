//! The command line of `etcdctl lock` and `etcdctl elect` (E-CC-32).

use fencepost_model::units::Duration;

use super::SessionConfiguration;
use crate::configuration::{ConfigurationError, Field, Place, Reading};
use crate::etcd::question::{SessionQuestion, SessionStop};
use crate::shell::{ShellWord, is_assignment, words};

/// The flags that say nothing about a session; true: with a value.
const OTHERS: [(&str, bool); 19] = [
    ("cacert", true),
    ("cert", true),
    ("command-timeout", true),
    ("debug", false),
    ("discovery-srv", true),
    ("discovery-srv-name", true),
    ("endpoints", true),
    ("hex", false),
    ("insecure-discovery", false),
    ("insecure-skip-tls-verify", false),
    ("insecure-transport", false),
    ("keepalive-time", true),
    ("keepalive-timeout", true),
    ("key", true),
    ("password", true),
    ("user", true),
    ("write-out", true),
    ("w", true),
    ("cluster", false),
];

/// The DialTimeout of `etcdctl` without `--dial-timeout`.
const DIAL_TIMEOUT: Duration = Duration::of_seconds(2);

/// E-CC-32: the TTL of `etcdctl lock` without `--ttl`.
const LOCK_TTL: Duration = Duration::of_seconds(10);

/// Reads a line as a shell would take it: `etcdctl lock jobs/backup --ttl=30 ./backup.sh`. The word `etcdctl` may be left out.
///
/// ```
/// use fencepost_doctor::SessionStop;
/// use fencepost_doctor::etcd::configuration::of_etcdctl;
///
/// let read = of_etcdctl("lock jobs/backup --ttl=30 ./backup.sh", "--etcdctl").expect("these are its flags");
/// assert_eq!((read.question.ttl.to_string(), read.question.stop), ("30s".to_owned(), SessionStop::Never));
/// assert!(of_etcdctl("put a b", "--etcdctl").expect_err("no lock").to_string().contains("`etcdctl lock"));
/// ```
///
/// # Errors
/// It is no such command, a flag is unknown, or has a wrong value; with its column.
pub fn of_etcdctl(line: &str, name: &str) -> Result<SessionConfiguration, ConfigurationError> {
    let read = words(name, line)?;
    let begin = read.first().map_or(Place { line: 1, column: 1 }, |word| word.place);
    let mut words = read.into_iter().peekable();
    while words.next_if(|word| is_assignment(&word.text)).is_some() {}
    words.next_if(|word| word.text == "etcdctl" || word.text.ends_with("/etcdctl"));
    let (mut arguments, mut flags) = (Vec::new(), Vec::new());
    let mut has_ended = false;
    while let Some(word) = words.next() {
        match word.text.trim_start_matches('-') {
            "" if word.text == "--" => has_ended = true,
            bare if !has_ended && bare.len() < word.text.len() => {
                let (flag, value) = bare.split_once('=').map_or((bare, None), |(flag, value)| (flag, Some(value)));
                let takes = ["ttl", "dial-timeout"].contains(&flag) || OTHERS.contains(&(flag, true));
                let value = match value {
                    Some(value) => Some(value.to_owned()),
                    None if takes => words.next().map(|next| next.text),
                    None => None,
                };
                let message = format!("`--{flag}` needs a value, as `--{flag}=…`");
                if takes && value.is_none() {
                    return Err(ConfigurationError::at(name, word.place, message));
                }
                flags.push((flag.to_owned(), value, word.place));
            }
            _ => arguments.push(word),
        }
    }
    let mut arguments = arguments.into_iter();
    let (command, is_lock) = match arguments.next() {
        Some(word) if word.text == "lock" => (word, true),
        Some(word) if word.text == "elect" => (word, false),
        other => {
            let place = other.map_or(begin, |word| word.place);
            let message = "this is no lock: write `etcdctl lock NAME [COMMAND]` or `etcdctl elect NAME VALUE`";
            return Err(ConfigurationError::at(name, place, message));
        }
    };
    let mut question =
        SessionQuestion::of_recipe(if is_lock { "etcd-mutex" } else { "etcd-election" }).expect("it is known");
    question.dial_timeout = DIAL_TIMEOUT;
    question.ttl = if is_lock { LOCK_TTL } else { question.ttl };
    let mut fields = Vec::new();
    for (flag, value, place) in &flags {
        let reading = read_flag(&mut question, is_lock, flag, value.as_deref())
            .map_err(|message| ConfigurationError::at(name, *place, message))?;
        let is_shown = matches!(reading, Reading::Setting(_));
        let value = value.clone().filter(|_| is_shown);
        fields.push(Field { name: format!("--{flag}"), place: Some(*place), value, reading, option: None });
    }
    let named = |word: ShellWord, name: &str, reading: Reading| Field {
        name: name.to_owned(),
        place: Some(word.place),
        value: Some(word.text),
        reading,
        option: None,
    };
    let Some(prefix) = arguments.next() else {
        let message = format!("`etcdctl {}` needs the name of the lock", command.text);
        return Err(ConfigurationError::at(name, command.place, message));
    };
    fields.push(named(prefix, "name", Reading::WithoutEffect("the prefix of the keys".to_owned())));
    let behind = arguments.next();
    if is_lock && behind.is_some() {
        question.stop = SessionStop::Never;
    }
    if let Some(behind) = behind {
        let (what, reading) = match is_lock {
            true => {
                ("command", Reading::Setting("stop never: it goes on when the session is lost (E-CC-32)".to_owned()))
            }
            false => ("value", Reading::WithoutEffect("what the leader proclaims".to_owned())),
        };
        fields.push(named(behind, what, reading));
    } else if is_lock {
        let reading = "stop on-done: the command ends when the session is lost (E-CC-32)";
        fields.push(Field::absent("command", Reading::Setting(reading.to_owned())));
    }
    if !is_lock {
        fields.push(Field::absent("ttl", Reading::Setting("ttl 60s: no flag sets it (E-CC-32)".to_owned())));
    } else if !flags.iter().any(|(flag, ..)| flag == "ttl") {
        fields.push(Field::absent("--ttl", Reading::Setting("ttl 10s (E-CC-32)".to_owned())));
    }
    if !flags.iter().any(|(flag, ..)| flag == "dial-timeout") {
        fields.push(Field::absent("--dial-timeout", Reading::Setting("dial-timeout 2s".to_owned())));
    }
    question.validate().map_err(|mistake| ConfigurationError::at(name, command.place, mistake.to_string()))?;
    Ok(SessionConfiguration {
        kind: format!("`etcdctl {}`", command.text),
        question,
        has_bounds: false,
        fields,
        assumptions: Vec::new(),
        without_field: Vec::new(),
    })
}

/// What a flag means.
fn read_flag(
    question: &mut SessionQuestion,
    is_lock: bool,
    flag: &str,
    value: Option<&str>,
) -> Result<Reading, String> {
    match (flag, value) {
        ("ttl", Some(value)) if is_lock => {
            let seconds =
                value.parse::<u32>().map_err(|_| format!("`--ttl` is a number of seconds, and not `{value}`"))?;
            let asked = Duration::of_seconds(i64::from(seconds));
            question.ttl = asked.max(crate::etcd::TTL_LEAST);
            let raised = if asked < question.ttl { ": etcd raises it (E-LS-1)" } else { "" };
            Ok(Reading::Setting(format!("ttl {}{raised}", question.ttl)))
        }
        ("dial-timeout", Some(value)) => {
            question.dial_timeout = value.parse().map_err(|error| format!("`--dial-timeout`: {error}"))?;
            Ok(Reading::Setting(format!("dial-timeout {value}: the first deadline of the session (E-CC-4)")))
        }
        ("listen" | "l", _) if !is_lock => Err("with `--listen` it observes the leader, and leads nothing".to_owned()),
        _ if OTHERS.iter().any(|(other, _)| *other == flag) => {
            Ok(Reading::WithoutEffect("it says how etcd is reached, or what is printed".to_owned()))
        }
        _ => Err(format!(
            "`etcdctl` has no flag `--{flag}` here; those that matter are `--ttl` of a lock, and `--dial-timeout`. A command with flags of its own comes after `--`"
        )),
    }
}
