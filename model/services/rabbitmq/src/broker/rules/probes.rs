//! R-Q-17 to R-Q-27: the answers to a publish.

use super::*;

#[test]
fn r_q_17_a_routable_publish_is_acked_and_an_unroutable_one_is_returned_first() {
    let mut harness = ServerHarness::new();
    harness.declare(1, A, PLAIN);
    assert_eq!(harness.probe(2, A), Some(Answer::Confirmed));
    assert_eq!(harness.probe(2, B), Some(RETURNED));
    assert_eq!(harness.probe(2, A), Some(Answer::Confirmed), "the channel stays open");
}

#[test]
fn r_q_18_without_the_mandatory_flag_everything_is_acked() {
    let mut harness = ServerHarness::new();
    assert_eq!(harness.ask(1, Request::Publish { name: A, mandatory: false }), Some(Answer::Confirmed));
}

#[test]
fn r_q_19_without_confirms_there_is_silence_or_a_return() {
    let mut harness = ServerHarness::new();
    harness.declare(1, A, PLAIN);
    harness.channel = 2;
    harness.ask(1, Request::OpenChannel { confirms: false });
    assert_eq!(harness.probe(1, A), None);
    assert_eq!(harness.probe(1, B), Some(Answer::Returned { confirmed: false }));
}

#[test]
fn r_q_20_a_queue_that_refuses_answers_with_a_nack() {
    let mut harness = ServerHarness::new();
    harness.declare(1, A, QueueProperties { keeps: Keeps::One, ..PLAIN });
    assert_eq!((harness.probe(1, A), harness.probe(1, A)), (Some(Answer::Confirmed), Some(Answer::Nacked)));
}

#[test]
fn r_q_23_publishing_needs_no_ownership() {
    let mut harness = ServerHarness::new();
    harness.declare(1, B, MINE);
    assert_eq!(harness.probe(2, B), Some(Answer::Confirmed));
}

#[test]
fn r_q_24_probes_are_kept_unless_the_queue_keeps_nothing() {
    let mut harness = ServerHarness::new();
    for (name, keeps, kept) in [(A, Keeps::All, 2), (B, Keeps::Nothing, 0)] {
        harness.declare(1, name, QueueProperties { keeps, ..PLAIN });
        harness.probe(1, name);
        harness.probe(1, name);
        assert_eq!(harness.look(1, name), Answer::Declared { messages: kept });
    }
}

#[test]
fn r_q_24_more_than_255_probes_are_counted() {
    let mut harness = ServerHarness::new();
    harness.declare(1, A, PLAIN);
    for _ in 0..300 {
        harness.probe(1, A);
    }
    assert_eq!(harness.look(1, A), Answer::Declared { messages: 300 });
}

#[test]
fn r_q_25_probes_do_not_renew_a_lease_and_declarations_do() {
    let mut harness = ServerHarness::new();
    harness.declare(1, A, QueueProperties { expires: Some(Ticks::new(5)), ..PLAIN });
    harness.pass(3);
    harness.probe(1, A);
    assert_eq!(harness.due(), [(Timer::Expire(A), 2)]);
    harness.look(1, A);
    assert_eq!(harness.due(), [(Timer::Expire(A), 5)]);
    harness.wake(Timer::Expire(A));
    assert!(!harness.exists(A));
}

#[test]
fn r_q_26_immediate_closes_the_connection() {
    let mut harness = ServerHarness::new();
    harness.declare(1, B, MINE);
    assert_eq!(harness.ask(1, Request::PublishImmediate(A)), Some(refused(Problem::NotImplemented)));
    assert!(!harness.exists(B));
}

#[test]
fn r_q_27_a_missing_exchange_closes_the_channel() {
    let mut harness = ServerHarness::new();
    harness.declare(1, B, MINE);
    assert_eq!(harness.ask(1, Request::PublishNowhere), Some(refused(Problem::NoExchange)));
    assert!(harness.exists(B));
}

#[test]
fn r_q_34_a_received_answer_holds_for_every_later_request() {
    let mut harness = ServerHarness::new();
    harness.declare(1, B, MINE);
    assert_eq!(harness.probe(2, B), Some(Answer::Confirmed));
    harness.delete(1, B);
    assert_eq!(harness.probe(2, B), Some(RETURNED));
}

#[test]
fn r_q_47_a_connection_is_blocked_at_its_first_publish_under_an_alarm() {
    let mut harness = ServerHarness::with(|settings| settings.alarms = true);
    harness.declare(1, A, PLAIN);
    harness.suffer(RabbitmqFault::Alarm);
    assert_eq!(harness.probe(1, A), Some(Answer::Confirmed), "that publish is still acked");
    assert_eq!((harness.probe(1, A), harness.ask(1, Request::Look(A))), (None, None));
    assert_eq!(harness.look(2, A), Answer::Declared { messages: 1 }, "a connection that never publishes is served");
    let answers = harness.suffer(RabbitmqFault::Relief);
    assert_eq!(
        answers,
        [
            RabbitmqMessage::Response(Call(7), Answer::Confirmed),
            RabbitmqMessage::Response(Call(7), Answer::Declared { messages: 2 })
        ]
    );
}

#[test]
fn r_q_48_r_q_95_7_the_end_of_a_blocked_connection_is_not_noticed_until_the_alarm_ends() {
    let mut harness =
        ServerHarness::with(|settings| (settings.alarms, settings.heartbeat) = (true, Some(Ticks::new(2))));
    harness.declare(1, B, MINE);
    harness.suffer(RabbitmqFault::Alarm);
    harness.probe(1, B);
    harness.hang_up(1);
    assert_eq!((harness.exists(B), harness.due()), (true, vec![]));
    harness.suffer(RabbitmqFault::Relief);
    assert_eq!(harness.due(), [(Timer::Notice(connection(1)), 0)]);
    harness.wake(Timer::Notice(connection(1)));
    assert!(!harness.exists(B));
}
