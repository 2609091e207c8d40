//! What came of an execution at a real server.

use std::fmt;
use std::time::Duration;

/// What came of an execution at a real server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReenactmentOutcome {
    /// Every answer was that of the model, in the same order.
    Happened,
    /// The server answered otherwise.
    Refused {
        /// The number of the step in the trace.
        step: usize,
        /// The step as a sentence.
        label: String,
        /// What the server said.
        answer: String,
        /// What the model says.
        expected: String,
    },
    /// Steps of the execution must happen at the same instant of the server's time.
    Simultaneous {
        /// Their numbers in the trace.
        steps: Vec<usize>,
    },
    /// It needs something that cannot be caused from outside.
    Outside {
        /// The number of the step in the trace; 0: the scenario itself.
        step: usize,
        /// What it needs.
        needs: Obstacle,
    },
    /// It was not tried to its end.
    Undecided {
        /// The reason.
        why: String,
    },
}

/// What cannot be caused from outside.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Obstacle {
    /// The servers lose their leader, or have another one.
    LeaderChange,
    /// The clock of the server jumps.
    ServerClock,
    /// The server pauses.
    ServerPause,
    /// The server restarts from a snapshot, without the end of its log.
    Snapshot,
    /// The server restarts, and no command was given that restarts it.
    Restart,
    /// The server pauses, and no commands were given that do this.
    Pause,
    /// A leader is stuck while the others elect another one.
    StalledLeader,
    /// Something happens between two steps of the server that follow each other at once.
    InsideServer,
    /// A timer of the server is late.
    LateTimer,
    /// A node of the cluster fails, or the links between nodes do.
    Cluster,
    /// The memory or the disk of the broker is full, which concerns each of its users.
    Alarm,
    /// An operator does what AMQP cannot, and no command was given that does it.
    Tool,
    /// A server with settings that this one does not have.
    OtherServer,
}

impl ReenactmentOutcome {
    /// Its name, for other programs.
    pub fn name(&self) -> &'static str {
        match self {
            ReenactmentOutcome::Happened => "happened",
            ReenactmentOutcome::Refused { .. } => "refused",
            ReenactmentOutcome::Simultaneous { .. } => "simultaneous",
            ReenactmentOutcome::Outside { .. } => "outside",
            ReenactmentOutcome::Undecided { .. } => "undecided",
        }
    }

    /// The step that it is about, if it is about one.
    pub fn step(&self) -> Option<usize> {
        match self {
            ReenactmentOutcome::Refused { step, .. } | ReenactmentOutcome::Outside { step, .. } => {
                Some(*step).filter(|step| *step > 0)
            }
            ReenactmentOutcome::Simultaneous { steps } => steps.first().copied(),
            ReenactmentOutcome::Happened | ReenactmentOutcome::Undecided { .. } => None,
        }
    }

    /// Whether only the order of instants stands in the way: another execution may happen.
    pub fn is_matter_of_time(&self) -> bool {
        matches!(
            self,
            ReenactmentOutcome::Simultaneous { .. } | ReenactmentOutcome::Outside { needs: Obstacle::LateTimer, .. }
        )
    }

    /// Whether it could be made to happen from outside.
    pub fn is_possible_from_outside(&self) -> bool {
        !matches!(self, ReenactmentOutcome::Outside { .. } | ReenactmentOutcome::Simultaneous { .. })
    }
}

impl fmt::Display for ReenactmentOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReenactmentOutcome::Happened => f.write_str("happened"),
            ReenactmentOutcome::Refused { step, label, answer, expected } => {
                write!(f, "refused at step {step} ({label}) by this answer: {answer}; the model says: {expected}")
            }
            ReenactmentOutcome::Simultaneous { steps } => {
                f.write_str("needs exact simultaneity: steps ")?;
                for (place, step) in steps.iter().enumerate() {
                    let before = if place == 0 {
                        ""
                    } else if place + 1 == steps.len() {
                        " and "
                    } else {
                        ", "
                    };
                    write!(f, "{before}{step}")?;
                }
                Ok(())
            }
            ReenactmentOutcome::Outside { step: 0, needs } => {
                write!(f, "needs a fault that cannot be caused from outside: {needs}")
            }
            ReenactmentOutcome::Outside { step, needs } => {
                write!(f, "needs a fault that cannot be caused from outside: {needs} (step {step})")
            }
            ReenactmentOutcome::Undecided { why } => write!(f, "undecided: {why}"),
        }
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Obstacle::LeaderChange => "a change of the leader",
            Obstacle::ServerClock => "a jump of the server's clock",
            Obstacle::ServerPause => "a pause of the server",
            Obstacle::Snapshot => "a restart from a snapshot",
            Obstacle::Restart => "a restart of the server; give a command with --restart",
            Obstacle::Pause => "a pause of the server; give commands with --pause and --resume",
            Obstacle::StalledLeader => "a leader that is stuck while the others elect another one",
            Obstacle::InsideServer => "a step between two steps that the server takes at once",
            Obstacle::LateTimer => "a timer of the server that is late",
            Obstacle::Cluster => "a fault of a node, or between the nodes of a cluster",
            Obstacle::Alarm => "a memory or disk alarm, which concerns every user of the broker",
            Obstacle::Tool => "an operator of the broker; give a command with --rabbitmqctl",
            Obstacle::OtherServer => "a server with other rules",
        })
    }
}

/// An execution, and what came of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reenactment {
    /// What came of it.
    pub outcome: ReenactmentOutcome,
    /// The length of a tick, where there is a schedule.
    pub tick: Option<Duration>,
    /// How long the execution takes by its schedule.
    pub length: Option<Duration>,
    /// How long a delay became that is none in the scenario, if there is one.
    pub stretch: Option<Duration>,
    /// How often it was begun: again with more room where this machine was late.
    pub attempts: u32,
}
