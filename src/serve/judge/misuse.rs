//! What a client should not do with a session, seen from its requests: use one that another client has made, go on with one of which
//! it has been told that it is gone, write although it has left or has lost the lock.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_conform::HttpRequest;
use serde_json::Value;

use crate::clock::seconds;
use crate::judge::{LeaseRun, Violated};
use crate::stand_in::{Answer, Journey, Witness};

/// A client that does what it should not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misuse {
    /// `foreign-session`, `lost-session`, `write-outside` or `write-after-loss`.
    pub name: &'static str,
    /// When, in nanoseconds since the start.
    pub at: i64,
    /// The client and what it does, as a sentence.
    pub sentence: String,
}

impl Misuse {
    pub(super) fn write_outside(at: i64, client: &str, key: &str) -> Misuse {
        let sentence = format!("{client} writes to {key}, and is not inside");
        Misuse { name: "write-outside", at, sentence }
    }

    pub(super) fn write_after_loss(at: i64, client: &str, key: &str) -> Misuse {
        let sentence = format!("{client} writes to {key}, and has been told that its session is gone");
        Misuse { name: "write-after-loss", at, sentence }
    }
}

/// Sessions, by id, and what clients know of them.
#[derive(Clone, Debug, Default)]
pub struct Sessions {
    known: BTreeMap<String, Session>,
    /// How many each client has made.
    made: BTreeMap<String, usize>,
    /// Sessions of which a client has been told that they are gone.
    lost: BTreeSet<(String, String)>,
    /// The session with which a client has acquired a key last.
    acquired: BTreeMap<(String, String), String>,
    /// What has been reported once for a client and a session.
    reported: BTreeSet<(&'static str, String, String)>,
}

#[derive(Clone, Debug)]
struct Session {
    owner: String,
    /// As stories call it.
    name: String,
}

impl Sessions {
    pub(super) fn created(&mut self, id: &str, client: &str, body: &[u8]) {
        let number = self.made.entry(client.to_owned()).or_insert(0);
        *number += 1;
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let ttl = body["TTL"].as_str().filter(|ttl| !ttl.is_empty()).map(|ttl| format!(" (TTL {ttl})"));
        let name = format!("session {number} of {client}{}", ttl.unwrap_or_default());
        self.known.insert(id.to_owned(), Session { owner: client.to_owned(), name });
    }

    /// The ids of the sessions that a client has created.
    pub(crate) fn of(&self, client: &str) -> Vec<String> {
        self.known.iter().filter(|(_, session)| session.owner == client).map(|(id, _)| id.clone()).collect()
    }

    /// As stories call it.
    pub(super) fn name<'a>(&'a self, id: &'a str) -> &'a str {
        self.known.get(id).map_or(id, |session| &session.name)
    }

    /// Who has made a session.
    pub(crate) fn owner(&self, id: &str) -> String {
        self.known.get(&id.to_lowercase()).map_or_else(|| "another client".to_owned(), |session| session.owner.clone())
    }
}

impl Witness for Sessions {
    /// With sessions by their names.
    fn request(&self, question: &HttpRequest) -> String {
        let mut text = format!("{} {}", question.method, question.url);
        if let Some(id) = session_of(question)
            && let Some(session) = self.known.get(&id)
        {
            text = text.replace(&id, &format!("⟨{}⟩", session.name));
        }
        text
    }

    fn told(&self, answer: &Answer) -> String {
        let text = String::from_utf8_lossy(&answer.body);
        let begin: String = text.trim().chars().take(60).collect();
        match (answer.status, begin.is_empty()) {
            (200, false) => begin,
            (status, true) => status.to_string(),
            (status, false) => format!("{status} {begin}"),
        }
    }

    fn acquired_key(question: &HttpRequest) -> Option<String> {
        let (path, query) = question.url.split_once('?')?;
        let key = path.strip_prefix("/v1/kv/")?;
        let is_acquire = form_urlencoded::parse(query.as_bytes()).any(|(name, _)| name == "acquire");
        (is_acquire && question.method == "PUT")
            .then(|| percent_encoding::percent_decode_str(key).decode_utf8_lossy().into_owned())
    }

    fn answered(&mut self, at: i64, journey: &Journey, answer: &Answer, misuse: &mut Vec<Misuse>) {
        let Some(id) = session_of(&journey.question) else { return };
        let (client, url) = (&journey.client, &journey.question.url);
        let does = if url.contains("/renew/") {
            "renews"
        } else if Sessions::acquired_key(&journey.question).is_some() {
            "acquires with"
        } else {
            ""
        };
        if !does.is_empty() {
            let named = self.name(&id).to_owned();
            let mut report = |name: &'static str, sentence: String| {
                if self.reported.insert((name, client.clone(), id.clone())) {
                    misuse.push(Misuse { name, at, sentence });
                }
            };
            if self.known.get(&id).is_some_and(|session| session.owner != *client) {
                report("foreign-session", format!("{client} {does} {named}, which it has not made"));
            }
            if self.lost.contains(&(client.clone(), id.clone())) {
                report("lost-session", format!("{client} {does} {named}, and has been told that it is gone"));
            }
        }
        if let Some(key) = Sessions::acquired_key(&journey.question).filter(|_| answer.body.trim_ascii() == b"true") {
            self.acquired.insert((client.clone(), key), id.clone());
        }
        let is_gone = url.contains("/renew/") && answer.status == 404
            || url.contains("/info/") && matches!(answer.body.trim_ascii(), b"[]" | b"null")
            || url.contains("acquire=") && answer.status == 500 && answer.body.starts_with(b"invalid session");
        if is_gone && self.known.contains_key(&id) {
            self.lost.insert((client.clone(), id));
        }
    }

    fn delivered(&mut self, _: i64, _: &Journey) -> Vec<(String, Violated)> {
        Vec::new()
    }

    /// The session is gone with which it has acquired the key.
    fn has_lost(&self, client: &str, key: &str) -> bool {
        let session = self.acquired.get(&(client.to_owned(), key.to_owned()));
        session.is_some_and(|session| self.lost.contains(&(client.to_owned(), session.clone())))
    }

    fn leases(&self) -> Option<LeaseRun> {
        None
    }
}

/// The session that a request names.
fn session_of(question: &HttpRequest) -> Option<String> {
    let (path, query) = question.url.split_once('?').unwrap_or((&question.url, ""));
    let in_path =
        ["renew", "destroy", "info"].iter().find_map(|what| path.strip_prefix(&format!("/v1/session/{what}/")));
    let in_query = || {
        form_urlencoded::parse(query.as_bytes())
            .find(|(name, _)| name == "acquire" || name == "release")
            .map(|(_, id)| id.into_owned())
    };
    in_path.map(str::to_owned).or_else(in_query).filter(|id| !id.is_empty())
}

impl std::fmt::Display for Misuse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {} s: {}", self.name, seconds(self.at), self.sentence)
    }
}
