//! The kernel: one transition system for all scenarios. It names no service. Services are packages under
//! `model/services`, and any crate can add one.
//!
//! ```text
//! scenario   the constants: settings, bounds, budgets, promises          (one TOML file)
//! world      the state: start, enabled, is_enabled, and step, which emits facts
//! monitor    ghosts of properties, violated promises, equivalence of worlds
//! process    participants as state machines
//! rounds     how often a user asks
//! resource   the protected resource: it judges writes; its keys, and its work_queue
//! program    participants as plain async code: recipes as users write them
//! service    the traits that a service implements
//! properties promises on three levels: record, belief, effect
//! trace      a run as a list of actions: replay, script, shrink
//! units      durations with a unit, as files have them
//! finding    the results of an exploration: plain data for reports
//! mutation   faults built into the sources on purpose
//! laws       statements that hold for every scenario
//! ```
//!
//! There is no clock, randomness, I/O, thread, float or hash map in here. `step` is a function: same scenario, world
//! and action, same result. Every choice is an [`world::Action`] picked by an explorer outside.

// `#[derive(Normal)]` names this crate both inside and outside of it.
extern crate self as fencepost_model;

pub mod action_kind;
pub mod assumption;
pub mod fact;
pub mod finding;
pub mod goal;
pub mod hash;
pub mod held;
pub mod ids;
pub mod inline_array;
pub mod inline_vec;
pub mod keys;
pub mod laws;
pub mod monitor;
pub mod mutation;
pub mod normal;
pub mod prelude;
pub mod process;
pub mod program;
pub mod programs;
pub mod properties;
pub mod resource;
pub mod rounds;
pub mod scenario;
pub mod service;
pub mod service_fault;
pub mod sort;
pub mod time;
pub mod trace;
pub mod uninhabited;
pub mod units;
pub mod work_queue;
pub mod world;
