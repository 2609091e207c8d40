//! A test for each rule about the recipes, named after it. The harness runs one client; the test answers its requests.

mod lock;
mod semaphore;

use super::Participant;
use crate::{
    Answer, Claim, Command, Consul, ConsulEvent, ConsulMessage, Entry, Key, LOCK, LOCK_FLAGS, Listing, Monitor, OnLoss,
    Opaque, Request, SEMAPHORE_FLAGS, Semaphore, Settings, Slots, Spelling, Target, Timer, Watch,
};
use fencepost_model::fact::Fact;
use fencepost_model::ids::{Call, ClientId, Index, ProcessId, SessionId};
use fencepost_model::process::{Client, Context, Input, Message, Outbox, Process};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Instant, Ticks};

const ME: ClientId = ClientId(1);
const MINE: SessionId = SessionId::numbered(ME, 1);
const OTHERS: SessionId = SessionId::numbered(ClientId(2), 1);

/// A client, its clock, its last requests and its last facts.
struct ClientHarness {
    scenario: Scenario<Consul>,
    client: Participant,
    now: Instant,
    sent: Vec<(Call, Request)>,
    facts: Vec<Fact<Consul>>,
}

impl ClientHarness {
    fn new(system: &str, change: impl FnOnce(&mut Settings)) -> Self {
        let mut scenario = Scenario::<Consul>::new("harness").rounds(2).writes(1).service(change);
        scenario.system = system.to_owned();
        let client = Participant::all(&scenario, None)[0];
        ClientHarness { scenario, client, now: Instant::at(50), sent: Vec::new(), facts: Vec::new() }
    }

    fn feed(&mut self, input: Input<Consul>) -> Vec<Request> {
        let context = Context { scenario: &self.scenario, now: self.now, me: ME.into() };
        let mut out = Outbox::new();
        self.client.on(input, &context, &mut out);
        self.facts = out.facts().to_vec();
        let asked = out.messages().iter().filter_map(|(_, message)| match message {
            Message::Service(ConsulMessage::Request(call, request)) => Some((*call, *request)),
            _ => None,
        });
        let asked: Vec<(Call, Request)> = asked.collect();
        self.sent.extend(&asked);
        asked.into_iter().map(|(_, request)| request).collect()
    }

    fn command(&mut self, command: Command) -> Vec<Request> {
        self.feed(Input::Command(command))
    }

    fn wake(&mut self, timer: Timer) -> Vec<Request> {
        self.feed(Input::Wake(timer))
    }

    /// Answers the newest request that matches.
    fn tell(&mut self, wanted: impl Fn(&Request) -> bool, answer: Answer) -> Vec<Request> {
        let (call, _) =
            *self.sent.iter().rfind(|(_, request)| wanted(request)).expect("the client sent such a request");
        let message = Message::Service(ConsulMessage::Response(call, answer));
        self.feed(Input::Message { from: ProcessId::Server, message })
    }

    /// Answers the newest request.
    fn answer(&mut self, answer: Answer) -> Vec<Request> {
        self.tell(|_| true, answer)
    }

    fn is_inside(&self) -> bool {
        self.client.belief().is_inside
    }

    fn due(&self, wanted: Timer) -> Option<i64> {
        let mut found = None;
        self.client.wakes(&self.scenario, &mut |timer, due| {
            if timer == wanted {
                found = Some((due - self.now).count());
            }
        });
        found
    }

    /// Gets the lock.
    fn enter(&mut self) -> Vec<Request> {
        self.command(Command::Acquire);
        self.answer(Answer::Created(MINE));
        self.answer(Answer::Done(true))
    }
}

fn held_by(session: Option<SessionId>, modify: u32) -> Answer {
    let (create, modify) = (Index::numbered(3), Index::numbered(modify));
    Answer::Found(Entry {
        value: Opaque::Empty,
        flags: 0,
        lock_index: 1,
        session,
        spelling: Spelling::default(),
        create,
        modify,
    })
}

fn is_watch(request: &Request) -> bool {
    request.watch().is_some()
}
