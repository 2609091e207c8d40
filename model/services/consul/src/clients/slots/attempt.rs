//! The way in: a session, the contender key, the listing of holders, and taking a slot.

use super::super::ask;
use super::super::membership::{Membership, lease_from};
use super::{Phase, SlotTaker, What, decode, semaphore};
use crate::ConsulMutation;
use crate::messages::{ConsulEvent, Listing, Slots};
use crate::settings::{AfterRace, LostRace, OnConflict, OnUncertainty, Prunes, Registers};
use crate::{Answer, Claim, Consul, Key, Opaque, Request, Target, Watch};
use fencepost_model::fact::Fact;
use fencepost_model::ids::{Index, SessionId};
use fencepost_model::process::{Context, Outbox};
use fencepost_model::time::{Deadline, Ticks};

impl SlotTaker {
    /// Session, contender key, slot: the next step. A client that counts first reads the listing before it registers.
    pub(super) fn attempt(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let settings = &context.scenario.service;
        if self.session.is_none() {
            let what = What::Create { until_if_created: lease_from(context) };
            return self.call(what, Request::CreateSession(settings.terms()), context, out);
        }
        if self.is_registered || semaphore(context).registers == Registers::CountThenRegister {
            return self.read(context, out);
        }
        self.register(context, out);
    }

    /// The listing, at once or after a change.
    fn read(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        if self.since == Index::NONE {
            return self.call(What::List, Request::List, context, out);
        }
        self.watch_from(self.since, context, out);
    }

    fn watch_from(&mut self, index: Index, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let watch = Watch { target: Target::Prefix, index, wait: context.scenario.service.watch_wait };
        self.call(What::Await, Request::Watch(watch), context, out);
    }

    /// C-SEM-2: `<prefix>/<session>`, by acquire.
    fn register(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let Some(Membership { id, .. }) = self.session else { return };
        let claim = Claim::new(Key::Contender(id), id, Opaque::Empty, context.scenario.service.flags);
        self.call(What::Register, Request::Acquire(claim), context, out);
    }

    /// C-SEM-5: `<prefix>2/<session>`, which `<prefix>` also matches.
    fn register_elsewhere(&mut self, id: SessionId, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let claim = Claim::new(Key::Neighbour(id), id, Opaque::Empty, 0);
        self.call(What::RegisterElsewhere, Request::Acquire(claim), context, out);
    }

    pub(super) fn call(
        &mut self,
        what: What,
        request: Request,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) {
        // A blocking query may take its time.
        let patience = context.scenario.service.patience.filter(|_| self.retries > 0 && what != What::Await);
        let give_up = patience.map(|patience| Deadline(context.now + patience));
        self.phase = Phase::Calling { call: ask(&mut self.last, request, out), what, give_up };
    }

    fn take(
        &mut self,
        what: What,
        slots: Slots,
        index: Index,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) {
        let (key, value, flags) = (Key::Slots, Opaque::Slots(slots), context.scenario.service.flags);
        let cas = match context.is_mutated(ConsulMutation::TakesByPut) {
            false => Request::Cas { key, index, value, flags },
            true => Request::Put { key, value, flags },
        };
        self.call(what, cas, context, out);
    }

    /// No response came. The request may have been applied.
    pub(super) fn give_up(&mut self, what: What, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        match (what, semaphore(context).unclear) {
            (What::Take { again: Some((slots, index)) }, _) => self.take(What::TakeAgain, slots, index, context, out),
            (What::Take { .. } | What::TakeAgain, OnUncertainty::Report) => self.clean_up(context, out),
            (What::RegisterElsewhere, _) => match self.session {
                Some(session) => self.register_elsewhere(session.id, context, out),
                None => self.rest(),
            },
            (What::Create { .. } | What::Register, _) => self.attempt(context, out),
            (What::List | What::Await | What::Take { .. } | What::TakeAgain, _) => {
                self.call(What::List, Request::List, context, out);
            }
            (What::ReadToLeave | What::Leave, _) => self.read_to_leave(context, out),
            (What::Unregister, _) => self.unregister(context, out),
            (What::Destroy | What::ListToRemove | What::Remove, _) => self.rest(),
        }
    }

