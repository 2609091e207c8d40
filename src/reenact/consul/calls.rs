//! Requests under way. Each has a connection of its own, as in the model, and its answer is kept until the model has one.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use fencepost_consul::Request;
use fencepost_live::{HttpRequest, Reply, send};
use fencepost_model::ids::{Call, ClientId};

/// A request under way.
pub(super) struct Pending {
    /// As the agent was asked.
    pub(super) request: Request,
    pub(super) question: HttpRequest,
    replies: Receiver<(Reply, Instant)>,
}

/// The requests under way.
#[derive(Default)]
pub(super) struct Calls(BTreeMap<(ClientId, Call), Pending>);

impl Calls {
    /// Asks, and does not wait.
    pub(super) fn ask(
        &mut self,
        base: &str,
        (client, call): (ClientId, Call),
        request: Request,
        question: HttpRequest,
    ) {
        let pending = Pending::sent(base, request, question);
        self.0.insert((client, call), pending);
    }

    /// Takes a request out.
    pub(super) fn take(&mut self, client: ClientId, call: Call) -> Option<Pending> {
        self.0.remove(&(client, call))
    }
}

impl Pending {
    fn sent(base: &str, request: Request, question: HttpRequest) -> Pending {
        let (sender, replies) = channel();
        let (base, asked) = (base.to_owned(), question.clone());
        thread::spawn(move || {
            let reply = send(&base, &asked);
            // The execution may be over by now.
            let _ = sender.send((reply, Instant::now()));
        });
        Pending { request, question, replies }
    }

    /// The same request once more.
    pub(super) fn repeated(self, base: &str) -> Pending {
        Pending::sent(base, self.request, self.question)
    }

    /// What came of it, and when; none: nothing so far.
    pub(super) fn reply(&self, until: Instant) -> Option<(Reply, Instant)> {
        self.replies.recv_timeout(until.saturating_duration_since(Instant::now())).ok()
    }

    /// What came of it already.
    pub(super) fn early_reply(&self) -> Option<(Reply, Instant)> {
        self.reply(Instant::now() + Duration::from_millis(1))
    }

    /// The question on one line.
    pub(super) fn line(&self) -> String {
        format!("{} {}", self.question.method, self.question.path)
    }
}
