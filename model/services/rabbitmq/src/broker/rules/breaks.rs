//! R-Q-29 to R-Q-33, R-Q-51 to R-Q-54: what breaks what, and races.

use super::*;

#[test]
fn r_q_29_channel_errors_leave_the_connection_and_its_queues() {
    for (request, code) in [
        (Request::Look(Name::Slot(5)), 404),
        (Request::Declare { name: A, shape: MINE }, 405),
        (Request::Ack(1), 406),
        (Request::Declare { name: Name::Reserved, shape: PLAIN }, 403),
    ] {
        let mut lab = Lab::new();
        lab.declare(1, B, MINE);
        lab.declare(1, A, PLAIN);
        let Some(Answer::Error(problem)) = lab.ask(1, request) else { panic!("{request}") };
        assert_eq!((problem.code(), problem.is_fatal(), lab.exists(B)), (code, false, true));
        lab.reopen(1);
        assert_eq!(lab.look(1, B), OK);
    }
}

#[test]
fn r_q_30_connection_errors_take_exclusive_queues_along() {
    for (channel, request, problem) in
        [(2, Request::Look(A), Problem::NotOpen), (1, Request::OpenChannel { confirms: true }, Problem::OpenTwice)]
    {
        let mut lab = Lab::new();
        lab.declare(1, B, MINE);
        lab.channel = channel;
        assert_eq!(lab.ask(1, request), Some(refused(problem)));
        assert!(problem.is_fatal() && !lab.exists(B));
        assert_eq!(lab.ask(1, request), Some(Answer::Reset), "the socket is dead");
    }
}

#[test]
fn r_q_31_frames_before_close_ok_are_discarded_and_frames_after_it_cost_the_connection() {
    let mut lab = Lab::new();
    lab.declare(1, B, MINE);
    lab.look(1, A);
    assert_eq!(lab.ask(1, Request::Look(B)), None);
    lab.close_ok = true;
    assert_eq!(lab.ask(1, Request::Look(B)), Some(refused(Problem::NotOpen)));
    assert!(!lab.exists(B));
}

#[test]
fn r_q_32_a_channel_that_is_opened_again_starts_afresh() {
    let mut lab = Lab::new();
    lab.look(1, A);
    lab.close_ok = true;
    assert_eq!(lab.ask(1, Request::OpenChannel { confirms: false }), Some(Answer::Opened));
    assert_eq!(lab.probe(1, A), Some(Answer::Returned { confirmed: false }));
}

#[test]
fn r_q_51_of_simultaneous_declarations_one_wins() {
    let mut lab = Lab::new();
    assert_eq!(lab.declare(2, B, MINE), OK);
    assert_eq!(lab.declare(1, B, MINE), refused(Problem::Locked));
}

#[test]
fn r_q_52_405_does_not_mean_that_the_owner_lives() {
    let mut lab = Lab::new();
    lab.declare(1, B, MINE);
    lab.notice(Fault::Crash(ClientId(1)));
    assert_eq!(lab.declare(2, B, MINE), refused(Problem::Locked));
}

#[test]
fn r_q_53_users_of_one_connection_both_get_the_queue() {
    let mut lab = Lab::new();
    lab.declare(1, B, MINE);
    lab.channel = 2;
    lab.ask(1, Request::OpenChannel { confirms: true });
    assert_eq!(lab.declare(1, B, MINE), OK);
    lab.delete(1, B);
    assert_eq!(lab.declare(2, B, MINE).clone(), refused(Problem::NotOpen), "on channel 2, which is not open there");
    lab.channel = 1;
    assert_eq!(lab.declare(3, B, MINE), OK);
}

#[test]
fn r_q_54_after_delete_ok_the_next_declaration_succeeds_at_once() {
    let mut lab = Lab::new();
    lab.declare(1, B, MINE);
    lab.delete(1, B);
    assert_eq!(lab.declare(2, B, MINE), OK);
}

#[test]
fn r_q_70_a_message_whose_connection_is_lost_is_put_back_and_given_to_another() {
    let mut lab = Lab::new();
    lab.declare(1, Name::Lock, PLAIN);
    lab.probe(1, Name::Lock);
    let got = Some(Answer::Got { delivery: 1, messages: 0 });
    assert_eq!(lab.ask(1, Request::Get(Name::Lock)), got);
    assert_eq!(lab.ask(2, Request::Get(Name::Lock)), Some(Answer::Empty));
    lab.hang_up(1);
    assert_eq!(lab.ask(2, Request::Get(Name::Lock)), got);
    lab.ask(2, Request::Requeue(1));
    assert_eq!(lab.ask(2, Request::Get(Name::Lock)), Some(Answer::Got { delivery: 2, messages: 0 }));
    lab.ask(2, Request::Ack(2));
    assert_eq!(lab.ask(2, Request::Get(Name::Lock)), Some(Answer::Empty));
}
