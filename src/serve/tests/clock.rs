//! Time: what a TTL, a lock-delay, a blocking query and an announced sleep make of it.

use fencepost_serve::{Clock, RequestOutcome, Settings, Timers};

use crate::bench::Bench;

const SECOND: i64 = 1_000_000_000;

fn with(timers: Timers) -> Bench {
    Bench::with(Settings { clock: Clock::Manual, timers, ..Settings::default() })
}

#[test]
fn c_ttl_2_a_session_ends_at_twice_its_ttl_and_not_before() {
    let mut bench = Bench::new();
    let session = bench.session("a", "10s", "0s");
    bench.advance("19.9s");
    assert!(bench.lives(&session));
    bench.advance("0.1s");
    assert!(!bench.lives(&session));
}

#[test]
fn c_ttl_3_a_renewal_starts_the_timer_again() {
    let mut bench = Bench::new();
    let session = bench.session("a", "10s", "0s");
    bench.advance("19s");
    bench.put("a", &format!("/v1/session/renew/{session}"), "");
    bench.advance("19s");
    assert!(bench.lives(&session));
    bench.put("test", "/fencepost/clock/advance?until=session-expired", "");
    assert!(!bench.lives(&session));
    assert_eq!(bench.stand_in.now() / SECOND, 39);
}

#[test]
fn a_late_timer_lets_a_renewal_save_the_session_and_a_pending_expiry_does_not() {
    for (timers, renewed, is_saved) in
        [(Timers::Late(SECOND), 200, true), (Timers::Pending(SECOND), 200, false), (Timers::Earliest, 404, false)]
    {
        let mut bench = with(timers);
        let session = bench.session("a", "10s", "0s");
        bench.advance("20.5s");
        // C-TTL-5.
        assert_eq!(bench.ask("a", "PUT", &format!("/v1/session/renew/{session}"), "").status, renewed, "{timers}");
        bench.advance("1s");
        assert_eq!(bench.lives(&session), is_saved, "{timers}");
    }
}

#[test]
fn seeded_timers_end_every_session_within_their_bound() {
    let mut bench = with(Timers::Seeded(2 * SECOND));
    let sessions: Vec<String> = (0..20).map(|_| bench.session("a", "10s", "0s")).collect();
    bench.advance("21s");
    let alive = sessions.iter().filter(|session| bench.lives(session)).count();
    assert!((1..20).contains(&alive), "{alive} of 20 are alive after half of the time");
    bench.advance("1.1s");
    assert!(!sessions.iter().any(|session| bench.lives(session)));
}

#[test]
fn c_ld_2_a_lock_delay_keeps_a_key_until_it_is_over() {
    let mut bench = Bench::new();
    let (first, second) = (bench.session("a", "10s", "5s"), bench.session("b", "", "0s"));
    assert!(bench.acquire("a", "lead", &first));
    bench.advance("20s");
    assert!(!bench.acquire("b", "lead", &second));
    bench.advance("4.9s");
    assert!(!bench.acquire("b", "lead", &second));
    bench.advance("0.1s");
    assert!(bench.acquire("b", "lead", &second));
}

#[test]
fn c_blk_1_a_blocking_query_wakes_when_the_lock_is_lost() {
    let mut bench = Bench::new();
    let session = bench.session("a", "10s", "0s");
    assert!(bench.acquire("a", "lead", &session));
    let index = bench.ask("b", "GET", "/v1/kv/lead", "").index().expect("an index");
    let watch = bench.send("b", "GET", &format!("/v1/kv/lead?index={index}&wait=60s"), "");
    bench.put("a", "/v1/kv/other", "1");
    bench.advance("19s");
    assert_eq!(bench.outcome(watch), None);
    bench.advance("1s");
    let Some(RequestOutcome::Answer(answer)) = bench.outcome(watch) else { panic!("it wakes") };
    assert!(answer.index() > Some(index));
    assert_eq!(answer.value()[0].get("Session"), None);
}

#[test]
fn c_blk_2_a_blocking_query_is_answered_when_its_time_is_up() {
    for (timers, before, after) in [(Timers::Earliest, "15.9s", "0.2s"), (Timers::Late(0), "16.9s", "0.2s")] {
        let mut bench = with(timers);
        bench.put("a", "/v1/kv/lead", "1");
        let index = bench.ask("a", "GET", "/v1/kv/lead", "").index().expect("an index");
        let watch = bench.send("a", "GET", &format!("/v1/kv/lead?index={index}&wait=16s"), "");
        bench.advance(before);
        assert_eq!(bench.outcome(watch), None, "{timers}");
        bench.advance(after);
        let Some(RequestOutcome::Answer(answer)) = bench.outcome(watch) else { panic!("its time is up") };
        assert_eq!((answer.status, answer.index()), (200, Some(index)));
    }
}

#[test]
fn c_blk_3_an_index_that_is_far_ahead_waits_for_its_time() {
    let mut bench = Bench::new();
    bench.put("a", "/v1/kv/lead", "1");
    let watch = bench.send("a", "GET", "/v1/kv/lead?index=100000&wait=5s", "");
    bench.put("a", "/v1/kv/lead", "2");
    bench.advance("4s");
    assert_eq!(bench.outcome(watch), None);
    bench.advance("1s");
    assert!(matches!(bench.outcome(watch), Some(RequestOutcome::Answer(answer)) if answer.index() < Some(100_000)));
}

