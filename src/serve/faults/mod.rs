//! Which request goes wrong, and how: a plan is a list of rules, a line each.
//!
//! ```text
//! on PUT /v1/session/renew/* #3: lose-answer
//! on PUT /v1/kv/lead?acquire=* #1 from worker-2: delay 20s
//! on GET *: status 500 "No cluster leader"
//! ```
//!
//! `*` stands for any text. A pattern with `?` is held against the path with its query, any other against the path. `#3` is the third
//! request that fits; without a number each of them is meant. Of several rules the first one that fits counts. A line that begins
//! with `#` is a comment.

mod event;
mod glob;
mod parse;

use std::fmt;

use crate::clock::seconds;
use glob::Glob;

pub use event::ServerEvent;
pub use parse::PlanError;

/// What happens to a request.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// It never reaches the server, and the connection is closed without an answer.
    LoseRequest,
    /// It is carried out, and the connection is closed without an answer.
    LoseAnswer,
    /// It reaches the server this many nanoseconds later.
    DelayRequest(i64),
    /// It is applied, and answered this many nanoseconds later.
    DelayAnswer(i64),
    /// It reaches the server twice, as when its first answer is lost and the transport sends it again. The second one is answered.
    Repeat,
    /// It is answered with an error of the server, as one without a leader, after it has been carried out or without being so.
    Status(Doubt, bool),
    /// It never reaches the server, and the connection is reset.
    Reset,
    /// It never reaches the server; nothing is answered, and the connection stays open.
    HalfOpen,
    /// Something happens to the servers, and then the request is carried out.
    Event(ServerEvent),
}

/// An error that leaves a client in doubt about what became of its request.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Doubt(usize);

/// An error of a server that rules allow.
struct DoubtfulAnswer {
    /// The server that has it.
    server: &'static str,
    status: u16,
    /// How it begins.
    text: &'static str,
    allowed_by: &'static str,
    /// Whether the request may have been carried out.
    may_be_carried_out: bool,
}

const fn doubt(
    server: &'static str,
    status: u16,
    text: &'static str,
    allowed_by: &'static str,
    may_be_carried_out: bool,
) -> DoubtfulAnswer {
    DoubtfulAnswer { server, status, text, allowed_by, may_be_carried_out }
}

/// The errors that rules allow.
const DOUBTS: &[DoubtfulAnswer] = &[
    doubt("consul", 500, "No cluster leader", "C-CON-6", false),
    doubt("consul", 500, "leadership lost while committing log", "C-CON-6", true),
    doubt("consul", 500, "rpc error making call: EOF", "C-GEN-6", true),
    doubt("consul", 500, "rpc error making call: stream closed", "C-CON-8", true),
    doubt(
        "consul",
        500,
        "rpc error getting client: failed to get conn: dial tcp: connection refused",
        "C-CON-8",
        false,
    ),
    doubt("leases", 500, "etcdserver: request timed out", "OL-S-6", true),
    doubt("leases", 500, "etcdserver: leader changed", "OL-S-6", true),
    doubt("leases", 504, "Timeout: request did not complete within requested timeout", "OL-S-6", true),
    doubt("leases", 503, "the server is currently unable to handle the request", "a server that is not ready", false),
    doubt("leases", 429, "too many requests, please try again later", "a server that is overloaded", false),
    doubt("etcd", 503, "etcdserver: request timed out", "E-GEN-8", true),
    doubt("etcd", 503, "etcdserver: leader changed", "E-LD-6", true),
    doubt("etcd", 503, "etcdserver: no leader", "E-LD-6", false),
];

impl Doubt {
    pub(crate) fn text(self) -> &'static str {
        DOUBTS[self.0].text
    }

    pub(crate) fn status(self) -> u16 {
        DOUBTS[self.0].status
    }
}

impl Fault {
    /// Faults without a parameter, by their names.
    const PLAIN: [(&'static str, Fault); 5] = [
        ("lose-request", Fault::LoseRequest),
        ("lose-answer", Fault::LoseAnswer),
        ("repeat", Fault::Repeat),
        ("reset", Fault::Reset),
        ("half-open", Fault::HalfOpen),
    ];

    /// What allows it: an asynchronous network, or a rule of the server's.
    pub fn allowed_by(self) -> &'static str {
        match self {
            Fault::LoseAnswer => "a network that loses messages; C-CON-5",
            Fault::LoseRequest | Fault::Reset | Fault::HalfOpen => "a network that loses messages",
            Fault::DelayRequest(_) | Fault::DelayAnswer(_) => "an asynchronous network",
            Fault::Repeat => "a transport that sends again what was not answered",
            Fault::Status(doubt, _) => DOUBTS[doubt.0].allowed_by,
            Fault::Event(event) => event.allowed_by(),
        }
    }

