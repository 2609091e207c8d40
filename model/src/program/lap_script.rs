//! Where a task is in its lap: at the end of a script that is stored once, or of one of its own.

use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Programmable;
use super::desk::{Outcome, Output};
use super::error::ProgramErrorKind;
use super::handle::AnyKind;
use super::in_place::is_in_place;
use super::kind::LapValue;
use super::run::{AtEnd, LapRun};
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
    /// The value at the head of a lap.
    pub(super) head: String,
    /// What that lap was told, and each after it before the present one. A value that a lap passes on to the next one is not encoded
    /// each time.
    pub(super) earlier: Vec<Vec<(u16, Outcome<S>)>>,
    pub(super) told: Vec<(u16, Outcome<S>)>,
    /// The client, once a lap has begun.
    pub(super) me: ClientId,
}

/// The number of laps after which the value is encoded.
const LAPS_MAX: usize = 16;

impl<S: Programmable> OwnScript<S> {
    /// The value at the head of the present lap: the earlier ones are run again.
    ///
    /// # Errors
    /// The value at the head of the first of them cannot be read.
    fn value(&self) -> Result<LapValue, String> {
        let first = self.kind.decode(&self.head)?;
        Ok(self.earlier.iter().fold(first, |value, told| {
            let mut run = LapRun::begin(self.kind, value, self.me);
            run.replay(self.kind, told);
            run.value()
        }))
    }

    /// The same as it is kept.
    fn text(&self) -> String {
        if self.earlier.is_empty() {
            return self.head.clone();
        }
        self.value().map_or_else(|_| self.head.clone(), |value| self.kind.encode(&value))
    }
}

impl<S: Programmable> LapScript<S> {
    /// A lap that begins.
    pub(super) fn head(kind: AnyKind<S>, head: String) -> Self {
        match is_in_place() {
            true => LapScript::Own(OwnScript { kind, head, earlier: Vec::new(), told: Vec::new(), me: ClientId(0) }),
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

    /// What becomes of the value at the end of the lap.
    pub(super) fn at_end(&self) -> AtEnd {
        match self {
            LapScript::Stored(..) => AtEnd::Encode,
            LapScript::Own(script) if script.earlier.len() + 1 < LAPS_MAX => AtEnd::Pass,
            LapScript::Own(_) => AtEnd::EncodeAndPass,
        }
    }

    /// The next lap; the text is that of the value after this one, if it was encoded. A search begins it with what the text says, and not with
    /// the value: if they differ, the program is wrong.
    pub(super) fn next_lap(&mut self, text: String, value: Option<LapValue>) {
        match self {
            LapScript::Stored(_, kind) => {
                let next = Script::head(kind, text);
                if let Some(value) = value {
                    next.get().check_kept(&value);
                }
                *self = LapScript::Stored(next, kind);
            }
            LapScript::Own(script) => {
                script.earlier.push(std::mem::take(&mut script.told));
                if !text.is_empty() {
                    script.head = text;
                    script.earlier.clear();
                }
            }
        }
    }

    /// Begins the lap, with the value that the last one has passed on, if that is at hand.
    pub(super) fn begin(&mut self, me: ClientId, last: Option<LapRun<S>>) -> LapRun<S> {
        if let LapScript::Own(script) = self {
            script.me = me;
        }
        match last.filter(LapRun::is_between) {
            Some(run) => run.next_lap(self.kind(), me),
            None => LapRun::begin(self.kind(), self.value(), me),
        }
    }

    /// The value at the head of the lap.
    fn value(&self) -> LapValue {
        match self {
            LapScript::Stored(name, kind) => {
                kind.decode(&name.get().value()).unwrap_or_else(|error| self.fail(ProgramErrorKind::Head(error)))
            }
            LapScript::Own(script) => script.value().unwrap_or_else(|error| {
                Script::head(script.kind, script.head.clone()).get().fail(ProgramErrorKind::Head(error))
            }),
        }
    }

    /// A run that has come as far as this: one that was kept, or run again.
    pub(super) fn restored(&self, me: ClientId) -> LapRun<S> {
        match self {
            LapScript::Stored(name, _) => LapRun::restored(*name, me),
            LapScript::Own(script) => {
                let mut run = LapRun::begin(script.kind, self.value(), me);
                run.replay(script.kind, &script.told);
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
                let (kind, head, me) = (script.kind, visited.value(), script.me);
                LapScript::Own(OwnScript { kind, head, earlier: Vec::new(), told, me })
            }
        }
    }

    /// The name of an equal one that is stored.
    fn stored(&self) -> ScriptName<S> {
        match self {
            LapScript::Stored(name, _) => *name,
            LapScript::Own(script) => {
                let tell = |name, told: &(u16, Outcome<S>)| Script::told(name, told.0, told.1);
                script.told.iter().fold(Script::head(script.kind, script.text()), tell)
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
                one.kind == other.kind && one.told == other.told && one.text() == other.text()
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
