//! The semaphore recipe of Consul's guide: a contender key by acquire, the coordination entry by compare-and-set, holders
//! without a live contender pruned (C-SEM-2 to C-SEM-7). Or, as a knob, the mistake of counting first and registering then.
//!
//! Here is the way in; `tenure` is the time with a slot, and the way out.

mod tenure;

use serde::{Deserialize, Serialize};

use super::membership::{Membership, News, lease_from, overstay};
use super::monitor::Watching;
use super::{ask, me};
use crate::fact::{Fact, Leaving};
use crate::ids::{Call, Index, SessionId};
use crate::mutation::Mutation;
use crate::process::{Belief, Context, Input, Message, Outbox};
use crate::protocol::Record;
use crate::protocols::consul::messages::{Listing, Slots, Word};
use crate::protocols::consul::settings::{self, LostRace, OnConflict, Prunes, Registers, Release, Semaphore, Unclear};
use crate::protocols::consul::{
    Answer, Claim, Consul, Entry, Key, Opaque, Request, Server, Target, Text, Timer, Watch, Wish,
};
use crate::scenario::Scenario;
use crate::time::{Instant, Ticks};
use crate::world::normal::{Normal, Visitor};

/// A client that wants a slot.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct SlotTaker {
    phase: Phase,
    session: Option<Membership>,
    /// Whether its contender key is there.
    is_registered: bool,
    /// A holder that it has found dead, and will take off the list after a while.
    doubt: Option<SessionId>,
    rounds: u8,
    /// How many requests may still be given up.
    retries: u8,
    last: Call,
    /// The blocking query on the prefix.
    monitor: Option<Watching>,
}

/// Where it stands.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Phase {
    /// The user wants nothing.
    Idle,
    /// Refused; it tries anew.
    Waiting { retry: Instant },
    /// A request is under way that decides how it goes on.
    Calling { call: Call, what: What, give_up: Option<Instant> },
    /// It believes that it has a slot.
    Inside { limit: u8 },
    /// The slot is lost, and the job is being killed.
    Killing { at: Instant, limit: u8 },
}

/// What the request is about.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum What {
    /// A session. The lease counts from here.
    Create { until_if_created: Option<Instant> },
    /// Its contender key.
    Register,
    /// Everything below the prefix, to see whether a slot is free.
    List,
    /// The same, as soon as something changes there.
    Await,
    /// A slot. What it would send again without an answer: the list, if the entry is still at this index.
    Take { again: Option<(Slots, Index)> },
    /// The same list once more.
    TakeAgain,
    /// Everything below the prefix, to take itself off.
    ListToLeave,
    /// Taking itself off.
    Leave,
    /// The end of its contender key.
    Unregister,
    /// The end of its session.
    Destroy,
}

impl SlotTaker {
    pub(in crate::protocols::consul) fn new(scenario: &Scenario<Consul>) -> Self {
        SlotTaker {
            phase: Phase::Idle,
            session: None,
            is_registered: false,
            doubt: None,
            rounds: scenario.rounds,
            retries: scenario.budget.retries,
            last: Call(0),
            monitor: None,
        }
    }

    pub(super) fn on(&mut self, input: Input<Consul>, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        match (self.phase, input) {
            (Phase::Idle, Input::Command(Wish::Acquire)) => {
                self.rounds -= 1;
                self.attempt(context, out);
            }
            (Phase::Waiting { .. }, Input::Wake(Timer::Retry)) => self.attempt(context, out),
            (Phase::Inside { .. }, Input::Command(Wish::Release)) => {
                out.record(Fact::Left { client: me(context), why: Leaving::Done });
                self.start_leaving(context, out);
            }
            (Phase::Inside { .. }, Input::Wake(Timer::Lapse)) => self.lose(Leaving::Lapsed, context, out),
            (Phase::Inside { .. }, Input::Wake(Timer::Rewatch)) => {
                self.monitor = self.monitor.and_then(|old| old.again(Target::Prefix, &mut self.last, context, out));
            }
            (Phase::Inside { .. }, Input::Wake(Timer::Unwatch)) => self.lose(Leaving::Told, context, out),
            (Phase::Killing { .. }, Input::Wake(Timer::Kill)) => {
                out.record(Fact::Left { client: me(context), why: Leaving::Told });
                self.start_leaving(context, out);
            }
            (Phase::Calling { what, .. }, Input::Wake(Timer::GiveUp)) => {
                self.retries -= 1;
                self.give_up(what, context, out);
            }
            (_, Input::Wake(Timer::Renew)) => {
                let SlotTaker { session: Some(session), last, retries, .. } = self else { return };
                session.renew(last, retries, context, out);
            }
            (_, Input::Message { message: Message::Service(Text::Tell(to, answer)), .. }) => {
                self.hear(to, answer, context, out);
            }
            _ => {}
        }
    }

