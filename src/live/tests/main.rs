//! Recipes for real, at the stand-in agent; and at a real one where `FENCEPOST_CONSUL` names it.

mod agents;
mod holders;
mod long;
mod mistakes;
mod processes;
