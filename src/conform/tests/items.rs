//! Indexes of nodes, services and checks (C-INV-17 to C-INV-19, C-TXN-10, C-TXN-11), in what a real Consul 1.8.7 has answered.

use fencepost_conform::{Objection, RECORDED, judge, read};
use serde_json::{Value, json};

/// The episode of the recorded answers that is about them: its head and its lines.
fn recorded() -> (String, Vec<Value>) {
    let lines: Vec<&str> = RECORDED.lines().collect();
    let starts = |line: &&str| line.starts_with(r#"{"consul""#);
    let last = lines.iter().rposition(starts).expect("a head");
    let lines_of_it = lines[last + 1..].iter().map(|line| serde_json::from_str(line).expect("a line"));
    (lines[last].to_owned(), lines_of_it.collect())
}

fn is_impossible(head: &str, lines: &[Value]) -> bool {
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    let episodes = read(&format!("{head}\n{}\n", text.join("\n"))).expect("a log");
    match judge(&episodes, None) {
        Ok(_) => false,
        Err(Objection::Impossible(_)) => true,
        Err(undecided) => panic!("{undecided}"),
    }
}

fn answer(line: &Value) -> Value {
    serde_json::from_str(line["answer"].as_str().unwrap_or_default()).unwrap_or_default()
}

/// A line with another answer.
fn with(line: &Value, status: u16, answer: &Value) -> Value {
    let mut altered = line.clone();
    (altered["status"], altered["answer"]) = (json!(status), json!(answer.to_string()));
    altered
}

/// Every place in an answer that is called like this.
fn places(value: &Value, name: &str, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(field, value)| {
            let here = format!("{at}/{field}");
            if field == name && value.is_u64() {
                found.push(here.clone());
            }
            places(value, name, &here, found);
        }),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(place, value)| places(value, name, &format!("{at}/{place}"), found));
        }
        _ => {}
    }
}

#[test]
fn c_txn_10_every_altered_answer_about_an_index_is_found_out() {
    let (head, lines) = recorded();
    assert!(lines.len() > 40 && !is_impossible(&head, &lines));
    let mut altered: Vec<(usize, Value)> = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        let said = answer(line);
        if line["url"] == "/v1/txn" {
            // What was done was not, and the other way round.
            let stale = json!({"Results": null, "Errors": [{"OpIndex": 0, "What": "failed to set node \"x\", index is stale"}]});
            let is_done = line["status"] == 200;
            altered.push((
                place,
                if is_done {
                    with(line, 409, &stale)
                } else {
                    with(line, 200, &json!({"Results": [], "Errors": null}))
                },
            ));
        }
        if line["url"].as_str().is_some_and(|url| url.starts_with("/v1/kv/")) {
            continue;
        }
        // An index is the one before or the one after of those that are shown.
        let mut indexes = Vec::new();
        places(&said, "ModifyIndex", "", &mut indexes);
        places(&said, "CreateIndex", "", &mut indexes);
        for index in indexes {
            let other = said.pointer(&index).and_then(Value::as_u64).expect("a number");
            for wrong in [other - 1, other + 1] {
                let mut said = said.clone();
                *said.pointer_mut(&index).expect("it is there") = json!(wrong);
                altered.push((place, with(line, 200, &said)));
            }
        }
    }
    let survives = |(place, line): &&(usize, Value)| {
        let mut lines = lines.clone();
        lines[*place] = line.clone();
        !is_impossible(&head, &lines)
    };
    let survivors: Vec<&(usize, Value)> = altered.iter().filter(survives).collect();
    assert!(altered.len() > 100, "{}", altered.len());
    assert!(survivors.is_empty(), "{} of {}: {survivors:?}", survivors.len(), altered.len());
}

/// Seen on the real agent, in a run that was recorded: the index of the node had not been told, and the answer says that it is another one.
#[test]
fn c_txn_10_an_index_that_an_answer_calls_stale_is_not_the_present_one() {
    let register = json!({"method": "PUT", "url": "/v1/catalog/register", "status": 200, "answer": "true",
        "body": json!({"Node": "n1", "Address": "127.0.0.1"}).to_string()});
    let key = json!({"OpIndex": 0, "What": "failed to set key \"k\", index is stale"});
    let node = json!({"OpIndex": 1, "What": "failed to set node \"n1\", index is stale"});
    let judged = |index: u64, errors: &[&Value]| {
        let node = json!({"Node": "n1", "Address": "127.0.0.2", "ModifyIndex": index});
        let kv = json!({"Verb": "cas", "Key": "k", "Value": "", "Index": 3});
        let items = json!([{"KV": kv}, {"Node": {"Verb": "cas", "Node": node}}]);
        let answer = json!({"Errors": errors, "Results": null}).to_string();
        let line =
            json!({"method": "PUT", "url": "/v1/txn", "body": items.to_string(), "status": 409, "answer": answer});
        judge(&read(&format!("{{\"consul\":\"1.8.7\"}}\n{register}\n{line}\n")).expect("a log"), None)
    };
    for index in [2, 1_000, 1 << 60] {
        let possible = judged(index, &[&key, &node]);
        assert!(possible.is_ok(), "{index}: {possible:?}");
    }
    let open = judged(1_000, &[&key]);
    assert!(matches!(open, Err(Objection::Undecided { .. })), "it may be the present one: {open:?}");
    // No log gets so far: that the node was not refused is impossible.
    let never = judged(1 << 60, &[&key]);
    assert!(matches!(never, Err(Objection::Impossible(_))), "{never:?}");
}

/// What a real agent has answered to transactions that give a node an id, take it away, and look for a node by it.
const NODE_IDS: &str = include_str!("../recorded/node-ids.jsonl");

#[test]
fn c_inv_4_a_transaction_gives_a_node_an_id_and_finds_it_by_that() {
    let lines: Vec<Value> = NODE_IDS.lines().map(|line| serde_json::from_str(line).expect("a line")).collect();
    let (head, lines) = (lines[0].to_string(), &lines[1..]);
    assert!(!is_impossible(&head, lines));
    let mut altered = 0;
    for (place, line) in lines.iter().enumerate() {
        let said = line["answer"].as_str().unwrap_or_default();
        for (from, to) in [
            ("\"ID\":\"2222", "\"ID\":\"3222"),
            ("\"ID\":\"\"", "\"ID\":\"11111111-1111-1111-1111-111111111111\""),
            ("Bad node ID", "Must provide node"),
            ("\"n1\\\" doesn't exist", "\"n9\\\" doesn't exist"),
        ] {
            if said.contains(from) {
                let mut wrong = lines.to_vec();
                wrong[place]["answer"] = json!(said.replace(from, to));
                assert!(is_impossible(&head, &wrong), "line {place}: {to}");
                altered += 1;
            }
        }
    }
    assert_eq!(altered, 7);
}
