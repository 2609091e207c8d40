//! Requests, answers and deadlines, without sockets and without a clock: the driver of a [`StandIn`] says what arrives and how time
//! passes, and takes the answers that are ready.
//!
//! ```text
//! backend  what distinguishes one server from another     fingerprint  what decides how a run goes on
//! answer   what goes back over the wire                   time         deadlines, in their order
//! clients  who is known, and whether all wait             waiting      what is not answered yet
//! seen     requests by names that are stable              run_log      a run as JSON lines
//! streams  answers that go on message by message
//! ```

mod answer;
mod backend;
mod clients;
mod fingerprint;
mod run_log;
mod seen;
mod streams;
mod time;
mod waiting;

use std::collections::{BTreeMap, BTreeSet};

use fencepost_conform::HttpRequest;

use crate::consul::ConsulBackend;
use crate::faults::{Fault, FaultPlan};
use crate::judge::{Judge, Verdict};
use crate::settings::Settings;
use clients::Clients;

pub use answer::{Answer, RequestOutcome};
pub use backend::{Backend, RunRecord, Witness};
pub use fingerprint::Fingerprint;
pub(crate) use run_log::body_of;
pub use run_log::{LogLine, RunLog};
pub use seen::Seen;
pub(crate) use time::Due;
pub use waiting::Journey;
pub(crate) use waiting::{Fate, Waiting};

/// The name of clients that say none.
pub(crate) const NAMELESS: &str = "client";

/// A request as it came over the wire.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// The name of the client that sent it.
    pub client: String,
    /// The request.
    pub question: HttpRequest,
    /// What its body is, if it says so.
    pub content_type: Option<String>,
    /// Whether it brought a token or other credentials, which are ignored.
    pub has_token: bool,
}

/// Names a request until it is answered.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ticket(pub(crate) u64);

/// A server that is the model: a Consul agent, unless it says otherwise.
#[derive(Clone, Debug)]
pub struct StandIn<B: Backend = ConsulBackend> {
    pub(crate) settings: Settings,
    pub(crate) backend: B,
    pub(crate) plan: FaultPlan,
    pub(crate) judge: Judge<B::Witness>,
    pub(crate) record: B::Record,
    pub(crate) clients: Clients,
    /// In nanoseconds since it was started.
    pub(crate) now: i64,
    pub(crate) waiting: BTreeMap<Ticket, Waiting>,
    pub(crate) ready: Vec<(Ticket, RequestOutcome)>,
    requests: Vec<Seen>,
    /// What each client was told.
    told: fingerprint::Told,
    pub(crate) last_ticket: u64,
    /// What has been said once.
    notices: BTreeSet<&'static str>,
    news: Vec<&'static str>,
}

impl<B: Backend> StandIn<B> {
    /// One with an empty store.
    ///
    /// # Panics
    /// The plan has a fault that this server does not have.
    pub fn new(settings: Settings) -> Self {
        settings.plan.suits(B::NAME).expect("the plan was read for this server");
        StandIn {
            backend: B::new(&settings),
            plan: settings.plan.anew(),
            judge: Judge::default(),
            record: B::Record::new(&settings),
            clients: Clients::default(),
            now: 0,
            waiting: BTreeMap::new(),
            ready: Vec::new(),
            requests: Vec::new(),
            told: fingerprint::Told::default(),
            last_ticket: 0,
            notices: BTreeSet::new(),
            news: Vec::new(),
            settings,
        }
    }

    /// A request arrives. It costs a microsecond, so that no two requests are carried out at the same instant.
    pub fn arrive(&mut self, incoming: Incoming) -> Ticket {
        self.now = self.now.saturating_add(MICROSECOND);
        self.last_ticket += 1;
        let ticket = Ticket(self.last_ticket);
        let Incoming { client, question, content_type, has_token } = incoming;
        if has_token {
            self.notice("tokens are accepted, and not looked at");
        }
        let journey = Journey { ticket, client, question, content_type, sent: self.now, fate: Fate::Answered };
        if journey.question.url.starts_with("/fencepost/") {
            self.control(journey);
            return ticket;
        }
        self.clients.acts(&journey.client, self.now);
        let (method, url) = (&journey.question.method, &journey.question.url);
        if self.settings.lists_requests {
            self.requests.push(Seen::new(&journey.client, method, url, self.fingerprint()));
        }
        match self.plan.strike(&journey.client, method, url) {
            None => B::carry_out(self, journey),
            Some(fault) => self.go_wrong(journey, fault),
        }
        self.observe();
        ticket
    }

    fn go_wrong(&mut self, journey: Journey, fault: Fault) {
        self.judge.note(self.now, &journey, &format!("{fault} ({})", fault.allowed_by()));
        match fault {
            Fault::Event(event) => {
                B::happen(self, event, &journey);
                B::carry_out(self, journey);
            }
            Fault::LoseAnswer => B::carry_out(self, Journey { fate: Fate::Lost, ..journey }),
            Fault::DelayAnswer(by) => B::carry_out(self, Journey { fate: Fate::Delayed(by), ..journey }),
            Fault::DelayRequest(by) => {
                let until = self.now.saturating_add(by);
                self.waiting.insert(journey.ticket, Waiting::OnItsWay { until, journey });
            }
            Fault::Repeat => {
                // The first answer is dropped.
                let ticket = Ticket(0);
                B::carry_out(self, Journey { ticket, fate: Fate::Lost, ..journey.clone() });
                self.now = self.now.saturating_add(MICROSECOND);
                let journey = Journey { sent: self.now, ..journey };
                B::carry_out(self, journey);
            }
            Fault::Status(doubt, is_carried_out) => {
                let answer = B::error(doubt.status(), doubt.text());
                if is_carried_out {
                    return B::carry_out(self, Journey { fate: Fate::Instead(answer), ..journey });
                }
                self.finish(journey, answer);
            }
            Fault::LoseRequest => self.lose(&journey, RequestOutcome::Close),
            Fault::Reset => self.lose(&journey, RequestOutcome::Reset),
            Fault::HalfOpen => {
                self.record.lost(&journey);
                self.waiting.insert(journey.ticket, Waiting::Silent { client: journey.client });
            }
        }
    }

