//! The store: ordered entries, a counter, and a number of free slots. Every request is one atomic step.

use serde::{Deserialize, Serialize};

use super::messages::{Answer, Request, StoreMessage, Timer};
use super::settings::Reentry;
use super::{Stores, TOKENS};
use crate::StoresMutation;
use fencepost_model::fact::{Ending, Fact, Refusal};
use fencepost_model::ids::{ClientId, Index, RawId};
use fencepost_model::inline_vec::InlineVec;
use fencepost_model::normal::Normal;
use fencepost_model::process::{Context, Input, Message, Outbox, Process};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Record;
use fencepost_model::time::{Deadline, Instant, StartTime, Ticks};

/// The store.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Store {
    /// The number of free slots, if the system counts them.
    free: Option<u8>,
    /// The last number that was assigned.
    last: Index,
    /// The holders and waiters, in order.
    entries: InlineVec<Entry, 4>,
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
struct Entry {
    number: Index,
    owner: ClientId,
    /// The instant from which it is invalid; none: it stays valid.
    over: Option<Deadline>,
    /// The time of the owner's clock, if timestamps decide the order.
    stamp: Option<StartTime>,
}

impl Store {
    pub(super) fn new(scenario: &Scenario<Stores>) -> Self {
        let free = (scenario.system == TOKENS).then_some(scenario.service.limit);
        Store { free, last: Index::NONE, entries: InlineVec::new() }
    }

    pub(super) fn record(&self, scenario: &Scenario<Stores>) -> Record {
        let limit = scenario.service.limit;
        let takes = self.takes(scenario);
        let holders = self.entries.iter().take(if takes { usize::MAX } else { limit.into() });
        Record {
            owners: holders.map(|entry| entry.owner).collect(),
            slots: Some(limit.into()),
            token: self.last.token(),
            free: self.free.map(u16::from),
            ..Record::default()
        }
    }

    /// Whether an entry is a taken slot, and not a position in a queue.
    fn takes(&self, scenario: &Scenario<Stores>) -> bool {
        self.free.is_some() || scenario.system == super::RECORDS
    }

    fn place_of(&self, number: Index) -> Option<usize> {
        self.entries.iter().position(|entry| entry.number == number)
    }

    /// Inserts an entry at its position.
    fn add(&mut self, entry: Entry) {
        let place = self.entries.partition_point(|other| match (other.stamp, entry.stamp) {
            (Some(others), Some(mine)) => (others, other.owner) <= (mine, entry.owner),
            _ => other.number < entry.number,
        });
        self.entries.push(entry);
        self.entries[place..].rotate_right(1);
    }

    fn append(&mut self, owner: ClientId, over: Option<Deadline>, stamp: Option<StartTime>) -> Index {
        self.last = self.last.next();
        self.add(Entry { number: self.last, owner, over, stamp });
        self.last
    }

    fn remove(&mut self, number: Index, by: Ending, out: &mut Outbox<Stores>) -> bool {
        let Some(place) = self.place_of(number) else { return false };
        self.entries.remove(place);
        out.record(Fact::Freed { by });
        true
    }

    /// Removes invalid entries.
    fn reap(&mut self, context: &Context<'_, Stores>, out: &mut Outbox<Stores>) {
        let hurry = Ticks::new(i64::from(context.is_mutated(StoresMutation::ReapedTooEarly)));
        let is_over = |entry: &Entry| entry.over.is_some_and(|over| over.is_due(context.now + hurry));
        while let Some(number) = self.entries.iter().find(|entry| is_over(entry)).map(|entry| entry.number) {
            self.remove(number, Ending::Invalidated, out);
            if !context.is_mutated(StoresMutation::ReaperKeepsToken) {
                self.free.iter_mut().for_each(|free| *free += 1);
            }
        }
    }

