//! Sessions of etcd: EQ-3 and E-T-7, on both sides of the boundary, and what is proven for small scenarios against the whole client.

use fencepost_doctor::{Change, Direction, Doctor, Promise, Quantity, SessionQuestion, SessionStop};
use fencepost_model::units::{Duration, PartsPerMillion};

fn asked(ttl: i64, margin: i64, pause: i64) -> SessionQuestion {
    SessionQuestion {
        ttl: Duration::of_seconds(ttl),
        stop: SessionStop::BeforeExpiry,
        margin: Duration::of_microseconds(margin),
        pause: Duration::of_microseconds(pause),
        ..SessionQuestion::of_recipe("etcd-mutex").expect("it is known")
    }
}

fn word(question: &SessionQuestion) -> &'static str {
    Doctor::default().judge(question, Promise::MutualExclusion).expect("no internal error").word()
}

#[test]
fn e_t_7_a_margin_above_the_pause_keeps_the_lock_and_one_that_is_equal_does_not() {
    for (ttl, margin, pause, verdict) in [
        (60, 5_000_000, 4_000_000, "kept"),
        (60, 5_000_000, 5_000_000, "broken"),
        (60, 5_000_000, 5_000_001, "broken"),
        (10, 0, 0, "broken"),
        (10, 100_000, 0, "kept"),
        (7, 3_000_001, 3_000_001, "broken"),
        (2, 1_500_000, 1_000_000, "kept"),
    ] {
        let question = asked(ttl, margin, pause);
        assert_eq!(word(&question), verdict, "{question:?}");
        let election = SessionQuestion { recipe: "etcd-election", ..question };
        assert_eq!(word(&election), verdict, "{election:?}");
    }
}

#[test]
fn latency_does_not_matter_to_a_holder_that_counts_from_the_sending_and_drift_does() {
    let question = SessionQuestion { latency: Duration::of_seconds(30), ..asked(60, 5_000_000, 1_000_000) };
    assert_eq!(word(&question), "kept");
    // 8 % of 60 s, and the pause, are above the margin.
    assert_ne!(word(&SessionQuestion { drift: PartsPerMillion(80_000), ..question.clone() }), "kept");
    assert_eq!(word(&SessionQuestion { drift: PartsPerMillion(200), ..question }), "kept");
}

#[test]
fn e_t_6_done_is_no_guarantee_and_neither_is_nothing() {
    for stop in [SessionStop::OnDone, SessionStop::Never] {
        let question = SessionQuestion { stop, margin: Duration::ZERO, ..asked(11, 0, 0) };
        let answers = Doctor::default().answer(&question).expect("no internal error");
        let [answer] = &answers[..] else { panic!("one promise") };
        assert_eq!(answer.verdict.word(), "broken", "{stop:?}");
        let is_repair = |change: &Change| matches!(change, Change::BeforeExpiry { .. });
        let repair = answer.repairs.iter().find(|repair| repair.changes.iter().any(is_repair)).expect("a repair");
        assert_eq!(word(&repair.question), "kept");
    }
}

#[test]
fn the_boundary_of_the_pause_is_the_margin() {
    let question = asked(60, 5_000_000, 1_000_000);
    let answer = Doctor::default().answer_about(&question, Promise::MutualExclusion).expect("no internal error");
    let up = |boundary: &&fencepost_doctor::Boundary| {
        boundary.quantity == Quantity::Pause && boundary.direction == Direction::Up
    };
    let boundary = answer.boundaries.iter().find(up).expect("a boundary");
    let broken = boundary.broken.expect("it breaks").to_string();
    assert_eq!(broken, "5s", "kept up to {}", boundary.kept);
}

#[test]
fn settings_that_cannot_be_meant_say_why() {
    let at = |change: &dyn Fn(&mut SessionQuestion)| {
        let mut question = asked(60, 0, 0);
        change(&mut question);
        question.validate().expect_err("it cannot be meant").to_string()
    };
    assert!(at(&|question| question.ttl = Duration::of_seconds(1)).contains("etcd raises 1s to 2s"));
    assert!(at(&|question| question.ttl = Duration::of_microseconds(2_500_000)).contains("whole number of seconds"));
    assert!(at(&|question| question.margin = Duration::of_seconds(60)).contains("leaves nothing"));
    let on_done = |question: &mut SessionQuestion| {
        (question.stop, question.margin) = (SessionStop::OnDone, Duration::of_seconds(1));
    };
    assert!(at(&on_done).contains("before-expiry"));
}
