//! A scenario as its file has it: one type for the scenarios of all services, so that it is compiled once, in this crate, for
//! each format. What only a service can name is kept apart: its settings, its budgets, its goals and its mutations are taken
//! out of the document before the rest is read, and are written behind an object-safe trait.

use serde::de::{Deserializer, IgnoredAny};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use toml::de::DeTable;
use toml::{Spanned, Table};

use super::budget_text::{self, BudgetText, Kinds, kinds};
use super::toml_reader::{ReadError, TomlReader};
use super::{
    Accepts, Budget, Clocks, Duration, Fairness, FaultPlace, Goal, Links, Mutation, Promise, Scenario, ScenarioProgram,
    Suite, Synchrony, goals, is_usual, is_zero, mutated, one,
};
use crate::service::Service;

/// What a scenario file says, in the order in which it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScenarioFile<'a> {
    name: String,
    system: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hazard: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    also: Vec<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    title: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    variant: String,
    about: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    story: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sources: Vec<String>,
    #[serde(default)]
    suite: Suite,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tick: Option<Duration>,
    clients: u16,
    #[serde(default = "one", with = "super::rounds_text")]
    rounds: u8,
    #[serde(default)]
    writes: u8,
    #[serde(default)]
    resource: Accepts,
    #[serde(default, skip_serializing_if = "is_zero")]
    work_items: u8,
    #[serde(default)]
    service: OfService<'a>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    program: Vec<ScenarioProgram>,
    #[serde(default)]
    synchrony: Synchrony,
    #[serde(default, skip_serializing_if = "is_usual")]
    fairness: Fairness,
    #[serde(default)]
    network: Links,
    #[serde(default)]
    clocks: Clocks,
    #[serde(default)]
    budget: OfService<'a>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    fault_place: Vec<FaultPlace>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    prefix: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    promise: Vec<Promise>,
    #[serde(default, skip_serializing_if = "OfService::is_absent")]
    goals: OfService<'a>,
    #[serde(default, skip_serializing_if = "OfService::is_absent")]
    mutation: OfService<'a>,
}

/// A value that only the service can read. It is written from here, and never read here.
#[derive(Default)]
enum OfService<'a> {
    #[default]
    Absent,
    Written(&'a dyn erased_serde::Serialize),
}

impl OfService<'_> {
    fn is_absent(&self) -> bool {
        matches!(self, OfService::Absent)
    }
}

impl Serialize for OfService<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            OfService::Absent => to.serialize_unit(),
            OfService::Written(value) => erased_serde::serialize(*value, to),
        }
    }
}

impl<'de> Deserialize<'de> for OfService<'_> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(from).map(|_| OfService::Absent)
    }
}

/// The parts of a document that only the service can read.
struct Taken<'i> {
    service: Option<TomlReader<'i>>,
    budget: Option<TomlReader<'i>>,
    goals: Option<TomlReader<'i>>,
    mutation: Option<TomlReader<'i>>,
}

impl<'i> Taken<'i> {
    fn from(document: &mut DeTable<'i>) -> Self {
        let mut take = |key: &str| document.remove(key).map(TomlReader::from);
        let (service, budget) = (take("service"), take("budget"));
        Taken { service, budget, goals: take("goals"), mutation: take("mutation") }
    }
}

/// The names that a service adds to those of the kernel.
struct Names {
    kinds: Kinds,
    goals: &'static [Goal],
    mutations: &'static [Mutation],
}

/// What is read with these names.
struct Named {
    budget: Budget,
    goals: Vec<Goal>,
    mutation: Option<Mutation>,
}

impl Names {
    fn read(&self, taken: Taken<'_>) -> Result<Named, ReadError> {
        let budget = taken.budget.map(|from| from.read(|from| budget_text::read(self.kinds, from))).transpose()?;
        let goals = taken.goals.map(|from| from.read(|from| goals::read(self.goals, from))).transpose()?;
        let mutation = taken.mutation.map(|from| from.read(|from| mutated::read(self.mutations, from))).transpose()?;
        let (budget, goals) = (budget.unwrap_or_default(), goals.unwrap_or_default());
        Ok(Named { budget, goals, mutation })
    }
}

