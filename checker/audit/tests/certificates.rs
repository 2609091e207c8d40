//! Certificates that the checker writes are accepted; and none that has been changed so that it shows nothing.

use std::collections::BTreeSet;
use std::thread;
use std::time::Instant;

use fencepost::checker::{CertificateError, Limits, Options};
use fencepost::model::finding::Finding;
use fencepost::{AnyScenario, Expect, Suite, catalogue};
use fencepost_audit::{AuditError, Audited, audit};
use serde_json::{Value, json};

/// Small scenarios of every service: promises about steps, promises about endless executions, weak and strong fairness, faults, clocks.
const SMALL: [&str; 19] = [
    "lease-late-write",
    "lease-late-write-fenced",
    "b03-fencing",
    "consul-capitals",
    "consul-small-letters",
    "consul-turns",
    "b15-recreate-session",
    "b21-checkpointed",
    "b36-no-fault",
    "f38-closes-connection",
    "ranks-refused",
    "b35-no-expiry",
    "redlock-restart-delayed",
    "copied-lock-heals",
    "ol23-re-read",
    "ol10-restart-unique",
    "e03-longer",
    "e13-fixed",
    "watch-resumes",
];

fn scenario(name: &str) -> Box<dyn AnyScenario> {
    catalogue::all().into_iter().find(|scenario| scenario.name() == name).expect("it is in the catalogue")
}

fn findings(scenario: &dyn AnyScenario) -> Vec<Finding> {
    let outcomes = scenario.check(&Options::default()).expect("no internal error");
    outcomes.into_iter().map(|outcome| outcome.finding).collect()
}

/// The certificate of a scenario, as text.
fn certificate(name: &str) -> String {
    let scenario = scenario(name);
    let mut out = Vec::new();
    let written = scenario.certify(&findings(&*scenario), &Options::default(), &mut out);
    written.unwrap_or_else(|error| panic!("{name}: {error}"));
    String::from_utf8(out).expect("text")
}

fn accepted(text: &str) -> Audited {
    audit(text, None, 1).expect("it is a certificate")
}

#[track_caller]
fn refused(text: &str, says: &str) {
    match audit(text, None, 2) {
        Err(error) => assert!(error.to_string().contains(says), "{error}"),
        Ok(audited) => panic!("accepted:\n{audited}"),
    }
}

