//! R-Q-29 to R-Q-33, R-Q-51 to R-Q-54: errors and their effects, and races.

use super::*;

#[test]
fn r_q_29_channel_errors_leave_the_connection_and_its_queues() {
    for (request, code) in [
        (Request::Look(Name::Slot(5)), 404),
        (Request::Declare { name: A, shape: MINE }, 405),
        (Request::Ack(1), 406),
        (Request::Declare { name: Name::Reserved, shape: PLAIN }, 403),
    ] {
        let mut harness = ServerHarness::new();
        harness.declare(1, B, MINE);
        harness.declare(1, A, PLAIN);
        let Some(Answer::Error(problem)) = harness.ask(1, request) else { panic!("{request}") };
        assert_eq!((problem.code(), problem.is_fatal(), harness.exists(B)), (code, false, true));
        harness.reopen(1);
        assert_eq!(harness.look(1, B), OK);
    }
}

#[test]
fn r_q_30_connection_errors_remove_exclusive_queues() {
    for (channel, request, problem) in
        [(2, Request::Look(A), Problem::NotOpen), (1, Request::OpenChannel { confirms: true }, Problem::OpenTwice)]
    {
        let mut harness = ServerHarness::new();
        harness.declare(1, B, MINE);
        harness.channel = channel;
        assert_eq!(harness.ask(1, request), Some(refused(problem)));
        assert!(problem.is_fatal() && !harness.exists(B));
        assert_eq!(harness.ask(1, request), Some(Answer::Reset), "the socket is dead");
    }
}

#[test]
fn r_q_31_frames_before_close_ok_are_discarded_and_frames_after_it_cost_the_connection() {
    let mut harness = ServerHarness::new();
    harness.declare(1, B, MINE);
    harness.look(1, A);
    assert_eq!(harness.ask(1, Request::Look(B)), None);
    harness.close_ok = true;
    assert_eq!(harness.ask(1, Request::Look(B)), Some(refused(Problem::NotOpen)));
    assert!(!harness.exists(B));
}

#[test]
fn r_q_32_a_channel_that_is_opened_again_starts_afresh() {
    let mut harness = ServerHarness::new();
    harness.look(1, A);
    harness.close_ok = true;
    assert_eq!(harness.ask(1, Request::OpenChannel { confirms: false }), Some(Answer::Opened));
    assert_eq!(harness.probe(1, A), Some(Answer::Returned { confirmed: false }));
}

#[test]
fn r_q_51_of_simultaneous_declarations_one_wins() {
    let mut harness = ServerHarness::new();
    assert_eq!(harness.declare(2, B, MINE), OK);
    assert_eq!(harness.declare(1, B, MINE), refused(Problem::Locked));
}

#[test]
fn r_q_52_405_does_not_mean_that_the_owner_is_alive() {
    let mut harness = ServerHarness::new();
    harness.declare(1, B, MINE);
    harness.notice(Fault::Crash(ClientId(1)));
    assert_eq!(harness.declare(2, B, MINE), refused(Problem::Locked));
}

#[test]
fn r_q_53_users_of_one_connection_both_get_the_queue() {
    let mut harness = ServerHarness::new();
    harness.declare(1, B, MINE);
    harness.channel = 2;
    harness.ask(1, Request::OpenChannel { confirms: true });
    assert_eq!(harness.declare(1, B, MINE), OK);
    harness.delete(1, B);
    assert_eq!(
        harness.declare(2, B, MINE).clone(),
        refused(Problem::NotOpen),
        "channel 2 is not open on that connection"
    );
    harness.channel = 1;
    assert_eq!(harness.declare(3, B, MINE), OK);
}

#[test]
fn r_q_54_after_delete_ok_the_next_declaration_succeeds_at_once() {
    let mut harness = ServerHarness::new();
    harness.declare(1, B, MINE);
    harness.delete(1, B);
    assert_eq!(harness.declare(2, B, MINE), OK);
}

#[test]
fn r_q_70_a_message_whose_connection_is_lost_is_put_back_and_given_to_another() {
    let mut harness = ServerHarness::new();
    harness.declare(1, Name::Lock, PLAIN);
    harness.probe(1, Name::Lock);
    let got = Some(Answer::Got { delivery: 1, messages: 0 });
    assert_eq!(harness.ask(1, Request::Get(Name::Lock)), got);
    assert_eq!(harness.ask(2, Request::Get(Name::Lock)), Some(Answer::Empty));
    harness.hang_up(1);
    assert_eq!(harness.ask(2, Request::Get(Name::Lock)), got);
    harness.ask(2, Request::Requeue(1));
    assert_eq!(harness.ask(2, Request::Get(Name::Lock)), Some(Answer::Got { delivery: 2, messages: 0 }));
    harness.ask(2, Request::Ack(2));
    assert_eq!(harness.ask(2, Request::Get(Name::Lock)), Some(Answer::Empty));
}
