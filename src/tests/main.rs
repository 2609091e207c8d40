//! What people use: the library, the program, and what they are held against. One program, so that it is compiled once.

#[cfg(feature = "cli")]
mod browser;
#[cfg(feature = "cli")]
mod command_line;
#[cfg(feature = "conform")]
mod conform;
mod library;
#[cfg(feature = "cli")]
mod pictures;
#[cfg(feature = "cli")]
mod program;
#[cfg(feature = "conform")]
mod rabbitmq;
mod random_scenarios;
#[cfg(feature = "conform")]
mod safeguard;
mod seeds;
#[cfg(all(feature = "cli", feature = "conform", unix))]
mod signals;
#[cfg(feature = "cli")]
mod sweeps;
mod tidy;
#[cfg(feature = "conform")]
#[cfg(feature = "cli")]
mod traces;
#[cfg(feature = "cli")]
mod tradeoffs;
mod verdicts;
