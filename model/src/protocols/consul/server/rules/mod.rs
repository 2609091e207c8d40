//! A test for each rule about the server, named after it. The rules stand in `model/rules/consul.md`.

mod kv;
mod lock_delay;
mod log;
mod sessions;

use super::Server;
use crate::fact::{Ending, Fact, Refusal};
use crate::ids::{Call, ClientId, Index, ProcessId, SessionId};
use crate::process::{Context, Input, Message, Outbox, Process};
use crate::protocols::consul::{
    Answer, Behavior, Checks, Claim, Consul, Entry, Key, LOCK, Opaque, Request, Settings, Terms, Text, Timer,
};
use crate::scenario::Scenario;
use crate::time::{Instant, Ticks};

const A: ClientId = ClientId(1);
const B: ClientId = ClientId(2);
const OTHER: Key = Key::Other;

/// A server, a clock, and what became true.
struct Lab {
    scenario: Scenario<Consul>,
    server: Server,
    now: Instant,
    facts: Vec<Fact<Consul>>,
}

impl Lab {
    fn new() -> Self {
        Lab {
            scenario: Scenario::new("lab"),
            server: Server { index: Index(10), ..Server::default() },
            now: Instant::at(100),
            facts: Vec::new(),
        }
    }

    fn ask(&mut self, from: ClientId, request: Request) -> Answer {
        let context = Context { scenario: &self.scenario, now: self.now, me: ProcessId::Server };
        let mut out = Outbox::new();
        let message = Message::Service(Text::Ask(Call(1), request));
        self.server.on(Input::Message { from: from.into(), message }, &context, &mut out);
        self.facts = out.facts.iter().copied().collect();
        match out.messages[..] {
            [(to, Message::Service(Text::Tell(Call(1), answer)))] if to == from.into() => answer,
            ref other => panic!("one answer on the same call, not {other:?}"),
        }
    }

    fn session(&mut self, from: ClientId, terms: Terms) -> SessionId {
        match self.ask(from, Request::CreateSession(terms)) {
            Answer::Created(session) => session,
            other => panic!("{other:?}"),
        }
    }

    fn acquire(&mut self, from: ClientId, session: SessionId) -> Answer {
        self.ask(from, Request::Acquire(Claim { key: LOCK, session, value: Opaque::Name(from), flags: 0 }))
    }

    fn release(&mut self, from: ClientId, session: SessionId) -> Answer {
        self.ask(from, Request::Release(Claim { key: LOCK, session, value: Opaque::Empty, flags: 0 }))
    }

    fn put(&mut self, key: Key, value: Opaque, flags: u8) -> Answer {
        self.ask(B, Request::Put { key, value, flags })
    }

    fn entry(&mut self, key: Key) -> Entry {
        match self.ask(B, Request::Get(key)) {
            Answer::Found(entry) => entry,
            other => panic!("{other:?}"),
        }
    }

    fn pass(&mut self, ticks: i64) {
        self.now += Ticks::new(ticks);
    }

    /// When the session's timer fires.
    fn expiry(&self, session: SessionId) -> Option<i64> {
        let mut found = None;
        self.server.wakes(&self.scenario, &mut |timer, due| {
            if timer == Timer::Expire(session) {
                found = Some((due - self.now).count());
            }
        });
        found
    }

    fn expire(&mut self, session: SessionId) {
        let context = Context { scenario: &self.scenario, now: self.now, me: ProcessId::Server };
        let mut out = Outbox::new();
        self.server.on(Input::Wake(Timer::Expire(session)), &context, &mut out);
        self.facts = out.facts.iter().copied().collect();
    }
}

fn terms(ttl: i64, lock_delay: i64) -> Terms {
    Terms {
        ttl: (ttl > 0).then(|| Ticks::new(ttl)),
        lock_delay: Ticks::new(lock_delay),
        behavior: Behavior::Release,
        checks: Checks::default(),
    }
}

fn deleting(ttl: i64, lock_delay: i64) -> Terms {
    Terms { behavior: Behavior::Delete, ..terms(ttl, lock_delay) }
}

const YES: Answer = Answer::Done(true);
const NO: Answer = Answer::Done(false);
