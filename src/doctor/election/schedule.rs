//! An execution that breaks mutual exclusion, in exact durations: it is not sought but arranged. The leader is as late as its bounds allow, and
//! the contender is in time. No reason is needed for it, because the exact scenario accepts each step, or there is no execution.

use fencepost_model::ids::{ClientId, ProcessId};
use fencepost_model::monitor::Observed;
use fencepost_model::process::Message;
use fencepost_model::properties::Property;
use fencepost_model::scenario::Scenario;
use fencepost_model::time::Ticks;
use fencepost_model::trace::{Recorder, Trace, replay};
use fencepost_model::world::{Action, Fault};
use fencepost_observed_lease::{ObservedLease, ObservedLeaseMessage, Rate, Response};

use super::question::ElectionQuestion;
use super::small::exactly;
use crate::promise::Promise;
use crate::rounding::{FINEST, divisor, down, exact, sum};

const LEADER: ClientId = ClientId(1);
const CONTENDER: ClientId = ClientId(2);

/// The maximum number of steps: a leader that tries to renew a thousand times within its deadline is not shown.
const STEPS_MAX: usize = 20_000;

/// The leader renews, is cut off, and acts on; the contender reads its record at once and looks again at the end of the lease. With
/// ReleaseOnCancel the link heals when the leader gives up, its release is applied, and the contender looks before the leader has told its
/// work (OL-K-10). None: nothing is broken so.
pub(super) fn broken(question: &ElectionQuestion) -> Option<Trace<ObservedLease>> {
    let target = match question.release {
        true => sum(question.retry_period, question.renew_deadline),
        false => question.observed(),
    };
    // The contender sleeps once for longer, so that all its sleeps come to that instant (OL-K-6).
    let retry = down(question.retry_period, FINEST);
    let longer = down(target, FINEST) % retry;
    let (spread, grain) = if longer == 0 { (0, 1) } else { (1, longer) };
    let scenario = exactly(question, Promise::MutualExclusion, spread, Ticks::new(grain));
    let gives_up = question.release.then(|| exact(target));
    let arranged = |scenario: &Scenario<ObservedLease>| {
        let world = scenario.observed();
        Arranged { scenario, world, recorder: Recorder::default(), is_broken: false }.run(gives_up)
    };
    arranged(&scenario).or_else(|| arranged(&with_slow_leader(&scenario, question)?))
}

/// The same with a leader whose clock is as slow as it may be (EQ-L4); none: its durations would be no whole ticks.
fn with_slow_leader(
    scenario: &Scenario<ObservedLease>,
    question: &ElectionQuestion,
) -> Option<Scenario<ObservedLease>> {
    let (million, drift) = (1_000_000, i64::from(question.drift.0));
    let common = divisor(million, drift);
    let rate =
        Rate { shows: u16::try_from(million / common).ok()?, per: u16::try_from((million + drift) / common).ok()? };
    let mut slow = scenario.clone();
    slow.service.rates = vec![rate];
    (drift > 0 && slow.validate().is_ok()).then_some(slow)
}

struct Arranged<'a> {
    scenario: &'a Scenario<ObservedLease>,
    world: Observed<ObservedLease>,
    recorder: Recorder<ObservedLease>,
    is_broken: bool,
}

