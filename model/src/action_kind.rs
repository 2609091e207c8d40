//! The kinds of action: one list for budgets, fairness, swarms, certificates, folded stories and colours.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal,)*) => {
        /// What kind of thing happens in a step.
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum ActionKind { $($(#[doc = $doc])* $name,)* }

        impl ActionKind {
            /// Every kind, in the order of declaration: its place is its bit in a set of kinds.
            pub const ALL: &'static [ActionKind] = &[$(ActionKind::$name,)*];

            /// The name in files and output.
            pub fn name(self) -> &'static str {
                match self { $(ActionKind::$name => $text,)* }
            }
        }
    };
}

kinds! {
    /// A user asks a client for something.
    Command = "command",
    /// A message under way arrives.
    Deliver = "deliver",
    /// A deadline fires.
    Wake = "wake",
    /// Time passes.
    Advance = "advance",
    /// Somebody with access to the service does something to it.
    Operator = "operator",
    /// A message gets lost.
    Lose = "lose",
    /// A message arrives once more.
    Duplicate = "duplicate",
    /// A client crashes.
    Crash = "crash",
    /// A crashed client comes back.
    Restart = "restart",
    /// A process stands still.
    Pause = "pause",
    /// A paused process goes on.
    Resume = "resume",
    /// A link is cut.
    Cut = "cut",
    /// A cut link heals.
    Heal = "heal",
    /// A clock moves against true time.
    Slip = "slip",
    /// Something is chosen for a process: a random number, a peer.
    Choose = "choose",
    /// Something goes wrong in the service itself, or that ends.
    ServiceFault = "service-fault",
}

impl ActionKind {
    /// The kinds that a scenario may call fair: all but faults and operators.
    pub const FAIR: [ActionKind; 8] = [
        ActionKind::Deliver,
        ActionKind::Wake,
        ActionKind::Choose,
        ActionKind::Advance,
        ActionKind::Command,
        ActionKind::Resume,
        ActionKind::Heal,
        ActionKind::Restart,
    ];

    /// Whether something goes wrong, or somebody meddles: nothing of the kind happens in a calm. What mends is none.
    pub fn is_disturbance(self) -> bool {
        match self {
            ActionKind::Operator
            | ActionKind::Lose
            | ActionKind::Duplicate
            | ActionKind::Crash
            | ActionKind::Pause
            | ActionKind::Cut
            | ActionKind::Slip
            | ActionKind::ServiceFault => true,
            ActionKind::Command
            | ActionKind::Deliver
            | ActionKind::Wake
            | ActionKind::Advance
            | ActionKind::Restart
            | ActionKind::Resume
            | ActionKind::Heal
            | ActionKind::Choose => false,
        }
    }

    /// Whether it ends a fault.
    pub fn is_repair(self) -> bool {
        matches!(self, ActionKind::Restart | ActionKind::Resume | ActionKind::Heal)
    }
}

impl fmt::Display for ActionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
