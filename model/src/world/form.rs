//! The normal form: worlds that differ only in values without absolute meaning become equal.
//!
//! Instants are shifted so that now is 0, and what lies further back than any comparison looks is clamped (Lamport,
//! CHARME 2005). Indexes, tenures, calls and the numbers of sessions keep their order only. Interchangeable clients stand in
//! the order of what can be seen of them. `step` never normalises: the checker does it after each step of the search.
//!
//! A step changes little of a world. So what is known of its parts (the names in it, a hash) is kept beside the world, and
//! only the parts that differ from those before the step are looked at again.

use std::hash::{Hash, Hasher};
use std::ops::Deref;

use serde::{Deserialize, Serialize};

use super::World;
use super::names::{Look, Looking, Names, Rewriting, Rules, Small};
use super::normal::{Normal, Visitor};
use super::symmetry::Symmetry;
use crate::hash::{Fingerprinter, Packer};
use crate::ids::{ClientId, ProcessId};
use crate::list::List;
use crate::protocol::Protocol;
use crate::scenario::Scenario;
use crate::time::{Instant, Ticks};

/// How the worlds of a scenario are brought into normal form.
#[derive(Clone, Debug)]
pub struct NormalForm {
    rules: Rules,
    symmetry: Symmetry,
}

/// A world in normal form.
#[derive(PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Formed<P: Protocol> {
    world: World<P>,
    parts: Parts,
}

/// What is known of the parts of a world: of each client, of the server, of what is remembered, of each message.
#[derive(PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct Parts {
    list: List<Part, 10>,
    /// Of all of them together.
    fingerprint: u64,
}

/// What is known of a part.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct Part {
    look: Look,
    hash: u64,
    /// What can be seen of a client by whoever does not know its name: a hash.
    outside: u64,
    /// Whether it differs from the part before the step.
    is_new: bool,
}

/// Behind the clients come the server and what is remembered (resource and ghosts), then the messages.
const OTHERS: usize = 2;

impl Clone for Parts {
    fn clone(&self) -> Self {
        Parts { list: self.list.clone(), fingerprint: self.fingerprint }
    }

    fn clone_from(&mut self, other: &Self) {
        self.list.clone_from(&other.list);
        self.fingerprint = other.fingerprint;
    }
}

impl<P: Protocol> Clone for Formed<P> {
    fn clone(&self) -> Self {
        Formed { world: self.world.clone(), parts: self.parts.clone() }
    }

    fn clone_from(&mut self, other: &Self) {
        self.world.clone_from(&other.world);
        self.parts.clone_from(&other.parts);
    }
}

impl<P: Protocol> Deref for Formed<P> {
    type Target = World<P>;
    fn deref(&self) -> &World<P> {
        &self.world
    }
}

impl<P: Protocol> Formed<P> {
    /// 64 bits that tell it from other worlds; the same on every machine.
    pub fn fingerprint(&self) -> u64 {
        self.parts.fingerprint
    }

    /// The world, to take a step in; afterwards it has to be [brought into form](NormalForm::renew) again.
    pub fn world_mut(&mut self) -> &mut World<P> {
        &mut self.world
    }

    /// Takes back a step from a world, after it was brought into form.
    pub fn undo(&mut self, before: &Self) {
        let clients = self.world.clients.len();
        let is_new = |place: usize| self.parts.list[place].is_new;
        for place in (0..clients).filter(|place| is_new(*place)) {
            self.world.clients[place] = before.world.clients[place];
        }
        if is_new(clients) {
            self.world.server.clone_from(&before.world.server);
        }
        if is_new(clients + 1) {
            self.world.resource = before.world.resource;
            self.world.ghosts.clone_from(&before.world.ghosts);
        }
        if self.world.network.len() != before.world.network.len()
            || (clients + OTHERS..self.parts.list.len()).any(is_new)
        {
            self.world.network.clone_from(&before.world.network);
        }
        self.world.now = before.world.now;
        self.world.left = before.world.left;
        self.world.cuts.clone_from(&before.world.cuts);
    }
}

