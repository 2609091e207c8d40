//! The kinds of action: one list for budgets, fairness, swarms, certificates, folded stories and colours.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal,)*) => {
        /// The kind of an action.
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum ActionKind { $($(#[doc = $doc])* $name,)* }

        impl ActionKind {
            /// Every kind, in the order of declaration. The index of a kind is its bit in a set of kinds.
            pub const ALL: &'static [ActionKind] = &[$(ActionKind::$name,)*];

            /// Its bit in a set of kinds.
            pub const fn bit(self) -> u64 {
                1 << self as u64
            }

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
    /// An operator with access to the service changes it from outside.
    Operator = "operator",
    /// A message gets lost.
    Lose = "lose",
    /// A message arrives once more.
    Duplicate = "duplicate",
    /// A client crashes.
    Crash = "crash",
    /// A crashed client restarts.
    Restart = "restart",
    /// A process pauses.
    Pause = "pause",
    /// A paused process resumes.
    Resume = "resume",
    /// A link is cut.
    Cut = "cut",
    /// A cut link heals.
    Heal = "heal",
    /// A clock jumps ahead of or behind true time.
    Slip = "slip",
    /// A process makes a random choice: a random number, a peer.
    Choose = "choose",
    /// A fault of the service begins or ends.
    ServiceFault = "service-fault",
    /// The resource restarts, and forgets.
    ResourceRestart = "resource-restart",
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

    /// Whether the action is a fault or an operator action. None of these happens during a calm. Repairs are not
    /// disturbances.
    pub fn is_disturbance(self) -> bool {
        match self {
            ActionKind::Operator
            | ActionKind::Lose
            | ActionKind::Duplicate
            | ActionKind::Crash
            | ActionKind::Pause
            | ActionKind::Cut
            | ActionKind::Slip
            | ActionKind::ServiceFault
            | ActionKind::ResourceRestart => true,
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

    /// The kinds that are faults or operator actions.
    pub fn faults() -> impl Iterator<Item = ActionKind> {
        ActionKind::ALL.iter().copied().filter(|kind| kind.is_disturbance())
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
