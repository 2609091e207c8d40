//! Small scenarios of a session, and the exact one.

use std::fmt;

use fencepost_etcd::{Etcd, Settings, Stop};
use fencepost_model::goal::Goal;
use fencepost_model::properties::Property;
use fencepost_model::scenario::{Replies, Scenario, Ways};
use fencepost_model::time::Ticks;

use super::keeping::KeptSession;
use super::question::{DONE_LOOP, SessionQuestion};
use crate::promise::Promise;
use crate::rounding::exact;

/// A small scenario.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SmallSession {
    /// About mutual exclusion.
    Excludes(SessionScenario),
    /// About whether the session is kept.
    Keeps(KeptSession),
}

impl fmt::Display for SmallSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SmallSession::Excludes(scenario) => scenario.fmt(f),
            SmallSession::Keeps(scenario) => scenario.fmt(f),
        }
    }
}

/// A small scenario, in ticks: two clients, one round each.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SessionScenario {
    /// What is built on the session.
    pub recipe: &'static str,
    /// The TTL.
    pub ttl: i64,
    /// When a holder stops.
    pub stop: SmallStop,
    /// Whether sessions are renewed, and the link of one client is cut once. Otherwise no session is renewed, and there is no fault.
    pub is_cut: bool,
}

/// When a holder stops, in ticks.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SmallStop {
    /// Never.
    Never,
    /// When `Done` closes, this much after the deadline.
    OnDone(i64),
    /// This much after its lease began.
    After(i64),
}

impl fmt::Display for SessionScenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SessionScenario { recipe, ttl, stop, is_cut } = self;
        let cut = if *is_cut { "-cut" } else { "" };
        match stop {
            SmallStop::Never => write!(f, "{recipe}-ttl{ttl}-never{cut}"),
            SmallStop::OnDone(period) => write!(f, "{recipe}-ttl{ttl}-done{period}{cut}"),
            SmallStop::After(stays) => write!(f, "{recipe}-ttl{ttl}-stays{stays}{cut}"),
        }
    }
}

impl SessionScenario {
    pub(super) fn build(&self) -> Scenario<Etcd> {
        let late = match self.stop {
            SmallStop::After(stays) => (stays - self.ttl).max(0),
            SmallStop::Never | SmallStop::OnDone(_) => 0,
        };
        let scenario = Scenario::<Etcd>::new(&format!("doctor-{self}")).message_delay(0).wake_delay(late);
        let mut scenario = promising(system(scenario, self.recipe), self.is_cut).goal(Goal::CONTENDED);
        let plain = Settings { ttl: Ticks::new(self.ttl), renews: self.is_cut, ..Settings::default() };
        scenario.service = match self.stop {
            SmallStop::Never => plain,
            SmallStop::OnDone(period) => Settings { stop: Stop::OnDone, done_loop: Ticks::new(period), ..plain },
            SmallStop::After(stays) => {
                let margin = Ticks::new((self.ttl - stays).max(0));
                Settings { stop: Stop::BeforeExpiry, margin, ..plain }
            }
        };
        scenario
    }
}

fn system(scenario: Scenario<Etcd>, recipe: &str) -> Scenario<Etcd> {
    Scenario { system: recipe.to_owned(), ..scenario }
}

/// Adds mutual exclusion. An answer that takes no time is one that a real server may give.
fn promising(scenario: Scenario<Etcd>, is_cut: bool) -> Scenario<Etcd> {
    let mut scenario = scenario.server_delay(0).promise(Property::MutualExclusion);
    scenario.network.replies = Replies::Instant;
    if is_cut {
        scenario.network.ways = Ways::Both;
        scenario = scenario.budget(|budget| budget.cuts = 1);
    }
    scenario
}

/// The question as it is, in ticks of a microsecond.
pub(super) fn exactly(question: &SessionQuestion, promise: Promise) -> Scenario<Etcd> {
    let scenario = Scenario::<Etcd>::new(&format!("doctor-{}-{promise}", question.recipe))
        .message_delay(exact(question.message()))
        .wake_delay(exact(question.pause));
    let mut scenario = promising(system(scenario, question.recipe), true);
    scenario.about = format!("{}: {}, exactly, in ticks of 1us.", question.recipe, promise.about());
    let ttl = exact(question.ttl);
    scenario.service = Settings {
        ttl,
        // E-CC-2: a third of T, and every half second while there is no answer.
        renew_after: Ticks::new(ttl.count() / 3),
        resend_after: Ticks::new(500_000),
        done_loop: exact(DONE_LOOP),
        stop: question.stop.into(),
        margin: exact(question.margin),
        ..Settings::default()
    };
    scenario
}
