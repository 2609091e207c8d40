//! Patches, as the clients of leases send them.

use serde_json::{Value, json};

use super::bench::{LEAD, Leases, version};

const MERGE: &str = "PATCH application/merge-patch+json";
const STRATEGIC: &str = "PATCH application/strategic-merge-patch+json";
const APPLY: &str = "PATCH application/apply-patch+yaml";

#[test]
fn ol_k_23_a_merge_patch_without_a_version_is_applied_whatever_came_between() {
    let leases = Leases::new();
    let first = leases.acquired("a", 15);
    let patch =
        |holder: &str| json!({"metadata": {"name": "lead"}, "spec": {"holderIdentity": holder, "leaseTransitions": 1}});
    let (status, second) = leases.ask("b", MERGE, LEAD, &patch("b"));
    assert_eq!((status, version(&second)), (200, version(&first) + 1));
    assert_eq!(leases.ask("c", MERGE, LEAD, &patch("c")).0, 200, "as b has seen it, and as c has");
    let (_, third) = leases.get(LEAD);
    assert_eq!((&third["spec"]["holderIdentity"], &third["spec"]["leaseTransitions"]), (&json!("c"), &json!(1)));
    assert_eq!(third["spec"]["acquireTime"], first["spec"]["acquireTime"], "what a patch leaves out stays");
    assert_eq!(leases.ask("c", MERGE, &LEAD.replace("lead", "none"), &json!({"spec": {}})).0, 404);
    assert_eq!(leases.ask("c", MERGE, LEAD, &json!({"spec": {"leaseDurationSeconds": 0}})).0, 422);
}

#[test]
fn ol_k_22_a_patch_with_a_version_meets_the_version_test() {
    for what in [MERGE, STRATEGIC, APPLY] {
        let leases = Leases::new();
        let first = leases.acquired("a", 15);
        let url = format!("{LEAD}?fieldManager=kubert&force=true");
        let patch = |version: &Value| {
            json!({
                "kind": "Lease", "apiVersion": "coordination.k8s.io/v1", "metadata": {"resourceVersion": version},
                "spec": {"holderIdentity": "b", "leaseTransitions": 1, "renewTime": null},
            })
        };
        let version = &first["metadata"]["resourceVersion"];
        let (status, second) = leases.ask("b", what, &url, &patch(version));
        assert_eq!((status, &second["spec"]["holderIdentity"]), (200, &json!("b")), "{what}");
        assert_eq!(second["spec"]["renewTime"], Value::Null, "{what}: null takes a field away");
        let (status, told) = leases.ask("c", what, &url, &patch(version));
        assert_eq!((status, &told["reason"]), (409, &json!("Conflict")), "{what}");
        let other = json!({"metadata": {"uid": "another"}, "spec": {"holderIdentity": "c"}});
        assert_eq!(leases.ask("c", what, &url, &other).0, 409, "{what}");
        assert_eq!(leases.get(LEAD).1, second, "{what}");
    }
}

#[test]
fn an_apply_creates_what_there_is_not_and_has_to_be_forced() {
    let leases = Leases::new();
    let lease = json!({"spec": {"holderIdentity": "a", "leaseDurationSeconds": 15}});
    let (status, created) = leases.ask("a", APPLY, &format!("{LEAD}?fieldManager=x&force=true"), &lease);
    assert_eq!((status, &created["metadata"]["name"]), (201, &json!("lead")));
    let (status, told) = leases.ask("a", APPLY, &format!("{LEAD}?force=true"), &lease);
    assert_eq!((status, &told["reason"]), (422, &json!("Invalid")), "no field manager");
    let (status, told) = leases.ask("a", APPLY, &format!("{LEAD}?fieldManager=x"), &lease);
    assert_eq!(status, 501, "{told}");
    assert!(told["message"].as_str().is_some_and(|message| message.contains("without force=true")), "{told}");
    let yaml = leases.send("a", APPLY, &format!("{LEAD}?fieldManager=x&force=true"), "spec:\n  holderIdentity: a\n");
    assert_eq!(yaml.answer().expect("an answer").0, 501);
}

#[test]
fn other_patches_are_refused_by_their_names() {
    let leases = Leases::new();
    leases.acquired("a", 15);
    for (what, status, part) in [
        ("PATCH application/json-patch+json", 501, "a JSON patch"),
        ("PATCH application/json", 415, "accepted media types include"),
        ("PATCH text/plain", 415, "accepted media types include"),
    ] {
        let (told, body) = leases.ask("a", what, LEAD, &json!([]));
        assert_eq!(told, status, "{what}");
        assert!(body["message"].as_str().is_some_and(|message| message.contains(part)), "{what}: {body}");
    }
    let directive = json!({"spec": {"$patch": "replace"}});
    assert_eq!(leases.ask("a", STRATEGIC, LEAD, &directive).0, 501);
}