    /// The only server that has it, if there is one.
    fn server(self) -> Option<&'static str> {
        match self {
            Fault::Status(doubt, _) => Some(DOUBTS[doubt.0].server),
            Fault::Event(event) => Some(event.server()),
            _ => None,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::DelayRequest(by) => write!(f, "delay-request {}s", seconds(*by)),
            Fault::DelayAnswer(by) => write!(f, "delay-answer {}s", seconds(*by)),
            Fault::Event(event) => event.fmt(f),
            Fault::Status(doubt, is_carried_out) => {
                let when = if *is_carried_out { " after" } else { "" };
                write!(f, "status {} {:?}{when}", doubt.status(), doubt.text())
            }
            _ => {
                let plain = Fault::PLAIN.iter().find(|(_, fault)| fault == self);
                f.write_str(plain.map_or("", |(name, _)| name))
            }
        }
    }
}

/// A line of a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    /// Any, if there is none.
    method: Option<String>,
    url: Glob,
    /// Which of the requests that fit; each, if there is none.
    occurrence: Option<u64>,
    /// Of any client, if there is none.
    client: Option<String>,
    fault: Fault,
    /// How many requests have fitted so far.
    seen: u64,
}

impl Rule {
    /// One fault at one request: counted among the requests of a client that match.
    pub fn once(method: &str, url: &str, occurrence: u64, client: &str, fault: Fault) -> Rule {
        Rule {
            method: Some(method.to_owned()),
            url: Glob::new(url),
            occurrence: Some(occurrence),
            client: Some(client.to_owned()),
            fault,
            seen: 0,
        }
    }

    /// What it does to the requests that fit.
    pub fn fault(&self) -> Fault {
        self.fault
    }

    /// Which of the requests that fit is meant; each, if there is none.
    pub(crate) fn occurrence(&self) -> Option<u64> {
        self.occurrence
    }

    /// Whether a request is one of those that are meant.
    pub fn fits(&self, client: &str, method: &str, url: &str) -> bool {
        let url = if self.url.text().contains('?') { url } else { url.split('?').next().unwrap_or(url) };
        self.method.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(method))
            && self.client.as_ref().is_none_or(|wanted| wanted == client)
            && self.url.fits(url)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "on {} {}", self.method.as_deref().unwrap_or("*"), self.url.text())?;
        self.occurrence.iter().try_for_each(|number| write!(f, " #{number}"))?;
        self.client.iter().try_for_each(|client| write!(f, " from {client}"))?;
        write!(f, ": {}", self.fault)
    }
}

/// What goes wrong in a run.
///
/// ```
/// use fencepost_serve::FaultPlan;
///
/// let plan: FaultPlan = "on PUT /v1/session/renew/* #3: lose-answer".parse()?;
/// assert_eq!(plan.to_string(), "on PUT /v1/session/renew/* #3: lose-answer\n");
/// let error = "on PUT /v1/kv/lead: status 503 \"busy\"".parse::<FaultPlan>().unwrap_err();
/// assert_eq!(error.line, 1);
/// # Ok::<(), fencepost_serve::PlanError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FaultPlan {
    rules: Vec<Rule>,
}

impl FaultPlan {
    /// No rule.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Whether every fault is one that this server has.
    ///
    /// # Errors
    /// The first rule with a fault of another server.
    pub fn suits(&self, server: &str) -> Result<(), String> {
        let stranger = |rule: &&Rule| rule.fault.server().is_some_and(|other| other != server);
        match self.rules.iter().find(stranger) {
            Some(rule) => Err(format!("`{rule}`: the stand-in for {server} has no such fault")),
            None => Ok(()),
        }
    }

    /// What happens to a request, which is counted by each rule that it fits.
    pub(crate) fn strike(&mut self, client: &str, method: &str, url: &str) -> Option<Fault> {
        let mut struck = None;
        for rule in self.rules.iter_mut().filter(|rule| rule.fits(client, method, url)) {
            rule.seen += 1;
            if rule.occurrence.is_none_or(|occurrence| occurrence == rule.seen) {
                struck = struck.or(Some(rule.fault));
            }
        }
        struck
    }

    /// Adds the rules of another plan behind these.
    pub(crate) fn extend(&mut self, other: FaultPlan) {
        self.rules.extend(other.rules);
    }

    /// How many requests have fitted each rule so far.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&Rule, u64)> {
        self.rules.iter().map(|rule| (rule, rule.seen))
    }

    /// Every rule, and none has seen a request.
    pub(crate) fn anew(&self) -> FaultPlan {
        self.rules.iter().cloned().map(|rule| Rule { seen: 0, ..rule }).collect()
    }
}

impl FromIterator<Rule> for FaultPlan {
    fn from_iter<I: IntoIterator<Item = Rule>>(rules: I) -> Self {
        FaultPlan { rules: rules.into_iter().collect() }
    }
}

impl fmt::Display for FaultPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rules.iter().try_for_each(|rule| writeln!(f, "{rule}"))
    }
}
