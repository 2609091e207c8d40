//! The parts of a log that have nothing to do with each other: keys, with the sessions that lock them. A session that does not
//! end is in each part that names it; one that may end joins its keys into one part, as a transaction does.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::consul::part;
use super::super::log::LogRecord;
use super::is_idle;
use super::subject::Subject;
use super::writes::{created, ttl};

/// The requests of each part, by when they were sent. None: the log has a request that may change anything.
pub(super) fn parts(lines: &[LogRecord]) -> Option<Parts> {
    let end = lines.iter().map(|line| line.received).filter(|at| *at < i64::MAX).max()?;
    let mut about = Topics::default();
    for (place, line) in lines.iter().enumerate() {
        about.add(place, line, end)?;
    }
    Some(about.parts())
}

/// Requests that have to do with each other.
pub(super) struct Parts {
    /// Each with all requests about some keys, and those about the sessions that lock them.
    pub(super) keys: Vec<Vec<usize>>,
    /// The requests about sessions.
    pub(super) sessions: Vec<usize>,
}

/// What requests are about, and what belongs together.
#[derive(Default)]
struct Topics {
    /// By key or mortal session: a smaller one of the same part, or itself.
    with: BTreeMap<Topic, Topic>,
    /// Requests, with one of the topics that they are about.
    requests: Vec<(usize, Topic)>,
    /// The requests about sessions.
    sessions: Vec<usize>,
    /// By session: the requests about it alone.
    alone: BTreeMap<String, Vec<usize>>,
    /// By session that may end.
    mortal: BTreeSet<String>,
    /// Which sessions requests about keys name.
    named: Vec<(Topic, String)>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Topic {
    Key(String),
    Session(String),
}

impl Topics {
    fn add(&mut self, place: usize, line: &LogRecord, end: i64) -> Option<()> {
        let url = &line.question.url;
        if let Some(id) = created(line) {
            if ttl(line).is_some_and(|ttl| line.sent.saturating_add(ttl) <= end) {
                self.mortal.insert(id.clone());
            }
            self.sessions.push(place);
            self.alone.entry(id).or_default().push(place);
            return Some(());
        }
        if let Some(id) = url.strip_prefix("/v1/session/destroy/") {
            let id = id.split('?').next()?.to_ascii_lowercase();
            self.mortal.insert(id.clone());
            self.sessions.push(place);
            self.alone.entry(id).or_default().push(place);
            return Some(());
        }
        match Subject::of(&line.question) {
            Subject::Session(_) | Subject::Sessions if line.question.method == "GET" => self.sessions.push(place),
            Subject::Session(id) => {
                let id = id.split('?').next().unwrap_or_default().to_owned();
                self.sessions.push(place);
                self.alone.entry(id).or_default().push(place);
            }
            Subject::Keys(keys) => {
                let topics: Vec<Topic> = keys.into_iter().map(Topic::Key).collect();
                let first = topics.first()?.clone();
                for topic in topics {
                    self.join(&first, &topic);
                }
                self.named.extend(sessions(line).into_iter().map(|id| (first.clone(), id)));
                self.requests.push((place, first));
            }
            _ if is_idle(line) => {}
            _ => return None,
        }
        Some(())
    }

    fn first_of(&self, topic: &Topic) -> Topic {
        let mut at = topic.clone();
        while let Some(next) = self.with.get(&at).filter(|next| **next != at) {
            at = next.clone();
        }
        at
    }

    fn join(&mut self, one: &Topic, other: &Topic) {
        let (one, other) = (self.first_of(one), self.first_of(other));
        let (first, last) = if one <= other { (one, other) } else { (other, one) };
        self.with.insert(last, first.clone());
        self.with.entry(first.clone()).or_insert(first);
    }

    fn parts(mut self) -> Parts {
        for (topic, id) in std::mem::take(&mut self.named) {
            let requests = self.alone.get(&id).into_iter().flatten();
            self.requests.extend(requests.map(|place| (*place, topic.clone())));
            if self.mortal.contains(&id) {
                self.join(&topic, &Topic::Session(id));
            }
        }
        let mut parts: BTreeMap<Topic, BTreeSet<usize>> = BTreeMap::new();
        for (place, topic) in &self.requests {
            parts.entry(self.first_of(topic)).or_default().insert(*place);
        }
        let keys = parts.into_values().map(|places| places.into_iter().collect()).collect();
        Parts { keys, sessions: self.sessions }
    }
}

/// The sessions that a request about keys names.
pub(super) fn sessions(line: &LogRecord) -> BTreeSet<String> {
    let (path, query) = line.question.url.split_once('?').unwrap_or((&line.question.url, ""));
    if path == "/v1/txn" {
        let items: Value = serde_json::from_slice(&line.question.body).unwrap_or_default();
        let items = items.as_array().into_iter().flatten().filter_map(|item| part(part(item, "KV")?, "Session"));
        return items.filter_map(Value::as_str).map(str::to_ascii_lowercase).collect();
    }
    let named = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "acquire" || name == "release");
    named.map(|(_, id)| id.to_ascii_lowercase()).collect()
}
