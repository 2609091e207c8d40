//! The model from outside. One program, for each would compile the model's generic parts anew.

mod assumptions;
mod budgets;
mod digests;
mod fault_places;
mod laws;
mod mistakes;
mod notes;
mod prefixes;
mod resource;
mod scripts;
