//! R-Q-94: the table of verdicts about the persistent semaphore that was reasoned and never run. Here it is run.

use fencepost::checker::Options;
use fencepost::model::finding::Verdict;
use fencepost::rabbitmq::{
    Cluster, First, LostConnection, NUMBERS, Operation, OperatorActionKind, RabbitMq, RabbitmqFault, SERVICE, Settings,
    Split, Verify,
};
use fencepost::{AnyOutcome, Property, Scenario, Ticks};

/// The kind of fault.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Fault {
    Nothing,
    Freeze,
    Reconnect,
    OperatorDeletes,
    AdministratorDropped,
    BrokerRestarts,
    HomeDown,
    Partition,
}

const FAULTS: [Fault; 8] = [
    Fault::Nothing,
    Fault::Freeze,
    Fault::Reconnect,
    Fault::OperatorDeletes,
    Fault::AdministratorDropped,
    Fault::BrokerRestarts,
    Fault::HomeDown,
    Fault::Partition,
];

/// A row of the table.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Row {
    LiteralBelief,
    LiteralOrder,
    CorrectedBelief,
    LeasedBelief,
    CorrectedOrder,
    Record,
}

impl Row {
    fn is_literal(self) -> bool {
        matches!(self, Row::LiteralBelief | Row::LiteralOrder)
    }

    fn is_about_order(self) -> bool {
        matches!(self, Row::LiteralOrder | Row::CorrectedOrder)
    }
}

/// Allows for one fault of the service.
fn allow(scenario: &mut Scenario<RabbitMq>, budget: &str) {
    scenario.budget.allow::<RabbitmqFault>(budget, 1);
}

/// Two clients for one slot, or an administrator who adds one and another who removes one; only the named fault occurs.
fn scenario(row: Row, fault: Fault) -> Scenario<RabbitMq> {
    let mut scenario: Scenario<RabbitMq> = Scenario::new("r-q-94");
    let settings = &mut scenario.service;
    if row.is_literal() {
        *settings = Settings::of_recipe("persistent-semaphore").expect("a recipe");
    }
    if row.is_about_order() {
        // The one client looks for a slot that is not there, and lets it be.
        scenario.clients = 1;
        (settings.first, settings.persists) = (First::At(NUMBERS), false);
        settings.slots = vec![1, 2];
        let more = if row.is_literal() { 2 } else { 1 };
        settings.administration.does = vec![vec![Operation::Add(more)], vec![Operation::Remove(1)]];
    } else {
        settings.verifies_when_asked = true;
    }
    let reconnects = |settings: &mut Settings| {
        if settings.verify == Verify::Slot {
            settings.lost_connection = LostConnection::Replaced;
            settings.administration.reconnects = true;
        }
    };
    if row == Row::LeasedBelief {
        settings.heartbeat = Some(Ticks::new(2));
        settings.lease_margin = Some(Ticks::new(1));
        settings.verify_every = Some(Ticks::new(1));
        settings.verifies_when_asked = false;
    }
    match fault {
        Fault::Nothing => {}
        Fault::Freeze => settings.heartbeat = settings.heartbeat.or(Some(Ticks::new(1))),
        Fault::Reconnect | Fault::AdministratorDropped => {
            reconnects(settings);
            allow(&mut scenario, "lost_connections");
        }
        Fault::OperatorDeletes => {
            settings.operator = vec![OperatorActionKind::DeleteHolder];
            scenario.budget.operator = 1;
        }
        Fault::BrokerRestarts => {
            reconnects(settings);
            allow(&mut scenario, "broker_restarts");
        }
        Fault::HomeDown => {
            let slots_at = vec![2, 2, 2, 2];
            settings.cluster = Cluster { nodes: 2, slots_at, go_down: vec![2], ..Cluster::default() };
            allow(&mut scenario, "node_crashes");
        }
        Fault::Partition => {
            let split = Split::Ignore;
            let clients_at = if row.is_about_order() { vec![1, 1, 2] } else { vec![1, 2] };
            settings.cluster = Cluster { nodes: 2, clients_at, splits: true, split, ..Cluster::default() };
            allow(&mut scenario, "partitions");
        }
    }
    if fault == Fault::Freeze || row == Row::LeasedBelief {
        let now = Some(Ticks::ZERO);
        scenario.synchrony.message_delay = now;
        scenario.synchrony.wake_delay = now;
        scenario.synchrony.server_delay = now;
        scenario.budget.pauses = u8::from(fault == Fault::Freeze);
    }
    scenario
}

