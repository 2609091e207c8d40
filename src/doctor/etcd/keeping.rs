//! Whether a session is kept: scenarios of one client that lives and reaches etcd, and the execution in which everything is as late as it may be.
//!
//! **Wider.** A renewal is due T/3 after the answer to the last one, and sent with the next tick of a loop of half a second (E-CC-2), later by the
//! drift of that and by a pause: in the small scenario at any time between. Messages and pauses are rounded up; T, the deadline until the first renewal is
//! answered (E-CC-4), and what a holder that stops before the end counts are rounded down, and each may be found later. A lease ends in the instant
//! in which it may: where it ends later, it would have ended then. Other clients change nothing, and neither do rounds: each begins with a lease of its own.
//!
//! **Broken** is what an execution in exact durations breaks, and it is arranged: what a holder asks to begin takes no time, and a session that is
//! over is dropped at once; each message of a renewal, each other deadline and each pause takes as long as it may; and what breaks the promise is done as soon as it can be.

use std::fmt;

use fencepost_etcd::{Etcd, EtcdMessage, Request, Response, Settings, Stop, Timer};
use fencepost_model::fact::{Fact, Leaving};
use fencepost_model::process::Message;
use fencepost_model::properties::{Level, Memory, View};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::Ticks;
use fencepost_model::trace::{Recorder, Trace, replay};
use fencepost_model::units::Duration;
use fencepost_model::world::Action;

use super::question::{SessionQuestion, SessionStop};
use crate::asked::InTicks;
use crate::promise::Promise;
use crate::rounding::{FINEST, down, exact, sum, times, up};

/// E-CC-2: the period of the loop that sends renewals.
pub(super) const RENEWAL_LOOP: Duration = Duration::of_microseconds(500_000);

/// The most ticks of a TTL, and the most steps of an arranged execution.
const TICKS_MAX: i64 = 600;
const STEPS_MAX: usize = 200;

/// One client, in ticks.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct KeptSession {
    /// What is built on the session.
    pub recipe: &'static str,
    /// The TTL.
    pub ttl: i64,
    /// When the next renewal is due after an answer, at the earliest.
    pub renew: i64,
    /// The deadline until the first renewal is answered.
    pub first: i64,
    /// After how long since the sending of what was acknowledged a holder stops by itself, if it does.
    pub stays: Option<i64>,
    /// How long a message is under way.
    pub message: i64,
    /// How late a deadline fires.
    pub wake: i64,
}

impl fmt::Display for KeptSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let KeptSession { recipe, ttl, renew, first, stays, message, wake } = self;
        let stays = stays.map(|stays| format!("-stays{stays}")).unwrap_or_default();
        write!(f, "{recipe}-kept-ttl{ttl}-renew{renew}-first{first}{stays}-message{message}-wake{wake}")
    }
}

impl KeptSession {
    pub(super) fn build(&self) -> Scenario<Etcd> {
        let named = Scenario::<Etcd>::new(&format!("doctor-{self}"));
        let mut scenario = alone(named.message_delay(self.message).wake_delay(self.wake), self.recipe);
        scenario.service = Settings {
            ttl: Ticks::new(self.ttl),
            renew_after: Ticks::new(self.renew),
            first_deadline: Some(Ticks::new(self.first)),
            // The loop may look in the instant of a deadline.
            done_loop: Ticks::ZERO,
            stop: if self.stays.is_some() { Stop::BeforeExpiry } else { Stop::OnDone },
            margin: Ticks::new(self.stays.map_or(0, |stays| self.ttl - stays)),
            ..Settings::default()
        };
        scenario
    }

    /// Whether every execution of the other one is one of this one: bounds on lateness only forbid.
    pub(super) fn is_wider_than(&self, other: &KeptSession) -> bool {
        let bounds = KeptSession { message: other.message, wake: other.wake, ..*self } == *other;
        bounds && self.message >= other.message && self.wake >= other.wake
    }

    fn looks_safe(&self) -> bool {
        let KeptSession { ttl, renew, first, stays, message, wake, .. } = *self;
        let renewed = renew + wake;
        let stays = stays.unwrap_or(i64::MAX);
        renew > 0 && renewed + 2 * message < ttl && 2 * message < first && renewed + 4 * message < stays
    }
}

/// One client that keeps its lock as long as it wants, with leases that end at their exact instants.
fn alone(scenario: Scenario<Etcd>, recipe: &str) -> Scenario<Etcd> {
    let scenario = Scenario { system: recipe.to_owned(), ..scenario }.clients(1).server_delay(0);
    scenario.own_property(Promise::KeepsLock.name(), Level::Record, keeps_lock)
}

/// The lease of a client that has not left expires, or a holder stops because its time is over or its session is.
fn keeps_lock(view: &View<'_, Etcd>, memory: &mut Memory) -> Result<(), String> {
    let [has_left, ..] = memory;
    for fact in view.facts {
        match fact {
            Fact::Expired { session } if *has_left == 0 => {
                return Err(format!("{session} expires, and its client lives"));
            }
            Fact::Left { client, why: Leaving::Lapsed } => {
                return Err(format!("{client} stops: its time is over, and no renewal was acknowledged in time"));
            }
            Fact::Left { client, why: Leaving::Notified } => {
                return Err(format!("{client} stops: its session is done"));
            }
            Fact::Left { .. } => *has_left = 1,
            _ => {}
        }
    }
    Ok(())
}

