//! What is asked: the settings of a session, in seconds, and the bounds that its user counts on.

use fencepost_etcd::Stop;
use fencepost_model::units::{Duration, PartsPerMillion};

use crate::asked::QuestionError;
use crate::rounding::{FINEST, sum};

/// What is built on the session: clientv3/concurrency's `Mutex` and `Election`.
pub const RECIPES: [&str; 2] = ["etcd-mutex", "etcd-election"];

/// The shortest TTL that etcd grants with its default election timeout (E-LS-1).
pub const TTL_LEAST: Duration = Duration::of_seconds(2);

/// E-CC-3: the period of the loop that drops sessions.
pub(super) const DONE_LOOP: Duration = Duration::of_seconds(1);

/// E-CC-4: the first deadline without a DialTimeout.
const FIRST_DEADLINE: Duration = Duration::of_seconds(5);

/// E-CC-1: the TTL of a session that names none.
const TTL: Duration = Duration::of_seconds(60);

/// The longest duration that a question may name.
const LONGEST: Duration = Duration::of_seconds(24 * 3_600);

/// When a holder stops, beside its user.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SessionStop {
    /// Never: nothing looks at the session, as `etcdctl lock NAME COMMAND` (E-CC-32).
    Never,
    /// When the session's `Done` closes (E-CC-3).
    OnDone,
    /// A margin before T has passed since the sending of the last acknowledged renewal, by its own clock (E-T-7).
    BeforeExpiry,
}

impl From<SessionStop> for Stop {
    fn from(stop: SessionStop) -> Stop {
        match stop {
            SessionStop::Never => Stop::Never,
            SessionStop::OnDone => Stop::OnDone,
            SessionStop::BeforeExpiry => Stop::BeforeExpiry,
        }
    }
}

impl SessionStop {
    /// All of them.
    pub const ALL: [SessionStop; 3] = [SessionStop::Never, SessionStop::OnDone, SessionStop::BeforeExpiry];

    /// The name, as in scenario files.
    pub fn name(self) -> &'static str {
        match self {
            SessionStop::Never => "never",
            SessionStop::OnDone => "on-done",
            SessionStop::BeforeExpiry => "before-expiry",
        }
    }
}

/// The settings of a session, and the bounds that its user counts on. Every duration is a multiple of [`FINEST`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SessionQuestion {
    /// What is built on it, by its name in scenario files.
    pub recipe: &'static str,
    /// T: the TTL of the lease, in whole seconds.
    pub ttl: Duration,
    /// When a holder stops.
    pub stop: SessionStop,
    /// How long before the end of its lease it stops, with [`SessionStop::BeforeExpiry`].
    pub margin: Duration,
    /// DialTimeout of the client; 0: it sets none. The first renewal has that and a second for its answer, or 5 s (E-CC-4).
    pub dial_timeout: Duration,
    /// For how long a client may stand still at a time, as often as it likes.
    pub pause: Duration,
    /// For how long a message may be under way.
    pub latency: Duration,
    /// By how much the clocks of clients may be slower than the leader's.
    pub drift: PartsPerMillion,
}

impl SessionQuestion {
    /// The defaults of the Go client, whose user looks at `Done`, with clients that never stand still and a network that takes no time.
    ///
    /// ```
    /// use fencepost_doctor::SessionQuestion;
    ///
    /// let asked = SessionQuestion::of_recipe("etcd-mutex").expect("it is known");
    /// assert_eq!(asked.ttl.to_string(), "60s");
    /// assert!(SessionQuestion::of_recipe("mutex").expect_err("it is misspelt").to_string().contains("`etcd-mutex`"));
    /// ```
    ///
    /// # Errors
    /// There is no such recipe.
    pub fn of_recipe(name: &str) -> Result<Self, QuestionError> {
        let Some(recipe) = RECIPES.into_iter().find(|recipe| *recipe == name) else {
            let message = format!("there is no recipe `{name}` here; there are `{}`", RECIPES.join("`, `"));
            return Err(QuestionError::new("recipe", message));
        };
        Ok(SessionQuestion {
            recipe,
            ttl: TTL,
            stop: SessionStop::OnDone,
            margin: Duration::ZERO,
            dial_timeout: Duration::ZERO,
            pause: Duration::ZERO,
            latency: Duration::ZERO,
            drift: PartsPerMillion::default(),
        })
    }

    /// Looks for settings that cannot be meant.
    ///
    /// # Errors
    /// The first mistake found.
    pub fn validate(&self) -> Result<(), QuestionError> {
        let wrong = |setting, message: String| Err(QuestionError::new(setting, message));
        let durations = [
            ("ttl", self.ttl),
            ("margin", self.margin),
            ("dial-timeout", self.dial_timeout),
            ("pause", self.pause),
            ("latency", self.latency),
        ];
        for (setting, duration) in durations {
            if duration.in_ticks_of(FINEST).is_none() {
                return wrong(setting, format!("{duration} is finer than {FINEST}: write a multiple of that"));
            }
            if duration > LONGEST {
                return wrong(setting, format!("{duration} is longer than {LONGEST}"));
            }
        }
        if self.ttl.in_ticks_of(Duration::of_seconds(1)).is_none() {
            return wrong("ttl", format!("{} is no whole number of seconds: etcd takes no other (E-LS-1)", self.ttl));
        }
        if self.ttl < TTL_LEAST {
            return wrong("ttl", format!("etcd raises {} to {TTL_LEAST}, its minimum (E-LS-1): write that", self.ttl));
        }
        if self.margin > Duration::ZERO && self.stop != SessionStop::BeforeExpiry {
            return wrong("margin", "only a holder that stops `before-expiry` has one".to_owned());
        }
        if self.margin >= self.ttl {
            return wrong("margin", format!("{} leaves nothing of a TTL of {}: write less", self.margin, self.ttl));
        }
        Ok(())
    }

    /// What is odd about the settings, and does not keep them from being judged.
    pub fn notes(&self) -> Vec<String> {
        match self.stop {
            SessionStop::OnDone => vec![
                "`Done` closes up to a second after T since the answer to the last renewal (E-CC-3), and the lease may end before: it is no guarantee (E-T-6)".to_owned(),
            ],
            SessionStop::Never | SessionStop::BeforeExpiry => Vec::new(),
        }
    }

    /// E-CC-4: the deadline of a session until its first renewal is answered.
    pub fn first_deadline(&self) -> Duration {
        match self.dial_timeout {
            Duration::ZERO => FIRST_DEADLINE,
            dial_timeout => sum(dial_timeout, Duration::of_seconds(1)),
        }
    }

    /// How long a message is under way at most that a client sends or hears: the client may stand still at its end.
    pub fn message(&self) -> Duration {
        sum(self.latency, self.pause)
    }
}
