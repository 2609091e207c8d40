//! Messages, consumers and concurrent channels of RabbitMQ: the rules by name, in logs made by hand; and a live broker where there is one.

use std::env;

use fencepost_conform::amqp::LEFT_OUT;
use fencepost_conform::amqp::traffic::{Access, Happening, Method, Reply, Verb, hunt, read, write};
use fencepost_rabbitmq::{Answer, Keeps, Problem, QueueProperties, RabbitmqMutation, Request};

use crate::rabbitmq::broker;
use crate::story::*;

#[test]
fn r_q_96_a_channel_s_publishes_are_ordered_for_each_queue_and_not_between_queues() {
    let begins = Story::new().ask(ONE, declare(B, false), declared(0, 0));
    let get = |name| Method::Get { name, no_ack: true };
    // The second publish was seen, and the first, to another queue, was not.
    let between = begins.clone().tell(ONE, publish(A, 1)).ask(ONE, publish(B, 2), CONFIRMED);
    let between = between.ask(TWO, get(B), got(1, 2, false, 0)).ask(TWO, get(A), EMPTY);
    let late = |mut story: Story| {
        story.line(ONE, Happening::Answered { to: 5, reply: CONFIRMED });
        story
    };
    assert!(late(between.clone()).is_possible());
    // To the same queue, that is impossible.
    let within = begins.tell(ONE, publish(A, 1)).ask(ONE, publish(A, 2), CONFIRMED);
    let within = within.ask(TWO, get(A), got(1, 2, false, 0)).ask(TWO, get(A), EMPTY);
    assert!(!late(within).is_possible());
}

#[test]
fn r_q_96_a_declaration_overtakes_a_publish_of_its_own_channel_and_a_get_does_not() {
    let with = |method, reply| {
        let mut story = Story::new().tell(ONE, publish(A, 1)).ask(ONE, method, reply);
        story.line(ONE, Happening::Answered { to: 3, reply: CONFIRMED });
        story.is_possible()
    };
    for method in [LOOK, declare(A, false)] {
        assert!(with(method, declared(0, 0)));
        assert!(with(method, declared(1, 0)));
    }
    assert!(with(GET, got(1, 1, false, 0)));
    assert!(!with(GET, EMPTY));
    // A get that is refused does not get to the queue: the owner's get may be before the publish.
    let owned = Story::new().ask(TWO, declare(B, true), declared(0, 0)).tell(ONE, publish(B, 1));
    let get = Method::Get { name: B, no_ack: false };
    let refused = owned.ask(ONE, get, error(Problem::Locked)).ask(TWO, get, EMPTY);
    assert!(refused.is_possible());
}

#[test]
fn r_q_96_an_ack_overtakes_a_publish_of_its_own_channel_and_a_requeue_does_not() {
    let nothing = QueueProperties { keeps: Keeps::Nothing, ..QueueProperties::default() };
    let consume = Method::Consume { name: B, tag: 1, no_ack: false, exclusive: false };
    let begins = Story::new().ask(ONE, Method::Plain(Request::Declare { name: B, shape: nothing }), declared(0, 0));
    let begins = begins.ask(ONE, Method::Qos(1), Reply::QosOk).ask(ONE, consume, Reply::ConsumeOk);
    let begins = begins.published(TWO, B, 1).delivered(ONE, 1, 1, false);
    // The queue keeps the second message only if its consumer can have it.
    let with = |settled| {
        let mut story = begins.clone().tell(ONE, publish(B, 2)).tell(ONE, settled).delivered(ONE, 2, 2, false);
        story.line(ONE, Happening::Answered { to: 12, reply: CONFIRMED });
        story.is_possible()
    };
    assert!(with(settle(Verb::Ack, 1, false)));
    assert!(!with(settle(Verb::Nack, 1, false)));
}

