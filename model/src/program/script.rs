//! What a task was told: the head of its lap and, one after the other, what came of its operations. Scripts with a common
//! beginning share it.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::Programmable;
use super::desk::{Outcome, Output};
use super::error::{ProgramError, ProgramErrorKind};
use super::handle::AnyKind;
use super::intern::{Interned, hash_of};
use super::kind::{self, LapValue};
use super::names::Any;
use crate::normal::{Normal as _, Visitor};

/// A lap of a task, up to a point.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub(super) struct Script<S: Programmable> {
    #[serde(serialize_with = "write_kind", deserialize_with = "read_kind")]
    pub(super) kind: AnyKind<S>,
    pub(super) point: Point<S>,
    /// How much it was told.
    pub(super) length: u16,
    /// What the run did when it had come to this point, without names: the first time.
    #[serde(skip)]
    did: OnceLock<Vec<Output<S>>>,
    /// A hash of what the value at the head says of itself: the first time.
    #[serde(skip)]
    says: OnceLock<u64>,
}

/// Where in a lap a task is.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(bound = "", rename_all = "kebab-case")]
pub(super) enum Point<S: Programmable> {
    /// At its head, with this value.
    Head(String),
    /// It has just been told what came of an operation.
    Told { before: Interned<Script<S>>, operation: u16, outcome: Outcome<S> },
}

impl<S: Programmable> PartialEq for Script<S> {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.point == other.point
    }
}

impl<S: Programmable> Eq for Script<S> {}

impl<S: Programmable> Hash for Script<S> {
    fn hash<H: Hasher>(&self, to: &mut H) {
        self.point.hash(to);
        self.kind.hash(to);
    }
}

/// Without what is no part of the state.
impl<S: Programmable> fmt::Debug for Script<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}", self.kind.name, self.point)
    }
}

/// A script that is stored once.
pub(super) type ScriptName<S> = Interned<Script<S>>;

impl<S: Programmable> Script<S> {
    /// A lap that begins.
    pub(super) fn head(kind: AnyKind<S>, head: String) -> ScriptName<S> {
        Interned::new(Script::new(kind, Point::Head(head), 0))
    }

    /// The same lap when it has been told something more.
    pub(super) fn told(before: ScriptName<S>, operation: u16, outcome: Outcome<S>) -> ScriptName<S> {
        let script = before.get();
        let (kind, length) = (script.kind, script.length + 1);
        Interned::new(Script::new(kind, Point::Told { before, operation, outcome }, length))
    }

    fn new(kind: AnyKind<S>, point: Point<S>, length: u16) -> Self {
        Script { kind, point, length, did: OnceLock::new(), says: OnceLock::new() }
    }

    /// The head of the lap, and all points after it in order, this one last.
    pub(super) fn points(self: &Arc<Self>) -> Vec<Arc<Self>> {
        let mut points = vec![Arc::clone(self)];
        while let Point::Told { before, .. } = &points[points.len() - 1].point {
            let before = before.get();
            points.push(before);
        }
        points.reverse();
        points
    }

    /// The value at the head of the lap.
    pub(super) fn value(self: &Arc<Self>) -> String {
        match &self.points()[0].point {
            Point::Head(head) => head.clone(),
            Point::Told { .. } => unreachable!("a lap begins with its head"),
        }
    }

    /// Notes what the run did at this point, or compares it with what it did before.
    pub(super) fn compare(self: &Arc<Self>, outputs: &[Output<S>]) {
        let blank: Vec<Output<S>> = outputs.iter().cloned().map(|output| output.blank(self.kind)).collect();
        let before = self.did.get_or_init(|| blank.clone());
        if *before == blank {
            return;
        }
        let place = before.iter().zip(&blank).take_while(|(before, now)| before == now).count();
        let word = |did: &[Output<S>]| did.get(place).map_or_else(|| "nothing more".to_owned(), ToString::to_string);
        self.fail(ProgramErrorKind::NotDeterministic { before: word(before), now: word(&blank) });
    }

    /// Compares the value at this head with the one that was encoded: what the text leaves out would be lost.
    pub(super) fn check_kept(self: &Arc<Self>, value: &LapValue) {
        let said = self.says.get_or_init(|| {
            let kept = self.kind.decode(&self.value()).unwrap_or_else(|error| self.fail(ProgramErrorKind::Head(error)));
            hash_of(&self.kind.debug(&kept))
        });
        if *said != hash_of(&self.kind.debug(value)) {
            let lost = "its text leaves out something that `Debug` shows, which is lost between laps";
            self.fail(ProgramErrorKind::Head(lost.to_owned()));
        }
    }

    /// Reports an error of the program at this point.
    pub(super) fn fail(self: &Arc<Self>, kind: ProgramErrorKind) -> ! {
        let points = self.points();
        let told = points.iter().filter_map(|point| match &point.point {
            Point::Head(_) => None,
            Point::Told { operation, outcome, .. } => Some(format!("[{operation}] {outcome}")),
        });
        ProgramError { program: self.kind.name.to_owned(), head: self.value(), told: told.collect(), kind }.stop()
    }

    /// The same script with the names that a visitor gives.
    pub(super) fn visited(name: ScriptName<S>, visitor: &mut dyn Visitor) -> ScriptName<S> {
        let script = name.get();
        let mut is_changed = false;
        let mut renamed: Option<ScriptName<S>> = None;
        let mut list = Vec::with_capacity(usize::from(script.length) + 1);
        for point in script.points() {
            let next = match &point.point {
                Point::Head(head) => {
                    let visited = script.kind.visited(head, visitor);
                    let visited = visited.unwrap_or_else(|error| point.fail(ProgramErrorKind::Head(error)));
                    is_changed |= visited != *head;
                    Script::head(script.kind, visited)
                }
                Point::Told { operation, outcome, .. } => {
                    let mut visited = *outcome;
                    visited.visit(&mut Any(visitor));
                    visited.sort();
                    is_changed |= visited != *outcome;
                    Script::told(renamed.expect("a lap begins with its head"), *operation, visited)
                }
            };
            list.push((point, next));
            renamed = Some(next);
        }
        if !is_changed {
            return name;
        }
        if !visitor.keeps_apart() {
            return renamed.expect("a lap begins with its head");
        }
        // What it did is the same but for names: a run that differs under the new ones looks into them.
        for (point, next) in list {
            if let Some(did) = point.did.get() {
                let next = next.get();
                let known = next.did.get_or_init(|| did.clone());
                if known != did {
                    next.compare(did);
                }
            }
        }
        renamed.expect("a lap begins with its head")
    }
}

fn write_kind<S: Programmable, T: Serializer>(kind: &AnyKind<S>, to: T) -> Result<T::Ok, T::Error> {
    kind.name.serialize(to)
}

fn read_kind<'de, S: Programmable, D: Deserializer<'de>>(from: D) -> Result<AnyKind<S>, D::Error> {
    let name = String::deserialize(from)?;
    kind::find(&name).ok_or_else(|| de::Error::custom(format!("there is no program `{name}` here")))
}