/// The lines of a certificate, as values.
fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn text(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Where the lines of a kind are.
fn of_kind(lines: &[Value], kind: &str) -> Vec<usize> {
    (0..lines.len()).filter(|place| lines[*place].get(kind).is_some()).collect()
}

/// A certificate after a change of its lines, with the end that fits.
fn changed(text_before: &str, change: impl FnOnce(&mut Vec<Value>)) -> String {
    let mut lines = lines(text_before);
    change(&mut lines);
    let members = of_kind(&lines, "member");
    let targets = |place: &usize| lines[*place]["member"][4].as_array().expect("targets").len();
    let transitions: usize = members.iter().map(targets).sum();
    let end = of_kind(&lines, "end")[0];
    lines[end] = json!({ "end": [members.len(), transitions] });
    text(&lines)
}

#[test]
fn certificates_of_every_service_are_accepted() {
    for name in SMALL {
        let scenario = scenario(name);
        let text = certificate(name);
        let audited = audit(&text, Some(&scenario.to_toml()), 2).unwrap_or_else(|error| panic!("{name}: {error}"));
        let proven = findings(&*scenario);
        let proven = proven.iter().filter(|finding| finding.verdict.certificate().is_some());
        assert_eq!(audited.promises, proven.map(|finding| finding.property).collect::<Vec<_>>(), "{name}");
        assert_eq!(audited.scenario, name);
        assert!(
            audited.trusted.len() > 7 && audited.members > 1 && audited.transitions >= audited.members - 1,
            "{name}"
        );
    }
}

/// The set is what a search without reductions finds, and one state more where nothing but the last promise is judged.
#[test]
fn the_closed_set_is_what_a_search_without_reductions_counts() {
    for name in ["lease-late-write-fenced", "b03-fencing", "copied-lock-heals", "e03-longer"] {
        let options = Options { symmetry: false, leaves_out_unheard: false, ..Options::default() };
        let outcomes = scenario(name).check(&options).expect("no internal error");
        let states = outcomes[0].finding.states;
        assert_eq!(accepted(&certificate(name)).members as u64, states, "{name}");
    }
}

#[test]
fn a_certificate_is_the_same_each_time_and_audited_alike_on_any_number_of_threads() {
    let text = certificate("lease-late-write-fenced");
    assert_eq!(text, certificate("lease-late-write-fenced"));
    assert_eq!(audit(&text, None, 1), audit(&text, None, 7));
}

#[test]
fn without_a_proof_there_is_no_certificate() {
    let written = |name: &str, findings: &[Finding]| {
        let error =
            scenario(name).certify(findings, &Options::default(), &mut Vec::new()).expect_err("nothing to certify");
        error.to_string()
    };
    let broken = findings(&*scenario("lease-duplicates"));
    assert!(written("lease-duplicates", &broken).contains("none is proven"));
    let mut wanted = broken;
    wanted[0].expect = Expect::Proven;
    assert!(written("lease-duplicates", &wanted).contains("`mutual-exclusion` is violated"));
    let proven = findings(&*scenario("lease-late-write-fenced"));
    let limits = Limits { states: Some(100), depth: None };
    let options = Options { limits, ..Options::default() };
    let cut = scenario("lease-late-write-fenced").certify(&proven, &options, &mut Vec::new()).expect_err("it is cut");
    assert!(cut.to_string().contains("--max-states 100"), "{cut}");
    // A verdict that is wrong: the promise is broken.
    let mut wrong = findings(&*scenario("lease-late-write"));
    let verdict = wrong.iter().find(|finding| finding.verdict.certificate().is_some()).expect("one").verdict.clone();
    wrong.iter_mut().for_each(|finding| finding.verdict = verdict.clone());
    assert!(written("lease-late-write", &wrong).contains("contains a violation"));
}

#[test]
fn a_certificate_without_a_world_is_refused() {
    let good = certificate("lease-late-write-fenced");
    for place in [0, 7, 200] {
        let without = changed(&good, |lines| {
            let members = of_kind(lines, "member");
            lines.remove(members[place]);
            // The worlds behind it have other numbers now; those that led to it lead to the one behind it.
            for member in of_kind(lines, "member") {
                for target in lines[member]["member"][4].as_array_mut().expect("targets") {
                    let number = target[0].as_u64().expect("a number");
                    target[0] = json!(if number > place as u64 { number - 1 } else { number });
                }
            }
        });
        refused(&without, "it is not world");
    }
    let last = changed(&good, |lines| {
        let members = of_kind(lines, "member");
        lines.remove(members[members.len() - 1]);
    });
    refused(&last, "it is not world");
}

#[test]
fn a_certificate_that_leads_to_another_world_is_refused() {
    let good = certificate("lease-late-write-fenced");
    let other = changed(&good, |lines| {
        let member = of_kind(lines, "member")[3];
        let target = lines[member]["member"][4][0][0].as_u64().expect("a number");
        lines[member]["member"][4][0][0] = json!(target + 1);
    });
    refused(&other, "world 3: “");
    let nowhere = changed(&good, |lines| {
        let member = of_kind(lines, "member")[3];
        lines[member]["member"][4][0][0] = json!(9_999_999);
    });
    refused(&nowhere, "it is not world 9999999");
    let without_part = changed(&good, |lines| {
        let member = of_kind(lines, "member")[3];
        lines[member]["member"][0] = json!(9_999_999);
    });
    refused(&without_part, "it is not world 3");
}

#[test]
fn a_certificate_without_a_transition_or_with_one_more_is_refused() {
    let good = certificate("lease-late-write-fenced");
    let fewer = changed(&good, |lines| {
        let member = of_kind(lines, "member")[5];
        lines[member]["member"][4].as_array_mut().expect("targets").pop();
    });
    refused(&fewer, "world 5: ");
    refused(&fewer, "actions are enabled, and it has");
    let more = changed(&good, |lines| {
        let member = of_kind(lines, "member")[5];
        lines[member]["member"][4].as_array_mut().expect("targets").push(json!([0, 0]));
    });
    refused(&more, "actions are enabled, and it has");
}

/// A world that cannot be reached is no harm while nothing leads from it to a violation. One that does is refused.
#[test]
fn a_certificate_with_a_world_that_leads_to_a_violation_is_refused() {
    // All of a scenario in which the promise breaks: what the checker would write if it did not look at violations.
    let good = certificate("lease-late-write-fenced");
    let bad = changed(&good, |lines| {
        let members = of_kind(lines, "member");
        // The resource has seen a newer tenure than any that exists: each write is a lost update.
        let frames = of_kind(lines, "frame");
        for frame in frames {
            lines[frame]["frame"]["monitor"]["ghosts"]["touched"] = json!(9);
        }
        assert!(members.len() > 100);
    });
    refused(&bad, "the initial world: under witness");
    let harmful = changed(&good, |lines| {
        let frames = of_kind(lines, "frame");
        let copies: Vec<Value> = frames.iter().map(|frame| lines[*frame].clone()).collect();
        let members: Vec<Value> = of_kind(lines, "member").iter().map(|member| lines[*member].clone()).collect();
        let end = lines.pop().expect("an end");
        let (count, size) = (copies.len() as u64, members.len() as u64);
        for mut frame in copies {
            frame["frame"]["monitor"]["ghosts"]["touched"] = json!(9);
            lines.push(frame);
        }
        for mut member in members {
            member["member"][1] = json!(member["member"][1].as_u64().expect("a number") + count);
            for target in member["member"][4].as_array_mut().expect("targets") {
                target[0] = json!(target[0].as_u64().expect("a number") + size);
            }
            lines.push(member);
        }
        lines.push(end);
    });
    refused(&harmful, "it violates `no-lost-update`");
}

#[test]
fn a_certificate_with_a_wrong_first_world_is_refused() {
    let good = certificate("lease-late-write-fenced");
    let other = changed(&good, |lines| {
        let start = of_kind(lines, "start")[0];
        lines[start]["start"][0] = json!(1);
    });
    refused(&other, "the initial world: under witness");
    let none = changed(&good, |lines| {
        let start = of_kind(lines, "start")[0];
        lines[start]["start"] = json!([0, 9_999_999]);
    });
    refused(&none, "the initial world: its witness is missing");
}

#[test]
fn a_certificate_of_another_scenario_is_refused() {
    let (good, other) = (certificate("lease-late-write-fenced"), certificate("lease-late-write"));
    // The worlds of one scenario under the name of another.
    let swapped = good.replacen(good.lines().next().expect("a header"), other.lines().next().expect("a header"), 1);
    refused(&swapped, "refused: ");
    let wanted = scenario("lease-late-write").to_toml();
    let error = audit(&good, Some(&wanted), 1).expect_err("it is about another scenario");
    assert_eq!(
        error,
        AuditError::Refused(
            "it is about the scenario `lease-late-write-fenced`, and not about this `lease-late-write`".to_owned()
        )
    );
    let foreign = audit(&good, Some(&scenario("b03-fencing").to_toml()), 1).expect_err("it is of another service");
    assert!(foreign.to_string().starts_with("refused: "), "{foreign}");
    // A promise that the scenario makes and the worlds were not judged by.
    let mut lines = lines(&certificate("lease-late-write"));
    let toml = lines[0]["scenario"].as_str().expect("text").replace("mutual-exclusion", "no-lost-update");
    lines[0]["scenario"] = json!(toml);
    refused(&text(&lines), "refused: ");
}

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
    for kind in [json!("index"), json!({ "call": 1 })] {
        let merged = changed(&good, |lines| {
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
    refused(&large, "it is a number of something else, or the order changes");
}

#[test]
fn a_damaged_or_truncated_file_or_another_format_is_refused() {
    let good = certificate("lease-late-write-fenced");
    let unreadable = |text: &str, says: &str| {
        let error = audit(text, None, 1).expect_err("it is damaged");
        assert!(matches!(error, AuditError::Unreadable(_)) && error.to_string().contains(says), "{error}");
    };
    let all = lines(&good);
    unreadable(&text(&all[..all.len() - 1]), "no end with");
    unreadable(&text(&all[..all.len() / 2]), "no end with");
    unreadable(&good[..good.len() - 5], &format!("line {}:", all.len()));
    unreadable(&good.replacen("\"client\":", "\"clients\":", 1), "unknown variant `clients`");
    unreadable(&(good.clone() + "{\"end\":[0,0]}\n"), "it stands behind the end");
    unreadable("", "line 1:");
    unreadable("fencepost", "line 1:");
    unreadable(&good.replacen("\"fencepost_certificate\":1", "\"fencepost_certificate\":2", 1), "the format is 2");
    unreadable(&good.replacen("\"system\":\"lease\"", "\"system\":\"loan\"", 1), "there is no system `loan`");
    unreadable(&good.replacen("clients = 2", "clients = 0", 1), "line 1: scenario:");
    let mutation = catalogue::mutations().pop().expect("there are some").name();
    let mutant = good.replacen("clients = 2", &format!("mutation = \\\"{mutation}\\\"\\nclients = 2"), 1);
    unreadable(&mutant, "the scenario has a `mutation`");
    let mut few = all.clone();
    let end = few.len() - 1;
    few[end] = json!({ "end": [1, 2] });
    unreadable(&text(&few), "no end with");
}

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
    let good = certificate("consul-capitals");
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
        if let Err(error) = audit(&other, None, 1) {
            let error = error.to_string();
            let kinds = ["takes what is missed", "is not enabled throughout"];
            says.insert(kinds.into_iter().find(|kind| error.contains(kind)).unwrap_or_else(|| panic!("{error}")));
        }
    }
    assert_eq!(says.len(), 2, "{says:?}");
}

/// The auditor is to be read by people who do not believe the checker.
#[test]
fn the_auditor_has_at_most_600_lines_of_code() {
    let sources = [
        include_str!("../src/lib.rs"),
        include_str!("../src/main.rs"),
        include_str!("../src/certificate.rs"),
        include_str!("../src/closed.rs"),
        include_str!("../src/endless.rs"),
        include_str!("../src/trust.rs"),
        include_str!("../src/witness.rs"),
    ];
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    let lines: usize = sources.iter().map(|source| source.lines().filter(is_code).count()).sum();
    assert!(lines <= 600, "{lines}");
    let modules = sources[0].lines().filter(|line| line.starts_with("mod ")).count();
    assert_eq!(sources.len(), modules + 2, "every file is counted");
}

/// Seconds of the search, of the writer and of the auditor; and what was written. `None`: more worlds than the limit.
fn measured(scenario: &dyn AnyScenario, worlds_max: Option<u64>) -> Option<String> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let start = Instant::now();
    let options = Options { workers, ..Options::default() };
    let outcomes = scenario.check(&options).expect("no internal error");
    let findings: Vec<Finding> = outcomes.into_iter().map(|outcome| outcome.finding).collect();
    let searched = start.elapsed();
    let options = Options { limits: Limits { states: worlds_max, depth: None }, ..options };
    let mut out = Vec::new();
    match scenario.certify(&findings, &options, &mut out) {
        Err(CertificateError::Cut(_) | CertificateError::NothingProven) => return None,
        Err(error) => panic!("{}: {error}", scenario.name()),
        Ok(_) => {}
    }
    let written = start.elapsed() - searched;
    let text = String::from_utf8(out).expect("text");
    let audited = audit(&text, None, workers).unwrap_or_else(|error| panic!("{}: {error}", scenario.name()));
    let checked = start.elapsed() - searched - written;
    Some(format!(
        "{}: search {searched:.2?}, certificate {written:.2?}, audit {checked:.2?}, {} worlds, {} transitions, {} witnesses, {} KiB",
        scenario.name(),
        audited.members,
        audited.transitions,
        audited.witnesses,
        text.len() / 1024
    ))
}

#[test]
#[ignore = "takes minutes: cargo test --tests -- --ignored"]
fn the_standard_suite_is_certified_by_hand() {
    let is_standard = |scenario: &Box<dyn AnyScenario>| scenario.description().suite == Suite::Standard;
    let all: Vec<_> = catalogue::all().into_iter().filter(is_standard).collect();
    let told =
        all.iter().filter_map(|scenario| measured(&**scenario, Some(40_000))).inspect(|told| eprintln!("{told}"));
    // All others have more worlds, or promise nothing that holds.
    assert_eq!(told.count(), 249, "of {}", all.len());
}

#[test]
#[ignore = "takes minutes, and 6 GB: cargo test --tests -- --ignored"]
fn a_large_scenario_is_certified_by_hand() {
    eprintln!("{}", measured(&*scenario("consul-lock-3"), None).expect("it is proven"));
}
