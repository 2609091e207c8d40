//! What is asked: the settings of a lock, in seconds, and the bounds that its user counts on.

use std::fmt;
use std::sync::LazyLock;

use fencepost_consul::{BeliefRule, Consul, Job, Killed, OnLoss, Release, RenewalErrors, Settings};
use fencepost_model::scenario::from_toml;
use fencepost_model::service::Settings as _;
use fencepost_model::time::Ticks;
use fencepost_model::units::{Duration, PartsPerMillion};

use crate::asked::QuestionError;
use crate::rounding::{FINEST, exact};

/// The recipes whose clients are known here.
pub const RECIPES: [&str; 3] = ["go-lock", "lock-command", "leader-election"];

/// A contender for the one slot of a semaphore: the Go client's Semaphore (C-SEM-1), in ticks of [`RECIPE_TICK`].
static CONTENDER: LazyLock<Settings> = LazyLock::new(|| {
    let file = "name = \"contender\"\nsystem = \"consul-semaphore\"\nabout = \"One slot.\"\nclients = 2\n\n[service]\nrecipe = \"go-semaphore\"\n\n[service.semaphore]\nlimits = [1]\n";
    let scenario = from_toml::<Consul>(file, "contender.toml");
    scenario.unwrap_or_else(|error| panic!("the contender is no semaphore: {error}")).service
});

/// The tick of the files in which the recipes stand.
const RECIPE_TICK: Duration = Duration::of_nanoseconds(500_000_000);

/// The shortest TTL that Consul takes where nothing else is configured (C-SES-7: `session_ttl_min`).
pub const TTL_MIN: Duration = Duration::of_seconds(10);

/// The longest TTL that Consul takes (C-SES-7).
pub const TTL_MAX: Duration = Duration::of_seconds(24 * 3_600);

/// The most lock-delay that Consul grants (C-LD-3).
pub const LOCK_DELAY_MAX: Duration = Duration::of_seconds(60);

/// Until when the holder believes that it has the lock.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LockBelief {
    /// Until its TTL has passed since it sent the last renewal that was acknowledged.
    SelfLimiting,
    /// Until a blocking query on its key says otherwise.
    ByMonitor,
}

impl LockBelief {
    /// The name in scenario files.
    pub fn name(self) -> &'static str {
        match self {
            LockBelief::SelfLimiting => "self-limiting",
            LockBelief::ByMonitor => "by-monitor",
        }
    }

    /// The belief of this name.
    ///
    /// # Errors
    /// There is none, or this program cannot judge it.
    pub fn named(name: &str) -> Result<Self, QuestionError> {
        match name {
            "self-limiting" => Ok(LockBelief::SelfLimiting),
            "by-monitor" => Ok(LockBelief::ByMonitor),
            "until-told" | "suspending" | "none" => Err(QuestionError::new(
                "belief",
                format!(
                    "`doctor` does not judge `{name}`: ask for `self-limiting` or `by-monitor`, or write a scenario file for `fencepost check`"
                ),
            )),
            _ => Err(QuestionError::new(
                "belief",
                format!("there is no belief `{name}`; there are `self-limiting` and `by-monitor`"),
            )),
        }
    }
}

