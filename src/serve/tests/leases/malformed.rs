//! Requests that are none, and such as the stand-in does not have: each is refused with a `Status`, and nothing is changed.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::json;

use super::bench::{LEAD, LEASES, Leases, lease};

#[test]
fn what_is_no_lease_is_refused_with_a_status() {
    let leases = Leases::new();
    let first = leases.acquired("a", 15);
    let all = LEASES;
    for (what, url, body, status, part) in [
        ("POST", all, "", 400, "json parse error"),
        ("POST", all, "{", 400, "json parse error"),
        ("POST", all, "[]", 400, "no object"),
        ("POST", all, "\u{0}\u{1}", 400, "json parse error"),
        ("POST", all, r#"{"kind": "ConfigMap"}"#, 400, "kind is \"ConfigMap\""),
        ("POST", all, r#"{"apiVersion": "v1"}"#, 400, "apiVersion is \"v1\""),
        ("POST", all, r#"{"metadata": 3}"#, 400, "Lease.metadata of type object"),
        ("POST", all, r#"{"metadata": {"name": 3}}"#, 400, "ObjectMeta.metadata.name of type string"),
        ("POST", all, r#"{"metadata": {"name": "x", "labels": {"a": 1}}}"#, 400, "labels"),
        ("POST", all, r#"{"spec": []}"#, 400, "Lease.spec of type object"),
        ("POST", all, r#"{}"#, 422, "name or generateName is required"),
        ("POST", all, r#"{"metadata": {"name": "Lead"}}"#, 422, "RFC 1123"),
        ("POST", all, r#"{"metadata": {"name": "-"}}"#, 422, "RFC 1123"),
        ("POST", all, r#"{"metadata": {"name": "x", "namespace": "other"}}"#, 400, "namespace"),
        (
            "POST",
            all,
            r#"{"metadata": {"name": "x", "resourceVersion": "7"}}"#,
            500,
            "resourceVersion should not be set",
        ),
        ("POST", all, r#"{"metadata": {"name": "x"}, "spec": {"leaseDurationSeconds": "15"}}"#, 400, "type int32"),
        ("POST", all, r#"{"metadata": {"name": "x"}, "spec": {"leaseDurationSeconds": 1.5}}"#, 400, "type int32"),
        ("POST", all, r#"{"metadata": {"name": "x"}, "spec": {"leaseTransitions": 2147483648}}"#, 400, "type int32"),
        ("POST", all, r#"{"metadata": {"name": "x"}, "spec": {"holderIdentity": {}}}"#, 400, "type string"),
        ("POST", all, r#"{"metadata": {"name": "x"}, "spec": {"renewTime": "now"}}"#, 400, "parsing time"),
        (
            "POST",
            all,
            r#"{"metadata": {"name": "x"}, "spec": {"renewTime": "2026-11-28T04:00:00Z"}}"#,
            400,
            "parsing time",
        ),
        ("POST application/yaml", all, "kind: Lease", 415, "application/yaml"),
        ("POST application/vnd.kubernetes.protobuf", all, "k8s\u{0}", 415, "protobuf"),
        ("PUT", LEAD, r#"{"metadata": {"name": "other"}}"#, 400, "does not match the name on the URL"),
        ("PUT", LEAD, r#"{"metadata": {"resourceVersion": "seven"}}"#, 422, "no number"),
        ("PUT", LEAD, r#"{"metadata": {"resourceVersion": "99999999999999999999"}}"#, 422, "no number"),
        ("PUT", LEAD, r#"{"metadata": {"resourceVersion": "9999999999"}}"#, 409, "has been modified"),
        ("PATCH application/merge-patch+json", LEAD, "{", 400, "json parse error"),
        ("PATCH application/merge-patch+json", LEAD, "3", 400, "no object"),
        ("PATCH application/merge-patch+json", LEAD, r#"{"spec": 3}"#, 400, "Lease.spec of type object"),
        ("PATCH application/merge-patch+json", LEAD, r#"{"kind": "Pod"}"#, 400, "kind is \"Pod\""),
        (
            "PATCH application/merge-patch+json",
            LEAD,
            r#"{"metadata": {"name": "x"}}"#,
            400,
            "does not match the name on the URL",
        ),
        ("DELETE", LEAD, "{", 400, "json parse error"),
        ("POST", LEAD, "{}", 405, "does not allow this method"),
        ("PUT", all, "{}", 405, "does not allow this method"),
        ("DELETE", all, "", 501, "deleting a list"),
        ("GET", "/apis/coordination.k8s.io/v1/leases?watch=true", "", 501, "?watch="),
        ("GET", "/apis/coordination.k8s.io/v1/leases?labelSelector=a%3Db", "", 501, "?labelSelector="),
        ("PUT", "/apis/coordination.k8s.io/v1/namespaces/default/leases/lead?dryRun=All", "{}", 501, "?dryRun="),
        ("GET", "/apis/apps/v1/deployments", "", 404, "could not find the requested resource"),
        ("POST", "/api/v1/namespaces", "{}", 404, "could not find the requested resource"),
        ("GET", "/apis/coordination.k8s.io/v1/namespaces/default/leases/lead/status", "", 404, "could not find"),
    ] {
        let (code, told) = leases.send("a", what, url, body).answer().expect("an answer");
        assert_eq!(code, status, "{what} {url} {body}: {told}");
        assert_eq!((&told["kind"], &told["code"]), (&json!("Status"), &json!(status)), "{what} {url} {body}");
        assert!(told["message"].as_str().is_some_and(|text| text.contains(part)), "{what} {url} {body}: {told}");
    }
    assert_eq!(leases.get(LEAD).1, first);
    assert_eq!(leases.get(LEASES).1["items"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_body_that_is_too_large_is_refused_with_a_status() {
    let leases = Leases::new();
    let mut stream = TcpStream::connect(leases.address()).expect("it listens");
    write!(stream, "POST {LEASES} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", 4 << 20)
        .expect("it reads");
    // It answers before it has read everything.
    let _ = stream.write_all(&vec![b' '; 4 << 20]);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer);
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 413 ") && answer.contains("RequestEntityTooLarge"),
        "{answer}"
    );
    assert_eq!(leases.get(LEASES).1["items"], json!([]));
}

#[test]
fn damaged_bodies_make_no_request_panic() {
    let leases = Leases::new();
    let whole = lease("a", 15, 0).to_string();
    let mut number = 7_u64;
    let mut below = |bound: usize| {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(number >> 33).expect("31 bits") % bound
    };
    for _ in 0..300 {
        let mut bytes = whole.clone().into_bytes();
        for _ in 0..1 + below(3) {
            let place = below(bytes.len());
            match below(3) {
                0 => bytes.truncate(place.max(1)),
                1 => bytes[place] = b"{}[]\":,0-9n"[below(11)],
                _ => drop(bytes.splice(place..place, [b'9'; 3])),
            }
        }
        let body = String::from_utf8(bytes).expect("it stays ASCII");
        let what = ["POST", "PUT", "PATCH application/merge-patch+json", "DELETE"][below(4)];
        let url = if what == "POST" { LEASES } else { LEAD };
        let (status, told) = leases.send("a", what, url, &body).answer().expect("an answer");
        assert!(told["kind"].is_string(), "{what} {body}: {status} {told}");
        let is_internal = told["message"].as_str().is_some_and(|message| message.contains("internal error"));
        assert!(!is_internal, "{what} {body}: {told}");
    }
}
