//! The model of RabbitMQ against logs, and against a live broker where there is one; R-Q-95's cases by name.

use std::io::{self, Write};
use std::time::{Duration, Instant};
use std::{env, thread};

use fencepost_amqp::ConnectionEnd;
use fencepost_conform::amqp::{Broker, Command, Exchange, Judged, RECORDED, hunt, judge, read, write};
use fencepost_model::mutation::{Judge, LayerKind};
use fencepost_model::time::Ticks;
use fencepost_rabbitmq::{Answer, Keeps, Name, Problem, QueueProperties, RabbitmqMutation, Request};

const PLAIN: QueueProperties =
    QueueProperties { exclusive: false, durable: false, auto_delete: false, keeps: Keeps::All, expires: None };
const MINE: QueueProperties = QueueProperties { exclusive: true, ..PLAIN };
const A: Name = Name::Slot(1);
const B: Name = Name::Holder(1);

/// The broker that runs for these tests, if there is one.
pub fn broker() -> Option<Broker> {
    let Ok(address) = env::var("FENCEPOST_RABBITMQ") else {
        // Written to the terminal even if the test harness keeps what is printed.
        let _ = io::stderr().write_all(
            b"skipped: no live RabbitMQ broker; install rabbitmq-server, start it and set FENCEPOST_RABBITMQ=amqp://127.0.0.1:5672 (.ci/run does)\n",
        );
        return None;
    };
    Some(Broker::connect(&address).expect("a broker"))
}

fn ask(line: &mut ConnectionEnd, request: Request) -> Option<Answer> {
    line.ask(1, false, &request).expect("it can be talked to")
}

fn declare(line: &mut ConnectionEnd, name: Name, shape: QueueProperties) -> Option<Answer> {
    ask(line, Request::Declare { name, shape })
}

fn probe(line: &mut ConnectionEnd, name: Name) -> Option<Answer> {
    ask(line, Request::Publish { name, mandatory: true })
}

const OK: Option<Answer> = Some(Answer::Declared { messages: 0 });
const LOCKED: Option<Answer> = Some(Answer::Error(Problem::Locked));

#[test]
fn the_recorded_answers_of_a_real_broker_are_possible() {
    let Judged::Possible(answers) = judge(&read(RECORDED).expect("a log"), None) else { panic!("impossible") };
    assert!(answers > 4_000, "{answers}");
}

#[test]
fn faults_of_the_broker_are_seen_in_the_recorded_answers() {
    let log = read(RECORDED).expect("a log");
    use RabbitmqMutation::*;
    let others = [
        ChannelTakesQueues,
        RefusalTakesQueues,
        OwnerlessQueuesStay,
        OwnerIgnored,
        LooksAtForeign,
        UnroutableIsAcked,
        UnackedGoWithConnection,
        RejectLosesMessage,
        DeletionOfAbsentRefused,
    ];
    let is_asked = |own: &&RabbitmqMutation| {
        let mutation = own.mutation();
        mutation.layer().kind == LayerKind::Server && mutation.judge() == Judge::Answers || others.contains(own)
    };
    for own in RabbitmqMutation::ALL.iter().filter(is_asked) {
        assert!(matches!(judge(&log, Some(own.mutation())), Judged::Impossible { .. }), "{own:?}");
    }
}