/// Reads a scenario without judging whether it makes sense.
pub(crate) fn read<P: Service>(mut document: Spanned<DeTable<'_>>) -> Result<Scenario<P>, ReadError> {
    let mut taken = Taken::from(document.get_mut());
    let service = taken.service.take().map(settings::<P>).transpose()?.unwrap_or_default();
    let names = Names { kinds: kinds::<P>(), goals: P::GOALS, mutations: P::MUTATIONS };
    let Named { budget, goals, mutation } = names.read(taken)?;
    let file = rest(document)?;
    Ok(Scenario {
        name: file.name,
        system: file.system,
        hazard: file.hazard,
        also: file.also,
        title: file.title,
        variant: file.variant,
        about: file.about,
        story: file.story,
        sources: file.sources,
        suite: file.suite,
        tick: file.tick,
        clients: file.clients,
        rounds: file.rounds,
        writes: file.writes,
        resource: file.resource,
        work_items: file.work_items,
        service,
        programs: file.program,
        synchrony: file.synchrony,
        fairness: file.fairness,
        network: file.network,
        clocks: file.clocks,
        budget,
        fault_places: file.fault_place,
        prefix: file.prefix,
        promises: file.promise,
        goals,
        own_goals: Vec::new(),
        own_properties: Vec::new(),
        mutation,
    })
}

/// Reads a scenario that is a part of a JSON document, with the same code: a scenario has nothing that TOML cannot say.
///
/// # Errors
/// What cannot be read.
pub(crate) fn read_json<P: Service>(scenario: &serde_json::Value) -> Result<Scenario<P>, String> {
    let text = toml_of(scenario).map_err(|error| error.to_string())?;
    let document = DeTable::parse(&text).map_err(|error| error.message().to_owned())?;
    read(document).map_err(|error| error.message.trim_end().to_owned())
}

/// JSON as TOML: an entry that is null is left out.
fn toml_of(value: &serde_json::Value) -> Result<String, toml::ser::Error> {
    let mut value = value.clone();
    leave_out_null(&mut value);
    toml::to_string(&value)
}

fn leave_out_null(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(entries) => {
            entries.retain(|_, inner| !inner.is_null());
            entries.values_mut().for_each(leave_out_null);
        }
        serde_json::Value::Array(list) => list.iter_mut().for_each(leave_out_null),
        _ => {}
    }
}

fn rest(document: Spanned<DeTable<'_>>) -> Result<ScenarioFile<'static>, ReadError> {
    TomlReader::from(document).read(ScenarioFile::deserialize)
}

fn settings<P: Service>(from: TomlReader<'_>) -> Result<P::Settings, ReadError> {
    from.read(P::Settings::deserialize)
}

/// The settings of a service, from TOML.
///
/// # Errors
/// What cannot be read.
pub fn settings_from_toml<P: Service>(text: &str) -> Result<P::Settings, ReadError> {
    settings::<P>(DeTable::parse(text)?.into())
}

/// Data as a TOML table; it is compiled for the table's format only once.
pub(super) fn table(data: &dyn erased_serde::Serialize) -> Table {
    Table::try_from(data).expect("it is plain data")
}

// These are methods of a type that is the same for every service, for only then they are compiled here.
impl ScenarioFile<'_> {
    fn to_toml(&self) -> String {
        let erased: &dyn erased_serde::Serialize = self;
        toml::to_string(erased).expect("a scenario is plain data")
    }

    fn to_table(&self) -> Table {
        table(self)
    }
}

impl<P: Service> Scenario<P> {
    /// The scenario as a TOML file.
    pub fn to_toml(&self) -> String {
        self.with_file(|file| file.to_toml())
    }

    /// The scenario as a TOML table.
    pub(super) fn to_table(&self) -> Table {
        self.with_file(|file| file.to_table())
    }

    /// Calls a function with what its file says.
    pub(crate) fn with_file<T>(&self, take: impl FnOnce(&ScenarioFile<'_>) -> T) -> T {
        let budget = BudgetText { budget: self.budget, kinds: kinds::<P>() };
        let own = |value, is_absent| if is_absent { OfService::Absent } else { OfService::Written(value) };
        take(&ScenarioFile {
            name: self.name.clone(),
            system: self.system.clone(),
            hazard: self.hazard.clone(),
            also: self.also.clone(),
            title: self.title.clone(),
            variant: self.variant.clone(),
            about: self.about.clone(),
            story: self.story.clone(),
            sources: self.sources.clone(),
            suite: self.suite,
            tick: self.tick,
            clients: self.clients,
            rounds: self.rounds,
            writes: self.writes,
            resource: self.resource,
            work_items: self.work_items,
            service: OfService::Written(&self.service),
            program: self.programs.clone(),
            synchrony: self.synchrony,
            fairness: self.fairness.clone(),
            network: self.network,
            clocks: self.clocks.clone(),
            budget: OfService::Written(&budget),
            fault_place: self.fault_places.clone(),
            prefix: self.prefix.clone(),
            promise: self.promises.clone(),
            goals: own(&self.goals, self.goals.is_empty()),
            mutation: own(&self.mutation, self.mutation.is_none()),
        })
    }
}
