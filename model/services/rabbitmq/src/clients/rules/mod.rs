//! R-Q-81 to R-Q-90: a test for each rule about the corrected recipes, named after it.

use super::Participant;
use crate::messages::{Answer, Ask, Command, Name, Problem, RabbitmqEvent, RabbitmqMessage, Request, Timer};
use crate::{Operation, RabbitMq, Release, Settings};
use fencepost_model::fact::{Fact, Leaving};
use fencepost_model::ids::{Call, ClientId, ProcessId, RawId};
use fencepost_model::process::{Client, Context, Input, Message, Outbox, Process};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Instant, Ticks};

const A: Name = Name::Slot(1);
const B: Name = Name::Holder(1);
const HERE: Answer = Answer::Confirmed;
const ABSENT: Answer = Answer::Returned { confirmed: true };
const OK: Answer = Answer::Declared { messages: 0 };
const GONE: Answer = Answer::Deleted { messages: 0 };

/// A single client. The test inspects its requests and answers them.
struct ClientHarness {
    scenario: Scenario<RabbitMq>,
    client: Participant,
    id: ClientId,
    now: Instant,
    facts: Vec<Fact<RabbitMq>>,
    sent: Vec<RabbitmqMessage>,
    /// The last request.
    asked: Option<Ask>,
}

impl ClientHarness {
    /// The first client, with the corrected recipe and changed settings.
    fn taker(change: impl FnOnce(&mut Settings)) -> Self {
        let mut harness = ClientHarness::new(ClientId(1), change);
        harness.feed(Input::Command(Command::Acquire));
        harness
    }

    /// An administrator with one operation.
    fn administrator(operation: Operation, change: impl FnOnce(&mut Settings)) -> Self {
        let mut harness = ClientHarness::new(ClientId(3), |settings| {
            settings.administration.does = vec![vec![operation]];
            change(settings);
        });
        harness.feed(Input::Command(Command::Administer));
        harness
    }

    fn new(id: ClientId, change: impl FnOnce(&mut Settings)) -> Self {
        let mut scenario: Scenario<RabbitMq> = Scenario::new("harness");
        change(&mut scenario.service);
        let client = Participant::all(&scenario)[id.place()];
        let now = Instant::at(100);
        ClientHarness { scenario, client, id, now, facts: Vec::new(), sent: Vec::new(), asked: None }
    }

    fn feed(&mut self, input: Input<RabbitMq>) {
        let mut out = Outbox::new();
        let context = Context { scenario: &self.scenario, now: self.now, me: self.id.into() };
        self.client.on(input, &context, &mut out);
        self.facts = out.facts().to_vec();
        let text = |(_, message): &(ProcessId, Message<RabbitMq>)| match message {
            Message::Service(text) => Some(*text),
            _ => None,
        };
        self.sent = out.messages().iter().filter_map(text).collect();
        let ask = |text: &RabbitmqMessage| match text {
            RabbitmqMessage::Request(ask) => Some(*ask),
            _ => None,
        };
        self.asked = self.sent.iter().find_map(ask);
    }

    /// Answers the last request, and returns the next one.
    fn answer(&mut self, answer: Answer) -> Option<Request> {
        let call = self.asked.map_or(Call(0), |ask| ask.call);
        self.feed(Input::Message {
            from: ProcessId::Server,
            message: Message::Service(RabbitmqMessage::Response(call, answer)),
        });
        self.asked.map(|ask| ask.request)
    }

    /// Answers several requests, and returns the last one.
    fn answers(&mut self, answers: &[Answer]) -> Option<Request> {
        answers.iter().fold(None, |_, each| self.answer(*each))
    }

    fn is_inside(&self) -> bool {
        self.client.belief().is_inside
    }

    fn due(&self, wanted: Timer) -> Option<i64> {
        let mut found = None;
        self.client.wakes(&self.scenario, &mut |timer, at| {
            if timer == wanted {
                found = Some((at - self.now).count());
            }
        });
        found
    }

