//! With which odds commands come up: such that every class of answers does, again and again.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::super::agent_checks::CHECK;
use super::super::guard::MARK;
use super::{AgentAct, At, CHECKS, Command, Content, KEYS, NODES, POOL, PREFIXES, PutCondition, Verb, Who};

/// A command, with odds under which every class of answers comes up.
pub(super) fn command() -> impl Strategy<Value = Command> {
    prop_oneof![
        6 => (0..POOL, good_command()).prop_map(|(place, requested)| Command::Create { place, requested }),
        8 => (0..POOL, requested()).prop_map(|(place, requested)| Command::Create { place, requested }),
        3 => bodies().prop_map(Command::CreateRaw),
        8 => (prop_oneof![2 => Just("info"), 2 => Just("renew"), 1 => Just("destroy")], who())
            .prop_map(|(what, who)| Command::Session(what, who)),
        2 => prop_oneof![Just(None), node().prop_map(Some), Just(Some("Fencepost-N1")), Just(Some("here")), Just(Some(""))]
            .prop_map(Command::Sessions),
        40 => (key(), how(), flags(), content())
            .prop_map(|(key, how, flags, value)| Command::Put { key, how, flags, value }),
        8 => (key(), reading())
            .prop_map(|(key, how)| Command::Get(key, how)),
        9 => (0..PREFIXES.len(), listing()).prop_map(|(prefix, how)| Command::List(prefix, how)),
        5 => (key(), prop::option::of(at())).prop_map(|(key, at)| Command::Delete(key, at)),
        4 => (0..PREFIXES.len()).prop_map(Command::DeleteTree),
        16 => prop::collection::vec(verb(), 0..4).prop_map(Command::Transaction),
        4 => takeover().prop_map(Command::Transaction),
        5 => at_index().prop_map(|verb| Command::Transaction(vec![verb])),
        14 => health(),
        8 => queries(),
        2 => prop::sample::select(&[AgentAct::Register, AgentAct::Pass, AgentAct::Warn, AgentAct::Fail, AgentAct::Deregister][..])
            .prop_map(Command::AgentCheck),
        7 => raw(),
    ]
}

pub(super) fn node() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&NODES[..])
}

pub(super) fn who() -> impl Strategy<Value = Who> {
    prop_oneof![
        36 => (0..POOL).prop_map(Who::Pool),
        3 => (0..POOL).prop_map(Who::Capitals),
        2 => Just(Who::Nobody),
        1 => Just(Who::Malformed),
        1 => Just(Who::Empty),
    ]
}

fn at() -> impl Strategy<Value = At> {
    prop_oneof![5 => Just(At::Present), 2 => Just(At::Zero), 2 => Just(At::Past), 1 => Just(At::Future)]
}

pub(super) fn how() -> impl Strategy<Value = PutCondition> {
    prop_oneof![
        6 => Just(PutCondition::Plain),
        8 => at().prop_map(PutCondition::Cas),
        20 => who().prop_map(PutCondition::Acquire),
        7 => who().prop_map(PutCondition::Release),
        1 => Just(PutCondition::Both),
        1 => Just(PutCondition::NotANumber),
    ]
}

/// Most requests are about few keys.
pub(super) fn key() -> impl Strategy<Value = usize> {
    prop_oneof![9 => 0..3_usize, 2 => 3..KEYS.len()]
}

fn reading() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        12 => Just(""),
        4 => Just("raw"),
        2 => Just("consistent"),
        2 => Just("stale"),
        1 => Just("cached"),
        1 => prop::sample::select(&["cached&consistent", "cached&stale", "raw=false", "raw&index=0&wait=5s"][..]),
    ]
}

fn flags() -> impl Strategy<Value = Option<&'static str>> {
    let unusual = ["18446744073709551615", "18446744073709551616", "0", "007", "4294967296", "x", "-1", "1.5", ""];
    prop_oneof![16 => Just(None), 2 => Just(Some("7")), 3 => prop::sample::select(unusual.map(Some).to_vec())]
}

pub(super) fn content() -> impl Strategy<Value = Content> {
    prop_oneof![
        3 => Just(Content::Empty),
        8 => Just(Content::Text("x")),
        1 => Just(Content::Text("another value")),
        1 => Just(Content::Bytes),
    ]
}