#[test]
fn r_q_97_deliveries_are_numbered_and_in_the_order_of_the_queue() {
    let begins = Story::new().published(TWO, A, 1).published(TWO, A, 2).ask(ONE, CONSUME, Reply::ConsumeOk);
    let with = |first: (u64, u32), second: (u64, u32)| {
        let story = begins.clone().delivered(ONE, first.0, first.1, false);
        story.delivered(ONE, second.0, second.1, false).is_possible()
    };
    assert!(with((1, 1), (2, 2)));
    assert!(!with((1, 2), (2, 1)), "they are in another order");
    assert!(!with((2, 1), (3, 2)), "the first tag is 1");
    assert!(!with((1, 1), (2, 1)), "a message is delivered once");
    assert!(!begins.delivered(ONE, 1, 1, false).is_possible(), "the second never came");
}

#[test]
fn r_q_98_a_message_goes_back_to_its_place_and_is_marked() {
    let begins = Story::new().published(TWO, A, 1).published(TWO, A, 2).ask(ONE, GET, got(1, 1, false, 1));
    for verb in [Verb::Nack, Verb::Reject] {
        let requeued = begins.clone().tell(ONE, settle(verb, 1, false));
        assert!(requeued.clone().ask(ONE, GET, got(2, 1, true, 1)).is_possible());
        assert!(!requeued.clone().ask(ONE, GET, got(2, 1, false, 1)).is_possible(), "it is not marked");
        assert!(!requeued.ask(ONE, GET, got(2, 2, false, 1)).is_possible(), "it is not in its place");
    }
    let recovered = begins.ask(ONE, Method::Recover, Reply::Recovered);
    assert!(recovered.ask(ONE, GET, got(2, 1, true, 1)).is_possible());
    // What the channel delivers after recover-ok, it has not put back.
    let consumed = Story::new().ask(ONE, CONSUME, Reply::ConsumeOk).published(TWO, A, 1);
    let after = consumed.clone().ask(ONE, Method::Recover, Reply::Recovered).delivered(ONE, 1, 1, false);
    assert!(after.is_possible());
    let before = consumed.delivered(ONE, 1, 1, false).ask(ONE, Method::Recover, Reply::Recovered);
    assert!(!before.is_possible(), "it comes again");
    assert!(before.delivered(ONE, 2, 1, true).is_possible());
}

#[test]
fn r_q_99_multiple_settles_every_earlier_delivery_and_an_unknown_tag_closes_the_channel() {
    let gets = (1..=3).fold(Story::new(), |story, body| story.published(TWO, A, body));
    let gets = (1..=3).fold(gets, |story, body| story.ask(ONE, GET, got(body.into(), body, false, 3 - body)));
    let acked = gets.tell(ONE, settle(Verb::Ack, 2, true));
    let unknown = error(Problem::UnknownDelivery);
    assert!(acked.clone().ask(ONE, settle(Verb::Ack, 1, false), unknown).is_possible());
    assert!(!acked.clone().ask(ONE, settle(Verb::Ack, 3, false), unknown).is_possible());
    let fence = |story: Story| story.ask(ONE, LOOK, declared(0, 0)).is_possible();
    assert!(fence(acked.clone().tell(ONE, settle(Verb::Ack, 3, false))));
    assert!(!fence(acked.tell(ONE, settle(Verb::Ack, 1, false))), "it was settled before");
}

#[test]
fn r_q_100_a_consumer_has_no_more_unsettled_deliveries_than_its_prefetch() {
    let begins = Story::new().ask(ONE, Method::Qos(1), Reply::QosOk).ask(ONE, CONSUME, Reply::ConsumeOk);
    let begins = begins.published(TWO, A, 1).published(TWO, A, 2).delivered(ONE, 1, 1, false);
    assert!(begins.is_possible());
    assert!(!begins.clone().delivered(ONE, 2, 2, false).is_possible());
    let acked = begins.tell(ONE, settle(Verb::Ack, 1, false));
    assert!(!acked.is_possible(), "the second must come");
    assert!(acked.delivered(ONE, 2, 2, false).is_possible());
    // A consumer without acknowledgements has no limit.
    let no_ack = Method::Consume { name: A, tag: 1, no_ack: true, exclusive: false };
    let free = Story::new().ask(ONE, Method::Qos(1), Reply::QosOk).ask(ONE, no_ack, Reply::ConsumeOk);
    let free = free.published(TWO, A, 1).published(TWO, A, 2);
    assert!(free.delivered(ONE, 1, 1, false).delivered(ONE, 2, 2, false).is_possible());
}

