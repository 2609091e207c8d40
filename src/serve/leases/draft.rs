//! A lease as a client writes it, read and checked as the server does before it looks at what is stored.

use serde_json::{Map, Value};

use super::GROUP;
use super::micro_time::canonical;
use super::status::Refusal;
use super::target::LeaseKey;

/// What a client wants a lease to be.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub(super) name: Option<String>,
    /// The beginning of a name that the server completes.
    pub(super) generate_name: Option<String>,
    pub(super) namespace: Option<String>,
    /// The object that it was read from (OL-S-4).
    pub(super) uid: Option<String>,
    /// The version that it was read at (OL-S-3).
    pub(super) version: Option<String>,
    /// What else is known of it: labels, annotations and the like.
    pub(super) metadata: Map<String, Value>,
    /// What contenders compare (OL-S-8). Fields that the server does not know are kept.
    pub(super) spec: Map<String, Value>,
}

/// Metadata that the server sets.
const OF_SERVER: [&str; 5] = ["creationTimestamp", "generation", "managedFields", "selfLink", "deletionTimestamp"];

impl Draft {
    pub(super) fn read(body: &[u8]) -> Result<Draft, Refusal> {
        Draft::of(parsed(body)?)
    }

    pub(super) fn of(value: Value) -> Result<Draft, Refusal> {
        let Value::Object(mut fields) = value else {
            return Err(unrecognized("json: cannot unmarshal a value that is no object into a Lease"));
        };
        let version = format!("{GROUP}/v1");
        for (field, expected) in [("kind", "Lease"), ("apiVersion", version.as_str())] {
            match fields.remove(field) {
                None | Some(Value::Null) => {}
                Some(Value::String(said)) if said == expected || said.is_empty() => {}
                Some(other) => return Err(unrecognized(&format!("{field} is {other}, and not {expected:?}"))),
            }
        }
        let mut metadata = object(&mut fields, "metadata")?;
        let mut text = |field: &str| match metadata.remove(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text).filter(|text| !text.is_empty())),
            Some(other) => Err(mistyped(&format!("ObjectMeta.metadata.{field}"), &other, "string")),
        };
        let (name, generate_name) = (text("name")?, text("generateName")?);
        let (namespace, uid, version) = (text("namespace")?, text("uid")?, text("resourceVersion")?);
        metadata.retain(|field, value| !value.is_null() && !OF_SERVER.contains(&field.as_str()));
        for field in ["labels", "annotations"] {
            let Some(texts) = metadata.get(field) else { continue };
            if !texts.as_object().is_some_and(|texts| texts.values().all(Value::is_string)) {
                return Err(mistyped(&format!("ObjectMeta.metadata.{field}"), texts, "string"));
            }
        }
        let mut spec = object(&mut fields, "spec")?;
        spec.retain(|_, value| !value.is_null());
        for (field, value) in &mut spec {
            check(field, value)?;
        }
        // A version of 0 is none.
        let version = version.filter(|version| version != "0");
        Ok(Draft { name, generate_name, namespace, uid, version, metadata, spec })
    }

    /// The preconditions of a deletion, from its options.
    pub(super) fn preconditions(options: &Value) -> Draft {
        let text =
            |field: &str| options["preconditions"][field].as_str().map(str::to_owned).filter(|text| !text.is_empty());
        Draft { uid: text("uid"), version: text("resourceVersion"), ..Draft::default() }
    }

    /// It is what the URL names, and the name is one.
    pub(super) fn is_of(&self, key: &LeaseKey) -> Result<(), Refusal> {
        if let Some(name) = self.name.as_ref().filter(|name| **name != key.name) {
            let why = format!("the name of the object ({name}) does not match the name on the URL ({})", key.name);
            return Err(Refusal::new(400, why));
        }
        if self.namespace.as_ref().is_some_and(|namespace| *namespace != key.namespace) {
            let why = "the namespace of the provided object does not match the namespace sent on the request";
            return Err(Refusal::new(400, why));
        }
        let is_edge = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        let is_label = |label: &str| {
            let bytes = label.as_bytes();
            is_edge(bytes.first())
                && is_edge(bytes.last())
                && bytes.iter().all(|byte| is_edge(Some(byte)) || *byte == b'-')
        };
        if key.name.len() > 253 || !key.name.split('.').all(is_label) {
            let why = format!(
                "Invalid value: {:?}: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', \
    and must start and end with an alphanumeric character",
                key.name
            );
            return Err(Refusal::invalid("Lease", &key.name, &[("metadata.name", why)]));
        }
        Ok(())
    }

    /// A field of the specification that is a number.
    pub(super) fn number(&self, field: &str) -> Option<i64> {
        self.spec.get(field).and_then(Value::as_i64)
    }

    /// OL-S-5: fields with values that no lease has.
    pub(super) fn mistakes(&self) -> Vec<(&'static str, String)> {
        let duration = self.number("leaseDurationSeconds").filter(|duration| *duration <= 0);
        let transitions = self.number("leaseTransitions").filter(|transitions| *transitions < 0);
        let duration = duration
            .map(|value| ("spec.leaseDurationSeconds", format!("Invalid value: {value}: must be greater than 0")));
        let transitions = transitions.map(|value| {
            ("spec.leaseTransitions", format!("Invalid value: {value}: must be greater than or equal to 0"))
        });
        duration.into_iter().chain(transitions).collect()
    }
}

/// JSON; the server's words if it is none.
pub(super) fn parsed(body: &[u8]) -> Result<Value, Refusal> {
    serde_json::from_slice(body)
        .map_err(|error| unrecognized(&format!("couldn't get version/kind; json parse error: {error}")))
}

fn object(fields: &mut Map<String, Value>, name: &str) -> Result<Map<String, Value>, Refusal> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(inner)) => Ok(inner),
        Some(other) => Err(mistyped(&format!("Lease.{name}"), &other, "object")),
    }
}

/// A field that the server knows has its type, and a time its one form.
fn check(field: &str, value: &mut Value) -> Result<(), Refusal> {
    let path = format!("LeaseSpec.spec.{field}");
    match field {
        "leaseDurationSeconds" | "leaseTransitions" => {
            match value.as_i64().is_some_and(|number| i32::try_from(number).is_ok()) {
                true => Ok(()),
                false => Err(mistyped(&path, value, "int32")),
            }
        }
        "holderIdentity" | "strategy" | "preferredHolder" => match value.is_string() {
            true => Ok(()),
            false => Err(mistyped(&path, value, "string")),
        },
        "acquireTime" | "renewTime" => {
            let text = value.as_str().ok_or_else(|| mistyped(&path, value, "string"))?;
            *value = canonical(text).map(Value::String).ok_or_else(|| {
                unhandled(&format!("parsing time {text:?} as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse it"))
            })?;
            Ok(())
        }
        _ => Ok(()),
    }
}

fn unrecognized(why: &str) -> Refusal {
    Refusal::new(400, format!("the object provided is unrecognized (must be of type Lease): {why}"))
}

fn unhandled(why: &str) -> Refusal {
    Refusal::new(400, format!("Lease in version \"v1\" cannot be handled as a Lease: {why}"))
}

fn mistyped(path: &str, value: &Value, expected: &str) -> Refusal {
    let is = match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    unhandled(&format!("json: cannot unmarshal {is} into Go struct field {path} of type {expected}"))
}
