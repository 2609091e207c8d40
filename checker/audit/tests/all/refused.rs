//! Certificates with other worlds, other transitions, of another scenario, or damaged.

use fencepost::catalogue;
use fencepost_audit::{AuditError, audit};
use serde_json::{Value, json};

use crate::{about, certificate, changed, lines, of_kind, on, refused, scenario, text};

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
    let error = audit(&good, &about(&wanted)).expect_err("it is about another scenario");
    assert_eq!(
        error,
        AuditError::Refused(
            "it is about the scenario `lease-late-write-fenced`, and not about this `lease-late-write`".to_owned()
        )
    );
    let foreign = audit(&good, &about(&scenario("b03-fencing").to_toml())).expect_err("it is of another service");
    assert!(foreign.to_string().starts_with("refused: "), "{foreign}");
    // A promise that the scenario makes and the worlds were not judged by.
    let mut lines = lines(&certificate("lease-late-write"));
    let toml = lines[0]["scenario"].as_str().expect("text").replace("mutual-exclusion", "no-lost-update");
    lines[0]["scenario"] = json!(toml);
    refused(&text(&lines), "refused: ");
}

#[test]
fn a_damaged_or_truncated_file_or_another_format_is_refused() {
    let good = certificate("lease-late-write-fenced");
    let unreadable = |text: &str, says: &str| {
        let error = audit(text, &on(1)).expect_err("it is damaged");
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
    unreadable(&good.replacen("\"fencepost_certificate\":2", "\"fencepost_certificate\":1", 1), "the format is 1");
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
