//! Observers (E-CC-23). What a real etcd 3.4.23 has told to the same requests stands in each test.

use fencepost_serve::{RequestOutcome, Ticket};
use serde_json::{Value, json};

use super::bench::{Bench, bytes};

/// An observer of the election `n`, as client b.
fn observe(bench: &mut Bench) -> Ticket {
    observe_as(bench, "b")
}

fn observe_as(bench: &mut Bench, client: &str) -> Ticket {
    bench.send(client, "/v3/election/observe", json!({"name": bytes("n")}))
}

/// What an observer was told so far: of each message the revision of the header, the key with its creation revision, its revision and version, and
/// its value.
fn told(bench: &mut Bench, ticket: Ticket) -> Vec<String> {
    let mut said = Vec::new();
    while let Some(outcome) = bench.outcome(ticket) {
        let RequestOutcome::Message(answer) = outcome else {
            said.push(format!("{outcome:?}"));
            break;
        };
        let message = &answer.value()["result"];
        assert!(answer.body.ends_with(b"\n") && message["header"]["raft_term"].is_string(), "{message}");
        let entry = &message["kv"];
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let plain = |value: &Value| match value.as_str() {
            None => "-".to_owned(),
            Some(_) => {
                let names = ["n/7", "n/8", "n/a", "n/y", "n/m", "n/o", "/k", "a", "b", "c"];
                let found = names.into_iter().find(|name| *value == bytes(name));
                found.map_or_else(|| value.to_string(), str::to_owned)
            }
        };
        said.push(format!(
            "at {}: {} {}@{}v{} {}",
            text(&message["header"]["revision"]),
            plain(&entry["key"]),
            text(&entry["create_revision"]),
            text(&entry["mod_revision"]),
            text(&entry["version"]),
            plain(&entry["value"]),
        ));
    }
    said
}

fn put(bench: &mut Bench, key: &str, value: &str) {
    assert_eq!(bench.ask("/v3/kv/put", json!({"key": bytes(key), "value": bytes(value)})).0, 200);
}

fn delete(bench: &mut Bench, key: &str) {
    assert_eq!(bench.ask("/v3/kv/deleterange", json!({"key": bytes(key)})).1["deleted"], "1");
}

fn campaign(bench: &mut Bench, lease: i64, value: &str) -> Ticket {
    bench.grant(lease, 60);
    bench.send("a", "/v3/election/campaign", json!({"name": bytes("n"), "lease": lease, "value": bytes(value)}))
}

fn compact(bench: &mut Bench, revision: i64) {
    assert_eq!(bench.ask("/v3/kv/compaction", json!({"revision": revision})).0, 200);
}

#[test]
fn e_cc_23_each_value_of_the_leader_is_told_and_then_the_next_leader() {
    let mut bench = Bench::new("");
    let first = observe(&mut bench);
    assert_eq!(told(&mut bench, first), [""; 0], "before any leader nothing is told, and no answer begins");
    let elected = campaign(&mut bench, 7, "a");
    let leader = bench.answer(elected).value()["leader"].clone();
    assert_eq!(told(&mut bench, first), ["at 2: n/7 2@2v1 a"]);
    let next = campaign(&mut bench, 8, "b");
    for value in ["b", "c"] {
        assert_eq!(bench.ask("/v3/election/proclaim", json!({"leader": leader, "value": bytes(value)})).0, 200);
    }
    assert_eq!(told(&mut bench, first), ["at 4: n/7 2@4v2 b", "at 5: n/7 2@5v3 c"]);
    put(&mut bench, "other", "");
    put(&mut bench, "other", "");
    // Who comes later is told the present value, at the revision of its read.
    let late = observe(&mut bench);
    assert_eq!(told(&mut bench, late), ["at 7: n/7 2@5v3 c"]);
    assert_eq!(bench.ask("/v3/election/resign", json!({"leader": leader})).0, 200);
    assert_eq!(bench.answer(next).value()["leader"]["key"], bytes("n/8"));
    // The store is compacted behind a watch that is there, which goes on.
    compact(&mut bench, 8);
    put(&mut bench, "n/8", "");
    for observer in [first, late] {
        assert_eq!(told(&mut bench, observer), ["at 8: n/8 3@3v1 b", "at 9: n/8 3@9v2 -"]);
    }
}

