//! Errors, as an API server writes them: objects of the kind `Status`.

use serde_json::{Value, json};

use super::GROUP;
use super::target::LeaseKey;
use crate::stand_in::Answer;

/// Why a request is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Refusal {
    status: u16,
    reason: &'static str,
    message: String,
    details: Option<Value>,
}

/// The reason of a status that names no object.
fn reason(status: u16) -> &'static str {
    match status {
        400 => "BadRequest",
        404 => "NotFound",
        405 => "MethodNotAllowed",
        409 => "Conflict",
        413 => "RequestEntityTooLarge",
        415 => "UnsupportedMediaType",
        422 => "Invalid",
        429 => "TooManyRequests",
        500 => "InternalError",
        503 => "ServiceUnavailable",
        504 => "Timeout",
        _ => "",
    }
}

impl Refusal {
    /// One that names no object.
    pub(super) fn new(status: u16, message: impl Into<String>) -> Self {
        Refusal { status, reason: reason(status), message: message.into(), details: None }
    }

    /// What the stand-in does not have.
    pub(super) fn beyond(what: &str) -> Self {
        Refusal::new(501, format!("the stand-in does not have this: {what}"))
    }

    /// OL-S-2: there is no such lease.
    pub(super) fn not_found(name: &str) -> Self {
        Refusal::about(404, "NotFound", name, format!("leases.{GROUP} {name:?} not found"))
    }

    /// OL-S-3: there is one already.
    pub(super) fn already_exists(name: &str) -> Self {
        Refusal::about(409, "AlreadyExists", name, format!("leases.{GROUP} {name:?} already exists"))
    }

    /// OL-S-3, OL-S-4: it is another one than the request names.
    pub(super) fn conflict(name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on leases.{GROUP} {name:?}: {why}");
        Refusal::about(409, "Conflict", name, message)
    }

    /// OL-S-5: a field is not what it has to be. `kind` is written as the server writes it: by the resource or by the kind.
    pub(super) fn invalid(kind: &str, name: &str, fields: &[(&str, String)]) -> Self {
        let whole: Vec<String> = fields.iter().map(|(field, why)| format!("{field}: {why}")).collect();
        let all = match &whole[..] {
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        let message = format!("{kind}.{GROUP} {name:?} is invalid: {all}");
        let causes: Vec<Value> = fields
            .iter()
            .map(|(field, why)| json!({"reason": "FieldValueInvalid", "message": why, "field": field}))
            .collect();
        let details = json!({"name": name, "group": GROUP, "kind": kind, "causes": causes});
        Refusal { status: 422, reason: "Invalid", message, details: Some(details) }
    }

    fn about(status: u16, reason: &'static str, name: &str, message: String) -> Self {
        let details = json!({"name": name, "group": GROUP, "kind": "leases"});
        Refusal { status, reason, message, details: Some(details) }
    }

    pub(super) fn answer(&self) -> Answer {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": self.message, "code": self.status,
        });
        if !self.reason.is_empty() {
            status["reason"] = json!(self.reason);
        }
        if let Some(details) = &self.details {
            status["details"] = details.clone();
        }
        Answer { status: self.status, ..Answer::json(&status) }
    }
}

/// What a deletion is answered with.
pub(super) fn deleted(key: &LeaseKey, uid: &str) -> Answer {
    Answer::json(&json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
        "details": {"name": key.name, "group": GROUP, "kind": "leases", "uid": uid},
    }))
}