    fn said(&self, word: impl Fn(&RabbitmqEvent) -> bool) -> bool {
        self.facts.iter().any(|fact| matches!(fact, Fact::Service(said) if word(said)))
    }
}

fn publish(name: Name) -> Option<Request> {
    Some(Request::Publish { name, mandatory: true })
}

/// The responses that give slot 1 to the first client.
const IN: [Answer; 5] = [HERE, ABSENT, OK, OK, HERE];

#[test]
fn r_q_81_a_probe_says_present_absent_or_unknown() {
    for (answer, next) in
        [(HERE, publish(B)), (Answer::Nacked, publish(B)), (ABSENT, None), (Answer::Error(Problem::NoExchange), None)]
    {
        let mut harness = ClientHarness::taker(|_| {});
        assert_eq!(harness.asked.map(|ask| ask.request), publish(A));
        assert_eq!(harness.answer(answer), next, "{answer}");
        assert_eq!(
            harness.said(|word| matches!(word, RabbitmqEvent::Full(_))),
            answer == ABSENT,
            "unknown is not full"
        );
    }
}

#[test]
fn r_q_82_only_one_kind_of_404_means_absent() {
    for (answer, counts) in [
        (Answer::Error(Problem::NoQueue), true),
        (Answer::Error(Problem::HomeDown), false),
        (Answer::Error(Problem::Locked), false),
    ] {
        let mut harness = ClientHarness::administrator(Operation::Remove(1), |_| {});
        assert_eq!(harness.answers(&[OK, HERE, ABSENT]), Some(Request::Look(Name::Slot(2))));
        harness.answer(answer);
        assert_eq!(harness.said(|word| matches!(word, RabbitmqEvent::Counted(_, 1))), counts, "{answer}");
        assert_eq!(harness.said(|word| matches!(word, RabbitmqEvent::Aborted(_))), !counts);
    }
}

#[test]
fn r_q_83_an_administrator_takes_the_mutex_first_and_stops_when_its_connection_is_lost() {
    let mut harness = ClientHarness::administrator(Operation::Remove(1), |_| {});
    let first = harness.asked.expect("a request");
    assert!(matches!(first.request, Request::Declare { name: Name::Mutex, .. }));
    harness.answers(&[OK, HERE]);
    let gone = Message::Service(RabbitmqMessage::ConnectionClosed(first.connection, None));
    harness.feed(Input::Message { from: ProcessId::Server, message: gone });
    assert!(harness.said(|word| matches!(word, RabbitmqEvent::Aborted(_))));
    harness.feed(Input::Wake(Timer::Retry));
    let again = harness.asked.expect("it starts again");
    assert!(matches!(again.request, Request::Declare { name: Name::Mutex, .. }));
    assert_eq!(again.connection.raw().number, first.connection.raw().number + 1);
}

#[test]
fn r_q_84_strays_beyond_the_gap_go_first() {
    let mut harness =
        ClientHarness::administrator(Operation::Add(1), |settings| settings.administration.looks_beyond = 2);
    harness.answers(&[OK, HERE, ABSENT, Answer::Error(Problem::NoQueue)]);
    assert_eq!(harness.answer(Answer::Opened), publish(Name::Slot(3)));
    assert_eq!(harness.answer(HERE), publish(Name::Slot(4)));
    assert_eq!(harness.answer(ABSENT), Some(Request::Delete { name: Name::Slot(3), if_empty: false }));
}

#[test]
fn r_q_85_each_added_slot_is_declared_when_its_number_has_no_holder() {
    let mut harness = ClientHarness::administrator(Operation::Add(2), |_| {});
    harness.answers(&[OK, HERE, ABSENT, Answer::Error(Problem::NoQueue)]);
    assert_eq!(harness.answer(Answer::Opened), publish(Name::Holder(2)));
    assert_eq!(harness.answer(HERE), None, "it waits");
    harness.feed(Input::Wake(Timer::Retry));
    assert!(matches!(harness.answer(ABSENT), Some(Request::Declare { name: Name::Slot(2), .. })));
    assert_eq!(harness.answer(OK), publish(Name::Holder(3)));
}