fn listing() -> impl Strategy<Value = &'static str> {
    prop::sample::select(
        &[
            "recurse",
            "recurse",
            "recurse&raw",
            "recurse&consistent",
            "keys",
            "keys&separator=/",
            "keys&seperator=/",
            "recurse&stale&consistent",
            "recurse&index=x",
            "recurse&wait=x",
            "recurse&cached",
            "keys&cached&consistent",
            "keys&separator=b",
            "keys&separator=/b/",
            "recurse&keys",
        ][..],
    )
}

/// What a session is asked for that can be had.
pub(super) fn good_command() -> impl Strategy<Value = Value> {
    let checks = prop::sample::select(vec![json!([]), json!(["c1"]), json!(["c1"])]);
    let behavior = prop_oneof![3 => Just("release"), 1 => Just("delete")];
    let delay = prop::sample::select(&["0s", "0s", "20s", "120s"][..]);
    (node(), checks, behavior, delay).prop_map(
        |(node, checks, behavior, delay)| json!({"Name": MARK, "Node": node, "NodeChecks": checks, "Behavior": behavior, "LockDelay": delay}),
    )
}

/// Operations that end sessions by a check, and then lock a key, or fail. C-LD-8, C-LD-10.
fn takeover() -> impl Strategy<Value = Vec<Verb>> {
    let as_verb = |name: &'static str| move |verb: Verb| Verb { verb: name, ..verb };
    let ends = verb().prop_map(|verb| Verb { verb: "check set", check: (verb.check.0, "c1", "critical"), ..verb });
    let then = prop_oneof![
        verb().prop_map(as_verb("lock")),
        verb().prop_map(|verb| Verb { verb: "check-index", at: At::Past, ..verb }),
    ];
    (ends, then).prop_map(|(ends, then)| vec![ends, then])
}

/// What a session is asked for, mostly what makes sense.
fn requested() -> impl Strategy<Value = Value> {
    let node = prop_oneof![
        8 => Just(Some(json!("fencepost-n1"))),
        4 => Just(Some(json!("fencepost-n2"))),
        4 => Just(None),
        1 => Just(Some(json!("Fencepost-N1"))),
        1 => Just(Some(json!("nobody"))),
        1 => Just(Some(json!(""))),
    ];
    let checks = prop::sample::select(vec![
        json!({"NodeChecks": []}),
        json!({"Checks": []}),
        json!({"NodeChecks": ["c1"]}),
        json!({"NodeChecks": ["C1"]}),
        json!({"NodeChecks": ["c1", "c2"]}),
        json!({"NodeChecks": ["c3"]}),
        json!({"NodeChecks": [], "ServiceChecks": [{"ID": "c3"}]}),
        json!({"NodeChecks": ["c1", "c1"]}),
        json!({"NodeChecks": null}),
        json!({"Checks": ["c1"]}),
        json!({"Checks": ["c1"], "NodeChecks": []}),
        json!({"Checks": ["c2"], "NodeChecks": ["c1"]}),
        json!({"Checks": [], "NodeChecks": ["c1"]}),
        json!({"Checks": ["serfHealth"], "NodeChecks": ["c2"]}),
        json!({}),
        json!({"NodeChecks": ["nothing"]}),
        json!({"NodeChecks": [CHECK]}),
        json!({"NodeChecks": [CHECK]}),
        json!({"NodeChecks": [CHECK, "serfHealth"]}),
        json!({"NodeChecks": [], "ServiceChecks": [{"ID": ""}]}),
        json!({"NodeChecks": [], "ServiceChecks": [{"id": "C3"}]}),
        json!({"NodeChecks": [], "ServiceChecks": [null]}),
        json!({"NodeChecks": [], "ServiceChecks": ["c3"]}),
        json!({"NodeChecks": [null]}),
        json!({"NodeChecks": ["c1", null]}),
        json!({"NodeChecks": ["c1"], "Checks": [null]}),
    ]);
    let behavior = prop_oneof![
        6 => Just(None),
        3 => Just(Some(json!("delete"))),
        2 => Just(Some(json!("release"))),
        1 => Just(Some(json!(""))),
        1 => Just(Some(json!("Delete"))),
    ];
    // Nothing between 1 us and 15 s: such a delay could be over, or not, when the next command arrives.
    let delay = prop_oneof![
        8 => Just(Some(json!("0s"))),
        6 => Just(None),
        2 => prop::sample::select(vec![
            json!(0), json!(15), json!(999), json!(1000), json!(0.5), json!(15.5), json!(-1), json!("-1s"), json!("-10s"),
            json!("999ns"), json!("1us"), json!("120s"), json!(15_000_000_000_u64), json!(true), json!({}), json!(null),
        ])
        .prop_map(Some),
        1 => prop::sample::select(vec![json!(""), json!("15"), json!("soon")]).prop_map(Some),
    ];
    let ttl = prop_oneof![
        12 => Just(None),
        3 => prop::sample::select(vec![json!("3600s"), json!("24h"), json!("0s"), json!("0"), json!("1h30m")]).prop_map(Some),
        1 => prop::sample::select(vec![json!("10"), json!("24h1ns"), json!("1ms"), json!("-20s"), json!("x")]).prop_map(Some),
    ];
    (node, checks, behavior, delay, ttl).prop_map(|(node, checks, behavior, delay, ttl)| {
        let mut requested = checks.as_object().cloned().unwrap_or_else(Map::new);
        let name = Some(json!(MARK));
        let fields = [("Name", name), ("Node", node), ("Behavior", behavior), ("LockDelay", delay), ("TTL", ttl)];
        requested.extend(fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        Value::Object(requested)
    })
}

/// Bodies that say something about how bodies are read. C-SES-2, C-SES-3.
fn bodies() -> impl Strategy<Value = &'static str> {
    prop::sample::select(
        &[
            "",
            "{}",
            "null",
            "[]",
            "{",
            r#"{"TTL": 15}"#,
            r#"{"Name": 5}"#,
            r#"{"name": "fencepost", "NODECHECKS": []}"#,
            r#"{"Name": "fencepost", "Unknown": 1} and more"#,
            r#"{"Name": "fencepost", "ID": "11111111-2222-3333-4444-555555555555", "CreateIndex": 3}"#,
            r#"{"NodeChecks": "c1"}"#,
        ][..],
    )
}

