//! The settings of an election as the doctor asks about them.

use std::mem::{Discriminant, discriminant};

use fencepost_model::process::Message;
use fencepost_model::scenario::{Expect, Scenario};
use fencepost_model::trace::Trace;
use fencepost_model::units::Duration;
use fencepost_observed_lease::{ObservedLease, ObservedLeaseMessage, Request, Response};
use fencepost_observed_lease_explore::SERVICE;
use fencepost_registry::Erase;

use super::question::ElectionQuestion;
use super::small::{CutOff, ElectionScenario, Healthy, exactly};
use super::{assumptions, narrower, price, schedule, wider};
use crate::asked::{Asked, InTicks, QuestionError, SmallScenario};
use crate::pace::Pace;
use crate::promise::Promise;
use crate::quantity::{Direction, Quantity, QuantityValue, count};
use crate::repair::{Change, Price};
use crate::rounding::{FINEST, down, exact, sum, times};

impl Asked for ElectionQuestion {
    type Service = ObservedLease;
    type Small = ElectionScenario;

    const STATES_MAX: u64 = 400_000;
    const EVEN_CLOCKS: &'static str = "the clock of no leader is slower than a contender's";

    fn validate(&self) -> Result<(), QuestionError> {
        ElectionQuestion::validate(self)
    }

    fn notes(&self) -> Vec<String> {
        ElectionQuestion::notes(self)
    }

    fn heading(&self) -> String {
        let ElectionQuestion { recipe, lease, renew_deadline, retry_period, stop_time, .. } = self;
        let timeout = self.request_timeout.map_or("none".to_owned(), |timeout| timeout.to_string());
        let release = if self.release { "on" } else { "off" };
        format!(
            "{recipe}: lease {lease}, renew-deadline {renew_deadline}, retry-period {retry_period}, request-timeout {timeout}, ReleaseOnCancel \
             {release}, stop-time {stop_time}\nwithin these bounds: pause {}, latency {}, drift {}, and links to the store that are cut and heal",
            self.pause, self.latency, self.drift
        )
    }

    fn promises(&self) -> &'static [Promise] {
        &[Promise::MutualExclusion, Promise::KeepsLease]
    }

    fn quantities() -> &'static [Quantity] {
        &[
            Quantity::Lease,
            Quantity::RenewDeadline,
            Quantity::RetryPeriod,
            Quantity::RequestTimeout,
            Quantity::StopTime,
            Quantity::Pause,
            Quantity::Latency,
            Quantity::Drift,
        ]
    }

    fn value(&self, quantity: Quantity) -> Option<QuantityValue> {
        Some(match quantity {
            Quantity::Lease => QuantityValue::Duration(self.lease),
            Quantity::RenewDeadline => QuantityValue::Duration(self.renew_deadline),
            Quantity::RetryPeriod => QuantityValue::Duration(self.retry_period),
            Quantity::RequestTimeout => QuantityValue::Duration(self.request_timeout?),
            Quantity::StopTime => QuantityValue::Duration(self.stop_time),
            Quantity::Pause => QuantityValue::Duration(self.pause),
            Quantity::Latency => QuantityValue::Duration(self.latency),
            Quantity::Drift => QuantityValue::Rate(self.drift),
            _ => return None,
        })
    }

    fn set(&mut self, quantity: Quantity, value: QuantityValue) -> bool {
        match (quantity, value) {
            (Quantity::Lease, QuantityValue::Duration(value)) => self.lease = value,
            (Quantity::RenewDeadline, QuantityValue::Duration(value)) => self.renew_deadline = value,
            (Quantity::RetryPeriod, QuantityValue::Duration(value)) => self.retry_period = value,
            (Quantity::RequestTimeout, QuantityValue::Duration(value)) => self.request_timeout = Some(value),
            (Quantity::StopTime, QuantityValue::Duration(value)) => self.stop_time = value,
            (Quantity::Pause, QuantityValue::Duration(value)) => self.pause = value,
            (Quantity::Latency, QuantityValue::Duration(value)) => self.latency = value,
            (Quantity::Drift, QuantityValue::Rate(value)) => self.drift = value,
            _ => return false,
        }
        true
    }

    /// Whole seconds are recorded (OL-K-2): a lease of another length is not what contenders wait for.
    fn grain(&self, quantity: Quantity) -> i64 {
        if quantity == Quantity::Lease { down(Duration::of_seconds(1), FINEST) } else { 1 }
    }

    fn scale(&self) -> Duration {
        self.lease
    }

    /// What the constructor refuses is not tried: L > D > 1.2 R (OL-K-1).
    fn limit(&self, quantity: Quantity, direction: Direction) -> i64 {
        let ElectionQuestion { lease, renew_deadline, retry_period, .. } = *self;
        let steps = |duration: Duration| down(duration, FINEST);
        let far = steps(times(sum(sum(lease, self.pause), sum(self.latency, self.stop_time)), 4));
        let now = self.value(quantity).map_or(0, count);
        match (quantity, direction) {
            (Quantity::Drift, Direction::Up) => 1_000_000,
            (Quantity::Lease, Direction::Down) => steps(renew_deadline) + 1,
            (Quantity::RenewDeadline, Direction::Up) => steps(lease) - 1,
            (Quantity::RenewDeadline, Direction::Down) => steps(times(retry_period, 6)) / 5 + 1,
            (Quantity::RetryPeriod, Direction::Up) => (steps(times(renew_deadline, 5)) - 1) / 6,
            (Quantity::RetryPeriod | Quantity::RequestTimeout, Direction::Down) => (now / 32).max(1),
            (_, Direction::Down) => 0,
            (_, Direction::Up) => far.max(now),
        }
    }

    fn wider(&self, promise: Promise) -> Vec<InTicks<ElectionScenario>> {
        wider::candidates(self, promise)
    }

    fn narrower(&self, promise: Promise) -> Vec<InTicks<ElectionScenario>> {
        narrower::candidates(self, promise)
    }

    fn exactly(&self, promise: Promise, sized: &InTicks<ElectionScenario>) -> Scenario<ObservedLease> {
        exactly(self, promise, sized.scenario.spread(), exact(sized.tick))
    }

    fn paces(&self, sized: &InTicks<ElectionScenario>) -> Vec<Pace> {
        vec![Pace::even(sized.tick)]
    }

    fn is_arranged(promise: Promise) -> bool {
        promise == Promise::MutualExclusion
    }

    fn arranged(&self) -> Option<Trace<ObservedLease>> {
        schedule::broken(self)
    }

    fn other_kinds(&self, promise: Promise) -> Vec<(Change, Self)> {
        match promise {
            Promise::MutualExclusion if self.release => {
                vec![(Change::NoRelease, ElectionQuestion { release: false, ..self.clone() })]
            }
            _ => Vec::new(),
        }
    }

    fn price(&self) -> Price {
        price::price(self)
    }

    fn assumptions(&self, promise: Promise) -> Vec<String> {
        assumptions::assumptions(self, promise)
    }
}

