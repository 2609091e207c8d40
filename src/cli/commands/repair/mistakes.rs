//! An edit may take a mistake of a client, or a fault of a server, away, and brings none in: a client that spells its session's id differently is no
//! repair. Each service lists its own.

use fencepost::catalogue::CATALOGUE;
use toml::Value;

use super::edits::Edit;

/// Whether the edit of a scenario of this system brings a mistake in.
pub fn brings_mistake(system: &str, edit: &Edit) -> bool {
    let mistakes = CATALOGUE.service(system).map_or(&[][..], |service| service.mistakes());
    mistakes.iter().any(|(path, mistake)| {
        let has = |value: Option<&Value>| value_at(value, &edit.knob, path).is_some_and(|found| found == *mistake);
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
        let mut count = 0;
        for service in CATALOGUE.services() {
            for (path, value) in service.mistakes() {
                let knob = path.splitn(3, '.').take(2).collect::<Vec<_>>().join(".");
                let mut known = service.systems().iter().flat_map(|system| material.values(system, &knob));
                let system = service.systems()[0];
                let is_it = |known: &Value| value_at(Some(known), &knob, path).as_deref() == Some(*value);
                assert!(known.any(is_it), "{system}: {path} = {value}");
                count += 1;
            }
        }
        assert!(count > 20, "{count} mistakes");
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
