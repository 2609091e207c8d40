//! The rules of the store, by name, as a client sees them.

use serde_json::{Value, json};

use super::bench::{LEAD, LEASES, Leases, lease, rewritten, version};

#[test]
fn ol_s_1_versions_come_from_one_counter_that_never_falls() {
    let leases = Leases::new();
    let first = leases.acquired("a", 15);
    let (status, other) = leases.ask("a", "POST", &LEASES.replace("default", "other"), &lease("b", 15, 0));
    assert_eq!((status, version(&other)), (201, version(&first) + 1), "another lease, the same counter");
    let (_, changed) = leases.ask("a", "PUT", LEAD, &rewritten(&first, "a", 1));
    assert_eq!(version(&changed), version(&other) + 1);
    let (status, list) = leases.get("/apis/coordination.k8s.io/v1/leases");
    assert_eq!((status, version(&list)), (200, version(&changed)));
    leases.ask("x", "DELETE", LEAD, &Value::Null);
    let again = leases.acquired("a", 15);
    assert!(version(&again) > version(&changed) + 1, "the deletion counts, too: {again}");
    assert_ne!(again["metadata"]["uid"], first["metadata"]["uid"]);
}

#[test]
fn ol_s_2_a_read_shows_every_acknowledged_write_and_404_what_is_not_there() {
    let leases = Leases::new();
    let (status, told) = leases.get(LEAD);
    assert_eq!((status, &told["kind"], &told["reason"]), (404, &json!("Status"), &json!("NotFound")));
    assert_eq!(told["message"], "leases.coordination.k8s.io \"lead\" not found");
    assert_eq!(told["details"], json!({"name": "lead", "group": "coordination.k8s.io", "kind": "leases"}));
    let created = leases.acquired("a", 15);
    assert_eq!(leases.get(LEAD), (200, created.clone()));
    assert_eq!(created["metadata"]["namespace"], "default");
    assert_eq!(created["metadata"]["creationTimestamp"], "2020-01-01T00:00:00Z");
    assert_eq!(created["spec"], lease("a", 15, 0)["spec"]);
}

#[test]
fn ol_s_3_a_creation_is_refused_if_there_is_one_and_an_update_needs_the_present_version() {
    let leases = Leases::new();
    let first = leases.acquired("a", 15);
    let (status, told) = leases.ask("b", "POST", LEASES, &lease("b", 15, 1));
    assert_eq!((status, &told["reason"], &told["code"]), (409, &json!("AlreadyExists"), &json!(409)));
    assert_eq!(told["message"], "leases.coordination.k8s.io \"lead\" already exists");
    let (status, told) = leases.ask("b", "PUT", LEAD, &lease("b", 15, 1));
    assert_eq!((status, &told["reason"]), (422, &json!("Invalid")), "no version");
    let expected = "leases.coordination.k8s.io \"lead\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update";
    assert_eq!(told["message"], expected);
    let mut unversioned = rewritten(&first, "b", 1);
    unversioned["metadata"]["resourceVersion"] = json!("");
    assert_eq!(leases.ask("b", "PUT", LEAD, &unversioned).0, 422, "the uid is none");
    let (_, second) = leases.ask("a", "PUT", LEAD, &rewritten(&first, "a", 1));
    let (status, told) = leases.ask("b", "PUT", LEAD, &rewritten(&first, "b", 2));
    assert_eq!((status, &told["reason"], &told["status"]), (409, &json!("Conflict"), &json!("Failure")));
    let expected = "Operation cannot be fulfilled on leases.coordination.k8s.io \"lead\": the object has been modified; \
please apply your changes to the latest version and try again";
    assert_eq!(told["message"], expected);
    assert_eq!(leases.get(LEAD).1, second, "nothing is changed by what is refused");
}

#[test]
fn ol_s_4_an_update_of_an_earlier_object_is_no_silent_creation() {
    let leases = Leases::new();
    let first = leases.acquired("a", 15);
    assert_eq!(leases.ask("x", "DELETE", LEAD, &Value::Null).0, 200);
    let (status, told) = leases.ask("a", "PUT", LEAD, &rewritten(&first, "a", 1));
    assert_eq!((status, &told["reason"]), (409, &json!("Conflict")), "deleted");
    assert_eq!(leases.get(LEAD).0, 404);
    let second = leases.acquired("b", 15);
    let mut forged = rewritten(&first, "a", 1);
    assert_eq!(leases.ask("a", "PUT", LEAD, &forged).0, 409, "deleted and created");
    forged["metadata"]["resourceVersion"] = second["metadata"]["resourceVersion"].clone();
    assert_eq!(leases.ask("a", "PUT", LEAD, &forged).0, 409, "the uid alone is a precondition");
    assert_eq!(leases.get(LEAD).1, second);
    let (status, created) =
        leases.ask("a", "PUT", &LEAD.replace("lead", "fresh"), &json!({"spec": {"holderIdentity": "a"}}));
    assert_eq!((status, &created["metadata"]["name"]), (201, &json!("fresh")), "a lease may be created by PUT");
}

