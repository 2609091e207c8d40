//! Patches: how a request changes the object that is stored.
//!
//! A merge patch and a strategic merge patch come to the same for a lease, apart from directives, whose names begin with `$`. An apply
//! sets the fields that it has, and creates the object if there is none; the stand-in keeps no managed fields, so it has to be forced.

use serde_json::{Map, Value};

use super::draft::parsed;
use super::status::Refusal;
use crate::endpoints::parameter;

/// How a patch is applied.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum PatchKind {
    Merge,
    Strategic,
    Apply,
}

impl PatchKind {
    fn of(content_type: Option<&str>) -> Result<PatchKind, Refusal> {
        let kind = content_type.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
        match kind.to_ascii_lowercase().as_str() {
            "application/merge-patch+json" => Ok(PatchKind::Merge),
            "application/strategic-merge-patch+json" => Ok(PatchKind::Strategic),
            "application/apply-patch+yaml" => Ok(PatchKind::Apply),
            "application/json-patch+json" => Err(Refusal::beyond("a JSON patch")),
            "application/apply-patch+cbor" => Err(Refusal::beyond("CBOR")),
            _ => Err(Refusal::new(
                415,
                "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, \
application/merge-patch+json, application/apply-patch+yaml, application/strategic-merge-patch+json",
            )),
        }
    }
}

/// A patch.
#[derive(Clone, Debug)]
pub(super) struct LeasePatch {
    pub(super) kind: PatchKind,
    fields: Map<String, Value>,
}

impl LeasePatch {
    pub(super) fn read(url: &str, content_type: Option<&str>, body: &[u8]) -> Result<LeasePatch, Refusal> {
        let kind = PatchKind::of(content_type)?;
        let value = match kind {
            PatchKind::Apply => {
                serde_json::from_slice(body).map_err(|_| Refusal::beyond("an apply patch that is YAML and not JSON"))?
            }
            PatchKind::Merge | PatchKind::Strategic => parsed(body)?,
        };
        let Value::Object(fields) = value else {
            return Err(Refusal::new(400, "json: cannot unmarshal a patch that is no object"));
        };
        if kind == PatchKind::Strategic && has_directive(&fields) {
            return Err(Refusal::beyond("a directive of a strategic merge patch"));
        }
        if kind == PatchKind::Apply {
            if parameter(url, "fieldManager").is_none_or(|manager| manager.is_empty()) {
                let why = "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch";
                return Err(Refusal::new(422, why));
            }
            if parameter(url, "force").as_deref() != Some("true") {
                return Err(Refusal::beyond(
                    "an apply without force=true: it keeps no managed fields, and finds no conflicts",
                ));
            }
        }
        Ok(LeasePatch { kind, fields })
    }

    /// A text in its metadata.
    pub(super) fn metadata(&self, field: &str) -> Option<String> {
        let text = self.fields.get("metadata")?.get(field)?.as_str()?;
        Some(text.to_owned()).filter(|text| !text.is_empty())
    }

    /// What it makes of an object.
    pub(super) fn applied(self, object: Value) -> Value {
        merged(object, Value::Object(self.fields))
    }
}

fn has_directive(fields: &Map<String, Value>) -> bool {
    fields.iter().any(|(name, value)| name.starts_with('$') || value.as_object().is_some_and(has_directive))
}

/// RFC 7396.
pub(super) fn merged(target: Value, patch: Value) -> Value {
    let Value::Object(patch) = patch else { return patch };
    let mut fields = match target {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    for (name, value) in patch {
        match value {
            Value::Null => drop(fields.remove(&name)),
            value => {
                let before = fields.remove(&name).unwrap_or_default();
                fields.insert(name, merged(before, value));
            }
        }
    }
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::merged;

    #[test]
    fn a_merge_patch_follows_the_examples_of_rfc_7396() {
        for (target, patch, expected) in [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b"}), json!({"a": null}), json!({})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
            (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
            (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
            (json!([1, 2]), json!({"a": "b", "c": null}), json!({"a": "b"})),
            (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
        ] {
            assert_eq!(merged(target.clone(), patch.clone()), expected, "{target} {patch}");
        }
    }
}
