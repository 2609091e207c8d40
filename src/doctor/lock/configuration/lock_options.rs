//! The Go client's `api.LockOptions` and `api.SemaphoreOptions` as JSON, with the names of their fields.

use fencepost_model::units::Duration;

use super::document::{DocumentValue, Member};
use super::{Configuration, ConfigurationError, Field, Reading, Source, delayed, renewed};
use crate::lock::question::LockQuestion;

/// The fields of both types.
const FIELDS: [&str; 16] = [
    "Key",
    "Prefix",
    "Limit",
    "Value",
    "Session",
    "SessionOpts",
    "SessionName",
    "SessionTTL",
    "MonitorRetries",
    "MonitorRetryTime",
    "LockWaitTime",
    "LockTryOnce",
    "LockDelay",
    "SemaphoreWaitTime",
    "SemaphoreTryOnce",
    "Namespace",
];

/// Those of the terms of a session that a verdict may depend on.
const SESSION_FIELDS: [&str; 6] = ["TTL", "LockDelay", "Behavior", "Checks", "NodeChecks", "ServiceChecks"];

/// A bare number below this was meant as seconds or milliseconds: Go counts nanoseconds.
const NANOSECONDS_MIN: i64 = 1_000_000;

/// The number of slots in a semaphore is tried up to this.
const SLOTS_MAX: u8 = u8::MAX;

/// Whether the options have such a field. Go's reader does not tell small letters from capitals.
pub(super) fn knows(name: &str) -> bool {
    FIELDS.iter().any(|field| field.eq_ignore_ascii_case(name))
}

pub(super) fn read(source: &Source<'_>, members: &[Member]) -> Result<Configuration, ConfigurationError> {
    source.no_doubles(members)?;
    let of = |name: &str| members.iter().find(|member| member.name.eq_ignore_ascii_case(name));
    let is_semaphore = of("Prefix").is_some() || of("Limit").is_some();
    let mut question = LockQuestion::of_recipe("go-lock").expect("it is known");
    let mut fields = Vec::new();
    for member in members {
        let reading = reading(source, member, &mut question)?;
        fields.push(Field::of(member, reading));
    }
    if is_semaphore {
        let limit = of("Limit").or(of("Prefix")).expect("one of them stands there");
        if question.slots.is_none() {
            return Err(source.error(limit.place, "a semaphore has a limit: write `\"Limit\": 3` (C-SEM-1)"));
        }
    }
    let own = session(source, of("SessionOpts"), &mut question, &mut fields)?;
    if !own {
        if of("SessionTTL").is_none() {
            let default = Duration::of_seconds(15);
            let reading = match renewed(&mut question, default) {
                Reading::Setting(text) => Reading::Setting(format!("{text}; DefaultLockSessionTTL of api/lock.go")),
                other => other,
            };
            fields.push(Field::absent("SessionTTL", reading));
        }
        if of("LockDelay").is_none() && !is_semaphore {
            fields.push(Field::absent("LockDelay", delayed(&mut question, Duration::ZERO)));
        }
    }
    fields.push(Field::absent(
        "belief",
        Reading::Setting("by-monitor: nothing but the channel of the monitor tells of a loss (C-LCK-7)".to_owned()),
    ));
    let kind =
        if is_semaphore { "`api.SemaphoreOptions` of the Go client" } else { "`api.LockOptions` of the Go client" };
    source.checked(kind, question, fields)
}

fn reading(source: &Source<'_>, member: &Member, question: &mut LockQuestion) -> Result<Reading, ConfigurationError> {
    let without = |why: String| Ok(Reading::WithoutEffect(why));
    let name = FIELDS.iter().find(|field| field.eq_ignore_ascii_case(&member.name));
    match name.copied() {
        Some("SessionTTL") => match source.text(member)? {
            "" => Ok(renewed(question, Duration::of_seconds(15))),
            text => {
                let ttl = source.duration(member, text)?;
                Ok(renewed(question, ttl))
            }
        },
        Some("LockDelay") => {
            let asked = duration(source, member)?;
            Ok(delayed(question, asked))
        }
        Some("Limit") => {
            let slots = whole(source, member)?;
            match u8::try_from(slots) {
                Ok(slots) if slots > 0 => {
                    question.slots = Some(slots);
                    Ok(Reading::Setting(format!("slots {slots}; the lock-delay protects no slot (C-SEM-11)")))
                }
                _ => Err(source.error(member.item.place, format!("a limit is a number from 1 to {SLOTS_MAX}"))),
            }
        }
        Some("Session") => match source.text(member)? {
            "" => without("empty: the client makes a session of its own".to_owned()),
            _ => Err(source.error(
                member.item.place,
                "this session is made elsewhere, and its TTL and its renewals are not in these options: write what it is made with as `SessionOpts`, and leave `Session` out",
            )),
        },
        Some("MonitorRetries") => {
            let retries = whole(source, member)?;
            without(format!("{retries} repetitions of a read that fails, and no read fails within the assumptions"))
        }
        Some("MonitorRetryTime") => {
            let wait = duration(source, member)?;
            without(format!("{wait} between repetitions of a read that fails, and no read fails within the assumptions"))
        }
        Some("LockWaitTime" | "SemaphoreWaitTime") => {
            let wait = duration(source, member)?;
            without(format!("{wait} is how long a query of a waiting client waits"))
        }
        Some("LockTryOnce" | "SemaphoreTryOnce") => match member.item.value {
            DocumentValue::Truth(_) => without("it is about a client that does not get the lock".to_owned()),
            _ => Err(source.wrong(member, "true or false")),
        },
        // Read with the options as a whole.
        Some("SessionOpts") => Ok(Reading::Setting("the terms of the session, below".to_owned())),
        Some(_) => without("a name, a place or a value".to_owned()),
        None => Ok(Reading::unknown(&member.name, FIELDS)),
    }
}