impl NormalForm {
    /// That of a scenario, in which some clients are interchangeable.
    pub fn new<P: Protocol>(scenario: &Scenario<P>, symmetry: Symmetry) -> Self {
        NormalForm { rules: Rules::of(scenario), symmetry }
    }

    /// Which clients are interchangeable.
    pub fn symmetry(&self) -> &Symmetry {
        &self.symmetry
    }

    /// Brings a world into form.
    pub fn form<P: Protocol>(&self, mut world: World<P>) -> Formed<P> {
        let mut parts = Parts::default();
        self.bring(&mut world, &mut parts);
        Formed { world, parts }
    }

    /// Brings a world into form in which one step was taken, by the processes that it touched; before it, it was like the
    /// other one.
    pub fn renew<P: Protocol>(&self, next: &mut Formed<P>, before: &Formed<P>, touched: &[ProcessId]) {
        let Formed { world, parts } = next;
        if world.now != before.world.now {
            return self.bring(world, parts);
        }
        parts.keep(world, before, touched);
        self.finish(world, parts);
    }

    /// Brings a world into form of which nothing is known.
    fn bring<P: Protocol>(&self, world: &mut World<P>, parts: &mut Parts) {
        let count = world.clients.len() + OTHERS + world.network.len();
        parts.list.clear();
        (0..count).for_each(|_| parts.list.push(Part::NEW));
        self.finish(world, parts);
    }

    fn finish<P: Protocol>(&self, world: &mut World<P>, parts: &mut Parts) {
        self.name(world, parts);
        if !self.symmetry.is_none() {
            let clients = world.clients.len();
            for (place, part) in parts.list.iter_mut().enumerate().take(clients).filter(|(_, part)| part.is_new) {
                part.outside = world.outside(place);
            }
            let outside = |place: usize| parts.list[place].outside ^ u64::from(world.ghosts.held[place].0);
            if let Some(order) = world.order(&self.symmetry, outside) {
                let known: List<u64, 4> = order.iter().map(|place| parts.list[usize::from(*place)].outside).collect();
                world.arrange(&order);
                parts.list.iter_mut().for_each(|part| *part = Part::NEW);
                self.name(world, parts);
                for (part, outside) in parts.list.iter_mut().zip(&known) {
                    part.outside = *outside;
                }
            }
        }
        parts.sum_up(world);
    }

    /// Gives everything that is new its name, and each of these parts its hash.
    fn name<P: Protocol>(&self, world: &mut World<P>, parts: &mut Parts) {
        let oldest = world.clock(ProcessId::Server) - self.rules.back;
        if parts.list[world.clients.len()].is_new {
            world.server.process.settle(oldest);
        }
        let shift = world.now - Instant::START;
        parts.look(world, &self.rules);
        parts.rename(world, &self.rules, shift);
        world.now = Instant::START;
        parts.order(world);
        parts.hash(world);
    }
}

impl Parts {
    /// Keeps what is known of parts that are as they were before a step.
    fn keep<P: Protocol>(&mut self, world: &World<P>, before: &Formed<P>, touched: &[ProcessId]) {
        let clients = world.clients.len();
        let (fixed, messages) = before.parts.list.split_at(clients + OTHERS);
        self.list.clear();
        for part in fixed {
            self.list.push(Part { is_new: false, ..*part });
        }
        for process in touched {
            match process {
                ProcessId::Client(client) => self.list[client.place()] = Part::NEW,
                ProcessId::Server => self.list[clients] = Part::NEW,
                ProcessId::Resource => {}
            }
        }
        if world.resource != before.world.resource || world.ghosts != before.world.ghosts {
            self.list[clients + 1] = Part::NEW;
        }
        // A step takes out a message, or adds some: those before and after it stand next to each other.
        let mut next = 0;
        for envelope in world.network.iter() {
            let known = (next..messages.len().min(next + 2)).find(|other| before.world.network[*other] == *envelope);
            self.list.push(match known {
                Some(known) => {
                    next = known + 1;
                    Part { is_new: false, ..messages[known] }
                }
                None => Part::NEW,
            });
        }
    }

