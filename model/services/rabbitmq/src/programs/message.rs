//! One message as a mutex: the client that has got it and not acknowledged it has the lock, and gives it back with a reject
//! (B-36, R-Q-70).

use serde::{Deserialize, Serialize};

use super::session::Session;
use super::{Doing, Report};
use crate::{Name, RabbitMq, Settings};
use fencepost_model::fact::Leaving;
use fencepost_model::ids::Token;
use fencepost_model::normal::Normal;
use fencepost_model::program::{First, Gone, Handle, Lap, Recipe, Wanted};
use fencepost_model::time::Ticks;

/// A client of the mutex.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct MessageMutex {
    /// How long it waits when the queue was empty.
    pub retry_every: Ticks,
    session: Session,
}

impl MessageMutex {
    /// The client with the settings of a scenario.
    pub fn of(settings: &Settings) -> Self {
        MessageMutex { retry_every: settings.retry_every, session: Session::of(settings, 0) }
    }
}

impl Recipe<RabbitMq> for MessageMutex {
    const NAME: &'static str = "message-mutex";

    async fn lap(&mut self, broker: &Handle<RabbitMq>) -> Result<Lap, Gone> {
        // "Acquire": `basic.get`, without an acknowledgement.
        let got = self.session.ask(broker, async |channel| channel.get(broker, Name::Lock).await).await;
        let Ok(Some(delivery)) = got else {
            if got == Ok(None) {
                broker.send(Doing::Report(Report::Empty));
            }
            let deadline = broker.deadline(self.retry_every);
            if self.session.wait(broker, &deadline).await.is_err() {
                deadline.passed().await;
            }
            return Ok(Lap::Again);
        };
        broker.enter(Token::default());
        loop {
            match broker.select(self.session.lost(broker), broker.user()).await {
                // The broker puts the message back.
                First::One(()) => {
                    self.session.forget();
                    broker.leave(Leaving::Notified);
                    return Ok(Lap::Done);
                }
                First::Other(Wanted::Write) => broker.send_write(Token::default()),
                First::Other(Wanted::Release) => break,
            }
        }
        // "Release": `basic.reject` with `requeue`.
        broker.leave(Leaving::Done);
        self.session.put_back(broker, delivery);
        Ok(Lap::Done)
    }
}
