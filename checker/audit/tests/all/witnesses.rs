//! Witnesses that change more than names.

use serde_json::{Value, json};

use crate::{SYMMETRIC, certificate, changed, lines, of_kind, refused};

#[test]
fn a_false_witness_is_refused() {
    let good = certificate("b03-fencing");
    let is_moved = |line: &Value| line["witness"]["shift"] == json!(1);
    let changed_witness = |change: &dyn Fn(&mut Value)| {
        changed(&good, |lines| {
            let witnesses = of_kind(lines, "witness");
            let witness = witnesses.into_iter().find(|place| is_moved(&lines[*place])).expect("time passes");
            change(&mut lines[witness]["witness"]);
        })
    };
    refused(
        &changed_witness(&|witness| witness["shift"] = json!(2)),
        "the witness moves instants back by 2 ticks, and 1 tick passed",
    );
    refused(
        &changed_witness(&|witness| witness["shift"] = json!(0)),
        "the witness moves instants back by 0 ticks, and 1 tick passed",
    );
    // Names are 1, 2, 3 …: one that is 2 or more stands beside a smaller one. Now two indexes, or two calls, have one name.
    for (name, kind) in [("b03-fencing", json!("index")), ("e13-fixed", json!({ "call": 1 }))] {
        let merged = changed(&certificate(name), |lines| {
            let mut merged = 0;
            for witness in of_kind(lines, "witness") {
                for entry in lines[witness]["witness"]["numbers"].as_array_mut().expect("a list") {
                    if entry[0] == kind && entry[2].as_u64().expect("a number") > 1 {
                        entry[2] = json!(1);
                        merged += 1;
                    }
                }
            }
            assert!(merged > 0, "{kind}");
        });
        refused(&merged, "it is a number of something else, or the order changes");
    }
    let zero = changed(&good, |lines| {
        for witness in of_kind(lines, "witness") {
            lines[witness]["witness"]["numbers"] = json!([["index", 1, 0], ["index", 2, 0]]);
        }
    });
    refused(&zero, "it is a number of something else, or the order changes");
}

/// The numbers of a kind that occur as an old name in some witness.
fn renamed(lines: &[Value], kind: &str) -> Vec<Value> {
    let entries = of_kind(lines, "witness").into_iter().flat_map(|place| {
        lines[place]["witness"]["numbers"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|entry| entry[0].clone())
            .collect::<Vec<_>>()
    });
    entries.filter(|among| among.get(kind).is_some()).collect()
}

#[test]
fn a_witness_that_confuses_calls_or_sessions_is_refused() {
    let good = certificate("b03-fencing");
    let all = lines(&good);
    for (kind, says) in [
        ("call", "it is a number of something else, or the order changes"),
        ("counter", "a call has a larger number"),
        ("counter", "it is not world"),
    ] {
        let among = renamed(&all, kind).pop().expect("such numbers change");
        let to = if says.ends_with("world") { 60_000 } else { 0 };
        let confused = changed(&good, |lines| {
            for witness in of_kind(lines, "witness") {
                let numbers = lines[witness]["witness"]["numbers"].as_array_mut().expect("a list");
                numbers.retain(|entry| entry[0] != among);
                numbers.extend((1..20).map(|from| json!([among, from, to])));
            }
        });
        refused(&confused, says);
    }
    // The name is too large for a call.
    let large = changed(&good, |lines| {
        let among = renamed(lines, "call").pop().expect("such numbers change");
        for witness in of_kind(lines, "witness") {
            let numbers = lines[witness]["witness"]["numbers"].as_array_mut().expect("a list");
            numbers.retain(|entry| entry[0] != among);
            numbers.extend((1..20).map(|from| json!([among, from, 1_000_000 + from])));
        }
    });
    refused(&large, "a call has a larger number, so the next call would not be new");
}

#[test]
fn a_witness_by_which_the_wrong_clients_change_places_is_refused() {
    // The first witness with an order has another one, or all have none.
    let ordered = |name: &str, order: Value| {
        changed(&certificate(name), |lines| {
            let witnesses = of_kind(lines, "witness");
            let has_order = |place: &usize| lines[*place]["witness"].get("order").is_some();
            let place = witnesses.iter().copied().find(has_order).unwrap_or(witnesses[1]);
            lines[place]["witness"]["order"] = order;
        })
    };
    let not_alike = "the initial world: by witness 1 clients change places that are not alike";
    for order in [json!([0, 0, 1]), json!([1, 0]), json!([1, 2, 3]), json!([0, 1, 2, 3])] {
        refused(&ordered(SYMMETRIC, order), "clients change places that are not alike");
    }
    for order in [json!([]), json!([0, 1, 2])] {
        refused(&ordered(SYMMETRIC, order), "it is not world");
    }
    // Clients that do not start alike.
    refused(&ordered("lease-late-write-fenced", json!([1, 0])), not_alike);
    // A promise about endless executions.
    refused(&ordered("consul-turns", json!([1, 0])), not_alike);
}
