//! The semaphore recipe of Consul's guide: a contender key by acquire, the coordination entry by compare-and-set, and
//! pruning of holders without a live contender (C-SEM-2 to C-SEM-7). A setting adds the mistake of counting first and
//! registering afterwards.
//!
//! `attempt` is the way in, `tenure` the time with a slot, and the way out.

mod attempt;
mod tenure;

use serde::{Deserialize, Serialize};

use super::membership::{Membership, SessionNews, overstay};
use super::monitor::Watching;
use crate::messages::Slots;
use crate::settings::{self, Registers, Release, Semaphore};
use crate::{Answer, Command, Consul, ConsulMessage, Entry, Opaque, Server, Target, Timer};
use fencepost_model::fact::{Fact, Leaving};
use fencepost_model::ids::{Call, Index, RawId, SessionId};
use fencepost_model::normal::Normal;
use fencepost_model::process::{Belief, Context, Input, Message, Outbox};
use fencepost_model::rounds;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Record;
use fencepost_model::time::{Deadline, Instant, LeaseEnd};

/// A contender for a slot.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct SlotTaker {
    phase: Phase,
    session: Option<Membership>,
    /// Whether its contender key exists.
    is_registered: bool,
    /// The index of its query on the prefix; 0: it asks for the listing at once. See [`AfterRace`](crate::AfterRace).
    since: Index,
    /// A holder that it has found dead and will prune after a delay.
    doubt: Option<SessionId>,
    rounds: u8,
    /// How many requests it may still give up.
    retries: u8,
    #[normal(counter)]
    last: Call,
    /// The blocking query on the prefix.
    monitor: Option<Watching>,
}

/// The phase of a contender for a slot.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Phase {
    /// Idle: the user has given no command.
    Idle,
    /// It was refused and tries again later.
    Waiting { retry: Deadline },
    /// A request is in flight whose response decides the next step.
    Calling { call: Call, what: What, give_up: Option<Deadline> },
    /// It believes that it has a slot.
    Inside { limit: u8 },
    /// The slot is lost, and the job is being killed.
    Killing { at: Deadline, limit: u8 },
}

/// The purpose of the request.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum What {
    /// Create a session. The lease counts from the request.
    Create { until_if_created: Option<LeaseEnd> },
    /// Its contender key in another semaphore.
    RegisterElsewhere,
    /// Its contender key.
    Register,
    /// Everything below the prefix, to see whether a slot is free.
    List,
    /// Watch the listing for a change.
    Await,
    /// Take a slot. After a missing response it may send the list again, if the entry still has this index.
    Take { again: Option<(Slots, Index)> },
    /// The same list once more.
    TakeAgain,
    /// Read the coordination entry, to take itself off.
    ReadToLeave,
    /// Taking itself off.
    Leave,
    /// Delete its contender key.
    Unregister,
    /// Destroy its session.
    Destroy,
    /// Everything below the prefix, before cleaning up.
    ListToRemove,
    /// Remove the coordination entry.
    Remove,
}

impl What {
    /// Whether it is on its way in.
    fn is_way_in(self) -> bool {
        !matches!(
            self,
            What::ReadToLeave | What::Leave | What::Unregister | What::Destroy | What::ListToRemove | What::Remove
        )
    }
}

impl SlotTaker {
    pub(crate) fn new(scenario: &Scenario<Consul>) -> Self {
        SlotTaker {
            phase: Phase::Idle,
            session: None,
            is_registered: false,
            since: Index::NONE,
            doubt: None,
            rounds: scenario.rounds,
            retries: scenario.budget.retries,
            last: Call(0),
            monitor: None,
        }
    }

