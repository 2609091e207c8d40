//! The same machines as a protocol: what the simulator and the checker run.

use std::fmt;

use fencepost_model::assumption::Declarations;
use fencepost_model::fact::{Ending, Fact, Leaving, Refusal};
use fencepost_model::ids::{ClientId, ProcessId, Token};
use fencepost_model::normal::{Normal, Visitor};
use fencepost_model::process::{Belief, Client as Participant, Context, Input, Message, Outbox, Process};
use fencepost_model::program::{Alarm, Runs, UserCommand};
use fencepost_model::scenario::{Scenario, SettingError};
use fencepost_model::service::{self, Record, Service, ServiceCommand, ServiceMessage, ServiceTimer};
use fencepost_model::time::{Instant, Ticks};
use fencepost_model::uninhabited::Uninhabited;
use fencepost_model::world::World;
use serde::{Deserialize, Serialize};

use super::machines::{Answer, Client, Phase, Request, Server, Timer};

#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct LockService;

#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum LockMessage {
    Request(Request),
    Answer(Answer),
}

/// Timers of the machines, and deadlines of programs.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum LockTimer {
    Machine(Timer),
    Program(Alarm),
}

/// What the user of a program says: to begin, and no more. The machines begin by themselves.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct LockCommand(pub UserCommand);

impl Service for LockService {
    const SYSTEMS: &'static [&'static str] = &["lock-service"];
    const HAS_PROGRAMS: bool = true;
    type Settings = NoSettings;
    type Message = LockMessage;
    type Timer = LockTimer;
    type Command = LockCommand;
    type OperatorAction = Uninhabited;
    type Fault = Uninhabited;
    type Event = Uninhabited;
    type Client = Runs<LockService, Client>;
    type Server = Server;

    fn start(scenario: &Scenario<Self>) -> (Server, Vec<Self::Client>) {
        let client = |client| Runs::at_start(scenario, client, Client::new);
        (Server::new(usize::from(scenario.clients)), (1..=scenario.clients).map(ClientId).map(client).collect())
    }

    fn record(server: &Server, _: &Scenario<Self>) -> Record {
        let owner = server.holder.map(|place| ClientId::of(usize::from(place)));
        Record { owners: owner.into_iter().collect(), token: Token::numbered(server.lock_index), ..Record::default() }
    }

    fn inspect(server: &Server) -> Result<(), String> {
        if server.is_sound() { Ok(()) } else { Err("a token is ahead of the LockIndex".to_owned()) }
    }

    fn operate(_: &mut Server, operator_action: Uninhabited, _: &Context<'_, Self>, _: &mut Outbox<Self>) {
        match operator_action {}
    }

    fn apply_fault(_: &mut World<Self>, fault: Uninhabited, _: &Context<'_, Self>, _: &mut Outbox<Self>) {
        match fault {}
    }
}

/// The machines have their durations built in.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct NoSettings {}

impl service::Settings<LockService> for NoSettings {
    fn durations(&mut self, _: &mut dyn FnMut(&mut Ticks)) {}

    fn longest(&self) -> Ticks {
        Ticks::new(15)
    }

    fn validate(_: &Scenario<LockService>) -> Result<(), SettingError> {
        Ok(())
    }

    fn assumptions(_: &Scenario<LockService>, _: &mut Declarations<LockService>) {}
}

impl ServiceMessage for LockMessage {}

impl ServiceTimer for LockTimer {}

impl ServiceCommand for LockCommand {}

impl Process<LockService> for Server {
    fn on(&mut self, input: Input<LockService>, context: &Context<'_, LockService>, out: &mut Outbox<LockService>) {
        let now = context.now.ticks();
        match input {
            Input::Message { from, message: Message::Service(LockMessage::Request(request)) } => {
                let client = from.client().expect("only clients ask");
                let place = u16::try_from(client.place()).expect("as many as there are clients");
                let had = self.lock_index;
                let answer = self.receive(now, place, request);
                match answer {
                    Answer::Granted(token) => {
                        let fresh = token > had;
                        out.record(Fact::Granted { client, token: Token::numbered(token), fresh, stolen: false });
                    }
                    Answer::Released => out.record(Fact::Freed { by: Ending::Released }),
                    Answer::Denied => out.record(Fact::Refused { client, why: Refusal::Held }),
                    _ => {}
                }
                out.send(from, LockMessage::Answer(answer));
            }
            Input::Wake(_) => self.sweep(now),
            _ => {}
        }
    }

