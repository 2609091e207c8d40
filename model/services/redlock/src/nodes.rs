//! The nodes: each has one key. They are independent of each other, or a leader replicates its key.

use serde::{Deserialize, Serialize};

use super::messages::{LockValue, RedlockFault, RedlockMessage, Timer};
use super::settings::{Grants, Settings};
use super::{COPIED, Redlock};
use crate::RedlockMutation;
use fencepost_model::fact::{Ending, Fact, Refusal};
use fencepost_model::ids::{ClientId, Index, RawId, Token};
use fencepost_model::inline_vec::InlineVec;
use fencepost_model::normal::Normal;
use fencepost_model::process::{Context, Input, Message, Outbox, Process};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Record;
use fencepost_model::time::{Deadline, Instant};
use fencepost_model::world::World;

/// All nodes.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Nodes {
    pub(super) nodes: InlineVec<Node, 3>,
    /// The number of writes so far, on all sides of a partition.
    last: Index,
    /// The leader's number, from 1, if there is a leader.
    leader: u8,
    /// The node that cannot reach the others.
    apart: Option<u8>,
    /// The clients that the service has granted the lock to, and that have not released it.
    #[normal(sorted)]
    promised: InlineVec<ClientId, 2>,
}

/// One node.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default, Normal, Serialize, Deserialize)]
pub(super) struct Node {
    pub(super) key: Option<Key>,
    /// The instant from which a restarted node responds.
    back: Option<Deadline>,
    is_gone: bool,
    /// The version of its key.
    version: Index,
    /// The instant since which its key has not been replicated.
    ahead: Option<Deadline>,
    /// The value of the request that it answers after a majority has the key.
    owed: Option<LockValue>,
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
pub(super) struct Key {
    pub(super) value: LockValue,
    /// The end of its lease; none: there is no lease.
    pub(super) over: Option<Deadline>,
}

type Ctx<'a> = Context<'a, Redlock>;
type Out<'a> = &'a mut Outbox<Redlock>;

impl Nodes {
    pub(super) fn new(scenario: &Scenario<Redlock>) -> Self {
        let nodes = (0..scenario.service.nodes).map(|_| Node::default()).collect();
        Nodes {
            nodes,
            last: Index::NONE,
            leader: u8::from(scenario.system == COPIED),
            apart: None,
            promised: InlineVec::new(),
        }
    }

    pub(super) fn record(&self) -> Record {
        let owners = if self.leader > 0 {
            self.promised.clone()
        } else {
            let mut owners: InlineVec<ClientId, 2> = InlineVec::new();
            for key in self.nodes.iter().filter_map(|node| node.key) {
                let count = self.nodes.iter().filter(|node| node.key.is_some_and(|other| other.value == key.value));
                if count.count() > self.nodes.len() / 2 && !owners.contains(&key.value.raw().creator) {
                    owners.push(key.value.raw().creator);
                }
            }
            owners
        };
        Record { owners, token: Token::NONE, ..Record::default() }
    }

    fn at(&mut self, number: u8) -> &mut Node {
        &mut self.nodes[usize::from(number) - 1]
    }

    fn numbers(&self) -> std::ops::RangeInclusive<u8> {
        1..=u8::try_from(self.nodes.len()).expect("few nodes")
    }

    fn is_gone(&self, number: u8) -> bool {
        self.nodes[usize::from(number) - 1].is_gone
    }

    /// Whether two nodes reach each other.
    fn reach(&self, one: u8, other: u8) -> bool {
        let is_apart = |number: u8| self.apart == Some(number);
        !self.is_gone(one) && !self.is_gone(other) && is_apart(one) == is_apart(other)
    }

    /// The reachable node with the newest key; the node itself, if none is newer.
    fn newest_in_reach_of(&self, number: u8) -> u8 {
        let version = |number: &u8| self.nodes[usize::from(*number) - 1].version;
        let reached = self.numbers().rev().filter(|other| self.reach(number, *other));
        reached.max_by_key(version).unwrap_or(number)
    }

    /// The leader that a client reaches. Every other client is on the side of the node that is cut off.
    fn leader_for(&self, client: ClientId) -> u8 {
        match self.apart {
            Some(apart) if client.place() % 2 == 1 => apart,
            _ => self.leader,
        }
    }

    /// The number of nodes with the same key as the node.
    fn copies(&self, number: u8) -> usize {
        self.numbers().filter(|other| self.reach(number, *other)).count()
    }

    /// Notes that a node's key has not been replicated.
    fn write(&mut self, number: u8, context: &Ctx<'_>) {
        self.last = self.last.next();
        let last = self.last;
        let node = self.at(number);
        node.version = last;
        node.ahead.get_or_insert(Deadline(context.now));
    }

    fn promise(&mut self, client: ClientId, out: Out<'_>) {
        let stolen = self.promised.iter().any(|other| *other != client);
        self.promised.retain(|other| *other != client);
        self.promised.insert_sorted(client);
        out.record(Fact::Granted { client, token: Token::NONE, fresh: true, stolen });
    }

    fn lock(&mut self, named: u8, value: LockValue, context: &Ctx<'_>, out: Out<'_>) {
        let client = value.raw().creator;
        let settings = &context.scenario.service;
        let number = if named == 0 { self.leader_for(client) } else { named };
        let node = self.at(number);
        if node.is_gone || node.back.is_some_and(|back| !back.is_due(context.now)) {
            return;
        }
        node.back = None;
        if node.key.is_some_and(|key| key.over.is_none_or(|over| !over.is_due(context.now)) && key.value != value) {
            out.record(Fact::Refused { client, why: Refusal::Held });
            out.send(client.into(), RedlockMessage::Held(named, value));
            return;
        }
        let over = (named > 0).then(|| Deadline(context.now + settings.lease()));
        node.key = Some(Key { value, over });
        if named == 0 {
            self.write(number, context);
            if settings.grants == Grants::ByQuorum && !context.is_mutated(RedlockMutation::PromisedUncopied) {
                self.at(number).owed = Some(value);
                return;
            }
            self.promise(client, out);
        }
        out.send(client.into(), RedlockMessage::Locked(named, value));
    }