#[test]
fn ol_s_5_a_duration_and_a_number_of_transitions_have_a_least_value() {
    let leases = Leases::new();
    let with = |field: &str, value: i64| {
        let mut lease = lease("a", 15, 0);
        lease["spec"][field] = json!(value);
        lease
    };
    for (field, value, why) in [
        ("leaseDurationSeconds", 0, "must be greater than 0"),
        ("leaseDurationSeconds", -3, "must be greater than 0"),
        ("leaseTransitions", -1, "must be greater than or equal to 0"),
    ] {
        let (status, told) = leases.ask("a", "POST", LEASES, &with(field, value));
        assert_eq!((status, &told["reason"]), (422, &json!("Invalid")), "{field}={value}");
        let message =
            format!("Lease.coordination.k8s.io \"lead\" is invalid: spec.{field}: Invalid value: {value}: {why}");
        assert_eq!(told["message"], message);
        assert_eq!(told["details"]["causes"][0]["field"], format!("spec.{field}"));
    }
    assert_eq!(leases.get(LEAD).0, 404);
    let mut free = lease("", 1, 0);
    free["spec"].as_object_mut().expect("fields").remove("leaseDurationSeconds");
    let (status, created) = leases.ask("a", "POST", LEASES, &free);
    assert_eq!((status, &created["spec"]["leaseDurationSeconds"]), (201, &Value::Null), "a lease may have none");
    let mut stale = rewritten(&created, "a", 1);
    stale["spec"]["leaseDurationSeconds"] = json!(0);
    assert_eq!(leases.ask("a", "PUT", LEAD, &stale).0, 422);
    stale["metadata"]["resourceVersion"] = json!("1");
    assert_eq!(leases.ask("a", "PUT", LEAD, &stale).0, 409, "the version is tested before the fields");
}

#[test]
fn ol_s_6_a_request_that_was_given_up_may_be_applied_later_and_meets_the_version_test() {
    for (is_renewed, status, holder) in [(false, 200, "b"), (true, 409, "a")] {
        let leases = Leases::new();
        let first = leases.acquired("a", 15);
        leases.plan("on PUT *leases/lead from b: delay-request 20s");
        let late = leases.send("b", "PUT", LEAD, &rewritten(&first, "b", 1).to_string());
        leases.wait_for(1);
        if is_renewed {
            assert_eq!(leases.ask("a", "PUT", LEAD, &rewritten(&first, "a", 2)).0, 200);
        }
        assert_eq!(leases.get(LEAD).1["spec"]["holderIdentity"], "a");
        leases.advance("20s");
        assert_eq!(late.answer().expect("an answer").0, status);
        assert_eq!(leases.get(LEAD).1["spec"]["holderIdentity"], holder);
    }
}

#[test]
fn ol_s_6_a_request_whose_client_has_gone_is_applied_all_the_same() {
    let leases = Leases::new();
    let first = leases.acquired("a", 15);
    leases.plan("on PUT *leases/lead from b: delay-request 20s");
    let late = leases.send("b", "PUT", LEAD, &rewritten(&first, "b", 1).to_string());
    leases.wait_for(1);
    drop(late);
    leases.advance("20s");
    assert_eq!(leases.get(LEAD).1["spec"]["holderIdentity"], "b");
}

#[test]
fn ol_s_7_the_server_counts_no_time_and_a_deletion_needs_no_ownership() {
    let leases = Leases::new();
    let first = leases.acquired("a", 1);
    leases.advance("3600s");
    assert_eq!(leases.get(LEAD).1, first, "it does not expire by itself");
    let mut early = rewritten(&first, "b", 0);
    early["spec"]["renewTime"] = json!("1999-01-01T00:00:00.000000Z");
    assert_eq!(leases.ask("b", "PUT", LEAD, &early).0, 200, "a time is not interpreted");
    let (status, told) = leases.ask("stranger", "DELETE", LEAD, &Value::Null);
    assert_eq!((status, &told["status"], &told["details"]["uid"]), (200, &json!("Success"), &first["metadata"]["uid"]));
    assert_eq!(leases.ask("stranger", "DELETE", LEAD, &Value::Null).0, 404);
}

