//! The `[service]` table of a scenario: the durations of a lease, and what distinguishes the client libraries. Broken and fixed
//! variants of a client are settings of one recipe, not copies.
//!
//! `elector` has the choices of an elector, `kernel` answers the kernel's questions, `validate` has the checks.

mod elector;
mod kernel;
mod validate;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ObservedLease;
pub use elector::{
    Acquire, Boundary, Callback, Cancels, Expiry, GivesUp, Guard, Identity, Memory, NapsFrom, OnCancel, OnLoss,
    OperatorKind, PollFrom, RefusedCreate, Release, Renewal, RowClock, Tokens, Work,
};
use fencepost_model::ids::ClientId;
use fencepost_model::scenario::settings_from_toml;
use fencepost_model::time::Ticks;
use fencepost_model::units::Duration;

macro_rules! recipes {
    ($($name:literal),*) => {
        &[$(($name, include_str!(concat!("../../recipes/", $name, ".toml")))),*]
    };
}

/// Recipes of real clients: settings that follow the rules and cite them.
pub(super) const RECIPES: &[(&str, &str)] = recipes![
    "client-go",
    "client-go-v0-33",
    "client-go-v0-26",
    "controller-runtime",
    "fabric8",
    "python",
    "kubert",
    "kube-leader-election",
    "dynamodb-lock-client",
    "litestream",
    "terraform",
    "shedlock",
    "shedlock-client-time"
];

/// The tick of the recipes: a second.
pub(super) const RECIPE_TICK: Duration = Duration::of_nanoseconds(1_000_000_000);

