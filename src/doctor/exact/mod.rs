//! Any scenario, exactly as it stands: of a service about which the doctor has no questions, or with programs of the user's. Each verdict is a
//! search of the scenario, with its clients, its rounds and its faults, and where a verdict changes is found by changing one setting at a time.
//! Nothing is said about values that were not searched.
//!
//! ```text
//! settings  what is changed: durations, and the values with which programs begin
//! boundary  where a verdict changes
//! ```

mod boundary;
mod settings;

pub use boundary::{ExactBoundary, ExactDoctor, ExactEnd, ExactVerdict};
pub use settings::{ExactScenario, ExactSetting, ExactValue};
