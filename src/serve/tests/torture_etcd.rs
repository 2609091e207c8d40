//! Torture of a test that talks to etcd: a shell script here, with the lock that people build of one transaction.

#![cfg(unix)]

use std::time::Duration;

use fencepost_serve::torture::{NoBaseline, TestedServer, Torture, Trial};
use fencepost_serve::{Clock, Settings};

use super::torture::what_breaks;

/// Two clients, each with a lease of its own. No answer is taken for a yes: the published mistake of clients that retry what was lost.
const CARELESS: &str = r#"
exec 2>/dev/null
ask() {
  local host=${!ADDRESS}
  exec 3<>"/dev/tcp/${host/://}" || return 1
  printf '%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %s\r\n\r\n%s' "$1" "$2" "${#3}" "$3" >&3
  while read -r line <&3 && [ "$line" != $'\r' ]; do :; done
  cat <&3
}
take() {
  ADDRESS=ETCD_HTTP_ADDR_${1^^}
  ask POST /v3/lease/grant "{\"ID\":$2,\"TTL\":60}" >/dev/null
  local said
  said=$(ask POST /v3/kv/txn "{\"compare\":[{\"key\":\"bGVhZA==\",\"target\":\"CREATE\"}],\"success\":[{\"request_put\":{\"key\":\"bGVhZA==\",\"lease\":$2}}]}")
  case $said in *succeeded* | "") ask PUT "/fencepost/inside?key=lead&client=$1" ;; esac
}
take a 7
take b 8
true
"#;

fn torture(server: TestedServer, script: &str) -> Torture {
    let command = ["bash", "-c", script].map(str::to_owned).to_vec();
    let clients = ["a", "b"].map(str::to_owned).to_vec();
    let settings = Settings { clock: Clock::Manual, clients, ..Settings::default() };
    let trial = Trial { server, settings, command, patience: Duration::from_secs(60), is_heard: false };
    Torture { trial, faults: server.faults(), with_pairs: false, accepts_failure: true }
}

#[test]
fn a_client_of_etcd_that_takes_no_answer_for_a_yes_is_found_out_by_one_fault() {
    let mut torture = torture(TestedServer::Etcd, CARELESS);
    torture.faults.retain(|fault| !fault.to_string().starts_with("delay"));
    let requests = torture.baseline().unwrap_or_else(|why| panic!("{why}"));
    let names: Vec<String> = requests.iter().map(|seen| seen.name()).collect();
    let expected = ["a POST /v3/lease/grant", "a POST /v3/kv/txn", "b POST /v3/lease/grant", "b POST /v3/kv/txn"]
        .map(str::to_owned);
    assert_eq!(names, expected);
    let plans = torture.singles(&requests);
    assert_eq!(plans.len(), 4 * 3);
    let broken = what_breaks(&torture, &plans);
    let at = |client: &str, fault: &str| {
        format!("on POST /v3/kv/txn #1 from {client}: {fault}\nmutual-exclusion of lead: a and b are both inside")
    };
    // Where only the answer to `a` is lost, it has the lock; an error is an answer.
    assert_eq!(broken, [at("a", "lose-request"), at("b", "lose-request"), at("b", "lose-answer")]);
}

#[test]
fn a_test_that_talks_to_another_server_is_told_so() {
    let silent = torture(TestedServer::Consul, CARELESS).baseline().expect_err("it finds no address");
    assert_eq!(silent, NoBaseline::Silent(TestedServer::Consul));
    assert!(silent.to_string().contains("CONSUL_HTTP_ADDR"));
    assert!(NoBaseline::Silent(TestedServer::Etcd).to_string().contains("ETCD_HTTP_ADDR"));
}
