//! Transactions, as they are asked for and as they answer.

use super::*;

fn kv(fields: &Value) -> Value {
    json!({ "KV": fields })
}

#[test]
fn c_txn_1_at_most_64_operations_and_no_unknown_fields() {
    let mut talk = Talk::new();
    let many = |count: usize| Value::Array(vec![kv(&json!({"Verb": "get-tree", "Key": "k"})); count]);
    assert_eq!(talk.txn(&many(64)).status, 200);
    assert_eq!(talk.txn(&many(65)).status, 413);
    assert_eq!(talk.txn(&json!([])).status, 200);
    assert_eq!(talk.txn(&json!([kv(&json!({"Verb": "set", "Key": "k", "Colour": 1}))])).status, 400);
    assert_eq!(talk.txn(&json!([{"Session": {}}])).status, 400);
}

#[test]
fn c_txn_4_results_of_each_verb() {
    let mut talk = Talk::new();
    let done = talk.txn(&json!([
        kv(&json!({"Verb": "set", "Key": "k", "Value": "eA=="})),
        kv(&json!({"Verb": "get", "Key": "k"})),
        kv(&json!({"Verb": "check-not-exists", "Key": "other"})),
        kv(&json!({"Verb": "delete", "Key": "k"})),
    ]));
    let results = plain(&done.body)["Results"].clone();
    assert_eq!(results.as_array().unwrap().len(), 2, "a deletion tells nothing: {results}");
    assert_eq!((&results[0]["KV"]["Value"], &results[1]["KV"]["Value"]), (&json!(null), &json!("eA==")));
    let failed =
        talk.txn(&json!([kv(&json!({"Verb": "get", "Key": "none"})), kv(&json!({"Verb": "delete", "Key": "k"}))]));
    assert_eq!(failed.status, 409);
    assert_eq!(
        plain(&failed.body),
        json!({"Results": null, "Errors": [{"OpIndex": 0, "What": "key \"none\" doesn't exist"}]})
    );
}

#[test]
fn c_txn_5_the_words_of_each_failure() {
    let mut talk = Talk::new();
    let (mine, other) = (talk.session(&json!({})), talk.session(&json!({})));
    talk.acquire("held", &mine);
    talk.put("/v1/kv/free", "x");
    for (operation, what) in [
        (json!({"Verb": "lock", "Key": "held", "Session": other}), "failed to lock key \"held\", lock is already held"),
        (json!({"Verb": "lock", "Key": "free", "Session": NOBODY}), "invalid session \"99999999"),
        (json!({"Verb": "lock", "Key": "free"}), "missing session"),
        (json!({"Verb": "unlock", "Key": "free", "Session": mine}), "failed to unlock key \"free\", lock isn't held"),
        (json!({"Verb": "cas", "Key": "free", "Index": 1}), "failed to set key \"free\", index is stale"),
        (json!({"Verb": "delete-cas", "Key": "free", "Index": 1}), "failed to delete key \"free\", index is stale"),
        (json!({"Verb": "get", "Key": "none"}), "key \"none\" doesn't exist"),
        (json!({"Verb": "check-not-exists", "Key": "free"}), "key \"free\" exists"),
        (
            json!({"Verb": "check-session", "Key": "held", "Session": other}),
            "failed session check for key \"held\", current session",
        ),
        (
            json!({"Verb": "check-session", "Key": "none", "Session": other}),
            "failed to check session, key \"none\" doesn't exist",
        ),
        (
            json!({"Verb": "check-index", "Key": "free", "Index": 1}),
            "failed index check for key \"free\", current modify index",
        ),
        (
            json!({"Verb": "check-index", "Key": "none", "Index": 1}),
            "failed to check index, key \"none\" doesn't exist",
        ),
        (json!({"Verb": "nonsense", "Key": "free"}), "unknown KV verb \"nonsense\""),
        (json!({"Verb": "set", "Key": ""}), "Must provide key"),
    ] {
        let failed = talk.txn(&json!([kv(&operation)]));
        let said = plain(&failed.body)["Errors"][0]["What"].clone();
        assert!(
            failed.status == 409 && said.as_str().is_some_and(|said| said.starts_with(what)),
            "{operation}: {said}"
        );
    }
}

#[test]
fn c_txn_7_without_a_verb_that_writes_it_is_not_logged() {
    let mut talk = Talk::new();
    talk.put("/v1/kv/k", "x");
    let before = talk.agent.server().position();
    assert_eq!(talk.txn(&json!([kv(&json!({"Verb": "get", "Key": "k"}))])).class, Class::TxnRead);
    assert_eq!(talk.txn(&json!([kv(&json!({"Verb": "get", "Key": "none"}))])).class, Class::TxnReadFailed);
    assert_eq!(talk.agent.server().position(), before);
    let verb = |subject: &str| json!([{subject: {"Verb": "foo", "Key": "k"}}]);
    assert_eq!(talk.txn(&verb("KV")).class, Class::TxnReadFailed, "an unknown verb is no write of a key");
    for subject in ["Node", "Service", "Check"] {
        let item = json!([{subject: {"Verb": "foo", subject: {subject: "x", "Node": "n", "CheckID": "c"}}}]);
        assert_eq!(talk.txn(&item).class, Class::TxnFailed, "and one of a {subject}");
    }
}

