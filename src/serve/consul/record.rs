//! A run as `fencepost conform --recorded` reads it: requests with their answers, and when they were sent and received.

use fencepost_conform::{Details, Episode, Event, EventKind, HttpRequest, LogRecord, Reply, Report, write};

use crate::settings::Settings;
use crate::stand_in::{Answer, Journey, NAMELESS, RunRecord};

/// What the clients have asked, and what they were answered.
#[derive(Clone, Debug)]
pub struct Record {
    episodes: Vec<Episode>,
    is_kept: bool,
}

impl RunRecord for Record {
    fn new(settings: &Settings) -> Self {
        let mut record = Record { episodes: Vec::new(), is_kept: settings.is_recorded };
        record.begin(settings);
        record
    }

    fn begin(&mut self, settings: &Settings) {
        let (node, options) = (settings.node.clone(), settings.options);
        self.episodes.push(Episode { node, options, lateness: None, lines: Vec::new(), ..Episode::default() });
    }

    fn answered(&mut self, journey: &Journey, answer: &Answer, now: i64) {
        self.add(named(journey), &journey.question, Some(answer), journey.sent, now);
    }

    fn lost(&mut self, journey: &Journey) {
        // A read without a delivered answer says nothing.
        if journey.question.method != "GET" {
            self.add(named(journey), &journey.question, None, journey.sent, i64::MAX);
        }
    }

    fn reported(&mut self, client: &str, key: &str, is_inside: bool, now: i64) {
        if let Some(episode) = self.episodes.last_mut().filter(|_| self.is_kept) {
            let (number, key) = (episode.reports.len() + 1, Some(key.to_owned()));
            episode.reports.push(Report { number, client: client.to_owned(), key, is_inside, at: now });
        }
    }

    fn text(&self) -> String {
        if !self.is_kept {
            return String::new();
        }
        let mut episodes = self.episodes.clone();
        episodes.iter_mut().for_each(|episode| episode.lines.sort_by_key(|line| line.sent));
        write("1.8.7", &episodes)
    }
}

impl Record {
    /// The agent has told the catalogue something.
    pub(crate) fn sync(&mut self, question: &HttpRequest, answer: &Answer, now: i64) {
        self.add(None, question, Some(answer), now, now);
    }

    /// Something happened to the servers. Until an instant, the old leader may have answered.
    pub(crate) fn happened(&mut self, kind: EventKind, sent: i64, received: i64) {
        if !self.is_kept {
            return;
        }
        if let Some(episode) = self.episodes.last_mut() {
            episode.events.push(Event { number: episode.events.len() + 1, kind, sent, received });
        }
    }

    fn add(&mut self, client: Option<&str>, question: &HttpRequest, answer: Option<&Answer>, sent: i64, received: i64) {
        if !self.is_kept || !is_modelled(&question.url) || answer.is_some_and(|answer| answer.status == 501) {
            return;
        }
        let Some(episode) = self.episodes.last_mut() else { return };
        let reply = answer.map(|answer| Reply {
            status: answer.status,
            index: answer.index(),
            has_headers: true,
            contact: None,
            body: answer.body.clone(),
        });
        let number = episode.lines.len() + 1;
        episode.lines.push(LogRecord {
            number,
            client: client.map(str::to_owned),
            question: question.clone(),
            reply,
            sent,
            received,
            is_timed: true,
            details: Details::default(),
        });
    }
}

/// The client of a request, unless it has not said its name: then it may be any of several.
fn named(journey: &Journey) -> Option<&str> {
    Some(journey.client.as_str()).filter(|name| *name != NAMELESS)
}

/// What the judge of logs knows: it calls any other request undecided.
fn is_modelled(url: &str) -> bool {
    const MODELLED: [&str; 8] = [
        "/v1/kv/",
        "/v1/txn",
        "/v1/session/",
        "/v1/catalog/register",
        "/v1/catalog/deregister",
        "/v1/catalog/node/",
        "/v1/health/node/",
        "/v1/query",
    ];
    MODELLED.iter().any(|start| url.starts_with(start))
}
