//! What is asked: the settings of an elector, in seconds, and the bounds that its user counts on.

use fencepost_model::time::Ticks;
use fencepost_model::units::{Duration, PartsPerMillion};
use fencepost_observed_lease::{Expiry, Release, Settings};

use crate::asked::QuestionError;
use crate::rounding::{FINEST, times};

/// The recipes whose electors are known here.
pub const RECIPES: [&str; 4] = ["client-go", "client-go-v0-33", "client-go-v0-26", "controller-runtime"];

/// The tick of the recipes, and the unit in which a duration is recorded (OL-K-2).
const SECOND: Duration = Duration::of_seconds(1);

/// The longest duration that a question may name.
const LONGEST: Duration = Duration::of_seconds(24 * 3_600);

/// The settings of an elector, and the bounds that its user counts on. Every duration is a multiple of [`FINEST`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ElectionQuestion {
    /// The elector, by the name of its recipe.
    pub recipe: &'static str,
    /// LeaseDuration: how long a contender must have seen the record unchanged.
    pub lease: Duration,
    /// RenewDeadline: how long a leader tries to renew before it gives up.
    pub renew_deadline: Duration,
    /// RetryPeriod: the time between two attempts.
    pub retry_period: Duration,
    /// After how long a request times out; none: never (OL-K-13).
    pub request_timeout: Option<Duration>,
    /// ReleaseOnCancel: whether a leader that stops gives the lease back (OL-K-12).
    pub release: bool,
    /// How long the work goes on after it is told that it does not lead any more.
    pub stop_time: Duration,
    /// For how long a client may stand still at a time, as often as it likes.
    pub pause: Duration,
    /// For how long a message may be under way.
    pub latency: Duration,
    /// By how much the clock of a leader may be slower than that of a contender.
    pub drift: PartsPerMillion,
}

impl ElectionQuestion {
    /// The defaults of a recipe, without ReleaseOnCancel, with clients that never stand still and a network that takes no time.
    ///
    /// ```
    /// use fencepost_doctor::ElectionQuestion;
    ///
    /// let asked = ElectionQuestion::of_recipe("client-go").expect("it is known");
    /// assert_eq!([asked.lease, asked.renew_deadline].map(|length| length.to_string()), ["15s", "10s"]);
    /// assert!(ElectionQuestion::of_recipe("client").expect_err("it is misspelt").to_string().contains("`client-go`"));
    /// ```
    ///
    /// # Errors
    /// There is no such recipe.
    pub fn of_recipe(name: &str) -> Result<Self, QuestionError> {
        let Some(recipe) = RECIPES.into_iter().find(|recipe| *recipe == name) else {
            let message = format!("there is no recipe `{name}` here; there are `{}`", RECIPES.join("`, `"));
            return Err(QuestionError::new("recipe", message));
        };
        let settings = recipe_of(recipe);
        let duration = |ticks: Ticks| times(SECOND, ticks.count());
        Ok(ElectionQuestion {
            recipe,
            lease: duration(settings.lease),
            renew_deadline: duration(settings.renew_deadline),
            retry_period: duration(settings.retry_period),
            request_timeout: settings.request_timeout.map(duration),
            release: false,
            stop_time: Duration::ZERO,
            pause: Duration::ZERO,
            latency: Duration::ZERO,
            drift: PartsPerMillion::default(),
        })
    }

    /// Another renew deadline; where the recipe has a timeout of requests, it is half of that, and at least a second (OL-K-13).
    pub fn set_renew_deadline(&mut self, deadline: Duration) {
        self.renew_deadline = deadline;
        if self.request_timeout.is_some() {
            self.request_timeout = Some(timeout_of(deadline));
        }
    }

