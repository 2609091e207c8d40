//! R-Q-1 to R-Q-16: declare, passive declare, delete.

use super::*;

#[test]
fn r_q_1_a_queue_is_identified_by_its_name_only() {
    let mut harness = ServerHarness::new();
    harness.declare(1, A, PLAIN);
    let before = harness.world.server.process.clone();
    harness.delete(1, A);
    harness.declare(1, A, PLAIN);
    assert_eq!(harness.world.server.process, before);
}

#[test]
fn r_q_2_reserved_names_exclusivity_durability_auto_delete_and_arguments_are_checked_in_this_order() {
    let mut harness = ServerHarness::new();
    assert_eq!(harness.declare(1, Name::Reserved, PLAIN), refused(Problem::Reserved));
    harness.reopen(1);
    harness.declare(1, A, PLAIN);
    let mut asked = QueueProperties {
        exclusive: true,
        durable: true,
        auto_delete: true,
        keeps: Keeps::Nothing,
        expires: Some(Ticks::new(5)),
    };
    // An exclusive queue is never durable (R-Q-5), so durability is checked after exclusivity is corrected.
    for (problem, mend) in [
        (Problem::Locked, (|shape| shape.exclusive = false) as fn(&mut QueueProperties)),
        (Problem::NotAlike(Difference::Durable), |shape| shape.durable = false),
        (Problem::NotAlike(Difference::AutoDelete), |shape| shape.auto_delete = false),
        (Problem::NotAlike(Difference::Expires), |shape| shape.expires = None),
        (Problem::NotAlike(Difference::MaxLength), |shape| shape.keeps = Keeps::All),
    ] {
        assert_eq!(harness.declare(1, A, asked), refused(problem));
        harness.reopen(1);
        mend(&mut asked);
    }
    assert_eq!(harness.declare(1, A, asked), OK);
}

#[test]
fn r_q_3_exclusivity_is_compared_strictly() {
    let mut harness = ServerHarness::new();
    harness.declare(1, B, MINE);
    assert_eq!(harness.declare(1, B, PLAIN), refused(Problem::Locked));
    harness.reopen(1);
    harness.declare(1, A, PLAIN);
    assert_eq!(harness.declare(1, A, MINE), refused(Problem::Locked));
}

#[test]
fn r_q_4_declaring_again_returns_the_message_count_and_not_whether_the_queue_existed() {
    let mut harness = ServerHarness::new();
    assert_eq!(harness.declare(1, A, PLAIN), OK);
    assert_eq!(harness.declare(2, A, PLAIN), OK);
    harness.probe(1, A);
    assert_eq!(harness.declare(2, A, PLAIN), Answer::Declared { messages: 1 });
}

#[test]
fn r_q_5_an_exclusive_queue_drops_the_durable_flag() {
    let mut harness = ServerHarness::new();
    for durable in [true, false, true] {
        assert_eq!(harness.declare(1, B, QueueProperties { durable, ..MINE }), OK);
    }
}

#[test]
fn r_q_6_with_nowait_success_has_no_response_and_a_conflict_has_one() {
    let mut harness = ServerHarness::new();
    let silently = Request::DeclareSilently { name: B, shape: MINE };
    assert_eq!(harness.ask(1, silently), None);
    assert_eq!(harness.ask(2, silently), Some(refused(Problem::Locked)));
}

#[test]
fn r_q_7_a_passive_declare_finds_shared_queues_and_queues_of_its_own_connection() {
    let mut harness = ServerHarness::new();
    harness.declare(1, A, PLAIN);
    harness.declare(1, B, MINE);
    assert_eq!((harness.look(2, A), harness.look(1, B)), (OK, OK));
}

#[test]
fn r_q_8_for_a_missing_queue_it_returns_404() {
    let mut harness = ServerHarness::new();
    assert_eq!(harness.look(1, A), refused(Problem::NoQueue));
}

#[test]
fn r_q_9_for_an_exclusive_queue_of_another_connection_it_returns_405() {
    let mut harness = ServerHarness::new();
    harness.declare(1, B, MINE);
    assert_eq!(harness.look(2, B), refused(Problem::Locked));
}

#[test]
fn r_q_11_deleting_a_missing_queue_is_answered_with_0() {
    let mut harness = ServerHarness::new();
    assert_eq!(harness.delete(1, A), Answer::Deleted { messages: 0 });
    harness.declare(1, A, PLAIN);
    harness.probe(1, A);
    assert_eq!(harness.delete(1, A), Answer::Deleted { messages: 1 });
}

#[test]
fn r_q_12_no_other_connection_can_delete_an_exclusive_queue() {
    let mut harness = ServerHarness::new();
    harness.declare(1, B, MINE);
    assert_eq!(harness.delete(2, B), refused(Problem::Locked));
    assert!(harness.exists(B));
}

#[test]
fn r_q_13_a_queue_that_kept_probes_is_not_empty() {
    let mut harness = ServerHarness::new();
    harness.declare(1, A, PLAIN);
    harness.probe(1, A);
    assert_eq!(harness.ask(1, Request::Delete { name: A, if_empty: true }), Some(refused(Problem::NotEmpty)));
}

#[test]
fn r_q_15_slots_have_no_owner() {
    let mut harness = ServerHarness::new();
    harness.declare(1, A, PLAIN);
    harness.declare(1, B, MINE);
    assert_eq!(harness.delete(2, A), Answer::Deleted { messages: 0 });
}

#[test]
fn r_q_16_an_operator_deletes_a_holder_s_queue_without_a_notification() {
    let mut harness = ServerHarness::new();
    harness.declare(1, B, MINE);
    assert_eq!(harness.operate(OperatorAction::Delete(B)), []);
    assert!(!harness.exists(B));
}

#[test]
fn r_q_28_an_auto_delete_queue_without_a_consumer_stays() {
    let mut harness = ServerHarness::new();
    harness.declare(1, A, QueueProperties { auto_delete: true, ..PLAIN });
    harness.hang_up(1);
    assert!(harness.exists(A));
}
