//! The line of `fencepost audit`.

use fencepost::Property;
use fencepost_audit::Audited;
use schemars::JsonSchema;
use serde::Serialize;

use super::kernel::PropertyName;

/// The line of `fencepost audit`.
#[derive(Serialize, JsonSchema)]
pub struct AuditJson<'a> {
    pub certificate: &'a str,
    pub verdict: AuditVerdict,
    /// The reason why it is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<&'a str>,
    /// The scenario that it is about; this and the rest are there if it is certified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<&'a str>,
    #[schemars(with = "Vec<PropertyName>")]
    pub properties: Vec<Property>,
    pub worlds: usize,
    pub transitions: usize,
    /// What is believed and not checked.
    pub trusted: &'a [String],
}

/// What comes of a certificate.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AuditVerdict {
    Certified,
    Refused,
}

impl<'a> AuditJson<'a> {
    pub fn new(certificate: &'a str, audited: &'a Result<Audited, String>) -> Self {
        let shown = audited.as_ref().ok();
        AuditJson {
            certificate,
            verdict: if shown.is_some() { AuditVerdict::Certified } else { AuditVerdict::Refused },
            refused: audited.as_ref().err().map(String::as_str),
            scenario: shown.map(|audited| audited.scenario.as_str()),
            properties: shown.map(|audited| audited.promises.clone()).unwrap_or_default(),
            worlds: shown.map_or(0, |audited| audited.members),
            transitions: shown.map_or(0, |audited| audited.transitions),
            trusted: shown.map_or(&[], |audited| &audited.trusted[..]),
        }
    }
}