impl fmt::Display for LockBelief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The settings of a lock, and the bounds that its user counts on. Every duration is a multiple of [`FINEST`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LockQuestion {
    /// The client, by the name of its recipe.
    pub recipe: &'static str,
    /// The number of slots of a semaphore; none: a lock. The Go client's Semaphore takes the place of its Lock then (C-SEM-1).
    pub slots: Option<u8>,
    /// The session's TTL; none: only a call or a check ends it.
    pub ttl: Option<Duration>,
    /// How many TTLs the server waits; Consul: 2 (C-TTL-2).
    pub ttl_multiplier: u8,
    /// How long a key that was freed by the end of its session cannot be acquired.
    pub lock_delay: Duration,
    /// How often the client renews.
    pub renew_every: Option<Duration>,
    /// Whether that is half the TTL because the client says so, as the Go client does (C-API-2): another TTL brings another period.
    pub renews_at_half: bool,
    /// Until when the holder believes.
    pub belief: LockBelief,
    /// How long its work goes on after it knows that the lock is lost: `consul lock` gives its child so much time.
    pub grace: Duration,
    /// For how long a client may stand still at a time, as often as it likes.
    pub pause: Duration,
    /// For how long a message may be under way.
    pub latency: Duration,
    /// By how much the clocks of clients may be slower than the servers'.
    pub drift: PartsPerMillion,
    /// Whether gossip may be wrong about the holder's node once, which ends its session.
    pub false_alarm: bool,
    /// Whether writes carry the index of the acquiring write, and the resource refuses lower ones.
    pub fencing: bool,
}

impl LockQuestion {
    /// The defaults of a recipe, with clients that never stand still and a network that takes no time.
    ///
    /// ```
    /// use fencepost_doctor::LockQuestion;
    ///
    /// let asked = LockQuestion::of_recipe("go-lock").expect("it is known");
    /// assert_eq!(asked.ttl.expect("it has one").to_string(), "15s");
    /// assert!(LockQuestion::of_recipe("go-loc").expect_err("it is misspelt").to_string().contains("`go-lock`"));
    /// ```
    ///
    /// # Errors
    /// There is no such recipe.
    pub fn of_recipe(name: &str) -> Result<Self, QuestionError> {
        let Some(recipe) = RECIPES.into_iter().find(|recipe| *recipe == name) else {
            return Err(QuestionError::new(
                "recipe",
                format!("there is no recipe `{name}` here; there are `{}`", RECIPES.join("`, `")),
            ));
        };
        let settings = settings_of(recipe);
        let duration = |ticks: Ticks| Duration::of_nanoseconds(RECIPE_TICK.nanoseconds() * ticks.count());
        Ok(LockQuestion {
            recipe,
            slots: None,
            ttl: settings.ttl.map(duration),
            ttl_multiplier: settings.ttl_multiplier,
            lock_delay: duration(settings.lock_delay),
            renew_every: settings.renew_every.map(duration),
            renews_at_half: recipe != "leader-election",
            belief: LockBelief::ByMonitor,
            grace: settings.job.map(|job| duration(job.grace)).unwrap_or_default(),
            pause: Duration::ZERO,
            latency: Duration::ZERO,
            drift: PartsPerMillion::default(),
            false_alarm: false,
            fencing: false,
        })
    }

    /// Whether the period goes with the TTL, and is no setting of its own.
    pub fn follows_ttl(&self) -> bool {
        self.renews_at_half && self.ttl.is_some() && self.renew_every == self.ttl.map(half)
    }

    /// Sets the TTL, and the period where that goes with it. Without a TTL there is nothing to renew.
    pub fn set_ttl(&mut self, ttl: Option<Duration>) {
        if self.follows_ttl() || self.renews_at_half && self.ttl.is_none() || ttl.is_none() {
            self.renew_every = ttl.map(half);
        }
        self.ttl = ttl;
    }

    /// Sets the period, which then does not go with the TTL any more.
    pub fn set_renew_every(&mut self, period: Option<Duration>) {
        (self.renew_every, self.renews_at_half) = (period, false);
    }

    /// Looks for settings that cannot be meant.
    ///
    /// # Errors
    /// The first mistake found.
    pub fn validate(&self) -> Result<(), QuestionError> {
        let wrong = |setting, message: &str| Err(QuestionError::new(setting, message));
        let durations = [
            ("ttl", self.ttl),
            ("lock-delay", Some(self.lock_delay)),
            ("renew-every", self.renew_every),
            ("grace", Some(self.grace)),
            ("pause", Some(self.pause)),
            ("latency", Some(self.latency)),
        ];
        for (setting, duration) in durations {
            let Some(duration) = duration else { continue };
            if duration.in_ticks_of(FINEST).is_none() {
                return Err(QuestionError::new(
                    setting,
                    format!("{duration} is finer than {FINEST}: write a multiple of that"),
                ));
            }
            if duration > TTL_MAX {
                return Err(QuestionError::new(
                    setting,
                    format!("{duration} is longer than {TTL_MAX}, the longest TTL (C-SES-7)"),
                ));
            }
        }
        match (self.ttl, self.renew_every) {
            (Some(Duration::ZERO), _) => {
                return wrong("ttl", "a TTL of 0 means none in Consul (C-SES-7): leave it out, or write `none`");
            }
            (None, Some(_)) => {
                return wrong("renew-every", "without a TTL there is nothing to renew (C-SES-18): leave it out");
            }
            (_, Some(Duration::ZERO)) => {
                return wrong("renew-every", "a client that renews all the time stops it: use more than 0");
            }
            (None, None) if self.belief == LockBelief::SelfLimiting => {
                return wrong("belief", "a self-limiting client counts its TTL: set `ttl`");
            }
            _ => {}
        }
        if self.ttl_multiplier == 0 {
            return wrong("ttl-multiplier", "the server waits for at least 1 TTL; Consul for 2 (C-TTL-2)");
        }
        if self.lock_delay > LOCK_DELAY_MAX {
            let message = format!(
                "Consul grants at most {LOCK_DELAY_MAX} of lock-delay (C-LD-3), whatever is asked for: write that, or less"
            );
            return Err(QuestionError::new("lock-delay", message));
        }
        if self.slots == Some(0) {
            return wrong("slots", "a semaphore has at least 1 slot (C-SEM-1)");
        }
        if self.slots.is_some() && self.recipe == "leader-election" {
            return wrong("slots", "`leader-election` elects one leader: ask for `go-lock` or `lock-command`");
        }
        if self.slots.is_some() && self.fencing {
            return wrong(
                "fencing",
                "the holders of a semaphore write side by side, so no number orders them: leave it out",
            );
        }
        if self.grace > Duration::ZERO && settings_of(self.recipe).job.is_none() {
            return wrong("grace", "only `lock-command` starts a process that has to be killed");
        }
        Ok(())
    }

    /// What is odd about the settings, and does not keep them from being judged.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(ttl) = self.ttl.filter(|ttl| *ttl < TTL_MIN) {
            notes.push(format!(
                "Consul refuses a TTL of {ttl} unless `session_ttl_min` is set: its minimum is {TTL_MIN} (C-SES-7)"
            ));
        }
        if self.lock_delay == Duration::ZERO && self.slots.is_none() {
            notes.push(
                "the Go client cannot ask for no lock-delay: it sends none, and the server takes 15 s (C-API-1)"
                    .to_owned(),
            );
        }
        if self.ttl.is_some() && self.renew_every.is_none() {
            notes.push("the session has a TTL and no client renews it: every tenure ends by itself".to_owned());
        }
        notes
    }

    /// How long a message is under way at most that a client sends or hears: the client may stand still at its end.
    pub fn message(&self) -> Duration {
        Duration::of_nanoseconds(self.latency.nanoseconds() + self.pause.nanoseconds())
    }

    /// How long what a session held cannot be acquired after its end: a slot is free at once (C-SEM-11).
    pub fn delay(&self) -> Duration {
        if self.slots.is_some() { Duration::ZERO } else { self.lock_delay }
    }

    /// Whether the holder watches its key.
    pub fn has_monitor(&self) -> bool {
        self.client().monitor.is_some()
    }

    /// The recipe's settings, in ticks of [`RECIPE_TICK`]. A semaphore is judged with one slot: see `wider`.
    fn client(&self) -> Settings {
        let client = settings_of(self.recipe);
        if self.slots.is_none() {
            return client;
        }
        Settings { job: client.job, ..CONTENDER.clone() }
    }

    /// The settings of the service and of the client as they are asked about, in ticks of [`FINEST`].
    pub fn settings(&self) -> Settings {
        let mut settings = self.client();
        let factor = RECIPE_TICK.in_ticks_of(FINEST).expect("half a second is a multiple of a microsecond");
        settings.durations(&mut |ticks| *ticks = ticks.times(factor));
        settings.ttl = self.ttl.map(exact);
        settings.ttl_multiplier = self.ttl_multiplier;
        settings.lock_delay = exact(self.lock_delay);
        settings.renew_every = self.renew_every.map(exact);
        if settings.renew_every.is_none() {
            settings.renewal_errors = RenewalErrors::default();
        }
        settings.belief = match self.belief {
            LockBelief::SelfLimiting => BeliefRule::SelfLimiting,
            LockBelief::ByMonitor => BeliefRule::ByMonitor,
        };
        if let Some(job) = &mut settings.job {
            job.grace = exact(self.grace);
        }
        settings
    }
}

/// Half of a TTL, as exactly as durations are told here.
fn half(ttl: Duration) -> Duration {
    Duration::of_microseconds(ttl.nanoseconds() / FINEST.nanoseconds() / 2)
}

fn settings_of(recipe: &str) -> Settings {
    let settings = Settings::of_recipe(recipe).expect("the recipes are listed above");
    // What the arguments rest on: each client has a session of its own and stops before it releases, and a job is killed whole.
    assert!(settings.release == Release::StopFirst, "`{recipe}` releases before it stops");
    assert!(settings.job.is_none_or(|job: Job| job.killed == Killed::Group), "`{recipe}` leaves a job behind");
    let forgets = |on_loss| matches!(on_loss, OnLoss::Forget | OnLoss::Keep | OnLoss::Destroy);
    assert!(settings.monitor.is_none_or(|monitor| forgets(monitor.on_loss)), "`{recipe}` comes back after a loss");
    settings
}