#[test]
fn ol_s_7_a_deletion_may_name_the_object_and_its_version() {
    let leases = Leases::new();
    let first = leases.acquired("a", 15);
    let (_, second) = leases.ask("a", "PUT", LEAD, &rewritten(&first, "a", 1));
    let options = |uid: &Value, version: &Value| json!({"preconditions": {"uid": uid, "resourceVersion": version}});
    let (uid, stale) = (&first["metadata"]["uid"], &first["metadata"]["resourceVersion"]);
    for wrong in [options(&json!("another"), &Value::Null), options(uid, stale), options(&Value::Null, stale)] {
        let (status, told) = leases.ask("x", "DELETE", LEAD, &wrong);
        assert_eq!((status, &told["reason"]), (409, &json!("Conflict")), "{wrong}");
    }
    assert_eq!(leases.ask("x", "DELETE", LEAD, &options(uid, &second["metadata"]["resourceVersion"])).0, 200);
}

#[test]
fn ol_s_8_a_label_changes_the_version_and_not_the_record_that_contenders_compare() {
    let leases = Leases::new();
    let first = leases.acquired("a", 15);
    leases.advance("5s");
    leases.plan("on GET *leases/lead #1: lease-labelled");
    let (_, labelled) = leases.get(LEAD);
    assert_eq!(labelled["spec"], first["spec"]);
    assert!(version(&labelled) > version(&first) && labelled["metadata"]["labels"].is_object(), "{labelled}");
    assert_eq!(leases.ask("a", "PUT", LEAD, &rewritten(&first, "a", 1)).0, 409, "the fast path of the holder");
    leases.advance("10s");
    assert_eq!(leases.ask("b", "PUT", LEAD, &rewritten(&labelled, "b", 2)).0, 200);
    let verdict = leases.verdict();
    let takeover = &verdict.leases.as_ref().expect("leases").takeovers[0];
    assert_eq!(takeover.unchanged_for / 1_000_000_000, 15, "the label does not restart the wait: {verdict}");
}

#[test]
fn what_changes_nothing_has_no_new_version() {
    let leases = Leases::new();
    let first = leases.acquired("a", 15);
    assert_eq!(leases.ask("a", "PUT", LEAD, &first), (200, first.clone()));
    let patch = json!({"spec": {"holderIdentity": "a"}});
    assert_eq!(leases.ask("a", "PATCH application/merge-patch+json", LEAD, &patch), (200, first.clone()));
    let mut stale = first.clone();
    stale["metadata"]["resourceVersion"] = json!("1");
    assert_eq!(leases.ask("a", "PUT", LEAD, &stale).0, 409);
}

#[test]
fn labels_annotations_and_unknown_fields_are_kept_and_lists_are_of_one_namespace() {
    let leases = Leases::new();
    let mut full = lease("a", 15, 0);
    full["metadata"]["labels"] = json!({"app": "x"});
    full["metadata"]["annotations"] = json!({"note": "y"});
    full["spec"]["strategyOfOurs"] = json!({"deep": [1, 2]});
    full["spec"]["renewTime"] = json!("2026-11-28T05:00:00.000000+01:00");
    let (_, created) = leases.ask("a", "POST", LEASES, &full);
    assert_eq!(created["metadata"]["labels"]["app"], "x");
    assert_eq!(created["metadata"]["annotations"]["note"], "y");
    assert_eq!(created["spec"]["strategyOfOurs"], full["spec"]["strategyOfOurs"]);
    assert_eq!(created["spec"]["renewTime"], "2026-11-28T04:00:00.000000Z", "times are written in one form");
    let generated = json!({"metadata": {"generateName": "some-"}, "spec": null});
    let (status, second) = leases.ask("a", "POST", &LEASES.replace("default", "other"), &generated);
    let name = second["metadata"]["name"].as_str().expect("a name");
    assert_eq!((status, name.len(), &name[..5]), (201, 10, "some-"));
    let (_, list) = leases.get(LEASES);
    assert_eq!((&list["kind"], list["items"].as_array().map(Vec::len)), (&json!("LeaseList"), Some(1)));
    assert_eq!(list["items"][0]["spec"], created["spec"]);
    let (_, all) = leases.get("/apis/coordination.k8s.io/v1/leases");
    assert_eq!(all["items"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_client_finds_out_what_the_server_has() {
    let leases = Leases::new();
    assert_eq!(leases.get("/version").1["major"], "1");
    assert_eq!(leases.get("/apis").1["groups"][0]["name"], "coordination.k8s.io");
    assert_eq!(leases.get("/api").1["kind"], "APIVersions");
    assert_eq!(leases.get("/apis/coordination.k8s.io").1["preferredVersion"]["version"], "v1");
    let (_, resources) = leases.get("/apis/coordination.k8s.io/v1");
    assert_eq!((&resources["kind"], &resources["resources"][0]["kind"]), (&json!("APIResourceList"), &json!("Lease")));
    for path in ["/healthz", "/readyz", "/livez"] {
        assert_eq!(leases.get(path).0, 200);
    }
}