/// The `[service]` table. A setting of one system is refused in the other.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// How long a contender must have seen the record unchanged, in ticks: LeaseDuration. `lease-row`: `lockAtMostFor`.
    pub lease: Ticks,
    /// How long a holder retries a renewal before it gives up, in ticks: RenewDeadline. Without effect where `gives_up` is `never`.
    pub renew_deadline: Ticks,
    /// The time between two attempts, in ticks: RetryPeriod.
    pub retry_period: Ticks,
    /// The time between two renewals, in ticks, where it is not the retry period (OL-D-6).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renew_period: Option<Ticks>,
    /// Durations of single clients, in order; the others have those above (OL-7).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<ClientTerms>,
    /// The longest sleep of a contender, in ticks: the last whole tick below 2.2 retry periods (OL-K-6). It draws a length from the
    /// retry period to this; if this is shorter, it always sleeps for the retry period.
    pub sleep_max: Ticks,
    /// The resolution of the clients, in ticks. Lengths that are drawn (of sleeps between attempts, naps, preparations) are multiples of it,
    /// and "after an instant" means at least this much later. A refined scenario draws the same lengths.
    pub grain: Ticks,
    /// After how many ticks a request times out; none: never (OL-K-13).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_timeout: Option<Ticks>,
    /// The ticks of a second, to which recorded durations are truncated; none: they are exact (OL-K-2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second: Option<Ticks>,
    /// How a contender gets the lease.
    pub acquire: Acquire,
    /// How long a contender that writes without a condition waits before it reads back, in ticks (OL-26).
    pub read_back_after: Ticks,
    /// What a contender does when its creation is refused.
    pub refused_create: RefusedCreate,
    /// Whether a contender that reads its own identity takes the lease for its own (OL-K-5).
    pub recognises_itself: bool,
    /// From when on a record counts as expired.
    pub expiry: Expiry,
    /// Whether the instant of expiry counts as expired.
    pub boundary: Boundary,
    /// What a renewal sends.
    pub renewal: Renewal,
    /// When a holder gives up.
    pub gives_up: GivesUp,
    /// From when on the renew deadline counts.
    pub poll_from: PollFrom,
    /// Whether the renew deadline ends a request that is in flight (OL-K-7).
    pub cuts_requests: bool,
    /// Whether a request names the version that it replaces (OL-K-23).
    pub conditional: bool,
    /// Whether a library below the recipe repeats a request that timed out, once (OL-D-9).
    pub repeats_requests: bool,
    /// Whether an error of the store counts as a renewal for the work's own deadline (OL-D-8).
    pub holds_on_error: bool,
    /// The deadline of the work itself, beside the elector's.
    pub guard: Guard,
    /// `guard = "safe-time"`: how long the work may go on after the sending of the last acknowledged renewal, in ticks (OL-D-7).
    pub safe_time: Ticks,
    /// How the lease is given back.
    pub release: Release,
    /// Whether a refused release reads again (OL-K-12).
    pub release_repeats: bool,
    /// The order of steps when the lease is lost.
    pub on_loss: OnLoss,
    /// What happens when the caller cancels.
    pub on_cancel: OnCancel,
    /// How long a cancelled elector waits for its work, in ticks; none: as long as the work needs (OL-K-17).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace: Option<Ticks>,
    /// When the caller may cancel.
    pub cancels: Cancels,
    /// What the program does when it hears that it no longer leads.
    pub callback: Callback,
    /// Whether the work waits for the election.
    pub work: Work,
    /// How long the work goes on after it was told to stop, in ticks.
    pub stop_time: Ticks,
    /// Whether the work ever stops after it was told to.
    pub work_ends: bool,
    /// The identity that a client writes.
    pub identity: Identity,
    /// How long one call of a client that does not wait for ever waits beyond the recorded duration, in ticks (OL-D-4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<Ticks>,
    /// After how many ticks a call that ended without the lease is made again; none: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_again: Option<Ticks>,
    /// What a contender remembers from one call to the next.
    pub memory: Memory,
    /// The token that the work sends with its writes.
    pub token: Tokens,
    /// How far each client's wall clock is ahead of the clock that is furthest behind, in ticks; 0 for clients beyond the list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wall_ahead: Vec<Ticks>,
    /// The rate of each client's own clock; that of true time for clients beyond the list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<Rate>,
    /// The longest sleep of a process between two requests, in ticks; see `budget.naps`.
    pub nap: Ticks,
    /// When such a sleep may begin (OL-8).
    pub naps_from: NapsFrom,
    /// Whether the store refuses a duration of 0 (OL-S-5).
    pub validates: bool,
    /// Whether the store creates a record although there is one (OL-O-1).
    pub create_overwrites: bool,
    /// Whether the store deletes a record whatever its version (OL-O-1).
    pub delete_ignores_version: bool,
    /// The actions of the operator; see `budget.operator`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operator: Vec<OperatorKind>,
    /// `lease-row`: whose clock the row is compared with.
    pub row_clock: RowClock,
    /// `lease-row`: the duration of a task, in ticks.
    pub task: Ticks,
    /// `lease-row`: how long after its start a task keeps the row at least, in ticks: `lockAtLeastFor`.
    pub at_least: Ticks,
    /// `lease-row`: the longest time between the reading of the clock and the statement, in ticks.
    pub preparation: Ticks,
    /// `lease-row`: whether the row is extended while the task runs (OL-R-5).
    pub keep_alive: bool,
}

/// Durations of one client.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientTerms {
    /// LeaseDuration, in ticks.
    pub lease: Ticks,
    /// RenewDeadline, in ticks.
    pub renew_deadline: Ticks,
    /// RetryPeriod, in ticks.
    pub retry_period: Ticks,
}

/// The rate of a clock: it shows `shows` ticks more after `per` ticks of true time (OL-K-15).
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Ticks of the clock, from 1.
    pub shows: u16,
    /// Ticks of true time, from 1.
    pub per: u16,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            lease: Ticks::new(4),
            renew_deadline: Ticks::new(2),
            retry_period: Ticks::new(1),
            renew_period: None,
            terms: Vec::new(),
            sleep_max: Ticks::new(2),
            grain: Ticks::new(1),
            request_timeout: None,
            second: None,
            acquire: Acquire::default(),
            read_back_after: Ticks::ZERO,
            refused_create: RefusedCreate::default(),
            recognises_itself: true,
            expiry: Expiry::default(),
            boundary: Boundary::default(),
            renewal: Renewal::default(),
            gives_up: GivesUp::default(),
            poll_from: PollFrom::default(),
            cuts_requests: true,
            conditional: true,
            repeats_requests: false,
            holds_on_error: false,
            guard: Guard::default(),
            safe_time: Ticks::ZERO,
            release: Release::default(),
            release_repeats: false,
            on_loss: OnLoss::default(),
            on_cancel: OnCancel::default(),
            grace: None,
            cancels: Cancels::default(),
            callback: Callback::default(),
            work: Work::default(),
            stop_time: Ticks::ZERO,
            work_ends: true,
            identity: Identity::default(),
            patience: None,
            call_again: None,
            memory: Memory::default(),
            token: Tokens::default(),
            wall_ahead: Vec::new(),
            rates: Vec::new(),
            nap: Ticks::ZERO,
            naps_from: NapsFrom::default(),
            validates: true,
            create_overwrites: false,
            delete_ignores_version: false,
            operator: Vec::new(),
            row_clock: RowClock::default(),
            task: Ticks::ZERO,
            at_least: Ticks::ZERO,
            preparation: Ticks::ZERO,
            keep_alive: false,
        }
    }
}

