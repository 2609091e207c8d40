//! Checks of assumptions against the state of the nodes, step by step.

use super::Redlock;
use super::messages::{RedlockFault, RedlockMessage};
use super::nodes::{Key, Nodes};
use super::settings::Grants;
use fencepost_model::assumption::{Execution, Moment};
use fencepost_model::fact::Fact;
use fencepost_model::ids::{ProcessId, RawId};
use fencepost_model::process::Message;
use fencepost_model::time::{Deadline, Ticks};
use fencepost_model::world::{Action, Envelope, Fault, World};

type Checked = Result<(), String>;
type RedlockExecution = Execution<Redlock>;

fn keys(world: &World<Redlock>) -> impl Iterator<Item = Option<Key>> + '_ {
    world.server.process.nodes.iter().map(|node| node.key)
}

/// For each node: its key before a step, and after it.
fn pairs<'a>(moment: &Moment<'a, Redlock>) -> impl Iterator<Item = (Option<Key>, Option<Key>)> + 'a {
    keys(moment.before).zip(keys(moment.after))
}

fn delivered(action: &Action<Redlock>) -> Option<RedlockMessage> {
    match action {
        Action::Deliver(Envelope { to: ProcessId::Server, message: Message::Service(text), .. }) => Some(*text),
        _ => None,
    }
}

impl Nodes {
    pub(super) fn count_is(run: &RedlockExecution, count: u8) -> Checked {
        run.each(|moment| match keys(moment.after).count() == usize::from(count) {
            true => Ok(()),
            false => Err("there are more or fewer nodes".to_owned()),
        })
    }

    /// A key that a request writes ends that long after the step.
    pub(super) fn keys_last(run: &RedlockExecution, lease: Ticks) -> Checked {
        run.each(|moment| {
            let now = moment.after.clock(ProcessId::Server);
            for (before, after) in pairs(moment).filter(|_| delivered(moment.action).is_some()) {
                let Some(key) = after.filter(|_| before != after) else { continue };
                if key.over != Some(Deadline(now + lease)) {
                    return Err("the key has another lease".to_owned());
                }
            }
            Ok(())
        })
    }

    /// The lock is granted in the step of the request, or in a step in which it is replicated.
    pub(super) fn grants_are(run: &RedlockExecution, grants: Grants) -> Checked {
        run.each(|moment| {
            let is_granted = moment.step.facts.iter().any(|fact| matches!(fact, Fact::Granted { fresh: true, .. }));
            let is_at_once = delivered(moment.action).is_some();
            let copies = keys(moment.after).flatten().count();
            let is_early = is_at_once && 2 * copies <= keys(moment.after).count();
            match (is_granted, grants) {
                (true, Grants::AtOnce) if !is_at_once => Err("the lock is granted later".to_owned()),
                (true, Grants::ByQuorum) if is_early => Err("the lock is granted before a majority has it".to_owned()),
                _ => Ok(()),
            }
        })
    }

    pub(super) fn restarts_keep(run: &RedlockExecution, keeps: bool) -> Checked {
        run.each(|moment| {
            let Action::Fault(Fault::Service(RedlockFault::Restart(number))) = *moment.action else { return Ok(()) };
            let (before, after) = pairs(moment).nth(usize::from(number) - 1).expect("the node is there");
            match (keeps, before, after) {
                (true, before, after) if before != after => Err("the node forgets its key".to_owned()),
                (false, _, Some(_)) => Err("the node keeps its key".to_owned()),
                _ => Ok(()),
            }
        })
    }

    /// A request to delete removes only the value that it names, and each value is written by one client.
    pub(super) fn only_writers_delete(run: &RedlockExecution) -> Checked {
        run.each(|moment| {
            let Some(RedlockMessage::Unlock(_, value)) = delivered(moment.action) else { return Ok(()) };
            let Action::Deliver(envelope) = moment.action else { return Ok(()) };
            let is_foreign = envelope.from.client() != Some(value.raw().creator);
            let removes_other = pairs(moment)
                .any(|(before, after)| after.is_none() && before.is_some_and(|key: Key| key.value != value));
            match is_foreign || removes_other {
                true => Err("a key is deleted by a client that has not written it".to_owned()),
                false => Ok(()),
            }
        })
    }
}
