//! The constants of a run: the system, its settings, the assumed bounds, the budgets, and the promises with their
//! expected verdicts. One TOML file is one scenario; the same struct can be built in Rust.

mod budget;
pub(crate) mod budget_text;
mod build;
mod clock_rate;
mod fault_place;
mod file;
mod goals;
mod mutated;
mod nearest;
mod notes;
mod prefix;
mod recipes;
mod rounds_text;
mod schema;
mod text;
mod toml_reader;
mod validate;
mod vary;
mod with_units;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::action_kind::ActionKind;
pub use crate::goal::Goal;
use crate::ids::{ClientId, ProcessId};
use crate::mutation::Mutation;
use crate::programs::ScenarioProgram;
use crate::properties::{Definition, Property};
use crate::resource::Accepts;
use crate::service::Service;
use crate::time::Ticks;
use crate::units::{Duration, PartsPerMillion};
use crate::world::Link;
pub use budget::{Budget, CAPS_MAX, Cap, CapsError, UNLIMITED};
pub use budget_text::{read_left, write_left};
pub use fault_place::FaultPlace;
pub(crate) use fault_place::without_numbers;
pub use file::settings_from_toml;
pub(crate) use file::{ScenarioFile, read_json};
pub use goals::OwnGoal;
pub use mutated::known;
pub use notes::Note;
pub(crate) use prefix::ticks_in;
pub use text::{ScenarioError, from_toml, outdated, outdated_in_trace, system_of};
pub use toml_reader::ReadError;
pub use validate::OptionalBudget;
pub use validate::SettingError;
pub use vary::{AliasMeaning, Axis, AxisAlias, Varied, put, vary};
pub use with_units::text_in_units;

/// The constants of a world.
#[must_use]
#[derive(Clone, PartialEq, Debug, JsonSchema)]
#[schemars(bound = "P::Settings: JsonSchema", deny_unknown_fields)]
pub struct Scenario<P: Service> {
    /// Unique name, also the file's.
    #[schemars(extend("pattern" = "^[a-z0-9-]+$"))]
    pub name: String,
    /// The system, one of [`Service::SYSTEMS`].
    #[schemars(schema_with = "schema::system::<P>")]
    pub system: String,
    /// The number of the published hazard that it shows, for example `B-01`.
    #[schemars(default, skip_serializing_if = "Option::is_none")]
    pub hazard: Option<String>,
    /// The numbers of further hazards.
    #[schemars(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// The name of the hazard: the same in all scenarios that show it.
    #[schemars(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The name of the variant of the hazard.
    #[schemars(default, skip_serializing_if = "String::is_empty")]
    pub variant: String,
    /// One sentence that describes the scenario.
    pub about: String,
    /// The course of events and its consequence, in a few sentences.
    #[schemars(default, skip_serializing_if = "String::is_empty")]
    pub story: String,
    /// The publications, or the rules from which it follows.
    #[schemars(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// The suite of the scenario.
    #[schemars(default)]
    pub suite: Suite,
    /// The length of a tick, where durations have units.
    #[schemars(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub tick: Option<Duration>,
    /// The number of contenders, from 1.
    #[schemars(extend("minimum" = 1, "maximum" = 10_000))]
    pub clients: u16,
    /// How often each client's user asks for the lock, from 1; `"unlimited"`: without end.
    #[schemars(default = "one")]
    #[schemars(schema_with = "schema::rounds")]
    pub rounds: u8,
    /// The maximum number of writes of a client per tenure.
    #[schemars(default)]
    pub writes: u8,
    /// The check that the resource applies to writes.
    #[schemars(default)]
    pub resource: Accepts,
    /// The number of items in the resource's work queue, at most 16; programs take and handle them. 0: it has none.
    #[schemars(default, extend("maximum" = 16), skip_serializing_if = "is_zero")]
    pub work_items: u8,
    /// The settings of the service and of the client recipe.
    #[schemars(default)]
    pub service: P::Settings,
    /// Which clients run programs; the others are state machines of the service.
    #[schemars(default, rename = "program", skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ScenarioProgram>,
    /// Bounds on delays; none by default.
    #[schemars(default)]
    pub synchrony: Synchrony,
    /// The kinds of action that are assumed to be fair. They matter where progress is promised.
    #[schemars(default, skip_serializing_if = "is_usual")]
    pub fairness: Fairness,
    /// The way in which messages travel, and the effect of a cut link.
    #[schemars(default)]
    pub network: Links,
    /// The bounds on clocks.
    #[schemars(default)]
    pub clocks: Clocks,
    /// The maximum number of faults of each kind.
    #[schemars(default, schema_with = "schema::budget::<P>", skip_serializing)]
    pub budget: Budget,
    /// Where faults may strike. A kind that is not named may strike anywhere.
    #[schemars(default, rename = "fault_place", skip_serializing_if = "Vec::is_empty")]
    pub fault_places: Vec<FaultPlace>,
    /// The actions that every execution begins with, each by its label. They are carried out and not judged: what is promised is
    /// promised from there on.
    #[schemars(default, skip_serializing_if = "Vec::is_empty")]
    pub prefix: Vec<String>,
    /// The promises, with their expected verdicts.
    #[schemars(default, rename = "promise", skip_serializing_if = "Vec::is_empty")]
    pub promises: Vec<Promise>,
    /// The goals, which some execution must reach: a proof is vacuous otherwise.
    #[schemars(default, schema_with = "schema::goals::<P>", skip_serializing_if = "Vec::is_empty")]
    pub goals: Vec<Goal>,
    /// Goals beside those that files can name; see [`Scenario::own_goal`].
    #[schemars(skip)]
    pub own_goals: Vec<OwnGoal<P>>,
    /// Properties beside those that files can name; see [`Scenario::own_property`].
    #[schemars(skip)]
    pub own_properties: Vec<Definition<P>>,
    /// A fault built in on purpose.
    #[schemars(default, schema_with = "schema::mutation::<P>", skip_serializing_if = "Option::is_none")]
    pub mutation: Option<Mutation>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(count: &u8) -> bool {
    *count == 0
}

fn one() -> u8 {
    1
}

/// The suite of a scenario.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Suite {
    /// Quick: it runs when `fencepost` is called without arguments.
    #[default]
    Standard,
    /// Every other scenario, for CI.
    Full,
}

