//! A test for each rule about the server, named after it. The rules are in `model/services/consul/rules.md`.

mod catalog;
mod deposed;
mod kv;
mod leader;
mod lock_delay;
mod log;
mod queries;
mod reads;
mod sessions;
mod transactions;

use super::{ConsulFault, Node, Server, Status};
use crate::settings::{CheckKind, Expiry, Log};
use crate::{
    Answer, Behavior, Checks, Claim, Consul, ConsulEvent, ConsulMessage, Entry, Key, LOCK, Opaque, Operation, Plain,
    Prefix, Request, Settings, Slots, Spelling, Target, Terms, Timer, Transaction, Watch,
};
use fencepost_model::fact::{Ending, Fact, Refusal};
use fencepost_model::ids::{Call, ClientId, Index, ProcessId, SessionId};
use fencepost_model::process::{Context, Input, Message, Outbox, Process};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Instant, Ticks};

const A: ClientId = ClientId(1);
const B: ClientId = ClientId(2);
const OTHER: Key = Key::Other;

/// A server, a clock, and what became true.
struct ServerHarness {
    scenario: Scenario<Consul>,
    server: Server,
    now: Instant,
    facts: Vec<Fact<Consul>>,
}

impl ServerHarness {
    fn new() -> Self {
        ServerHarness {
            scenario: Scenario::new("harness"),
            server: Server { index: Index::numbered(10), ..Server::default() },
            now: Instant::at(100),
            facts: Vec::new(),
        }
    }

    fn ask(&mut self, from: ClientId, request: Request) -> Answer {
        let context = Context { scenario: &self.scenario, now: self.now, me: ProcessId::Server };
        let mut out = Outbox::new();
        let message = Message::Service(ConsulMessage::Request(Call(1), request));
        self.server.on(Input::Message { from: from.into(), message }, &context, &mut out);
        self.facts = out.facts().to_vec();
        match *out.messages() {
            [(to, Message::Service(ConsulMessage::Response(Call(1), answer)))] if to == from.into() => answer,
            ref other => panic!("one answer on the same call, not {other:?}"),
        }
    }

    /// The same where the response may come later, or other clients may receive responses as well.
    fn send(&mut self, from: ClientId, call: u16, request: Request) -> Vec<(ProcessId, Answer)> {
        self.feed(Input::Message {
            from: from.into(),
            message: Message::Service(ConsulMessage::Request(Call(call), request)),
        })
    }

    fn wake(&mut self, timer: Timer) -> Vec<(ProcessId, Answer)> {
        self.feed(Input::Wake(timer))
    }

    fn feed(&mut self, input: Input<Consul>) -> Vec<(ProcessId, Answer)> {
        let context = Context { scenario: &self.scenario, now: self.now, me: ProcessId::Server };
        let mut out = Outbox::new();
        self.server.on(input, &context, &mut out);
        self.note(&out)
    }

    /// Writes down the facts, and returns the answers.
    fn note(&mut self, out: &Outbox<Consul>) -> Vec<(ProcessId, Answer)> {
        self.facts = out.facts().to_vec();
        let answer = |(to, message): &(ProcessId, Message<Consul>)| match message {
            Message::Service(ConsulMessage::Response(_, answer)) => (*to, *answer),
            other => panic!("the server only answers: {other:?}"),
        };
        out.messages().iter().map(answer).collect()
    }

    /// Carries out a fault of the service.
    fn suffer(&mut self, fault: ConsulFault) -> Vec<(ProcessId, Answer)> {
        let mut world = self.scenario.start();
        std::mem::swap(&mut world.server.process, &mut self.server);
        let context = Context { scenario: &self.scenario, now: self.now, me: ProcessId::Server };
        let mut out = Outbox::new();
        Server::suffer(&mut world, fault, &context, &mut out);
        std::mem::swap(&mut world.server.process, &mut self.server);
        self.note(&out)
    }

    /// The due timers, with the number of ticks from now.
    fn due(&self, wanted: Timer) -> Option<i64> {
        let mut found = None;
        self.server.wakes(&self.scenario, &mut |timer, due| {
            if timer == wanted {
                found = Some((due - self.now).count());
            }
        });
        found
    }

    fn session(&mut self, from: ClientId, terms: Terms) -> SessionId {
        match self.ask(from, Request::CreateSession(terms)) {
            Answer::Created(session) => session,
            other => panic!("{other:?}"),
        }
    }

    fn acquire(&mut self, from: ClientId, session: SessionId) -> Answer {
        self.ask(from, Request::Acquire(Claim::new(LOCK, session, Opaque::Name(from), 0)))
    }

    fn release(&mut self, from: ClientId, session: SessionId) -> Answer {
        self.ask(from, Request::Release(Claim::new(LOCK, session, Opaque::Empty, 0)))
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
        self.due(Timer::Expire(session))
    }

    fn expire(&mut self, session: SessionId) {
        self.wake(Timer::Expire(session));
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
