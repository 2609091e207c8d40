//! The client of workload 2 as a program, with what the service says of itself for that.

use fencepost_model::fact::Leaving;
use fencepost_model::ids::{Call, Token};
use fencepost_model::normal::Normal;
use fencepost_model::program::{Alarm, Gone, Handle, Lap, Programmable, Recipe, UserCommand};
use fencepost_model::time::Ticks;
use serde::{Deserialize, Serialize};

use super::machines::{Answer, Request, SECOND};
use super::on_world::{LockCommand, LockMessage, LockService, LockTimer};

impl Programmable for LockService {
    type Request = Request;
    type Answer = Answer;

    fn ask(_: Call, request: Request) -> LockMessage {
        LockMessage::Request(request)
    }

    /// The answer to a renewal is ignored: there is nothing that waits for it.
    fn answer(message: &LockMessage) -> Option<(Option<Call>, Answer)> {
        match message {
            LockMessage::Answer(Answer::Renewed) | LockMessage::Request(_) => None,
            LockMessage::Answer(answer) => Some((None, *answer)),
        }
    }

    fn timer(alarm: Alarm) -> LockTimer {
        LockTimer::Program(alarm)
    }

    fn alarm(timer: &LockTimer) -> Option<Alarm> {
        match timer {
            LockTimer::Program(alarm) => Some(*alarm),
            LockTimer::Machine(_) => None,
        }
    }

    fn command(command: UserCommand) -> LockCommand {
        LockCommand(command)
    }

    fn user_command(command: &LockCommand) -> Option<UserCommand> {
        Some(command.0)
    }
}

/// The client, which has a session from its first lap on.
#[derive(Clone, PartialEq, Eq, Debug, Default, Normal, Serialize, Deserialize)]
pub struct LockClient {
    has_session: bool,
}

impl LockClient {
    /// Asks, and asks again after a second without an answer.
    async fn ask(server: &Handle<LockService>, request: Request) -> Answer {
        loop {
            if let Ok(answer) = server.timeout(Ticks::new(SECOND), server.request(request)).await {
                return answer;
            }
        }
    }
}

impl Recipe<LockService> for LockClient {
    const NAME: &'static str = "lock-client";

    async fn lap(&mut self, server: &Handle<LockService>) -> Result<Lap, Gone> {
        if !self.has_session {
            LockClient::ask(server, Request::Create).await;
            server.spawn(Renewals {});
            self.has_session = true;
        }
        match LockClient::ask(server, Request::Acquire).await {
            Answer::Granted(token) => {
                server.enter(Token::NONE);
                LockClient::ask(server, Request::Write(token)).await;
                server.sleep(Ticks::new(SECOND)).await;
                server.leave(Leaving::Done);
                LockClient::ask(server, Request::Release).await;
                server.sleep(Ticks::new(SECOND)).await;
            }
            Answer::Denied => server.sleep(Ticks::new(SECOND / 2)).await,
            _ => self.has_session = false,
        }
        Ok(Lap::Again)
    }
}

/// A renewal every five seconds.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
struct Renewals {}

impl Recipe<LockService> for Renewals {
    const NAME: &'static str = "renewals";

    async fn lap(&mut self, server: &Handle<LockService>) -> Result<Lap, Gone> {
        server.sleep(Ticks::new(5 * SECOND)).await;
        server.send(Request::Renew);
        Ok(Lap::Again)
    }
}
