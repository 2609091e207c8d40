//! The queues that a killed run leaves behind, recognised by their names. AMQP lists no queues; rabbitmqctl does.

use std::collections::BTreeSet;

use super::broker::Broker;
use super::hunt::make_room;
use crate::ConformError;
use crate::restart::shell;

/// What the names of a sequence's queues end with.
const ENDS: [&str; 3] = ["-1-A", "-1-B", "-mutex"];

impl Broker {
    /// Deletes the queues that runs with any seed have left behind, and no other. The shell command is rabbitmqctl for the broker. The
    /// beginnings of their names, one for each sequence.
    ///
    /// # Errors
    /// The command fails; the broker cannot be talked to; a queue is one of a connection that is open.
    pub fn remove_leftovers(&self, rabbitmqctl: &str) -> Result<Vec<String>, ConformError> {
        let listed = shell(&format!("{rabbitmqctl} list_queues name --quiet"))?;
        let prefixes: BTreeSet<&str> = listed.lines().filter_map(|name| prefix(name.trim())).collect();
        let mut remover = self.clone();
        remover.removes_leftovers = true;
        prefixes.iter().try_for_each(|prefix| make_room(&remover, prefix))?;
        Ok(prefixes.into_iter().map(str::to_owned).collect())
    }
}

/// The sequence that a queue is one of, as runs name them: `fencepost-SEED-NUMBER`, in traffic `fencepost-SEED-tNUMBER`.
fn prefix(queue: &str) -> Option<&str> {
    let prefix = ENDS.iter().find_map(|end| queue.strip_suffix(end))?;
    let (seed, number) = prefix.strip_prefix("fencepost-")?.split_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_one = is_number(seed) && is_number(number.strip_prefix('t').unwrap_or(number));
    is_one.then_some(prefix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queues_of_runs_with_any_seed_are_recognised_by_their_names() {
        assert_eq!(prefix("fencepost-0-17-1-A"), Some("fencepost-0-17"));
        assert_eq!(prefix("fencepost-18446744073709551615-t3-1-B"), Some("fencepost-18446744073709551615-t3"));
        assert_eq!(prefix("fencepost-4-5-mutex"), Some("fencepost-4-5"));
        let others = [
            "fencepost-4-5",
            "fencepost-4-1-A",
            "fencepost-x-5-1-A",
            "my-fencepost-4-5-1-A",
            "fencepost-4-5-2-A",
            "name",
            "",
        ];
        assert_eq!(others.map(prefix), [None; 7]);
    }
}
