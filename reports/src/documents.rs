//! What published documents say, and what comes of it: the flaws, and which promise of which scenario shows each of them.

use fencepost_model::finding::{Finding, Property};
use serde::Deserialize;

/// A document, and what it gets wrong.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// The document's title.
    pub title: String,
    /// The content of the document, in a sentence.
    pub about: String,
    /// What it gets wrong, in the order of the numbers.
    #[serde(rename = "flaw")]
    pub flaws: Vec<Flaw>,
}

/// Something that a document gets wrong.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flaw {
    /// The number of the flaw, the rule or the hazard: F-6, C-SEED-2, B-27.
    pub number: String,
    /// What the document says, in our words; in brackets, what it does not say.
    pub says: String,
    /// The promise that is violated if a program follows the document.
    pub shown: Promise,
    /// What to do instead.
    pub fix: String,
    /// The promise that then holds; none where it takes more than a client can do.
    pub fixed: Option<Promise>,
}

/// A promise of a scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// The scenario's name.
    pub scenario: String,
    /// The promise that decides whether the document is right.
    pub property: Property,
}

impl Promise {
    /// What a run found about it.
    pub(crate) fn find<'a>(&self, findings: &'a [Finding]) -> Option<&'a Finding> {
        findings.iter().find(|finding| finding.scenario == self.scenario && finding.property == self.property)
    }
}

impl Document {
    /// Reads the TOML that a service ships with.
    ///
    /// # Panics
    /// It is not well-formed: tests read every document.
    pub fn read(text: &str) -> Self {
        toml::from_str(text).expect("the documents are tested")
    }
}
