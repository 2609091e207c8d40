//! Recipes for real, at the stand-in agent; at a real one where `FENCEPOST_CONSUL` names it, and at a real broker where
//! `FENCEPOST_RABBITMQ` does.

mod agents;
mod holders;
mod long;
mod mistakes;
mod processes;
mod reads;
mod semaphores;
