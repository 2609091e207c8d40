//! A verdict about the clients of semaphores: who held a slot by the coordination entry, and who acted as if.

use fencepost_conform::{Clients, Ending, Kind, Stopped, clients, read};
use serde_json::{Value, json};

use crate::incidents::{A, B, by, create, judged};

const C: &str = "cccccccc-0000-0000-0000-000000000003";
const SESSIONS: [(&str, &str); 3] = [("a", A), ("b", B), ("c", C)];

/// A client writes the coordination entry.
fn entry(client: &str, at: f64, limit: u32, holders: &[&str]) -> Value {
    let holders: serde_json::Map<String, Value> = holders.iter().map(|id| ((*id).to_owned(), true.into())).collect();
    let content = json!({"Limit": limit, "Holders": holders}).to_string();
    by(client, at, "PUT", "/v1/kv/sem/.lock?cas=7", &content, "true")
}

fn contend(client: &str, at: f64, session: &str) -> Value {
    by(client, at, "PUT", &format!("/v1/kv/sem/{session}?acquire={session}"), "", "true")
}

fn renew(client: &str, at: f64, session: &str) -> Value {
    by(client, at, "PUT", &format!("/v1/session/renew/{session}"), "", "[]")
}

fn leave(client: &str, at: f64, session: &str) -> Value {
    by(client, at, "DELETE", &format!("/v1/kv/sem/{session}"), "", "true")
}

/// Three clients with sessions and with keys of their own, and what they do then.
fn three(then: &[Value]) -> Clients {
    let begin = (0..).map(f64::from).zip(SESSIONS).flat_map(|(at, (client, session))| {
        [create(client, at / 10.0, session), contend(client, 0.5 + at / 10.0, session)]
    });
    judged(&begin.chain(then.iter().cloned()).collect::<Vec<_>>())
}

fn sentences(clients: &Clients) -> Vec<&str> {
    clients.findings.iter().map(|finding| finding.sentence.as_str()).collect()
}

#[test]
fn c_sem_3_who_holds_a_slot_is_what_the_entry_says() {
    let clients = three(&[
        entry("a", 1.0, 2, &[A]),
        entry("b", 2.0, 2, &[A, B]),
        by("a", 3.0, "PUT", "/v1/kv/data", "a", "true"),
        entry("a", 4.0, 2, &[B]),
        leave("a", 4.2, A),
        entry("c", 5.0, 2, &[B, C]),
        renew("b", 6.0, B),
        entry("c", 7.0, 2, &[B]),
    ]);
    let told = clients.tenures.iter().map(|slot| (slot.key.as_str(), slot.who(), slot.limit, slot.ending.clone()));
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            ("sem/.lock", "a".to_owned(), Some(2), Ending::Released(11)),
            ("sem/.lock", "b".to_owned(), Some(2), Ending::Open),
            ("sem/.lock", "c".to_owned(), Some(2), Ending::Released(15)),
        ],
        "a key of a session beside the entry is no lock"
    );
    assert_eq!(clients.findings, []);
    assert_eq!(clients.beliefs[0].stopped, Stopped::GaveBack(11));
    assert!(clients.assumptions.iter().any(|text| text.contains("coordination entry")), "{:?}", clients.assumptions);
}

/// Client a holds the only slot of two that it shares with b, does not renew, and is pruned; it goes on.
#[test]
fn c_sem_11_a_client_whose_slot_was_pruned_is_one_too_many() {
    let clients = three(&[
        entry("a", 1.0, 2, &[A]),
        entry("b", 2.0, 2, &[A, B]),
        renew("b", 8.0, B),
        renew("c", 8.2, C),
        renew("b", 16.0, B),
        renew("c", 16.2, C),
        renew("b", 24.0, B),
        entry("c", 25.0, 2, &[B, C]),
        by("a", 30.0, "PUT", "/v1/kv/data", "a", "true"),
        entry("c", 31.0, 2, &[B]),
        renew("b", 32.0, B),
    ]);
    assert_eq!(clients.tenures[0].ending, Ending::Pruned(15));
    assert_eq!(clients.tenures[0].certain(), Some((1_100_000_000, 20_000_000_000)), "C-TTL-2: twice the TTL");
    let kinds: Vec<Kind> = clients.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [Kind::OverLimit(15), Kind::LateWrite(0, 16)]);
    assert_eq!(
        sentences(&clients),
        [
            "a, b and c all took themselves for holders of `sem/.lock` for 5.000 s, from 25.100 s on, and it has 2 slots",
            "a wrote `data` at 30.000 s (line 16), 4.900 s after it had lost `sem/.lock` at the latest",
        ]
    );
}

#[test]
fn a_client_that_reads_that_its_slot_is_gone_and_stops_is_not_blamed() {
    let content = "eyJMaW1pdCI6IDEsICJIb2xkZXJzIjogW119";
    let shown = json!([{
        "LockIndex": 0, "Key": "sem/.lock", "Flags": 0, "Value": content, "CreateIndex": 10, "ModifyIndex": 20
    }]);
    let look = by("a", 24.0, "GET", "/v1/kv/sem?recurse", "", &shown.to_string());
    let clients = three(&[entry("a", 1.0, 1, &[A]), look, entry("b", 25.0, 1, &[B])]);
    assert_eq!(clients.beliefs[0].stopped, Stopped::WasTold(9), "the holders are a list, and it is empty");
    assert_eq!(clients.findings, []);
}

