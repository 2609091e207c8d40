//! The renewals of one lease, and the deadline at which they are given up (clientv3/lease.go of 3.4.23).

use serde::{Deserialize, Serialize};

use super::{EtcdApi, EtcdQuery};
use crate::Etcd;
use fencepost_model::ids::SessionId;
use fencepost_model::normal::Normal;
use fencepost_model::program::{First, Gone, Handle, Lap, Recipe};
use fencepost_model::time::Ticks;

/// `type keepAlive struct`, with the three loops that serve it: `sendKeepAliveLoop` (558-589), `recvKeepAlive` (494-533) and `deadlineLoop`
/// (537-555). It ends when the keepalive's channel closes, and with it `Done` of the session (session.go 64-69). A lap begins at an answer.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct KeepAliveLoop {
    /// The lease.
    pub lease: SessionId,
    /// `karesp.TTL`, which is T in each answer (518).
    pub ttl: Ticks,
    /// When the next renewal is due after an answer: T/3, at the next tick of a loop of 0.5 s (517, 580). E-CC-2.
    pub renew_after: Ticks,
    /// The period of that loop, and `retryConnWait` (85, 464). E-CC-2.
    pub resend_after: Ticks,
    /// Whether an unanswered renewal is sent again, as 564-566 does. On a stream that loses no message it makes no difference.
    pub resends: bool,
    /// The period of `deadlineLoop`, 1 s (540), as late as it may come. E-CC-3.
    pub done_loop: Ticks,
    /// What a self-limiting user counts with from the sending of a renewal that is acknowledged: T less its margin. E-T-7.
    pub limit: Option<Ticks>,
    /// How long the channel stays open without an answer from here: `firstKeepAliveTimeout` (285), then T (518). E-CC-3, E-CC-4.
    pub patience: Ticks,
    /// `nextKeepAlive`, from here (286, 517); none: it is due.
    pub next: Option<Ticks>,
}

impl KeepAliveLoop {
    /// Sends a renewal until it is answered: whether the lease exists.
    async fn renew(&self, client: &Handle<Etcd>) -> bool {
        loop {
            let limit = self.limit.map(|limit| client.deadline(limit));
            let answer = client.keep_alive_once(self.lease);
            let answer = match self.resends {
                true => client.timeout(self.resend_after, answer).await.ok(),
                false => Some(answer.await),
            };
            match answer {
                Some(Ok(exists)) => {
                    if let Some(limit) = limit.filter(|_| exists) {
                        client.lease_until(&limit);
                    }
                    return exists;
                }
                // `stream.Recv()` fails: a new stream, which sends what is due (447-465).
                Some(Err(_)) => client.sleep(self.resend_after).await,
                None => {}
            }
        }
    }
}

impl Recipe<Etcd> for KeepAliveLoop {
    const NAME: &'static str = "keep-alive-loop";

    async fn lap(&mut self, client: &Handle<Etcd>) -> Result<Lap, Gone> {
        // `ka.deadline`, and `if ka.deadline.Before(now)` of the loop that looks.
        let deadline = client.deadline(self.patience + self.done_loop);
        let renewal = async {
            if let Some(next) = self.next {
                client.sleep(next).await;
            }
            self.renew(client).await
        };
        match client.select(renewal, deadline.passed()).await {
            First::One(true) => {
                (self.next, self.patience) = (Some(self.renew_after), self.ttl);
                Ok(Lap::Again)
            }
            // `if karesp.TTL <= 0` (509-514), or the deadline has passed: `ka.close()`.
            First::One(false) | First::Other(()) => {
                client.send(EtcdQuery::SessionEnded);
                Ok(Lap::Done)
            }
        }
    }
}
