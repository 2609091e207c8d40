//! Ends of connections that the broker brings about: heartbeats and restarts, in logs made by hand, as they may be and altered.

use fencepost_conform::amqp::traffic::{Event, Happening, Loss, Method, Reply, Verb};
use fencepost_rabbitmq::{QueueProperties, Request};

use crate::story::*;

/// Lateness of timers, in milliseconds.
const LATENESS: u32 = 100;

/// Connection 3 is opened with a heartbeat value, and gets a message that it does not acknowledge; that ends at 10 ms.
fn with_heartbeat(heartbeat: u16) -> Story {
    let mut story = Story::new().published(TWO, A, 1);
    story.log.lateness = Some(LATENESS);
    let story = story.ask(THREE, Method::Connect { heartbeat }, Reply::Connected);
    story.ask(THREE, GET, got(1, 1, false, 0))
}

fn lost(mut story: Story, on: On, loss: Loss) -> Story {
    story.line(on, Happening::Lost(loss));
    story
}

#[test]
fn r_q_43_a_silent_connection_is_not_dropped_before_three_intervals_after_it_was_opened() {
    let dropped = |at| lost(with_heartbeat(1).until(at), THREE, Loss::Reset).is_possible();
    assert!(!dropped(1_500) && !dropped(2_900));
    assert!(dropped(3_050) && dropped(9_000));
}

#[test]
fn r_q_44_any_byte_counts_and_two_intervals_without_one_are_needed() {
    for byte in [Method::Beat, Method::Qos(0)] {
        let alive = with_heartbeat(1).until(1_900);
        let alive = if byte == Method::Beat { alive.tell(THREE, byte) } else { alive.ask(THREE, byte, Reply::QosOk) };
        assert!(!lost(alive.clone().until(3_800), THREE, Loss::Reset).is_possible(), "two intervals are not over");
        assert!(lost(alive.clone().until(3_950), THREE, Loss::Reset).is_possible());
        // Three intervals and the lateness are over at 5.0 s.
        let asked = |at| alive.clone().until(at).ask(THREE, LOOK, declared(0, 0)).is_possible();
        assert!(asked(3_800) && asked(4_900));
        assert!(!asked(5_100), "it was never dropped");
    }
}

#[test]
fn r_q_45_what_a_dropped_connection_had_is_back_in_time_and_not_before() {
    let look = |at, messages| with_heartbeat(1).until(at).ask(TWO, LOOK, declared(messages, 0)).is_possible();
    assert!(look(2_900, 0) && !look(2_900, 1), "too early");
    assert!(look(3_050, 0) && look(3_050, 1));
    // At 3.11 s the connection is gone, and 0.1 s later the queue knows.
    assert!(!look(3_300, 0), "it was not returned");
    assert!(look(3_300, 1));
    assert!(with_heartbeat(1).until(3_300).ask(TWO, GET, got(1, 1, true, 0)).is_possible());
    assert!(!with_heartbeat(1).until(3_300).ask(TWO, GET, got(1, 1, false, 0)).is_possible(), "it is not marked");
    // Timers whose delay is unbounded do not say when.
    let mut unbounded = with_heartbeat(1);
    unbounded.log.lateness = None;
    assert!(unbounded.clone().until(60_000).ask(TWO, LOOK, declared(0, 0)).is_possible());
    assert!(!unbounded.until(2_900).ask(TWO, LOOK, declared(1, 0)).is_possible());
}

#[test]
fn r_q_45_a_client_may_learn_late_that_it_was_dropped_and_what_it_sent_since_has_no_effect() {
    let late = with_heartbeat(1).until(3_500).tell(THREE, publish(A, 2));
    let late = lost(late, THREE, Loss::Reset);
    assert!(late.clone().ask(TWO, LOOK, declared(1, 0)).is_possible());
    assert!(!late.clone().ask(TWO, LOOK, declared(2, 0)).is_possible(), "it was not read");
    // A connection that is opened anew is another one.
    let again = late.ask(THREE, Method::Connect { heartbeat: 0 }, Reply::Connected);
    assert!(again.until(30_000).ask(THREE, GET, got(1, 1, true, 0)).is_possible());
}

#[test]
fn r_q_45_a_client_that_hangs_up_may_have_been_dropped_before() {
    let over = with_heartbeat(1).until(3_050).ask(TWO, GET, got(1, 1, true, 0)).tell(THREE, Method::HangUp);
    assert!(over.clone().ask(THREE, Method::Connect { heartbeat: 1 }, Reply::Connected).is_possible());
    let early = with_heartbeat(1).until(2_900).ask(TWO, GET, got(1, 1, true, 0)).tell(THREE, Method::HangUp);
    assert!(!early.is_possible());
}

#[test]
fn r_q_46_without_heartbeats_a_silent_connection_is_never_dropped() {
    for story in [with_heartbeat(0), Story::new()] {
        let silent = story.until(60_000);
        assert!(silent.clone().ask(THREE, LOOK, declared(0, 0)).is_possible());
        assert!(!lost(silent, THREE, Loss::Reset).is_possible());
    }
}

