//! The goroutine of the Go client that renews a session (api/session.go of Consul 1.8.7).

use serde::{Deserialize, Serialize};

use super::HttpApi;
use crate::Consul;
use fencepost_model::ids::SessionId;
use fencepost_model::normal::Normal;
use fencepost_model::program::{Gone, Handle, Lap, Recipe};
use fencepost_model::time::Ticks;

/// `func (s *Session) RenewPeriodic`, whose `lastRenewTime` is the head of a lap. C-API-2.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct Renew {
    /// The session that it renews.
    pub session: SessionId,
    /// Its TTL; half of it is `waitDur`.
    pub ttl: Ticks,
    /// `waitDur` after an error: 1 s.
    pub after_error: Ticks,
}

impl Recipe<Consul> for Renew {
    const NAME: &'static str = "renew-periodic";

    async fn lap(&mut self, consul: &Handle<Consul>) -> Result<Lap, Gone> {
        let last_renew = consul.deadline(self.ttl);
        let mut wait = Ticks::new(self.ttl.count() / 2);
        loop {
            // `if time.Since(lastRenewTime) > ttl { return lastErr }`.
            if last_renew.is_over().await {
                return Ok(Lap::Done);
            }
            consul.sleep(wait).await;
            match consul.renew_session(self.session).await {
                Err(_) => wait = self.after_error,
                // `entry == nil: return ErrSessionExpired`.
                Ok(false) => return Ok(Lap::Done),
                Ok(true) => return Ok(Lap::Again),
            }
        }
    }
}