    fn hear(&mut self, to: Call, answer: Answer, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        match self.phase {
            Phase::Calling { call, what, .. } if call == to => self.go_on(what, answer, context, out),
            Phase::Inside { .. } if self.monitor.is_some_and(|watching| watching.hears(to)) => {
                self.hear_monitor(answer, context, out);
            }
            _ => {
                let Some(session) = &mut self.session else { return };
                let tells_nobody = context.scenario.service.belief == settings::Belief::ByMonitor
                    && matches!(self.phase, Phase::Inside { .. });
                if session.hear(to, answer, context) == Some(News::Gone) && !tells_nobody {
                    self.lose(Leaving::Told, context, out);
                    self.forget();
                }
            }
        }
    }

    /// Session, contender key, slot: whatever comes next. Who counts first looks before it registers.
    fn attempt(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let settings = &context.scenario.service;
        if self.session.is_none() {
            let what = What::Create { until_if_created: lease_from(context) };
            return self.call(what, Request::CreateSession(settings.terms()), context, out);
        }
        if self.is_registered || semaphore(context).registers == Registers::CountThenRegister {
            return self.call(What::List, Request::List, context, out);
        }
        self.register(context, out);
    }

    /// C-SEM-2: `<prefix>/<session>`, by acquire.
    fn register(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let Some(Membership { id, .. }) = self.session else { return };
        let claim = Claim::new(Key::Contender(id), id, Opaque::Empty, 0);
        self.call(What::Register, Request::Acquire(claim), context, out);
    }

    fn call(&mut self, what: What, request: Request, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        // A blocking query may take its time.
        let patience = context.scenario.service.patience.filter(|_| self.retries > 0 && what != What::Await);
        let give_up = patience.map(|patience| context.now + patience);
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
        let (key, value) = (Key::Slots, Opaque::Slots(slots));
        let cas = match context.is_mutated(Mutation::TakesByPut) {
            false => Request::Cas { key, index, value, flags: 0 },
            true => Request::Put { key, value, flags: 0 },
        };
        self.call(what, cas, context, out);
    }

    /// No answer came. What was asked may have been done.
    fn give_up(&mut self, what: What, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        match (what, semaphore(context).unclear) {
            (What::Take { again: Some((slots, index)) }, _) => self.take(What::TakeAgain, slots, index, context, out),
            (What::Take { .. } | What::TakeAgain, Unclear::Report) => self.clean_up(context, out),
            (What::Create { .. } | What::Register, _) => self.attempt(context, out),
            (What::List | What::Await | What::Take { .. } | What::TakeAgain, _) => {
                self.call(What::List, Request::List, context, out);
            }
            (What::ListToLeave | What::Leave, _) => self.call(What::ListToLeave, Request::List, context, out),
            (What::Unregister, _) => self.unregister(context, out),
            (What::Destroy, _) => self.rest(),
        }
    }

