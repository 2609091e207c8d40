//! A lock in a row of a table: `UPDATE locks SET owner = $to, version = version + 1 WHERE owner IS $from`, and the version as
//! it was with that owner. Without the version a late release would free a later tenure: the checker shows how.

use std::fmt;

use fencepost_model::ids::RawId;
use fencepost_model::prelude::*;
use serde::{Deserialize, Serialize};

/// The service.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct RowLock;

/// The `[service]` table of a scenario.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Whether a refused client takes the lock over from the owner that the refusal names.
    pub takes_over: bool,
}

/// The owner, and the version with which it became that.
type Held = Option<(ClientId, Token)>;

/// What clients and the table say; the call ties an answer to its request.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub enum Sql {
    /// From which owner, and to which.
    Update(Call, Held, Option<ClientId>),
    /// Whether the row was changed, and who has it now.
    Found(Call, bool, Held),
}

/// What a user may ask of a client.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Command {
    Take,
    Release,
}

impl Service for RowLock {
    const SYSTEMS: &'static [&'static str] = &["row-lock"];
    type Settings = Settings;
    type Message = Sql;
    type Timer = Uninhabited;
    type Command = Command;
    type OperatorAction = Uninhabited;
    type Fault = Uninhabited;
    type Event = Uninhabited;
    type Client = Contender;
    type Server = Row;

    fn start(scenario: &Scenario<Self>) -> (Row, Vec<Contender>) {
        (Row::default(), vec![Contender { rounds: scenario.rounds, ..Contender::default() }; scenario.clients.into()])
    }

    fn record(row: &Row, _: &Scenario<Self>) -> Record {
        Record { owners: row.held.iter().map(|held| held.0).collect(), token: row.version, ..Record::default() }
    }

    fn operate(_: &mut Row, action: Uninhabited, _: &Context<'_, Self>, _: &mut Outbox<Self>) {
        match action {}
    }

    fn apply_fault(_: &mut World<Self>, fault: Uninhabited, _: &Context<'_, Self>, _: &mut Outbox<Self>) {
        match fault {}
    }
}

impl ServiceSettings<RowLock> for Settings {
    fn durations(&mut self, _: &mut dyn FnMut(&mut Ticks)) {}

    fn validate(scenario: &Scenario<RowLock>) -> Result<(), SettingError> {
        scenario.has_none(&OptionalBudget::ALL)
    }

    fn assumptions(_: &Scenario<RowLock>, list: &mut Declarations<RowLock>) {
        list.leave_out(Assumption::limit("one-database", "the table is never lost, and is not replicated"));
    }
}

/// The row.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Normal, Serialize, Deserialize)]
pub struct Row {
    held: Held,
    version: Token,
}

impl Process<RowLock> for Row {
    fn on(&mut self, input: Input<RowLock>, _: &Context<'_, RowLock>, out: &mut Outbox<RowLock>) {
        let Input::Message { from: ProcessId::Client(client), message } = input else { return };
        let Message::Service(Sql::Update(call, from, to)) = message else { return };
        let is_changed = self.held == from;
        if is_changed {
            let version = self.version.next();
            *self = Row { held: to.map(|client| (client, version)), version };
            out.record(match to {
                Some(_) => Fact::Granted { client, token: version, fresh: true, stolen: from.is_some() },
                None => Fact::Freed { by: Ending::Released },
            });
        } else {
            out.record(Fact::Refused { client, why: if to.is_some() { Refusal::Held } else { Refusal::NotHeld } });
        }
        out.send(client.into(), Sql::Found(call, is_changed, self.held));
    }

    fn wakes(&self, _: &Scenario<RowLock>, _: &mut dyn FnMut(Uninhabited, Instant)) {}

    fn restarted(&self, _: &Scenario<RowLock>) -> Self {
        self.clone()
    }
}

/// A client. It writes once, as soon as it is inside.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default, Normal, Serialize, Deserialize)]
pub struct Contender {
    rounds: u8,
    call: Call,
    /// The request whose answer it waits for.
    asking: Option<Call>,
    is_inside: bool,
    /// Its own tenure while it is inside; outside the one that it takes over, if any.
    held: Held,
}

impl Contender {
    fn update(&mut self, to: Option<ClientId>, out: &mut Outbox<RowLock>) {
        let (call, rounds) = (self.call.next(), self.rounds - u8::from(to.is_some()));
        out.send(ProcessId::Server, Sql::Update(call, self.held, to));
        *self = Contender { rounds, call, asking: to.map(|_| call), ..Contender::default() };
    }
}

impl Process<RowLock> for Contender {
    fn on(&mut self, input: Input<RowLock>, context: &Context<'_, RowLock>, out: &mut Outbox<RowLock>) {
        let me = context.client();
        match input {
            Input::Command(Command::Take) => self.update(Some(me), out),
            Input::Command(Command::Release) => {
                out.record(Fact::Left { client: me, why: Leaving::Done });
                self.update(None, out);
            }
            Input::Message { message: Message::Service(Sql::Found(to, won, held)), .. } if self.asking == Some(to) => {
                (self.asking, self.is_inside) = (None, won);
                self.held = held.filter(|_| won || context.scenario.service.takes_over);
                let Some((_, token)) = held.filter(|_| won) else { return };
                out.record(Fact::Entered { client: me, token });
                out.write(token, None);
            }
            // An answer to a release, or to a request before a crash.
            _ => {}
        }
    }

    fn wakes(&self, _: &Scenario<RowLock>, _: &mut dyn FnMut(Uninhabited, Instant)) {}

    fn restarted(&self, _: &Scenario<RowLock>) -> Self {
        Contender { rounds: self.rounds, call: self.call, ..Contender::default() }
    }
}

impl Client<RowLock> for Contender {
    fn commands(&self, _: &Context<'_, RowLock>, offer: &mut dyn FnMut(Command)) {
        if self.is_inside {
            offer(Command::Release);
        } else if self.asking.is_none() && self.rounds > 0 {
            offer(Command::Take);
        }
    }

    fn belief(&self) -> Belief {
        Belief { is_inside: self.is_inside, is_waiting: self.asking.is_some(), ..Belief::default() }
    }
}

impl ServiceMessage for Sql {}
impl ServiceCommand for Command {}

impl fmt::Display for Sql {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |owner: Option<ClientId>| owner.map_or("none".to_owned(), |client| client.to_string());
        match *self {
            Sql::Update(_, from, to) => write!(f, "replace the owner {} by {}", name(from.map(|it| it.0)), name(to)),
            Sql::Found(_, true, _) => f.write_str("changed"),
            Sql::Found(_, false, now) => write!(f, "not changed, the owner is {}", name(now.map(|it| it.0))),
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Command::Take { "take the lock" } else { "release the lock" })
    }
}
