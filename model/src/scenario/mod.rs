//! What is fixed during a run: the system, its settings, the bounds that are assumed, the budgets, and the promises
//! with their expected verdicts. One TOML file is one scenario; the same struct can be built in Rust.

mod budget;
pub(crate) mod budget_text;
mod build;
mod goals;
mod mutated;
mod notes;
mod text;
mod validate;
mod vary;
mod with_units;

use serde::{Deserialize, Deserializer, Serialize};

use crate::action_kind::ActionKind;
pub use crate::goal::Goal;
use crate::ids::{ClientId, ProcessId};
use crate::mutation::Mutation;
use crate::properties::{Definition, Property};
use crate::resource::Accepts;
use crate::service::Service;
use crate::time::Ticks;
use crate::units::Duration;
use crate::world::Link;
pub use budget::{Budget, CAPS_MAX, Cap, CapsError, UNLIMITED};
pub use goals::OwnGoal;
pub use mutated::known;
pub use notes::Note;
pub use text::{ScenarioError, from_toml, outdated, outdated_in_trace, system_of};
pub use validate::OptionalBudget;
pub use validate::SettingError;
pub use vary::{AliasMeaning, Axis, AxisAlias, Varied, put, vary};

/// The constants of a world.
#[must_use]
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Scenario<P: Service> {
    /// Unique name, also the file's.
    pub name: String,
    /// Which protocol: [`Service::SYSTEMS`].
    pub system: String,
    /// The published hazard it shows, as `B-01`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hazard: Option<String>,
    /// Further hazards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// Which variant of the hazard.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub variant: String,
    /// One sentence for people.
    pub about: String,
    /// Which suite it belongs to.
    #[serde(default)]
    pub suite: Suite,
    /// How long a tick is, where durations have units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tick: Option<Duration>,
    /// How many clients want the lock.
    pub clients: u16,
    /// How often each client's user asks for the lock.
    #[serde(default = "one")]
    pub rounds: u8,
    /// How many writes a client may send per tenure.
    #[serde(default)]
    pub writes: u8,
    /// Which writes the resource accepts.
    #[serde(default)]
    pub resource: Accepts,
    /// The service and the client recipe.
    #[serde(default)]
    pub service: P::Settings,
    /// Bounds on lateness; none by default.
    #[serde(default)]
    pub synchrony: Synchrony,
    /// What cannot be put off for ever, where progress is promised.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub fairness: Fairness,
    /// How messages travel, and what a cut link does.
    #[serde(default)]
    pub network: Links,
    /// How far clocks may be apart.
    #[serde(default)]
    pub clocks: Clocks,
    /// How often each kind of fault may occur.
    #[serde(default, deserialize_with = "budget_text::read::<P, _>", serialize_with = "budget_text::write::<P, _>")]
    pub budget: Budget,
    /// What must always hold, or is known to break.
    #[serde(default, rename = "promise", skip_serializing_if = "Vec::is_empty")]
    pub promises: Vec<Promise>,
    /// What must be possible: an unreached goal makes a proof vacuous.
    #[serde(default, deserialize_with = "goals::read::<P, _>", skip_serializing_if = "Vec::is_empty")]
    pub goals: Vec<Goal>,
    /// Goals beside those that files can name; see [`Scenario::own_goal`].
    #[serde(skip)]
    pub own_goals: Vec<OwnGoal<P>>,
    /// Properties beside those that files can name; see [`Scenario::own_property`].
    #[serde(skip)]
    pub own_properties: Vec<Definition<P>>,
    /// A fault built in on purpose.
    #[serde(default, deserialize_with = "mutated::read::<P, _>", skip_serializing_if = "Option::is_none")]
    pub mutation: Option<Mutation>,
}

fn one() -> u8 {
    1
}

/// Which collection a scenario belongs to.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Suite {
    /// Quick: runs whenever `fencepost` is called without arguments.
    #[default]
    Standard,
    /// Everything else, for CI.
    Full,
}

/// Bounds on lateness. What is not bounded may be late for ever; a bound is an assumption and is printed with the verdict.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Synchrony {
    /// The longest time a message is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_delay: Option<Ticks>,
    /// The longest time by which a client's own wake-up is late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_delay: Option<Ticks>,
    /// The longest time by which a deadline of the servers is late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_delay: Option<Ticks>,
}

impl Synchrony {
    /// Whether nothing may be late for ever.
    pub fn is_complete(&self) -> bool {
        self.message_delay.is_some() && self.wake_delay.is_some() && self.server_delay.is_some()
    }
}