    fn go_on(&mut self, what: What, answer: Answer, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        match (what, answer) {
            (What::Create { until_if_created }, Answer::Created(id)) => {
                self.session = Some(Membership::new(id, until_if_created, context));
                self.is_registered = false;
                self.attempt(context, out);
            }
            (What::Register, Answer::Done(true)) => {
                self.is_registered = true;
                match semaphore(context).registers {
                    Registers::Cas => self.call(What::List, Request::List, context, out),
                    Registers::CountThenRegister => self.enter(context, out),
                }
            }
            // C-GDE-2: a session that is gone is an error; `false` means that somebody else has the key, or a lock-delay.
            (What::Register, Answer::InvalidSession | Answer::Done(false)) => {
                self.forget();
                self.wait(context);
            }
            (What::List | What::Await, Answer::Listed(listing)) => self.look(listing, context, out),
            (What::Take { .. } | What::TakeAgain, Answer::Done(true)) => self.enter(context, out),
            (What::Take { .. }, Answer::Done(false)) if context.is_mutated(Mutation::EntersOnFalse) => {
                self.enter(context, out);
            }
            // C-SEM-4: somebody else was faster; it looks again at once.
            (What::Take { .. } | What::TakeAgain, Answer::Done(false)) => {
                self.call(What::List, Request::List, context, out);
            }
            (What::ListToLeave, Answer::Listed(listing)) => self.take_itself_off(listing, context, out),
            // C-SEM-7: on a lost race it reads again and repeats.
            (What::Leave, Answer::Done(false)) if semaphore(context).lost_race == LostRace::Repeat => {
                self.call(What::ListToLeave, Request::List, context, out);
            }
            (What::Leave, Answer::Done(_)) => self.clean_up(context, out),
            (What::Unregister, _) => match self.session {
                Some(session) => self.call(What::Destroy, Request::DestroySession(session.id), context, out),
                None => self.rest(),
            },
            (
                What::Create { .. } | What::Register | What::List | What::Await | What::Take { .. } | What::TakeAgain,
                _,
            ) => self.wait(context),
            (What::ListToLeave | What::Leave | What::Destroy, _) => self.rest(),
        }
    }

    /// C-SEM-4: decode, compare the limits, prune, count.
    fn look(&mut self, listing: Listing, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let Some(Membership { id, .. }) = self.session else { return self.rest() };
        let own = semaphore(context).limit(me(context));
        let is_full = |count: usize| count >= usize::from(own) && !context.is_mutated(Mutation::LimitIgnored);
        if semaphore(context).registers == Registers::CountThenRegister {
            return if is_full(listing.alive.len()) {
                self.find_full(&listing, context, out)
            } else {
                self.register(context, out)
            };
        }
        let (slots, index) = decode(&listing, own);
        let disagrees = match semaphore(context).on_conflict {
            OnConflict::Refuse => slots.limit != own,
            OnConflict::Literal => listing.slots.is_some() && usize::from(slots.limit) != slots.holders.len(),
            OnConflict::Ignore => false,
        };
        if disagrees {
            out.record(Fact::Service(Word::LimitConflict(me(context))));
            return self.wait(context);
        }
        let is_alive =
            |holder: &SessionId| semaphore(context).prunes == Prunes::Never || listing.alive.contains(holder);
        let doubted = slots.holders.iter().find(|holder| !is_alive(holder)).copied();
        let waits = match context.is_mutated(Mutation::DoubtForgotten) {
            false => semaphore(context).prune_wait,
            true => Ticks::ZERO,
        };
        if waits > Ticks::ZERO && doubted.is_some() && doubted != self.doubt {
            self.doubt = doubted;
            self.phase = Phase::Waiting { retry: context.now + waits };
            return;
        }
        let dies = |holder: &SessionId| !is_alive(holder) && (waits == Ticks::ZERO || Some(*holder) == doubted);
        let takes_all_for_dead = context.is_mutated(Mutation::PrunesTheLiving);
        let mut holders = slots.holders.filtered(|holder| !dies(holder) && !takes_all_for_dead);
        self.doubt = None;
        // After an answer that was lost: it has its slot already.
        if holders.contains(&id) && semaphore(context).unclear == Unclear::ReadAgain {
            return self.enter(context, out);
        }
        if is_full(holders.len()) {
            return self.find_full(&listing, context, out);
        }
        holders.push(id);
        let slots = Slots { limit: own, holders: sorted(holders.iter().copied()) };
        let again = (semaphore(context).unclear == Unclear::Repeat).then_some((slots, index));
        self.take(What::Take { again }, slots, index, context, out);
    }

    /// C-SEM-4: it waits for the next change below the prefix.
    fn find_full(&mut self, listing: &Listing, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let settings = &context.scenario.service;
        out.record(Fact::Service(Word::Full(me(context))));
        if settings.waiting.is_watching() {
            let watch = Watch { target: Target::Prefix, index: listing.index, wait: settings.watch_wait };
            return self.call(What::Await, Request::Watch(watch), context, out);
        }
        self.wait(context);
    }

    pub(super) fn commands(&self, context: &Context<'_, Consul>, offer: &mut dyn FnMut(Wish)) {
        match self.phase {
            Phase::Idle if self.rounds > 0 => offer(Wish::Acquire),
            Phase::Inside { .. } if context.scenario.service.release != Release::Never => offer(Wish::Release),
            _ => {}
        }
    }

