//! The command line of `consul lock` (C-CLI-1, C-CLI-2): its flags, and what they leave as it is.

use std::iter::Peekable;
use std::vec::IntoIter;

use super::{Configuration, ConfigurationError, Field, Reading, Source};
use crate::lock::question::LockQuestion;
use crate::shell::{ShellWord, is_assignment, words};

/// What a flag takes.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Takes {
    /// A value, after `=` or as the next word.
    Value,
    /// Nothing, or true or false after `=`.
    Truth,
}

/// The flags that say nothing about a lock.
const OTHERS: [(&str, Takes); 17] = [
    ("child-exit-code", Takes::Truth),
    ("pass-stdin", Takes::Truth),
    ("shell", Takes::Truth),
    ("verbose", Takes::Truth),
    ("stale", Takes::Truth),
    ("name", Takes::Value),
    ("http-addr", Takes::Value),
    ("token", Takes::Value),
    ("token-file", Takes::Value),
    ("ca-file", Takes::Value),
    ("ca-path", Takes::Value),
    ("client-cert", Takes::Value),
    ("client-key", Takes::Value),
    ("tls-server-name", Takes::Value),
    ("datacenter", Takes::Value),
    ("namespace", Takes::Value),
    ("partition", Takes::Value),
];

/// The flags that are read here.
const OWN: [&str; 4] = ["n", "timeout", "try", "monitor-retry"];

/// Reads a line as a shell would take it: `consul lock -n 3 -timeout 5s jobs/backup ./backup.sh`. The words `consul lock`, the prefix
/// and the command may be left out.
///
/// ```
/// use fencepost_doctor::lock::configuration::of_lock_command;
///
/// let read = of_lock_command("-n 3 -try 5s", "--consul-lock").expect("these are its flags");
/// assert_eq!(read.question.slots, Some(3));
/// assert!(of_lock_command("-limit 3", "--consul-lock").expect_err("no such flag").to_string().contains("-n"));
/// ```
///
/// # Errors
/// A flag is unknown or has a wrong value; with its column.
pub fn of_lock_command(line: &str, name: &str) -> Result<Configuration, ConfigurationError> {
    let source = Source { file: name };
    let mut words = words(name, line)?.into_iter().peekable();
    while words.peek().is_some_and(|word| is_assignment(&word.text)) {
        words.next();
    }
    if words.peek().is_some_and(|word| word.text == "consul" || word.text.ends_with("/consul")) {
        words.next();
        if let Some(other) = words.next_if(|word| word.text != "lock") {
            return Err(source.error(other.place, format!("`consul {}` is no lock: write `consul lock …`", other.text)));
        }
        words.next();
    }
    let mut question = LockQuestion::of_recipe("lock-command").expect("it is known");
    let mut fields = Vec::new();
    while let Some(word) = words.next_if(|word| word.text.starts_with('-') && word.text.len() > 1) {
        if word.text == "--" {
            break;
        }
        fields.push(flag(&source, &word, &mut words, &mut question)?);
    }
    if let Some(prefix) = words.next() {
        let reading = Reading::WithoutEffect("the prefix of the key".to_owned());
        fields.push(Field {
            name: "prefix".to_owned(),
            place: Some(prefix.place),
            value: Some(prefix.text),
            reading,
            option: None,
        });
    }
    let has = |fields: &[Field], name: &str| fields.iter().any(|field| field.name == name);
    let mut absent = vec![(
        "ttl",
        "ttl 15s, renew-every 7.5s: no flag sets it (DefaultLockSessionTTL of api/lock.go, C-API-2)".to_owned(),
    )];
    if !has(&fields, "-n") {
        absent.push(("-n", "1: a lock, and no semaphore (C-CLI-1)".to_owned()));
    }
    absent.push(match question.slots {
        None => ("lock-delay", "15s: no flag sets it, and the server takes its default (C-API-1)".to_owned()),
        Some(_) => ("lock-delay", "it protects no slot (C-SEM-11)".to_owned()),
    });
    absent.push((
        "grace",
        "5s between SIGTERM and SIGKILL: lockKillGracePeriod of command/lock/lock.go (C-CLI-2)".to_owned(),
    ));
    absent.push(("belief", "by-monitor: the child is killed when the monitor says so (C-CLI-2)".to_owned()));
    fields.extend(absent.into_iter().map(|(name, meaning)| Field::absent(name, Reading::Setting(meaning))));
    source.checked("`consul lock`", question, fields)
}

/// A flag with its value.
fn flag(
    source: &Source<'_>,
    word: &ShellWord,
    rest: &mut Peekable<IntoIter<ShellWord>>,
    question: &mut LockQuestion,
) -> Result<Field, ConfigurationError> {
    let bare = word.text.trim_start_matches('-');
    let (name, value) = bare.split_once('=').map_or((bare, None), |(name, value)| (name, Some(value.to_owned())));
    let takes = OTHERS.iter().find(|(other, _)| *other == name).map(|(_, takes)| *takes);
    let takes = takes.or(OWN.contains(&name).then_some(Takes::Value));
    let Some(takes) = takes else {
        let message = format!(
            "`consul lock` has no flag `-{name}`; those that matter here are `-n`, `-timeout` and `-monitor-retry`"
        );
        return Err(source.error(word.place, message));
    };
    let value = match (takes, value) {
        (_, Some(value)) => value,
        (Takes::Truth, None) => "true".to_owned(),
        (Takes::Value, None) => match rest.next() {
            Some(value) => value.text,
            None => return Err(source.error(word.place, format!("`-{name}` needs a value, as `-{name}=…`"))),
        },
    };
    let wrong = |message: String| source.error(word.place, message);
    let reading = match name {
        "n" => match value.parse::<u8>() {
            Ok(0) | Err(_) => {
                return Err(wrong(format!("`-n` is the number of holders, from 1 to {}, and not `{value}`", u8::MAX)));
            }
            Ok(1) => Reading::Setting("a lock, and no semaphore (C-CLI-1)".to_owned()),
            Ok(slots) => {
                question.slots = Some(slots);
                Reading::Setting(format!("slots {slots}: a semaphore (C-CLI-1)"))
            }
        },
        "timeout" | "try" => {
            let wait: fencepost_model::units::Duration =
                value.parse().map_err(|error| wrong(format!("`-{name}`: {error}")))?;
            let older = if name == "try" { "an older name of -timeout; " } else { "" };
            Reading::WithoutEffect(format!("{older}after {wait} the command gives up waiting"))
        }
        "monitor-retry" => match value.parse::<u32>() {
            Ok(retries) => Reading::WithoutEffect(format!(
                "{retries} repetitions of a read that fails, 1s apart, and no read fails within the assumptions"
            )),
            Err(_) => return Err(wrong(format!("`-monitor-retry` is a number from 0, and not `{value}`"))),
        },
        _ => {
            if takes == Takes::Truth && !["true", "false", "1", "0", "t", "f"].contains(&value.to_lowercase().as_str())
            {
                return Err(wrong(format!("`-{name}` is true or false, and not `{value}`")));
            }
            Reading::WithoutEffect("it says how Consul is reached, or how the child is started".to_owned())
        }
    };
    let is_shown = OWN.contains(&name);
    Ok(Field {
        name: format!("-{name}"),
        place: Some(word.place),
        value: is_shown.then_some(value),
        reading,
        option: None,
    })
}