/// What cannot be put off for ever. Of each kind, each action counts for itself: a message on a link, a deadline of a process.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fairness {
    /// Kinds of action that happen in the end if they are possible all the time.
    #[serde(deserialize_with = "fair_kinds")]
    pub weak: Vec<ActionKind>,
    /// Kinds of action that happen in the end if they are possible again and again.
    #[serde(deserialize_with = "fair_kinds")]
    pub strong: Vec<ActionKind>,
}

impl Default for Fairness {
    fn default() -> Self {
        Fairness {
            weak: vec![ActionKind::Deliver, ActionKind::Wake, ActionKind::Choose, ActionKind::Advance],
            strong: Vec::new(),
        }
    }
}

/// Reads the kinds of action that a scenario calls fair: faults and operators cannot be.
fn fair_kinds<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<ActionKind>, D::Error> {
    let names = Vec::<String>::deserialize(from)?;
    let kind = |name: &String| ActionKind::FAIR.into_iter().find(|kind| kind.name() == name);
    let known = || ActionKind::FAIR.map(ActionKind::name).join("`, `");
    let found = names.iter().map(|name| {
        let unknown = || format!("unknown variant `{name}`, expected one of `{}`", known());
        kind(name).ok_or_else(|| serde::de::Error::custom(unknown()))
    });
    found.collect()
}

fn is_usual(fairness: &Fairness) -> bool {
    *fairness == Fairness::default()
}

/// How messages travel, and what a cut link does.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Links {
    /// What becomes of messages on a cut link.
    pub cuts: Cutting,
    /// Whether a cut goes both ways.
    pub ways: Ways,
    /// Whether answers travel.
    #[serde(skip_serializing_if = "travels")]
    pub replies: Replies,
}

impl Links {
    /// Whether a link is cut by one of these cuts.
    pub fn is_among(self, cuts: &[Link], link: Link) -> bool {
        let back = Link { from: link.to, to: link.from };
        cuts.contains(&link) || (self.ways == Ways::Both && cuts.contains(&back))
    }
}

/// What becomes of messages on a cut link.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cutting {
    /// They arrive after it has healed.
    #[default]
    Hold,
    /// They are lost, silently.
    Drop,
}

/// Whether a cut goes both ways.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ways {
    /// One direction only: the other one goes on.
    #[default]
    One,
    /// Both directions.
    Both,
}

/// Whether answers travel. A blocking query's answer that was waited for does in any case.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replies {
    /// As requests do.
    #[default]
    Travel,
    /// They do not: whoever asks hears the answer in the step in which it is given.
    Instant,
}

fn travels(replies: &Replies) -> bool {
    *replies == Replies::Travel
}

/// Which clocks move against true time, and how.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Drift {
    /// Any clock, forwards and backwards.
    #[default]
    Any,
    /// Those of clients, and they fall behind: each is slower than the server's.
    SlowClients,
}

/// How clocks may differ: local clock = true time + skew.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clocks {
    /// The largest skew, ahead or behind.
    #[serde(default)]
    pub skew: Ticks,
    /// How far one slip moves a clock.
    #[serde(default = "one_tick")]
    pub step: Ticks,
    /// Which clocks move, and how.
    #[serde(default, skip_serializing_if = "is_any")]
    pub drift: Drift,
    /// How far each client's clock is ahead of true time at the start; clients beyond the list: not at all.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "crate::time::signed_list")]
    pub offsets: Vec<Ticks>,
}

impl Clocks {
    /// How far the process's clock is ahead at the start.
    pub fn offset(&self, process: ProcessId) -> Ticks {
        let place = process.client().map_or(usize::MAX, ClientId::place);
        self.offsets.get(place).copied().unwrap_or_default()
    }
}

fn is_any(drift: &Drift) -> bool {
    *drift == Drift::Any
}

fn one_tick() -> Ticks {
    Ticks::new(1)
}

impl Default for Clocks {
    fn default() -> Self {
        Clocks { skew: Ticks::ZERO, step: one_tick(), drift: Drift::Any, offsets: Vec::new() }
    }
}

/// A property of this scenario with the verdict that is expected.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// What is promised.
    pub property: Property,
    /// The duration that the promise names, where it names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Ticks>,
    /// What the checker is expected to say.
    #[serde(default)]
    pub expect: Expect,
}

/// The verdict that a scenario expects.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expect {
    /// It holds in every run.
    #[default]
    Proven,
    /// Some run breaks it.
    Violated,
}

impl std::fmt::Display for Expect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Expect::Proven => "proven",
            Expect::Violated => "violated",
        })
    }
}
