//! R-Q-35 to R-Q-59: the lifetime of exclusive queues, and the effect of a restart.

use super::*;
use fencepost_model::world::Link;

#[test]
fn r_q_35_exclusive_queues_belong_to_the_connection_and_not_to_the_channel() {
    let mut harness = ServerHarness::new();
    harness.declare(1, B, MINE);
    assert_eq!(harness.ask(1, Request::CloseChannel), Some(Answer::ChannelClosed));
    assert_eq!(harness.declare(2, B, MINE), refused(Problem::Locked));
}

#[test]
fn r_q_36_any_channel_of_the_connection_may_use_them() {
    let mut harness = ServerHarness::new();
    harness.declare(1, B, MINE);
    harness.channel = 2;
    harness.ask(1, Request::OpenChannel { confirms: true });
    assert_eq!((harness.declare(1, B, MINE), harness.look(1, B)), (OK, OK));
    assert_eq!(harness.delete(1, B), Answer::Deleted { messages: 0 });
}

#[test]
fn r_q_37_close_ok_comes_after_the_last_queue_is_gone() {
    let mut harness = ServerHarness::new();
    harness.declare(1, B, MINE);
    harness.declare(1, Name::Holder(2), MINE);
    assert_eq!(harness.ask(1, Request::Close), None);
    assert_eq!(harness.wake(Timer::Remove(connection(1), B)), []);
    assert_eq!(
        harness.wake(Timer::Remove(connection(1), Name::Holder(2))),
        [RabbitmqMessage::Response(Call(7), Answer::Closed)]
    );
}

#[test]
fn r_q_38_a_forced_close_is_sent_after_the_queues_are_removed() {
    let mut harness = ServerHarness::new();
    harness.declare(1, B, MINE);
    assert_eq!(
        harness.operate(OperatorAction::Close(connection(1))),
        [RabbitmqMessage::ConnectionClosed(connection(1), Some(Problem::Forced))]
    );
    assert!(!harness.exists(B));
}

#[test]
fn r_q_39_a_socket_closed_without_a_close_method_is_noticed_later() {
    let mut harness = ServerHarness::new();
    harness.declare(1, B, MINE);
    harness.notice(Fault::Crash(ClientId(1)));
    assert_eq!(harness.probe(2, B), Some(Answer::Confirmed));
    assert_eq!(harness.due(), [(Timer::Notice(connection(1)), 0)]);
    harness.wake(Timer::Notice(connection(1)));
    assert_eq!(harness.declare(2, B, MINE), OK);
}

#[test]
fn r_q_40_r_q_95_5_several_queues_of_a_connection_are_removed_one_by_one_in_any_order() {
    let mut harness = ServerHarness::new();
    (1..=3).for_each(|slot| assert_eq!(harness.declare(1, Name::Holder(slot), MINE), OK));
    harness.hang_up(1);
    let steps = harness.due().into_iter().map(|(timer, _)| timer).collect::<Vec<_>>();
    assert_eq!(steps, [1, 2, 3].map(|slot| Timer::Remove(connection(1), Name::Holder(slot))));
    harness.wake(Timer::Remove(connection(1), Name::Holder(2)));
    assert_eq!([1, 2, 3].map(|slot| harness.exists(Name::Holder(slot))), [true, false, true]);
    assert_eq!(harness.declare(2, Name::Holder(3), MINE), refused(Problem::Locked));
}

/// A harness in which message delay is bounded, so that silence is certain.
fn bounded(heartbeat: i64, beat: i64) -> ServerHarness {
    let mut harness = ServerHarness::with(|settings| {
        (settings.heartbeat, settings.beat) = (Some(Ticks::new(heartbeat)), Ticks::new(beat));
    });
    harness.scenario = harness.scenario.message_delay(Ticks::ZERO).wake_delay(Ticks::ZERO);
    harness
}