#[test]
fn r_q_86_slots_are_removed_from_the_highest_and_their_holders_awaited() {
    let mut harness = ClientHarness::administrator(Operation::Remove(2), |settings| settings.slots = vec![1, 2, 3]);
    harness.answers(&[OK, HERE, HERE, HERE, ABSENT, Answer::Error(Problem::NoQueue)]);
    let delete = |slot| Some(Request::Delete { name: Name::Slot(slot), if_empty: false });
    assert_eq!(harness.answer(Answer::Opened), delete(3));
    assert_eq!(harness.answer(GONE), delete(2));
    assert_eq!(harness.answer(GONE), publish(Name::Holder(3)));
    assert_eq!(harness.answer(ABSENT), publish(Name::Holder(2)));
    harness.answer(ABSENT);
    assert!(harness.said(|word| matches!(word, RabbitmqEvent::Finished(_, 1))));
}

#[test]
fn r_q_87_a_client_verifies_before_success_and_releases_a_slot_that_no_longer_exists() {
    let mut harness = ClientHarness::taker(|_| {});
    assert_eq!(harness.answers(&[HERE, ABSENT, OK]), Some(Request::Look(B)));
    assert_eq!(harness.answer(OK), publish(A));
    assert_eq!(harness.answer(ABSENT), Some(Request::Delete { name: B, if_empty: false }));
    assert!(!harness.is_inside());
    let mut harness = ClientHarness::taker(|settings| settings.attempts = Some(1));
    harness.answers(&[HERE, ABSENT, Answer::Error(Problem::Locked)]);
    assert!(harness.said(|word| matches!(word, RabbitmqEvent::GaveUp(_))), "attempts are bounded");
}

#[test]
fn r_q_88_a_client_stops_before_it_releases_the_slot() {
    for (release, request) in
        [(Release::Delete, Request::Delete { name: B, if_empty: false }), (Release::CloseConnection, Request::Close)]
    {
        let mut harness = ClientHarness::taker(|settings| settings.release = release);
        harness.answers(&IN);
        assert!(harness.is_inside());
        harness.feed(Input::Command(Command::Release));
        assert_eq!((harness.is_inside(), harness.asked.map(|ask| ask.request)), (false, Some(request)));
    }
}

#[test]
fn r_q_89_verification_asks_for_the_holder_s_queue_and_then_for_the_slot() {
    for (answers, is_held) in [
        (&[OK, HERE][..], true),
        (&[OK, ABSENT], false),
        (&[Answer::Error(Problem::Locked)], false),
        (&[Answer::Error(Problem::NoQueue)], false),
        (&[Answer::Reset], false),
    ] {
        let mut harness = ClientHarness::taker(|settings| settings.verifies_when_asked = true);
        harness.answers(&IN);
        harness.feed(Input::Command(Command::Verify));
        assert_eq!(harness.asked.map(|ask| ask.request), Some(Request::Look(B)));
        harness.answers(answers);
        assert!(harness.said(|word| *word == RabbitmqEvent::Verified(ClientId(1), is_held)), "{answers:?}");
        assert_eq!(harness.is_inside(), is_held);
    }
}

#[test]
fn r_q_90_the_lease_counts_from_the_sending_of_the_last_answered_request() {
    let mut harness = ClientHarness::taker(|settings| {
        settings.heartbeat = Some(Ticks::new(5));
        settings.lease_margin = Some(Ticks::new(1));
    });
    harness.answers(&IN[..4]);
    harness.now += Ticks::new(3);
    harness.answer(IN[4]);
    assert_eq!(harness.due(Timer::Lapse), Some(2 * 5 - 1 - 3));
    harness.feed(Input::Wake(Timer::Lapse));
    assert!(harness.facts.contains(&Fact::Left { client: ClientId(1), why: Leaving::Lapsed }));
    assert!(matches!(harness.sent[..], [RabbitmqMessage::SocketClosed(_)]), "it closes the socket");
}
