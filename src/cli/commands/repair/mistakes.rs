//! Values of settings that are mistakes of a client, or faults of a server, and no choice of an operator. Scenarios have them to show what they
//! break. An edit may take one away, and never brings one in: a client that spells its session's id differently is no repair.

use fencepost::catalogue::CATALOGUE;
use toml::Value;

use super::edits::Edit;

/// A value that no operator chooses.
struct Mistake {
    /// The first system of its service.
    service: &'static str,
    /// The dotted path.
    path: &'static str,
    /// The value: a word, or `true` or `false`.
    value: &'static str,
}

const fn mistake(service: &'static str, path: &'static str, value: &'static str) -> Mistake {
    Mistake { service, path, value }
}

const CONSUL: &str = "consul-lock";
const RABBITMQ: &str = "rabbitmq-semaphore";
const STORES: &str = "token-pool";
const REDLOCK: &str = "redlock";
const OBSERVED: &str = "observed-lease";
const ETCD: &str = "etcd-mutex";

const MISTAKES: [Mistake; 26] = [
    // It spells the session's id differently in an acquire.
    mistake(CONSUL, "service.acquires_in", "capitals"),
    // It acquires with a session that it knows to be gone.
    mistake(CONSUL, "service.dead_session", "reuse"),
    // It works on after it was told that the lock is lost.
    mistake(CONSUL, "service.belief", "none"),
    // It deletes the key, whosever it is.
    mistake(CONSUL, "service.unlock", "delete"),
    // The processes that its shell has started go on.
    mistake(CONSUL, "service.job.killed", "shell"),
    // It publishes into the void, and takes no answer, or an error, for an answer.
    mistake(RABBITMQ, "service.probe", "publish-unchecked"),
    mistake(RABBITMQ, "service.probe", "passive-careless"),
    mistake(RABBITMQ, "service.silence", "absent"),
    mistake(RABBITMQ, "service.after_refusal", "goes-on"),
    // It gives back what may have been taken by another one since.
    mistake(STORES, "service.give_back", "unconditional"),
    mistake(STORES, "service.nodes", "anonymous"),
    // The lease is counted from when its answer came.
    mistake(REDLOCK, "service.validity", "from-answer"),
    // Faults of a store.
    mistake(OBSERVED, "service.validates", "false"),
    mistake(OBSERVED, "service.create_overwrites", "true"),
    mistake(OBSERVED, "service.delete_ignores_version", "true"),
    // The write names no version; the loss is heard, and nothing follows; an error counts as a success.
    mistake(OBSERVED, "service.conditional", "false"),
    mistake(OBSERVED, "service.callback", "ignored"),
    mistake(OBSERVED, "service.callback", "silent"),
    mistake(OBSERVED, "service.work", "unasked"),
    mistake(OBSERVED, "service.work_ends", "false"),
    mistake(OBSERVED, "service.holds_on_error", "true"),
    // Two candidates with one identity.
    mistake(OBSERVED, "service.identity", "shared"),
    mistake(ETCD, "service.shared_lease", "true"),
    // A user that never releases, a second lock below the first, and reads that are answered with those of others.
    mistake(ETCD, "service.leave", "abandon"),
    mistake(ETCD, "service.nested", "first"),
    mistake(ETCD, "service.reads", "reused-number"),
];

/// Whether the edit of a scenario of this system brings a mistake in.
pub fn brings_mistake(system: &str, edit: &Edit) -> bool {
    let service = CATALOGUE.service(system).map(|service| service.systems()[0]);
    MISTAKES.iter().filter(|mistake| Some(mistake.service) == service).any(|mistake| {
        let has = |value: Option<&Value>| {
            value_at(value, &edit.knob, mistake.path).is_some_and(|found| found == mistake.value)
        };
        has(edit.after.as_ref()) && !has(edit.before.as_ref())
    })
}

/// The value at a path, if it is the knob's or within it.
fn value_at(value: Option<&Value>, knob: &str, path: &str) -> Option<String> {
    let rest = path.strip_prefix(knob).filter(|rest| rest.is_empty() || rest.starts_with('.'))?;
    let mut value = value?;
    for key in rest.split('.').filter(|key| !key.is_empty()) {
        value = value.get(key)?;
    }
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Boolean(truth) => Some(truth.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use fencepost::registry::random::Material;

    use super::*;

    /// A mistake that no file can name is misspelt.
    #[test]
    fn every_mistake_is_a_value_that_files_have() {
        let material = Material::of(CATALOGUE);
        for Mistake { service, path, value } in MISTAKES {
            let systems = CATALOGUE.service(service).expect("a service").systems();
            let knob = path.splitn(3, '.').take(2).collect::<Vec<_>>().join(".");
            let mut known = systems.iter().flat_map(|system| material.values(system, &knob));
            assert!(
                known.any(|known| value_at(Some(known), &knob, path).as_deref() == Some(value)),
                "{service}: {path} = {value}"
            );
        }
    }

    #[test]
    fn a_mistake_is_taken_away_and_not_brought_in() {
        let word = |word: &str| Some(Value::String(word.to_owned()));
        let edit = |knob: &str, before, after| Edit { knob: knob.to_owned(), before, after };
        let capitals = edit("service.acquires_in", None, word("capitals"));
        assert!(brings_mistake("consul-lock", &capitals) && brings_mistake("consul-semaphore", &capitals));
        assert!(!brings_mistake("consul-lock", &edit("service.acquires_in", word("capitals"), word("small"))));
        assert!(!brings_mistake("lease", &capitals));
        let job = |killed: &str| format!("killed = \"{killed}\"\ngrace = 1").parse().ok().map(Value::Table);
        assert!(brings_mistake("consul-lock", &edit("service.job", None, job("shell"))));
        assert!(brings_mistake("consul-lock", &edit("service.job", job("group"), job("shell"))));
        assert!(!brings_mistake("consul-lock", &edit("service.job", job("shell"), job("group"))));
        assert!(!brings_mistake("consul-lock", &edit("service.job", job("shell"), None)));
    }
}