fn verb() -> impl Strategy<Value = Verb> {
    let verbs = prop_oneof![
        3 => Just("set"),
        3 => Just("cas"),
        6 => Just("lock"),
        3 => Just("unlock"),
        2 => Just("get"),
        1 => Just("get-tree"),
        2 => Just("check-index"),
        3 => Just("check-session"),
        1 => Just("check-not-exists"),
        1 => Just("delete"),
        1 => Just("delete-tree"),
        1 => Just("delete-cas"),
        3 => Just("check set"),
        1 => Just("check delete"),
        1 => Just("check get"),
        1 => prop::sample::select(&["node set", "node get", "node delete"][..]),
        1 => prop::sample::select(&["service set", "service get", "service delete"][..]),
        3 => prop::sample::select(&["node cas", "service cas", "check cas", "check cas"][..]),
        2 => prop::sample::select(&["node delete-cas", "service delete-cas", "check delete-cas"][..]),
        1 => Just("nonsense"),
    ];
    let on = prop_oneof![
        12 => node(),
        // In other letters, and one that is mostly not there.
        1 => Just("Fencepost-N1"),
        1 => Just("fencepost-n3"),
    ];
    let check = (
        on,
        prop::sample::select(&CHECKS[..2]),
        prop::sample::select(&["critical", "passing", "warning", "maintenance", ""][..]),
    );
    let flags = prop_oneof![4 => Just(0), 1 => Just(7)];
    (verbs, key(), who(), at(), content(), flags, check, prop::bool::weighted(0.3)).prop_map(
        |(verb, key, who, at, value, flags, check, is_other)| Verb {
            verb,
            key,
            who,
            at,
            value,
            flags,
            check,
            is_other,
        },
    )
}

/// A node, a service or a check that is set or removed if it is at an index. C-TXN-10.
fn at_index() -> impl Strategy<Value = Verb> {
    let verbs = prop::sample::select(
        &[
            "node cas",
            "service cas",
            "check cas",
            "check cas",
            "node delete-cas",
            "service delete-cas",
            "check delete-cas",
        ][..],
    );
    (verb(), verbs).prop_map(|(verb, name)| Verb { verb: name, ..verb })
}