#[test]
fn c_ld_8_a_failed_transaction_leaves_the_lock_delay() {
    let mut talk = Talk::new();
    talk.node("ext", &["c1"]);
    let mine = talk.session(&json!({"Node": "ext", "NodeChecks": ["c1"], "LockDelay": "2s"}));
    talk.acquire("k", &mine);
    let failed = talk.txn(&json!([
        {"Check": {"Verb": "delete", "Check": {"Node": "ext", "CheckID": "c1"}}},
        kv(&json!({"Verb": "check-index", "Key": "k", "Index": 1})),
    ]));
    assert_eq!(failed.class, Class::TxnKeepsDelay);
    assert_eq!(talk.get(&format!("/v1/session/info/{mine}")).class, Class::SessionFound);
    assert_eq!(talk.entry("k")["Session"], json!(mine));
    assert_eq!(talk.acquire("k", &mine).class, Class::AcquireDelayedHolder);
    talk.pass(2);
    assert_eq!(talk.acquire("k", &mine).class, Class::AcquiredEqual);
}

#[test]
fn c_ld_10_a_transaction_frees_a_key_and_locks_it_at_once() {
    let mut talk = Talk::new();
    talk.node("ext", &["c1"]);
    let mine = talk.session(&json!({"Node": "ext", "NodeChecks": ["c1"], "LockDelay": "15s"}));
    let other = talk.session(&json!({}));
    talk.acquire("k", &mine);
    talk.acquire("also", &mine);
    let done = talk.txn(&json!([
        {"Check": {"Verb": "set", "Check": {"Node": "ext", "CheckID": "c1", "Status": "critical"}}},
        kv(&json!({"Verb": "lock", "Key": "k", "Session": other})),
    ]));
    assert_eq!(done.class, Class::TxnFreesAndLocks);
    let entry = talk.entry("k");
    assert_eq!((&entry["Session"], &entry["LockIndex"]), (&json!(other), &json!(2)));
    assert_eq!(talk.acquire("also", &other).class, Class::AcquireDelayed, "other keys are delayed as ever");
}

#[test]
fn c_txn_5_a_name_that_is_new_does_not_move_the_keys_before_it_in_the_list() {
    let mut talk = Talk::new();
    talk.put("/v1/kv/b", "x");
    let both = [kv(&json!({"Verb": "get", "Key": "b"})), kv(&json!({"Verb": "set", "Key": "a", "Value": "eQ=="}))];
    let done = talk.txn(&json!(both));
    assert_eq!(done.status, 200);
    let results = plain(&done.body)["Results"].clone();
    assert_eq!((&results[0]["KV"]["Key"], &results[1]["KV"]["Key"]), (&json!("b"), &json!("a")));
    assert_eq!(talk.entry("a")["Value"], json!("eQ=="));
    // The same for what begins with a prefix, and for a key that is absent.
    let tree = [kv(&json!({"Verb": "get-tree", "Key": "b"})), kv(&json!({"Verb": "set", "Key": "aa"}))];
    assert_eq!(plain(&talk.txn(&json!(tree)).body)["Results"][0]["KV"]["Key"], json!("b"));
    let absent = [kv(&json!({"Verb": "get", "Key": "c"})), kv(&json!({"Verb": "set", "Key": "0"}))];
    assert_eq!(plain(&talk.txn(&json!(absent)).body)["Errors"][0]["What"], json!("key \"c\" doesn't exist"));
}

#[test]
fn c_txn_9_verbs_for_nodes_services_and_checks() {
    let mut talk = Talk::new();
    let node = |verb: &str, name: &str| json!({"Node": {"Verb": verb, "Node": {"Node": name, "Address": "127.0.0.1"}}});
    let service = |verb: &str, on: &str, id: &str| json!({"Service": {"Verb": verb, "Node": on, "Service": {"ID": id, "Service": id}}});
    let check = |verb: &str, on: &str, id: &str| json!({"Check": {"Verb": verb, "Check": {"Node": on, "CheckID": id, "Status": "passing", "ServiceID": "web"}}});
    let mut what = |operations: Value| {
        let answer = talk.txn(&operations);
        let errors = plain(&answer.body)["Errors"].clone();
        errors[0]["What"].as_str().unwrap_or("done").to_owned()
    };
    for (operation, expected) in [
        (node("get", "t"), "node \"t\" doesn't exist"),
        (node("delete", "t"), "done"),
        (node("set", ""), "Must provide node"),
        (node("foo", "t"), "unknown Node verb \"foo\""),
        (service("set", "t", "web"), "Missing node registration"),
        (check("set", "t", "c"), "Missing node registration"),
        (node("set", "t"), "done"),
        (node("get", "T"), "done"),
        (service("get", "t", "web"), "service \"web\" on node \"t\" doesn't exist"),
        (check("set", "t", "c"), "Missing service registration"),
        (
            json!({"Service": {"Verb": "delete", "Node": "t", "Service": {"ID": "web"}}}),
            "Must provide service name with ID",
        ),
        (service("set", "t", "web"), "done"),
        (service("get", "t", "WEB"), "done"),
        (service("foo", "t", "web"), "unknown Service verb \"foo\""),
        (check("get", "t", "c"), "check \"c\" on node \"t\" doesn't exist"),
        (check("set", "t", "c"), "done"),
        (check("get", "t", "C"), "done"),
        (check("foo", "t", "c"), "unknown Check verb \"foo\""),
        (json!({}), "done"),
        (json!({"Node": null}), "done"),
    ] {
        assert_eq!(what(json!([operation])), expected, "{operation}");
    }
    // A service takes its checks along, and what fails undoes it.
    let gone = json!([service("delete", "t", "web"), check("get", "t", "c")]);
    assert_eq!(what(gone), "check \"c\" on node \"t\" doesn't exist");
    assert_eq!(what(json!([check("get", "t", "c")])), "done");
    assert_eq!(what(json!([node("delete", "t"), node("get", "t")])), "node \"t\" doesn't exist");
    assert_eq!(what(json!([node("get", "t"), check("get", "t", "c")])), "done");
    assert_eq!(talk.put("/v1/txn", "null").class, Class::TxnRead);
    assert_eq!(talk.put("/v1/txn", "[{}] and more").class, Class::TxnRead);
}
