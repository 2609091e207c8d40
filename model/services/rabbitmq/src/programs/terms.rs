//! What the text of the semaphore leaves to its clients, and what is corrected.

use serde::{Deserialize, Serialize};

use crate::{AfterRace, AfterRefusal, First, LostConnection, QueueProperties, Release, Settings, Verify};
use fencepost_model::time::Ticks;

/// The terms of a client of the semaphore.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TakerTerms {
    /// Step 1: the number that L starts at.
    pub first: First,
    /// Step 6: "You can re-set L to any other number (or leave it at the current value)".
    pub after_race: AfterRace,
    /// Step 6: "clients should support a maximum number of failed second-stage lock acquire attempts"; none: no limit.
    pub attempts: Option<u8>,
    /// Step 6: what a refusal means to it (F-27, B-38).
    pub after_refusal: AfterRefusal,
    /// Step 7: "It is recommended that clients verify their held lock before returning success" (F-11).
    pub verifies_first: bool,
    /// How it verifies.
    pub verify: Verify,
    /// How often it verifies by itself; none: never.
    pub verify_every: Option<Ticks>,
    /// Whether its user tries again after a failure.
    pub persists: bool,
    /// The time until then.
    pub retry_every: Ticks,
    /// What its library does with a lost connection (F-32, F-35).
    pub lost_connection: LostConnection,
    /// "Relinquishing a Lock": which of the three ways.
    pub release: Release,
    /// The properties of B queues, which "should be exclusive queues".
    pub holder: QueueProperties,
}

impl TakerTerms {
    /// The settings of a scenario: literal with the recipe `persistent-semaphore`, corrected by default.
    pub fn of(settings: &Settings) -> Self {
        TakerTerms {
            first: settings.first,
            after_race: settings.after_race,
            attempts: settings.attempts,
            after_refusal: settings.after_refusal,
            verifies_first: settings.verifies_first,
            verify: settings.verify,
            verify_every: settings.verify_every,
            persists: settings.persists,
            retry_every: settings.retry_every,
            lost_connection: settings.lost_connection,
            release: settings.release,
            holder: settings.holder_shape(),
        }
    }
}
