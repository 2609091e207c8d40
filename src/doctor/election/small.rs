//! Small scenarios of elections, and the exact one.

use std::fmt;

use fencepost_model::fact::{Fact, Leaving};
use fencepost_model::ids::ClientId;
use fencepost_model::properties::{Level, Memory, Property, View};
use fencepost_model::scenario::{Cutting, Goal, Replies, Scenario, Ways};
use fencepost_model::time::Ticks;
use fencepost_model::units::Duration;
use fencepost_observed_lease::{ClientTerms, ObservedLease, Settings};

use super::question::{ElectionQuestion, choices};
use crate::promise::Promise;
use crate::rounding::exact;

/// A small scenario, in ticks.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ElectionScenario {
    /// Two clients, and the link of one to the store is cut once.
    CutOff(CutOff),
    /// Clients that reach the store all the time.
    Healthy(Healthy),
}

/// The durations of an elector.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Terms {
    /// The recipe.
    pub recipe: &'static str,
    /// LeaseDuration.
    pub lease: i64,
    /// The ticks of a second, to which the recorded lease is truncated; none: it is exact.
    pub second: Option<i64>,
    /// RenewDeadline.
    pub deadline: i64,
    /// RetryPeriod.
    pub retry: i64,
    /// By how many ticks the sleep of a contender may be longer than the retry period.
    pub spread: i64,
    /// The timeout of a request.
    pub timeout: Option<i64>,
}

/// Two clients, and a link that is cut.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CutOff {
    /// Their elector.
    pub terms: Terms,
    /// Whether a leader that stops gives the lease back.
    pub release: bool,
    /// How long the work goes on after it was told to stop.
    pub stop: i64,
    /// How long a message is under way; none: it takes no time, and an answer comes in the step of its request.
    pub message: Option<i64>,
    /// How late a deadline fires.
    pub wake: i64,
}

/// Clients that reach the store.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Healthy {
    /// Their elector.
    pub terms: Terms,
    /// Who else there is.
    pub others: Others,
    /// How long a message is under way.
    pub message: i64,
    /// How late a deadline fires.
    pub wake: i64,
}

/// The contenders of a leader that reaches the store.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Others {
    /// None: it is about the leader's own deadlines.
    Absent,
    /// One that looks only twice in a lease, and is no leader that is judged.
    Seldom,
    /// One with the same settings.
    Alike,
}

impl Terms {
    fn settings(&self, release: bool) -> Settings {
        Settings {
            lease: Ticks::new(self.lease),
            renew_deadline: Ticks::new(self.deadline),
            retry_period: Ticks::new(self.retry),
            sleep_max: Ticks::new(self.retry + self.spread),
            second: self.second.map(Ticks::new),
            request_timeout: self.timeout.map(Ticks::new),
            ..choices(self.recipe, release)
        }
    }
}

impl fmt::Display for Terms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Terms { recipe, lease, second, deadline, retry, spread, timeout } = self;
        let second = second.map(|second| format!("-second{second}")).unwrap_or_default();
        let timeout = timeout.map(|timeout| format!("-timeout{timeout}")).unwrap_or_default();
        write!(f, "{recipe}-lease{lease}{second}-deadline{deadline}-retry{retry}-spread{spread}{timeout}")
    }
}

impl fmt::Display for ElectionScenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ElectionScenario::CutOff(CutOff { terms, release, stop, message, wake }) => {
                let release = if *release { "-release" } else { "" };
                let message = message.map_or("-instant".to_owned(), |message| format!("-message{message}"));
                write!(f, "cut-off-{terms}{release}-stop{stop}{message}-wake{wake}")
            }
            ElectionScenario::Healthy(Healthy { terms, others, message, wake }) => {
                let others = match others {
                    Others::Absent => "-alone",
                    Others::Seldom => "-seldom",
                    Others::Alike => "",
                };
                write!(f, "healthy-{terms}{others}-message{message}-wake{wake}")
            }
        }
    }
}

