//! R-Q-14, R-Q-61 to R-Q-69: nodes.

use super::*;

/// Two or three nodes; client 1 is connected to the first, client 2 to the second.
fn nodes(count: u8, split: Split) -> ServerHarness {
    ServerHarness::with(|settings| {
        settings.cluster.nodes = count;
        settings.cluster.clients_at = vec![1, 2];
        settings.cluster.split = split;
        settings.cluster.go_down = vec![1, 2];
        settings.cluster.splits = true;
    })
}

const DURABLE: QueueProperties = QueueProperties { durable: true, ..PLAIN };

#[test]
fn r_q_14_a_durable_queue_whose_node_is_down_is_neither_declared_nor_deleted() {
    let mut harness = nodes(2, Split::Ignore);
    harness.declare(2, A, DURABLE);
    harness.suffer(RabbitmqFault::Down(2));
    assert_eq!(harness.delete(1, A), refused(Problem::HomeDown));
    harness.reopen(1);
    assert_eq!(harness.declare(1, A, DURABLE), refused(Problem::HomeDown));
}

#[test]
fn r_q_61_queues_live_on_the_node_through_which_they_were_declared() {
    let mut harness = nodes(2, Split::Ignore);
    harness.declare(2, A, DURABLE);
    harness.declare(2, B, MINE);
    harness.suffer(RabbitmqFault::Down(1));
    assert!(harness.exists(A) && harness.exists(B));
    assert_eq!(harness.look(2, B), OK);
}

#[test]
fn r_q_62_r_q_95_10_a_node_that_goes_down_removes_its_exclusive_queues_and_leaves_a_gap_for_a_while() {
    let mut harness = nodes(2, Split::Ignore);
    harness.declare(2, A, DURABLE);
    harness.declare(2, B, MINE);
    assert_eq!(
        harness.suffer(RabbitmqFault::Down(2)),
        [RabbitmqMessage::ConnectionClosed(connection(2), Some(Problem::Forced))]
    );
    assert!(!harness.exists(B));
    assert_eq!(harness.probe(1, A), Some(RETURNED));
    assert_eq!(harness.look(1, A), refused(Problem::HomeDown));
    harness.reopen(1);
    harness.suffer(RabbitmqFault::Up(2));
    assert_eq!(harness.probe(1, A), Some(Answer::Confirmed));
}

#[test]
fn r_q_63_each_side_notices_by_its_own_clock() {
    let mut harness = nodes(2, Split::Ignore);
    harness.scenario.service.cluster.tick = Ticks::new(8);
    harness.suffer(RabbitmqFault::Split(2));
    assert_eq!(harness.due(), [(Timer::Tick(1), 8), (Timer::Tick(2), 8)]);
}

#[test]
fn r_q_64_with_ignore_both_clients_own_the_queue_and_neither_is_notified() {
    let mut harness = nodes(2, Split::Ignore);
    harness.declare(2, B, MINE);
    harness.suffer(RabbitmqFault::Split(2));
    assert_eq!(harness.ask(1, Request::Declare { name: B, shape: MINE }), None, "until the node has noticed");
    assert_eq!(harness.wake(Timer::Tick(1)), [RabbitmqMessage::Response(Call(7), OK)]);
    assert_eq!((harness.look(1, B), harness.look(2, B)), (OK, OK));
    assert_eq!(harness.suffer(RabbitmqFault::Heal), []);
    assert_eq!((harness.look(1, B), harness.look(2, B)), (OK, OK));
}

#[test]
fn r_q_65_with_autoheal_the_losing_side_restarts() {
    let mut harness = nodes(2, Split::Autoheal);
    harness.declare(2, B, MINE);
    harness.suffer(RabbitmqFault::Split(2));
    harness.wake(Timer::Tick(1));
    harness.declare(1, B, MINE);
    assert_eq!(
        harness.suffer(RabbitmqFault::Heal),
        [RabbitmqMessage::ConnectionClosed(connection(2), Some(Problem::Forced))]
    );
    assert_eq!(harness.look(1, B), OK);
}

#[test]
fn r_q_66_with_pause_minority_the_minority_closes_its_connections() {
    let mut harness = nodes(3, Split::PauseMinority);
    harness.declare(2, B, MINE);
    harness.suffer(RabbitmqFault::Split(2));
    harness.wake(Timer::Tick(1));
    assert_eq!(harness.declare(1, B, MINE), OK, "before the old holder is notified");
    assert_eq!(harness.wake(Timer::Tick(2)), [RabbitmqMessage::ConnectionClosed(connection(2), Some(Problem::Forced))]);
    assert_eq!(harness.ask(2, Request::Look(B)), Some(Answer::Reset));
}

#[test]
fn r_q_69_khepri_drops_the_record_on_the_majority_or_keeps_it_and_a_minority_changes_nothing() {
    for (split, granted) in [(Split::KhepriDrops, OK), (Split::KhepriKeeps, refused(Problem::Locked))] {
        let mut harness = nodes(3, split);
        harness.declare(2, B, MINE);
        harness.suffer(RabbitmqFault::Split(2));
        harness.wake(Timer::Tick(1));
        harness.wake(Timer::Tick(2));
        assert_eq!(harness.declare(1, B, MINE), granted);
        assert_eq!(harness.look(2, B), OK);
        assert_eq!(harness.ask(2, Request::Declare { name: Name::Holder(2), shape: MINE }), None);
    }
}