    fn look<P: Protocol>(&mut self, world: &mut World<P>, rules: &Rules) {
        for (place, part) in self.list.iter_mut().enumerate().filter(|(_, part)| part.is_new) {
            let mut looking = Looking::new(rules);
            visit(world, place, &mut looking);
            part.look = looking.look;
        }
    }

    /// Gives new names where there are gaps.
    fn rename<P: Protocol>(&mut self, world: &mut World<P>, rules: &Rules, shift: Ticks) {
        let mut small = Small::default();
        let mut has_large = false;
        for part in &self.list {
            small.join(&part.look.small);
            has_large |= part.look.has_large;
        }
        let beyond = small.beyond();
        if !self.list.iter().any(|part| part.look.is_affected(&beyond, shift)) {
            return;
        }
        let mut large = Looking::new(rules);
        for place in (0..self.list.len()).filter(|_| has_large) {
            visit(world, place, &mut large);
        }
        let names = Names::new(small, large, shift);
        for (place, part) in self.list.iter_mut().enumerate() {
            if part.look.is_affected(&beyond, shift) {
                let mut rewriting = Rewriting::new(&names, rules);
                visit(world, place, &mut rewriting);
                *part = Part { look: rewriting.after.look, ..Part::NEW };
            }
        }
    }

    /// Restores the order of what is sorted.
    fn order<P: Protocol>(&mut self, world: &mut World<P>) {
        let clients = world.clients.len();
        if self.list[clients].is_new {
            world.server.process.sort();
        }
        if self.list[clients + 1].is_new {
            world.ghosts.sort();
        }
        let messages = &mut self.list[clients + OTHERS..];
        let envelopes = world.network.slots();
        for place in 0..messages.len() {
            if messages[place].is_new {
                envelopes[place].message.sort();
            }
            let mut place = place;
            while place > 0 && envelopes[place] < envelopes[place - 1] {
                envelopes.swap(place, place - 1);
                messages.swap(place, place - 1);
                place -= 1;
            }
        }
    }

    fn hash<P: Protocol>(&mut self, world: &World<P>) {
        for (place, part) in self.list.iter_mut().enumerate() {
            if part.is_new {
                part.hash = hash(world, place);
            }
        }
    }

    fn sum_up<P: Protocol>(&mut self, world: &World<P>) {
        let mut rest = Packer::default();
        (&world.cuts, world.left).hash(&mut rest);
        let mut all = Fingerprinter::default();
        all.write_u64(rest.finish());
        self.list.iter().for_each(|part| all.write_u64(part.hash));
        self.fingerprint = all.finish();
    }
}

impl Part {
    /// One of which nothing is known yet.
    const NEW: Part = Part { look: Look::NOTHING, hash: 0, outside: 0, is_new: true };
}

/// Shows the values of one part.
fn visit<P: Protocol>(world: &mut World<P>, place: usize, visitor: &mut impl Visitor) {
    let clients = world.clients.len();
    if let Some(seat) = world.clients.get_mut(place) {
        visitor.scope(Some(ClientId::of(place)), seat.skew);
        seat.process.visit(visitor);
    } else if place == clients {
        visitor.scope(None, world.server.skew);
        world.server.process.visit(visitor);
    } else if place == clients + 1 {
        visitor.scope(None, Ticks::ZERO);
        visitor.token(&mut world.resource.highest);
        world.ghosts.visit(visitor);
    } else {
        world.network.slots()[place - clients - OTHERS].visit(visitor);
    }
}

fn hash<P: Protocol>(world: &World<P>, place: usize) -> u64 {
    let clients = world.clients.len();
    let mut to = Packer::default();
    if place < clients {
        world.clients[place].hash(&mut to);
    } else if place == clients {
        world.server.hash(&mut to);
    } else if place == clients + 1 {
        (world.resource, &world.ghosts).hash(&mut to);
    } else {
        world.network[place - clients - OTHERS].hash(&mut to);
    }
    to.finish()
}

impl<P: Protocol> Scenario<P> {
    /// Brings a world into normal form; no client is interchangeable.
    pub fn normalise(&self, world: &mut World<P>) {
        NormalForm::new(self, Symmetry::none()).bring(world, &mut Parts::default());
    }
}
