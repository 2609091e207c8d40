//! What a service says of itself so that programs can be its clients: its requests and answers, and the names that deadlines and
//! commands of a program have in its actions.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::clock::ProgramClock;
use crate::fact::Fact;
use crate::ids::{Call, ClientId};
use crate::normal::Normal;
use crate::process::{Context, Value};
use crate::service::Service;
use crate::time::Ticks;

/// A service whose clients may be programs.
pub trait Programmable: Service {
    /// What a client asks of it, without the connection.
    type Request: Value + Normal;
    /// What it answers, without the connection.
    type Answer: Value + Normal;
    /// Whether a user asks again for the lock if its client crashed in that round; otherwise the round is over.
    const ASKS_AGAIN: bool = false;

    /// The message that asks on a connection.
    fn ask(call: Call, request: Self::Request) -> Self::Message;

    /// The answer in a message, and the call that it answers; no call where the service says something by itself, or does not number
    /// its answers: who listens hears it, else the oldest open request is answered. `None`: the message is no answer.
    fn answer(message: &Self::Message) -> Option<(Option<Call>, Self::Answer)>;

    /// The name of a program's deadline.
    fn timer(alarm: Alarm) -> Self::Timer;

    /// The program's deadline of that name, if it is one.
    fn alarm(timer: &Self::Timer) -> Option<Alarm>;

    /// What a user says who asks for this.
    fn command(command: UserCommand) -> Self::Command;

    /// The converse.
    fn user_command(command: &Self::Command) -> Option<UserCommand>;

    /// The command of a user who asks whether the client still has what it has acquired, if there is one.
    fn verification() -> Option<Self::Command> {
        None
    }

    /// The fact that it is when a client sends this: then it concerns no server, and is recorded. `None`: it is a request.
    fn fact(_client: ClientId, _request: &Self::Request) -> Option<Fact<Self>> {
        None
    }

    /// The clocks of a client that runs a program.
    fn clock(_settings: &Self::Settings, _client: ClientId) -> ProgramClock {
        ProgramClock::default()
    }

    /// Why a client cannot ask this in its scenario, with what would be right: a mistake of the program, and never a verdict. Durations are those
    /// of the scenario.
    fn refuses(_context: &Context<'_, Self>, _request: &Self::Request) -> Option<String> {
        None
    }

    /// Shows each duration in a request: on a finer clock it is longer. Beside a reading of a wall clock, it counts from that.
    fn durations(_request: &mut Self::Request, _visit: &mut dyn FnMut(&mut Ticks)) {}

    /// The same of an answer: a program on a finer clock is told what it would be on its own.
    fn answered_durations(_answer: &mut Self::Answer, _visit: &mut dyn FnMut(&mut Ticks)) {}
}

/// What a user may ask of a program.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UserCommand {
    /// Get the lock: a round begins.
    Acquire,
    /// Write to the resource.
    Write,
    /// Give the lock back.
    Release,
}

/// A deadline of a program.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Alarm {
    /// Of which task: 0 is the recipe itself.
    pub task: u8,
    /// Which of the things that its lap has begun, from 0.
    pub operation: u16,
}

impl fmt::Display for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.task {
            0 => write!(f, "its program has waited long enough [{}]", self.operation),
            task => write!(f, "task {task} of its program has waited long enough [{}]", self.operation),
        }
    }
}
