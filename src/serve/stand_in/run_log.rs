//! A run as JSON lines: each request with its answer, and when both were sent and received, in seconds since the start.

use std::marker::PhantomData;

use serde_json::{Value, json};

use super::{Answer, Journey, RunRecord};
use crate::clock::seconds;
use crate::settings::Settings;

/// What the lines say that differs between servers.
pub trait LogLine: Clone + std::fmt::Debug {
    /// What a key is called in reports.
    const KEY: &'static str;

    /// A request, with its answer and when that arrived, if it did.
    fn line(journey: &Journey, answer: Option<(&Answer, i64)>) -> Value;
}

/// What clients have asked, and what they were answered.
#[derive(Clone, Debug)]
pub struct RunLog<L> {
    lines: Vec<Value>,
    is_kept: bool,
    how: PhantomData<L>,
}

impl<L: LogLine> RunLog<L> {
    fn push(&mut self, line: impl FnOnce() -> Value) {
        if self.is_kept {
            self.lines.push(line());
        }
    }
}

impl<L: LogLine> RunRecord for RunLog<L> {
    fn new(settings: &Settings) -> Self {
        RunLog { lines: Vec::new(), is_kept: settings.is_recorded, how: PhantomData }
    }

    fn begin(&mut self, _: &Settings) {
        self.push(|| json!({"reset": true}));
    }

    fn answered(&mut self, journey: &Journey, answer: &Answer, now: i64) {
        self.push(|| L::line(journey, Some((answer, now))));
    }

    fn lost(&mut self, journey: &Journey) {
        self.push(|| L::line(journey, None));
    }

    fn reported(&mut self, client: &str, key: &str, is_inside: bool, now: i64) {
        self.push(|| json!({"client": client, (L::KEY): key, "inside": is_inside, "at": seconds(now)}));
    }

    fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }
}

/// JSON as it is, and anything else as text.
pub(crate) fn body_of(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap_or_else(|_| json!(String::from_utf8_lossy(bytes)))
}