/// When a renewal is sent at the latest, but for a pause: T/3 and a period of the loop (E-CC-2).
fn due(question: &SessionQuestion) -> Duration {
    sum(third(question), RENEWAL_LOOP)
}

pub(super) fn third(question: &SessionQuestion) -> Duration {
    Duration::of_nanoseconds(question.ttl.nanoseconds() / 3)
}

/// How long a holder that stops by itself stays after the sending of what was acknowledged.
fn stays(question: &SessionQuestion) -> Option<Duration> {
    let stays = question.ttl.nanoseconds() - question.margin.nanoseconds();
    (question.stop == SessionStop::BeforeExpiry).then(|| Duration::of_nanoseconds(stays))
}

/// The coarsest scenario that looks as if it proved that the session is kept; none: nothing looks so.
pub(super) fn wider(question: &SessionQuestion) -> Option<InTicks<KeptSession>> {
    let (due, stays) = (due(question), stays(question));
    let latest = sum(sum(due, question.drift.of(due)), question.pause);
    let sized = |count: i64| {
        let tick = times(FINEST, (down(question.ttl, FINEST) / count).max(1));
        let renew = down(third(question), tick);
        let scenario = KeptSession {
            recipe: question.recipe,
            ttl: down(question.ttl, tick),
            renew,
            first: down(question.first_deadline(), tick),
            stays: stays.map(|stays| down(stays, tick)),
            message: up(question.message(), tick),
            wake: up(latest, tick) - renew,
        };
        InTicks { scenario, tick }
    };
    (1..=TICKS_MAX).map(sized).find(|sized| sized.scenario.looks_safe())
}

/// The question as it is, in ticks of a microsecond.
pub(super) fn exactly(question: &SessionQuestion) -> Scenario<Etcd> {
    let promise = Promise::KeepsLock;
    let scenario = Scenario::<Etcd>::new(&format!("doctor-{}-{promise}", question.recipe))
        .message_delay(exact(question.message()))
        .wake_delay(exact(question.pause));
    let mut scenario = alone(scenario, question.recipe);
    scenario.about = format!("{}: {}, exactly, in ticks of 1us.", question.recipe, promise.about());
    scenario.service = Settings {
        ttl: exact(question.ttl),
        renew_after: Ticks::new(down(due(question), FINEST)),
        resend_after: exact(RENEWAL_LOOP),
        first_deadline: Some(exact(question.first_deadline())),
        // E-CC-3: the loop may look right behind a deadline.
        done_loop: exact(FINEST),
        stop: question.stop.into(),
        margin: exact(question.margin),
        ..Settings::default()
    };
    scenario
}

/// An execution of the exact scenario that breaks the promise; none: with everything as late as it may be, nothing does.
pub(super) fn broken(question: &SessionQuestion) -> Option<Trace<Etcd>> {
    let scenario = exactly(question);
    let (mut world, mut recorder) = (scenario.observed(), Recorder::default());
    for _ in 0..STEPS_MAX {
        let mut enabled = Vec::new();
        scenario.enabled(&world, &mut enabled);
        let breaks = |action: &&Action<Etcd>| {
            let (mut world, mut recorder) = (world.clone(), Recorder::default());
            !recorder.step(&scenario, &mut world, action).violations.is_empty()
        };
        if let Some(action) = enabled.iter().find(breaks) {
            recorder.step(&scenario, &mut world, action);
            return replay(&recorder.finish(&scenario, "doctor", None)).ok();
        }
        let is_prompt = |action: &&Action<Etcd>| match action {
            Action::Deliver(envelope) => !is_of_renewal(&envelope.message),
            Action::Wake { timer, .. } => *timer == Timer::SessionDone,
            _ => false,
        };
        if let Some(action) = enabled.iter().find(is_prompt) {
            recorder.step(&scenario, &mut world, action);
            continue;
        }
        let is_idle = world.slack(&scenario).is_none();
        let later = world.slack(&scenario).filter(|slack| *slack > Ticks::ZERO).map(Action::Advance);
        let action = later.or_else(|| {
            // Nothing can wait any longer; a client that has not begun does so.
            let begins = |action: &&Action<Etcd>| matches!(action, Action::Command { .. });
            let goes_on = |action: &&Action<Etcd>| matches!(action, Action::Deliver(_) | Action::Wake { .. });
            if is_idle { enabled.iter().find(begins).copied() } else { enabled.iter().find(goes_on).copied() }
        })?;
        recorder.step(&scenario, &mut world, &action);
    }
    None
}

fn is_of_renewal(message: &Message<Etcd>) -> bool {
    match message {
        Message::Service(EtcdMessage::Request(_, request)) => matches!(request, Request::Renew(_)),
        Message::Service(EtcdMessage::Response(_, response)) => {
            matches!(response, Response::Renewed | Response::NoLease)
        }
        _ => false,
    }
}
