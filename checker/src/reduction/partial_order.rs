//! Partial orders: where a client can do something that no other process notices, and that nothing else can prevent or change, all
//! other actions wait until it is done. What is left of a state's actions is a *persistent set* (Godefroid, LNCS 1032, 1996, §4; the conditions
//! are those of ample sets: Clarke, Grumberg and Peled, "Model Checking", 1999, §10). It is for safety promises only, and the choice depends
//! on the world alone, so that counts are the same for any number of workers.
//!
//! The set of a client are *all* of its own actions that are enabled: arrivals at it, its wake-ups, commands to it and its choices. It is a
//! persistent set if no execution of other actions enables, disables or changes one of them, or reads what they write:
//!
//! * **No fault can strike it.** No crash, pause, cut or clock jump is left in the budget, no link is cut, no operator may act, and the
//!   service has no faults. A loss that is [explored](super::late_faults) or a duplicate is left only where no message to the client is in
//!   flight. Other budgets are not touched.
//! * **No other message can reach it.** Processes of the service only answer calls ([`Service::sends_only_answers`]), and no part of the
//!   world beside the client and the messages to it shows one of its open calls. It ignores answers on other calls (see
//!   [`unheard`](super::unheard)).
//! * **Time makes no difference.** Either time cannot pass before one of these actions, because the message that arrives or the wake-up is
//!   due and is not excused: so nothing becomes due, and clocks may be read. Or they commute with `Advance`: neither the client nor the
//!   messages show an instant, before or after, so the client has read no clock, has neither started nor ended a timer, and what it has
//!   received or sent has no deadline. By the law of the normal form a reaction to values without instants is the same at all times.
//! * **No promise sees them** (invisibility). They state no fact, so no promise judges them, and no ghost and no goal changes; what promises
//!   look at when others state facts is unchanged: the client's belief but for whether it waits, and whether it is at work as an
//!   administrator. Promises that look at every world, and those that a scenario defines, switch the reduction off.
//! * **Stamps are the same.** They send no write, for a write is stamped with a ghost that a fact of another process may change.
//! * **They come to an end** (the ignoring problem). Each decreases the *work at hand*: the number of messages in flight to clients, then
//!   the number of other actions of their own that clients can take. So no cycle of a search consists of such states, and whatever waits is
//!   taken eventually.
//!
//! The law `partial-order` checks on random walks what the induction over an execution needs: after any other action the client has the
//! same set, and both orders lead to the same world and to the same verdicts.

use fencepost_model::ids::{Call, ClientId, Index, ProcessId, SessionId, Tenure, Token};
use fencepost_model::inline_vec::InlineVec;
use fencepost_model::mutation::{CheckerMutation, Mutation};
use fencepost_model::normal::{Normal as _, Visitor};
use fencepost_model::process::{Belief, Client as _, Context, Input, Message, Outbox, Process as _};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::{Service, ServiceMessage as _};
use fencepost_model::time::{Instant, Ticks};
use fencepost_model::world::{Action, Condition, Envelope, World};

use super::late_faults::LateFaults;
use super::names::OWNERS;
use super::normal_form::Formed;

/// How a search chooses among the actions of a state.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct PartialOrder {
    is_on: bool,
    /// Whether losses are explored.
    has_losses: bool,
    mutation: Option<Mutation>,
}

/// The actions of one client, by their indices among those that are enabled.
pub(crate) type Chosen = InlineVec<u16, 4>;

impl PartialOrder {
    /// Every enabled action is explored.
    pub(crate) fn none() -> Self {
        PartialOrder::default()
    }

    /// That of a scenario; none if some promise may look at any world, or if what a client can do is a place of faults.
    pub(crate) fn of<S: Service>(scenario: &Scenario<S>) -> Self {
        let has_faults = scenario.budget.caps().next().is_some();
        let looks_everywhere =
            scenario.has_own_promises() || scenario.looks_at_every_world() || !scenario.fault_places.is_empty();
        let is_small = scenario.observed().clients.len() < usize::from(OWNERS);
        PartialOrder {
            is_on: S::sends_only_answers(&scenario.service) && is_small && !has_faults && !looks_everywhere,
            has_losses: LateFaults::of(scenario).has_losses(),
            mutation: scenario.mutation,
        }
    }