impl Settings {
    /// Whether a lease counts from the sending of a write, and not from its answer: clients whose heartbeat is a write only say so, with a
    /// guard of the work or without (OL-D-2).
    pub(crate) fn counts_from_sending(&self) -> bool {
        self.guard != Guard::None || self.expiry == Expiry::WriterClock || self.renewal == Renewal::WriteOnly
    }

    /// Whether a client reads its clock before the read of an attempt, and writes that time: fabric8 (OL-K-20). kube-leader-election reads it
    /// before the write.
    pub(crate) fn reads_clock_first(&self) -> bool {
        self.expiry == Expiry::WriterClock && self.gives_up == GivesUp::AtTick
    }

    /// Whether the work hears of a cancellation after the release, as it hears of a loss: fabric8 (OL-K-20).
    pub(crate) fn releases_before_telling(&self) -> bool {
        self.gives_up == GivesUp::AtTick
            && self.on_cancel == OnCancel::ReleaseAtOnce
            && self.on_loss == OnLoss::ReleaseThenTell
            && self.release != Release::Never
    }

    /// Ready-made settings, by the name in a scenario's `recipe`; their tick is a second.
    pub fn of_recipe(name: &str) -> Option<Settings> {
        let (_, text) = RECIPES.iter().find(|(other, _)| *other == name)?;
        Some(settings_from_toml::<ObservedLease>(text).expect("recipes are tested"))
    }

    /// LeaseDuration of a client.
    pub(crate) fn lease_of(&self, client: ClientId) -> Ticks {
        self.terms.get(client.place()).map_or(self.lease, |terms| terms.lease)
    }

    /// RenewDeadline of a client.
    pub(crate) fn deadline_of(&self, client: ClientId) -> Ticks {
        self.terms.get(client.place()).map_or(self.renew_deadline, |terms| terms.renew_deadline)
    }

    /// RetryPeriod of a client.
    pub(crate) fn retry_of(&self, client: ClientId) -> Ticks {
        self.terms.get(client.place()).map_or(self.retry_period, |terms| terms.retry_period)
    }

    /// The duration that a client records: whole seconds, truncated (OL-K-2).
    pub(crate) fn recorded(&self, client: ClientId) -> Ticks {
        let lease = self.lease_of(client);
        self.second.map_or(lease, |second| Ticks::new(lease.count() / second.count() * second.count()))
    }

    /// How far the client's wall clock is ahead.
    pub(crate) fn ahead(&self, client: ClientId) -> Ticks {
        self.wall_ahead.get(client.place()).copied().unwrap_or_default()
    }

    /// True ticks in which a client's clock shows that many ticks more.
    pub(crate) fn span(&self, client: ClientId, shown: Ticks) -> Ticks {
        match self.rates.get(client.place()) {
            Some(Rate { shows, per }) => Ticks::new(shown.count() * i64::from(*per) / i64::from(*shows)),
            None => shown,
        }
    }

    /// The number of lengths that a client's sleep between two attempts may have beyond the shortest, in grains (OL-K-6).
    pub(crate) fn sleep_spread(&self, client: ClientId) -> i64 {
        let (longest, shortest) = (self.span(client, self.sleep_max), self.span(client, self.retry_of(client)));
        (longest - shortest).count().max(0) / self.grain.count()
    }
}

/// More lengths than this beyond the shortest are spread evenly over the same sleeps.
pub(crate) const SLEEPS_MAX: i64 = 100;
