//! The store: one record with compare-and-set, or one row with an end. It counts no time, except for a row by its own clock.

use serde::{Deserialize, Serialize};

use super::ObservedLease;
use super::events::{LeaseEvent, OperatorAction};
use super::messages::{Candidates, Entry, Name, ObservedLeaseMessage, Request, Response, Shown, Timer};
use super::row::Row;
use super::settings::{OperatorKind, Tokens};
use crate::ObservedLeaseMutation as Mutant;
use fencepost_model::fact::{Ending, Fact};
use fencepost_model::ids::{ClientId, Index, RawId, Token};
use fencepost_model::inline_vec::InlineVec;
use fencepost_model::normal::Normal;
use fencepost_model::process::{Context, Input, Message, Outbox, Process};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Record;
use fencepost_model::time::{Instant, Ticks};

/// The store.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Normal, Serialize, Deserialize)]
pub struct Store {
    record: Option<Held>,
    /// The global counter of changes. It grows across deletion and creation (OL-S-1).
    version: Index,
    /// The record before its last change; kept where a read may show it.
    earlier: Option<Earlier>,
    /// Whether the next read shows it.
    lags: bool,
    /// The clients that get errors.
    #[normal(sorted)]
    failing: InlineVec<ClientId, 2>,
    /// `lease-row`: the row.
    pub(super) row: Row,
    /// Who stands for election, where a controller elects.
    #[serde(default, skip_serializing_if = "Candidates::is_empty")]
    candidates: Candidates,
}

/// The record with its last writer.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
struct Held {
    shown: Shown,
    /// The client whose write made its name the holder.
    owner: ClientId,
}

/// What a read that lags shows: the record before its last change, if there was one.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
struct Earlier {
    held: Option<Held>,
}

type Ctx<'a> = Context<'a, ObservedLease>;
type Out<'a> = &'a mut Outbox<ObservedLease>;

impl Store {
    pub(super) fn record(&self) -> Record {
        Record { owners: self.owner().or(self.row.owner()).into_iter().collect(), ..Record::default() }
    }

    /// The counter of changes.
    pub fn version(&self) -> Index {
        self.version
    }

    /// The counter is one for the whole server (OL-S-1): changes of other objects have brought it to this.
    pub fn count_on_from(&mut self, version: Index) {
        self.version = self.version.max(version);
    }

    pub(super) fn fails(&self, client: ClientId) -> bool {
        self.failing.contains(&client)
    }

    pub(super) fn fail(&mut self, client: ClientId) {
        self.failing.insert_sorted(client);
    }

    pub(super) fn recover(&mut self, client: ClientId) {
        self.failing.take(&client);
    }

    /// Whether the next read can show an earlier record.
    pub(super) fn may_lag(&self) -> bool {
        self.earlier.is_some() && !self.lags
    }

    /// Whether a read changes nothing.
    pub(super) fn reads_only_answer(&self) -> bool {
        !self.lags
    }

    pub(super) fn lag(&mut self) {
        self.lags = true;
    }

    pub(super) fn operate(&mut self, action: OperatorAction, out: Out<'_>) {
        match (action.0, &mut self.record) {
            (OperatorKind::Delete | OperatorKind::ForceUnlock, Some(_)) => self.delete(out),
            (OperatorKind::Relabel, Some(held)) => {
                self.version = self.version.next();
                held.shown.version = self.version;
            }
            (OperatorKind::Delete | OperatorKind::ForceUnlock | OperatorKind::Relabel, None) => {}
        }
    }

    /// The client whose name is the holder.
    pub(super) fn owner(&self) -> Option<ClientId> {
        self.record.filter(|held| held.shown.entry.holder.is_some()).map(|held| held.owner)
    }

    fn delete(&mut self, out: Out<'_>) {
        self.version = self.version.next();
        if self.record.take().is_some_and(|held| held.shown.entry.holder.is_some()) {
            out.record(Fact::Freed { by: Ending::Deleted });
        }
    }

    fn shown(&self) -> Option<Shown> {
        self.record.map(|held| held.shown)
    }

    /// A read is a quorum read (OL-S-2), unless it lags.
    fn read(&mut self, client: ClientId, out: Out<'_>) -> Response {
        match self.earlier {
            Some(Earlier { held }) if self.lags => {
                self.lags = false;
                out.record(Fact::Service(LeaseEvent::ReadStale { client }));
                Response::Found(held.map(|held| held.shown))
            }
            _ => Response::Found(self.shown()),
        }
    }

    fn refuse(client: ClientId, out: Out<'_>) -> Response {
        out.record(Fact::Service(LeaseEvent::Refused { client }));
        Response::Conflict
    }

