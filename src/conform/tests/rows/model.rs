//! The row of the model, as transactions see it. A statement of the model is atomic: what is added here are transactions, whose changes
//! others see when they commit, and the lock that a changed row has until then.

use std::sync::Arc;

use fencepost_model::ids::{Call, ClientId, Index};
use fencepost_model::process::{Context, Input, Message, Outbox, Process as _};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Instant, StartTime, Ticks};
use fencepost_observed_lease::{
    ObservedLease, ObservedLeaseMessage, ObservedLeaseMutation, Request, Response, RowEnd, Store,
};
use serde_json::Value;

use super::sequence::{ClientTime, RowStatement};

/// What the model does differently.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum RowMistake {
    /// The model is as it is.
    None,
    /// A fault that is built into its sources.
    Mutation(ObservedLeaseMutation),
    /// CURRENT_TIMESTAMP is the time at which a statement is carried out, and not the begin of its transaction (OL-R-3).
    TimeOfStatement,
}

/// What a statement does.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum RowOutcome {
    /// It changes the row.
    Changed,
    /// Its condition does not hold.
    Unchanged,
    /// There is a row of that name already.
    Duplicate,
}

/// The table with its row, or without it.
#[derive(Clone)]
pub struct ModelRow {
    scenario: Arc<Scenario<ObservedLease>>,
    store: Store,
    /// Whether there is a row.
    pub exists: bool,
    /// Which client believes that it may extend and end the row: it has taken it, and has not ended it.
    believes: [bool; 3],
}

/// The columns of the row, as far as the model knows them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RowColumns {
    /// `lock_until`, in microseconds.
    pub until: i64,
    /// `locked_at`; the model forgets it when the row is ended.
    pub since: Option<i64>,
    /// `locked_by`; the model forgets it when the row is ended.
    pub holder: Option<ClientId>,
}

impl ModelRow {
    /// An empty table.
    pub fn new(mistake: RowMistake) -> Self {
        let mut scenario = Scenario::<ObservedLease>::new("rows").clients(3);
        // A row keeps its begin only where a least time needs it.
        scenario.service.at_least = Ticks::new(1);
        if let RowMistake::Mutation(mutation) = mistake {
            scenario.mutation = Some(mutation.into());
        }
        ModelRow { scenario: Arc::new(scenario), store: Store::default(), exists: false, believes: [false; 3] }
    }

    /// Whether ShedLock would send this statement: nobody ends a row twice, or extends it after that.
    pub fn is_sent(&self, session: usize, statement: RowStatement) -> bool {
        statement.takes() || self.believes[session]
    }

    /// A statement in a transaction that began at `now`; `client_time` says what a time of a client is. All are in microseconds.
    pub fn carry_out(
        &mut self,
        session: usize,
        statement: RowStatement,
        now: i64,
        client_time: impl Fn(ClientTime) -> i64,
    ) -> RowOutcome {
        let by_client = |time: ClientTime| Some(StartTime(Instant::at(client_time(time))));
        let database = |length: i64| RowEnd { from: None, length: Ticks::new(length) };
        let client = |until: ClientTime| RowEnd { from: by_client(until), length: Ticks::ZERO };
        let request = match statement {
            RowStatement::InsertByClient { .. } if self.exists => return RowOutcome::Duplicate,
            RowStatement::UpdateByDatabase { .. } | RowStatement::UpdateByClient { .. } if !self.exists => {
                return RowOutcome::Unchanged;
            }
            RowStatement::InsertByDatabase { at_most } | RowStatement::UpdateByDatabase { at_most } => {
                Request::Take { until: database(at_most), now: None }
            }
            RowStatement::InsertByClient { now, until } | RowStatement::UpdateByClient { now, until } => {
                Request::Take { until: client(until), now: by_client(now) }
            }
            RowStatement::Extend { at_most } => Request::Extend(Ticks::new(at_most)),
            RowStatement::UnlockByDatabase { at_least } => Request::Unlock(database(at_least)),
            RowStatement::UnlockByClient { until } => Request::Unlock(client(until)),
        };
        let outcome = match self.ask(session, request, now) {
            Response::Written(Index::NONE) | Response::Gone => RowOutcome::Changed,
            Response::Conflict => RowOutcome::Unchanged,
            other => unreachable!("a statement is not answered with {other:?}"),
        };
        if statement.takes() {
            self.exists |= outcome == RowOutcome::Changed;
            self.believes[session] |= outcome == RowOutcome::Changed;
        } else if !matches!(statement, RowStatement::Extend { .. }) {
            self.believes[session] = false;
        }
        outcome
    }

    fn ask(&mut self, session: usize, request: Request, now: i64) -> Response {
        let context =
            Context { scenario: &self.scenario, now: Instant::at(now), me: fencepost_model::ids::ProcessId::Server };
        let mut out = Outbox::new();
        let message = Message::Service(ObservedLeaseMessage::Request(Call(0), request));
        self.store.on(Input::Message { from: ClientId::of(session).into(), message }, &context, &mut out);
        match out.messages() {
            [(_, Message::Service(ObservedLeaseMessage::Response(_, response)))] => *response,
            other => unreachable!("the store answers each request once, and not with {other:?}"),
        }
    }

    /// The columns of the row, if there is one.
    pub fn columns(&self) -> Option<RowColumns> {
        let row = serde_json::to_value(&self.store).expect("a store is written as JSON")["row"].take();
        let number = |value: &Value| value.as_i64();
        Some(RowColumns {
            until: number(&row["until"])?,
            since: number(&row["since"]),
            holder: number(&row["holder"]).map(|holder| ClientId(u16::try_from(holder).expect("a client"))),
        })
    }
}