impl Arranged<'_> {
    /// `gives_up`: how long after the renewal the leader gives up and releases, if it does.
    fn run(mut self, gives_up: Option<Ticks>) -> Option<Trace<ObservedLease>> {
        self.take(|action| matches!(action, Action::Command { client: LEADER, .. }))?;
        while self.world.inside().next().is_none() {
            self.take(|action| is_delivery(action, LEADER))?;
        }
        // It renews at once (OL-K-7), and perhaps reads before (OL-K-5): the store applies that now, and the contender reads it.
        while self.take(|action| is_request(action, LEADER) || is_read(action, LEADER)).is_some() {}
        let applied = self.world.now;
        self.take(|action| matches!(action, Action::Command { client: CONTENDER, .. }))?;
        while self.take(|action| is_delivery(action, CONTENDER)).is_some() {}
        // It draws between two lengths at most, and the shorter one needs no choice.
        let _ = self.take(|action| matches!(action, Action::Choose { .. }) && action.concerns(CONTENDER));
        let mut is_acknowledged = false;
        for _ in 0..STEPS_MAX {
            if self.is_broken || self.world.inside().all(|client| client != LEADER) {
                break;
            }
            let is_over = gives_up.is_some_and(|after| self.world.now == applied + after);
            if is_over && is_acknowledged && self.release() {
                continue;
            }
            if self.contend() {
                continue;
            }
            // With a release nothing needs to be late.
            let slack = self.world.slack(self.scenario).filter(|_| gives_up.is_none());
            let due = slack.or_else(|| self.next_of(LEADER));
            let next = match (due, self.next_of(CONTENDER)) {
                (Some(one), Some(other)) => one.min(other),
                (one, other) => one.or(other)?,
            };
            if next > Ticks::ZERO && (is_acknowledged || gives_up.is_none()) {
                self.advance(next)?;
            } else if !is_acknowledged {
                self.take(|action| is_delivery(action, LEADER))?;
                is_acknowledged = true;
                self.take(|action| matches!(action, Action::Fault(Fault::Cut(_))) && action.concerns(LEADER))?;
            } else {
                self.take(|action| matches!(action, Action::Wake { .. }) && action.concerns(LEADER))
                    .or_else(|| self.take(|action| is_delivery(action, LEADER)))?;
            }
        }
        let trace = self.recorder.finish(self.scenario, "doctor", None);
        if self.is_broken { replay(&trace).ok() } else { None }
    }

    /// The leader gives up over a link that has healed, and its release is applied; false: there is nothing to do for it any more.
    fn release(&mut self) -> bool {
        self.take(|action| matches!(action, Action::Fault(Fault::Heal(_))))
            .or_else(|| self.take(|action| matches!(action, Action::Wake { .. }) && action.concerns(LEADER)))
            .or_else(|| self.take(|action| is_request(action, LEADER) || is_read(action, LEADER)))
            .is_some()
    }

    /// The contender does what it can do now, with its shortest sleeps; false: it can do nothing.
    fn contend(&mut self) -> bool {
        self.take(|action| is_delivery(action, CONTENDER))
            .or_else(|| self.take(|action| matches!(action, Action::Wake { .. }) && action.concerns(CONTENDER)))
            .is_some()
    }

    /// How long until the next deadline of a client; none: it has none ahead.
    fn next_of(&self, client: ClientId) -> Option<Ticks> {
        let mut next = None;
        self.world.wakes(self.scenario, ProcessId::Client(client), &mut |_, due| {
            let left = (due - self.world.now).max(Ticks::ZERO);
            next = Some(next.map_or(left, |other: Ticks| other.min(left)));
        });
        next
    }

    fn advance(&mut self, by: Ticks) -> Option<()> {
        let action = Action::Advance(by);
        self.scenario.is_enabled(&self.world, &action).then(|| self.step(&action))
    }

    /// Takes the first enabled action of which this holds.
    fn take(&mut self, is_wanted: impl Fn(&Action<ObservedLease>) -> bool) -> Option<()> {
        let mut enabled = Vec::new();
        self.scenario.enabled(&self.world, &mut enabled);
        let action = enabled.into_iter().find(is_wanted)?;
        self.step(&action);
        Some(())
    }

    fn step(&mut self, action: &Action<ObservedLease>) {
        let step = self.recorder.step(self.scenario, &mut self.world, action);
        self.is_broken |= step.violations.iter().any(|violation| violation.property == Property::MutualExclusion);
    }
}

fn is_delivery(action: &Action<ObservedLease>, client: ClientId) -> bool {
    matches!(action, Action::Deliver(_)) && action.concerns(client)
}

/// A request of the client arrives at the store.
fn is_request(action: &Action<ObservedLease>, client: ClientId) -> bool {
    matches!(action, Action::Deliver(envelope) if envelope.from == ProcessId::Client(client))
}

/// The client hears what it has read.
fn is_read(action: &Action<ObservedLease>, client: ClientId) -> bool {
    let Action::Deliver(envelope) = action else { return false };
    let is_found = matches!(envelope.message, Message::Service(ObservedLeaseMessage::Response(_, Response::Found(_))));
    envelope.to == ProcessId::Client(client) && is_found
}
