//! Faults of a service. The service declares each kind with a budget and a sentence.

use crate::ids::ClientId;
use crate::normal::Normal;
use crate::process::Value;
use crate::uninhabited::Uninhabited;

/// A fault of a service, or the end of a fault.
pub trait ServiceFault: Value + Normal {
    /// The kinds of fault that the service declares, at most eight. The index of a kind is its number in a budget.
    const KINDS: &'static [FaultKind];

    /// The index of its kind in [`ServiceFault::KINDS`]; none for the end of a fault, which costs nothing.
    fn kind(self) -> Option<usize>;

    /// The client whose node the failure detector falsely declares failed by this fault.
    fn false_alarm(self) -> Option<ClientId> {
        None
    }
}

/// A kind of fault, with its budget.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct FaultKind {
    /// The name of its budget: `clock_jumps` is `budget.clock_jumps` in scenario files.
    pub budget: &'static str,
    /// A noun phrase for one such fault, without an article: "clock jump of a node".
    pub one: &'static str,
    /// Its budget in older scenario files.
    pub formerly: Option<&'static str>,
    /// Further assumptions that a verdict prints about it.
    pub nature: Nature,
}

/// The nature of a kind of fault, if it matters outside the service.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Nature {
    /// It matters to the service only.
    Plain,
    /// It leads back to an earlier state, so it may occur any number of times: `budget.NAME = "unlimited"`.
    Recurrent,
    /// It moves a clock.
    Clock,
    /// It is a false verdict of the failure detector.
    WrongVerdict,
}

impl FaultKind {
    /// A kind with the nature [`Nature::Plain`].
    pub const fn new(budget: &'static str, one: &'static str, formerly: Option<&'static str>) -> Self {
        FaultKind { budget, one, formerly, nature: Nature::Plain }
    }

    /// The same kind with another nature.
    #[must_use]
    pub const fn with(self, nature: Nature) -> Self {
        FaultKind { nature, ..self }
    }
}

impl ServiceFault for Uninhabited {
    const KINDS: &'static [FaultKind] = &[];

    fn kind(self) -> Option<usize> {
        match self {}
    }
}
