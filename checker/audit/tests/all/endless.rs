//! Wrong proofs of promises about endless executions.

use std::collections::BTreeSet;

use fencepost_audit::audit;
use serde_json::{Value, json};

use crate::{accepted, certificate, changed, lines, of_kind, on, refused};

/// A certificate of a promise about endless executions, with one line of its proof changed.
fn with_layer(name: &str, change: impl Fn(&mut Vec<Value>)) -> String {
    changed(&certificate(name), |lines| {
        let endless = of_kind(lines, "endless")[0];
        change(lines[endless]["endless"][2].as_array_mut().expect("layers"));
    })
}

#[test]
fn a_wrong_proof_about_endless_executions_is_refused() {
    let name = "consul-turns";
    assert!(lines(&with_layer(name, |_| {})) == lines(&certificate(name)), "a change of nothing changes nothing");
    refused(&with_layer(name, Vec::clear), "the layers end, and world");
    refused(&with_layer(name, |layers| layers[0]["missed"] = json!([])), "nothing is missed");
    let one = |layers: &mut Vec<Value>| {
        for number in layers[0]["component"].as_array_mut().expect("numbers") {
            *number = if number.is_null() { Value::Null } else { json!(0) };
        }
    };
    refused(&with_layer(name, one), "component 0: ");
    let upside_down = |layers: &mut Vec<Value>| {
        for number in
            layers[0]["component"].as_array_mut().expect("numbers").iter_mut().filter(|number| !number.is_null())
        {
            *number = json!(1_000_000 - number.as_u64().expect("a number"));
        }
        for missed in layers[0]["missed"].as_array_mut().expect("components") {
            missed[0] = json!(1_000_000 - missed[0].as_u64().expect("a number"));
        }
    };
    refused(&with_layer(name, upside_down), "rises to");
    let fewer = |layers: &mut Vec<Value>| {
        let numbers = layers[0]["component"].as_array_mut().expect("numbers");
        *numbers.iter_mut().find(|number| !number.is_null()).expect("one") = Value::Null;
    };
    refused(&with_layer(name, fewer), "a layer numbers other worlds");
    let unfair = |layers: &mut Vec<Value>| {
        for missed in layers[0]["missed"].as_array_mut().expect("components") {
            missed[1] = json!(60_000);
        }
    };
    refused(&with_layer(name, unfair), "what is missed is not fair");
    let none = changed(&certificate(name), |lines| {
        let endless = of_kind(lines, "endless");
        lines.remove(endless[1]);
    });
    refused(&none, "`progress` is promised, and has no proof");
}

/// The worlds of `mutual-exclusion` under a promise that is broken: no numbers make it hold.
#[test]
fn a_promise_that_does_not_hold_has_no_proof() {
    let good = certificate("lease-late-write-fenced");
    let forged = |layers: Value| {
        changed(&good, |lines| {
            let toml = lines[0]["scenario"].as_str().expect("text");
            assert!(toml.contains("mutual-exclusion"));
            lines[0]["scenario"] = json!(toml.replace("mutual-exclusion", "eventually-acquired"));
            let end = lines.pop().expect("an end");
            lines.push(json!({ "class": { "advance": 0 } }));
            if !layers.is_null() {
                lines.push(json!({ "endless": ["eventually-acquired", null, layers] }));
            }
            lines.push(end);
        })
    };
    refused(&forged(Value::Null), "`eventually-acquired` is promised, and has no proof");
    refused(&forged(json!([])), "the layers end, and world");
    let members = accepted(&good).members;
    let all = |missed: Value| forged(json!([{ "component": vec![Some(0); members], "missed": missed }]));
    refused(&all(json!([])), "a layer numbers other worlds than those in which it can stay open");
}

/// A class that no action has is never taken, and proves nothing: one that is no shape, or one that stands there twice.
#[test]
fn a_class_that_no_action_has_is_not_fair() {
    let name = "consul-turns";
    for class in [json!({ "advance": 5 }), json!({ "advance": 0 })] {
        let forged = changed(&certificate(name), |lines| {
            let classes = of_kind(lines, "class");
            assert!(classes.iter().any(|place| lines[*place]["class"] == json!({ "advance": 0 })), "time is fair");
            lines.insert(classes[classes.len() - 1] + 1, json!({ "class": class }));
            for endless in of_kind(lines, "endless") {
                for missed in lines[endless]["endless"][2][0]["missed"].as_array_mut().expect("components") {
                    missed[1] = json!(classes.len());
                }
            }
        });
        refused(&forged, "what is missed is not fair");
    }
}

/// Where wakes are strongly fair, they are enabled in some worlds of a component only, and a second layer looks at the others.
#[test]
fn strong_fairness_needs_layers() {
    let name = "b21-checkpointed";
    let good = certificate(name);
    let endless = of_kind(&lines(&good), "endless")[0];
    let layers = lines(&good)[endless]["endless"][2].as_array().expect("layers").len();
    accepted(&good);
    assert!(layers > 1, "{layers}");
    refused(&with_layer(name, |layers| drop(layers.pop())), "the layers end, and world");
    // Under weak fairness the same is no proof.
    let weak = changed(&good, |lines| {
        let toml = lines[0]["scenario"].as_str().expect("text");
        let toml = toml.replace("strong = [\"wake\"]", "strong = []").replace("weak = [", "weak = [\"wake\", ");
        lines[0]["scenario"] = json!(toml);
    });
    refused(&weak, "is not enabled throughout");
}

/// For each component another class is said to be missed: it is taken there, or not enabled throughout, or not fair.
#[test]
fn another_missed_class_is_refused_or_missed_as_well() {
    let name = "consul-turns";
    let classes = of_kind(&lines(&certificate(name)), "class").len();
    let mut says = BTreeSet::new();
    for class in 0..classes {
        let other = with_layer(name, |layers| {
            for missed in layers[0]["missed"].as_array_mut().expect("components") {
                missed[1] = json!(class);
            }
        });
        if let Err(error) = audit(&other, &on(1)) {
            let error = error.to_string();
            let kinds = ["takes what is missed", "is not enabled throughout"];
            says.insert(kinds.into_iter().find(|kind| error.contains(kind)).unwrap_or_else(|| panic!("{error}")));
        }
    }
    assert_eq!(says.len(), 2, "{says:?}");
}
