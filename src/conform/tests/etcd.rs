//! The model of etcd's store against logs, and against a live server where there is one.

use std::env;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use fencepost_conform::etcd::{
    EtcdExchange, EtcdLog, EtcdOrder, EtcdPace, EtcdPossible, EtcdReply, EtcdScript, EtcdServer, EtcdVerdict, RECORDED,
    RECORDED_LATER, TRIES, crowd, hunt, judge as judge_late, order, read, shrink, write, write_crowds,
};
use fencepost_conform::{AnswerClass, ConformError, LATENESS, Removal};
use fencepost_etcd::mvcc::{DeleteRange, EtcdAnswer, EtcdCall, EtcdRefusal, Put};
use serde_json::json;

/// The server that runs for these tests, if there is one.
fn server() -> Option<EtcdServer> {
    let Ok(address) = env::var("FENCEPOST_ETCD") else {
        // Written to the terminal even if the test harness keeps what is printed.
        let _ = io::stderr().write_all(
            b"skipped: no live etcd server; install etcd-server, start it and set FENCEPOST_ETCD=http://127.0.0.1:2379 (.ci/run does)\n",
        );
        return None;
    };
    Some(EtcdServer::connect(&address).expect("a server"))
}

/// One test at a time has the server to itself.
static ALONE: Mutex<()> = Mutex::new(());

fn judge(log: &EtcdLog) -> EtcdVerdict {
    judge_late(log, LATENESS)
}

#[test]
fn the_recorded_answers_of_a_real_server_are_possible() {
    let EtcdVerdict::Possible(EtcdPossible { tally, .. }) = judge(&read(RECORDED).expect("a log")) else {
        panic!("impossible")
    };
    assert!(tally.total() >= 2_000, "{}", tally.total());
    let never: Vec<_> = tally.iter().filter(|(_, count)| *count == 0).map(|(class, _)| class.text()).collect();
    // Calls one after the other have nothing between a look and the watch after it.
    let between = "lock or campaign: compacted before its watch begins";
    assert_eq!(never, ["lock: its key is gone after the wait (since 3.5)", between]);
}

/// A line of a log whose refusal, if it is one, is written as 3.4 writes it: its message a second time, as `error`, and 412 for a precondition.
fn refused_as_3_4_does(line: &str) -> String {
    let mut entry: serde_json::Value = serde_json::from_str(line).expect("a line of a log");
    if let Some(body) = entry.pointer_mut("/reply/body").and_then(serde_json::Value::as_object_mut)
        && let Some(message) = body.get("message").cloned()
    {
        body.insert("error".to_owned(), message);
        if entry.pointer("/reply/body/code") == Some(&9.into()) {
            entry["reply"]["status"] = 412.into();
        }
    }
    entry.to_string()
}