    /// Applies a write whose condition was tested; `is_forced`: the condition does not hold.
    fn write(&mut self, client: ClientId, entry: Entry, is_forced: bool, context: &Ctx<'_>, out: Out<'_>) -> Response {
        let settings = &context.scenario.service;
        if entry.duration == Ticks::ZERO && settings.validates {
            return Response::Invalid;
        }
        if context.scenario.budget.affords(super::LeaseFault::STALE) {
            self.earlier = Some(Earlier { held: self.record });
        }
        if !context.is_mutated(Mutant::VersionKept) || self.record.is_none() {
            self.version = self.version.next();
        }
        let before = self.record.filter(|held| held.shown.entry.holder.is_some());
        let client = Self::owner_of(client, entry);
        let is_same = before.is_some_and(|held| held.shown.entry.holder == entry.holder && held.owner == client);
        if entry.holder.is_none() {
            if before.is_some() {
                out.record(Fact::Freed { by: Ending::Released });
            }
        } else if !is_same {
            if let Some(held) = before {
                out.record(Fact::Service(LeaseEvent::TakenOver { client, from: held.owner }));
            }
            let token = self.token(entry, settings.token);
            let stolen = is_forced && before.is_some_and(|held| held.owner != client);
            out.record(Fact::Granted { client, token, fresh: true, stolen });
        }
        let shown = Shown { version: self.version, content: self.version, entry };
        self.record = Some(Held { shown, owner: client });
        Response::Written(self.version)
    }

    /// The client that a record makes the owner: its writer, or the candidate that a controller names (OL-K-16).
    fn owner_of(writer: ClientId, entry: Entry) -> ClientId {
        match entry.holder {
            Some(Name::Candidate(number)) => ClientId(number.into()),
            _ => writer,
        }
    }

    fn token(&self, entry: Entry, tokens: Tokens) -> Token {
        match tokens {
            Tokens::None => Token::NONE,
            Tokens::Transitions => Token::numbered(u32::from(entry.transitions) + 1),
            Tokens::ResourceVersion => self.version.token(),
        }
    }

    /// Whether a write that names this version may be applied (OL-S-3). A version of a deleted record never may (OL-S-4).
    fn has(&self, version: Option<Index>) -> bool {
        match (version, self.record) {
            (None, _) => true,
            (Some(version), Some(held)) => held.shown.version == version,
            (Some(_), None) => false,
        }
    }

    /// A write with a condition on the generation. A refusal shows the record that it was tested on (OL-O-4).
    fn put_item(
        &mut self,
        client: ClientId,
        entry: Entry,
        generation: Option<u8>,
        context: &Ctx<'_>,
        out: Out<'_>,
    ) -> Response {
        if self.record.map(|held| held.shown.entry.transitions) == generation {
            return self.write(client, entry, false, context, out);
        }
        Self::refuse(client, out);
        Response::ConditionFailed(self.shown())
    }

    fn serve(&mut self, client: ClientId, request: Request, context: &Ctx<'_>, out: Out<'_>) -> Response {
        let settings = &context.scenario.service;
        match request {
            Request::Get => self.read(client, out),
            Request::Create(_)
                if self.record.is_some()
                    && !settings.create_overwrites
                    && !context.is_mutated(Mutant::CreateOverwrites) =>
            {
                Self::refuse(client, out)
            }
            Request::Create(entry) => self.write(client, entry, self.record.is_some(), context, out),
            Request::Put(entry, version) => match self.has(version) {
                true => {
                    let is_forced = version.is_none() && self.record.is_some_and(|held| held.owner != client);
                    self.write(client, entry, is_forced, context, out)
                }
                false if context.is_mutated(Mutant::PutIgnoresVersion) && self.record.is_some() => {
                    self.write(client, entry, true, context, out)
                }
                false if context.is_mutated(Mutant::PutRecreates) && self.record.is_none() => {
                    self.write(client, entry, false, context, out)
                }
                false => Self::refuse(client, out),
            },
            Request::Delete(version)
                if self.record.is_some()
                    && (self.has(version)
                        || settings.delete_ignores_version
                        || context.is_mutated(Mutant::DeleteIgnoresVersion)) =>
            {
                self.delete(out);
                Response::Gone
            }
            Request::Delete(_) => Self::refuse(client, out),
            Request::Take { until, now } => self.row.take(client, until, now, context, out),
            Request::Extend(length) => self.row.extend(client, length, context, out),
            Request::Unlock(until) => self.row.unlock(client, until, context, out),
            Request::Nominate(number) => {
                self.candidates.add(number);
                Response::Written(self.version)
            }
            Request::Candidates => Response::Candidates(self.candidates),
            Request::Withdraw(number) => {
                self.candidates.remove(number);
                Response::Gone
            }
            Request::PutItem(entry, generation) => self.put_item(client, entry, generation, context, out),
        }
    }
}

impl Process<ObservedLease> for Store {
    fn on(&mut self, input: Input<ObservedLease>, context: &Ctx<'_>, out: Out<'_>) {
        let Input::Message { from, message: Message::Service(ObservedLeaseMessage::Request(call, request)) } = input
        else {
            return;
        };
        let client = from.client().expect("only clients send requests");
        let response = match self.fails(client) {
            true => Response::Unavailable,
            false => self.serve(client, request, context, out),
        };
        out.send(from, ObservedLeaseMessage::Response(call, response));
    }

    fn wakes(&self, _: &Scenario<ObservedLease>, _: &mut dyn FnMut(Timer, Instant)) {}

    fn restarted(&self, _: &Scenario<ObservedLease>) -> Self {
        self.clone()
    }
}
