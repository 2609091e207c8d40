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
use crate::protocols::consul::settings::{self, OnConflict, Registers, Release, Semaphore};
use crate::protocols::consul::{
    Answer, Claim, Consul, Entry, Key, Opaque, Request, Server, Target, Text, Timer, Watch, Wish,
};
use crate::scenario::Scenario;
use crate::time::Instant;
use crate::world::normal::{Normal, Visitor};

/// A client that wants a slot.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct SlotTaker {
    phase: Phase,
    session: Option<Membership>,
    /// Whether its contender key is there.
    is_registered: bool,
    rounds: u8,
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
    Calling { call: Call, what: What },
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
    /// A slot.
    Take,
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
            rounds: scenario.rounds,
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
            (_, Input::Wake(Timer::Renew)) => {
                if let Some(session) = &mut self.session {
                    session.renew(&mut self.last, &mut 0, context, out);
                }
            }
            (_, Input::Message { message: Message::Service(Text::Tell(to, answer)), .. }) => {
                self.hear(to, answer, context, out);
            }
            _ => {}
        }
    }

    fn hear(&mut self, to: Call, answer: Answer, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        match self.phase {
            Phase::Calling { call, what } if call == to => self.go_on(what, answer, context, out),
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
            return self.call(what, Request::CreateSession(settings.terms()), out);
        }
        if self.is_registered || semaphore(context).registers == Registers::CountThenRegister {
            return self.call(What::List, Request::List, out);
        }
        self.register(out);
    }

    /// C-SEM-2: `<prefix>/<session>`, by acquire.
    fn register(&mut self, out: &mut Outbox<Consul>) {
        let Some(Membership { id, .. }) = self.session else { return };
        let claim = Claim::new(Key::Contender(id), id, Opaque::Empty, 0);
        self.call(What::Register, Request::Acquire(claim), out);
    }

    fn call(&mut self, what: What, request: Request, out: &mut Outbox<Consul>) {
        self.phase = Phase::Calling { call: ask(&mut self.last, request, out), what };
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
                    Registers::Cas => self.call(What::List, Request::List, out),
                    Registers::CountThenRegister => self.enter(context, out),
                }
            }
            // C-GDE-2: a session that is gone is an error; `false` means that somebody else has the key, or a lock-delay.
            (What::Register, Answer::InvalidSession | Answer::Done(false)) => {
                self.forget();
                self.wait(context);
            }
            (What::List | What::Await, Answer::Listed(listing)) => self.look(listing, context, out),
            (What::Take, Answer::Done(true)) => self.enter(context, out),
            // C-SEM-4: somebody else was faster; it looks again at once.
            (What::Take, Answer::Done(false)) => self.call(What::List, Request::List, out),
            (What::ListToLeave, Answer::Listed(listing)) => self.take_itself_off(listing, out),
            // C-SEM-7: on a lost race it reads again and repeats.
            (What::Leave, Answer::Done(false)) => self.call(What::ListToLeave, Request::List, out),
            (What::Leave, Answer::Done(true)) => self.unregister(out),
            (What::Unregister, _) => match self.session {
                Some(session) => self.call(What::Destroy, Request::DestroySession(session.id), out),
                None => self.rest(),
            },
            (What::Create { .. } | What::Register | What::List | What::Await | What::Take, _) => self.wait(context),
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
                self.register(out)
            };
        }
        let (slots, index) = decode(&listing, own);
        if slots.limit != own && semaphore(context).on_conflict == OnConflict::Refuse {
            out.record(Fact::Service(Word::LimitConflict(me(context))));
            return self.unregister(out);
        }
        let mut holders = slots.holders.filtered(|holder| listing.alive.contains(holder));
        if is_full(holders.len()) {
            return self.find_full(&listing, context, out);
        }
        holders.push(id);
        let value = Opaque::Slots(Slots { limit: own, holders: sorted(holders.iter().copied()) });
        self.call(What::Take, Request::Cas { key: Key::Slots, index, value, flags: 0 }, out);
    }

    /// C-SEM-4: it waits for the next change below the prefix.
    fn find_full(&mut self, listing: &Listing, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let settings = &context.scenario.service;
        out.record(Fact::Service(Word::Full(me(context))));
        if settings.waiting.is_watching() {
            let watch = Watch { target: Target::Prefix, index: listing.index, wait: settings.watch_wait };
            return self.call(What::Await, Request::Watch(watch), out);
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
            _ => {}
        }
        self.monitor.iter().for_each(|watching| watching.wakes(due));
        let Some(session) = self.session else { return };
        session.wakes(0, due);
        if matches!(self.phase, Phase::Inside { .. })
            && scenario.service.counts_lease()
            && let Some(until) = session.until
        {
            due(Timer::Lapse, until + overstay(scenario));
        }
    }

    /// What survives a crash: what its user still wants.
    pub(super) fn restarted(&self, scenario: &Scenario<Consul>) -> Self {
        SlotTaker { rounds: self.rounds, last: self.last, ..SlotTaker::new(scenario) }
    }

    pub(super) fn belief(&self) -> Belief {
        let until = self.session.and_then(|session| session.until);
        match self.phase {
            Phase::Inside { limit } | Phase::Killing { limit, .. } => {
                Belief { is_inside: true, until, slots: Some(limit.into()), is_waiting: false }
            }
            Phase::Waiting { .. }
            | Phase::Calling {
                what: What::Create { .. } | What::Register | What::List | What::Await | What::Take,
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
            Phase::Calling { call, what } => {
                visitor.call(call);
                if let What::Create { until_if_created: Some(until) } = what {
                    visitor.until(until);
                }
            }
            Phase::Killing { at, .. } => visitor.deadline(at),
        }
        if let Some(session) = &mut self.session {
            session.visit(visitor);
        }
        self.monitor.iter_mut().for_each(|watching| watching.visit(visitor));
        visitor.call(&mut self.last);
    }
}