#[test]
fn the_recorded_answers_of_a_later_server_are_possible_as_those_of_its_version_only() {
    let EtcdVerdict::Possible(EtcdPossible { tally, at_the_same_time, .. }) =
        judge(&read(RECORDED_LATER).expect("a log"))
    else {
        panic!("impossible")
    };
    let count = |text: &str| tally.iter().find(|(class, _)| class.text() == text).map(|(_, count)| count);
    assert_eq!((tally.total(), at_the_same_time), (692, 316));
    assert_eq!(count("lock: its key is gone after the wait (since 3.5)"), Some(3));
    // 3.4.23 writes refusals in another way (E-GEN-7); with that, the first answer that it does not give is that of a lock.
    let earlier = RECORDED_LATER.replace(r#""etcd":"3.5.16""#, r#""etcd":"3.4.23""#);
    let EtcdVerdict::Impossible { line: 5, exchange } = judge(&read(&earlier).expect("a log")) else {
        panic!("possible")
    };
    assert_eq!(exchange.reply.body["message"], "etcdserver: mvcc: required revision is a future revision");
    let refused = earlier.lines().map(refused_as_3_4_does).collect::<Vec<_>>().join("\n");
    let EtcdVerdict::Impossible { line: 500, exchange } = judge(&read(&refused).expect("a log")) else {
        panic!("possible")
    };
    assert_eq!(exchange.reply.body["message"], "mutex: session is expired");
}

#[test]
fn a_recorded_answer_that_is_changed_is_impossible_and_the_line_is_named() {
    let lines: Vec<&str> = RECORDED.lines().take(300).collect();
    let mut tried = 0;
    for (place, line) in lines.iter().enumerate() {
        let changed = match line {
            line if line.contains(r#""count":"1""#) => line.replacen(r#""count":"1""#, r#""count":"2""#, 1),
            line if line.contains(r#""succeeded":true"#) => {
                line.replacen(r#""succeeded":true"#, r#""succeeded":false"#, 1)
            }
            line if line.contains(r#""status":200"#) => line.replacen(r#""status":200"#, r#""status":404"#, 1),
            _ => continue,
        };
        let mut log = lines.clone();
        log[place] = &changed;
        tried += 1;
        let judged = judge(&read(&log.join("\n")).expect("a log"));
        assert!(matches!(judged, EtcdVerdict::Impossible { line, .. } if line == place + 1), "{changed}");
    }
    assert!(tried > 150, "{tried}");
}

#[test]
fn e_gen_7_a_refusal_has_the_status_and_the_second_message_of_its_version() {
    let cases = [
        ("3.4.23", 412, true, true),
        ("3.4.23", 400, true, false),
        ("3.4.23", 412, false, false),
        ("3.5.16", 400, true, true),
        ("3.5.16", 400, false, true),
        ("3.5.16", 412, true, false),
    ];
    for (version, status, repeats, is_alike) in cases {
        let why = "etcdserver: lease already exists";
        let mut body = json!({ "code": 9, "message": why });
        if repeats {
            body["error"] = json!(why);
        }
        let exchange = EtcdExchange {
            version: version.parse().expect("a version"),
            call: EtcdCall::Grant { id: 7, ttl: 60 },
            reply: EtcdReply { status, body },
            answer: EtcdAnswer::Refused(EtcdRefusal::LeaseExists),
        };
        assert_eq!(exchange.is_alike(), is_alike, "{version} {status} {repeats}");
    }
}

#[test]
fn an_answer_without_a_server_is_no_log_and_neither_is_a_server_without_an_answer() {
    let first = RECORDED.lines().next().expect("a line");
    for text in ["", first] {
        assert!(read(text).expect_err("no log").to_string().contains("no call"));
    }
    let second = RECORDED.lines().nth(1).expect("a line");
    assert_eq!(read(second).expect_err("no log").line, 1);
}

#[test]
fn a_live_etcd_answers_as_the_model_says() {
    let Some(server) = server() else { return };
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    server.make_room(Removal::Nothing).expect("an empty server");
    let number = |name: &str, without: u64| env::var(name).map_or(without, |text| text.parse().expect("a number"));
    let mut sequences = Vec::new();
    let found = hunt(&server, number("FENCEPOST_SEED", 1), number("FENCEPOST_COMMANDS", 2_000), &mut |sequence| {
        sequences.push(sequence.clone());
    });
    let found = found.expect("a server");
    if let Some(sequence) = &found.difference {
        for exchange in &sequence.exchanges {
            println!("{:?}\n    {} {}", exchange.call, exchange.reply.status, exchange.reply.body);
        }
        panic!("the model says {:?}", sequence.exchanges.last().map(|exchange| exchange.expected()));
    }
    println!("{}\nnever:\n{}", found.tally.table(false), found.tally.never());
    // What a run writes is possible when it is read again.
    let text = write(&sequences);
    assert_eq!(
        judge(&read(&text).expect("a log")),
        EtcdVerdict::Possible(EtcdPossible { tally: found.tally, ..EtcdPossible::default() })
    );
    if let Ok(file) = env::var("FENCEPOST_RECORD") {
        std::fs::write(file, text).expect("a file");
    }
    server.make_room(Removal::Nothing).expect("nothing is left");
    refuses_what_is_in_use(&server);
}

/// Calls at the same time, and leases that end by themselves: `FENCEPOST_RECORD_CROWDS` writes down what was said.
#[test]
fn a_live_etcd_answers_crowds_in_some_order() {
    let Some(server) = server() else { return };
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let number = |name: &str, without: u64| env::var(name).map_or(without, |text| text.parse().expect("a number"));
    let mut crowds = Vec::new();
    let (busy, queues) = (number("FENCEPOST_CROWDS", 60), number("FENCEPOST_QUEUES", 10));
    for (pace, count) in [(EtcdPace::Busy, busy), (EtcdPace::Slow, 3), (EtcdPace::Queues, queues)] {
        for place in 0..count {
            let script = EtcdScript::drawn(number("FENCEPOST_SEED", 1), place, pace);
            let crowd = crowd(&server, &script).expect("a server");
            let found = order(&crowd, LATENESS);
            let text = write_crowds(std::slice::from_ref(&crowd));
            assert!(matches!(found, EtcdOrder::Possible { .. }), "{found:?}\n{text}");
            crowds.push(crowd);
        }
    }
    if let Ok(file) = env::var("FENCEPOST_RECORD_CROWDS") {
        std::fs::write(file, write_crowds(&crowds)).expect("a file");
    }
}

/// The difference is in the eye of the judge: it takes every unlock for one.
#[test]
fn a_live_etcd_is_asked_by_ever_smaller_crowds() {
    let Some(server) = server() else { return };
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let unlocks = |call: &EtcdCall| matches!(call, EtcdCall::Unlock { .. });
    let smallest = shrink(&EtcdScript::drawn(1, 0, EtcdPace::Queues), TRIES, &mut |script| {
        let crowd = crowd(&server, script)?;
        Ok::<_, ConformError>(crowd.calls.iter().any(|said| unlocks(&said.call)).then_some(crowd))
    });
    let crowd = smallest.expect("a server").expect("an unlock");
    assert!(crowd.calls.len() == 1 && unlocks(&crowd.calls[0].call), "{crowd:?}");
    server.make_room(Removal::Nothing).expect("nothing is left");
}

/// A server with another program's key is refused, and so is one with leftovers, unless they may be removed.
fn refuses_what_is_in_use(server: &EtcdServer) {
    let put = |key: &str| EtcdCall::Put(Put { key: key.to_owned(), ..Put::default() });
    server.ask(&put("of-another")).expect("a server");
    for removal in [Removal::Nothing, Removal::Leftovers] {
        let refused = server.make_room(removal).expect_err("another program's key").to_string();
        assert!(refused.contains("1 keys and 0 leases") && refused.contains("--wipe"), "{refused}");
    }
    let delete = DeleteRange { key: "of-another".to_owned(), ..DeleteRange::default() };
    assert_eq!(server.ask(&EtcdCall::Delete(delete)).expect("a server").body["deleted"], "1", "it was left alone");
    server.ask(&put("fencepost/a")).expect("a server");
    let refused = server.make_room(Removal::Nothing).expect_err("leftovers").to_string();
    assert!(refused.contains("--clean"), "{refused}");
    server.make_room(Removal::Leftovers).expect("leftovers may go");
}