#[test]
fn r_q_101_an_exclusive_consumer_is_alone() {
    let alone = Method::Consume { name: A, tag: 1, no_ack: false, exclusive: true };
    for (first, second) in [(alone, CONSUME), (CONSUME, alone)] {
        let begins = Story::new().ask(ONE, first, Reply::ConsumeOk);
        assert!(begins.clone().ask(TWO, second, Reply::InUse).is_possible());
        assert!(!begins.ask(TWO, second, Reply::ConsumeOk).is_possible());
    }
    assert!(Story::new().ask(ONE, alone, Reply::ConsumeOk).ask(TWO, GET, EMPTY).is_possible());
}

#[test]
fn r_q_102_a_consumer_tag_that_the_channel_has_costs_the_connection() {
    let begins = Story::new().ask(ONE, declare(B, true), declared(0, 0)).ask(ONE, CONSUME, Reply::ConsumeOk);
    assert!(!begins.clone().ask(ONE, CONSUME, Reply::ConsumeOk).is_possible());
    let over = begins.ask(ONE, CONSUME, Reply::TagReused);
    assert!(over.clone().ask(TWO, declare(B, true), declared(0, 0)).is_possible());
    assert!(!over.ask(TWO, declare(B, true), error(Problem::Locked)).is_possible());
    let cancelled = Story::new().ask(ONE, CONSUME, Reply::ConsumeOk).ask(ONE, Method::Cancel(1), Reply::CancelOk);
    assert!(cancelled.ask(ONE, CONSUME, Reply::ConsumeOk).is_possible());
    assert!(Story::new().ask(ONE, Method::Cancel(7), Reply::CancelOk).is_possible());
}

#[test]
fn r_q_103_consumed_queues_have_the_messages_back_before_close_ok_and_others_later() {
    let closed = Reply::Plain(Answer::ChannelClosed);
    let consumed = Story::new().ask(ONE, CONSUME, Reply::ConsumeOk).published(TWO, A, 1).delivered(ONE, 1, 1, false);
    let consumed = consumed.ask(ONE, CLOSE_CHANNEL, closed);
    assert!(consumed.clone().ask(TWO, LOOK, declared(1, 0)).is_possible());
    assert!(!consumed.ask(TWO, LOOK, declared(0, 0)).is_possible());
    let taken = Story::new().published(TWO, A, 1).ask(ONE, GET, got(1, 1, false, 0)).ask(ONE, CLOSE_CHANNEL, closed);
    for messages in [0, 1] {
        assert!(taken.clone().ask(TWO, LOOK, declared(messages, 0)).is_possible());
    }
    assert!(!taken.ask(TWO, LOOK, declared(1, 0)).ask(TWO, LOOK, declared(0, 0)).is_possible());
    // A close by the broker is noticed only after it was acknowledged.
    let gone = Method::Plain(Request::Look(B));
    let broken = Story::new().published(TWO, A, 1).ask(ONE, GET, got(1, 1, false, 0));
    let broken = broken.ask(ONE, gone, error(Problem::NoQueue));
    assert!(!broken.clone().ask(TWO, LOOK, declared(1, 0)).is_possible());
    let reopened = broken.ask(ONE, Method::Reopen { confirms: true }, OPENED);
    assert!(reopened.ask(TWO, LOOK, declared(1, 0)).is_possible());
}

#[test]
fn r_q_104_a_message_expires_behind_its_time_and_only_as_the_first() {
    let short = Method::Publish { name: A, body: 1, mandatory: false, expiration: Some(4), persistent: false };
    let begins = Story::new().ask(ONE, short, CONFIRMED);
    assert!(!begins.clone().ask(TWO, LOOK, declared(0, 0)).is_possible(), "it is too early");
    let later = begins.ask(TWO, LOOK, declared(1, 0));
    assert!(later.ask(TWO, LOOK, declared(0, 0)).is_possible());
    let behind = Story::new().published(ONE, A, 7).ask(ONE, short, CONFIRMED);
    let behind = behind.ask(TWO, LOOK, declared(2, 0)).ask(TWO, LOOK, declared(2, 0));
    assert!(!behind.clone().ask(TWO, LOOK, declared(1, 0)).is_possible(), "another message is before it");
    // With a get of what is before it, it goes at once.
    assert!(behind.ask(TWO, GET, got(1, 7, false, 0)).is_possible());
    let lasting = Story::new().published(ONE, A, 7).published(ONE, A, 1);
    assert!(!lasting.ask(TWO, GET, got(1, 7, false, 0)).is_possible());
}

