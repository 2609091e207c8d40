//! The connection of a client of the semaphore: one at a time, opened with the first method, and one method at a time.

use serde::{Deserialize, Serialize};

use super::{AmqpApi as _, AmqpChannel, AmqpError, Confirmation, Delivery};
use crate::{Name, Probe, Problem, RabbitMq, Settings, Silence};
use fencepost_model::normal::Normal;
use fencepost_model::program::{First, Handle, OpenDeadline};
use fencepost_model::time::Ticks;

/// A client's connection with its channel, and how long the client waits for an answer.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct Session {
    /// The channel of the connection that is up.
    channel: Option<AmqpChannel>,
    /// How it checks that a queue exists.
    #[normal(skip = "a constant")]
    probe: Probe,
    /// Whether it opens a channel that was closed again.
    reopens: bool,
    /// How long it waits for an answer; none: for ever.
    patience: Option<Ticks>,
    /// How often it may still give up.
    retries: u8,
    /// Whether it closes the socket then.
    hangs_up: bool,
    /// What each answer extends a lease to, from its request on (R-Q-90).
    lease: Option<Ticks>,
}

/// Why a method has no result.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum MethodError {
    /// The broker refuses it, and closes the channel.
    Refused(Problem),
    /// The connection has ended, or was given up.
    Lost,
}

/// The result of a probe (R-Q-81).
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Existence {
    Exists,
    Absent,
    Unknown,
}

impl Session {
    /// With the settings of clients, and this number of requests that a client may give up.
    pub fn of(settings: &Settings, retries: u8) -> Self {
        let lease = settings.lease_margin.and_then(|margin| Some(settings.heartbeat?.times(2) - margin));
        Session {
            channel: None,
            probe: settings.probe,
            reopens: settings.after_refusal != crate::AfterRefusal::GoesOn,
            patience: settings.patience,
            retries,
            hangs_up: settings.silence == Silence::HangUp,
            lease,
        }
    }

    /// Calls a method on the channel, which is opened first if it is closed. A client that does not wait for the result any more still
    /// has its connection: what that owns goes with it, when it [hangs up](Session::hang_up).
    ///
    /// # Errors
    /// The method is refused, or the connection is lost.
    pub async fn ask<T>(
        &mut self,
        broker: &Handle<RabbitMq>,
        method: impl AsyncFnOnce(&mut AmqpChannel) -> Result<T, AmqpError>,
    ) -> Result<T, MethodError> {
        let channel = match &mut self.channel {
            Some(channel) => channel,
            none => none.insert(broker.connect().await.channel()),
        };
        let lease = self.lease.map(|length| broker.deadline(length));
        let asking = async {
            // R-Q-31: `close-ok`, then `channel.open`.
            if channel.is_closed() && self.reopens {
                channel.reopen(broker).await?;
            }
            method(channel).await
        };
        let asked = match self.patience.filter(|_| self.retries > 0) {
            Some(patience) => broker.timeout(patience, asking).await,
            None => Ok(asking.await),
        };
        let Ok(asked) = asked else {
            self.retries -= 1;
            if self.hangs_up {
                self.hang_up(broker);
            }
            self.forget();
            return Err(MethodError::Lost);
        };
        if let Err(AmqpError::Connection(_)) = asked {
            self.forget();
            return Err(MethodError::Lost);
        }
        if let Some(lease) = &lease {
            broker.lease_until(lease);
        }
        asked.map_err(|error| match error {
            AmqpError::Channel(problem) => MethodError::Refused(problem),
            AmqpError::Connection(_) => MethodError::Lost,
        })
    }

    /// "Determining Queue Existence": "by publishing (with confirms) to a queue or by passively declaring it".
    ///
    /// # Errors
    /// The connection is lost.
    pub async fn probe(&mut self, broker: &Handle<RabbitMq>, name: Name) -> Result<Existence, MethodError> {
        let existence = match self.probe {
            Probe::Publish | Probe::PublishUnchecked => {
                // F-1: only a mandatory message is returned.
                let mandatory = self.probe == Probe::Publish;
                match self.ask(broker, async |channel| channel.publish(broker, name, mandatory).await).await {
                    Ok(Confirmation::Returned) => Existence::Absent,
                    Ok(Confirmation::Ack | Confirmation::Nack) => Existence::Exists,
                    Err(MethodError::Refused(_)) => Existence::Unknown,
                    Err(MethodError::Lost) => return Err(MethodError::Lost),
                }
            }
            Probe::Passive | Probe::PassiveCareless => {
                match self.ask(broker, async |channel| channel.declare_passive(broker, name).await).await {
                    Ok(_) => Existence::Exists,
                    Err(MethodError::Refused(Problem::NoQueue)) => Existence::Absent,
                    // F-2: "when existence-checking fails".
                    Err(MethodError::Refused(_)) if self.probe == Probe::PassiveCareless => Existence::Absent,
                    // R-Q-9: it is another connection's.
                    Err(MethodError::Refused(Problem::Locked)) => Existence::Exists,
                    Err(MethodError::Refused(_)) => Existence::Unknown,
                    Err(MethodError::Lost) => return Err(MethodError::Lost),
                }
            }
        };
        Ok(existence)
    }

    /// Gives a message back on the channel on which it was got.
    pub fn put_back(&self, broker: &Handle<RabbitMq>, delivery: Delivery) {
        if let Some(channel) = &self.channel {
            channel.put_back(broker, delivery);
        }
    }

    /// Waits for a deadline.
    ///
    /// # Errors
    /// The connection is lost before.
    pub async fn wait(
        &mut self,
        broker: &Handle<RabbitMq>,
        deadline: &OpenDeadline<RabbitMq>,
    ) -> Result<(), MethodError> {
        match broker.select(self.lost(broker), deadline.passed()).await {
            First::One(()) => {
                self.channel = None;
                Err(MethodError::Lost)
            }
            First::Other(()) => Ok(()),
        }
    }

    /// Waits until the broker ends the connection: for ever, if there is none.
    pub async fn lost(&self, broker: &Handle<RabbitMq>) {
        match &self.channel {
            Some(channel) => {
                channel.connection().closed(broker).await;
            }
            None => std::future::pending().await,
        }
    }

    /// The connection has ended, or is not used any more: the next method opens another one.
    pub fn forget(&mut self) {
        self.channel = None;
    }

    /// Closes the socket, and with it gives back whatever the connection owns (R-Q-39).
    pub fn hang_up(&mut self, broker: &Handle<RabbitMq>) {
        if let Some(channel) = self.channel.take() {
            channel.connection().hang_up(broker);
        }
    }
}