#[test]
fn e_cc_23_without_a_leader_the_first_put_is_told_and_no_deletion() {
    let mut bench = Bench::new("");
    put(&mut bench, "n/a", "a");
    let observer = observe(&mut bench);
    assert_eq!(told(&mut bench, observer), ["at 2: n/a 2@2v1 a"]);
    delete(&mut bench, "n/a");
    put(&mut bench, "nx", "");
    put(&mut bench, "n", "");
    assert_eq!(told(&mut bench, observer), [""; 0]);
    // An observer that reads at the revision of a deletion sees that deletion in its watch, and waits on.
    let other = observe(&mut bench);
    put(&mut bench, "n/y", "b");
    put(&mut bench, "n/a", "a");
    for observer in [observer, other] {
        assert_eq!(told(&mut bench, observer), ["at 6: n/y 6@6v1 b"]);
    }
}

#[test]
fn e_cc_23_of_keys_of_one_transaction_the_first_put_is_told_and_the_first_key_is_read() {
    let mut bench = Bench::new("");
    let before = observe(&mut bench);
    let both = json!({"success": [{"request_put": {"key": bytes("n/y")}}, {"request_put": {"key": bytes("n/a")}}]});
    assert_eq!(bench.ask("/v3/kv/txn", both).0, 200);
    let after = observe(&mut bench);
    assert_eq!(told(&mut bench, before), ["at 2: n/y 2@2v1 -"]);
    assert_eq!(told(&mut bench, after), ["at 2: n/a 2@2v1 -"]);
    assert_eq!(bench.ask("/v3/election/leader", json!({"name": bytes("n")})).1["kv"]["key"], bytes("n/a"));
}

/// A put and a deletion of the same revision (E-TXN-5): it reads no key at that revision, sees the put in its watch from there on, and obeys a key
/// that is gone.
#[test]
fn e_cc_23_a_key_that_is_put_and_deleted_by_one_transaction_is_told_twice_and_obeyed_for_ever() {
    let mut bench = Bench::new("");
    put(&mut bench, "n/m", "a");
    let observer = observe(&mut bench);
    let rest = json!({"request_delete_range": {"key": bytes("n/m"), "range_end": "AA=="}});
    let put_m = |value: &str| json!({"request_put": {"key": bytes("n/m"), "value": bytes(value)}});
    assert_eq!(bench.ask("/v3/kv/txn", json!({"success": [rest, put_m("b")]})).0, 200);
    assert_eq!(told(&mut bench, observer), ["at 2: n/m 2@2v1 a", "at 3: n/m 3@3v1 b"]);
    assert_eq!(bench.ask("/v3/kv/txn", json!({"success": [put_m("c"), rest]})).0, 200);
    assert_eq!(told(&mut bench, observer), ["at 4: n/m 3@4v2 c"; 2]);
    put(&mut bench, "n/o", "a");
    assert_eq!(told(&mut bench, observer), [""; 0]);
}