#[test]
fn a_log_with_a_changed_answer_is_impossible_and_the_line_is_named() {
    let begins = r#"{"rabbitmq":"3.10.8"}"#;
    let look =
        r#"{"said":{"ask":{"connection":1,"channel":1,"close_ok":false,"request":{"look":{"slot":1}}}},"answer":"#;
    let log = |answer: &str| format!("{begins}\n{look}{answer}}}\n");
    let judged = |answer: &str| judge(&read(&log(answer)).expect("a log"), None);
    assert_eq!(judged(r#"{"error":"no-queue"}"#), Judged::Possible(1));
    assert!(matches!(judged(r#"{"declared":{"messages":0}}"#), Judged::Impossible { line: 2, .. }));
    assert_eq!(read(&log("12")).expect_err("no answer").line, 2);
    let strange = log("null").replace("\"connection\":1", "\"connection\":9");
    assert!(read(&strange).expect_err("no connection").to_string().contains("no connection 9"));
}

/// What a log is judged to be: none is possible, else the line with which it no longer is.
fn verdict(said: &[(Command, Option<Answer>)]) -> Option<usize> {
    let exchange = |(command, answer): &(Command, Option<Answer>)| Exchange {
        command: *command,
        answer: *answer,
        expected: *answer,
    };
    let log = write("3.10.8", &[said.iter().map(exchange).collect()]);
    match judge(&read(&log).expect("a log"), None) {
        Judged::Possible(_) => None,
        Judged::Impossible { line, .. } => Some(line),
    }
}

fn on(connection: u16, request: Request) -> Command {
    Command::Ask { connection, channel: 1, close_ok: matches!(request, Request::OpenChannel { .. }), request }
}

const HOLD: Request = Request::Declare { name: B, shape: MINE };
const GONE: Option<Answer> = Some(Answer::Error(Problem::NoQueue));
const AGAIN: Request = Request::OpenChannel { confirms: true };

#[test]
fn r_q_39_right_after_a_hang_up_its_queues_may_be_there_and_not_for_ever() {
    let hung_up = (Command::HangUp { connection: 1 }, None);
    let opened = (on(2, AGAIN), Some(Answer::Opened));
    let begins = [(on(1, HOLD), OK), hung_up];
    let then = |rest: &[(Command, Option<Answer>)]| verdict(&[&begins[..], rest].concat());
    assert_eq!(then(&[(on(2, HOLD), OK)]), None, "it was noticed at once");
    assert_eq!(then(&[(on(2, HOLD), LOCKED), opened, (on(2, HOLD), OK)]), None, "it was noticed in between");
    assert_eq!(then(&[(on(2, HOLD), LOCKED), opened, (on(2, HOLD), LOCKED)]), None, "it was not noticed yet");
    assert_eq!(then(&[(on(2, HOLD), OK), (on(3, HOLD), OK)]), Some(5), "the second is not on its way out");
    let ghost = [
        (on(2, HOLD), OK),
        (on(2, Request::Delete { name: B, if_empty: false }), Some(Answer::Deleted { messages: 0 })),
        (on(3, HOLD), LOCKED),
    ];
    assert_eq!(then(&ghost), Some(6), "what was gone does not come back");
    assert_eq!(verdict(&[(on(1, HOLD), OK), (on(2, HOLD), OK)]), Some(3), "no connection was closed");
}

#[test]
fn r_q_40_the_queues_of_a_connection_that_is_over_go_one_by_one() {
    let other = Request::Declare { name: A, shape: MINE };
    let begins = [(on(1, HOLD), OK), (on(1, other), OK), (Command::HangUp { connection: 1 }, None)];
    for (first, second) in [(HOLD, other), (other, HOLD)] {
        let scan = [(on(2, first), OK), (on(2, second), LOCKED)];
        assert_eq!(verdict(&[&begins[..], &scan].concat()), None);
    }
}

#[test]
fn r_q_25_a_queue_that_expires_may_be_gone_at_any_time_and_no_other() {
    let with = |expires: Option<Ticks>| {
        let shape = QueueProperties { expires, ..PLAIN };
        verdict(&[(on(1, Request::Declare { name: A, shape }), OK), (on(1, Request::Look(A)), GONE)])
    };
    assert_eq!(with(Some(Ticks::new(60_000))), None);
    assert_eq!(with(None), Some(3));
}

#[test]
fn a_queue_that_is_there_before_a_run_is_refused_and_deleted_only_on_request() {
    let Some(mut broker) = broker() else { return };
    let seed = 987_654;
    let mut line = broker.line(&format!("fencepost-{seed}-1")).expect("a line");
    assert_eq!(declare(&mut line, A, PLAIN), OK);
    let refused = hunt(&broker, seed, 1, None, &mut |_| {}).expect_err("it is there");
    assert!(refused.to_string().contains("fencepost-987654-1-1-A"), "{refused}");
    assert_eq!(ask(&mut line, Request::Look(A)), OK, "and it still is");
    broker.removes_leftovers = true;
    hunt(&broker, seed, 1, None, &mut |_| {}).expect("it was deleted");
    assert_eq!(ask(&mut line, Request::Look(A)), GONE);
}

#[test]
fn leftovers_of_runs_with_any_seed_are_removed_by_their_names() {
    let Some(broker) = broker() else { return };
    let left = ["fencepost-987655-4", "fencepost-987656-t9"];
    let mine = "fencepost-of-mine";
    let mut lines = [left[0], left[1], mine].map(|prefix| broker.line(prefix).expect("a line"));
    lines.iter_mut().for_each(|line| assert_eq!(declare(line, A, PLAIN), OK));
    // What rabbitmqctl is told to do comes behind its name.
    let listed = format!("printf 'Listing queues …\\n{}-1-A\\n{mine}-1-A\\n{}-1-A\\n' #", left[0], left[1]);
    assert_eq!(broker.remove_leftovers(&listed).expect("they are removed"), left);
    let [one, other, mine] = lines.each_mut().map(|line| ask(line, Request::Look(A)));
    assert_eq!((one, other, mine), (GONE, GONE, OK));
    ask(&mut lines[2], Request::Delete { name: A, if_empty: false });
    // One that an open connection owns is no leftover.
    let mut owner = broker.line(left[1]).expect("a line");
    assert_eq!(declare(&mut owner, B, MINE), OK);
    let refused = broker.remove_leftovers(&format!("echo {}-1-B #", left[1])).expect_err("it is in use");
    assert!(refused.to_string().contains("fencepost-987656-t9-1-B"), "{refused}");
    let failed = broker.remove_leftovers("false").expect_err("the command fails");
    assert!(failed.to_string().contains("false list_queues"), "{failed}");
}

#[test]
fn a_live_broker_answers_as_the_model_says() {
    let Some(broker) = broker() else { return };
    let found = hunt(&broker, 1, 3_000, None, &mut |_| {}).expect("it can be talked to");
    assert!(found.difference.is_none(), "{:?}", found.difference);
    // A model that is wrong is found out, by a sequence made as short as it goes.
    let found = hunt(&broker, 1, 3_000, Some(RabbitmqMutation::RefusalTakesQueues.into()), &mut |_| {})
        .expect("it can be talked to");
    let difference = found.difference.expect("exclusive queues stay when a channel is closed, and the model says not");
    assert!(difference.len() <= 16, "of eighty commands these are left: {difference:?}");
}

#[test]
fn r_q_39_a_live_broker_notices_a_hang_up_and_what_it_says_until_then_is_possible() {
    let Some(broker) = broker() else { return };
    let mut said = vec![(on(1, HOLD), OK), (Command::HangUp { connection: 1 }, None)];
    let mut other = broker.line("r-q-39").expect("a line");
    let mut mine = broker.line("r-q-39").expect("a line");
    assert_eq!(declare(&mut mine, B, MINE), OK);
    drop(mine);
    let end = Instant::now() + Duration::from_secs(5);
    loop {
        let answer = declare(&mut other, B, MINE);
        said.push((on(2, HOLD), answer));
        if answer == OK {
            break;
        }
        assert!(answer == LOCKED && Instant::now() < end, "{answer:?}");
        // The refusal has closed the channel.
        said.push((on(2, AGAIN), other.ask(1, true, &AGAIN).expect("it can be talked to")));
    }
    assert_eq!(verdict(&said), None, "{said:?}");
    let mut altered = said;
    altered.retain(|(command, _)| !matches!(command, Command::HangUp { .. }));
    assert!(verdict(&altered).is_some(), "nobody has hung up");
}

#[test]
fn r_q_25_a_live_broker_drops_a_queue_that_expires() {
    let Some(broker) = broker() else { return };
    let mut line = broker.line("r-q-25").expect("a line");
    let request = Request::Declare { name: A, shape: QueueProperties { expires: Some(Ticks::new(300)), ..PLAIN } };
    assert_eq!(ask(&mut line, request), OK);
    thread::sleep(Duration::from_secs(2));
    assert_eq!(ask(&mut line, Request::Look(A)), GONE);
    assert_eq!(verdict(&[(on(1, request), OK), (on(1, Request::Look(A)), GONE)]), None);
}

#[test]
fn r_q_109_a_live_broker_puts_back_a_message_that_another_channel_holds() {
    let Some(broker) = broker() else { return };
    let [mut mine, mut other] = [(); 2].map(|()| broker.line("r-q-109").expect("a line"));
    let get = Request::Get(A);
    let got = |delivery, messages| Some(Answer::Got { delivery, messages });
    // My first delivery is of a queue that is deleted and declared again.
    assert_eq!(declare(&mut mine, A, PLAIN), OK);
    probe(&mut mine, A);
    assert_eq!(ask(&mut mine, get), got(1, 0));
    assert_eq!(ask(&mut other, Request::Delete { name: A, if_empty: false }), Some(Answer::Deleted { messages: 0 }));
    assert_eq!(declare(&mut other, A, PLAIN), OK);
    probe(&mut other, A);
    assert_eq!(ask(&mut other, get), got(1, 0));
    probe(&mut mine, A);
    assert_eq!(ask(&mut mine, get), got(2, 0));
    // I put it back, and the other's message, which it has not settled, is there for any client.
    ask(&mut mine, Request::Requeue(1));
    assert_eq!(ask(&mut mine, get), got(3, 0));
    assert_eq!(ask(&mut mine, Request::Delete { name: A, if_empty: false }), Some(Answer::Deleted { messages: 0 }));
}

#[test]
fn r_q_95_1_a_probe_of_a_foreign_queue_is_acked_and_a_passive_declare_gives_405() {
    let Some(broker) = broker() else { return };
    let [mut mine, mut other] = [(); 2].map(|()| broker.line("r-q-95-1").expect("a line"));
    assert_eq!(declare(&mut mine, B, MINE), OK);
    assert_eq!(probe(&mut other, B), Some(Answer::Confirmed));
    assert_eq!(ask(&mut other, Request::Look(B)), LOCKED);
}

#[test]
fn r_q_95_2_after_the_channel_is_closed_another_one_s_declaration_gives_405() {
    let Some(broker) = broker() else { return };
    let [mut mine, mut other] = [(); 2].map(|()| broker.line("r-q-95-2").expect("a line"));
    assert_eq!(declare(&mut mine, B, MINE), OK);
    assert_eq!(ask(&mut mine, Request::CloseChannel), Some(Answer::ChannelClosed));
    assert_eq!(declare(&mut other, B, MINE), LOCKED);
}

#[test]
fn r_q_95_3_a_frame_after_close_ok_costs_the_connection() {
    let Some(broker) = broker() else { return };
    let [mut mine, mut other] = [(); 2].map(|()| broker.line("r-q-95-3").expect("a line"));
    assert_eq!(declare(&mut mine, B, MINE), OK);
    assert_eq!(ask(&mut mine, Request::Look(A)), Some(Answer::Error(Problem::NoQueue)));
    let late = mine.ask(1, true, &Request::Look(B)).expect("it can be talked to");
    assert_eq!(late, Some(Answer::Error(Problem::NotOpen)));
    assert_eq!(declare(&mut other, B, MINE), OK);
}

#[test]
fn r_q_95_6_an_unroutable_publish_overtakes_a_routed_one_and_its_return_comes_before_its_ack() {
    let Some(broker) = broker() else { return };
    let mut line = broker.line("r-q-95-6").expect("a line");
    assert_eq!(declare(&mut line, B, MINE), OK);
    let said = line.pipeline(&[B, A, B]).expect("it can be talked to");
    let place = |wanted: &str| said.iter().position(|word| word == wanted);
    assert!(place("return") < place("ack 2"), "{said:?}");
    assert!(
        ["ack 1", "ack 2", "ack 3"]
            .iter()
            .all(|ack| place(ack).is_some() || said.iter().any(|word| word.contains("multiple"))),
        "{said:?}"
    );
}

/// Deletes and declares slots, and counts them as the published text does: up to the first that is not there.
fn count_after(line: &mut ConnectionEnd, at_start: &[u8], deletes: &[u8], declares: &[u8]) -> u8 {
    let delete =
        |line: &mut ConnectionEnd, slot: u8| ask(line, Request::Delete { name: Name::Slot(slot), if_empty: false });
    at_start.iter().for_each(|slot| assert_eq!(declare(line, Name::Slot(*slot), PLAIN), OK));
    deletes.iter().for_each(|slot| assert!(matches!(delete(line, *slot), Some(Answer::Deleted { .. }))));
    declares.iter().for_each(|slot| assert_eq!(declare(line, Name::Slot(*slot), PLAIN), OK));
    let is_there = |slot: &u8| probe(line, Name::Slot(*slot)) == Some(Answer::Confirmed);
    let count = (1..).take_while(is_there).last().unwrap_or(0);
    (1..=5).for_each(|slot| assert!(matches!(delete(line, slot), Some(Answer::Deleted { .. }))));
    count
}

#[test]
fn r_q_95_8_the_arithmetic_of_adding_removing_and_overshooting() {
    let Some(broker) = broker() else { return };
    let mut line = broker.line("r-q-95-8").expect("a line");
    // F-6: three slots are added to two by declaring the last one.
    assert_eq!(count_after(&mut line, &[1, 2], &[], &[5]), 2);
    assert_eq!(count_after(&mut line, &[1, 2], &[], &[3, 4, 5]), 5);
    // F-7: two of five are removed, down to 5 - 2.
    assert_eq!(count_after(&mut line, &[1, 2, 3, 4, 5], &[5, 4, 3], &[]), 2);
    assert_eq!(count_after(&mut line, &[1, 2, 3, 4, 5], &[5, 4], &[]), 3);
    // F-16: overshooting from C = 3, and from behind it.
    assert_eq!(count_after(&mut line, &[1, 2, 3], &[3, 4, 5], &[]), 2);
    assert_eq!(count_after(&mut line, &[1, 2, 3], &[4, 5], &[]), 3);
}

#[test]
fn r_q_95_9_when_a_holder_s_queue_is_deleted_both_verify_the_slot() {
    let Some(broker) = broker() else { return };
    let [mut mine, mut other] = [(); 2].map(|()| broker.line("r-q-95-9").expect("a line"));
    assert_eq!(declare(&mut mine, A, PLAIN), OK);
    assert_eq!(declare(&mut mine, B, MINE), OK);
    // Any connection may delete it, and the holder's program receives no notification.
    let delete = Request::Delete { name: B, if_empty: false };
    assert!(matches!(ask(&mut mine, delete), Some(Answer::Deleted { .. })));
    assert_eq!(declare(&mut other, B, MINE), OK);
    assert_eq!([probe(&mut mine, A), probe(&mut other, A)], [Some(Answer::Confirmed); 2]);
    assert_eq!([probe(&mut mine, B), probe(&mut other, B)], [Some(Answer::Confirmed); 2]);
    assert_eq!(ask(&mut mine, Request::Look(B)), LOCKED);
    // Both probes lie in it.
    assert_eq!(ask(&mut other, Request::Look(B)), Some(Answer::Declared { messages: 2 }));
    ask(&mut other, Request::Delete { name: A, if_empty: false });
}

#[test]
fn a_message_got_on_a_channel_that_the_broker_closed_is_requeued_only_after_close_ok() {
    let Some(broker) = broker() else { return };
    let [mut mine, mut other] = [(); 2].map(|()| broker.line("put-back").expect("a line"));
    assert_eq!(declare(&mut other, A, PLAIN), OK);
    assert_eq!(probe(&mut other, A), Some(Answer::Confirmed));
    assert_eq!(ask(&mut mine, Request::Get(A)), Some(Answer::Got { delivery: 1, messages: 0 }));
    assert_eq!(ask(&mut mine, Request::Look(B)), Some(Answer::Error(Problem::NoQueue)));
    assert_eq!(ask(&mut other, Request::Look(A)), OK);
    mine.ask(1, true, &Request::OpenChannel { confirms: true }).expect("it can be talked to");
    assert_eq!(ask(&mut other, Request::Look(A)), Some(Answer::Declared { messages: 1 }));
    ask(&mut other, Request::Delete { name: A, if_empty: false });
}