#[test]
fn an_entry_with_more_holders_than_slots_is_named() {
    let clients = three(&[entry("a", 1.0, 1, &[A]), entry("b", 2.0, 1, &[A, B])]);
    let kinds: Vec<Kind> = clients.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [Kind::OverLimit(9)]);
    assert_eq!(sentences(&clients), ["b put 2 holders into `sem/.lock` at 2.000 s (line 9), and it has 1 slot"]);
}

#[test]
fn each_holder_was_promised_the_limit_of_the_entry_that_let_it_in() {
    let lines = [entry("a", 1.0, 1, &[A]), entry("b", 2.0, 2, &[A, B]), renew("b", 3.0, B), renew("a", 4.0, A)];
    let clients = three(&lines);
    let said = "a and b all took themselves for holders of `sem/.lock` for 1.000 s, from 2.100 s on, and it has 1 slot";
    assert_eq!(sentences(&clients), [said]);
    assert_eq!(clients.findings[0].kind, Kind::OverLimit(9));
}

/// Of requests without names it is not known which client sent them: one that takes a session out is taken for the session's own.
#[test]
fn c_sem_7_a_slot_that_an_unnamed_client_gives_back_is_no_longer_held() {
    let mut lines = vec![create("a", 0.0, A), create("b", 0.1, B), contend("a", 0.5, A), contend("b", 0.6, B)];
    let mut in_vain = entry("b", 2.0, 1, &[B]);
    in_vain["answer"] = json!("false");
    lines.extend([entry("a", 1.0, 1, &[A]), in_vain, entry("a", 4.0, 1, &[]), entry("b", 4.5, 1, &[B])]);
    lines.extend([leave("a", 5.0, A), entry("b", 6.0, 1, &[])]);
    lines.iter_mut().for_each(|line| drop(line.as_object_mut().expect("a line").remove("client")));
    let clients = judged(&lines);
    assert_eq!(clients.findings, []);
    let endings: Vec<&Ending> = clients.tenures.iter().map(|slot| &slot.ending).collect();
    assert_eq!(endings, [&Ending::Released(8), &Ending::Released(11)]);
    assert_eq!(clients.beliefs[0].stopped, Stopped::GaveBack(8), "not where another one tried in vain");
}

#[test]
fn c_txn_2_a_transaction_may_write_the_entry() {
    let txn = json!([{"KV": {"Verb": "cas", "Key": "sem/.lock", "Index": 0, "Value": "eyJMaW1pdCI6IDEsICJIb2xkZXJzIjogWyJhYWFhYWFhYS0wMDAwLTAwMDAtMDAwMC0wMDAwMDAwMDAwMDEiXX0="}}]);
    let take = by("a", 1.0, "PUT", "/v1/txn", &txn.to_string(), r#"{"Results": [], "Errors": null}"#);
    let delete = by("operator", 2.0, "DELETE", "/v1/kv/sem?recurse", "", "true");
    let clients = three(&[take, delete]);
    let [slot] = &clients.tenures[..] else { panic!("{:?}", clients.tenures) };
    assert_eq!((slot.session.as_str(), slot.limit, &slot.ending), (A, Some(1), &Ending::Deleted(9)));
}

/// A log that begins in mid-life: client a holds the only slot, as its entry shows.
fn later(lines: &[Value]) -> Clients {
    let head = json!({"consul": "1.8.7", "node": "here", "session_ttl_min": "10s", "begins": "later"});
    let text: Vec<String> = [&head].into_iter().chain(lines).map(Value::to_string).collect();
    clients(&read(&text.join("\n")).expect("a log")[0], &[])
}

#[test]
fn a_slot_from_before_the_log_began_is_judged() {
    // {"Limit": 1, "Holders": ["aaaaaaaa-0000-0000-0000-000000000001"]}
    let content = "eyJMaW1pdCI6IDEsICJIb2xkZXJzIjogWyJhYWFhYWFhYS0wMDAwLTAwMDAtMDAwMC0wMDAwMDAwMDAwMDEiXX0=";
    let shown = json!([{
        "LockIndex": 0, "Key": "sem/.lock", "Flags": 0, "Value": content, "CreateIndex": 10, "ModifyIndex": 20
    }]);
    let look = by("c", 1.0, "GET", "/v1/kv/sem/.lock", "", &shown.to_string());
    let lines = [renew("a", 0.5, A), look, entry("b", 2.0, 1, &[A, B]), renew("b", 3.0, B), renew("a", 4.0, A)];
    let clients = later(&lines);
    let told: Vec<_> = clients.tenures.iter().map(|slot| (slot.who(), slot.began, slot.line)).collect();
    let (first, second) = ((500_000_000, 1_100_000_000), (2_000_000_000, 2_100_000_000));
    assert_eq!(told, [("a".to_owned(), first, 3), ("b".to_owned(), second, 4)]);
    let kinds: Vec<Kind> = clients.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [Kind::OverLimit(4), Kind::OverLimit(4)], "the entry, and the clients");
    assert!(
        clients.assumptions.iter().any(|text| text.contains("first sight of an entry")),
        "{:?}",
        clients.assumptions
    );
    // It gives the slot back, and is not blamed; without a name, it is the session's.
    let mut lines = [lines[1].clone(), entry("a", 1.5, 1, &[]), entry("b", 2.0, 1, &[B])];
    let given_back = later(&lines);
    assert_eq!((given_back.tenures[0].who(), given_back.findings), ("session aaaaaaaa".to_owned(), vec![]));
    assert_eq!(given_back.tenures[0].ended.1, Some(1_600_000_000));
    lines[0] = lines[2].clone();
    assert_eq!(later(&lines[..1]).tenures[0].who(), "session bbbbbbbb", "another client may have written it back");
}
