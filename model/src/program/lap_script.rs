//! Where a task is in its lap: at the end of a script that is stored once, or of one of its own.

use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Programmable;
use super::desk::{Outcome, Output};
use super::error::ProgramErrorKind;
use super::handle::AnyKind;
use super::in_place::is_in_place;
use super::run::LapRun;
use super::script::{Script, ScriptName};
use crate::ids::ClientId;
use crate::normal::Visitor;

/// What a task was told in its lap.
pub(super) enum LapScript<S: Programmable> {
    /// A search comes back to it, and has others that begin in the same way.
    Stored(ScriptName<S>, AnyKind<S>),
    /// Of a state that is changed in place.
    Own(OwnScript<S>),
}

/// A script of which nothing is shared.
#[derive(Clone)]
pub(super) struct OwnScript<S: Programmable> {
    pub(super) kind: AnyKind<S>,
    /// The value at the head of the lap.
    pub(super) head: String,
    pub(super) told: Vec<(u16, Outcome<S>)>,
}

impl<S: Programmable> LapScript<S> {
    /// A lap that begins.
    pub(super) fn head(kind: AnyKind<S>, head: String) -> Self {
        match is_in_place() {
            true => LapScript::Own(OwnScript { kind, head, told: Vec::new() }),
            false => LapScript::Stored(Script::head(kind, head), kind),
        }
    }

    /// The recipe that runs.
    pub(super) fn kind(&self) -> AnyKind<S> {
        match self {
            LapScript::Stored(_, kind) => kind,
            LapScript::Own(script) => script.kind,
        }
    }

    /// How much it was told.
    pub(super) fn length(&self) -> usize {
        match self {
            LapScript::Stored(name, _) => name.get().length.into(),
            LapScript::Own(script) => script.told.len(),
        }
    }

    /// It is told something more.
    pub(super) fn tell(&mut self, operation: u16, outcome: Outcome<S>) {
        match self {
            LapScript::Stored(name, _) => *name = Script::told(*name, operation, outcome),
            LapScript::Own(script) => script.told.push((operation, outcome)),
        }
    }

    /// Compares what the run did at this point with what it did before, if that is known.
    pub(super) fn compare(&self, outputs: &[Output<S>]) {
        if let LapScript::Stored(name, _) = self {
            name.get().compare(outputs);
        }
    }

    /// Begins the lap.
    pub(super) fn begin(&self, me: ClientId) -> LapRun<S> {
        let run = match self {
            LapScript::Stored(name, kind) => LapRun::begin(kind, &name.get().value(), me),
            LapScript::Own(script) => LapRun::begin(script.kind, &script.head, me),
        };
        run.unwrap_or_else(|error| self.fail(ProgramErrorKind::Head(error)))
    }

    /// A run that has come as far as this: one that was kept, or run again.
    pub(super) fn restored(&self, me: ClientId) -> LapRun<S> {
        match self {
            LapScript::Stored(name, _) => LapRun::restored(*name, me),
            LapScript::Own(script) => {
                let mut run = self.begin(me);
                run.poll(None);
                script.told.iter().for_each(|told| drop(run.poll(Some(*told))));
                run
            }
        }
    }

    /// Reports an error of the program at this point.
    pub(super) fn fail(&self, kind: ProgramErrorKind) -> ! {
        self.stored().get().fail(kind)
    }

    /// Where a search is, in words; none if it is no search, but a simulation.
    pub(super) fn place(&self) -> Option<String> {
        let LapScript::Stored(name, kind) = self else { return None };
        let script = name.get();
        let last = script
            .last()
            .map_or_else(|| "nothing".to_owned(), |(operation, outcome)| format!("[{operation}] {outcome}"));
        Some(format!("`{}`, which began as {}; last: {last}", kind.name, script.value()))
    }

    /// The same with the names that a visitor gives.
    pub(super) fn visited(&self, visitor: &mut dyn Visitor) -> Self {
        match self {
            LapScript::Stored(name, kind) => LapScript::Stored(Script::visited(*name, visitor), kind),
            LapScript::Own(script) => {
                let visited = Script::visited(self.stored(), visitor).get();
                let told = visited.points().iter().filter_map(|point| point.last()).collect();
                LapScript::Own(OwnScript { kind: script.kind, head: visited.value(), told })
            }
        }
    }

    /// The name of an equal one that is stored.
    fn stored(&self) -> ScriptName<S> {
        match self {
            LapScript::Stored(name, _) => *name,
            LapScript::Own(OwnScript { kind, head, told }) => {
                let tell = |name, told: &(u16, Outcome<S>)| Script::told(name, told.0, told.1);
                told.iter().fold(Script::head(kind, head.clone()), tell)
            }
        }
    }
}

impl<S: Programmable> Clone for LapScript<S> {
    fn clone(&self) -> Self {
        match self {
            LapScript::Stored(name, kind) => LapScript::Stored(*name, kind),
            LapScript::Own(script) => LapScript::Own(script.clone()),
        }
    }
}

impl<S: Programmable> PartialEq for LapScript<S> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (LapScript::Own(one), LapScript::Own(other)) => {
                one.kind == other.kind && one.head == other.head && one.told == other.told
            }
            _ => self.stored() == other.stored(),
        }
    }
}

impl<S: Programmable> Eq for LapScript<S> {}

impl<S: Programmable> Hash for LapScript<S> {
    fn hash<H: Hasher>(&self, to: &mut H) {
        self.stored().hash(to);
    }
}

impl<S: Programmable> fmt::Debug for LapScript<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stored().fmt(f)
    }
}

impl<S: Programmable> Serialize for LapScript<S> {
    fn serialize<T: Serializer>(&self, to: T) -> Result<T::Ok, T::Error> {
        self.stored().serialize(to)
    }
}

impl<'de, S: Programmable> Deserialize<'de> for LapScript<S> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = ScriptName::<S>::deserialize(from)?;
        Ok(LapScript::Stored(name, name.get().kind))
    }
}
