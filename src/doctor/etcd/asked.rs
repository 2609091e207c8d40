//! The settings of a session as the doctor asks about them.

use std::mem::{Discriminant, discriminant};

use fencepost_etcd::{Etcd, EtcdMessage, Operation, Request};
use fencepost_etcd_explore::SERVICE;
use fencepost_model::process::Message;
use fencepost_model::scenario::{Expect, Scenario};
use fencepost_model::trace::Trace;
use fencepost_model::units::Duration;
use fencepost_registry::Erase;

use super::question::{SessionQuestion, SessionStop};
use super::small::{SessionScenario, SmallSession, SmallStop, exactly};
use super::{assumptions, keeping, sizes};
use crate::asked::{Asked, InTicks, QuestionError, SmallScenario};
use crate::pace::Pace;
use crate::promise::Promise;
use crate::quantity::{Direction, Quantity, QuantityValue, count};
use crate::repair::{Change, Price};
use crate::rounding::{FINEST, down, sum, times};

impl Asked for SessionQuestion {
    type Service = Etcd;
    type Small = SmallSession;

    const STATES_MAX: u64 = 400_000;
    const EVEN_CLOCKS: &'static str = "the clock of no client is slower than the leader's";

    fn validate(&self) -> Result<(), QuestionError> {
        SessionQuestion::validate(self)
    }

    fn notes(&self) -> Vec<String> {
        SessionQuestion::notes(self)
    }

    fn heading(&self) -> String {
        let SessionQuestion { recipe, ttl, stop, margin, dial_timeout, pause, latency, drift } = self;
        let margin = if *stop == SessionStop::BeforeExpiry { format!(", margin {margin}") } else { String::new() };
        let dial =
            if *dial_timeout > Duration::ZERO { format!(", dial-timeout {dial_timeout}") } else { String::new() };
        format!(
            "{recipe}: ttl {ttl}, stop {}{margin}{dial}\nwithin these bounds: pause {pause}, latency {latency}, drift {drift}, and links to etcd that are cut",
            stop.name()
        )
    }

    fn promises(&self) -> &'static [Promise] {
        &[Promise::MutualExclusion, Promise::KeepsLock]
    }

    fn quantities() -> &'static [Quantity] {
        &[Quantity::Ttl, Quantity::Margin, Quantity::Pause, Quantity::Latency, Quantity::Drift]
    }

    /// TTLs are whole seconds (E-LS-1).
    fn grain(&self, quantity: Quantity) -> i64 {
        if quantity == Quantity::Ttl { down(Duration::of_seconds(1), FINEST) } else { 1 }
    }

    fn value(&self, quantity: Quantity) -> Option<QuantityValue> {
        Some(match quantity {
            Quantity::Ttl => QuantityValue::Duration(self.ttl),
            Quantity::Margin if self.stop == SessionStop::BeforeExpiry => QuantityValue::Duration(self.margin),
            Quantity::Pause => QuantityValue::Duration(self.pause),
            Quantity::Latency => QuantityValue::Duration(self.latency),
            Quantity::Drift => QuantityValue::Rate(self.drift),
            _ => return None,
        })
    }

    fn set(&mut self, quantity: Quantity, value: QuantityValue) -> bool {
        match (quantity, value) {
            (Quantity::Ttl, QuantityValue::Duration(value)) => self.ttl = value,
            (Quantity::Margin, QuantityValue::Duration(value)) => self.margin = value,
            (Quantity::Pause, QuantityValue::Duration(value)) => self.pause = value,
            (Quantity::Latency, QuantityValue::Duration(value)) => self.latency = value,
            (Quantity::Drift, QuantityValue::Rate(value)) => self.drift = value,
            _ => return false,
        }
        true
    }

    fn scale(&self) -> Duration {
        self.ttl
    }

    fn limit(&self, quantity: Quantity, direction: Direction) -> i64 {
        let steps = |duration: Duration| down(duration, FINEST);
        let now = self.value(quantity).map_or(0, count);
        match (quantity, direction) {
            (Quantity::Drift, Direction::Up) => 1_000_000,
            (Quantity::Ttl, Direction::Down) => steps(super::TTL_LEAST).min(now),
            (Quantity::Margin, Direction::Up) => steps(self.ttl) - 1,
            (_, Direction::Down) => 0,
            (_, Direction::Up) => steps(times(sum(self.ttl, self.message()), 4)).max(now),
        }
    }

    fn wider(&self, promise: Promise) -> Vec<InTicks<SmallSession>> {
        match promise {
            Promise::KeepsLock => {
                keeping::wider(self).map(|sized| small(sized, SmallSession::Keeps)).into_iter().collect()
            }
            _ => sizes::wider(self).into_iter().map(|sized| small(sized, SmallSession::Excludes)).collect(),
        }
    }

    fn narrower(&self, promise: Promise) -> Vec<InTicks<SmallSession>> {
        match promise {
            Promise::KeepsLock => Vec::new(),
            _ => sizes::narrower(self).into_iter().map(|sized| small(sized, SmallSession::Excludes)).collect(),
        }
    }

    fn exactly(&self, promise: Promise, _: &InTicks<SmallSession>) -> Scenario<Etcd> {
        exactly(self, promise)
    }

    fn paces(&self, sized: &InTicks<SmallSession>) -> Vec<Pace> {
        vec![Pace::even(sized.tick)]
    }

    fn is_arranged(promise: Promise) -> bool {
        promise == Promise::KeepsLock
    }

    fn arranged(&self) -> Option<Trace<Etcd>> {
        keeping::broken(self)
    }

    /// A holder that counts its lease, with a margin above pause and drift, if one fits.
    fn other_kinds(&self, promise: Promise) -> Vec<(Change, Self)> {
        let needed = sum(self.pause, self.drift.of(self.ttl));
        // A little more than is needed, so that a small scenario tells them apart: a hundredth of T.
        let margin = Duration::of_microseconds(down(needed, FINEST) + down(self.ttl, FINEST) / 100 + 1);
        if promise == Promise::KeepsLock || self.stop == SessionStop::BeforeExpiry || margin >= self.ttl {
            return Vec::new();
        }
        let changed = SessionQuestion { stop: SessionStop::BeforeExpiry, margin, ..self.clone() };
        vec![(Change::BeforeExpiry { margin }, changed)]
    }

    fn price(&self) -> Price {
        assumptions::price(self)
    }

    fn assumptions(&self, promise: Promise) -> Vec<String> {
        assumptions::assumptions(self, promise)
    }
}

