//! The streams of watches: read from a server until they are silent, and written as the model says. How events are grouped into messages is
//! fresh in each, but the events of one revision are in one message (E-W-3).

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use fencepost_etcd::mvcc::{WatchBesides, WatchEvent, WatchRange, WatchRefusal, WatchSaid};
use serde_json::{Value, json};

use super::bodies::stream_body;
use super::render::{entry, filled, header};
use super::wire::{EtcdReply, EtcdServer, bytes, number};
use crate::error::ConformError;

/// The server looks ten times in a second after watches that begin in the past: without a word for this long there is none.
const SILENCE: Duration = Duration::from_millis(180);

/// The same after events, or the word that there are none: what is left follows at once.
const SILENCE_AFTER: Duration = Duration::from_millis(30);

/// How long to wait for events that there must be.
const PATIENCE: Duration = Duration::from_secs(3);

/// A stream of a watch.
#[derive(Debug)]
pub(super) struct WatchStream {
    stream: TcpStream,
    text: Vec<u8>,
}

impl WatchStream {
    /// Opens it, and sends all that it is asked.
    pub(super) fn open(server: &EtcdServer, watch: &WatchRange) -> Result<Self, ConformError> {
        Self::open_with(server, watch, "")
    }

    /// The same of a stream that ends where its member has no leader (E-W-7).
    pub(super) fn open_with_leader(server: &EtcdServer, watch: &WatchRange) -> Result<Self, ConformError> {
        Self::open_with(server, watch, "Grpc-Metadata-hasleader: true\r\n")
    }