impl SmallScenario for ElectionScenario {
    type Service = ObservedLease;

    fn scenario(&self) -> Scenario<ObservedLease> {
        self.build()
    }

    fn erase() -> Erase<ObservedLease> {
        SERVICE.erase()
    }

    /// Bounds on lateness only forbid.
    fn is_wider_than(&self, other: &ElectionScenario) -> bool {
        match (self, other) {
            (ElectionScenario::CutOff(own), ElectionScenario::CutOff(other)) => {
                let bounds = CutOff { message: other.message, wake: other.wake, ..*own } == *other;
                let both = own.message.is_some() == other.message.is_some();
                bounds && both && own.message >= other.message && own.wake >= other.wake
            }
            (ElectionScenario::Healthy(own), ElectionScenario::Healthy(other)) => {
                let bounds = Healthy { message: other.message, wake: other.wake, ..*own } == *other;
                bounds && own.message >= other.message && own.wake >= other.wake
            }
            _ => false,
        }
    }

    fn for_file(&self, _: Promise, expect: Expect, about: String) -> Option<(Scenario<ObservedLease>, String)> {
        let ElectionScenario::CutOff(_) = self else { return None };
        let mut scenario = self.build();
        scenario.about = about;
        scenario.promises.iter_mut().for_each(|promise| promise.expect = expect);
        Some((scenario, String::new()))
    }

    fn is_alike(one: &Message<ObservedLease>, other: &Message<ObservedLease>) -> bool {
        kind(one) == kind(other)
    }

    fn leaves_out(_: &Message<ObservedLease>) -> bool {
        false
    }

    fn is_created(_: &Message<ObservedLease>) -> bool {
        false
    }
}

/// What a message asks or answers.
fn kind(message: &Message<ObservedLease>) -> (Option<Discriminant<Request>>, Option<Discriminant<Response>>) {
    match message {
        Message::Service(ObservedLeaseMessage::Request(_, request)) => (Some(discriminant(request)), None),
        Message::Service(ObservedLeaseMessage::Response(_, response)) => (None, Some(discriminant(response))),
        _ => (None, None),
    }
}