/// Durable and transient messages in a durable queue, and another queue; the first message awaits settlement.
fn before_restart() -> Story {
    let shape = QueueProperties { durable: true, ..QueueProperties::default() };
    let delete = Method::Plain(Request::Delete { name: A, if_empty: false });
    let mut story = Story::new().ask(ONE, delete, Reply::Deleted { messages: 0 });
    story = story.ask(ONE, Method::Plain(Request::Declare { name: A, shape }), declared(0, 0));
    story = story.ask(ONE, declare(B, false), declared(0, 0)).ask(ONE, CONSUME_B, Reply::ConsumeOk);
    for (body, persistent) in [(1, true), (2, false), (3, true), (4, false)] {
        let publish = Method::Publish { name: A, body, mandatory: false, expiration: None, persistent };
        story = story.ask(TWO, publish, CONFIRMED);
    }
    story.ask(ONE, GET, got(1, 1, false, 3))
}

const CONSUME_B: Method = Method::Consume { name: B, tag: 1, no_ack: false, exclusive: false };

fn restarted(mut story: Story, since: u64) -> Story {
    for on in [ONE, TWO] {
        story.line(on, Happening::Lost(Loss::Forced));
    }
    let at = story.log.events.last().expect("lines").at;
    let happened = Happening::Restarted { since: since * 1_000 };
    story.log.events.push(Event { at, connection: 0, channel: 0, happened });
    story
}

#[test]
fn r_q_56_durable_queues_are_there_after_a_restart_and_others_are_gone() {
    let after = restarted(before_restart().until(5_000), 100);
    let absent = error(fencepost_rabbitmq::Problem::NoQueue);
    assert!(after.clone().ask(TWO, LOOK, declared(2, 0)).is_possible());
    assert!(!after.clone().ask(TWO, LOOK, absent).is_possible(), "a durable queue is lost");
    let other = Method::Plain(Request::Look(B));
    assert!(after.clone().ask(TWO, other, absent).is_possible());
    assert!(!after.clone().ask(TWO, other, declared(0, 0)).is_possible(), "a queue that is not durable is there");
    assert!(!after.ask(TWO, LOOK, declared(2, 1)).is_possible(), "consumers are gone");
}

#[test]
fn r_q_111_persistent_messages_are_there_after_a_restart_in_order_and_others_are_gone() {
    let after = restarted(before_restart().until(5_000), 100);
    let with = |first: (u32, bool), second: (u32, bool)| {
        let story = after.clone().ask(TWO, GET, got(1, first.0, first.1, 1));
        story.ask(TWO, GET, got(2, second.0, second.1, 0)).is_possible()
    };
    assert!(with((1, true), (3, false)));
    assert!(!with((1, false), (3, false)), "the first was delivered before");
    assert!(!with((1, true), (3, true)), "the second was not");
    assert!(!with((3, false), (1, true)), "the order is another one");
    assert!(!with((1, true), (2, false)), "a transient message is there");
    assert!(!after.clone().ask(TWO, LOOK, declared(1, 0)).is_possible(), "a persistent message is lost");
    // Behind the gap that the second message leaves, nothing is marked again.
    let both = after.ask(TWO, GET, got(1, 1, true, 1)).ask(TWO, GET, got(2, 3, false, 0));
    let back = both.tell(TWO, settle(Verb::Nack, 2, true)).ask(TWO, GET, got(3, 1, true, 1));
    assert!(back.clone().ask(TWO, GET, got(4, 3, false, 0)).is_possible());
    assert!(!back.ask(TWO, GET, got(4, 3, true, 0)).is_possible());
}

#[test]
fn r_q_58_a_stopped_broker_closes_connections_and_no_other_does() {
    assert!(restarted(before_restart().until(5_000), 100).is_possible());
    assert!(!lost(before_restart().until(5_000), ONE, Loss::Forced).is_possible(), "nothing was stopped");
    let before = lost(before_restart().until(5_000), ONE, Loss::Forced).until(6_000);
    assert!(!restarted(before, 5_500).is_possible(), "the connection ended before the restart");
}

#[test]
fn r_q_59_what_was_in_flight_at_a_restart_has_been_carried_out_or_not() {
    let in_flight = before_restart().tell(TWO, Method::Purge(A)).until(5_000);
    let after = restarted(in_flight, 100);
    assert!(after.clone().ask(TWO, LOOK, declared(2, 0)).is_possible());
    assert!(after.clone().ask(TWO, LOOK, declared(1, 0)).is_possible(), "it was purged but for what awaits settlement");
    assert!(after.clone().ask(TWO, LOOK, declared(0, 0)).is_possible(), "the other connection was closed before");
    assert!(!after.ask(TWO, LOOK, declared(3, 0)).is_possible());
    // Any client may take what the connection had.
    let owned = Story::new().ask(ONE, declare(B, true), declared(0, 0)).until(5_000);
    assert!(restarted(owned.clone(), 100).ask(TWO, declare(B, true), declared(0, 0)).is_possible());
    let locked = error(fencepost_rabbitmq::Problem::Locked);
    assert!(!restarted(owned, 100).ask(TWO, declare(B, true), locked).is_possible());
}