    pub(super) fn go_on(
        &mut self,
        what: What,
        answer: Answer,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) {
        match (what, answer) {
            (What::Create { until_if_created }, Answer::Created(id)) => {
                self.session = Some(Membership::new(id, until_if_created, context));
                self.is_registered = false;
                match semaphore(context).has_neighbour {
                    true => self.register_elsewhere(id, context, out),
                    false => self.attempt(context, out),
                }
            }
            (What::RegisterElsewhere, Answer::Done(true)) => self.attempt(context, out),
            (What::Register, Answer::Done(true)) => {
                self.is_registered = true;
                match semaphore(context).registers {
                    Registers::Cas => self.read(context, out),
                    Registers::CountThenRegister => self.enter(context, out),
                }
            }
            // C-GDE-2: an ended session is an error; `false` means that another session has the key, or a lock-delay.
            (What::Register, Answer::InvalidSession | Answer::Done(false))
                if !context.scenario.service.ends_session =>
            {
                self.forget();
                self.wait(context);
            }
            (What::List | What::Await, Answer::Listed(listing)) => self.look(listing, context, out),
            (What::Take { .. } | What::TakeAgain, Answer::Done(true)) => self.enter(context, out),
            (What::Take { .. }, Answer::Done(false)) if context.is_mutated(ConsulMutation::EntersOnFalse) => {
                self.enter(context, out);
            }
            // C-SEM-4: another client was faster.
            (What::Take { .. } | What::TakeAgain, Answer::Done(false)) => self.read(context, out),
            (What::ReadToLeave, Answer::Found(entry)) => self.take_itself_off(Some(entry), context, out),
            (What::ReadToLeave, Answer::Absent) => self.take_itself_off(None, context, out),
            // C-SEM-7: on a lost race it reads again and repeats.
            (What::Leave, Answer::Done(false))
                if semaphore(context).lost_race == LostRace::Repeat
                    && !context.is_mutated(ConsulMutation::LostRaceNotRepeated) =>
            {
                self.read_to_leave(context, out);
            }
            (What::Leave, Answer::Done(_)) => self.clean_up(context, out),
            (What::Unregister, _) => match self.session {
                Some(_) if semaphore(context).has_neighbour => {
                    (self.phase, self.monitor, self.is_registered) = (Phase::Idle, None, false);
                }
                Some(_) if context.scenario.service.ends_session => {
                    self.end(out);
                    if context.scenario.service.cleanup && matches!(answer, Answer::Done(_)) {
                        self.call(What::ListToRemove, Request::List, context, out);
                    }
                }
                Some(session) => self.call(What::Destroy, Request::DestroySession(session.id), context, out),
                None => self.rest(),
            },
            (What::ListToRemove, Answer::Listed(listing)) => self.remove(listing, context, out),
            (What::ReadToLeave | What::Leave, _) if context.scenario.service.ends_session => self.end(out),
            (What::ReadToLeave | What::Leave | What::Destroy | What::ListToRemove | What::Remove, _) => self.rest(),
            // On its way in.
            _ => self.fail(context, out),
        }
    }

    /// It has not got a slot, and there is no reason to wait for one. C-SEM-9: the Go client's attempt is over then, and its session.
    fn fail(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        if context.scenario.service.ends_session { self.end(out) } else { self.wait(context) }
    }

    /// Destroys its session, and does not wait for the answer.
    fn end(&mut self, out: &mut Outbox<Consul>) {
        if let Some(session) = self.session {
            ask(&mut self.last, Request::DestroySession(session.id), out);
        }
        self.rest();
    }

    /// C-SEM-4: compare the flags, decode, compare the limits, prune, count.
    fn look(&mut self, listing: Listing, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let Some(Membership { id, .. }) = self.session else { return self.rest() };
        if listing.slots.is_some_and(|entry| context.scenario.service.refuses(&entry)) {
            return self.fail(context, out);
        }
        if semaphore(context).after_race == AfterRace::Watch {
            self.since = listing.index;
        }
        let own = semaphore(context).limit(context.client());
        let is_full = |count: usize| count >= usize::from(own) && !context.is_mutated(ConsulMutation::LimitIgnored);
        if semaphore(context).registers == Registers::CountThenRegister {
            return if is_full(listing.alive.len()) {
                self.find_full(&listing, context, out)
            } else {
                self.register(context, out)
            };
        }
        let (slots, index) = decode(listing.slots, own);
        let disagrees = match semaphore(context).on_conflict {
            OnConflict::Refuse => slots.limit != own && !context.is_mutated(ConsulMutation::LimitConflictIgnored),
            OnConflict::Literal => listing.slots.is_some() && usize::from(slots.limit) != slots.holders.len(),
            OnConflict::Ignore => false,
        };
        if disagrees {
            out.record(Fact::Service(ConsulEvent::LimitConflict(context.client())));
            return self.fail(context, out);
        }
        let keeps_dead =
            semaphore(context).prunes == Prunes::Never || context.is_mutated(ConsulMutation::DeadHolderKept);
        let is_alive = |holder: &SessionId| keeps_dead || listing.alive.contains(holder);
        let doubted = slots.holders.iter().find(|holder| !is_alive(holder)).copied();
        let waits = match context.is_mutated(ConsulMutation::DoubtForgotten) {
            false => semaphore(context).prune_wait,
            true => Ticks::ZERO,
        };
        if waits > Ticks::ZERO && doubted.is_some() && doubted != self.doubt {
            self.doubt = doubted;
            self.phase = Phase::Waiting { retry: Deadline(context.now + waits) };
            return;
        }
        let dies = |holder: &SessionId| !is_alive(holder) && (waits == Ticks::ZERO || Some(*holder) == doubted);
        let takes_all_for_dead = context.is_mutated(ConsulMutation::PrunesTheLiving);
        let mut holders = slots.holders.filtered(|holder| !dies(holder) && !takes_all_for_dead);
        self.doubt = None;
        // After a lost response: it has its slot already.
        if holders.contains(&id) && semaphore(context).unclear == OnUncertainty::ReadAgain {
            return self.enter(context, out);
        }
        if is_full(holders.len()) {
            return self.find_full(&listing, context, out);
        }
        holders.push(id);
        let slots = Slots { limit: own, holders: sorted(holders.iter().copied()) };
        let again = (semaphore(context).unclear == OnUncertainty::Repeat).then_some((slots, index));
        self.take(What::Take { again }, slots, index, context, out);
    }

    /// C-SEM-4: it waits for the next change below the prefix.
    fn find_full(&mut self, listing: &Listing, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let settings = &context.scenario.service;
        out.record(Fact::Service(ConsulEvent::Full(context.client())));
        if settings.waiting.is_watching() {
            if semaphore(context).after_race == AfterRace::SameQuery {
                self.since = listing.index;
            }
            return self.watch_from(listing.index, context, out);
        }
        self.wait(context);
    }
}

/// Holders are a set: C-SEM-3.
fn sorted(holders: impl Iterator<Item = SessionId>) -> fencepost_model::inline_array::InlineArray<SessionId, 4> {
    let mut list: Vec<SessionId> = holders.collect();
    list.sort_unstable();
    list.into_iter().collect()
}
