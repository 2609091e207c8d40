//! The kernel: what may happen, as one transition system. It names no service; services are packages under `model/services`, and
//! anybody's crate can add one.
//!
//! ```text
//! scenario   what is fixed: settings, bounds, budgets, promises          (one TOML file)
//! world      what varies: start, enabled, is_enabled, step, which states facts
//! monitor    what properties remember of the facts, which promises they break; which worlds are equivalent
//! process    how participants react
//! service    what makes a lock service: the traits that a service implements
//! properties what is promised, on three levels: record, belief, effect
//! trace      a run as a list of actions: replay, script, shrink
//! units      durations as people write them, with a unit
//! finding    what an exploration established: plain data for reports
//! mutation   faults built into the sources on purpose
//! laws       what is true of every scenario
//! ```
//!
//! There is no clock, randomness, I/O, thread, float or hash map in here. `step` is a function: same scenario, world
//! and action, same result. Every choice is an [`world::Action`] picked by an explorer outside.

// What `#[derive(Normal)]` writes names this crate, inside it and outside.
extern crate self as fencepost_model;

pub mod action_kind;
pub mod assumption;
pub mod fact;
pub mod finding;
pub mod goal;
pub mod hash;
pub mod ids;
pub mod inline_array;
pub mod laws;
pub mod list;
pub mod monitor;
pub mod mutation;
pub mod normal;
pub mod prelude;
pub mod process;
pub mod properties;
pub mod resource;
pub mod scenario;
pub mod service;
pub mod service_fault;
pub mod time;
pub mod trace;
pub mod uninhabited;
pub mod units;
pub mod world;