    pub(super) fn on(&mut self, input: Input<Consul>, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        match (self.phase, input) {
            (Phase::Idle, Input::Command(Command::Acquire)) => {
                rounds::take(&mut self.rounds);
                self.attempt(context, out);
            }
            (Phase::Waiting { .. }, Input::Wake(Timer::Retry)) => self.attempt(context, out),
            (Phase::Inside { .. }, Input::Command(Command::Release)) => {
                out.record(Fact::Left { client: context.client(), why: Leaving::Done });
                self.start_leaving(context, out);
            }
            (Phase::Inside { .. }, Input::Wake(Timer::Lapse)) => self.lose(Leaving::Lapsed, context, out),
            (Phase::Inside { .. }, Input::Wake(Timer::Rewatch)) => {
                self.monitor = self.monitor.and_then(|old| old.again(Target::Prefix, &mut self.last, context, out));
            }
            (Phase::Inside { .. }, Input::Wake(Timer::Unwatch)) => self.lose(Leaving::Notified, context, out),
            (Phase::Killing { .. }, Input::Wake(Timer::Kill)) => {
                out.record(Fact::Left { client: context.client(), why: Leaving::Notified });
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
            (_, Input::Message { message: Message::Service(ConsulMessage::Response(to, answer)), .. }) => {
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
                let is_decided_by_monitor = context.scenario.service.belief == settings::BeliefRule::ByMonitor
                    && matches!(self.phase, Phase::Inside { .. });
                if session.hear(to, answer, context) == Some(SessionNews::Gone) && !is_decided_by_monitor {
                    self.lose(Leaving::Notified, context, out);
                    self.forget();
                }
            }
        }
    }

    pub(super) fn commands(&self, context: &Context<'_, Consul>, offer: &mut dyn FnMut(Command)) {
        match self.phase {
            Phase::Idle if self.rounds > 0 => offer(Command::Acquire),
            Phase::Inside { .. } if context.scenario.service.release != Release::Never => offer(Command::Release),
            _ => {}
        }
    }

    pub(super) fn wakes(&self, scenario: &Scenario<Consul>, due: &mut dyn FnMut(Timer, Instant)) {
        match self.phase {
            Phase::Waiting { retry } => due(Timer::Retry, retry.0),
            Phase::Killing { at, .. } => due(Timer::Kill, at.0),
            Phase::Calling { give_up: Some(at), .. } if self.retries > 0 => due(Timer::GiveUp, at.0),
            _ => {}
        }
        self.monitor.iter().for_each(|watching| watching.wakes(due));
        let Some(session) = self.session else { return };
        session.wakes(self.retries, due);
        if matches!(self.phase, Phase::Inside { .. })
            && scenario.service.counts_lease()
            && let Some(until) = session.until
        {
            due(Timer::Lapse, until.0 + overstay(scenario));
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
                Belief { is_inside: true, until, slots: Some(limit.into()), ..Belief::default() }
            }
            Phase::Waiting { .. } => Belief { is_waiting: true, ..Belief::default() },
            Phase::Calling { what, .. } if what.is_way_in() => Belief { is_waiting: true, ..Belief::default() },
            Phase::Idle | Phase::Calling { .. } => Belief::default(),
        }
    }
}

fn semaphore<'a>(context: &'a Context<'_, Consul>) -> &'a Semaphore {
    context.scenario.service.semaphore.as_ref().expect("slots are taken in semaphores only")
}

/// Content and index of the coordination entry; an absent one is an empty set with the client's own limit, and
/// index 0.
fn decode(entry: Option<Entry>, own: u8) -> (Slots, Index) {
    match entry {
        Some(Entry { value: Opaque::Slots(slots), modify, .. }) => (slots, modify),
        Some(Entry { modify, .. }) => (Slots { limit: own, ..Slots::default() }, modify),
        None => (Slots { limit: own, ..Slots::default() }, Index::NONE),
    }
}

/// The holders of slots on record, and the limit on record.
pub(crate) fn record_of_slots(server: &Server, semaphore: &Semaphore) -> Record {
    let (holders, limit): (Vec<SessionId>, u8) = match (semaphore.registers, server.slots()) {
        (Registers::Cas, Some(slots)) => (slots.holders.to_vec(), slots.limit),
        (Registers::Cas, None) => return Record::default(),
        (Registers::CountThenRegister, _) => (server.contenders().collect(), semaphore.limits[0]),
    };
    let owners = holders.iter().map(|session| session.raw().creator).collect();
    Record { owners, slots: Some(limit.into()), ..Record::default() }
}