    /// What a verdict says of it.
    pub(crate) fn sentence(self) -> Option<&'static str> {
        let sentence = "partial order: where a client can act unseen and unhindered, all other actions wait for it";
        self.is_on.then_some(sentence)
    }

    /// Whether every enabled action is explored.
    pub(crate) fn is_none(self) -> bool {
        !self.is_on
    }

    fn is(self, mutation: CheckerMutation) -> bool {
        self.mutation == Some(mutation.into())
    }

    /// The actions of a world in normal form that have to be explored, if they are not all: those of the client that has the fewest of them.
    pub(crate) fn choose<S: Service>(
        self,
        scenario: &Scenario<S>,
        world: &Formed<S>,
        actions: &[Action<S>],
    ) -> Option<Chosen> {
        if !self.is_on || self.may_be_struck(world) {
            return None;
        }
        let sets = (0..world.clients.len()).filter_map(|place| self.of_client(scenario, world, actions, place));
        sets.min_by_key(|set| set.len()).filter(|set| set.len() < actions.len())
    }

    /// Whether a fault may strike any client.
    fn may_be_struck<S: Service>(self, world: &World<S>) -> bool {
        let left = &world.left;
        let is_struck = left.crashes > 0 || left.pauses > 0 || left.cuts > 0 || left.slips > 0 || left.operator > 0;
        (is_struck || !world.cuts.is_empty()) && !self.is(CheckerMutation::OrderIgnoresFaults)
    }

    /// The set of one client, if it is persistent and no promise sees it.
    pub(crate) fn of_client<S: Service>(
        self,
        scenario: &Scenario<S>,
        world: &Formed<S>,
        actions: &[Action<S>],
        place: usize,
    ) -> Option<Chosen> {
        let (client, host) = (ClientId::of(place), &world.clients[place]);
        let me = ProcessId::Client(client);
        if !self.is_on || self.may_be_struck(world) || host.condition != Condition::Up {
            return None;
        }
        let is_its_own = |action: &Action<S>| match action {
            Action::Command { client: other, .. } => *other == client,
            Action::Deliver(envelope) => envelope.to == me,
            Action::Wake { process, .. } | Action::Choose { process, .. } => *process == me,
            _ => false,
        };
        let mut set: Chosen = (0..).zip(actions).filter(|(_, own)| is_its_own(own)).map(|(at, _)| at).collect();
        if set.is_empty() || self.may_be_reached(world, place) {
            return None;
        }
        let members = || set.iter().map(|at| &actions[usize::from(*at)]);
        let is_urgent = members().any(|action| self.is_urgent(scenario, world, action));
        let is_timeless = || !world.parts.has_instants(place) || self.is(CheckerMutation::OrderIgnoresTimers);
        if !is_urgent && !is_timeless() {
            return None;
        }
        if !members().all(|action| self.is_hidden(scenario, world, client, action, is_urgent)) {
            return None;
        }
        if self.is(CheckerMutation::OrderTakesOneOfSeveral) {
            set.truncate(1);
        }
        Some(set)
    }

    /// Whether a message that is not in flight to the client yet may reach it, or one that is may not.
    fn may_be_reached<S: Service>(self, world: &Formed<S>, place: usize) -> bool {
        let me = ProcessId::Client(ClientId::of(place));
        let owner = ClientId::of(place).0;
        let is_to_it = |envelope: &Envelope<S>| envelope.to == me;
        let messages = world.network.places();
        let is_awaited = messages.iter().any(is_to_it);
        let may_be_lost = self.has_losses && world.left.losses > 0 || world.left.duplicates > 0;
        if is_awaited && may_be_lost && !self.is(CheckerMutation::OrderIgnoresLosses) {
            return true;
        }
        let Some(open) = world.parts.open_calls(place) else { return true };
        let others = (0..world.clients.len() + 2).filter(|part| *part != place);
        let beyond = (world.clients.len() + 2..).zip(messages);
        let parts = others.chain(beyond.filter(|(_, envelope)| !is_to_it(envelope)).map(|(part, _)| part));
        let is_shown = |part: usize| world.parts.calls(part, owner).is_none_or(|calls| calls & open != 0);
        parts.into_iter().any(is_shown) && !self.is(CheckerMutation::OrderIgnoresAnswers)
    }

    /// Whether time cannot pass before the action, which nothing excuses.
    fn is_urgent<S: Service>(self, scenario: &Scenario<S>, world: &World<S>, action: &Action<S>) -> bool {
        let more = Ticks::new(i64::from(self.is(CheckerMutation::OrderHurriesTooEarly)));
        match *action {
            Action::Deliver(envelope) => envelope.due.is_some_and(|due| due.0 <= world.now + more),
            Action::Wake { process, timer } => {
                let Some(late) = scenario.synchrony.wake_delay else { return false };
                let mut is_urgent = false;
                world.wakes(scenario, process, &mut |other, due| {
                    is_urgent |= other == timer && due + late <= world.now + more;
                });
                is_urgent
            }
            _ => false,
        }
    }

    /// Whether no promise sees what the client does then, and the client comes nearer to an end; if time may pass, also whether it reads no clock.
    fn is_hidden<S: Service>(
        self,
        scenario: &Scenario<S>,
        world: &Formed<S>,
        client: ClientId,
        action: &Action<S>,
        is_urgent: bool,
    ) -> bool {
        let me = ProcessId::Client(client);
        let before = &world.clients[client.place()].process;
        let input = match *action {
            Action::Command { command, .. } => Input::Command(command),
            Action::Deliver(Envelope { from, message, .. }) => Input::Message { from, message },
            Action::Wake { timer, .. } => Input::Wake(timer),
            Action::Choose { option, .. } => Input::Choice(option),
            _ => return false,
        };
        let context = Context { scenario, now: world.clock(me), me };
        let (mut after, mut out) = (*before, Outbox::new());
        after.on(input, &context, &mut out);
        let is_silent = out.facts().is_empty() || self.is(CheckerMutation::OrderIgnoresFacts);
        // Only promises that look at every world ask who is waiting.
        let belief = |process: &S::Client| Belief { is_waiting: false, ..process.belief() };
        let same_belief = belief(&after) == belief(before) && after.is_at_work() == before.is_at_work();
        if !is_silent || !same_belief && !self.is(CheckerMutation::OrderIgnoresBeliefs) {
            return false;
        }
        let sends_plainly = |(to, message): &(ProcessId, Message<S>)| {
            let is_stamped = match *message {
                Message::Write(_) => true,
                Message::Service(mut message) => message.tenure_of_write().is_some(),
                Message::Read(_)
                | Message::ReadKey { .. }
                | Message::Version { .. }
                | Message::Written { .. }
                | Message::NextItem { .. }
                | Message::QueueItem { .. } => false,
            };
            to.client().is_none() && (!is_stamped || self.is(CheckerMutation::OrderIgnoresStamps))
        };
        if !out.messages().iter().all(sends_plainly) {
            return false;
        }
        let at_hand = |process: &S::Client| {
            let mut count = usize::from(process.choices());
            process.commands(&context, &mut |_| count += 1);
            process.wakes(scenario, &mut |_, due| count += usize::from(due <= context.now));
            count
        };
        let is_arrival = matches!(action, Action::Deliver(_));
        let is_progress = is_arrival || at_hand(&after) < at_hand(before);
        if !is_progress && !self.is(CheckerMutation::OrderIgnoresProgress) {
            return false;
        }
        is_urgent || self.is(CheckerMutation::OrderIgnoresTimers) || {
            let mut seen = Instants(scenario.synchrony.message_delay.is_some() && !out.messages().is_empty());
            after.visit(&mut seen);
            if let Action::Deliver(mut envelope) = *action {
                envelope.visit(&mut seen);
            }
            out.messages().iter().for_each(|(_, message)| {
                let mut message = *message;
                message.visit(&mut seen);
            });
            !seen.0
        }
    }
}

/// Whether something shows an instant.
struct Instants(bool);

impl Visitor for Instants {
    fn deadline(&mut self, _: &mut Instant) {
        self.0 = true;
    }

    fn until(&mut self, _: &mut Instant) {
        self.0 = true;
    }

    fn elapsed(&mut self, _: &mut Instant) {
        self.0 = true;
    }

    fn since(&mut self, _: &mut Instant) {
        self.0 = true;
    }

    fn index(&mut self, _: &mut Index) {}
    fn token(&mut self, _: &mut Token) {}
    fn tenure(&mut self, _: &mut Tenure) {}
    fn session(&mut self, _: &mut SessionId) {}
    fn call(&mut self, _: &mut Call) {}
    fn call_of(&mut self, _: ClientId, _: &mut Call) {}
    fn scope(&mut self, _: Option<ClientId>, _: Ticks) {}
}
