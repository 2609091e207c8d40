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
        let [answer, kept] = &answers[..] else { panic!("two promises") };
        assert_eq!(kept.verdict.word(), "kept", "{stop:?}");
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

fn keeps(question: &SessionQuestion) -> &'static str {
    Doctor::default().judge(question, Promise::KeepsLock).expect("no internal error").word()
}

/// What the rules say of microseconds: a renewal is due T/3 and half a second after the last answer, and a message takes a pause more (E-CC-2); the first one
/// has 5 s (E-CC-4); one that counts must hear of the next before its time is over.
fn is_kept(question: &SessionQuestion) -> bool {
    let [ttl, margin, pause, latency] = [question.ttl, question.margin, question.pause, question.latency]
        .map(|duration| duration.nanoseconds() / 1_000);
    let (due, message) = (ttl / 3 + 500_000 + pause, latency + pause);
    let counts = question.stop == SessionStop::BeforeExpiry;
    due + 2 * message < ttl && 2 * message <= 5_000_000 && (!counts || due + 4 * message < ttl - margin)
}

#[test]
fn e_cc_2_a_session_is_kept_if_the_next_renewal_arrives_before_the_lease_ends() {
    let second = 1_000_000;
    for (ttl, stop, margin, pause, latency, verdict) in [
        (60, SessionStop::OnDone, 0, 0, 0, "kept"),
        (60, SessionStop::Never, 0, second, second, "kept"),
        // E-CC-4: the first deadline has nothing to do with T.
        (60, SessionStop::OnDone, 0, 0, 2_600_000, "broken"),
        (2, SessionStop::OnDone, 0, 0, 300_000, "kept"),
        (2, SessionStop::OnDone, 0, 0, 420_000, "broken"),
        (6, SessionStop::Never, 0, 1_100_000, 0, "kept"),
        (6, SessionStop::Never, 0, 1_200_000, 0, "broken"),
        (10, SessionStop::BeforeExpiry, second, 0, 1_200_000, "kept"),
        (10, SessionStop::BeforeExpiry, second, 0, 1_300_000, "broken"),
        // The lease lives, and the holder stops.
        (10, SessionStop::OnDone, 0, 0, 1_300_000, "kept"),
    ] {
        let latency = Duration::of_microseconds(latency);
        let question = SessionQuestion { stop, latency, ..asked(ttl, margin, pause) };
        assert_eq!(keeps(&question), verdict, "{question:?}");
        assert_eq!(is_kept(&question), verdict == "kept", "{question:?}");
        let election = SessionQuestion { recipe: "etcd-election", ..question };
        assert_eq!(keeps(&election), verdict, "{election:?}");
    }
}

#[test]
fn no_verdict_on_a_session_contradicts_the_rules_and_few_are_unknown() {
    let mut doctor = Doctor::default();
    let (mut unknown, mut counts) = (0, [0; 2]);
    // Numbers from a seed.
    let mut state = 7_u64;
    let mut below = |end: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from((state >> 33) % end).expect("it is small")
    };
    for _ in 0..60 {
        let ttl = 2 + below(30);
        let stop = SessionStop::ALL[usize::try_from(below(3)).expect("it is small")];
        let margin = if stop == SessionStop::BeforeExpiry { below(1 + ttl.unsigned_abs() * 250_000) } else { 0 };
        let most = ttl.unsigned_abs() * 150_000;
        let question = SessionQuestion {
            stop,
            latency: Duration::of_microseconds(below(most)),
            ..asked(ttl, margin, below(most))
        };
        match doctor.judge(&question, Promise::KeepsLock).expect("no internal error").word() {
            "unknown" => unknown += 1,
            word => {
                assert_eq!(word == "kept", is_kept(&question), "{question:?}");
                counts[usize::from(word == "kept")] += 1;
            }
        }
    }
    assert!(unknown <= 6 && counts.iter().all(|count| *count >= 10), "{unknown} {counts:?}");
}

#[test]
fn a_repair_says_what_else_it_breaks_and_a_session_that_is_lost_has_a_story() {
    let question = SessionQuestion { stop: SessionStop::OnDone, latency: Duration::of_seconds(3), ..asked(11, 0, 0) };
    let answer = Doctor::default().answer_about(&question, Promise::KeepsLock).expect("no internal error");
    assert_eq!(answer.verdict.word(), "broken");
    let is_latency = |change: &Change| matches!(change, Change::Number { quantity: Quantity::Latency, .. });
    assert!(answer.repairs.iter().any(|repair| repair.changes.iter().any(is_latency)));
}
