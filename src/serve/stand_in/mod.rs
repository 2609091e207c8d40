//! Requests, answers and deadlines, without sockets and without a clock: the driver of a [`StandIn`] says what arrives and how time
//! passes, and takes the answers that are ready.
//!
//! ```text
//! events   what happens to the servers           fingerprint  what decides how a run goes on
//! answer   what goes back over the wire          time      deadlines, in their order
//! serve    a request through the model           waiting   what is not answered yet
//! clients  who is known, and whether all wait     seen      requests by names that are stable
//! ```

mod answer;
mod clients;
mod events;
mod fingerprint;
mod seen;
mod serve;
mod time;
mod waiting;

use std::collections::{BTreeMap, BTreeSet};

use fencepost_conform::{Agent, HttpRequest};
use fencepost_model::ids::SessionId;

use crate::endpoints::{AgentChecks, Directory};
use crate::faults::{Fault, FaultPlan};
use crate::judge::{Judge, Verdict};
use crate::record::Record;
use crate::settings::Settings;
use clients::Clients;
use events::Deposed;
use waiting::Waiting;

pub use answer::{Answer, RequestOutcome};
pub use fingerprint::Fingerprint;
pub use seen::Seen;
pub(crate) use serve::beyond;
pub(crate) use time::Due;
pub(crate) use waiting::{Fate, Journey};

/// The name of clients that say none.
pub(crate) const NAMELESS: &str = "client";

/// A request as it came over the wire.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// The name of the client that sent it.
    pub client: String,
    /// The request.
    pub question: HttpRequest,
    /// Whether it brought an ACL token, which is ignored.
    pub has_token: bool,
}

/// Names a request until it is answered.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ticket(u64);

/// A Consul agent that is the model.
#[derive(Clone, Debug)]
pub struct StandIn {
    pub(crate) settings: Settings,
    pub(crate) agent: Agent,
    pub(crate) directory: Directory,
    pub(crate) agent_checks: AgentChecks,
    pub(crate) plan: FaultPlan,
    pub(crate) judge: Judge,
    pub(crate) record: Record,
    pub(crate) clients: Clients,
    /// In nanoseconds since it was started.
    pub(crate) now: i64,
    waiting: BTreeMap<Ticket, Waiting>,
    /// Sessions whose timer has fired, with when their end is applied.
    expiring: BTreeMap<SessionId, i64>,
    /// A former leader that still answers.
    deposed: Option<Deposed>,
    /// When gossip hears of the agent's node again that it takes for failed.
    heard_again: Option<i64>,
    ready: Vec<(Ticket, RequestOutcome)>,
    requests: Vec<Seen>,
    /// What each client was told.
    told: fingerprint::Told,
    last_ticket: u64,
    /// How many ids have been drawn.
    ids: u64,
    /// How many sessions have been created.
    sessions: u32,
    /// What has been said once.
    notices: BTreeSet<&'static str>,
    news: Vec<&'static str>,
}

impl StandIn {
    /// One with an empty store.
    pub fn new(settings: Settings) -> Self {
        let agent = Agent::new(&settings.node, settings.options).in_datacenter(&settings.datacenter);
        let agent = agent.that_answers(&Directory::own(&settings));
        StandIn {
            directory: Directory::new(&settings, agent.position()),
            agent,
            agent_checks: AgentChecks::default(),
            plan: settings.plan.anew(),
            judge: Judge::default(),
            record: Record::new(&settings),
            clients: Clients::default(),
            now: 0,
            waiting: BTreeMap::new(),
            expiring: BTreeMap::new(),
            deposed: None,
            heard_again: None,
            ready: Vec::new(),
            requests: Vec::new(),
            told: fingerprint::Told::default(),
            last_ticket: 0,
            ids: 0,
            sessions: 0,
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
        let Incoming { client, question, has_token } = incoming;
        if has_token {
            self.notice("ACL tokens are accepted, and not looked at");
        }
        let journey = Journey { ticket, client, question, sent: self.now, fate: Fate::Answered };
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
            None => self.carry_out(journey),
            Some(fault) => self.go_wrong(journey, fault),
        }
        self.observe();
        ticket
    }

    fn go_wrong(&mut self, journey: Journey, fault: Fault) {
        self.judge.note(self.now, &journey, &format!("{fault} ({})", fault.allowed_by()));
        match fault {
            Fault::Event(event) => {
                self.happen(event, &journey.client);
                self.carry_out(journey);
            }
            Fault::LoseAnswer => self.carry_out(Journey { fate: Fate::Lost, ..journey }),
            Fault::DelayAnswer(by) => self.carry_out(Journey { fate: Fate::Delayed(by), ..journey }),
            Fault::DelayRequest(by) => {
                let until = self.now.saturating_add(by);
                self.waiting.insert(journey.ticket, Waiting::OnItsWay { until, journey });
            }
            Fault::Repeat => {
                // The first answer is dropped.
                let ticket = Ticket(0);
                self.carry_out(Journey { ticket, fate: Fate::Lost, ..journey.clone() });
                self.now = self.now.saturating_add(MICROSECOND);
                self.carry_out(Journey { sent: self.now, ..journey });
            }
            Fault::Status(doubt, is_carried_out) => {
                let answer = Answer::text(500, doubt.text());
                if is_carried_out {
                    return self.carry_out(Journey { fate: Fate::Instead(answer), ..journey });
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

    fn lose(&mut self, journey: &Journey, outcome: RequestOutcome) {
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
        self.record.answered(journey, &answer, self.now);
        self.clients.is_told(&journey.client);
        let outcome = RequestOutcome::Answer(answer);
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
                Waiting::Asleep { .. } | Waiting::Silent { .. } => {}
            }
        }
    }

    /// What broke so far.
    pub fn verdict(&self) -> Verdict {
        let unannounced = self.clients.unannounced();
        self.judge.verdict(&self.settings, &self.plan, unannounced)
    }

    /// The run so far, as `fencepost conform --recorded` reads it; empty, if it is not recorded.
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
        let mut record = std::mem::replace(&mut self.record, Record::new(&self.settings));
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
