//! Budgets in scenario files and traces: the valid names depend on the service.

use std::fmt::{self, Display};

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use super::budget::{Budget, CAPS_MAX, Cap, UNLIMITED};
use crate::service::Service;
use crate::service_fault::{FaultKind, Nature, ServiceFault};

type Field = (&'static str, fn(&mut Budget) -> &mut u8);

/// A service's own kinds of fault.
pub(super) type Kinds = &'static [FaultKind];

/// The kinds of fault that every service has.
pub(super) const COMMON: [Field; 10] = [
    ("losses", |budget| &mut budget.losses),
    ("duplicates", |budget| &mut budget.duplicates),
    ("crashes", |budget| &mut budget.crashes),
    ("restarts", |budget| &mut budget.restarts),
    ("pauses", |budget| &mut budget.pauses),
    ("cuts", |budget| &mut budget.cuts),
    ("slips", |budget| &mut budget.slips),
    ("operator", |budget| &mut budget.operator),
    ("retries", |budget| &mut budget.retries),
    ("resource_restarts", |budget| &mut budget.resource_restarts),
];

/// Budget names of older files. Faults of different services shared them.
const FORMER: [&str; 4] = ["outages", "endless_outages", "server_restarts", "false_alarms"];

/// The kinds of fault that a service has beside the common ones.
pub(super) fn kinds<P: Service>() -> Kinds {
    <P::Fault as ServiceFault>::KINDS
}

/// The kinds, as bits, for which a budget name of an older file stands.
fn former_kinds(kinds: &[FaultKind], name: &str) -> u8 {
    let is_meant = |kind: &FaultKind| match name {
        "endless_outages" => kind.nature == Nature::Recurrent,
        name => kind.formerly == Some(name),
    };
    (0..).zip(kinds).filter(|(_, kind)| is_meant(kind)).fold(0, |bits, (place, _)| bits | 1 << place)
}

/// The names that replace the budget name of an older file, if `name` is such a name for this service.
pub(super) fn renamed(kinds: Kinds, name: &str) -> Option<Vec<&'static str>> {
    if !FORMER.contains(&name) || kinds.iter().any(|kind| kind.budget == name) {
        return None;
    }
    let cap = Cap { kinds: former_kinds(kinds, name), at_most: 0 };
    let names: Vec<&str> = cap.among(kinds).map(|kind| kind.budget).collect();
    (!names.is_empty()).then_some(names)
}

/// The meaning of a key of the table.
#[derive(Copy, Clone)]
enum Key {
    Common(Field),
    /// One kind, or several that are counted together; and whether the number may be unlimited.
    Kinds(u8, bool),
    EndlessOutages(u8),
    /// A name of older files for a fault that this service does not have. Older versions wrote every budget.
    Gone(&'static str),
    Shared,
}

struct KeySeed(Kinds);

impl Visitor<'_> for KeySeed {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a budget")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Key, E> {
        let kinds = self.0;
        if let Some(field) = COMMON.into_iter().find(|(other, _)| *other == name) {
            return Ok(Key::Common(field));
        }
        if name == "shared" {
            return Ok(Key::Shared);
        }
        if let Some(place) = kinds.iter().position(|kind| kind.budget == name) {
            return Ok(Key::Kinds(1 << place, kinds[place].nature == Nature::Recurrent));
        }
        match former_kinds(kinds, name) {
            0 => match FORMER.into_iter().find(|former| *former == name) {
                Some(former) => Ok(Key::Gone(former)),
                None => Err(E::custom(unknown(kinds, name))),
            },
            bits if name == "endless_outages" => Ok(Key::EndlessOutages(bits)),
            bits => Ok(Key::Kinds(bits, false)),
        }
    }
}

fn unknown(kinds: Kinds, name: &str) -> String {
    let common = COMMON.map(|(name, _)| name).into_iter();
    let own = kinds.iter().map(|kind| kind.budget);
    let names: Vec<&str> = common.chain(own).collect();
    format!("there is no budget `{name}` for this system; valid budgets: `{}`", names.join("`, `"))
}

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Key, D::Error> {
        from.deserialize_str(self)
    }
}

/// A number, or the word `unlimited`.
struct Count(u8);

pub(super) fn write_count<S: Serializer>(count: u8, to: S) -> Result<S::Ok, S::Error> {
    Count(count).serialize(to)
}

pub(super) fn read_count<'de, D: Deserializer<'de>>(from: D) -> Result<u8, D::Error> {
    Count::deserialize(from).map(|Count(count)| count)
}

impl Serialize for Count {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            UNLIMITED => to.serialize_str("unlimited"),
            count => to.serialize_u8(count),
        }
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(CountVisitor)
    }
}

struct CountVisitor;

impl Visitor<'_> for CountVisitor {
    type Value = Count;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number from 0 to 254")
    }

    fn visit_u64<E: de::Error>(self, count: u64) -> Result<Count, E> {
        match u8::try_from(count) {
            Ok(count) if count != UNLIMITED => Ok(Count(count)),
            _ => Err(E::invalid_value(de::Unexpected::Unsigned(count), &self)),
        }
    }

    fn visit_i64<E: de::Error>(self, count: i64) -> Result<Count, E> {
        match u64::try_from(count) {
            Ok(count) => self.visit_u64(count),
            Err(_) => Err(E::invalid_value(de::Unexpected::Signed(count), &self)),
        }
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Count, E> {
        match word {
            "unlimited" => Ok(Count(UNLIMITED)),
            _ => Err(E::invalid_value(de::Unexpected::Str(word), &self)),
        }
    }
}