/// The terms of a session of the user's, which `SessionTTL` and `LockDelay` do not touch; says whether there are any.
fn session(
    source: &Source<'_>,
    options: Option<&Member>,
    question: &mut LockQuestion,
    fields: &mut Vec<Field>,
) -> Result<bool, ConfigurationError> {
    let Some(options) = options.filter(|options| options.item.value != DocumentValue::Null) else { return Ok(false) };
    let DocumentValue::Block(members) = &options.item.value else {
        return Err(source.wrong(options, "a block in braces"));
    };
    source.no_doubles(members)?;
    // The Go client renews for the first time after half of `SessionTTL`, whatever TTL the session has.
    let first = question.renew_every.unwrap_or_default();
    let defaults = LockQuestion::of_recipe("go-lock").expect("it is known");
    question.set_ttl(None);
    question.lock_delay = defaults.lock_delay;
    for member in members {
        let reading = match member.name.to_ascii_lowercase().as_str() {
            "ttl" => match source.text(member)? {
                "" => Reading::Setting("ttl none: only a call or a check ends the session".to_owned()),
                text => {
                    let ttl = source.duration(member, text)?;
                    renewed_after(question, ttl, first)
                }
            },
            "lockdelay" => {
                let asked = duration(source, member)?;
                delayed(question, asked)
            }
            "behavior" => match source.text(member)? {
                "" | "release" | "delete" => Reading::WithoutEffect(
                    "a key is free after the lock-delay, whether it is released or deleted".to_owned(),
                ),
                other => {
                    let message = format!("there is no behavior `{other}`: write \"release\" or \"delete\"");
                    return Err(source.error(member.item.place, message));
                }
            },
            "checks" | "nodechecks" | "servicechecks" => {
                Reading::Setting("checks can end the session at any time: --false-alarm asks what follows".to_owned())
            }
            "name" | "node" | "id" | "namespace" | "createindex" | "modifyindex" => {
                Reading::WithoutEffect("a name or a place".to_owned())
            }
            _ => Reading::unknown(&member.name, SESSION_FIELDS),
        };
        let mut field = Field::of(member, reading);
        field.name = format!("{}.{}", options.name, field.name);
        fields.push(field);
    }
    if question.ttl.is_none() {
        let none = Reading::Setting("ttl none: only a call or a check ends the session (C-SES-7)".to_owned());
        if !members.iter().any(|member| member.name.eq_ignore_ascii_case("TTL")) {
            fields.push(Field::absent(&format!("{}.TTL", options.name), none));
        }
    }
    Ok(true)
}

/// A TTL whose first renewal may come later than the others.
fn renewed_after(question: &mut LockQuestion, ttl: Duration, first: Duration) -> Reading {
    let reading = renewed(question, ttl);
    let half = question.renew_every.unwrap_or_default();
    if first <= half {
        return reading;
    }
    question.set_renew_every(Some(first));
    Reading::Setting(format!(
        "ttl {ttl}, renew-every {first}: the first renewal comes after half of SessionTTL, which is later than half of this TTL (RenewPeriodic of api/lock.go); set SessionTTL to {ttl}, too"
    ))
}

fn whole(source: &Source<'_>, member: &Member) -> Result<u64, ConfigurationError> {
    match &member.item.value {
        DocumentValue::Number(number) => {
            number.parse().map_err(|_| source.wrong(member, "a whole number that is not negative"))
        }
        _ => Err(source.wrong(member, "a whole number")),
    }
}

/// A duration as Go writes it, a number of nanoseconds; or one with a unit.
fn duration(source: &Source<'_>, member: &Member) -> Result<Duration, ConfigurationError> {
    match &member.item.value {
        DocumentValue::Text(text) => source.duration(member, text),
        DocumentValue::Number(number) => match number.parse::<i64>() {
            Ok(0) => Ok(Duration::ZERO),
            Ok(count) if count < NANOSECONDS_MIN => Err(source.error(
                member.item.place,
                format!("Go reads a bare number as nanoseconds, and {count} is less than a millisecond: write it with a unit, as \"15s\", or as 15000000000"),
            )),
            Ok(count) => source.duration(member, &format!("{count}ns")),
            Err(_) => Err(source.wrong(member, "a whole number of nanoseconds, or a text as \"15s\"")),
        },
        _ => Err(source.wrong(member, "a duration as \"15s\"")),
    }
}
