//! Watches. What a real etcd 3.4.23 has said to the same requests stands in each test.

use fencepost_serve::{RequestOutcome, Settings, Ticket, Timers};
use serde_json::{Value, json};

use super::bench::{Bench, bytes};

fn put(bench: &mut Bench, key: &str) {
    assert_eq!(bench.ask("/v3/kv/put", json!({"key": bytes(key)})).0, 200);
}

/// A stream with these messages, of client b.
fn watch(bench: &mut Bench, messages: &[Value]) -> Ticket {
    let body: String = messages.iter().map(Value::to_string).collect();
    bench.send_as("b", "POST", "/v3/watch", body.into_bytes())
}

fn create(request: Value) -> Value {
    json!({ "create_request": request })
}

/// The messages of a stream so far: of each the id of the watch, the revision of the header, and what happened.
fn heard(bench: &mut Bench, ticket: Ticket) -> Vec<String> {
    let mut said = Vec::new();
    while let Some(outcome) = bench.outcome(ticket) {
        let RequestOutcome::Message(answer) = outcome else { panic!("{outcome:?}") };
        let message = &answer.value()["result"];
        assert!(answer.body.ends_with(b"\n") && message["header"]["raft_term"].is_string(), "{message}");
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let mut line = format!("{} at {}", text(&message["watch_id"]), text(&message["header"]["revision"]));
        for word in ["created", "canceled", "cancel_reason", "compact_revision"] {
            match &message[word] {
                Value::Null => {}
                Value::Bool(true) => line += &format!(" {word}"),
                other => line += &format!(" {}", text(other)),
            }
        }
        for event in message["events"].as_array().into_iter().flatten() {
            let kind = event["type"].as_str().unwrap_or("PUT");
            line += &format!(" {kind} {}@{}", text(&event["kv"]["key"]), text(&event["kv"]["mod_revision"]));
            if !event["prev_kv"].is_null() {
                line += &format!(" after {}", text(&event["prev_kv"]["mod_revision"]));
            }
        }
        said.push(line.replace(&bytes("a"), "a").replace(&bytes("b"), "b").replace(&bytes("c"), "c"));
    }
    said
}

#[test]
fn e_w_2_history_comes_first_and_then_each_revision_when_it_is_written() {
    let mut bench = Bench::new("");
    put(&mut bench, "a");
    put(&mut bench, "b");
    put(&mut bench, "a");
    let range = json!({"key": bytes("a"), "range_end": bytes("c"), "start_revision": 2, "prev_kv": true});
    let stream = watch(&mut bench, &[create(range), create(json!({"key": bytes("b")}))]);
    // E-W-3: the history of many revisions is one message, and its header has the present one.
    let history = "- at 4 PUT a@2 PUT b@3 PUT a@4 after 2";
    assert_eq!(heard(&mut bench, stream), ["- at 4 created", "1 at 4 created", history]);
    let both = json!({"success": [{"request_put": {"key": bytes("b")}}, {"request_put": {"key": bytes("a")}}]});
    assert_eq!(bench.ask("/v3/kv/txn", both).0, 200);
    assert_eq!(heard(&mut bench, stream), ["- at 5 PUT b@5 after 3 PUT a@5 after 4", "1 at 5 PUT b@5"]);
    put(&mut bench, "c");
    let all = json!({"key": bytes("a"), "range_end": bytes("z")});
    assert_eq!(bench.ask("/v3/kv/deleterange", all).0, 200);
    assert_eq!(heard(&mut bench, stream), ["- at 7 DELETE a@7 after 5 DELETE b@7 after 5", "1 at 7 DELETE b@7"]);
}

#[test]
fn e_w_2_a_watch_of_the_future_waits_for_its_revision() {
    let mut bench = Bench::new("");
    let stream = watch(&mut bench, &[create(json!({"key": bytes("a"), "start_revision": "3"}))]);
    put(&mut bench, "a");
    assert_eq!(heard(&mut bench, stream), ["- at 1 created"]);
    put(&mut bench, "a");
    assert_eq!(heard(&mut bench, stream), ["- at 3 PUT a@3"]);
}