/// `[[budget.shared]]`: faults of several kinds, counted together.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shared {
    of: Vec<String>,
    at_most: Count,
}

impl Shared {
    fn cap(&self, kinds: Kinds) -> Result<Cap, String> {
        let mut bits = 0_u8;
        for name in &self.of {
            let place = kinds.iter().position(|kind| kind.budget == name);
            let place = place.ok_or_else(|| {
                let own: Vec<&str> = kinds.iter().map(|kind| kind.budget).collect();
                match own[..] {
                    [] => format!("this system has no faults of its own, but `of` names `{name}`"),
                    _ => format!("`of` must name faults of the service: `{}`; it names `{name}`", own.join("`, `")),
                }
            })?;
            bits |= 1 << place;
        }
        match (bits.count_ones(), self.at_most.0) {
            (0 | 1, _) => Err("`of` must name at least two faults".to_owned()),
            (_, UNLIMITED) => {
                Err("a shared cap must be a number from 0 to 254; without it, leave the entry out".to_owned())
            }
            (_, at_most) => Ok(Cap { kinds: bits, at_most }),
        }
    }
}

/// Whether exhausted caps are kept: the rest of a budget in a state has them, a scenario does not.
struct BudgetVisitor {
    kinds: Kinds,
    keeps_zeros: bool,
}

impl<'de> Visitor<'de> for BudgetVisitor {
    type Value = Budget;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of budgets")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Budget, A::Error> {
        let mut budget = Budget::default();
        let bad = |error: &dyn Display| de::Error::custom(error);
        while let Some(key) = map.next_key_seed(KeySeed(self.kinds))? {
            match key {
                Key::Common((_, field)) => *field(&mut budget) = map.next_value()?,
                Key::Kinds(kinds, may_be_unlimited) => {
                    let Count(at_most) = map.next_value()?;
                    if at_most == UNLIMITED && !may_be_unlimited {
                        return Err(bad(&"this fault changes the service permanently: write a number from 0 to 254"));
                    }
                    if at_most > 0 || self.keeps_zeros {
                        budget.add(Cap { kinds, at_most }).map_err(|error| bad(&error))?;
                    }
                }
                Key::EndlessOutages(kinds) => {
                    if map.next_value::<bool>()? {
                        budget.add(Cap { kinds, at_most: UNLIMITED }).map_err(|error| bad(&error))?;
                    }
                }
                Key::Gone(name) => {
                    if map.next_value::<Count>()?.0 > 0 {
                        return Err(bad(&unknown(self.kinds, name)));
                    }
                }
                Key::Shared => {
                    for shared in map.next_value::<Vec<Shared>>()? {
                        let cap = shared.cap(self.kinds).map_err(|error| bad(&error))?;
                        budget.add(cap).map_err(|error| bad(&error))?;
                    }
                }
            }
        }
        Ok(budget)
    }
}

/// Reads a budget with the names of the service's own faults.
pub(super) fn read<'de, D: Deserializer<'de>>(kinds: Kinds, from: D) -> Result<Budget, D::Error> {
    from.deserialize_map(BudgetVisitor { kinds, keeps_zeros: false })
}

/// Reads the rest of a budget in some state.
///
/// # Errors
/// It is no budget of this service.
pub fn read_left<'de, P: Service, D: Deserializer<'de>>(from: D) -> Result<Budget, D::Error> {
    from.deserialize_map(BudgetVisitor { kinds: kinds::<P>(), keeps_zeros: true })
}

/// Writes the rest of a budget in some state.
///
/// # Errors
/// As the serialiser says.
pub fn write_left<P: Service, S: Serializer>(budget: &Budget, to: S) -> Result<S::Ok, S::Error> {
    BudgetText { budget: *budget, kinds: kinds::<P>() }.serialize(to)
}

/// A budget with the names of the service's own faults.
pub(super) struct BudgetText {
    pub(super) budget: Budget,
    pub(super) kinds: Kinds,
}

impl Serialize for BudgetText {
    /// Writes every common budget, and each budget of the service's faults that is not 0.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let BudgetText { mut budget, kinds } = *self;
        let mut map = to.serialize_map(None)?;
        for (name, field) in COMMON {
            map.serialize_entry(name, field(&mut budget))?;
        }
        let mut shared = Vec::with_capacity(CAPS_MAX);
        for cap in budget.caps() {
            match cap.is_shared() {
                false => {
                    for kind in cap.among(kinds) {
                        map.serialize_entry(kind.budget, &Count(cap.at_most))?;
                    }
                }
                true => {
                    let of = cap.among(kinds).map(|kind| kind.budget.to_owned()).collect();
                    shared.push(Shared { of, at_most: Count(cap.at_most) });
                }
            }
        }
        if !shared.is_empty() {
            map.serialize_entry("shared", &shared)?;
        }
        map.end()
    }
}