    pub(crate) fn lose(&mut self, journey: &Journey, outcome: RequestOutcome) {
        self.record.lost(journey);
        self.clients.is_told(&journey.client);
        self.told.note(journey, &outcome);
        self.ready.push((journey.ticket, outcome));
    }

    /// A request is answered, as far as nothing keeps the answer.
    pub(crate) fn finish(&mut self, mut journey: Journey, answer: Answer) {
        self.judge.answered(self.now, &journey, &answer);
        match std::mem::replace(&mut journey.fate, Fate::Answered) {
            Fate::Answered => self.deliver(&journey, answer),
            Fate::Instead(other) => self.deliver(&journey, other),
            Fate::Lost => self.lose(&journey, RequestOutcome::Close),
            Fate::Delayed(by) => {
                let until = self.now.saturating_add(by);
                self.waiting.insert(journey.ticket, Waiting::OnItsWayBack { until, journey, answer });
            }
        }
    }

    fn deliver(&mut self, journey: &Journey, answer: Answer) {
        self.hear(journey, answer, RequestOutcome::Answer);
    }

    /// An answer arrives, or a message of one.
    fn hear(&mut self, journey: &Journey, answer: Answer, how: fn(Answer) -> RequestOutcome) {
        self.judge.delivered(self.now, journey);
        self.record.answered(journey, &answer, self.now);
        self.clients.is_told(&journey.client);
        let outcome = how(answer);
        self.told.note(journey, &outcome);
        self.ready.push((journey.ticket, outcome));
    }

    /// Answers a request of a test, which is neither recorded nor judged.
    pub(crate) fn reply(&mut self, journey: &Journey, answer: Answer) {
        let outcome = RequestOutcome::Answer(answer);
        self.told.note(journey, &outcome);
        self.ready.push((journey.ticket, outcome));
    }

    /// Answers that are ready since this was asked last.
    pub fn ready(&mut self) -> Vec<(Ticket, RequestOutcome)> {
        std::mem::take(&mut self.ready)
    }

    /// No client waits for that answer any more: its connection is gone.
    pub fn forget(&mut self, ticket: Ticket) {
        if let Some(waiting) = self.waiting.remove(&ticket) {
            match waiting {
                Waiting::Parked { journey, .. } | Waiting::OnItsWayBack { journey, .. } => self.record.lost(&journey),
                // It is on its way all the same.
                Waiting::OnItsWay { until, journey } => {
                    let journey = Journey { ticket: Ticket(0), ..journey };
                    self.last_ticket += 1;
                    self.waiting.insert(Ticket(self.last_ticket), Waiting::OnItsWay { until, journey });
                }
                Waiting::Held { journey } => {
                    self.record.lost(&journey);
                    B::gone(self, ticket);
                }
                Waiting::Streams { .. } => B::gone(self, ticket),
                Waiting::Asleep { .. } | Waiting::Silent { .. } => {}
            }
        }
    }

    /// What broke so far.
    pub fn verdict(&self) -> Verdict {
        let unannounced = self.clients.unannounced();
        self.judge.verdict::<B>(&self.settings, &self.plan, unannounced)
    }

    /// The run so far; that of a Consul agent, as `fencepost conform --recorded` reads it. Empty, if it is not recorded.
    pub fn recorded(&self) -> String {
        self.record.text()
    }

    /// The requests so far, if they are listed, in the order in which they arrived.
    pub fn requests(&self) -> &[Seen] {
        &self.requests
    }

    /// The notices for the caller, each once.
    pub fn news(&mut self) -> Vec<&'static str> {
        std::mem::take(&mut self.news)
    }

    pub(crate) fn notice(&mut self, notice: &'static str) {
        if self.notices.insert(notice) {
            self.news.push(notice);
        }
    }

    /// Everything as it was at the start; a note that is printed once is not printed again.
    pub(crate) fn begin_anew(&mut self) {
        let notices = std::mem::take(&mut self.notices);
        let abandoned: Vec<Ticket> = self.waiting.keys().copied().collect();
        let mut ready = std::mem::take(&mut self.ready);
        ready.extend(abandoned.into_iter().map(|ticket| (ticket, RequestOutcome::Close)));
        let (last_ticket, now) = (self.last_ticket, self.now);
        let mut record = std::mem::replace(&mut self.record, B::Record::new(&self.settings));
        record.begin(&self.settings);
        *self = StandIn::new(self.settings.clone());
        self.record = record;
        // A clock that goes on by itself does not go back.
        self.now = if self.settings.clock.is_real() { now } else { 0 };
        (self.notices, self.ready, self.last_ticket) = (notices, ready, last_ticket);
    }
}

/// What a request costs.
pub(crate) const MICROSECOND: i64 = 1_000;