/// Which of these promises some run breaks.
fn broken(scenario: Scenario<RabbitMq>, properties: &[Property]) -> Vec<Property> {
    let promise = |scenario: Scenario<RabbitMq>, property: &Property| scenario.promise(*property);
    let scenario = properties.iter().fold(scenario, promise);
    let outcomes = SERVICE.any(&scenario).check(&Options::default()).expect("no internal error");
    let is_broken = |outcome: &&AnyOutcome| match &outcome.finding.verdict {
        Verdict::Proven(_) | Verdict::Vacuous { .. } => false,
        Verdict::Violated(_) => true,
        Verdict::Bounded { by } => panic!("{} is bounded by {by}", outcome.finding.property),
    };
    outcomes.iter().filter(is_broken).map(|outcome| outcome.finding.property).collect()
}

/// `H` holds, `W` violated until the victim asks again or is notified, `U` violated for ever, `·` is not about this.
fn cell(row: Row, fault: Fault) -> char {
    use Property::{Contiguity, CountExact, LeaseExclusion, SingleOwner, SizeAsAsked, SlotExclusion, VerifyTruthful};
    let lasting: &[Property] = if row.is_about_order() { &[Contiguity] } else { &[VerifyTruthful, SingleOwner] };
    let judged: &[Property] = match row {
        // What happens to administrators touches no holder, and the other way round.
        Row::LiteralBelief | Row::CorrectedBelief | Row::LeasedBelief if fault == Fault::AdministratorDropped => {
            return '·';
        }
        Row::LiteralOrder | Row::CorrectedOrder if fault == Fault::Reconnect => return '·',
        Row::LiteralOrder | Row::CorrectedOrder => &[Contiguity, CountExact, SizeAsAsked],
        Row::LiteralBelief | Row::CorrectedBelief => &[SlotExclusion, VerifyTruthful, SingleOwner],
        Row::LeasedBelief => &[LeaseExclusion, SingleOwner],
        Row::Record => &[SingleOwner],
    };
    let broken = broken(scenario(row, fault), judged);
    match broken.iter().any(|property| lasting.contains(property)) {
        true => 'U',
        false if broken.is_empty() => 'H',
        false => 'W',
    }
}

/// What the tool says, and where the table that was reasoned said something else:
/// - *Corrected, order, freeze, lost connection, restart*: `W` and not `H`. An administrator whose mutex is lost may hear the
///   answer to its last step afterwards, and report a size that another one has changed since. The slots stay in order.
/// - *Corrected, order, home node down*: `H` and not `W`. The hole is in what a probe sees; the records are in order, and an
///   administrator that confirms absences (R-Q-82) stops.
#[test]
fn r_q_94_the_table_of_expected_verdicts() {
    for (row, found, _reasoned) in [
        (Row::LiteralBelief, "HWUU·UHU", "HWUUHUHU"),
        (Row::LiteralOrder, "UU·UUUUU", "UUUUUUUU"),
        (Row::CorrectedBelief, "HWWW·WHU", "HWWWHWHU"),
        (Row::LeasedBelief, "HHWW·WHU", "HHWWHWHU"),
        (Row::CorrectedOrder, "HW·HWWHU", "HHHHHHWU"),
        (Row::Record, "HHHHHHHU", "HHHHHHHU"),
    ] {
        let cells: String = FAULTS.iter().map(|fault| cell(row, *fault)).collect();
        assert_eq!(cells, found, "{row:?}");
    }
}