/// Bounds on delays, in ticks of true time. A delay without a bound is unbounded (asynchronous network). A bound is an
/// assumption and is printed with the verdict.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Synchrony {
    /// The maximum delay of a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_delay: Option<Ticks>,
    /// The maximum delay of a client's own wake-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_delay: Option<Ticks>,
    /// The maximum delay of a deadline of the servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_delay: Option<Ticks>,
}

impl Synchrony {
    /// Whether every delay is bounded.
    pub fn is_complete(&self) -> bool {
        self.message_delay.is_some() && self.wake_delay.is_some() && self.server_delay.is_some()
    }
}

/// The fair kinds of action. Each action of a kind is fair for itself: a message on a link, a deadline of a process.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fairness {
    /// Weakly fair kinds: an action that is always enabled is eventually taken.
    #[serde(deserialize_with = "fair_kinds")]
    #[schemars(schema_with = "schema::fair_kinds")]
    pub weak: Vec<ActionKind>,
    /// Strongly fair kinds: an action that is enabled infinitely often is eventually taken.
    #[serde(deserialize_with = "fair_kinds")]
    #[schemars(schema_with = "schema::fair_kinds")]
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

/// Reads the kinds of action that a scenario calls fair. Faults and operator actions cannot be fair.
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

/// The way in which messages travel, and the effect of a cut link.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Links {
    /// The fate of messages on a cut link.
    pub cuts: Cutting,
    /// Whether a cut affects both directions.
    pub ways: Ways,
    /// The delay of responses.
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

/// The fate of messages on a cut link.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cutting {
    /// They arrive after the link heals.
    #[default]
    Hold,
    /// They are lost, silently.
    Drop,
}

/// The direction of a cut.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ways {
    /// One direction only. Messages in the other direction arrive.
    #[default]
    One,
    /// Both directions.
    Both,
}

/// The delay of responses. The response to a blocking query that had to wait always travels as a message.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Replies {
    /// Responses travel as messages, like requests.
    #[default]
    Travel,
    /// Responses take no time: the client receives the response in the step in which the server sends it.
    Instant,
}

fn travels(replies: &Replies) -> bool {
    *replies == Replies::Travel
}

/// The clocks that drift against true time.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Drift {
    /// Any clock, ahead and behind.
    #[default]
    Any,
    /// Clocks of clients, which fall behind: each is slower than the server's clock.
    SlowClients,
}

/// Bounds on clocks: local clock = true time + skew.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clocks {
    /// The maximum skew, ahead or behind, in ticks.
    #[serde(default)]
    pub skew: Ticks,
    /// The size of one clock jump, in ticks.
    #[serde(default = "one_tick")]
    pub step: Ticks,
    /// The clocks that drift.
    #[serde(default, skip_serializing_if = "is_any")]
    pub drift: Drift,
    /// By how much the clock of each client is slower than the servers', at most, as `200ppm`. It stands for the skew that it adds up to
    /// over the longest span that the settings compare, for slow clients and for their slips.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub rate: Option<PartsPerMillion>,
    /// The offset of each client's clock from true time at the start, in ticks; 0 for clients beyond the list.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "crate::time::signed_list")]
    #[schemars(schema_with = "schema::differences")]
    pub offsets: Vec<Ticks>,
}

impl Clocks {
    /// The offset of the process's clock at the start.
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
        Clocks { skew: Ticks::ZERO, step: one_tick(), drift: Drift::Any, rate: None, offsets: Vec::new() }
    }
}

/// A property of this scenario with the verdict that is expected.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// The promised property.
    #[schemars(schema_with = "schema::property")]
    pub property: Property,
    /// The bound, in ticks, if the property has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Ticks>,
    /// The verdict that the checker is expected to give.
    #[serde(default)]
    pub expect: Expect,
}

/// The verdict that a scenario expects.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Expect {
    /// The promise holds in every execution.
    #[default]
    Proven,
    /// Some execution violates it.
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