    pub(super) fn wakes(&self, scenario: &Scenario<Consul>, due: &mut dyn FnMut(Timer, Instant)) {
        match self.phase {
            Phase::Waiting { retry } => due(Timer::Retry, retry),
            Phase::Killing { at, .. } => due(Timer::Kill, at),
            Phase::Calling { give_up: Some(at), .. } if self.retries > 0 => due(Timer::GiveUp, at),
            _ => {}
        }
        self.monitor.iter().for_each(|watching| watching.wakes(due));
        let Some(session) = self.session else { return };
        session.wakes(self.retries, due);
        if matches!(self.phase, Phase::Inside { .. })
            && scenario.service.counts_lease()
            && let Some(until) = session.until
        {
            due(Timer::Lapse, until + overstay(scenario));
        }
    }

    /// What survives a crash: what its user still wants.
    pub(super) fn restarted(&self, scenario: &Scenario<Consul>) -> Self {
        SlotTaker { rounds: self.rounds, retries: self.retries, last: self.last, ..SlotTaker::new(scenario) }
    }

    pub(super) fn belief(&self) -> Belief {
        let until = self.session.and_then(|session| session.until);
        match self.phase {
            Phase::Inside { limit } | Phase::Killing { limit, .. } => {
                Belief { is_inside: true, until, slots: Some(limit.into()), is_waiting: false }
            }
            Phase::Waiting { .. }
            | Phase::Calling {
                what:
                    What::Create { .. } | What::Register | What::List | What::Await | What::Take { .. } | What::TakeAgain,
                ..
            } => Belief { is_waiting: true, ..Belief::default() },
            Phase::Idle | Phase::Calling { .. } => Belief::default(),
        }
    }
}

fn semaphore<'a>(context: &'a Context<'_, Consul>) -> &'a Semaphore {
    context.scenario.service.semaphore.as_ref().expect("slots are taken in semaphores only")
}

/// What the coordination entry says, and its index; an absent one is an empty set with one's own limit, and index 0.
fn decode(listing: &Listing, own: u8) -> (Slots, Index) {
    match listing.slots {
        Some(Entry { value: Opaque::Slots(slots), modify, .. }) => (slots, modify),
        Some(Entry { modify, .. }) => (Slots { limit: own, ..Slots::default() }, modify),
        None => (Slots { limit: own, ..Slots::default() }, Index(0)),
    }
}

/// Holders are a set: C-SEM-3.
fn sorted(holders: impl Iterator<Item = SessionId>) -> crate::few::Few<SessionId, 4> {
    let mut list: Vec<SessionId> = holders.collect();
    list.sort_unstable();
    list.into_iter().collect()
}

/// Who holds a slot by record, and how many slots there are by record.
pub(in crate::protocols::consul) fn record_of_slots(server: &Server, semaphore: &Semaphore) -> Record {
    let (holders, limit): (Vec<SessionId>, u8) = match (semaphore.registers, server.slots()) {
        (Registers::Cas, Some(slots)) => (slots.holders.to_vec(), slots.limit),
        (Registers::Cas, None) => return Record::default(),
        (Registers::CountThenRegister, _) => (server.contenders().collect(), semaphore.limits[0]),
    };
    let owners = holders.iter().map(|session| session.creator).collect();
    Record { owners, slots: Some(limit.into()), ..Record::default() }
}

impl Normal for SlotTaker {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        match &mut self.phase {
            Phase::Idle | Phase::Inside { .. } => {}
            Phase::Waiting { retry } => visitor.deadline(retry),
            Phase::Calling { call, what, give_up } => {
                visitor.call(call);
                match what {
                    What::Create { until_if_created: Some(until) } => visitor.until(until),
                    What::Take { again: Some((slots, index)) } => {
                        slots.holders.each(|session| visitor.session(session));
                        slots.holders.sort();
                        visitor.index(index);
                    }
                    _ => {}
                }
                give_up.iter_mut().for_each(|at| visitor.deadline(at));
            }
            Phase::Killing { at, .. } => visitor.deadline(at),
        }
        if let Some(session) = &mut self.session {
            session.visit(visitor);
        }
        self.doubt.iter_mut().for_each(|session| visitor.session(session));
        self.monitor.iter_mut().for_each(|watching| watching.visit(visitor));
        visitor.call(&mut self.last);
    }
}
