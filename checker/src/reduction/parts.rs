//! What is known of the parts of a world. A step changes little: what is known of the rest is kept, and only the parts that
//! differ from those before the step are looked at again.

use fencepost_model::ids::{ClientId, ProcessId};
use fencepost_model::inline_vec::InlineVec;
use fencepost_model::monitor::{Monitor, Observed};
use fencepost_model::normal::{Normal, Visitor};
use fencepost_model::resource::Resource;
use fencepost_model::service::Service;
use fencepost_model::time::Ticks;
use fencepost_model::world::Host;

use super::calls::CallsOfAll;
use super::hash::{fingerprint, hash_of};
use super::names::{Looking, NormalNames, Occurrences, Rewriting, Rules};
use super::order::Order;
use super::unheard::{About, Unheard};

/// What is known of the parts of a world: of each client, of the server, of what is remembered, of each message.
#[derive(Debug, Default)]
pub(super) struct Parts {
    list: InlineVec<Part, 9>,
    /// Which of them differ from those before the step.
    pub(super) new: Places,
    /// For each client, a hash without its name, if clients are interchangeable.
    pub(super) outsides: InlineVec<u64, 3>,
    /// Of all of them together.
    pub(super) fingerprint: u64,
}

/// What is known of a part.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Part {
    look: Occurrences,
    hash: u64,
}

/// Places in a list. All those beyond the 63rd count as one.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Places(u64);

impl Places {
    #[inline]
    fn bit(place: usize) -> u64 {
        1 << place.min(63)
    }

    #[inline]
    pub(super) fn add(&mut self, place: usize) {
        self.0 |= Self::bit(place);
    }

    #[inline]
    pub(super) fn contains(self, place: usize) -> bool {
        self.0 & Self::bit(place) != 0
    }

    /// The parts of a list of this length.
    #[inline]
    fn up_to(self, count: usize) -> impl Iterator<Item = usize> {
        let mut bits = if count < 63 { self.0 & ((1 << count) - 1) } else { self.0 & (u64::MAX >> 1) };
        let few = std::iter::from_fn(move || {
            let place = bits.trailing_zeros() as usize;
            bits &= bits.wrapping_sub(1);
            (place < 64).then_some(place)
        });
        few.chain((63..count).filter(move |_| self.contains(63)))
    }
}

/// Behind the clients come the server and what is remembered (resource and monitor), then the messages.
const OTHERS: usize = 2;

impl Clone for Parts {
    fn clone(&self) -> Self {
        let mut copy = Parts::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, other: &Self) {
        self.list.clone_from(&other.list);
        self.outsides.clone_from(&other.outsides);
        (self.new, self.fingerprint) = (other.new, other.fingerprint);
    }
}

impl Part {
    pub(super) fn new(look: Occurrences, hash: u64) -> Self {
        Part { look, hash }
    }
}

