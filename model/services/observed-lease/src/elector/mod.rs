//! The elector: a contender that observes the record and takes it over, a holder that renews it and gives up on its own clock,
//! and the work that it leads. The state is here.
//!
//! `attempt` has one attempt to acquire or renew, `renew` the loops around it, `release` the way out, `work` the work, `process` the
//! connection to the kernel.

mod attempt;
mod process;
mod release;
mod renew;
mod work;

use serde::{Deserialize, Serialize};

use super::ObservedLease;
use super::messages::{Entry, Name, ObservedLeaseMessage, Request};
use super::settings::{Expiry, Identity, Settings, Tokens};
use crate::ObservedLeaseMutation as Mutant;
use fencepost_model::ids::{Call, ClientId, Index, ProcessId, SessionId, Token};
use fencepost_model::normal::Normal;
use fencepost_model::process::{Context, Outbox};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Deadline, LeaseEnd, StartTime, Ticks};

/// A client with an elector.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Elector {
    me: SessionId,
    rounds: u8,
    /// The number of the last call.
    call: Call,
    step: ElectorStep,
    work: Doing,
    /// Whether the elector has told the work to begin, and has not lost the lease since.
    leads: bool,
    /// What it observed (OL-K-3).
    seen: Option<Seen>,
    /// The deadline of the renew loop, and the next tick of its attempts.
    poll: Option<Poll>,
    /// The call of a client that does not wait for ever (OL-D-4).
    waits: Option<Waits>,
    /// When a release is given up (OL-K-12).
    release_ends: Option<Deadline>,
    /// The caller has cancelled, and the elector waits for its work; at most until the deadline, if there is one.
    leaving: Option<Leave>,
    /// The last instant that its lease covers, by its own notion.
    covered: Option<LeaseEnd>,
    /// The deadline of the work itself.
    guard: Option<Deadline>,
    token: Token,
    /// The process sleeps until then.
    nap: Option<Deadline>,
}

/// Where the elector's own thread of control is.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ElectorStep {
    /// The user has not asked.
    Idle,
    /// A request is in flight.
    Asking(Asking),
    /// The length of the next sleep is drawn at once; the number of lengths.
    Drawing(u8, Deadline),
    /// A contender sleeps between two attempts, or between two calls.
    Sleeping(Deadline),
    /// A contender that has written without a condition waits before it reads back.
    Settling(Deadline),
    /// A holder sleeps until the next renewal.
    Resting(Deadline),
    /// A holder waits for the next attempt of this renewal.
    Pausing(Deadline),
    /// A cancelled elector waits for its work without renewals.
    Awaiting,
    /// Its call ended without the lease; its user still wants it.
    GaveUp,
    /// It has ended.
    Stopped,
}