    fn open_with(server: &EtcdServer, watch: &WatchRange, headers: &str) -> Result<Self, ConformError> {
        let host = server.base().trim_start_matches("http://");
        let lost = |error: std::io::Error| ConformError(format!("a watch at {host}: {error}"));
        let body = stream_body(watch);
        let mut stream = TcpStream::connect(host).map_err(lost)?;
        let head =
            format!("POST /v3/watch HTTP/1.1\r\nHost: {host}\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
        stream.write_all((head + &body).as_bytes()).map_err(lost)?;
        Ok(WatchStream { stream, text: Vec::new() })
    }

    /// Reads until it is silent; `expects`: there must be an event, or a word that there is none.
    pub(super) fn read(mut self, expects: bool) -> Result<EtcdReply, ConformError> {
        let began = Instant::now();
        loop {
            let messages = self.messages();
            let is_told =
                messages.iter().any(|message| !message["events"].is_null() || !message["compact_revision"].is_null());
            let silence = match (is_told, expects) {
                (true, _) => SILENCE_AFTER,
                (false, false) if !messages.is_empty() => SILENCE,
                _ => PATIENCE.saturating_sub(began.elapsed()).max(SILENCE_AFTER),
            };
            self.stream.set_read_timeout(Some(silence)).map_err(|error| ConformError(error.to_string()))?;
            let mut more = [0; 8192];
            match self.stream.read(&mut more) {
                Ok(0) => break,
                Ok(count) => self.text.extend_from_slice(&more[..count]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => break,
                Err(error) => return Err(ConformError(format!("a watch breaks off: {error}"))),
            }
        }
        Ok(EtcdReply { status: 200, body: json!({ "messages": self.messages() }) })
    }

    /// What it says when it ends, and when; none: it is open still after a time.
    pub(super) fn end(mut self, within: Duration) -> Result<Option<(Instant, Value)>, ConformError> {
        let until = Instant::now() + within;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            self.stream.set_read_timeout(Some(left)).map_err(|error| ConformError(error.to_string()))?;
            let mut more = [0; 8192];
            match self.stream.read(&mut more) {
                Ok(0) => return Ok(Some((Instant::now(), Value::Null))),
                Ok(count) => self.text.extend_from_slice(&more[..count]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => return Ok(None),
                Err(error) => return Err(ConformError(format!("a watch breaks off: {error}"))),
            }
            if let Some(last) = self.messages().pop().filter(|message| message["message"].is_string()) {
                return Ok(Some((Instant::now(), last)));
            }
        }
    }

    /// What has come so far; each message is a line of its own among the marks of their lengths.
    fn messages(&self) -> Vec<Value> {
        let text = String::from_utf8_lossy(&self.text);
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.filter_map(|line| line.get("result").or_else(|| line.get("error")).cloned()).collect()
    }
}

/// The messages of a stream; `progress`: whether it tells that if it is asked for it.
pub(super) fn messages(
    revision: i64,
    watches: &[WatchSaid],
    (besides, id): (WatchBesides, i64),
    progress: bool,
) -> Value {
    let mut messages: Vec<Value> = watches.iter().map(|said| created(revision, said)).collect();
    match besides {
        WatchBesides::Cancel if !matches!(watches, [WatchSaid::Refused(_)]) => {
            let cancelled = json!({ "header": header(revision), "watch_id": number(id), "canceled": true });
            messages.push(filled(cancelled));
        }
        WatchBesides::Progress if progress => messages.push(json!({ "header": header(revision), "watch_id": "-1" })),
        _ => {}
    }
    messages.extend(watches.iter().filter_map(told));
    json!({ "messages": messages })
}

/// The first message about a watch.
fn created(revision: i64, said: &WatchSaid) -> Value {
    let (id, reason) = match said {
        WatchSaid::Refused(WatchRefusal::DuplicateId) => (-1, "mvcc: duplicate watch ID provided on the WatchStream"),
        WatchSaid::Refused(WatchRefusal::EmptyRange) => (-1, "mvcc: watcher range is empty"),
        WatchSaid::Refused(WatchRefusal::Compacted) => (-1, "etcdserver: mvcc: required revision has been compacted"),
        WatchSaid::Compacted { id, .. } | WatchSaid::Events { id, .. } => (*id, ""),
    };
    filled(json!({
        "header": header(revision),
        "watch_id": number(id),
        "created": true,
        "canceled": !reason.is_empty(),
        "cancel_reason": reason,
    }))
}

/// The message after that, if there is one.
fn told(said: &WatchSaid) -> Option<Value> {
    match said {
        WatchSaid::Compacted { id, compacted } => {
            Some(filled(json!({ "watch_id": number(*id), "canceled": true, "compact_revision": number(*compacted) })))
        }
        WatchSaid::Events { id, events } if !events.is_empty() => {
            let events: Vec<Value> = events.iter().map(event).collect();
            Some(filled(json!({ "watch_id": number(*id), "events": events })))
        }
        _ => None,
    }
}

/// E-W-4.
fn event(event: &WatchEvent) -> Value {
    let kv = match &event.entry {
        Some(put) => entry(put),
        None => json!({ "key": bytes(&event.key), "mod_revision": number(event.revision) }),
    };
    let kind = if event.entry.is_some() { "" } else { "DELETE" };
    filled(json!({ "type": kind, "kv": kv, "prev_kv": event.previous.as_ref().map(entry) }))
}

/// The messages without how events are grouped: those about the watches themselves, and the events of each watch.
pub(super) fn grouped(body: &mut Value) {
    let Some(messages) = body.get_mut("messages").and_then(Value::as_array_mut) else { return };
    let mut events: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut others = Vec::new();
    let mut is_split = false;
    for mut message in std::mem::take(messages) {
        let Some(Value::Array(told)) = message.as_object_mut().and_then(|message| message.remove("events")) else {
            others.push(message);
            continue;
        };
        let of_watch = events.entry(message["watch_id"].to_string()).or_default();
        let revision = |event: Option<&Value>| event.map(|event| event["kv"]["mod_revision"].clone());
        is_split |= !of_watch.is_empty() && revision(of_watch.last()) == revision(told.first());
        of_watch.extend(told);
    }
    // The end of a watch that is compacted comes whenever the server looks after it, and that of several in any order. Where progress waits, it may
    // come before the first message of a watch that was there before it (E-W-6).
    others.sort_by_key(|message| {
        let is_progress = message["watch_id"] == "-1" && message["created"].is_null();
        match message["compact_revision"].is_null() {
            true => (u8::from(is_progress), String::new()),
            false => (2, message["watch_id"].to_string()),
        }
    });
    *body = json!({ "watches": others, "events": events, "split": is_split });
}

impl EtcdReply {
    /// Deletions at this revision are left out: a store that is compacted up to it has them for as long as the compaction takes, and loses them
    /// (E-W-5).
    pub(super) fn drop_deletions_at(&mut self, revision: i64) {
        let messages = self.body.get_mut("messages").and_then(Value::as_array_mut);
        for message in messages.into_iter().flatten() {
            if let Some(events) = message.get_mut("events").and_then(Value::as_array_mut) {
                events.retain(|event| event["type"] != "DELETE" || event["kv"]["mod_revision"] != number(revision));
            }
        }
        if let Some(messages) = self.body.get_mut("messages").and_then(Value::as_array_mut) {
            messages.retain(|message| !message["events"].as_array().is_some_and(Vec::is_empty));
        }
    }

    /// What others have written by then is in the headers of a stream.
    pub(super) fn drop_headers_of_messages(&mut self) {
        let messages = self.body.get_mut("messages").and_then(Value::as_array_mut);
        messages.into_iter().flatten().filter_map(Value::as_object_mut).for_each(|message| {
            message.remove("header");
        });
    }
}