impl Parts {
    /// The hash of each part.
    pub(super) fn hashes(&self) -> impl Iterator<Item = u64> + '_ {
        self.list.iter().map(|part| part.hash)
    }

    /// The calls that a client has open, if it counts its calls and its numbers are small.
    pub(super) fn open_calls(&self, place: usize) -> Option<u16> {
        let look = &self.list[place].look;
        (look.calls.is_counting() && !look.has_large).then(|| look.calls.set())
    }

    /// The calls of a client that a part shows; `None` if it shows numbers that are not small.
    pub(super) fn calls(&self, place: usize, owner: u16) -> Option<u16> {
        let look = &self.list[place].look;
        (!look.has_large).then(|| look.small.calls(owner))
    }

    /// Whether a part shows an instant.
    pub(super) fn has_instants(&self, place: usize) -> bool {
        self.list[place].look.has_instants
    }

    /// Another part stands at a place before the messages.
    pub(super) fn put(&mut self, place: usize, part: Part, outside: u64) {
        self.list[place] = part;
        if let Some(known) = self.outsides.get_mut(place) {
            *known = outside;
        }
    }

    /// Other messages are under way.
    pub(super) fn put_messages(&mut self, clients: usize, messages: impl Iterator<Item = Part>) {
        self.list.truncate(clients + OTHERS);
        messages.for_each(|part| self.list.push(part));
    }

    /// Snapshot taken before the next step.
    pub(super) fn rest(&mut self, fingerprint: u64) {
        (self.new, self.fingerprint) = (Places::default(), fingerprint);
    }

    /// Whether some message differs from those before the step.
    pub(super) fn has_new_messages(&self, clients: usize) -> bool {
        (clients + OTHERS..self.list.len()).any(|place| self.new.contains(place))
    }

    /// Nothing is known.
    pub(super) fn forget<P: Service>(&mut self, state: &Observed<P>) {
        let count = state.clients.len() + OTHERS + state.network.places().len();
        self.list = (0..count).map(|_| Part::default()).collect();
        self.new = Places(u64::MAX);
    }

    /// What was known before a step; `has_other_messages` if that step changed them.
    pub(super) fn undo(&mut self, before: &Parts, clients: usize, has_other_messages: bool) {
        for place in self.new.up_to(clients + OTHERS) {
            self.list[place] = before.list[place];
        }
        if has_other_messages {
            self.list.truncate(clients + OTHERS);
            before.list[clients + OTHERS..].iter().for_each(|part| self.list.push(*part));
        }
        self.outsides.clone_from(&before.outsides);
        (self.new, self.fingerprint) = (before.new, before.fingerprint);
    }

    /// After a step keeps what is known of parts that are as they were before it.
    pub(super) fn keep<P: Service>(
        &mut self,
        state: &Observed<P>,
        (before, known): (&Observed<P>, &Parts),
        touched: &[ProcessId],
    ) {
        let clients = state.clients.len();
        self.new = Places::default();
        for process in touched {
            match process {
                ProcessId::Client(client) => self.new.add(client.place()),
                ProcessId::Server => self.new.add(clients),
                ProcessId::Resource => {}
            }
        }
        if state.resource != before.resource || state.monitor != before.monitor {
            self.new.add(clients + 1);
        }
        let (now, then) = (state.network.places(), before.network.places());
        let same = now.iter().zip(then.iter()).take_while(|(now, then)| now == then).count();
        if same == now.len() && same == then.len() {
            return;
        }
        // A step takes out a message, or adds some: those before and after it stand next to each other.
        let messages = &known.list[clients + OTHERS..];
        self.list.truncate(clients + OTHERS + same);
        let mut next = same;
        for envelope in &now[same..] {
            let known = (next..then.len().min(next + 2)).find(|other| then[*other] == *envelope);
            match known {
                Some(known) => {
                    next = known + 1;
                    self.list.push(messages[known]);
                }
                None => {
                    self.new.add(self.list.len());
                    self.list.push(Part::default());
                }
            }
        }
        if self.new.contains(63) {
            (63..self.list.len()).for_each(|place| self.list[place] = Part::default());
        }
    }

    /// Follows clients to their new places: what they have is called the same, among their own.
    pub(super) fn arrange(&mut self, order: &Order) {
        let before = self.list.clone();
        for (place, other) in order.iter().enumerate() {
            self.list[place] = before[usize::from(*other)];
        }
        self.list.iter_mut().for_each(|part| part.look.arrange(order));
        self.outsides = order.iter().map(|place| self.outsides[usize::from(*place)]).collect();
        self.new = Places(u64::MAX);
    }

    pub(super) fn look<P: Service>(&mut self, state: &mut Observed<P>, rules: &Rules) {
        for place in self.new.up_to(self.list.len()) {
            let mut looking = Looking::new(rules);
            visit(state, place, &mut looking);
            self.list[place].look = looking.look;
        }
    }

    /// Leaves out the messages without a reaction.
    pub(super) fn leave_out<P: Service>(&mut self, state: &mut Observed<P>, unheard: Unheard) {
        if unheard.is_none() {
            return;
        }
        let first = state.clients.len() + OTHERS;
        let mut place = 0;
        while let Some(envelope) = state.network.places().get(place) {
            let answers = || unheard.only_answers(&state.server.process, envelope);
            let of_client = |client: ClientId| self.list[client.place()].look;
            if !unheard.contains(About::of(envelope), &self.list[first + place].look, of_client, answers) {
                place += 1;
                continue;
            }
            state.world.network.remove_at(place);
            self.list.remove(first + place);
            (first + place..=self.list.len()).for_each(|later| self.new.add(later));
        }
    }

    /// Gives new names where there are gaps.
    pub(super) fn rename<P: Service>(&mut self, state: &mut Observed<P>, rules: &Rules, shift: Ticks) {
        let mut all = Occurrences::default();
        self.list.iter().for_each(|part| all.join(&part.look));
        let all = all;
        let clients = state.clients.len();
        let mut calls = CallsOfAll::default();
        for (known, part) in calls[1..].iter_mut().zip(&self.list[..clients]) {
            *known = part.look.calls;
        }
        let beyond = all.small.beyond(&calls);
        let is_off =
            |place: usize, look: &Occurrences| place < clients && look.calls.is_off(all.small.calls_in_use(place));
        let is_any_off = (0..clients).any(|place| is_off(place, &self.list[place].look));
        if !all.is_affected(&beyond, shift) && !is_any_off {
            return;
        }
        let is_large = all.has_large && !rules.is_large_forgotten;
        let names = if is_large {
            let mut large = Looking::new(rules);
            large.looks_at_many_calls();
            (0..clients).for_each(|place| visit(state, place, &mut large));
            let many = large.take_many_calls();
            (clients..self.list.len()).for_each(|place| visit(state, place, &mut large));
            NormalNames::many(large, many, shift)
        } else {
            NormalNames::few(all.small, calls, shift)
        };
        for (place, part) in self.list.iter_mut().enumerate() {
            // Where numbers are not small, any call may have another name.
            if is_large || is_off(place, &part.look) || part.look.is_affected(&beyond, shift) {
                let mut rewriting = Rewriting::new(&names, rules);
                visit(state, place, &mut rewriting);
                part.look = rewriting.after.look;
                self.new.add(place);
            }
        }
    }

    /// Whether some client may have several calls that its own state does not show.
    pub(super) fn has_closed_calls<P: Service>(&self, state: &Observed<P>) -> bool {
        let mut all = Occurrences::default();
        self.list.iter().for_each(|part| all.join(&part.look));
        let has_several = |place: usize| {
            let calls = self.list[place].look.calls;
            calls.has_closed(all.small.calls_in_use(place))
        };
        all.has_large || (0..state.clients.len()).any(has_several)
    }

    /// Looks at everything again, for messages and calls may have changed places.
    pub(super) fn look_again<P: Service>(&mut self, state: &mut Observed<P>, rules: &Rules) {
        self.new = Places(u64::MAX);
        self.look(state, rules);
    }

    /// Restores the order of what is sorted.
    pub(super) fn order<P: Service>(&mut self, state: &mut Observed<P>) {
        let clients = state.clients.len();
        if self.new.contains(clients) {
            state.world.server.process.sort();
        }
        if self.new.contains(clients + 1) {
            state.monitor.sort();
        }
        let envelopes = state.world.network.slots();
        for (place, envelope) in envelopes.iter_mut().enumerate() {
            if self.new.contains(clients + OTHERS + place) {
                envelope.message.sort();
            }
        }
        let mut place = 1;
        while place < envelopes.len() {
            let part = clients + OTHERS + place;
            let may_differ = self.new.contains(part) || self.new.contains(part - 1);
            if may_differ && envelopes[place].cmp(&envelopes[place - 1]).is_lt() {
                envelopes.swap(place, place - 1);
                self.list.swap(part, part - 1);
                self.new.add(part);
                self.new.add(part - 1);
                place = place.saturating_sub(1).max(1);
            } else {
                place += 1;
            }
        }
    }

    pub(super) fn hash<P: Service>(&mut self, state: &Observed<P>) {
        for place in self.new.up_to(self.list.len()) {
            self.list[place].hash = hash(state, place);
        }
    }

    pub(super) fn sum_up<P: Service>(&mut self, state: &Observed<P>) {
        self.fingerprint = fingerprint(hash_of((&state.cuts, state.left)), self.list.iter().map(|part| part.hash));
    }
}