#[test]
fn r_q_105_a_consumer_is_cancelled_when_its_queue_is_gone() {
    let begins = Story::new().ask(ONE, CONSUME, Reply::ConsumeOk);
    assert!(!begins.clone().cancelled(ONE).is_possible());
    let delete = Method::Plain(Request::Delete { name: A, if_empty: false });
    let deleted = begins.ask(TWO, delete, Reply::Deleted { messages: 0 });
    assert!(deleted.clone().cancelled(ONE).is_possible());
    // If there is another queue of that name before its channel notices, it is a consumer of that, and its deliveries may be lost.
    let again = deleted.clone().ask(TWO, declare(A, false), declared(0, 0)).published(TWO, A, 1);
    assert!(again.clone().ask(TWO, LOOK, declared(0, 1)).is_possible());
    assert!(again.clone().delivered(ONE, 1, 1, false).ask(TWO, LOOK, declared(0, 1)).is_possible());
    assert!(again.clone().cancelled(ONE).ask(TWO, LOOK, declared(1, 0)).is_possible());
    assert!(!again.cancelled(ONE).ask(TWO, LOOK, declared(0, 1)).is_possible());
    assert!(!deleted.cancelled(ONE).ask(TWO, declare(A, false), declared(0, 1)).is_possible());
}

#[test]
fn r_q_106_a_purge_leaves_what_awaits_settlement() {
    let begins = Story::new().published(TWO, A, 1).published(TWO, A, 2).ask(ONE, GET, got(1, 1, false, 1));
    assert!(!begins.clone().ask(TWO, Method::Purge(A), Reply::Purged { messages: 2 }).is_possible());
    let purged = begins.ask(TWO, Method::Purge(A), Reply::Purged { messages: 1 });
    assert!(purged.tell(ONE, settle(Verb::Nack, 1, false)).ask(ONE, GET, got(2, 1, true, 0)).is_possible());
}

#[test]
fn r_q_107_the_permission_to_read_is_asked_before_the_queue() {
    let mut begins = Story::new();
    begins.log.access = Access::Limited;
    for method in [
        Method::Get { name: B, no_ack: false },
        Method::Purge(B),
        Method::Consume { name: B, tag: 1, no_ack: false, exclusive: false },
    ] {
        assert!(begins.clone().ask(THREE, method, Reply::Refused).is_possible());
        assert!(!begins.clone().ask(THREE, method, error(Problem::NoQueue)).is_possible());
        assert!(begins.clone().ask(TWO, method, error(Problem::NoQueue)).is_possible());
    }
    // R-Q-2, R-Q-10, R-Q-23: to configure and to write are refused, too, and a passive declare is not.
    assert!(begins.clone().ask(THREE, declare(B, true), Reply::Refused).is_possible());
    assert!(begins.clone().ask(THREE, publish(A, 1), Reply::Refused).is_possible());
    assert!(begins.ask(THREE, Method::Plain(Request::Look(B)), error(Problem::NoQueue)).is_possible());
}

