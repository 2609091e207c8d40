//! The settings of a session as the doctor asks about them.

use std::mem::{Discriminant, discriminant};

use fencepost_etcd::{Etcd, EtcdMessage, Operation, Request};
use fencepost_etcd_explore::SERVICE;
use fencepost_model::process::Message;
use fencepost_model::scenario::{Expect, Scenario};
use fencepost_model::units::Duration;
use fencepost_registry::Erase;

use super::question::{DONE_LOOP, SessionQuestion, SessionStop};
use super::sizes;
use super::small::{SessionScenario, SmallStop, exactly};
use crate::asked::{Asked, InTicks, QuestionError, SmallScenario};
use crate::pace::Pace;
use crate::promise::Promise;
use crate::quantity::{Direction, Quantity, QuantityValue, count};
use crate::repair::{Change, Price};
use crate::rounding::{FINEST, down, sum, times};

/// How long the scan of leases takes to find one that is overdue (E-LS-5).
const SCAN: Duration = Duration::of_microseconds(500_000);

impl Asked for SessionQuestion {
    type Service = Etcd;
    type Small = SessionScenario;

    const STATES_MAX: u64 = 400_000;
    const EVEN_CLOCKS: &'static str = "the clock of no client is slower than the leader's";

    fn validate(&self) -> Result<(), QuestionError> {
        SessionQuestion::validate(self)
    }

    fn notes(&self) -> Vec<String> {
        SessionQuestion::notes(self)
    }

    fn heading(&self) -> String {
        let SessionQuestion { recipe, ttl, stop, margin, pause, latency, drift } = self;
        let margin = if *stop == SessionStop::BeforeExpiry { format!(", margin {margin}") } else { String::new() };
        format!(
            "{recipe}: ttl {ttl}, stop {}{margin}\nwithin these bounds: pause {pause}, latency {latency}, drift {drift}, and links to etcd that are cut",
            stop.name()
        )
    }

    fn promises(&self) -> &'static [Promise] {
        &[Promise::MutualExclusion]
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

    fn wider(&self, _: Promise) -> Vec<InTicks<SessionScenario>> {
        sizes::wider(self)
    }

    fn narrower(&self, _: Promise) -> Vec<InTicks<SessionScenario>> {
        sizes::narrower(self)
    }

    fn exactly(&self, promise: Promise, _: &InTicks<SessionScenario>) -> Scenario<Etcd> {
        exactly(self, promise)
    }

    fn paces(&self, sized: &InTicks<SessionScenario>) -> Vec<Pace> {
        vec![Pace::even(sized.tick)]
    }

    /// A holder that counts its lease, with a margin above pause and drift, if one fits.
    fn other_kinds(&self, _: Promise) -> Vec<(Change, Self)> {
        let needed = sum(self.pause, self.drift.of(self.ttl));
        // A little more than is needed, so that a small scenario tells them apart: a hundredth of T.
        let margin = Duration::of_microseconds(down(needed, FINEST) + down(self.ttl, FINEST) / 100 + 1);
        if self.stop == SessionStop::BeforeExpiry || margin >= self.ttl {
            return Vec::new();
        }
        let changed = SessionQuestion { stop: SessionStop::BeforeExpiry, margin, ..self.clone() };
        vec![(Change::BeforeExpiry { margin }, changed)]
    }

    fn price(&self) -> Price {
        let (ttl, third) = (self.ttl, Duration::of_microseconds(down(self.ttl, FINEST) / 3));
        let failover = sum(sum(ttl, SCAN), self.latency);
        let notice = match self.stop {
            SessionStop::Never => None,
            SessionStop::OnDone => Some(sum(sum(ttl, DONE_LOOP), times(self.latency, 2))),
            SessionStop::BeforeExpiry => Some(self.ttl),
        };
        let stall =
            ttl.nanoseconds() - third.nanoseconds() - self.margin.nanoseconds() - 2 * self.latency.nanoseconds();
        let stall = Duration::of_nanoseconds(stall.max(0));
        let renewals_an_hour = 3_600_000_000_000_u64.checked_div(third.nanoseconds().unsigned_abs()).unwrap_or(0);
        let sentence = format!(
            "a crashed holder's lock is free {ttl} to {failover} after its last renewal, and later by the election timeout and T after a change of the leader; \
             a live one does not lose it by standing still for less than {stall}; {renewals_an_hour} renewals an hour"
        );
        Price { failover: Some(failover), notice, stall: Some(stall), renewals_an_hour, sentence }
    }

    fn assumptions(&self, _: Promise) -> Vec<String> {
        let mut list = vec![
            format!("a client stands still for at most {} at a time, as often as it likes: its deadlines fire that late", self.pause),
            "links to etcd may be cut at any time; a message that arrives may take any time".to_owned(),
            "no operator revokes a lease or deletes a key (E-10, E-19), and no lease is shared (E-24)".to_owned(),
            "no leader stalls while the others elect another one, or etcd is 3.4.31, 3.5.13 or later (E-4, E-20); its clock does not jump, and a change of the \
             leader only adds time to a lease (E-LD-1)"
                .to_owned(),
            "the user looks at its time before it begins, and before each write; its writes carry no token".to_owned(),
        ];
        list.push(match self.drift.0 {
            0 => "clocks of clients run as fast as the leader's".to_owned(),
            _ => format!(
                "clocks of clients are slower than the leader's by at most {}: {} over the TTL",
                self.drift,
                self.drift.of(self.ttl)
            ),
        });
        list.push("any number of clients and rounds: a violation takes a holder and its successor, see reports/docs/doctor.md".to_owned());
        list
    }
}

impl SmallScenario for SessionScenario {
    type Service = Etcd;

    fn scenario(&self) -> Scenario<Etcd> {
        self.build()
    }

    fn erase() -> Erase<Etcd> {
        SERVICE.erase()
    }

    /// A holder that may stay for longer may leave as soon.
    fn is_wider_than(&self, other: &SessionScenario) -> bool {
        match (self.stop, other.stop) {
            (SmallStop::After(own), SmallStop::After(others)) => {
                SessionScenario { stop: other.stop, ..*self } == *other && own >= others && own < self.ttl
            }
            _ => self == other,
        }
    }

    fn for_file(&self, _: Promise, expect: Expect, about: String) -> Option<(Scenario<Etcd>, String)> {
        let mut scenario = self.build();
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