/// A request in flight.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
struct Asking {
    what: Ask,
    times_out: Option<Deadline>,
    /// Whether the observed record had expired when the attempt began (OL-K-4).
    expired: bool,
    /// The time at which it was sent; kept only where a lease counts from it.
    sent: Option<StartTime>,
    /// Whether a library has repeated it.
    is_repeated: bool,
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Ask {
    /// The write with the cached version.
    Fast,
    /// The read of an attempt.
    Get,
    Create,
    Put,
    /// The read after a write without a condition.
    ReadBack,
    /// The read after a creation that was refused.
    Compare,
    /// The read of a release.
    ReleaseGet,
    /// The write or the deletion of a release.
    ReleasePut,
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Doing {
    /// There is no work.
    Nothing,
    /// It acts.
    Acting { writes: u8 },
    /// It was told to stop, and acts until then; none: it never stops.
    Stopping { until: Option<Deadline>, is_cancelled: bool },
}

/// The observed record.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
struct Seen {
    version: Index,
    content: Index,
    holder: Option<Name>,
    transitions: u8,
    /// From when on a contender may take it over, on its own clock; none: never.
    free_from: Option<Deadline>,
}

/// A call that ends, with the lease or without.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
struct Waits {
    ends: Deadline,
    /// Whether the recorded duration of the first record was added.
    is_extended: bool,
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
struct Poll {
    deadline: Deadline,
    /// The ticker's next tick. Once it has come, only that it has come is known: the normal form forgets how long ago.
    next: Deadline,
    /// How long before the deadline the ticks come, up to whole retry periods: a tick that has come too long ago says it no more.
    phase: Ticks,
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
struct Leave {
    grace: Option<Deadline>,
}

type Ctx<'a> = Context<'a, ObservedLease>;
type Out<'a> = &'a mut Outbox<ObservedLease>;

impl Elector {
    pub(super) fn new(id: ClientId, scenario: &Scenario<ObservedLease>) -> Self {
        Elector {
            me: SessionId::numbered(id, 1),
            rounds: scenario.rounds,
            call: Call(0),
            step: ElectorStep::Idle,
            work: Doing::Nothing,
            leads: false,
            seen: None,
            poll: None,
            waits: None,
            release_ends: None,
            leaving: None,
            covered: None,
            guard: None,
            token: Token::NONE,
            nap: None,
        }
    }

    /// The identity that it writes.
    fn name(&self, settings: &Settings) -> Name {
        if settings.identity == Identity::Shared { Name::Common } else { Name::Own(self.me) }
    }

    fn is_holder(&self, settings: &Settings) -> bool {
        self.seen.is_some_and(|seen| seen.holder == Some(self.name(settings)))
    }

    /// True ticks in which its clock shows that many more.
    fn span(context: &Ctx<'_>, shown: Ticks) -> Ticks {
        context.scenario.service.span(context.client(), shown)
    }

    fn lease(context: &Ctx<'_>) -> Ticks {
        Self::span(context, context.scenario.service.recorded(context.client()))
    }

    fn deadline(context: &Ctx<'_>) -> Ticks {
        Self::span(context, context.scenario.service.deadline_of(context.client()))
    }

    fn retry(context: &Ctx<'_>) -> Ticks {
        Self::span(context, context.scenario.service.retry_of(context.client()))
    }

    fn renewal_period(context: &Ctx<'_>) -> Ticks {
        let own = context.scenario.service.renew_period;
        own.map_or(Self::retry(context), |period| Self::span(context, period))
    }

    /// Sends a request, and waits for its answer.
    fn ask(&mut self, what: Ask, request: Request, expired: bool, context: &Ctx<'_>, out: Out<'_>) {
        let settings = &context.scenario.service;
        self.call = self.call.next();
        let times_out = settings.request_timeout.map(|length| Deadline(context.now + Self::span(context, length)));
        let counts = match what {
            Ask::Get => settings.reads_clock_first(),
            Ask::ReleaseGet | Ask::ReleasePut => false,
            _ => settings.counts_from_sending(),
        };
        let sent = counts.then_some(StartTime(context.now));
        self.step = ElectorStep::Asking(Asking { what, times_out, expired, sent, is_repeated: false });
        out.send(ProcessId::Server, ObservedLeaseMessage::Request(self.call, request));
    }

    /// The record that it writes as holder.
    fn entry(&self, context: &Ctx<'_>) -> Entry {
        let settings = &context.scenario.service;
        let ahead = settings.ahead(context.client());
        let renewed = (settings.expiry == Expiry::WriterClock).then_some(StartTime(context.now + ahead));
        let before = self.seen.map_or(0, |seen| seen.transitions);
        // An owner that does not recognise its own lease takes it over (OL-O-2).
        let is_new = !self.is_holder(settings) || !self.leads && !settings.recognises_itself;
        let transitions = match settings.token {
            Tokens::Transitions if self.seen.is_some() => before.saturating_add(u8::from(is_new)),
            _ => 0,
        };
        Entry {
            holder: Some(self.name(settings)),
            duration: match context.is_mutated(Mutant::DurationNotTruncated) {
                true => settings.lease_of(context.client()),
                false => settings.recorded(context.client()),
            },
            renewed,
            transitions,
            preferred: None,
        }
    }
}