    fn unlock(&mut self, named: u8, value: LockValue, context: &Ctx<'_>, out: Out<'_>) {
        let client = value.raw().creator;
        let number = if named == 0 { self.leader_for(client) } else { named };
        let node = self.at(number);
        let is_foreign = node.key.is_none_or(|key| key.value != value);
        if node.is_gone || is_foreign && !context.is_mutated(RedlockMutation::UnlocksForeign) {
            return;
        }
        node.key = None;
        if named == 0 {
            self.write(number, context);
            self.promised.take(&client);
            out.record(Fact::Freed { by: Ending::Released });
        }
    }

    /// A node replicates its key to the nodes that it can reach, and answers clients that wait for a majority.
    fn copy(&mut self, number: u8, out: Out<'_>) {
        let Node { key, version, owed, .. } = *self.at(number);
        for other in self.numbers().filter(|other| *other != number) {
            if self.reach(number, other) {
                let node = self.at(other);
                (node.key, node.version) = (key, version);
            }
        }
        let is_enough = self.copies(number) > self.nodes.len() / 2;
        let node = self.at(number);
        node.ahead = None;
        if let Some(value) = owed.filter(|_| is_enough) {
            node.owed = None;
            self.promise(value.raw().creator, out);
            out.send(value.raw().creator.into(), RedlockMessage::Locked(0, value));
        }
    }

    pub(super) fn offer_faults(
        world: &World<Redlock>,
        scenario: &Scenario<Redlock>,
        offer: &mut dyn FnMut(RedlockFault),
    ) {
        let nodes = &world.server.process;
        let affords = |kind: usize| world.left.affords(kind);
        let Settings { jumps, fails, splits, .. } = scenario.service;
        let is_whole = nodes.apart.is_none();
        for number in nodes.numbers() {
            if affords(RedlockFault::RESTART) {
                offer(RedlockFault::Restart(number));
            }
            if jumps && affords(RedlockFault::JUMP) {
                offer(RedlockFault::Jump(number));
            }
            if fails && affords(RedlockFault::CRASH) && is_whole && nodes.leader == number && nodes.copies(number) > 1 {
                offer(RedlockFault::Fail(number));
            }
            if splits && affords(RedlockFault::SPLIT) && is_whole && nodes.copies(number) > 1 {
                offer(RedlockFault::Split(number));
            }
        }
        if !is_whole {
            offer(RedlockFault::Heal);
        }
    }

    pub(super) fn suffer(world: &mut World<Redlock>, fault: RedlockFault, context: &Ctx<'_>) {
        let nodes = &mut world.server.process;
        let settings = &context.scenario.service;
        match fault {
            RedlockFault::Restart(number) => {
                let node = nodes.at(number);
                let is_slow =
                    settings.restart_delay.count() > 0 && !context.is_mutated(RedlockMutation::AnswersAfterRestart);
                node.back = is_slow.then(|| Deadline(context.now + settings.restart_delay));
                if !settings.keeps || context.is_mutated(RedlockMutation::RestartForgetsKey) {
                    node.key = None;
                }
            }
            RedlockFault::Jump(number) => {
                let node = nodes.at(number);
                node.key = node.key.filter(|key| key.over.is_none());
            }
            RedlockFault::Fail(number) => {
                *nodes.at(number) = Node { is_gone: true, ..Node::default() };
                nodes.elect();
            }
            RedlockFault::Split(number) => {
                nodes.apart = Some(number);
                nodes.elect();
            }
            RedlockFault::Heal => {
                nodes.apart = None;
                let leader = nodes.leader;
                let Node { key, version, .. } = *nodes.at(leader);
                for number in nodes.numbers().filter(|number| *number != leader) {
                    let node = nodes.at(number);
                    if !node.is_gone && !context.is_mutated(RedlockMutation::HealKeepsBoth) {
                        *node = Node { key, version, ..Node::default() };
                    }
                }
            }
        }
    }

    /// If the leader has failed or is cut off, the node with the newest key becomes leader.
    fn elect(&mut self) {
        let is_able = |number: &u8| !self.is_gone(*number) && self.apart != Some(*number);
        if is_able(&self.leader) {
            return;
        }
        let some = self.numbers().find(is_able);
        self.leader = some.map_or(self.leader, |some| self.newest_in_reach_of(some));
    }
}

impl Process<Redlock> for Nodes {
    fn on(&mut self, input: Input<Redlock>, context: &Ctx<'_>, out: Out<'_>) {
        match input {
            Input::Message { message: Message::Service(RedlockMessage::Lock(node, value)), .. } => {
                self.lock(node, value, context, out);
            }
            Input::Message { message: Message::Service(RedlockMessage::Unlock(node, value)), .. } => {
                self.unlock(node, value, context, out);
            }
            Input::Wake(Timer::Copy(number)) => self.copy(number, out),
            _ => {}
        }
    }

    fn wakes(&self, _: &Scenario<Redlock>, due: &mut dyn FnMut(Timer, Instant)) {
        for number in self.numbers() {
            if let Some(ahead) = self.nodes[usize::from(number) - 1].ahead {
                due(Timer::Copy(number), ahead.0);
            }
        }
    }

    fn restarted(&self, _: &Scenario<Redlock>) -> Self {
        self.clone()
    }
}