    fn take(&mut self, client: ClientId, context: &Context<'_, Stores>, out: &mut Outbox<Stores>) -> Answer {
        let settings = &context.scenario.service;
        let over = settings.ttl_of(client).map(|ttl| Deadline(context.now + ttl));
        let mut grant = |number: Index, fresh: bool| {
            out.record(Fact::Granted { client, token: number.token(), fresh, stolen: false });
            Answer::Number(number)
        };
        if let Some(free) = &mut self.free {
            if let Some(rest) = free.checked_sub(1) {
                *free = rest;
                let over = settings.stale_after.map(|stale| Deadline(context.now + stale));
                return grant(self.append(client, over, None), true);
            }
        } else if settings.reentry != Reentry::Refused
            && let Some(place) = self.entries.iter().position(|entry| entry.owner == client)
        {
            if settings.reentry == Reentry::SameRecord {
                self.entries[place].over = over;
                return grant(self.entries[place].number, false);
            }
            self.entries.remove(place);
            return grant(self.append(client, over, None), false);
        } else if self.entries.len() < usize::from(settings.limit)
            || self.entries.len() == usize::from(settings.limit)
                && context.is_mutated(StoresMutation::RecordBeyondLimit)
        {
            return grant(self.append(client, over, None), true);
        }
        out.record(Fact::Refused { client, why: Refusal::Held });
        Answer::No
    }

    fn placed(
        &self,
        client: ClientId,
        number: Index,
        context: &Context<'_, Stores>,
        out: &mut Outbox<Stores>,
    ) -> Answer {
        let Some(place) = self.place_of(number) else { return Answer::No };
        if place < context.scenario.service.limit.into() {
            out.record(Fact::Granted { client, token: number.token(), fresh: true, stolen: false });
        } else {
            out.record(Fact::Refused { client, why: Refusal::Held });
        }
        Answer::Placed(number, u8::try_from(place).unwrap_or(u8::MAX))
    }

    fn answer(
        &mut self,
        client: ClientId,
        request: Request,
        context: &Context<'_, Stores>,
        out: &mut Outbox<Stores>,
    ) -> Answer {
        match request {
            Request::Take => {
                if context.scenario.system == super::RECORDS {
                    self.reap(context, out);
                }
                self.take(client, context, out)
            }
            Request::Reap => {
                self.reap(context, out);
                Answer::Yes
            }
            Request::Check(number) => self.place_of(number).map_or(Answer::No, |_| Answer::Yes),
            Request::Push(number) => {
                self.remove(number, Ending::Released, out);
                self.free.iter_mut().for_each(|free| *free += 1);
                Answer::Yes
            }
            Request::GiveBack(number) => {
                let is_there = self.remove(number, Ending::Released, out);
                let is_lax = context.is_mutated(StoresMutation::GivenBackTwice);
                self.free.iter_mut().filter(|_| is_there || is_lax).for_each(|free| *free += 1);
                if is_there { Answer::Yes } else { Answer::No }
            }
            Request::Draw => {
                self.last = self.last.next();
                Answer::Number(self.last)
            }
            Request::Insert(number) => {
                if self.place_of(number).is_none() {
                    self.add(Entry { number, owner: client, over: None, stamp: None });
                }
                Answer::Yes
            }
            Request::Join(stamp) => {
                let number = self.append(client, None, stamp);
                let answer = self.placed(client, number, context, out);
                // The script checks before it inserts; with timestamps, the client inserts first and then checks.
                let is_in = matches!(answer, Answer::Placed(_, before) if before < context.scenario.service.limit);
                if !is_in && stamp.is_none() {
                    if !context.is_mutated(StoresMutation::RefusedStaysRanked) {
                        self.entries.retain(|entry| entry.number != number);
                    }
                    return Answer::No;
                }
                answer
            }
            Request::Enqueue { named } => {
                let looks = named && !context.is_mutated(StoresMutation::NameIgnored);
                let mine = self.entries.iter().find(|entry| looks && entry.owner == client);
                Answer::Number(mine.map(|entry| entry.number).unwrap_or_else(|| self.append(client, None, None)))
            }
            Request::Place(number) => self.placed(client, number, context, out),
            Request::Remove(number) => {
                self.remove(number, Ending::Released, out);
                Answer::Yes
            }
        }
    }
}

impl Process<Stores> for Store {
    fn on(&mut self, input: Input<Stores>, context: &Context<'_, Stores>, out: &mut Outbox<Stores>) {
        let Input::Message { from, message: Message::Service(StoreMessage::Request(call, request)) } = input else {
            return;
        };
        let client = from.client().expect("only clients send requests");
        let answer = self.answer(client, request, context, out);
        out.send(from, StoreMessage::Response(call, answer));
    }

    fn wakes(&self, _: &Scenario<Stores>, _: &mut dyn FnMut(Timer, Instant)) {}

    fn restarted(&self, _: &Scenario<Stores>) -> Self {
        self.clone()
    }
}
