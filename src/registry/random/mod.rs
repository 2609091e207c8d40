//! Random valid scenarios of every system, for laws that must not know the catalogue only. There is no randomness here: the
//! caller draws.
//!
//! A scenario of the catalogue is edited at random as a tree of values, and kept if it is valid. Nothing here names a setting
//! of a service: values come from other scenarios of the same system, and `schema` asks the parser for the rest.

mod edit;
mod schema;

use std::collections::BTreeMap;

use fencepost_model::properties::{Bound, Property};
use fencepost_model::scenario::{Expect, Promise};
use fencepost_model::time::Ticks;
use toml::{Table, Value};

use crate::catalogue::Catalogue;
use crate::scenario::AnyScenario;

/// The source of chance: asked for a number below the one that it is given, which is at least 1.
pub type Draw<'a> = &'a mut dyn FnMut(u64) -> u64;

/// Keys that tell people about a scenario, or judge it: they are drawn anew, or left out.
const LEFT_OUT: [&str; 12] = [
    "hazard", "also", "title", "variant", "about", "story", "sources", "suite", "goals", "fairness", "mutation",
    "promise",
];

/// Keys that are never edited.
const FIXED: [&str; 3] = ["name", "system", "about"];

/// The most edits of one scenario.
const EDITS_MAX: u64 = 8;

/// The largest values of settings that make a search long.
const LARGEST: [(&str, i64); 3] = [("clients", 3), ("rounds", 2), ("writes", 1)];

/// The largest budget of each kind of fault.
const BUDGET_MAX: i64 = 2;

/// What random scenarios are made of: the scenarios of each system, and the values that are seen at each path.
pub struct Material {
    catalogue: Catalogue,
    systems: Vec<System>,
}

/// A dotted path, as its parts.
type Path = Vec<String>;

/// What is known of one system.
struct System {
    name: String,
    tables: Vec<Table>,
    values: Vec<(Path, Vec<Value>)>,
}

impl Material {
    /// That of a catalogue.
    pub fn of(catalogue: Catalogue) -> Self {
        let mut tables: BTreeMap<String, Vec<Table>> = BTreeMap::new();
        for scenario in catalogue.all() {
            let mut table: Table = toml::from_str(&scenario.to_toml()).expect("it was written a moment ago");
            LEFT_OUT.iter().for_each(|key| drop(table.remove(*key)));
            table.insert("name".to_owned(), Value::String("random".to_owned()));
            table.insert("about".to_owned(), Value::String("A random scenario.".to_owned()));
            let system = table["system"].as_str().expect("a system has a name").to_owned();
            tables.entry(system).or_default().push(table);
        }
        let systems = tables.into_iter().map(|(name, tables)| System::new(catalogue, name, tables)).collect();
        Material { catalogue, systems }
    }

    /// The systems of which scenarios can be drawn, in order.
    pub fn systems(&self) -> impl Iterator<Item = &str> {
        self.systems.iter().map(|system| system.name.as_str())
    }

    /// The values that a setting of a system may be given: those that are seen at its dotted path, and what else the parser takes
    /// there.
    pub fn values(&self, system: &str, path: &str) -> &[Value] {
        let path: Path = path.split('.').map(str::to_owned).collect();
        let system = self.systems.iter().find(|other| other.name == system);
        let found = system.and_then(|system| system.values.iter().find(|(other, _)| *other == path));
        found.map_or(&[], |(_, values)| values)
    }

    /// A random valid scenario of a random system. Its clients, rounds, writes and budgets are small; it has usual fairness,
    /// no goals and no mutation; it promises what its system accepts, and expects each promise to be proven. The same numbers
    /// give the same scenario.
    pub fn scenario(&self, draw: Draw<'_>) -> Box<dyn AnyScenario> {
        let system = pick(&self.systems, draw);
        loop {
            let mut table = pick(&system.tables, draw).clone();
            for _ in 0..=draw(EDITS_MAX) {
                edit::edit(&mut table, &system.values, draw);
            }
            limit(&mut table);
            if let Ok(scenario) = read(self.catalogue, &table) {
                return with_promises(scenario, draw);
            }
        }
    }
}

impl System {
    fn new(catalogue: Catalogue, name: String, tables: Vec<Table>) -> Self {
        let mut values: BTreeMap<Path, Vec<Value>> = BTreeMap::new();
        for table in &tables {
            collect(table, &mut Vec::new(), &mut values);
        }
        schema::complete(catalogue, &tables, &mut values);
        let is_open = |(path, _): &(Path, Vec<Value>)| !FIXED.contains(&path[0].as_str());
        System { name, tables, values: values.into_iter().filter(is_open).collect() }
    }
}

/// Notes every value of a table, tables included, at its path.
fn collect(table: &Table, path: &mut Path, values: &mut BTreeMap<Path, Vec<Value>>) {
    for (key, value) in table {
        path.push(key.clone());
        let seen = values.entry(path.clone()).or_default();
        if !seen.contains(value) {
            seen.push(value.clone());
        }
        if let Value::Table(inner) = value {
            collect(inner, path, values);
        }
        path.pop();
    }
}

fn pick<'a, T>(options: &'a [T], draw: Draw<'_>) -> &'a T {
    let place = draw(u64::try_from(options.len()).expect("a length fits"));
    &options[usize::try_from(place).expect("it is below a length")]
}

fn limit(table: &mut Table) {
    let lower = |value: &mut Value, largest: i64| {
        if let Value::Integer(number) = value {
            *number = largest.min(*number);
        }
    };
    for (key, largest) in LARGEST {
        // A word stands for a number without end.
        let small = |value: &Value| Value::Integer(value.as_integer().map_or(largest, |number| largest.min(number)));
        table.get_mut(key).into_iter().for_each(|value| *value = small(value));
    }
    if let Some(Value::Table(budget)) = table.get_mut("budget") {
        budget.iter_mut().for_each(|(_, value)| lower(value, BUDGET_MAX));
    }
}

/// What the parser and the validation say of a table.
fn read(catalogue: Catalogue, table: &Table) -> Result<Box<dyn AnyScenario>, String> {
    let text = toml::to_string(table).map_err(|error| error.to_string())?;
    catalogue.read(&text, "random").map_err(|error| error.message)
}

/// Promises what the system accepts: each with a probability of three in four, progress always.
fn with_promises(mut scenario: Box<dyn AnyScenario>, draw: Draw<'_>) -> Box<dyn AnyScenario> {
    for property in Property::ALL.iter().copied() {
        let bound = (property.bound() == Bound::Always).then(|| 1 + draw(4));
        let bound = bound.map(|ticks| Ticks::new(i64::try_from(ticks).expect("it is small")));
        let is_left_out = draw(4) == 0 && !property.is_about_endless_runs(bound);
        if is_left_out {
            continue;
        }
        if let Ok(more) = scenario.promising(Promise { property, bound, expect: Expect::Proven }) {
            scenario = more;
        }
    }
    scenario
}
