//! R-Q-17 to R-Q-27: what a publish tells.

use super::*;

#[test]
fn r_q_17_a_routable_publish_is_acked_and_another_one_comes_back_first() {
    let mut lab = Lab::new();
    lab.declare(1, A, PLAIN);
    assert_eq!(lab.probe(2, A), Some(Answer::Confirmed));
    assert_eq!(lab.probe(2, B), Some(RETURNED));
    assert_eq!(lab.probe(2, A), Some(Answer::Confirmed), "the channel stays open");
}

#[test]
fn r_q_18_without_the_mandatory_flag_everything_is_acked() {
    let mut lab = Lab::new();
    assert_eq!(lab.ask(1, Request::Publish { name: A, mandatory: false }), Some(Answer::Confirmed));
}

#[test]
fn r_q_19_without_confirms_there_is_silence_or_a_return() {
    let mut lab = Lab::new();
    lab.declare(1, A, PLAIN);
    lab.channel = 2;
    lab.ask(1, Request::OpenChannel { confirms: false });
    assert_eq!(lab.probe(1, A), None);
    assert_eq!(lab.probe(1, B), Some(Answer::Returned { confirmed: false }));
}

#[test]
fn r_q_20_a_queue_that_refuses_answers_with_a_nack() {
    let mut lab = Lab::new();
    lab.declare(1, A, Shape { keeps: Keeps::One, ..PLAIN });
    assert_eq!((lab.probe(1, A), lab.probe(1, A)), (Some(Answer::Confirmed), Some(Answer::Nacked)));
}

#[test]
fn r_q_23_publishing_needs_no_ownership() {
    let mut lab = Lab::new();
    lab.declare(1, B, MINE);
    assert_eq!(lab.probe(2, B), Some(Answer::Confirmed));
}

#[test]
fn r_q_24_probes_are_kept_unless_the_queue_keeps_nothing() {
    let mut lab = Lab::new();
    for (name, keeps, kept) in [(A, Keeps::All, 2), (B, Keeps::Nothing, 0)] {
        lab.declare(1, name, Shape { keeps, ..PLAIN });
        lab.probe(1, name);
        lab.probe(1, name);
        assert_eq!(lab.look(1, name), Answer::Declared { messages: kept });
    }
}

#[test]
fn r_q_25_probes_do_not_renew_a_lease_and_declarations_do() {
    let mut lab = Lab::new();
    lab.declare(1, A, Shape { expires: Some(Ticks::new(5)), ..PLAIN });
    lab.pass(3);
    lab.probe(1, A);
    assert_eq!(lab.due(), [(Timer::Expire(A), 2)]);
    lab.look(1, A);
    assert_eq!(lab.due(), [(Timer::Expire(A), 5)]);
    lab.wake(Timer::Expire(A));
    assert!(!lab.exists(A));
}

#[test]
fn r_q_26_immediate_costs_the_connection() {
    let mut lab = Lab::new();
    lab.declare(1, B, MINE);
    assert_eq!(lab.ask(1, Request::PublishImmediate(A)), Some(refused(Problem::NotImplemented)));
    assert!(!lab.exists(B));
}

#[test]
fn r_q_27_a_missing_exchange_costs_the_channel() {
    let mut lab = Lab::new();
    lab.declare(1, B, MINE);
    assert_eq!(lab.ask(1, Request::PublishNowhere), Some(refused(Problem::NoExchange)));
    assert!(lab.exists(B));
}

#[test]
fn r_q_34_an_answer_that_was_received_is_true_for_all_that_is_sent_later() {
    let mut lab = Lab::new();
    lab.declare(1, B, MINE);
    assert_eq!(lab.probe(2, B), Some(Answer::Confirmed));
    lab.delete(1, B);
    assert_eq!(lab.probe(2, B), Some(RETURNED));
}

#[test]
fn r_q_47_a_connection_is_blocked_at_its_first_publish_under_an_alarm() {
    let mut lab = Lab::with(|settings| settings.alarms = true);
    lab.declare(1, A, PLAIN);
    lab.suffer(RabbitmqFault::Alarm);
    assert_eq!(lab.probe(1, A), Some(Answer::Confirmed), "that publish is still acked");
    assert_eq!((lab.probe(1, A), lab.ask(1, Request::Look(A))), (None, None));
    assert_eq!(lab.look(2, A), Answer::Declared { messages: 1 }, "who never publishes is served");
    let answers = lab.suffer(RabbitmqFault::Relief);
    assert_eq!(
        answers,
        [
            RabbitmqMessage::Response(Call(7), Answer::Confirmed),
            RabbitmqMessage::Response(Call(7), Answer::Declared { messages: 2 })
        ]
    );
}

#[test]
fn r_q_48_r_q_95_7_the_end_of_a_blocked_connection_goes_unnoticed_until_the_alarm_is_over() {
    let mut lab = Lab::with(|settings| (settings.alarms, settings.heartbeat) = (true, Some(Ticks::new(2))));
    lab.declare(1, B, MINE);
    lab.suffer(RabbitmqFault::Alarm);
    lab.probe(1, B);
    lab.hang_up(1);
    assert_eq!((lab.exists(B), lab.due()), (true, vec![]));
    lab.suffer(RabbitmqFault::Relief);
    assert_eq!(lab.due(), [(Timer::Notice(line(1)), 0)]);
    lab.wake(Timer::Notice(line(1)));
    assert!(!lab.exists(B));
}