/// A sized scenario as one of either kind.
fn small<S>(sized: InTicks<S>, kind: fn(S) -> SmallSession) -> InTicks<SmallSession> {
    InTicks { scenario: kind(sized.scenario), tick: sized.tick }
}

impl SmallScenario for SmallSession {
    type Service = Etcd;

    fn scenario(&self) -> Scenario<Etcd> {
        match self {
            SmallSession::Excludes(scenario) => scenario.build(),
            SmallSession::Keeps(scenario) => scenario.build(),
        }
    }

    fn erase() -> Erase<Etcd> {
        SERVICE.erase()
    }

    /// A holder that may stay for longer may leave as soon.
    fn is_wider_than(&self, other: &SmallSession) -> bool {
        match (self, other) {
            (SmallSession::Keeps(own), SmallSession::Keeps(other)) => own.is_wider_than(other),
            (SmallSession::Excludes(own), SmallSession::Excludes(other)) => match (own.stop, other.stop) {
                (SmallStop::After(stays), SmallStop::After(others)) => {
                    SessionScenario { stop: other.stop, ..*own } == *other && stays >= others && stays < own.ttl
                }
                _ => own == other,
            },
            _ => false,
        }
    }

    fn for_file(&self, _: Promise, expect: Expect, about: String) -> Option<(Scenario<Etcd>, String)> {
        // No property of files says that a session is kept.
        let SmallSession::Excludes(scenario) = self else { return None };
        let mut scenario = scenario.build();
        scenario.about = about;
        scenario.promises.iter_mut().for_each(|promise| promise.expect = expect);
        Some((scenario, String::new()))
    }

    fn is_alike(one: &Message<Etcd>, other: &Message<Etcd>) -> bool {
        kind(one) == kind(other)
    }

    fn leaves_out(_: &Message<Etcd>) -> bool {
        false
    }

    fn is_created(_: &Message<Etcd>) -> bool {
        false
    }
}

/// What a message asks or answers.
type Kind = (Discriminant<EtcdMessage>, Option<Discriminant<Request>>, Option<Discriminant<Operation>>);

fn kind(message: &Message<Etcd>) -> Option<Kind> {
    let Message::Service(message) = message else { return None };
    let (request, operation) = match message {
        EtcdMessage::Request(_, request) => {
            let operation = if let Request::Txn(_, operation) = request { Some(discriminant(operation)) } else { None };
            (Some(discriminant(request)), operation)
        }
        EtcdMessage::Response(..) => (None, None),
    };
    Some((discriminant(message), request, operation))
}
