//! The session of an administrator (R-Q-83): what refusals and lost connections mean to it, and how it ends.

use super::{SlotAdministrator, Stopped, Work};
use crate::programs::session::{Existence, MethodError};
use crate::programs::{AmqpChannel, AmqpError, Doing, Report};
use crate::{Failure, Name, Problem, RabbitMq, Release, Retries};
use fencepost_model::program::{Handle, Lap};

impl SlotAdministrator {
    /// Whether it looks again for a slot that it has found held (F-12, F-26).
    pub(super) fn is_patient(&self, work: &mut Work) -> bool {
        let Some(patience) = self.terms.patience else { return true };
        work.looked += 1;
        work.looked < patience
    }

    /// F-21: whether a refused step ends the operation.
    pub(super) fn carry_on_after(&self, result: Result<u32, Problem>) -> Result<(), Stopped> {
        if result.is_ok() || self.terms.failure == Failure::GoesOn { Ok(()) } else { Err(Stopped) }
    }

    /// Tells the user, and gives the mutex back (F-14).
    pub(super) async fn finish(&mut self, broker: &Handle<RabbitMq>, is_pending: bool) {
        let size = self.asked.take().unwrap_or_default();
        broker.send(Doing::Report(if is_pending { Report::Pending(size) } else { Report::Finished(size) }));
        self.done += 1;
        broker.end_work();
        if !self.terms.mutex {
            return;
        }
        let unlock = self.terms.unlock;
        let unlocked = self.session.ask(broker, async |channel: &mut AmqpChannel| match unlock {
            Release::Delete | Release::Never => channel.delete(broker, Name::Mutex, false).await.map(|_| ()),
            Release::CloseChannel => channel.clone().close(broker).await,
            Release::CloseConnection => channel.connection().close(broker).await,
        });
        if unlocked.await.is_ok() && matches!(unlock, Release::CloseChannel | Release::CloseConnection) {
            self.session.forget();
        }
    }

    /// R-Q-83: any error ends the session, and with it the mutex; a new session counts again.
    pub(super) async fn abort(&mut self, broker: &Handle<RabbitMq>) -> Lap {
        broker.send(Doing::Report(Report::Aborted));
        broker.end_work();
        self.session.hang_up(broker);
        if self.terms.retries == Retries::Never {
            (self.done, self.asked) = (self.done + 1, None);
            return Lap::Done;
        }
        broker.sleep(self.retry_every).await;
        Lap::Again
    }

    /// Calls a method. A library that reconnects calls it again on another connection, without the mutex (F-15).
    pub(super) async fn ask<T>(
        &mut self,
        broker: &Handle<RabbitMq>,
        method: impl AsyncFn(&mut AmqpChannel) -> Result<T, AmqpError>,
    ) -> Result<Result<T, Problem>, Stopped> {
        loop {
            match self.session.ask(broker, &method).await {
                Ok(value) => return Ok(Ok(value)),
                Err(MethodError::Refused(problem)) => return Ok(Err(problem)),
                Err(MethodError::Lost) if self.terms.reconnects => {}
                Err(MethodError::Lost) => return Err(Stopped),
            }
        }
    }

    pub(super) async fn probe(&mut self, broker: &Handle<RabbitMq>, name: Name) -> Result<Existence, Stopped> {
        loop {
            match self.session.probe(broker, name).await {
                Ok(existence) => return Ok(existence),
                Err(_) if self.terms.reconnects => {}
                Err(_) => return Err(Stopped),
            }
        }
    }

    /// Waits, and looks whether its connection stays.
    pub(super) async fn pause(&mut self, broker: &Handle<RabbitMq>) -> Result<(), Stopped> {
        let deadline = broker.deadline(self.retry_every);
        if self.session.wait(broker, &deadline).await.is_err() {
            if !self.terms.reconnects {
                return Err(Stopped);
            }
            deadline.passed().await;
        }
        Ok(())
    }
}