#[test]
fn r_q_43_r_q_95_4_silence_is_noticed_between_two_and_three_heartbeats_after_the_last_byte() {
    for (heartbeat, beat) in [(1, 0), (2, 1), (4, 2), (10, 5), (60, 30)] {
        let mut harness = bounded(heartbeat, beat);
        harness.declare(1, B, MINE);
        assert_eq!(harness.due(), [], "a live client sends heartbeats");
        harness.notice(Fault::Pause(ClientId(1).into()));
        assert_eq!(harness.due(), [(Timer::Miss(connection(1)), 2 * heartbeat - beat)]);
        let latest = harness.world.server.process.must_happen_by(&harness.scenario.service).expect("a bound");
        assert_eq!((latest - harness.world.now).count(), 3 * heartbeat - beat);
    }
}

#[test]
fn r_q_44_any_byte_counts() {
    let mut harness = ServerHarness::with(|settings| settings.heartbeat = Some(Ticks::new(4)));
    harness.declare(1, B, MINE);
    harness.pass(5);
    harness.look(1, B);
    assert_eq!(harness.due(), [(Timer::Miss(connection(1)), 8)]);
}

#[test]
fn r_q_45_a_missed_heartbeat_sends_no_frame_only_a_reset() {
    let mut harness = bounded(1, 0);
    harness.declare(1, B, MINE);
    let out = Link { from: ClientId(1).into(), to: ProcessId::Server };
    harness.notice(Fault::Cut(out));
    harness.pass(2);
    assert_eq!(harness.wake(Timer::Miss(connection(1))), [RabbitmqMessage::ConnectionClosed(connection(1), None)]);
    assert_eq!(harness.declare(2, B, MINE), OK);
    assert_eq!(harness.ask(1, Request::Look(B)), Some(Answer::Reset));
}

#[test]
fn r_q_46_without_heartbeats_silence_is_never_noticed() {
    let mut harness = ServerHarness::new();
    harness.declare(1, B, MINE);
    harness.notice(Fault::Pause(ClientId(1).into()));
    assert_eq!(harness.due(), []);
}

#[test]
fn r_q_56_only_durable_queues_survive_a_restart() {
    let mut harness = ServerHarness::new();
    let others = [Name::Slot(2), Name::Slot(3)];
    harness.declare(1, A, QueueProperties { durable: true, ..PLAIN });
    harness.declare(1, others[0], QueueProperties { durable: true, auto_delete: true, ..PLAIN });
    harness.declare(1, others[1], PLAIN);
    harness.declare(1, B, QueueProperties { durable: true, ..MINE });
    harness.declare(1, Name::Mutex, MINE);
    harness.probe(1, A);
    harness.suffer(RabbitmqFault::Restart);
    let left = [A, others[0], others[1], B, Name::Mutex].map(|name| harness.exists(name));
    assert_eq!(left, [true, true, false, false, false]);
    assert_eq!(harness.look(2, A), OK, "transient messages are gone");
}

#[test]
fn r_q_58_a_restart_closes_connections_by_force() {
    let mut harness = ServerHarness::new();
    harness.declare(1, A, PLAIN);
    assert_eq!(
        harness.suffer(RabbitmqFault::Restart),
        [RabbitmqMessage::ConnectionClosed(connection(1), Some(Problem::Forced))]
    );
}

#[test]
fn r_q_59_after_a_restart_any_client_can_take_the_slot() {
    let mut harness = ServerHarness::new();
    harness.declare(1, B, MINE);
    harness.suffer(RabbitmqFault::Restart);
    assert_eq!(harness.declare(2, B, MINE), OK);
}

#[test]
fn r_q_92_a_connection_ends_after_its_queues_and_then_its_client_may_be_notified() {
    for (fault, notices) in [(true, 1), (false, 0)] {
        let mut harness = ServerHarness::new();
        harness.declare(1, B, MINE);
        harness.declare(1, Name::Holder(2), MINE);
        if fault {
            assert_eq!(harness.suffer(RabbitmqFault::Drop(connection(1))), []);
        } else {
            harness.hang_up(1);
        }
        harness.wake(Timer::Remove(connection(1), B));
        assert_eq!(harness.wake(Timer::Remove(connection(1), Name::Holder(2))).len(), notices);
    }
}
