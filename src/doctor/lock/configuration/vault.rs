//! Vault's configuration: the `consul` stanza of `ha_storage`, or of `storage` where there is no other. Vault takes the Go client's Lock
//! with a session of `session_ttl`, bound to the checks that a session has by default, and with the default lock-delay.

use fencepost_model::units::Duration;

use super::document::{DocumentValue, Member};
use super::{Configuration, ConfigurationError, Field, Reading, Source, renewed};
use crate::lock::question::LockQuestion;

/// The names of the stanzas, the older ones last. One for high availability comes before the one for data.
pub(super) const STANZAS: [&str; 4] = ["ha_storage", "ha_backend", "storage", "backend"];

/// Fields that say how the lock is held, or how data is read.
const SETTINGS: [&str; 3] = ["session_ttl", "lock_wait_time", "consistency_mode"];

/// Fields that say how Consul is reached, and where things stand.
const ADDRESSES: [&str; 20] = [
    "address",
    "scheme",
    "path",
    "token",
    "max_parallel",
    "max_idle_connections",
    "service",
    "service_tags",
    "service_meta",
    "service_address",
    "service_tls_server_name",
    "disable_registration",
    "check_timeout",
    "redirect_addr",
    "advertise_addr",
    "cluster_addr",
    "disable_clustering",
    "datacenter",
    "namespace",
    "sni",
];

pub(super) fn read(source: &Source<'_>, members: &[Member]) -> Result<Configuration, ConfigurationError> {
    let stanza = STANZAS.into_iter().find_map(|name| members.iter().find(|member| member.name == name));
    let stanza = stanza.expect("the caller has seen one");
    let (backend, fields) = contents(source, stanza)?;
    if backend != "consul" {
        let message = format!(
            "the lock of this Vault is in `{backend}`: `doctor` judges locks in Consul, as `{} \"consul\" {{ … }}`",
            stanza.name
        );
        return Err(source.error(stanza.place, message));
    }
    source.no_doubles(fields)?;
    let mut question = LockQuestion::of_recipe("go-lock").expect("it is known");
    let mut read = Vec::new();
    for member in fields {
        read.push(Field::of(member, reading(source, member, &mut question)?));
    }
    for (name, meaning) in [
        ("session_ttl", "ttl 15s, renew-every 7.5s: DefaultLockSessionTTL of api/lock.go (C-LCK-1, C-API-2)"),
        ("lock_wait_time", "15s, DefaultLockWaitTime of api/lock.go: no verdict depends on it"),
    ] {
        if !fields.iter().any(|member| member.name == name) {
            read.push(Field::absent(name, Reading::Setting(meaning.to_owned())));
        }
    }
    for (name, meaning) in [
        ("lock-delay", "15s: Vault has no field for it, and the server takes its default (C-API-1)"),
        (
            "belief",
            "by-monitor: Vault steps down when the Go client's monitor closes its channel (C-LCK-6); recent versions also when renewals fail for a TTL, which is not judged",
        ),
        (
            "fencing",
            "not assumed: a Vault that has the change for hashicorp/vault#23013 checks its session in the transaction of each write; then add --fencing",
        ),
    ] {
        read.push(Field::absent(name, Reading::Setting(meaning.to_owned())));
    }
    let understood = source.checked(format!("`{}` of Vault in Consul", stanza.name), question, read)?;
    Ok(Configuration { without_field: vec!["lock-delay", "renew-every", "belief"], ..understood })
}

fn reading(source: &Source<'_>, member: &Member, question: &mut LockQuestion) -> Result<Reading, ConfigurationError> {
    let name = member.name.as_str();
    let without = |why: &str| Ok(Reading::WithoutEffect(why.to_owned()));
    match name {
        "session_ttl" => {
            let text = match &member.item.value {
                DocumentValue::Number(number) => number,
                _ => source.text(member)?,
            };
            if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
                let message = format!(
                    "`session_ttl` has no unit: Vault starts with it, and the Go client then refuses to make the lock; write \"{text}s\""
                );
                return Err(source.error(member.item.place, message));
            }
            let ttl = source.duration(member, text)?;
            Ok(renewed(question, ttl))
        }
        "lock_wait_time" => {
            let wait = seconds(source, member)?;
            without(&format!("{wait} is how long a standby's query for the lock waits"))
        }
        "consistency_mode" => {
            let mode = source.text(member)?;
            if mode != "default" && mode != "strong" {
                let message = format!("there is no consistency mode `{mode}`: write \"default\" or \"strong\"");
                return Err(source.error(member.item.place, message));
            }
            without("it is for reads of data; the lock's monitor always asks for a consistent read (C-LCK-6)")
        }
        "address" if is_here(source.text(member)?) => without(
            "it says how Consul is reached. This agent stands still with its machine: gossip may then give up its node, and the session with it; --false-alarm asks what follows",
        ),
        _ if ADDRESSES.contains(&name) || name.starts_with("tls_") => {
            without("it says how Consul is reached, or where things stand")
        }
        _ => Ok(Reading::unknown(name, SETTINGS.into_iter().chain(ADDRESSES))),
    }
}

/// Whether an agent is on the same machine.
fn is_here(address: &str) -> bool {
    let host = address.split_once("://").map_or(address, |(_, rest)| rest);
    ["127.", "localhost", "[::1]", "unix:"].iter().any(|here| host.starts_with(here) || address.starts_with(here))
}

/// A duration as Vault reads it: a number without a unit counts seconds.
fn seconds(source: &Source<'_>, member: &Member) -> Result<Duration, ConfigurationError> {
    let text = match &member.item.value {
        DocumentValue::Number(number) => number,
        _ => source.text(member)?,
    };
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return source.duration(member, &format!("{text}s"));
    }
    source.duration(member, text)
}

/// The backend that a stanza names, and its fields: `storage "consul" { … }`, or `"storage": {"consul": { … }}`, or that in a list.
fn contents<'a>(source: &Source<'_>, stanza: &'a Member) -> Result<(&'a str, &'a [Member]), ConfigurationError> {
    let example = format!("write `{} \"consul\" {{ … }}`", stanza.name);
    let item = match &stanza.item.value {
        DocumentValue::List(items) if items.len() == 1 => &items[0],
        _ => &stanza.item,
    };
    let DocumentValue::Block(members) = &item.value else {
        return Err(source.error(item.place, format!("`{}` is a block: {example}", stanza.name)));
    };
    match (&stanza.labels[..], &members[..]) {
        ([backend], fields) => Ok((backend, fields)),
        ([], [inner]) => {
            let item = match &inner.item.value {
                DocumentValue::List(items) if items.len() == 1 => &items[0],
                _ => &inner.item,
            };
            match &item.value {
                DocumentValue::Block(fields) => Ok((&inner.name, fields)),
                _ => Err(source.error(item.place, format!("`{}` names one backend: {example}", stanza.name))),
            }
        }
        _ => Err(source.error(stanza.place, format!("`{}` names one backend: {example}", stanza.name))),
    }
}