/// Shows the values of one part.
pub(super) fn visit<P: Service>(state: &mut Observed<P>, place: usize, visitor: &mut impl Visitor) {
    let clients = state.clients.len();
    if let Some(host) = state.world.clients.get_mut(place) {
        visit_host(Some(ClientId::of(place)), host, visitor);
    } else if place == clients {
        visit_host(None, &mut state.world.server, visitor);
    } else if place == clients + 1 {
        visit_memory(&mut state.world.resource, &mut state.monitor, visitor);
    } else {
        state.world.network.slots()[place - clients - OTHERS].visit(visitor);
    }
}

/// Shows the values of a client, or of the server.
#[inline]
pub(super) fn visit_host<T: Normal>(client: Option<ClientId>, host: &mut Host<T>, visitor: &mut impl Visitor) {
    visitor.scope(client, host.skew);
    host.process.visit(visitor);
}

/// Shows the values of what is remembered.
#[inline]
pub(super) fn visit_memory(resource: &mut Resource, monitor: &mut Monitor, visitor: &mut impl Visitor) {
    visitor.scope(None, Ticks::ZERO);
    resource.visit(visitor);
    monitor.visit(visitor);
}

fn hash<P: Service>(state: &Observed<P>, place: usize) -> u64 {
    let clients = state.clients.len();
    if place < clients {
        hash_of(state.clients[place])
    } else if place == clients {
        hash_of(&state.server)
    } else if place == clients + 1 {
        hash_of((state.resource, &state.monitor))
    } else {
        hash_of(state.network.places()[place - clients - OTHERS])
    }
}
