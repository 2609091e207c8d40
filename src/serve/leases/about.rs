//! What a client may ask before it comes to leases: the version of the server, and what it has.

use serde_json::{Value, json};

use super::GROUP;
use crate::stand_in::Answer;

/// What the server says of itself; none: there is no such path.
pub(super) fn about(path: &str) -> Option<Answer> {
    let versions = json!({"groupVersion": format!("{GROUP}/v1"), "version": "v1"});
    let group = json!({"name": GROUP, "versions": [versions], "preferredVersion": versions});
    let with_kind = |kind: &str, version: Option<&str>, mut value: Value| {
        value["kind"] = json!(kind);
        version.iter().for_each(|version| value["apiVersion"] = json!(version));
        value
    };
    Some(match path.strip_prefix("/apis/").and_then(|rest| rest.strip_prefix(GROUP)) {
        Some("") => Answer::json(&with_kind("APIGroup", Some("v1"), group)),
        Some("/v1") => Answer::json(&with_kind("APIResourceList", Some("v1"), resources())),
        Some(_) => return None,
        None => match path {
            "/version" => Answer::json(&json!({
                "major": "1", "minor": "34", "gitVersion": "v1.34.0-fencepost", "gitCommit": "", "gitTreeState": "clean",
                "buildDate": "1970-01-01T00:00:00Z", "goVersion": "", "compiler": "", "platform": "",
            })),
            "/apis" => Answer::json(&with_kind("APIGroupList", Some("v1"), json!({"groups": [group]}))),
            "/api" => {
                let address = json!([{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:443"}]);
                let api = json!({"versions": ["v1"], "serverAddressByClientCIDRs": address});
                Answer::json(&with_kind("APIVersions", None, api))
            }
            "/api/v1" => {
                let none = json!({"groupVersion": "v1", "resources": []});
                Answer::json(&with_kind("APIResourceList", None, none))
            }
            "/healthz" | "/livez" | "/readyz" => Answer::text(200, "ok"),
            _ => return None,
        },
    })
}

fn resources() -> Value {
    json!({
        "groupVersion": format!("{GROUP}/v1"),
        "resources": [{
            "name": "leases", "singularName": "lease", "namespaced": true, "kind": "Lease",
            "verbs": ["create", "delete", "get", "list", "patch", "update"],
        }],
    })
}
