//! Everything that the author of a service imports.

pub use crate::assumption::{Assumption, Class, Declarations};
pub use crate::fact::{Ending, Fact, Leaving, Refusal};
pub use crate::ids::{Call, ClientId, Index, ProcessId, SessionId, Tenure, Token};
pub use crate::normal::Normal;
pub use crate::process::{Belief, Client, Context, Input, Message, Outbox, Process};
pub use crate::scenario::{OptionalBudget, Scenario, SettingError};
pub use crate::service::{
    Event, Record, Service, ServiceCommand, ServiceMessage, ServiceTimer, Settings as ServiceSettings,
};
pub use crate::time::{Deadline, Instant, LeaseEnd, Ticks};
pub use crate::uninhabited::Uninhabited;
pub use crate::world::World;
