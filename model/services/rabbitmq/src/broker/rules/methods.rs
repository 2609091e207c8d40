//! R-Q-1 to R-Q-16: declare, passive declare, delete.

use super::*;

#[test]
fn r_q_1_a_queue_is_known_by_its_name_and_nothing_tells_its_incarnations_apart() {
    let mut lab = Lab::new();
    lab.declare(1, A, PLAIN);
    let before = lab.world.server.process.clone();
    lab.delete(1, A);
    lab.declare(1, A, PLAIN);
    assert_eq!(lab.world.server.process, before);
}

#[test]
fn r_q_2_reserved_names_exclusivity_durability_auto_delete_and_arguments_are_looked_at_in_this_order() {
    let mut lab = Lab::new();
    assert_eq!(lab.declare(1, Name::Reserved, PLAIN), refused(Problem::Reserved));
    lab.reopen(1);
    lab.declare(1, A, PLAIN);
    let mut asked = Shape {
        exclusive: true,
        durable: true,
        auto_delete: true,
        keeps: Keeps::Nothing,
        expires: Some(Ticks::new(5)),
    };
    // An exclusive queue is never durable (R-Q-5), so durability is asked for after exclusivity is mended.
    for (problem, mend) in [
        (Problem::Locked, (|shape| shape.exclusive = false) as fn(&mut Shape)),
        (Problem::NotAlike(Difference::Durable), |shape| shape.durable = false),
        (Problem::NotAlike(Difference::AutoDelete), |shape| shape.auto_delete = false),
        (Problem::NotAlike(Difference::Expires), |shape| shape.expires = None),
        (Problem::NotAlike(Difference::MaxLength), |shape| shape.keeps = Keeps::All),
    ] {
        assert_eq!(lab.declare(1, A, asked), refused(problem));
        lab.reopen(1);
        mend(&mut asked);
    }
    assert_eq!(lab.declare(1, A, asked), OK);
}

#[test]
fn r_q_3_exclusivity_is_compared_strictly() {
    let mut lab = Lab::new();
    lab.declare(1, B, MINE);
    assert_eq!(lab.declare(1, B, PLAIN), refused(Problem::Locked));
    lab.reopen(1);
    lab.declare(1, A, PLAIN);
    assert_eq!(lab.declare(1, A, MINE), refused(Problem::Locked));
}

#[test]
fn r_q_4_declaring_again_tells_the_messages_and_not_whether_it_was_there() {
    let mut lab = Lab::new();
    assert_eq!(lab.declare(1, A, PLAIN), OK);
    assert_eq!(lab.declare(2, A, PLAIN), OK);
    lab.probe(1, A);
    assert_eq!(lab.declare(2, A, PLAIN), Answer::Declared { messages: 1 });
}

#[test]
fn r_q_5_an_exclusive_queue_drops_the_durable_flag() {
    let mut lab = Lab::new();
    for durable in [true, false, true] {
        assert_eq!(lab.declare(1, B, Shape { durable, ..MINE }), OK);
    }
}

#[test]
fn r_q_6_without_an_answer_success_is_silent_and_a_conflict_is_not() {
    let mut lab = Lab::new();
    let silently = Request::DeclareSilently { name: B, shape: MINE };
    assert_eq!(lab.ask(1, silently), None);
    assert_eq!(lab.ask(2, silently), Some(refused(Problem::Locked)));
}

#[test]
fn r_q_7_a_passive_declare_finds_shared_queues_and_one_s_own() {
    let mut lab = Lab::new();
    lab.declare(1, A, PLAIN);
    lab.declare(1, B, MINE);
    assert_eq!((lab.look(2, A), lab.look(1, B)), (OK, OK));
}

#[test]
fn r_q_8_of_a_missing_queue_it_says_404() {
    let mut lab = Lab::new();
    assert_eq!(lab.look(1, A), refused(Problem::NoQueue));
}

#[test]
fn r_q_9_of_another_one_s_exclusive_queue_it_says_405() {
    let mut lab = Lab::new();
    lab.declare(1, B, MINE);
    assert_eq!(lab.look(2, B), refused(Problem::Locked));
}

#[test]
fn r_q_11_deleting_a_missing_queue_is_answered_with_0() {
    let mut lab = Lab::new();
    assert_eq!(lab.delete(1, A), Answer::Deleted { messages: 0 });
    lab.declare(1, A, PLAIN);
    lab.probe(1, A);
    assert_eq!(lab.delete(1, A), Answer::Deleted { messages: 1 });
}

#[test]
fn r_q_12_nobody_else_can_delete_an_exclusive_queue() {
    let mut lab = Lab::new();
    lab.declare(1, B, MINE);
    assert_eq!(lab.delete(2, B), refused(Problem::Locked));
    assert!(lab.exists(B));
}

#[test]
fn r_q_13_a_queue_that_swallowed_probes_is_not_empty() {
    let mut lab = Lab::new();
    lab.declare(1, A, PLAIN);
    lab.probe(1, A);
    assert_eq!(lab.ask(1, Request::Delete { name: A, if_empty: true }), Some(refused(Problem::NotEmpty)));
}

#[test]
fn r_q_15_slots_have_no_owner() {
    let mut lab = Lab::new();
    lab.declare(1, A, PLAIN);
    lab.declare(1, B, MINE);
    assert_eq!(lab.delete(2, A), Answer::Deleted { messages: 0 });
}

#[test]
fn r_q_16_an_operator_deletes_a_holder_s_queue_and_nobody_is_told() {
    let mut lab = Lab::new();
    lab.declare(1, B, MINE);
    assert_eq!(lab.operate(OperatorAction::Delete(B)), []);
    assert!(!lab.exists(B));
}

#[test]
fn r_q_28_an_auto_delete_queue_without_a_consumer_stays() {
    let mut lab = Lab::new();
    lab.declare(1, A, Shape { auto_delete: true, ..PLAIN });
    lab.hang_up(1);
    assert!(lab.exists(A));
}
