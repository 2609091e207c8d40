//! What a run costs and what it gives: read off the facts and the worlds as they come, so that measuring changes nothing.

use fencepost_model::fact::{Ending, Fact, Leaving};
use fencepost_model::finding::Measurement;
use fencepost_model::ids::{ClientId, ProcessId, RawId, SessionId, Tenure};
use fencepost_model::process::Message;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::{Service, Settings as _};
use fencepost_model::time::{Instant, Ticks};
use fencepost_model::world::{Action, Condition, Fault, Step, World};

/// Measures a run while it is taken.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    taken: Measurement,
    clients: Vec<Watched>,
    /// How long a slot has been free while a client was waiting.
    idle: i64,
    /// Whether the lock was last freed by a failure detector's mistake.
    is_freed_by_mistake: bool,
    /// Clients that crashed inside and are on record as owners, and since when they have been dead.
    dead: Vec<(ClientId, Instant)>,
    /// The newest tenure that has written.
    touched: Tenure,
}

/// What is known of a client's sessions.
#[derive(Clone, Debug, Default)]
struct Watched {
    /// When it crashed, if no session of it has ended by itself since.
    crashed: Option<Instant>,
    /// Whether it has lost its session although it lived.
    is_mistaken: bool,
}

impl Meter {
    pub(crate) fn new(clients: usize) -> Self {
        Meter {
            taken: Measurement::default(),
            clients: vec![Watched::default(); clients],
            idle: 0,
            is_freed_by_mistake: false,
            dead: Vec::new(),
            touched: Tenure::default(),
        }
    }

    /// Looks at a step and at the world after it.
    pub(crate) fn look<P: Service>(
        &mut self,
        scenario: &Scenario<P>,
        world: &World<P>,
        action: &Action<P>,
        step: &Step<P>,
    ) {
        match action {
            Action::Advance(ticks) => self.pass(scenario, world, *ticks),
            Action::Fault(Fault::Crash(client)) => {
                let client = &mut self.clients[client.place()];
                (client.crashed, client.is_mistaken) = (Some(world.now), false);
            }
            _ => {}
        }
        let is_request = |message: &Message<P>| matches!(message, Message::Service(_));
        self.taken.requests +=
            step.sent.iter().filter(|sent| sent.to == ProcessId::Server && is_request(&sent.message)).count() as u64;
        let mistakes = self.taken.mistakes;
        for fact in &step.facts {
            self.hear(world, fact, mistakes);
        }
        if !step.facts.is_empty() && !self.dead.is_empty() {
            let owners = P::record(&world.server.process, scenario).owners;
            let (held, freed): (Vec<_>, Vec<_>) = self.dead.iter().partition(|(client, _)| owners.contains(client));
            self.taken.dead_holds.extend(freed.iter().map(|(_, since)| (world.now - *since).count()));
            self.dead = held;
        }
    }

    /// Time passes, and nothing else.
    fn pass<P: Service>(&mut self, scenario: &Scenario<P>, world: &World<P>, ticks: Ticks) {
        let ticks = ticks.count();
        let taken = &mut self.taken;
        let (inside, capacity) = (world.inside().count(), scenario.service.capacity());
        let is_idle = inside < capacity && world.waiting().next().is_some();
        taken.ticks += ticks;
        taken.inside += if inside > 0 { ticks } else { 0 };
        taken.overlap += if inside > capacity { ticks } else { 0 };
        taken.idle += if is_idle { ticks } else { 0 };
        taken.idle_by_mistake += if is_idle && self.is_freed_by_mistake { ticks } else { 0 };
        self.idle = if is_idle { self.idle + ticks } else { 0 };
        for (client, host) in self.clients.iter().zip(&world.clients) {
            let lives = host.condition != Condition::Down;
            taken.watched += if lives { ticks } else { 0 };
            taken.mistaken += if lives && client.is_mistaken { ticks } else { 0 };
        }
    }

    /// `mistakes`: how many there were before this step.
    fn hear<P: Service>(&mut self, world: &World<P>, fact: &Fact<P>, mistakes: u64) {
        match fact {
            Fact::Renewed { .. } | Fact::Expired { .. } | Fact::Ended { .. } | Fact::Destroyed { .. } => {
                self.taken.sessions += 1;
            }
            Fact::Written { tenure, .. } | Fact::WriteRefused { tenure, .. } => {
                self.taken.writes += u64::from(*tenure != Tenure::default());
            }
            _ => {}
        }
        match *fact {
            Fact::Granted { client, fresh, .. } => {
                self.is_freed_by_mistake &= !fresh;
                self.clients[client.place()].is_mistaken = false;
            }
            Fact::Freed { by } => {
                self.is_freed_by_mistake = by == Ending::Invalidated && self.taken.mistakes > mistakes;
            }
            Fact::Entered { .. } => {
                self.taken.entries += 1;
                self.taken.handovers.push(self.idle);
                self.idle = 0;
            }
            Fact::Left { client, why: Leaving::Crashed } => self.dead.push((client, world.now)),
            Fact::Renewed { session } => {
                if let Some(client) = self.clients.get_mut(session.raw().creator.place()) {
                    client.is_mistaken = false;
                }
            }
            Fact::Expired { session } | Fact::Ended { session } => self.lose(world, session),
            Fact::Written { tenure, .. } => {
                self.taken.stale_accepted += u64::from(tenure < self.touched);
                self.touched = self.touched.max(tenure);
            }
            Fact::WriteRefused { tenure, .. } => self.taken.stale_refused += u64::from(tenure < self.touched),
            _ => {}
        }
    }

    /// A session has ended by itself: because its client crashed, or by mistake. The first that ends after a crash is the one
    /// that the client had: a newer one is renewed, or bound to a check that is well again.
    fn lose<P: Service>(&mut self, world: &World<P>, session: SessionId) {
        let place = session.raw().creator.place();
        let Some(client) = self.clients.get_mut(place) else { return };
        match client.crashed.take() {
            Some(since) => self.taken.detections.push((world.now - since).count()),
            None if world.clients[place].condition != Condition::Down => {
                self.taken.mistakes += 1;
                client.is_mistaken = true;
            }
            None => {}
        }
    }

    /// What was measured, now that the run has ended.
    pub(crate) fn finish(mut self, now: Instant) -> Measurement {
        self.taken.held_at_the_end = self.dead.len() as u64;
        self.taken.dead_holds.extend(self.dead.iter().map(|(_, since)| (now - *since).count()));
        self.taken
    }
}