#[test]
fn c_blk_6_a_neighbour_of_an_absent_key_wakes_it_or_does_not() {
    for (timers, is_woken) in [(Timers::Earliest, true), (Timers::Late(0), false)] {
        let mut bench = with(timers);
        let index = bench.ask("a", "GET", "/v1/kv/lead", "").index().expect("an index");
        let watch = bench.send("a", "GET", &format!("/v1/kv/lead?index={index}&wait=60s"), "");
        bench.put("b", "/v1/kv/zzz", "1");
        assert_eq!(bench.outcome(watch).is_some(), is_woken, "{timers}");
    }
}

#[test]
fn lists_of_nodes_and_of_checks_block_as_keys_do() {
    let mut bench = Bench::new();
    for url in ["/v1/catalog/nodes", "/v1/health/node/n1", "/v1/query"] {
        let index = bench.ask("a", "GET", url, "").index().expect("an index");
        let watch = bench.send("a", "GET", &format!("{url}?index={index}&wait=60s"), "");
        bench.put("a", "/v1/kv/lead", "1");
        assert_eq!(bench.outcome(watch), None, "{url}");
        let check = r#"{"CheckID": "c1", "Name": "c1", "Status": "passing"}"#;
        bench.put("a", "/v1/catalog/register", &format!(r#"{{"Node": "n1", "Address": "::1", "Check": {check}}}"#));
        let query = r#"{"Name": "q", "Service": {"Service": "svc"}}"#;
        assert_eq!(bench.ask("a", "POST", "/v1/query", query).status, 200);
        assert!(matches!(bench.outcome(watch), Some(RequestOutcome::Answer(_))), "{url}");
        bench.put("test", "/fencepost/reset", "");
    }
}

#[test]
fn an_automatic_clock_jumps_when_every_client_waits_and_only_then() {
    let mut bench = Bench::with(Settings { clock: Clock::Auto, ..Settings::default() });
    let session = bench.session("a", "10s", "0s");
    assert!(!bench.stand_in.jump(), "a does not wait");
    let nap = bench.send("a", "PUT", "/fencepost/sleep?for=30s", "");
    bench.put("b", "/v1/kv/x", "1");
    assert!(!bench.stand_in.jump(), "b does not wait");
    let other = bench.send("b", "PUT", "/fencepost/sleep?for=5s", "");
    assert!(bench.stand_in.jump());
    assert_eq!((bench.outcome(other).is_some(), bench.outcome(nap)), (true, None));
    assert!(!bench.stand_in.jump(), "b acts again");
    bench.ask("b", "DELETE", "/fencepost/client", "");
    assert!(bench.stand_in.jump(), "the session ends");
    assert!(bench.stand_in.jump() && bench.outcome(nap).is_some());
    assert!(!bench.lives(&session));
    assert_eq!(bench.stand_in.verdict().unannounced, None);
}

#[test]
fn a_jump_past_an_unannounced_sleep_makes_findings_inconclusive() {
    let mut bench = Bench::with(Settings { clock: Clock::Auto, ..Settings::default() });
    let index = bench.ask("a", "GET", "/v1/kv/lead", "").index().expect("an index");
    bench.send("a", "GET", &format!("/v1/kv/lead?index={index}&wait=60s"), "");
    bench.put("b", "/v1/kv/x", "1");
    bench.send("b", "PUT", "/fencepost/sleep?for=5s", "");
    // Its watch was woken by the neighbour: it waits again.
    bench.send("a", "GET", "/v1/kv/lead?index=1000&wait=60s", "");
    assert!(bench.stand_in.jump());
    bench.session("a", "10s", "0s");
    let verdict = bench.stand_in.verdict();
    assert_eq!(verdict.name(), "inconclusive");
    assert!(verdict.unannounced.expect("a reason").contains("a acts at 5"), "{}", bench.stand_in.verdict());
}

#[test]
fn a_clock_that_goes_on_by_itself_is_not_advanced() {
    let mut bench = Bench::with(Settings { clock: Clock::Scaled(100), ..Settings::default() });
    let answer = bench.ask("test", "PUT", "/fencepost/clock/advance?by=1s", "");
    assert_eq!(answer.status, 409);
    assert!(String::from_utf8_lossy(&answer.body).contains("start with --clock manual"));
    let mut bench = Bench::new();
    for (url, part) in [
        ("advance?by=soon", "invalid duration"),
        ("advance?by=-1s", "does not go back"),
        ("advance", "?until=session-expired"),
        ("advance?until=session-expired", "none has a TTL"),
        ("advance?until=next", "nothing is due"),
    ] {
        let answer = bench.ask("test", "PUT", &format!("/fencepost/clock/{url}"), "");
        assert!(answer.status >= 400 && String::from_utf8_lossy(&answer.body).contains(part), "{url}: {answer:?}");
    }
}