impl ElectionScenario {
    pub(super) fn build(&self) -> Scenario<ObservedLease> {
        let named = Scenario::<ObservedLease>::new(&format!("doctor-{self}"));
        match *self {
            ElectionScenario::CutOff(CutOff { terms, release, stop, message, wake }) => {
                let mut scenario = named.message_delay(message.unwrap_or(0)).wake_delay(wake).server_delay(0);
                scenario.service = Settings { stop_time: Ticks::new(stop), ..terms.settings(release) };
                if message.is_none() {
                    scenario.network.replies = Replies::Instant;
                }
                promising(scenario, Promise::MutualExclusion).goal(Goal::CONTENDED)
            }
            ElectionScenario::Healthy(Healthy { terms, others, message, wake }) => {
                let mut scenario = named.message_delay(message).wake_delay(wake).server_delay(0);
                scenario.service = terms.settings(false);
                if others == Others::Absent {
                    scenario = scenario.clients(1);
                }
                if others == Others::Seldom {
                    let own = [(terms.deadline, terms.retry), (terms.lease - 1, terms.lease / 2)];
                    let own = own.map(|(deadline, retry)| ClientTerms {
                        lease: Ticks::new(terms.lease),
                        renew_deadline: Ticks::new(deadline),
                        retry_period: Ticks::new(retry),
                    });
                    scenario.service.terms = own.to_vec();
                }
                promising(scenario, Promise::KeepsLease)
            }
        }
    }
}

/// Adds what the promise means to a scenario.
fn promising(mut scenario: Scenario<ObservedLease>, promise: Promise) -> Scenario<ObservedLease> {
    match promise {
        Promise::MutualExclusion => {
            (scenario.network.cuts, scenario.network.ways) = (Cutting::Drop, Ways::Both);
            scenario.budget(|budget| budget.cuts = 1).promise(Property::MutualExclusion)
        }
        Promise::KeepsLease => scenario.own_property(Promise::KeepsLease.name(), Level::Record, keeps_lease),
        Promise::NoLostUpdate | Promise::SlotLimit | Promise::KeepsLock => {
            unreachable!("`{promise}` is no promise of an election")
        }
    }
}

/// The leader stops because it could not renew, or another one leads. Where the second client is no leader that is judged, nothing is said
/// of executions in which it is the first to lead.
fn keeps_lease(view: &View<'_, ObservedLease>, memory: &mut Memory) -> Result<(), String> {
    const JUDGED: u32 = 1;
    const NOT_JUDGED: u32 = 2;
    let is_judged = |client: ClientId| view.scenario.service.terms.is_empty() || client == ClientId(1);
    let [leads, ..] = memory;
    for fact in view.facts {
        match fact {
            Fact::Left { client, why: Leaving::Lapsed } if *leads == JUDGED => {
                return Err(format!("{client} gives up: it has not renewed within the renew deadline"));
            }
            Fact::Entered { client, .. } if *leads == JUDGED => {
                return Err(format!("{client} takes over the lease of a leader that lives"));
            }
            Fact::Entered { client, .. } if *leads == 0 => {
                *leads = if is_judged(*client) { JUDGED } else { NOT_JUDGED };
            }
            _ => {}
        }
    }
    Ok(())
}

/// The question as it is, in ticks of a microsecond. A contender sleeps for a retry period, and for up to `spread` times `grain` more; real
/// ones draw from more lengths.
pub(super) fn exactly(
    question: &ElectionQuestion,
    promise: Promise,
    spread: i64,
    grain: Ticks,
) -> Scenario<ObservedLease> {
    let mut scenario = Scenario::<ObservedLease>::new(&format!("doctor-{}-{promise}", question.recipe))
        .message_delay(exact(question.message()))
        .wake_delay(exact(question.pause))
        .server_delay(0);
    scenario.about = format!("{}: {}, exactly, in ticks of 1us.", question.recipe, promise.about());
    let retry = exact(question.retry_period);
    let choices = choices(question.recipe, question.release && promise == Promise::MutualExclusion);
    let is_truncated = question.observed() != question.lease;
    scenario.service = Settings {
        lease: exact(question.lease),
        renew_deadline: exact(question.renew_deadline),
        retry_period: retry,
        sleep_max: retry + grain.times(spread),
        grain,
        second: is_truncated.then(|| exact(Duration::of_seconds(1))),
        request_timeout: question.request_timeout.map(exact),
        stop_time: exact(question.stop_time),
        ..choices
    };
    promising(scenario, promise)
}

impl ElectionScenario {
    /// By how many ticks the sleep of a contender may be longer than the retry period.
    pub(super) fn spread(&self) -> i64 {
        let (ElectionScenario::CutOff(CutOff { terms, .. }) | ElectionScenario::Healthy(Healthy { terms, .. })) = self;
        terms.spread
    }
}
