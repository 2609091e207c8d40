//! Several processes at a real agent: they contend, are stopped for longer than their TTL, are killed, and the agent restarts. Their
//! requests go through the recording proxy, whose log is judged; what they say of themselves overlaps only where a proof allows it.
//!
//! ```text
//! child     what runs in a process of its own     children  processes that were started
//! reports   what processes say of themselves      run       processes, the proxy, and the log
//! ```

pub mod child;
pub mod children;
pub mod reports;
mod run;

use std::time::Duration;

use self::reports::overlaps;
use self::run::ProcessRun;

/// The TTL of the sessions of processes, and the longest that the servers take to end one. C-TTL-2.
const TTL: Duration = Duration::from_secs(2);
const ENDED: Duration = Duration::from_secs(4);

/// How long a process may take to say what it has done or heard.
const SLACK: Duration = Duration::from_millis(500);

#[test]
fn processes_take_turns() {
    let Some(mut run) = ProcessRun::begin() else { return };
    let processes: Vec<_> = (1..=3).map(|client| run.start("lock", client, 4, Duration::from_millis(100))).collect();
    processes.into_iter().for_each(|process| run.processes.wait(process));
    let tenures = run.processes.tenures();
    assert_eq!(tenures.len(), 12, "{tenures:?}");
    assert_eq!(overlaps(&tenures, 1), [], "{tenures:?}");
    run.judge();
}

#[test]
fn processes_share_a_semaphore() {
    let Some(mut run) = ProcessRun::begin() else { return };
    let processes: Vec<_> =
        (1..=4).map(|client| run.start("semaphore", client, 3, Duration::from_millis(100))).collect();
    processes.into_iter().for_each(|process| run.processes.wait(process));
    let tenures = run.processes.tenures();
    assert_eq!(tenures.len(), 12, "{tenures:?}");
    assert_eq!(overlaps(&tenures, 2), [], "{tenures:?}");
    run.judge();
}

/// The proof of the Go lock allows an overlap while a holder is paused for longer than its TTL, and no other.
#[test]
fn a_process_that_is_stopped_beyond_its_ttl_overlaps_until_it_hears_of_it() {
    for kind in ["lock", "semaphore-of-1"] {
        let Some(mut run) = ProcessRun::begin() else { return };
        let first = run.start(kind, 1, 1, Duration::from_secs(60));
        run.processes.until_inside(1);
        let stopped = run.processes.signal(first, "STOP");
        let second = run.start(kind, 2, 1, ENDED + Duration::from_secs(1));
        run.processes.until_inside(2);
        let resumed = run.processes.signal(first, "CONT");
        run.processes.wait(first);
        run.processes.wait(second);
        let tenures = run.processes.tenures();
        let [overlap] = overlaps(&tenures, 1)[..] else { panic!("{kind}: {tenures:?}") };
        // Half of the TTL may be over when it stops.
        assert!(overlap.from >= stopped + TTL / 2, "{kind}: too soon: {overlap:?}, stopped at {stopped:?}");
        assert!(overlap.until <= resumed + SLACK, "{kind}: too long: {overlap:?}, resumed at {resumed:?}");
        run.judge();
    }
}

#[test]
fn the_lock_of_a_process_that_is_killed_is_taken_over_when_its_session_ends() {
    for kind in ["lock", "semaphore-of-1"] {
        let Some(mut run) = ProcessRun::begin() else { return };
        let first = run.start(kind, 1, 1, Duration::from_secs(60));
        run.processes.until_inside(1);
        let second = run.start(kind, 2, 1, Duration::from_millis(100));
        let killed = run.processes.kill(first);
        run.processes.wait(second);
        let tenures = run.processes.tenures();
        assert_eq!(overlaps(&tenures, 1), [], "{kind}: {tenures:?}");
        let next = tenures.iter().find(|tenure| tenure.client == 2).expect("it has waited for it");
        let waited = next.from - killed;
        assert!((TTL / 2..=ENDED + SLACK).contains(&waited), "{kind}: taken over after {waited:?}");
        run.judge();
    }
}

/// Sessions and locks are in the log of the servers: a restart gives no lock to a second process.
#[test]
fn an_agent_that_restarts_gives_a_held_lock_to_no_other_process() {
    let Ok(restart) = std::env::var("FENCEPOST_CONSUL_RESTART") else {
        return eprintln!("skipped: FENCEPOST_CONSUL_RESTART restarts no agent");
    };
    let Some(mut run) = ProcessRun::begin() else { return };
    let first = run.start("lock", 1, 1, Duration::from_secs(3));
    run.processes.until_inside(1);
    run.restart(&restart);
    // What asked the old agent may wait for its answer for ever: a process that comes later does not.
    let second = run.start("lock", 2, 1, Duration::from_millis(100));
    run.processes.wait(second);
    run.processes.kill(first);
    let tenures = run.processes.tenures();
    assert_eq!(overlaps(&tenures, 1), [], "{tenures:?}");
    assert!(tenures.iter().any(|tenure| tenure.client == 2), "{tenures:?}");
    run.judge();
}