fn health() -> impl Strategy<Value = Command> {
    let status = prop_oneof![
        6 => Just(Some("passing")),
        2 => Just(Some("warning")),
        1 => prop::sample::select(&[Some("maintenance"), Some("Critical"), Some("")][..]),
        1 => Just(Some("critical")),
        1 => Just(None),
    ];
    let check = prop_oneof![
        4 => (prop::sample::select(&CHECKS[..2]), status.clone(), Just(false)).prop_map(Some),
        2 => (Just("c3"), status, Just(true)).prop_map(Some),
        1 => Just(None),
    ];
    prop_oneof![
        18 => (node(), any::<bool>(), check).prop_map(|(node, service, check)| Command::Register { node, service, check }),
        2 => (prop_oneof![5 => node(), 1 => Just("Fencepost-N1")],
              prop::sample::select(&["11111111-1111-1111-1111-111111111111"][..]))
            .prop_map(|(node, id)| Command::Identify { node, id }),
        1 => (node(), prop::sample::select(&CHECKS[..])).prop_map(|(node, check)| Command::Deregister {
            node, service: None, check: Some(check)
        }),
        1 => node().prop_map(|node| Command::Deregister { node, service: Some("svc"), check: None }),
        1 => node().prop_map(|node| Command::Deregister { node, service: None, check: None }),
        1 => Just(Command::Deregister { node: "nobody", service: None, check: None }),
        2 => node().prop_map(Command::Health),
        2 => prop_oneof![8 => node(), 1 => Just("Fencepost-N2"), 1 => Just("fencepost-n3"), 1 => Just("here")]
            .prop_map(Command::Node),
    ]
}

fn queries() -> impl Strategy<Value = Command> {
    let name = || prop::sample::select(&["", "fencepost-one", "fencepost-two", "Fencepost-One"][..]);
    let session = || prop::option::weighted(0.8, who());
    prop_oneof![
        5 => (0..POOL, name(), session()).prop_map(|(place, name, session)| Command::Query { place, name, session }),
        3 => (0..POOL, name(), session()).prop_map(|(place, name, session)| Command::Requery { place, name, session }),
        3 => (0..POOL).prop_map(|place| Command::OneQuery("GET", place)),
        1 => (0..POOL).prop_map(|place| Command::OneQuery("DELETE", place)),
        1 => Just(Command::Queries),
    ]
}

