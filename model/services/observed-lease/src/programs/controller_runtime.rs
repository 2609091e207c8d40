//! The manager of controller-runtime: pkg/manager/internal.go and pkg/leaderelection/leader_election.go of
//! kubernetes-sigs/controller-runtime@86a0d40e. Its elector is client-go's, with an identity, a timeout and callbacks of the manager, so that
//! it is that program, and its stop procedure is that of the [caller](super::Caller). OL-K-17.

use super::elector::ElectorLap;
use super::{CallerTerms, ClientGo};
use crate::{Release, Tokens};
use fencepost_model::time::Ticks;

/// What `manager.Options` say of the leader election.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct ControllerManager {
    /// `LeaseDuration`: `defaultLeaseDuration` is 15 s.
    pub lease_duration: Ticks,
    /// `RenewDeadline`: `defaultRenewDeadline` is 10 s.
    pub renew_deadline: Ticks,
    /// `RetryPeriod`: `defaultRetryPeriod` is 2 s.
    pub retry_period: Ticks,
    /// `LeaderElectionReleaseOnCancel`.
    pub release_on_cancel: bool,
    /// `GracefulShutdownTimeout`: `defaultGracefulShutdownPeriod` is 30 s; none: the manager waits for ever, as it does for a negative one.
    pub graceful_shutdown_timeout: Option<Ticks>,
    /// How long the runnables need to stop, and the program to exit, in ticks.
    pub stop_time: Ticks,
    /// A second, in ticks.
    pub second: Ticks,
}

impl ControllerManager {
    /// `NewResourceLock` and `initLeaderElector`.
    pub fn elector(self) -> ClientGo {
        let ControllerManager { lease_duration, renew_deadline, retry_period, second, .. } = self;
        // `JitterUntilWithContext(…, le.config.RetryPeriod, JitterFactor, true)`: up to the last whole tick below 2.2 periods.
        let spread = (11 * retry_period.count() + 4) / 5 - 1 - retry_period.count();
        ClientGo {
            lease_duration,
            renew_deadline,
            retry_period,
            jitter: u8::try_from(spread).unwrap_or(u8::MAX),
            recorded: Ticks::new(lease_duration.count() / second.count() * second.count()),
            second,
            // `max(options.RenewDeadline/2, time.Second)`.
            request_timeout: Some(Ticks::new(renew_deadline.count() / 2).max(second)),
            release: if self.release_on_cancel { Release::FreshVersion } else { Release::Never },
            release_repeats: self.release_on_cancel,
            fast_path: true,
            counts_own: false,
            cuts_requests: true,
            tells_first: false,
            counts_from_success: false,
            awaits_work: false,
            coordinated: false,
            // `id + "_" + string(uuid.NewUUID())`.
            identity: None,
            token: Tokens::None,
            caller: self.stop_procedure(),
            me: None,
            observed: None,
            observed_raw: None,
            version: None,
            next: ElectorLap::Acquire,
        }
    }

    /// `engageStopProcedure`: `internalCancel` tells the runnables at once; `StopAndWait(cm.shutdownCtx)` waits for them, while the elector
    /// renews on; `leaderElectionCancel` comes last, also when the time is up. `OnStoppedLeading` sets the grace to 0 and has `Start` return
    /// an error: the runnables are told then, and nothing waits for them.
    fn stop_procedure(self) -> CallerTerms {
        CallerTerms {
            stop_time: self.stop_time,
            waits: true,
            grace: self.graceful_shutdown_timeout,
            watches_lease: false,
            told_last: false,
        }
    }
}