#[test]
fn r_q_108_a_channel_that_ends_tells_its_queues_one_after_the_other() {
    let delete = |name| Method::Plain(Request::Delete { name, if_empty: false });
    let taken = Story::new().ask(ONE, CONSUME, Reply::ConsumeOk).published(TWO, A, 1).delivered(ONE, 1, 1, false);
    // The channel of the consumer fails because there is no queue B; another declares B and deletes A, before the consumer's message is back.
    let with = |messages: u32| {
        let mut story = taken.clone();
        let to = story.line(ONE, Happening::Sent(Method::Plain(Request::Look(B))));
        let mut story = story.ask(TWO, declare(B, false), declared(0, 0));
        let of = story.line(TWO, Happening::Sent(delete(A)));
        story.line(TWO, Happening::Answered { to: of, reply: Reply::Deleted { messages } });
        story.line(ONE, Happening::Answered { to, reply: error(Problem::NoQueue) });
        story.is_possible()
    };
    assert!(with(0), "A is not told yet");
    assert!(with(1), "A is told");
    let told = taken.clone().ask(ONE, Method::Plain(Request::Look(B)), error(Problem::NoQueue));
    assert!(told.clone().ask(TWO, delete(A), Reply::Deleted { messages: 1 }).is_possible());
    assert!(!told.ask(TWO, delete(A), Reply::Deleted { messages: 0 }).is_possible(), "the client knows of the end");
    // With close-ok it is the same.
    let closing = |messages: u32, is_late: bool| {
        let mut story = taken.clone();
        let to = story.line(ONE, Happening::Sent(CLOSE_CHANNEL));
        let closed = Happening::Answered { to, reply: Reply::Plain(Answer::ChannelClosed) };
        if !is_late {
            story.line(ONE, closed);
        }
        let mut story = story.ask(TWO, delete(A), Reply::Deleted { messages });
        if is_late {
            story.line(ONE, closed);
        }
        story.is_possible()
    };
    assert!(closing(0, true) && closing(1, true) && closing(1, false));
    assert!(!closing(0, false));
}

#[test]
fn r_q_108_a_connection_that_is_closed_ends_its_channels_before_its_exclusive_queues_go() {
    let second: On = (2, 2);
    let consume = Method::Consume { name: B, tag: 1, no_ack: false, exclusive: false };
    for exclusive in [true, false] {
        let begins = Story::new().ask(TWO, declare(B, exclusive), declared(0, 0)).ask(TWO, consume, Reply::ConsumeOk);
        let begins = begins.published(ONE, B, 1).delivered(TWO, 1, 1, false);
        let mut story = begins.ask(second, OPEN, OPENED).ask(second, consume, Reply::ConsumeOk);
        // The first channel fails, and what it had goes to the second one.
        let to = story.line(TWO, Happening::Sent(consume));
        let mut story = story.delivered(second, 1, 1, true);
        story.line(TWO, Happening::Answered { to, reply: Reply::TagReused });
        assert!(story.clone().is_possible());
        let gone = error(Problem::NoQueue);
        let look = Method::Plain(Request::Look(B));
        assert_eq!(story.ask(ONE, look, gone).is_possible(), exclusive);
    }
}

#[test]
fn r_q_105_a_channel_that_the_broker_has_closed_takes_a_consumer_over_too() {
    let delete = Method::Plain(Request::Delete { name: A, if_empty: false });
    let begins = Story::new().ask(ONE, CONSUME, Reply::ConsumeOk).ask(TWO, delete, Reply::Deleted { messages: 0 });
    let failed = begins.ask(ONE, Method::Plain(Request::Look(B)), error(Problem::NoQueue));
    let again = failed.ask(TWO, declare(A, false), declared(0, 0)).published(TWO, A, 1);
    let taken = again.clone().ask(TWO, LOOK, declared(0, 1));
    assert!(taken.is_possible());
    let reopened = taken.ask(ONE, Method::Reopen { confirms: true }, OPENED);
    assert!(reopened.clone().ask(TWO, LOOK, declared(1, 0)).is_possible(), "it is over with the channel");
    let end = reopened.ask(TWO, LOOK, declared(1, 0));
    assert!(!end.ask(TWO, LOOK, declared(0, 1)).is_possible());
}

