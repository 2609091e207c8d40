//! Faults of a service: what can go wrong in the service itself, declared by whoever knows it, with budget and sentence.

use crate::ids::ClientId;
use crate::normal::Normal;
use crate::process::Value;
use crate::uninhabited::Uninhabited;

/// A fault of a service, or the end of one.
pub trait ServiceFault: Value + Normal {
    /// The kinds of fault that the service declares, at most eight. A kind's place is its number in a budget.
    const KINDS: &'static [FaultKind];

    /// The place of its kind in [`ServiceFault::KINDS`]; none for the end of a fault, which costs nothing.
    fn kind(self) -> Option<usize>;

    /// The client whose node the failure detector wrongly gives up by this fault.
    fn false_alarm(self) -> Option<ClientId> {
        None
    }
}

/// A kind of fault, with the budget that it is paid from.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct FaultKind {
    /// The name of its budget: `clock_jumps` stands in scenario files as `budget.clock_jumps`.
    pub budget: &'static str,
    /// One such fault in words, without an article: "clock jump of a node".
    pub one: &'static str,
    /// The budget of older scenario files that it was paid from.
    pub formerly: Option<&'static str>,
    /// What else the reader of a verdict must know about it.
    pub nature: Nature,
}

/// What a kind of fault is about, where that matters outside the service.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Nature {
    /// Nothing that anybody else must know.
    Plain,
    /// It leads back to a state that was there before, so it may occur without end: `budget.NAME = "unlimited"`.
    Recurrent,
    /// It moves a clock.
    Clock,
    /// It is a wrong verdict of the failure detector.
    WrongVerdict,
}

impl FaultKind {
    /// A kind that is like [`Nature::Plain`].
    pub const fn new(budget: &'static str, one: &'static str, formerly: Option<&'static str>) -> Self {
        FaultKind { budget, one, formerly, nature: Nature::Plain }
    }

    /// The same of another nature.
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