    fn wakes(&self, _: &Scenario<LockService>, due: &mut dyn FnMut(LockTimer, Instant)) {
        due(LockTimer::Machine(Timer::Sweep), Instant::at(self.sweep_at));
    }

    fn restarted(&self, _: &Scenario<LockService>) -> Self {
        self.clone()
    }
}

impl Process<LockService> for Client {
    fn on(&mut self, input: Input<LockService>, context: &Context<'_, LockService>, out: &mut Outbox<LockService>) {
        let now = context.now.ticks();
        let was_inside = self.is_inside();
        let request = match input {
            Input::Message { message: Message::Service(LockMessage::Answer(answer)), .. } => self.receive(now, answer),
            Input::Wake(LockTimer::Machine(timer)) => self.fire(now, timer),
            _ => None,
        };
        if let Some(request) = request {
            out.send(ProcessId::Server, LockMessage::Request(request));
        }
        let client = context.client();
        match (was_inside, self.is_inside()) {
            (false, true) => out.record(Fact::Entered { client, token: Token::NONE }),
            (true, false) => out.record(Fact::Left { client, why: Leaving::Done }),
            _ => {}
        }
    }

    fn wakes(&self, _: &Scenario<LockService>, due: &mut dyn FnMut(LockTimer, Instant)) {
        due(LockTimer::Machine(Timer::Step), Instant::at(self.step_at));
        if self.renew_at > 0 {
            due(LockTimer::Machine(Timer::Renew), Instant::at(self.renew_at));
        }
    }

    fn restarted(&self, _: &Scenario<LockService>) -> Self {
        Client::new()
    }
}

impl Participant<LockService> for Client {
    fn commands(&self, _: &Context<'_, LockService>, _: &mut dyn FnMut(LockCommand)) {}

    fn belief(&self) -> Belief {
        let is_waiting = matches!(self.phase, Phase::Acquiring | Phase::BackOff);
        Belief { is_inside: self.is_inside(), is_waiting, ..Belief::default() }
    }
}

impl Normal for LockMessage {
    fn visit(&mut self, _: &mut impl Visitor) {}
}

impl Normal for Request {
    fn visit(&mut self, _: &mut impl Visitor) {}
}

impl Normal for Answer {
    fn visit(&mut self, _: &mut impl Visitor) {}
}

impl Normal for LockTimer {
    fn visit(&mut self, _: &mut impl Visitor) {}
}

impl Normal for Server {
    fn visit(&mut self, _: &mut impl Visitor) {}
}

impl Normal for Client {
    fn visit(&mut self, _: &mut impl Visitor) {}
}

impl fmt::Display for LockMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LockMessage::Request(request) => request.fmt(f),
            LockMessage::Answer(answer) => answer.fmt(f),
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Request::Create => "create a session",
            Request::Acquire => "acquire",
            Request::Write(token) => return write!(f, "write ({token})"),
            Request::Renew => "renew",
            Request::Release => "release",
        })
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Answer::Created => "created",
            Answer::Granted(token) => return write!(f, "granted ({token})"),
            Answer::Denied => "denied",
            Answer::Invalid => "invalid",
            Answer::Written(true) => "written",
            Answer::Written(false) => "refused",
            Answer::Renewed => "renewed",
            Answer::Released => "released",
        })
    }
}

impl fmt::Display for LockTimer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LockTimer::Machine(Timer::Step) => "time is up",
            LockTimer::Machine(Timer::Renew) => "time to renew",
            LockTimer::Machine(Timer::Sweep) => "time to sweep",
            LockTimer::Program(alarm) => return alarm.fmt(f),
        })
    }
}

impl fmt::Display for LockCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            UserCommand::Acquire => "take turns",
            UserCommand::Write => "write",
            UserCommand::Release => "release",
        })
    }
}