#[test]
fn r_q_109_what_an_earlier_queue_delivered_settles_what_a_later_one_of_its_name_did() {
    let delete = Method::Plain(Request::Delete { name: A, if_empty: false });
    // The first message of the second queue is delivered on another channel.
    let begins = Story::new().published(TWO, A, 1).ask(ONE, GET, got(1, 1, false, 0));
    let begins = begins.ask(TWO, delete, Reply::Deleted { messages: 0 }).ask(TWO, declare(A, false), declared(0, 0));
    let begins = begins.published(TWO, A, 2).ask(THREE, GET, got(1, 2, false, 0)).published(TWO, A, 3);
    let used = begins.clone().ask(ONE, GET, got(2, 3, false, 0));
    let requeued = used.clone().tell(ONE, settle(Verb::Nack, 1, false));
    assert!(requeued.clone().ask(TWO, GET, got(1, 2, true, 0)).is_possible());
    assert!(!requeued.ask(TWO, GET, got(1, 3, true, 0)).is_possible(), "that is another number");
    let unused = begins.tell(ONE, settle(Verb::Nack, 1, false));
    assert!(
        !unused.clone().ask(TWO, GET, got(1, 2, true, 1)).is_possible(),
        "the channel has not used the second queue"
    );
    assert!(unused.ask(TWO, GET, got(1, 3, false, 0)).is_possible());
    // An ack removes it, and it does not go back with the channel that has it.
    let acked = used.tell(ONE, settle(Verb::Ack, 1, false)).ask(ONE, Method::Purge(A), Reply::Purged { messages: 0 });
    let closed = acked.ask(THREE, CLOSE_CHANNEL, Reply::Plain(Answer::ChannelClosed));
    assert!(closed.clone().ask(TWO, LOOK, declared(0, 0)).ask(TWO, LOOK, declared(0, 0)).is_possible());
    assert!(!closed.ask(TWO, LOOK, declared(1, 0)).is_possible());
}

#[test]
fn r_q_110_a_channel_puts_back_separately_what_each_of_its_consumers_had() {
    let second = Method::Consume { name: A, tag: 2, no_ack: false, exclusive: false };
    let begins = Story::new().ask(ONE, CONSUME, Reply::ConsumeOk).ask(ONE, Method::Qos(1), Reply::QosOk);
    let begins = begins.ask(ONE, second, Reply::ConsumeOk);
    let deliver = |mut story: Story, consumer, tag, body, redelivered| {
        story.line(ONE, Happening::Delivered { consumer, tag, body, redelivered });
        story
    };
    let begins = deliver(begins.published(TWO, A, 1), 2, 1, 1, false);
    let begins = deliver(begins.published(TWO, A, 2), 1, 2, 2, false).ask(ONE, Method::Recover, Reply::Recovered);
    // What the first consumer had comes first, and it is delivered before the rest is there.
    let after = deliver(begins.clone(), 1, 3, 2, true);
    assert!(deliver(after.clone(), 1, 4, 1, true).is_possible());
    assert!(deliver(after, 2, 4, 1, true).is_possible());
    let wrong = deliver(begins, 1, 3, 1, true);
    assert!(!deliver(wrong, 1, 4, 2, true).is_possible());
}

#[test]
fn r_q_112_a_publish_whose_queue_is_gone_is_nacked_if_the_channel_has_used_a_later_one() {
    let delete = Method::Plain(Request::Delete { name: A, if_empty: false });
    let with = |later: Option<Method>, reply: Reply| {
        // The channel watches the queue.
        let mut story = Story::new().published(ONE, A, 9).ask(TWO, Method::Purge(A), Reply::Purged { messages: 1 });
        let to = story.line(ONE, Happening::Sent(publish(A, 1)));
        let mut story =
            story.ask(TWO, delete, Reply::Deleted { messages: 0 }).ask(TWO, declare(A, false), declared(0, 0));
        if let Some(method) = later {
            story = story.ask(ONE, method, EMPTY);
        }
        story.line(ONE, Happening::Answered { to, reply });
        story.is_possible()
    };
    let nacked = Reply::Plain(Answer::Nacked);
    assert!(with(None, CONFIRMED) && !with(None, nacked), "nothing was used");
    assert!(with(Some(GET), CONFIRMED), "it was noticed before");
    assert!(with(Some(GET), nacked));
}