#[test]
fn e_cc_30_an_election_without_a_name_is_that_of_keys_below_a_slash() {
    let mut bench = Bench::new("");
    let observers = ["{}", "", "null", r#"{"name":""}"#]
        .map(|body| bench.send_as("b", "POST", "/v3/election/observe", body.into()));
    put(&mut bench, "/k", "a");
    for observer in observers {
        assert_eq!(told(&mut bench, observer), ["at 2: /k 2@2v1 a"]);
    }
}

#[test]
fn e_ls_8_the_end_of_the_lease_of_a_leader_is_told_when_there_is_a_next_one() {
    let mut bench = Bench::new("");
    let [first, second] = [(7, "a"), (8, "b")].map(|(lease, value)| campaign(&mut bench, lease, value));
    bench.answer(first);
    let observer = observe(&mut bench);
    bench.pass(300);
    assert_eq!(bench.renewed(8), 60);
    bench.pass(299);
    assert_eq!(told(&mut bench, observer), ["at 3: n/7 2@2v1 a"]);
    bench.pass(1);
    assert_eq!(told(&mut bench, observer), ["at 4: n/8 3@3v1 b"]);
    bench.answer(second);
}

/// The answers to an observer come 2 s late, and it goes on when it has them.
const LATE: &str = "on POST /v3/election/observe: delay-answer 2s";

#[test]
fn e_cc_23_what_is_compacted_before_its_watch_begins_ends_it_without_an_error() {
    let mut bench = Bench::new(LATE);
    put(&mut bench, "n/a", "a");
    let observer = observe(&mut bench);
    put(&mut bench, "n/a", "b");
    put(&mut bench, "n/a", "c");
    compact(&mut bench, 4);
    bench.pass(19);
    assert_eq!(told(&mut bench, observer), [""; 0]);
    bench.pass(1);
    assert_eq!(told(&mut bench, observer), ["at 2: n/a 2@2v1 a"]);
    bench.pass(20);
    assert_eq!(told(&mut bench, observer), ["End"]);
    put(&mut bench, "n/a", "a");
    bench.pass(100);
    assert_eq!(told(&mut bench, observer), [""; 0]);
}

#[test]
fn e_cc_23_an_observer_that_found_no_key_may_end_before_it_tells_anything() {
    // From the compacted revision on no put is missing (E-W-5), and the header has the revision of the first one.
    for (compacted, expected) in [(2, "at 3: n/a 3@3v1 a"), (3, "End")] {
        let mut bench = Bench::new(LATE);
        put(&mut bench, "other", "");
        let observer = observe(&mut bench);
        put(&mut bench, "n/a", "a");
        put(&mut bench, "other", "");
        compact(&mut bench, compacted);
        bench.pass(39);
        assert_eq!(told(&mut bench, observer), [""; 0]);
        bench.pass(1);
        assert_eq!(told(&mut bench, observer), [expected]);
    }
}

#[test]
fn e_w_5_a_deletion_at_the_compacted_revision_leaves_an_observer_with_a_key_that_is_gone() {
    for (compacted, rest) in [(2, vec!["at 5: n/y 4@5v2 c"]), (3, vec![])] {
        let mut bench = Bench::new(LATE);
        put(&mut bench, "n/a", "a");
        let observer = observe(&mut bench);
        delete(&mut bench, "n/a");
        put(&mut bench, "n/y", "b");
        compact(&mut bench, compacted);
        put(&mut bench, "n/y", "c");
        bench.pass(100);
        assert_eq!(told(&mut bench, observer), [vec!["at 2: n/a 2@2v1 a"], rest].concat(), "{compacted}");
    }
}

#[test]
fn e_w_3_values_of_the_past_are_told_at_the_present_revision_and_what_a_watch_has_is_not_compacted() {
    let mut bench = Bench::new(LATE);
    put(&mut bench, "n/a", "a");
    let observer = observe(&mut bench);
    put(&mut bench, "n/a", "b");
    put(&mut bench, "n/a", "c");
    bench.pass(21);
    put(&mut bench, "n/a", "");
    put(&mut bench, "n/a", "a");
    compact(&mut bench, 6);
    bench.pass(100);
    let past = ["at 2: n/a 2@2v1 a", "at 4: n/a 2@3v2 b", "at 4: n/a 2@4v3 c"];
    assert_eq!(told(&mut bench, observer), [&past[..], &["at 5: n/a 2@5v4 -", "at 6: n/a 2@6v5 a"]].concat());
}

#[test]
fn e_ld_2_a_restart_breaks_observers_off_and_one_that_has_gone_hears_nothing() {
    let mut bench = Bench::new("on POST /v3/lease/leases #1: server-restart");
    let [observer, gone] = [(); 2].map(|()| observe(&mut bench));
    bench.stand_in.forget(gone);
    put(&mut bench, "n/a", "a");
    assert_eq!(told(&mut bench, gone), [""; 0]);
    assert_eq!(told(&mut bench, observer), ["at 2: n/a 2@2v1 a"]);
    bench.ask("/v3/lease/leases", json!({}));
    assert_eq!(bench.outcome(observer), Some(RequestOutcome::Close));
    put(&mut bench, "n/a", "b");
    assert_eq!(told(&mut bench, observer), [""; 0]);
}

#[test]
fn e_gen_6_a_wrong_body_of_an_observer_is_an_error_of_a_call() {
    let mut bench = Bench::new("");
    for body in ["{", "[]", "7", r#"{"name":7}"#, r#"{"name":"a"}"#] {
        let ticket = bench.send_as("b", "POST", "/v3/election/observe", body.into());
        let answer = bench.answer(ticket);
        assert_eq!((answer.status, &answer.value()["code"]), (400, &json!(3)), "{body}");
    }
    let ticket = bench.send_as("b", "GET", "/v3/election/observe", b"{}".to_vec());
    assert_eq!(bench.answer(ticket).status, 405);
}

#[test]
fn stories_tell_what_an_observer_is_told() {
    let mut bench = Bench::new("on POST /v3/election/observe from c: delay-answer 2s");
    let elected = campaign(&mut bench, 7, "a");
    bench.answer(elected);
    observe(&mut bench);
    observe_as(&mut bench, "c");
    put(&mut bench, "n/7", "b");
    put(&mut bench, "n/7", "c");
    compact(&mut bench, 4);
    bench.pass(40);
    // A violation, so that there is a story.
    for client in ["a", "d"] {
        let ticket = bench.send_as(client, "PUT", &format!("/fencepost/inside?key=n&client={client}"), Vec::new());
        bench.answer(ticket);
    }
    let story = bench.stand_in.verdict().to_string();
    for (client, line) in [("b", r#"200 "n/7" leads with "a""#), ("c", "200, the end")] {
        let line = format!("{client}: /v3/election/observe \"n\" → {line}");
        assert!(story.contains(&line), "{line}: {story}");
    }
}