#[test]
fn e_w_1_ids_are_counted_given_or_in_use_and_a_watch_is_cancelled() {
    let mut bench = Bench::new("");
    let of = |id: i64| create(json!({"key": bytes("a"), "watch_id": id}));
    let stream = watch(&mut bench, &[of(1), of(0), of(0), of(0), of(3)]);
    let in_use = "-1 at 1 created canceled mvcc: duplicate watch ID provided on the WatchStream";
    let expected = ["1 at 1 created", "- at 1 created", "2 at 1 created", "3 at 1 created", in_use];
    assert_eq!(heard(&mut bench, stream), expected);
    let cancel = |id: i64| json!({"cancel_request": {"watch_id": id}});
    let stream = watch(&mut bench, &[of(5), cancel(5), cancel(7), of(5), of(0), cancel(0), of(0), of(-5)]);
    let expected = [
        "5 at 1 created",
        "5 at 1 canceled",
        "5 at 1 created",
        "- at 1 created",
        "- at 1 canceled",
        "1 at 1 created",
        "-5 at 1 created",
    ];
    assert_eq!(heard(&mut bench, stream), expected);
    put(&mut bench, "a");
    assert_eq!(heard(&mut bench, stream), ["-5 at 2 PUT a@2", "1 at 2 PUT a@2", "5 at 2 PUT a@2"]);
    let stream = watch(&mut bench, &[create(json!({"key": bytes("b"), "range_end": bytes("a")}))]);
    assert_eq!(heard(&mut bench, stream), ["-1 at 2 created canceled mvcc: watcher range is empty"]);
}

#[test]
fn e_w_1_filters_leave_events_out() {
    let mut bench = Bench::new("");
    let filtered = |filter: &str| create(json!({"key": bytes("a"), "filters": [filter]}));
    let stream = watch(&mut bench, &[filtered("NOPUT"), filtered("NODELETE")]);
    heard(&mut bench, stream);
    put(&mut bench, "a");
    bench.ask("/v3/kv/deleterange", json!({"key": bytes("a")}));
    assert_eq!(heard(&mut bench, stream), ["1 at 2 PUT a@2", "- at 3 DELETE a@3"]);
}

#[test]
fn e_w_5_a_watch_of_what_is_compacted_ends_and_a_live_one_does_not() {
    let mut bench = Bench::new("");
    let live = watch(&mut bench, &[create(json!({"key": bytes("a")}))]);
    put(&mut bench, "a");
    put(&mut bench, "a");
    assert_eq!(bench.ask("/v3/kv/compaction", json!({"revision": 3})).0, 200);
    let late = |id: i64| create(json!({"key": bytes("a"), "start_revision": 2, "watch_id": id}));
    let stream = watch(&mut bench, &[late(7), late(0)]);
    let ended = ["7 at 3 created", "- at 3 created", "- at - canceled 3", "7 at - canceled 3"];
    assert_eq!(heard(&mut bench, stream), ended);
    put(&mut bench, "a");
    assert_eq!(heard(&mut bench, stream), [""; 0], "they are over");
    assert_eq!(heard(&mut bench, live), ["- at 1 created", "- at 2 PUT a@2", "- at 3 PUT a@3", "- at 4 PUT a@4"]);
    // Before the history is told, a watch is cancelled.
    let stream = watch(&mut bench, &[late(0), json!({"cancel_request": {"watch_id": "0"}})]);
    assert_eq!(heard(&mut bench, stream), ["- at 4 created", "- at 4 canceled"]);
}

#[test]
fn e_w_6_progress_is_told_at_once_or_every_ten_minutes_where_nothing_happens() {
    let mut bench = Bench::new("");
    put(&mut bench, "a");
    let history = create(json!({"key": bytes("a"), "start_revision": 1}));
    let stream = watch(&mut bench, &[history, json!({"progress_request": {}})]);
    assert_eq!(heard(&mut bench, stream), ["- at 2 created", "-1 at 2", "- at 2 PUT a@2"]);
    let of = |key: &str, id: i64| create(json!({"key": bytes(key), "watch_id": id, "progress_notify": true}));
    let stream = watch(&mut bench, &[of("a", 1), of("b", 2), create(json!({"key": bytes("c")}))]);
    heard(&mut bench, stream);
    bench.pass(3_000);
    put(&mut bench, "a");
    bench.pass(3_600);
    assert_eq!(heard(&mut bench, stream), ["1 at 3 PUT a@3", "2 at 3"], "1 had an event");
    bench.pass(6_600);
    assert_eq!(heard(&mut bench, stream), ["1 at 3", "2 at 3"]);
}

#[test]
fn e_w_3_a_history_of_more_than_a_thousand_revisions_comes_in_parts() {
    let mut bench = Bench::new("");
    (0..1_500).for_each(|_| put(&mut bench, "a"));
    let stream = watch(&mut bench, &[create(json!({"key": bytes("a"), "start_revision": 2}))]);
    let said = heard(&mut bench, stream);
    let counts: Vec<usize> = said.iter().map(|line| line.matches("PUT").count()).collect();
    assert_eq!(counts, [0, 1_000, 500]);
    assert!(said[1].starts_with("- at 1501 "));
}

