//! R-Q-35 to R-Q-59: how long exclusive queues live, and what a restart leaves.

use super::*;
use fencepost_model::world::Link;

#[test]
fn r_q_35_exclusive_queues_belong_to_the_connection_and_not_to_the_channel() {
    let mut lab = Lab::new();
    lab.declare(1, B, MINE);
    assert_eq!(lab.ask(1, Request::CloseChannel), Some(Answer::ChannelClosed));
    assert_eq!(lab.declare(2, B, MINE), refused(Problem::Locked));
}

#[test]
fn r_q_36_any_channel_of_the_connection_may_use_them() {
    let mut lab = Lab::new();
    lab.declare(1, B, MINE);
    lab.channel = 2;
    lab.ask(1, Request::OpenChannel { confirms: true });
    assert_eq!((lab.declare(1, B, MINE), lab.look(1, B)), (OK, OK));
    assert_eq!(lab.delete(1, B), Answer::Deleted { messages: 0 });
}

#[test]
fn r_q_37_close_ok_comes_after_the_last_queue_is_gone() {
    let mut lab = Lab::new();
    lab.declare(1, B, MINE);
    lab.declare(1, Name::Holder(2), MINE);
    assert_eq!(lab.ask(1, Request::Close), None);
    assert_eq!(lab.wake(Timer::Remove(line(1), B)), []);
    assert_eq!(lab.wake(Timer::Remove(line(1), Name::Holder(2))), [RabbitmqMessage::Response(Call(7), Answer::Closed)]);
}

#[test]
fn r_q_38_a_forced_close_is_told_when_the_queues_are_gone() {
    let mut lab = Lab::new();
    lab.declare(1, B, MINE);
    assert_eq!(
        lab.operate(OperatorAction::Close(line(1))),
        [RabbitmqMessage::ConnectionClosed(line(1), Some(Problem::Forced))]
    );
    assert!(!lab.exists(B));
}

#[test]
fn r_q_39_a_socket_that_is_closed_without_a_word_is_noticed_later() {
    let mut lab = Lab::new();
    lab.declare(1, B, MINE);
    lab.notice(Fault::Crash(ClientId(1)));
    assert_eq!(lab.probe(2, B), Some(Answer::Confirmed));
    assert_eq!(lab.due(), [(Timer::Notice(line(1)), 0)]);
    lab.wake(Timer::Notice(line(1)));
    assert_eq!(lab.declare(2, B, MINE), OK);
}

#[test]
fn r_q_40_r_q_95_5_several_queues_of_a_connection_go_one_by_one_and_in_any_order() {
    let mut lab = Lab::new();
    (1..=3).for_each(|slot| assert_eq!(lab.declare(1, Name::Holder(slot), MINE), OK));
    lab.hang_up(1);
    let steps = lab.due().into_iter().map(|(timer, _)| timer).collect::<Vec<_>>();
    assert_eq!(steps, [1, 2, 3].map(|slot| Timer::Remove(line(1), Name::Holder(slot))));
    lab.wake(Timer::Remove(line(1), Name::Holder(2)));
    assert_eq!([1, 2, 3].map(|slot| lab.exists(Name::Holder(slot))), [true, false, true]);
    assert_eq!(lab.declare(2, Name::Holder(3), MINE), refused(Problem::Locked));
}

/// A lab in which messages have bounds, so that silence is certain.
fn bounded(heartbeat: i64, beat: i64) -> Lab {
    let mut lab = Lab::with(|settings| {
        (settings.heartbeat, settings.beat) = (Some(Ticks::new(heartbeat)), Ticks::new(beat));
    });
    lab.scenario = lab.scenario.message_delay(Ticks::ZERO).wake_delay(Ticks::ZERO);
    lab
}

