//! What to choose by: the same questions to each service, and which promises of which scenarios answer them.

use std::collections::BTreeMap;

use fencepost_model::finding::Finding;
use serde::Deserialize;

use crate::documents::Promise;

/// Questions to services, and where the answers are.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// How answers are read, in a sentence.
    pub about: String,
    /// The services that are asked.
    #[serde(rename = "service")]
    pub services: Vec<ChoiceService>,
    /// The questions to each of them.
    #[serde(rename = "question")]
    pub questions: Vec<ChoiceQuestion>,
}

/// A service that is asked.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChoiceService {
    /// Its key among the answers.
    pub key: String,
    /// Its name.
    pub name: String,
    /// Which versions of servers and clients the scenarios are about.
    pub version: String,
}

/// A question to each service.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChoiceQuestion {
    /// The question.
    pub title: String,
    /// Under which assumptions it is asked.
    pub about: String,
    /// The answers, by the service's key.
    pub answers: BTreeMap<String, ChoiceAnswer>,
}

/// The answer of a service: promises, or the reason why none of a scenario answers.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ChoiceAnswer {
    /// The verdicts on these promises answer.
    Shown(Vec<Promise>),
    /// There is none, for this reason.
    None(String),
}

impl Choice {
    /// The questions that ship with fencepost.
    ///
    /// # Panics
    /// The file is not well-formed: a test reads it.
    pub fn shipped() -> Self {
        toml::from_str(include_str!("../choice.toml")).expect("the file is tested")
    }

    /// Every promise that answers a question.
    pub fn promises(&self) -> impl Iterator<Item = &Promise> {
        self.questions.iter().flat_map(|question| question.answers.values()).flat_map(ChoiceAnswer::promises)
    }

    /// Whether some findings answer all questions.
    pub(crate) fn is_answered_by(&self, findings: &[Finding]) -> bool {
        self.promises().all(|promise| promise.find(findings).is_some())
    }
}

impl ChoiceAnswer {
    /// The promises that answer.
    pub fn promises(&self) -> &[Promise] {
        match self {
            ChoiceAnswer::Shown(promises) => promises,
            ChoiceAnswer::None(_) => &[],
        }
    }
}
