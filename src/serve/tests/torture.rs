//! Torture: a test is a shell script here, that talks HTTP by itself.

#![cfg(unix)]

use std::time::Duration;

use fencepost_serve::torture::{Ended, NoBaseline, Planned, Reached, TestedServer, Torture, Trial};
use fencepost_serve::{Clock, Fault, Settings};

/// What the scripts share: `ask METHOD URL` prints an answer's body, and fails if there is no answer.
const ASK: &str = r#"
exec 2>/dev/null
ask() {
  exec 3<>"/dev/tcp/${CONSUL_HTTP_ADDR/:/\/}" || return 1
  printf '%s %s HTTP/1.1\r\nHost: x\r\nX-Fencepost-Client: %s\r\nConnection: close\r\nContent-Length: 0\r\n\r\n' "$1" "$2" "$client" >&3
  read -r _ status _ <&3 || return 1
  while read -r line <&3 && [ "$line" != $'\r' ]; do :; done
  cat <&3
  [ "$status" = 200 ]
}
session() { ask PUT /v1/session/create | grep -o '[0-9a-f-]\{36\}'; }
client=a; one=$(session)
client=b; two=$(session)
"#;

fn torture(script: &str) -> Torture {
    let command = ["bash", "-c", &format!("{ASK}{script}")].map(str::to_owned).to_vec();
    let settings = Settings { clock: Clock::Manual, ..Settings::default() };
    let faults = ["lose-request", "lose-answer"].map(|name| name.parse::<Fault>().expect("a fault")).to_vec();
    let trial =
        Trial { server: TestedServer::Consul, settings, command, patience: Duration::from_secs(60), is_heard: false };
    Torture { trial, faults, with_pairs: false, accepts_failure: true }
}

/// The plans that break something, each with what it breaks.
pub(crate) fn what_breaks(torture: &Torture, plans: &[Planned]) -> Vec<String> {
    let tried = |planned: &Planned| {
        let tried = torture.trial.run(&planned.plan).expect("it starts");
        torture.broken(&tried).map(|why| format!("{}{why}", planned.plan))
    };
    plans.iter().filter_map(tried).collect()
}

/// It takes no answer for a yes: the published mistake of clients that retry what was lost.
const CARELESS: &str = r#"
take() { [ "$(ask PUT "/v1/kv/lead?acquire=$2")" != false ] && ask PUT "/fencepost/inside?key=lead&client=$1"; }
client=a; take a "$one"
client=b; take b "$two"
true
"#;

#[test]
fn a_client_that_takes_no_answer_for_a_yes_is_found_out_by_one_fault() {
    let torture = torture(CARELESS);
    let requests = torture.baseline().unwrap_or_else(|why| panic!("{why}"));
    let names: Vec<String> = requests.iter().map(|seen| seen.name()).collect();
    assert_eq!(names[2..], ["a PUT /v1/kv/lead?acquire=*", "b PUT /v1/kv/lead?acquire=*"]);
    let plans = torture.singles(&requests);
    assert_eq!(plans.len(), 4 * 2);
    let broken = what_breaks(&torture, &plans);
    let both = "mutual-exclusion of lead: a and b are both inside";
    let at = |request: &str, client: &str, fault: &str| format!("on PUT {request} #1 from {client}: {fault}\n{both}");
    // Without a session the server answers with an error, which is not `false` either.
    let (session, acquire) = ("/v1/session/create", "/v1/kv/lead?acquire=*");
    let expected = [
        at(session, "a", "lose-request"),
        at(session, "a", "lose-answer"),
        at(session, "b", "lose-request"),
        at(session, "b", "lose-answer"),
        at(acquire, "a", "lose-request"),
        // Where only the answer to `a` is lost, it has the lock.
        at(acquire, "b", "lose-request"),
        at(acquire, "b", "lose-answer"),
    ];
    assert_eq!(broken, expected);
}

#[test]
fn a_test_that_cannot_be_tortured_says_why() {
    let why = |script: &str| torture(script).baseline().expect_err("no baseline");
    let unstable = why("ask GET /v1/kv/$RANDOM$RANDOM; true");
    assert!(
        matches!(&unstable, NoBaseline::Unstable(at) if at.contains("request 2 of b is `b GET /v1/kv/")),
        "{unstable}"
    );
    let broken = why("ask PUT '/fencepost/inside?key=k&client=a'; ask PUT '/fencepost/inside?key=k&client=b'; true");
    assert!(matches!(&broken, NoBaseline::Breaks(how) if how.starts_with("mutual-exclusion")), "{broken}");
    let mut silent = torture("");
    silent.trial.command = vec!["true".to_owned()];
    assert_eq!(silent.baseline().expect_err("it says nothing"), NoBaseline::Silent(TestedServer::Consul));
    silent.trial.command = vec!["/nonexistent/test".to_owned()];
    assert!(matches!(silent.baseline(), Err(NoBaseline::NotStarted(_))));
}

#[test]
fn a_test_that_fails_or_hangs_is_told_apart() {
    let mut torture = torture("exit 3");
    let tried = torture.trial.run(&Default::default()).expect("it starts");
    assert!(matches!(&tried.ended, Ended::Failed(how) if how.contains('3')));
    assert_eq!(torture.broken(&tried), None);
    torture.accepts_failure = false;
    assert!(torture.broken(&tried).is_some_and(|why| why.starts_with("the test failed")));
    torture.trial.command = ["bash", "-c", "sleep 1000 & wait"].map(str::to_owned).to_vec();
    torture.trial.patience = Duration::from_millis(100);
    let tried = torture.trial.run(&Default::default()).expect("it starts");
    assert_eq!(torture.broken(&tried).as_deref(), Some("the test did not end in time"));
}

#[test]
fn a_second_fault_comes_after_the_first() {
    let torture = torture(CARELESS);
    let requests = torture.baseline().unwrap_or_else(|why| panic!("{why}"));
    let singles = torture.singles(&requests);
    let first = &singles[0];
    let tried = torture.trial.run(&first.plan).expect("it starts");
    let mut reached = Reached::by_singles(&requests, &torture.faults);
    let pairs = torture.pairs(first, &tried, &mut reached);
    assert_eq!((pairs.len(), reached.pruned()), ((tried.run.requests.len() - 1) * 2, 0));
    assert!(pairs.iter().all(|pair| pair.plan.to_string().lines().count() == 2));
}

#[test]
fn a_pair_is_left_out_if_a_plan_of_one_fault_comes_to_the_same() {
    let mut torture = torture(CARELESS);
    torture.faults = ["check-critical", "session-destroyed"].map(|name| name.parse().expect("a fault")).to_vec();
    let requests = torture.baseline().unwrap_or_else(|why| panic!("{why}"));
    let mut reached = Reached::by_singles(&requests, &torture.faults);
    let left: Vec<(String, usize)> = torture
        .singles(&requests)
        .iter()
        .map(|single| {
            let tried = torture.trial.run(&single.plan).expect("it starts");
            (single.plan.to_string(), torture.pairs(single, &tried, &mut reached).len())
        })
        .filter(|(_, pairs)| *pairs > 0)
        .collect();
    // The agent has no checks, and a client without a session loses none: whatever comes then comes without that, too.
    let acquire = "on PUT /v1/kv/lead?acquire=* #1 from a: session-destroyed\n".to_owned();
    assert_eq!(left, [(acquire, 2)]);
    assert_eq!(reached.pruned(), 2 * (3 + 2 + 1) + 2 * (3 + 2));
}