fn raw() -> impl Strategy<Value = Command> {
    let fixed = &[
        ("PUT", "/v1/kv//lead", "x"),
        ("POST", "/v1/kv/lead", "x"),
        ("POST", "/v1/session/create", ""),
        ("GET", "/v1/kv/", ""),
        ("PUT", "/v1/kv/", "x"),
        ("DELETE", "/v1/kv/", ""),
        ("DELETE", "/v1/kv/lead?recurse&cas=1", ""),
        ("DELETE", "/v1/kv/lead?cas=x", ""),
        ("GET", "/v1/kv/?keys", ""),
        ("PUT", "/v1/txn", "{}"),
        ("PUT", "/v1/txn", r#"[{"KV":{"Verb":"set","Key":"lead","Unknown":1}}]"#),
        ("PUT", "/v1/txn", r#"[{"KV":{"Verb":"set","Key":""}}]"#),
        ("PUT", "/v1/catalog/register", r#"{"Node":"fencepost-n1"}"#),
        ("PUT", "/v1/catalog/deregister", "{}"),
        ("PUT", "/v1/catalog/register", r#"{"Node":"fencepost-n1","Address":"127.0.0.1","ID":"zzz"}"#),
        ("PUT", "/v1/catalog/register", r#"{"Node":"fencepost-n1","Address":"127.0.0.1","Service":{}}"#),
        ("PUT", "/v1/catalog/register", r#"{"Node":"fencepost-n1","Address":"127.0.0.1","Service":{"ID":"svc"}}"#),
        (
            "PUT",
            "/v1/catalog/register",
            r#"{"Node":"fencepost-n1","Address":"127.0.0.1","NodeMeta":{"b":"1","a":"2"}}"#,
        ),
        ("GET", "/v1/catalog/node/", ""),
        ("GET", "/v1/catalog/node/fencepost-n1?dc=nowhere", ""),
        ("GET", "/v1/catalog/node/fencepost-n1?cached&consistent", ""),
        ("GET", "/v1/nothing/here", ""),
        ("OPTIONS", "/v1/kv/lead", ""),
        ("OPTIONS", "/v1/nothing/here", ""),
        ("PUT", "/v1/kv/lead?flags=%2B1", "x"),
        ("PUT", "/v1/kv/lead?cas=%2B0", "x"),
        ("GET", "/v1/kv/lead?index=%2B1", ""),
        ("GET", "/v1/kv/?ns=x", ""),
        ("GET", "/v1/kv/lead?ns=", ""),
        ("PUT", "/v1/kv/lead?ns=x&flags=x", "x"),
        ("PUT", "/v1/session/create?ns=x", "["),
        ("GET", "/v1/query?ns=x", ""),
        ("PUT", "/v1/kv/lead?dc=nowhere", "x"),
        ("GET", "/v1/session/list?dc=nowhere", ""),
        ("PUT", "/v1/session/create?dc=nowhere", r#"{"TTL": "x"}"#),
        ("PUT", "/v1/txn?dc=nowhere", "[]"),
        ("PUT", "/v1/catalog/register", r#"{"Node":"fencepost-n1","Address":"127.0.0.1","Datacenter":"nowhere"}"#),
        (
            "PUT",
            "/v1/catalog/register",
            r#"{"Node":"fencepost-n1","Address":"127.0.0.1","Check":{"Node":"fencepost-n2","CheckID":"c1"}}"#,
        ),
        (
            "PUT",
            "/v1/catalog/register",
            r#"{"Node":"fencepost-n1","Address":"127.0.0.1","Check":{"Status":"passing"}}"#,
        ),
        (
            "PUT",
            "/v1/catalog/register",
            r#"{"node":"fencepost-n2","address":"127.0.0.1","check":{"checkid":"C1","status":"passing"}} and more"#,
        ),
        ("GET", "/v1/session/list?cached", ""),
        ("GET", "/v1/session/node/fencepost-n1?cached&consistent", ""),
        ("GET", "/v1/health/node/fencepost-n1?cached", ""),
        ("GET", "/v1/query/zzz", ""),
        ("PUT", "/v1/query/zzz", "{}"),
        ("PUT", "/v1/query/zzz", "{"),
        ("DELETE", "/v1/query/zzz", ""),
        ("GET", "/v1/query/FENCEPOST-one/execute", ""),
        ("GET", "/v1/query/zzz/explain", ""),
        ("PUT", "/v1/query/zzz/execute", ""),
        ("PUT", "/v1/txn", r#"[{"Check":{"Verb":"cas","Check":{"Node":"fencepost-n1","Status":"passing"}}}]"#),
        ("PUT", "/v1/txn", r#"[{"Service":{"Verb":"set","Node":"fencepost-n1","Service":{}}}]"#),
        ("PUT", "/v1/txn", r#"[{"Node":{"Verb":"cas","Node":{"Node":"fencepost-n1","ModifyIndex":-1}}}]"#),
        ("PUT", "/v1/txn", "null"),
        ("PUT", "/v1/txn", "[{}] and more"),
        ("PUT", "/v1/txn", r#"[{"Session":{"Verb":"delete","Session":{"ID":"x"}}}]"#),
        ("PUT", "/v1/txn", r#"[{"Node":{"Verb":"set","Node":{}}},{"KV":{"Verb":"get","Key":""}}]"#),
        ("PUT", "/v1/txn", r#"[{"Service":{"Verb":"delete","Node":"fencepost-n1","Service":{"ID":"svc"}}}]"#),
        ("PUT", "/v1/txn", r#"[{"Service":{"Verb":"foo","Node":"fencepost-n1","Service":{"Service":"svc"}}}]"#),
        ("PUT", "/v1/txn", r#"[{"Node":{"Verb":"foo","Node":{"Node":"x"}}},{"Check":{"Verb":"foo"}}]"#),
    ];
    prop_oneof![
        60 => prop::sample::select(&fixed[..]).prop_map(|(method, url, body)| Command::Raw(method, url, body)),
        1 => (key(), prop::sample::select(&[524_288_usize, 524_289][..])).prop_map(|(key, size)| Command::Large(key, size)),
        2 => (key(), prop::sample::select(&[64_usize, 65][..])).prop_map(|(key, count)| Command::Many(key, count)),
    ]
}