#[test]
fn e_ls_8_the_end_of_a_lease_is_told_when_the_scan_finds_it() {
    let mut bench = Bench::with(Settings { timers: Timers::Late(500_000_000), ..Settings::default() });
    bench.grant(7, 5);
    for key in ["a", "b"] {
        assert_eq!(bench.ask("/v3/kv/put", json!({"key": bytes(key), "lease": 7})).0, 200);
    }
    let stream = watch(&mut bench, &[create(json!({"key": bytes("a"), "range_end": "AA=="}))]);
    heard(&mut bench, stream);
    bench.pass(54);
    assert_eq!(heard(&mut bench, stream), [""; 0]);
    bench.pass(2);
    assert_eq!(heard(&mut bench, stream), ["- at 4 DELETE a@4 DELETE b@4"]);
}

#[test]
fn e_cc_11_a_waiter_that_is_served_and_a_key_that_is_withdrawn_are_told() {
    let mut bench = Bench::new("");
    [7, 8].into_iter().for_each(|id| bench.grant(id, 60));
    let stream = watch(&mut bench, &[create(json!({"key": bytes("lead/"), "range_end": bytes("lead0")}))]);
    let tickets = [7, 8].map(|id| bench.send("a", "/v3/lock/lock", json!({"name": bytes("lead"), "lease": id})));
    bench.answer(tickets[0]);
    bench.stand_in.forget(tickets[1]);
    let said = heard(&mut bench, stream);
    let words: Vec<&str> = said.iter().filter_map(|line| line.split_whitespace().nth(3)).collect();
    assert_eq!(words, ["created", "PUT", "PUT", "DELETE"]);
}

#[test]
fn e_ld_2_a_restart_closes_streams_and_a_client_that_has_gone_hears_nothing() {
    let mut bench = Bench::new("on POST /v3/lease/leases #1: server-restart");
    let [stream, gone] = [0; 2].map(|_| watch(&mut bench, &[create(json!({"key": bytes("a")}))]));
    heard(&mut bench, stream);
    heard(&mut bench, gone);
    bench.stand_in.forget(gone);
    put(&mut bench, "a");
    assert_eq!(heard(&mut bench, gone), [""; 0]);
    assert_eq!(heard(&mut bench, stream), ["- at 2 PUT a@2"]);
    bench.ask("/v3/lease/leases", json!({}));
    assert_eq!(bench.outcome(stream), Some(RequestOutcome::Close));
    put(&mut bench, "a");
    assert_eq!(bench.outcome(stream), None);
}

#[test]
fn faults_delay_each_message_or_lose_the_stream() {
    let plan = "on POST /v3/watch #1: delay-answer 2s\non POST /v3/watch #2: lose-answer\non POST /v3/watch #3: repeat";
    let mut bench = Bench::new(plan);
    let of_a = create(json!({"key": bytes("a")}));
    let slow = watch(&mut bench, std::slice::from_ref(&of_a));
    bench.pass(10);
    put(&mut bench, "a");
    assert_eq!(heard(&mut bench, slow), [""; 0]);
    bench.pass(11);
    assert_eq!(heard(&mut bench, slow), ["- at 1 created"]);
    bench.pass(10);
    assert_eq!(heard(&mut bench, slow), ["- at 2 PUT a@2"]);
    let lost = watch(&mut bench, std::slice::from_ref(&of_a));
    assert_eq!(bench.outcome(lost), Some(RequestOutcome::Close));
    let repeated = watch(&mut bench, &[of_a]);
    assert_eq!(heard(&mut bench, repeated), ["- at 2 created"]);
}

#[test]
fn e_gen_6_what_is_wrong_with_a_stream_is_said_as_a_real_server_does() {
    let mut bench = Bench::new("");
    for (body, status) in [("{", 500), ("[]", 500), (r#"{"create_request":{"key":"a"}}"#, 500), ("", 0), ("{}", 0)] {
        let stream = bench.send_as("b", "POST", "/v3/watch", body.into());
        match bench.outcome(stream) {
            Some(RequestOutcome::Answer(answer)) => {
                assert_eq!((answer.status, &answer.value()["code"]), (status, &json!(2)), "{body}");
            }
            other => assert_eq!((other, status), (None, 0), "{body}"),
        }
    }
    let both = bench.send_as("b", "POST", "/v3/watch", br#"{"create_request":{},"cancel_request":{}}"#.to_vec());
    assert_eq!(bench.answer(both).status, 501);
}