    /// Looks for settings that cannot be meant.
    ///
    /// # Errors
    /// The first mistake found.
    pub fn validate(&self) -> Result<(), QuestionError> {
        let wrong = |setting, message: String| Err(QuestionError::new(setting, message));
        let durations = [
            ("lease", Some(self.lease)),
            ("renew-deadline", Some(self.renew_deadline)),
            ("retry-period", Some(self.retry_period)),
            ("request-timeout", self.request_timeout),
            ("stop-time", Some(self.stop_time)),
            ("pause", Some(self.pause)),
            ("latency", Some(self.latency)),
        ];
        for (setting, duration) in durations {
            let Some(duration) = duration else { continue };
            if duration.in_ticks_of(FINEST).is_none() {
                return wrong(setting, format!("{duration} is finer than {FINEST}: write a multiple of that"));
            }
            if duration > LONGEST {
                return wrong(setting, format!("{duration} is longer than {LONGEST}, the longest that is judged"));
            }
        }
        let ElectionQuestion { lease, renew_deadline, retry_period, .. } = *self;
        if retry_period == Duration::ZERO {
            return wrong("retry-period", "the elector refuses 0 (OL-K-1): write more".to_owned());
        }
        if lease <= renew_deadline {
            let message = format!(
                "the elector refuses {lease}: it must be longer than the renew deadline, {renew_deadline} (OL-K-1)"
            );
            return wrong("lease", message);
        }
        if times(renew_deadline, 5) <= times(retry_period, 6) {
            let message = format!(
                "the elector refuses {renew_deadline}: it must be longer than 1.2 times the retry period, {retry_period} (OL-K-1)"
            );
            return wrong("renew-deadline", message);
        }
        if self.request_timeout == Some(Duration::ZERO) {
            return wrong(
                "request-timeout",
                "a timeout of 0 means none in Go: leave it out, or write `none`".to_owned(),
            );
        }
        if self.observed() == Duration::ZERO {
            let message = format!(
                "a lease of {lease} is recorded as 0 s (OL-K-2), and the API server refuses that (OL-S-5): write at least 1s"
            );
            return wrong("lease", message);
        }
        Ok(())
    }

    /// What is odd about the settings, and does not keep them from being judged.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let observed = self.observed();
        if observed != self.lease {
            notes.push(format!(
                "the record holds whole seconds (OL-K-2): contenders wait for {observed}, not for {}",
                self.lease
            ));
        }
        if observed <= self.renew_deadline {
            notes.push(format!(
                "what is recorded, {observed}, is not longer than the renew deadline, {}: the elector compares the untruncated lease (OL-K-1)",
                self.renew_deadline
            ));
        }
        notes
    }

    /// How long a contender waits: the recorded duration, in whole seconds (OL-K-2), or its own (OL-K-4, before v0.27).
    pub fn observed(&self) -> Duration {
        match recipe_of(self.recipe).expiry {
            Expiry::Own => self.lease,
            _ => times(SECOND, self.lease.nanoseconds() / SECOND.nanoseconds()),
        }
    }

    /// How long a message is under way at most that a client sends or hears: the client may stand still at its end.
    pub fn message(&self) -> Duration {
        Duration::of_nanoseconds(self.latency.nanoseconds() + self.pause.nanoseconds())
    }
}

/// The timeout of requests that goes with a renew deadline (OL-K-13).
pub(super) fn timeout_of(deadline: Duration) -> Duration {
    Duration::of_nanoseconds(deadline.nanoseconds() / 2).max(SECOND)
}

/// The choices of a recipe, with ReleaseOnCancel or without; its durations are to be set. No caller cancels: what a leader does when it
/// loses its lease breaks whatever a cancellation does (OL-K-10).
pub(super) fn choices(recipe: &str, release: bool) -> Settings {
    let (settings, plain) = (recipe_of(recipe), Settings::default());
    let rule = match release {
        false => Release::Never,
        true if settings.release == Release::Never => released(recipe),
        true => settings.release,
    };
    Settings {
        release: rule,
        release_repeats: release && settings.release_repeats,
        cancels: plain.cancels,
        on_cancel: plain.on_cancel,
        grace: None,
        ..settings
    }
}

/// How a version of client-go releases (OL-K-12).
fn released(recipe: &str) -> Release {
    match recipe {
        "client-go-v0-26" | "client-go-v0-33" => Release::CachedVersion,
        _ => Release::FreshVersion,
    }
}

fn recipe_of(recipe: &str) -> Settings {
    Settings::of_recipe(recipe).expect("the recipes are listed above")
}
