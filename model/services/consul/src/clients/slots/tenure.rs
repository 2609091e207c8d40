//! The time with a slot: entering, watching the prefix, and the way out.

use super::super::monitor::Watching;
use super::{Membership, Phase, SlotTaker, What, decode, semaphore};
use crate::ConsulMutation;
use crate::messages::{Listing, Slots};
use crate::settings::{self, AfterRelease, Job, Killed, Registers};
use crate::{Answer, Consul, Entry, Key, Opaque, Request, Target};
use fencepost_model::fact::{Fact, Leaving};
use fencepost_model::ids::{Index, SessionId};
use fencepost_model::process::{Context, Outbox};
use fencepost_model::time::Deadline;

impl SlotTaker {
    pub(super) fn enter(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        if self.session.is_none_or(|session| session.is_over(context)) {
            self.forget();
            return self.rest();
        }
        self.since = Index::NONE;
        self.phase = Phase::Inside { limit: semaphore(context).limit(context.client()) };
        out.record(Fact::Entered { client: context.client(), token: Default::default() });
        self.watch(Index::NONE, context, out);
    }

    pub(super) fn watch(&mut self, index: Index, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        self.monitor = Watching::start(Target::Prefix, index, &mut self.last, context, out);
    }

    /// C-SEM-6: decode, prune, and see whether it is still among the holders.
    pub(super) fn hear_monitor(&mut self, answer: Answer, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let is_holder = |listing: &Listing, id: SessionId| {
            let is_named = decode(listing.slots, 0).0.holders.contains(&id);
            context.is_mutated(ConsulMutation::MonitorIgnored)
                || listing.alive.contains(&id)
                    && (is_named || semaphore(context).registers == Registers::CountThenRegister)
        };
        match (answer, self.session) {
            (Answer::Listed(listing), Some(Membership { id, .. })) if is_holder(&listing, id) => {
                let was_last = self.monitor.is_some_and(|watching| watching.is_last());
                self.monitor = None;
                if !was_last && !context.is_mutated(ConsulMutation::SlotMonitorStops) {
                    self.watch(listing.index, context, out);
                }
            }
            (error, _)
                if error.is_outage() && self.monitor.as_mut().is_some_and(|old| old.rests_after_error(context)) => {}
            _ => self.lose(Leaving::Notified, context, out),
        }
    }

    /// Stops acting; a separate job has to be killed first.
    pub(super) fn lose(&mut self, why: Leaving, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let Phase::Inside { limit } = self.phase else { return };
        if context.scenario.service.belief == settings::BeliefRule::None {
            return;
        }
        self.monitor = None;
        match context.scenario.service.job {
            Some(Job { killed: Killed::Group, grace }) if !context.is_mutated(ConsulMutation::KillWithoutGrace) => {
                self.phase = Phase::Killing { at: Deadline(context.now + grace), limit };
            }
            _ => {
                out.record(Fact::Left { client: context.client(), why });
                self.forget();
                self.rest();
            }
        }
    }

    pub(super) fn start_leaving(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        self.monitor = None;
        if self.session.is_none() {
            return self.rest();
        }
        let is_named = semaphore(context).registers == Registers::Cas && !context.is_mutated(ConsulMutation::SlotKept);
        if is_named { self.read_to_leave(context, out) } else { self.clean_up(context, out) }
    }

    /// C-SEM-7: a read of the coordination entry alone.
    pub(super) fn read_to_leave(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        self.call(What::ReadToLeave, Request::Get(Key::Slots), context, out);
    }

    pub(super) fn take_itself_off(
        &mut self,
        entry: Option<Entry>,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) {
        let Some(Membership { id, .. }) = self.session else { return self.rest() };
        let (slots, index) = decode(entry, 0);
        if !slots.holders.contains(&id) {
            return self.clean_up(context, out);
        }
        let stays = |other: &SessionId| *other != id && !context.is_mutated(ConsulMutation::LeavesForAll);
        let value = Opaque::Slots(Slots { limit: slots.limit, holders: slots.holders.filtered(stays) });
        let flags = context.scenario.service.flags;
        self.call(What::Leave, Request::Cas { key: Key::Slots, index, value, flags }, context, out);
    }

    /// The cleanup of a client that has finished or given up.
    pub(super) fn clean_up(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        match semaphore(context).afterwards {
            AfterRelease::Removed => self.unregister(context, out),
            AfterRelease::Kept => (self.phase, self.monitor) = (Phase::Idle, None),
        }
    }

    /// C-SEM-7: a plain delete of the contender key, then the destruction of the session.
    pub(super) fn unregister(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let Some(Membership { id, .. }) = self.session else { return self.rest() };
        self.call(What::Unregister, Request::Delete(Key::Contender(id)), context, out);
    }

    /// C-SEM-8: the coordination entry goes if no holder lives; contenders that wait do not count.
    pub(super) fn remove(&mut self, listing: Listing, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let (slots, index) = decode(listing.slots, 0);
        let is_held = slots.holders.iter().any(|holder| listing.alive.contains(holder));
        match listing.slots {
            Some(_) if !is_held => {
                self.call(What::Remove, Request::DeleteCas { key: Key::Slots, index }, context, out);
            }
            _ => self.rest(),
        }
    }

    pub(super) fn wait(&mut self, context: &Context<'_, Consul>) {
        self.phase = Phase::Waiting { retry: Deadline(context.now + context.scenario.service.retry_every) };
    }

    pub(super) fn forget(&mut self) {
        (self.session, self.is_registered, self.since) = (None, false, Index::NONE);
    }

    pub(super) fn rest(&mut self) {
        self.phase = Phase::Idle;
        self.monitor = None;
        self.forget();
    }
}
