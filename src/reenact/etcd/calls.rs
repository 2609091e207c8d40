//! Requests in flight. Each has a connection of its own, and its answer is kept until the model has one.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use fencepost_etcd::Request;
use fencepost_live::{HttpRequest, Reply, send};
use fencepost_model::ids::{Call, ClientId};

use super::answers::Heard;
use super::requests::Question;
use super::watch::OpenWatch;

/// A request in flight.
pub(super) struct Pending {
    /// As the model has it.
    pub(super) request: Request,
    question: Question,
    /// None: it was not sent, for the server is down.
    flight: Option<Flight>,
}

struct Flight {
    replies: Receiver<(Heard, Instant)>,
    watch: Option<OpenWatch>,
}

/// The requests in flight.
#[derive(Default)]
pub(super) struct Calls(BTreeMap<(ClientId, Call), Pending>);

impl Calls {
    /// Asks, and does not wait. A server that is down is not asked.
    pub(super) fn ask(
        &mut self,
        base: &str,
        whose: (ClientId, Call),
        request: Request,
        question: Question,
        down: bool,
    ) {
        let flight = (!down).then(|| Flight::begin(base, &question));
        self.0.insert(whose, Pending { request, question, flight });
    }

    /// Takes a request out.
    pub(super) fn take(&mut self, client: ClientId, call: Call) -> Option<Pending> {
        self.0.remove(&(client, call))
    }

    /// The connection of a client breaks: its watches do.
    pub(super) fn break_off(&self, client: ClientId) {
        for (_, pending) in self.0.iter().filter(|((whose, _), _)| *whose == client) {
            if let Some(Flight { watch: Some(watch), .. }) = &pending.flight {
                watch.break_off();
            }
        }
    }

    /// The server is there again: what was in flight, or waits for it, is asked once more (E-W-7, E-CC-2).
    pub(super) fn repeat(&mut self, base: &str) {
        for pending in self.0.values_mut() {
            pending.flight = Some(Flight::begin(base, &pending.question));
        }
    }
}

impl Flight {
    fn begin(base: &str, question: &Question) -> Flight {
        let (sender, replies) = channel();
        let body = question.body.to_string();
        if question.path == "/v3/watch" {
            let authority = base.split_once("://").map_or(base, |(_, rest)| rest);
            // Without a connection nothing is ever told, and the channel is closed.
            let watch = OpenWatch::begin(authority, question.path, &body, sender).ok();
            return Flight { replies, watch };
        }
        let (base, path) = (base.to_owned(), question.path.to_owned());
        thread::spawn(move || {
            let request = HttpRequest { method: "POST", path, body: body.into_bytes(), timeout: PATIENCE };
            let reply = send(&base, &request);
            // The execution may be over by now.
            let _ = sender.send((Heard::Reply(reply), Instant::now()));
        });
        Flight { replies, watch: None }
    }
}

/// How long the server may take over a request that does not wait.
const PATIENCE: Duration = Duration::from_secs(60);

impl Pending {
    /// What came of it, and when; none: nothing so far.
    pub(super) fn heard(&self, until: Instant) -> Option<(Heard, Instant)> {
        match &self.flight {
            Some(flight) => flight.replies.recv_timeout(until.saturating_duration_since(Instant::now())).ok(),
            // The server is down: the connection would be refused.
            None => Some((Heard::Reply(Reply::Lost), Instant::now())),
        }
    }

    /// The question, and what came of it, on one line.
    pub(super) fn said(&self, heard: &Heard) -> String {
        let path = self.question.path;
        match heard {
            Heard::Reply(Reply::Answered { status, body, .. }) => {
                let body: String = String::from_utf8_lossy(body).trim().chars().take(300).collect();
                format!("{path}: {status} {body}")
            }
            Heard::Reply(Reply::Refused(why) | Reply::Closed(why)) => why.clone(),
            Heard::Reply(Reply::Lost) => format!("{path}: no answer"),
            Heard::Watched(watched) => format!("{path}: {watched:?}").to_lowercase(),
        }
    }

    /// Where it went.
    pub(super) fn path(&self) -> &'static str {
        self.question.path
    }
}