#[test]
fn r_q_113_a_channel_that_does_not_watch_the_queue_may_nack_its_publish() {
    let delete = Method::Plain(Request::Delete { name: A, if_empty: false });
    let nacked = Reply::Plain(Answer::Nacked);
    let with = |before: fn(Story) -> Story, replies: [Reply; 2]| {
        let mut story = before(Story::new());
        // Where there is no queue any more, these are returned.
        let publish =
            |body: u32| Method::Publish { name: A, body, mandatory: true, expiration: None, persistent: false };
        let places = [1, 2].map(|body| story.line(ONE, Happening::Sent(publish(body))));
        let mut story = story.ask(TWO, delete, Reply::Deleted { messages: 0 });
        for (to, reply) in places.into_iter().zip(replies) {
            story.line(ONE, Happening::Answered { to, reply });
        }
        story.is_possible()
    };
    let nothing = |story| story;
    assert!(with(nothing, [nacked, nacked]) && with(nothing, [CONFIRMED, CONFIRMED]));
    assert!(!with(nothing, [CONFIRMED, nacked]), "it watched the queue when it saw it end");
    assert!(!with(nothing, [nacked, CONFIRMED]), "it did not");
    let watched: [fn(Story) -> Story; 2] = [
        |story| story.published(ONE, A, 9).ask(TWO, Method::Purge(A), Reply::Purged { messages: 1 }),
        |story| {
            let consume = Method::Consume { name: A, tag: 1, no_ack: true, exclusive: false };
            story.ask(ONE, consume, Reply::ConsumeOk).ask(ONE, Method::Cancel(1), Reply::CancelOk)
        },
    ];
    for before in watched {
        assert!(with(before, [CONFIRMED, CONFIRMED]) && !with(before, [nacked, nacked]));
    }
    // A get is none.
    assert!(with(|story| story.ask(ONE, GET, EMPTY), [nacked, nacked]));
}

#[test]
fn r_q_51_of_two_exclusive_declarations_in_flight_one_wins() {
    let ok = declared(0, 0);
    let locked = error(Problem::Locked);
    let with = |first, second| Story::new().all(&[(ONE, declare(B, true), first), (TWO, declare(B, true), second)]);
    assert!(with(ok, locked).is_possible());
    assert!(with(locked, ok).is_possible());
    assert!(!with(ok, ok).is_possible());
    assert!(!with(locked, locked).is_possible());
}

#[test]
fn a_log_of_traffic_that_makes_no_sense_is_refused_with_its_line() {
    let good = write(&[Story::new().log]);
    assert!(read(&good).is_ok());
    for (place, with, line) in [
        ("\"connection\":1", "\"connection\":9", 2),
        ("\"channel\":1", "\"channel\":3", 2),
        ("\"to\":1", "\"to\":2", 3),
        ("\"at\":2000", "\"at\":1", 3),
    ] {
        let bad = good.replace(place, with);
        assert_ne!(good, bad, "{place}");
        assert_eq!(read(&bad).expect_err("it is refused").line, line, "{place}");
    }
    assert!(LEFT_OUT.iter().all(|(what, why)| !what.is_empty() && !why.is_empty()));
    assert!(!Story::new().ask((1, 2), OPEN, OPENED).ask((1, 2), OPEN, OPENED).is_possible());
}

#[test]
fn a_live_broker_deals_with_messages_and_consumers_as_the_rules_say() {
    let Some(broker) = broker() else { return };
    let number = |name: &str, otherwise: u64| {
        env::var(name).map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
    };
    let (methods, seed) = (number("FENCEPOST_METHODS", 2_000), number("FENCEPOST_SEED", 1));
    let found = hunt(&broker, seed, methods, None, &mut |_, _| {}).expect("it can be talked to");
    if let Some((log, flaw)) = &found.difference {
        panic!("{}line {}: {}", write(std::slice::from_ref(log)), flaw.line, flaw.why);
    }
    println!("{}never:\n{}", found.tally.table(false), found.tally.never());
    let (methods, concurrent, judged) = (found.methods, found.concurrent, found.judged);
    println!(
        "seed {seed}: {methods} methods, {concurrent} concurrent, {judged} lines judged, {} undecided",
        found.undecided
    );
    assert!(concurrent * 3 > methods, "{concurrent} of {methods} are concurrent");
    assert!(found.undecided * 50 <= methods, "{} sequences are undecided", found.undecided);
}

#[test]
fn a_wrong_model_is_found_out_by_live_traffic() {
    let Some(broker) = broker() else { return };
    let wrong = RabbitmqMutation::OwnerIgnored;
    // Not every sequence has a queue that another connection owns.
    let is_found = [5, 1, 6].into_iter().any(|seed| {
        let found = hunt(&broker, seed, 4_000, Some(wrong.into()), &mut |_, _| {}).expect("it can be talked to");
        found.difference.is_some()
    });
    assert!(is_found, "the model gives exclusive queues to others, and the broker does not");
}