#[test]
fn r_q_43_r_q_95_4_silence_is_noticed_between_two_and_three_heartbeats_after_the_last_byte() {
    for (heartbeat, beat) in [(1, 0), (2, 1), (4, 2), (10, 5), (60, 30)] {
        let mut lab = bounded(heartbeat, beat);
        lab.declare(1, B, MINE);
        assert_eq!(lab.due(), [], "who lives beats");
        lab.notice(Fault::Pause(ClientId(1).into()));
        assert_eq!(lab.due(), [(Timer::Miss(line(1)), 2 * heartbeat - beat)]);
        let latest = lab.world.server.process.must_happen_by(&lab.scenario.service).expect("a bound");
        assert_eq!((latest - lab.world.now).count(), 3 * heartbeat - beat);
    }
}

#[test]
fn r_q_44_any_byte_counts() {
    let mut lab = Lab::with(|settings| settings.heartbeat = Some(Ticks::new(4)));
    lab.declare(1, B, MINE);
    lab.pass(5);
    lab.look(1, B);
    assert_eq!(lab.due(), [(Timer::Miss(line(1)), 8)]);
}

#[test]
fn r_q_45_a_missed_heartbeat_sends_no_frame_only_a_reset() {
    let mut lab = bounded(1, 0);
    lab.declare(1, B, MINE);
    let out = Link { from: ClientId(1).into(), to: ProcessId::Server };
    lab.notice(Fault::Cut(out));
    lab.pass(2);
    assert_eq!(lab.wake(Timer::Miss(line(1))), [RabbitmqMessage::ConnectionClosed(line(1), None)]);
    assert_eq!(lab.declare(2, B, MINE), OK);
    assert_eq!(lab.ask(1, Request::Look(B)), Some(Answer::Reset));
}

#[test]
fn r_q_46_without_heartbeats_silence_is_never_noticed() {
    let mut lab = Lab::new();
    lab.declare(1, B, MINE);
    lab.notice(Fault::Pause(ClientId(1).into()));
    assert_eq!(lab.due(), []);
}

#[test]
fn r_q_56_a_restart_leaves_durable_queues_and_nothing_else() {
    let mut lab = Lab::new();
    let others = [Name::Slot(2), Name::Slot(3)];
    lab.declare(1, A, Shape { durable: true, ..PLAIN });
    lab.declare(1, others[0], Shape { durable: true, auto_delete: true, ..PLAIN });
    lab.declare(1, others[1], PLAIN);
    lab.declare(1, B, Shape { durable: true, ..MINE });
    lab.declare(1, Name::Mutex, MINE);
    lab.probe(1, A);
    lab.suffer(RabbitmqFault::Restart);
    let left = [A, others[0], others[1], B, Name::Mutex].map(|name| lab.exists(name));
    assert_eq!(left, [true, true, false, false, false]);
    assert_eq!(lab.look(2, A), OK, "transient messages are gone");
}

#[test]
fn r_q_58_a_restart_closes_connections_by_force() {
    let mut lab = Lab::new();
    lab.declare(1, A, PLAIN);
    assert_eq!(lab.suffer(RabbitmqFault::Restart), [RabbitmqMessage::ConnectionClosed(line(1), Some(Problem::Forced))]);
}

#[test]
fn r_q_59_after_a_restart_anybody_can_have_the_slot() {
    let mut lab = Lab::new();
    lab.declare(1, B, MINE);
    lab.suffer(RabbitmqFault::Restart);
    assert_eq!(lab.declare(2, B, MINE), OK);
}

#[test]
fn r_q_92_a_connection_ends_by_its_queues_and_then_its_client_is_told_or_not() {
    for (fault, told) in [(true, 1), (false, 0)] {
        let mut lab = Lab::new();
        lab.declare(1, B, MINE);
        lab.declare(1, Name::Holder(2), MINE);
        if fault {
            assert_eq!(lab.suffer(RabbitmqFault::Drop(line(1))), []);
        } else {
            lab.hang_up(1);
        }
        lab.wake(Timer::Remove(line(1), B));
        assert_eq!(lab.wake(Timer::Remove(line(1), Name::Holder(2))).len(), told);
    }
}
