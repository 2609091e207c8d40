//! The program as people and other programs meet it. One test binary, so that it is compiled once.

mod browser;
mod certificates;
mod command_line;
mod diffs;
mod docs;
mod doctors;
mod hosts;
mod incident;
mod json_lines;
mod lease_pages;
mod machines;
mod manifests;
mod new;
mod own_recipes;
mod pictures;
mod program;
mod recorded_logs;
mod reenacts;
mod repairs;
mod shells;
#[cfg(unix)]
mod signals;
#[cfg(unix)]
mod stand_in;
#[cfg(unix)]
mod stores;
mod sweeps;
mod traces;
mod tradeoffs;
#[cfg(unix)]
mod with_units;
mod workflows;
