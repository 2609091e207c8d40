//! The time inside, from lock-acquire success on: verifications, the lease, and "Relinquishing a Lock".

use super::taker::SlotTaker;
use super::verify::{Verified, verify};
use super::{Doing, Report};
use crate::{LostConnection, Name, RabbitMq, Release};
use fencepost_model::fact::Leaving;
use fencepost_model::ids::Token;
use fencepost_model::program::{First, Handle, Lap, Wanted};

/// How a lap of the tenure ends.
enum Tenure {
    /// The client holds its slot, as far as it knows.
    GoesOn,
    /// The user gives it back.
    Released,
    /// The slot was removed.
    Removed,
    /// It is lost, with the connection or with the holder's queue.
    Lost,
}

impl SlotTaker {
    /// A lap of the tenure: up to a verification, or to its end.
    pub(super) async fn hold(&mut self, broker: &Handle<RabbitMq>, slot: u8) -> Lap {
        let end = match broker.select(broker.lease_ended(), self.keep(broker, slot)).await {
            // R-Q-90: it stops by itself, and closes the socket.
            First::One(()) => {
                broker.leave(Leaving::Lapsed);
                self.session.hang_up(broker);
                self.held = None;
                broker.no_lease();
                return Lap::Done;
            }
            First::Other(Tenure::GoesOn) => return Lap::Again,
            First::Other(end) => end,
        };
        broker.leave(if matches!(end, Tenure::Released) { Leaving::Done } else { Leaving::Notified });
        self.held = None;
        broker.no_lease();
        match end {
            Tenure::Released => self.relinquish(broker, slot).await,
            // R-Q-89: a removed slot is given back, a lost one is not.
            Tenure::Removed => _ = self.delete(broker, slot).await,
            Tenure::Lost | Tenure::GoesOn => {}
        }
        Lap::Done
    }

    /// "A client may do any of the following to relinquish a held semaphore".
    async fn relinquish(&mut self, broker: &Handle<RabbitMq>, slot: u8) {
        let ended = match self.terms.release {
            // "Delete the B queue for L."
            Release::Delete | Release::Never => self.delete(broker, slot).await.map(|()| false),
            // "Close its channel." The connection and B[L] stay (F-38).
            Release::CloseChannel => {
                self.session.ask(broker, async |channel| channel.clone().close(broker).await.map(|()| true)).await
            }
            // "Close its connection."
            Release::CloseConnection => {
                self.session.ask(broker, async |channel| channel.connection().close(broker).await.map(|()| true)).await
            }
        };
        if ended == Ok(true) {
            self.session.forget();
        }
    }

    /// Works, until a verification is over.
    async fn keep(&mut self, broker: &Handle<RabbitMq>, slot: u8) -> Tenure {
        let next = self.terms.verify_every.map(|every| broker.deadline(every));
        let is_asked = loop {
            let due = async {
                match &next {
                    Some(next) => next.passed().await,
                    None => std::future::pending().await,
                }
            };
            let asked = broker.select(broker.verification(), due);
            match broker.select(self.session.lost(broker), broker.select(broker.user(), asked)).await {
                First::One(()) => {
                    self.session.forget();
                    return self.without_connection(broker, slot).await;
                }
                First::Other(First::One(Wanted::Write)) => broker.send_write(Token::default()),
                First::Other(First::One(Wanted::Release)) => return Tenure::Released,
                First::Other(First::Other(First::One(()))) => break true,
                First::Other(First::Other(First::Other(()))) => break false,
            }
        };
        let how = (self.terms.verify, self.terms.holder);
        let replaces = self.terms.lost_connection == LostConnection::Replaced;
        let (is_held, end) = match verify(&mut self.session, broker, slot, how, replaces).await {
            Ok(Verified::Held) => (true, Tenure::GoesOn),
            Ok(Verified::SlotGone) => (false, Tenure::Removed),
            Err(_) if self.terms.lost_connection == LostConnection::Recovered => {
                return self.without_connection(broker, slot).await;
            }
            Ok(Verified::HolderGone) | Err(_) => (false, Tenure::Lost),
        };
        if is_asked {
            broker.send(Doing::Report(Report::Verified(is_held)));
        }
        end
    }

    /// The connection was lost, and B[L] with it (R-Q-89).
    async fn without_connection(&mut self, broker: &Handle<RabbitMq>, slot: u8) -> Tenure {
        match self.terms.lost_connection {
            LostConnection::Lost => return Tenure::Lost,
            // F-32: its library has another connection, and the client does not know.
            LostConnection::Replaced => {}
            // F-35: its library declares its queues again, whatever comes of it.
            LostConnection::Recovered => {
                let (name, shape) = (Name::Holder(slot), self.terms.holder);
                let declared = async |channel: &mut super::AmqpChannel| channel.declare(broker, name, shape).await;
                while self.session.ask(broker, declared).await == Err(super::session::MethodError::Lost) {}
            }
        }
        Tenure::GoesOn
    }
}
