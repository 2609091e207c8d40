//! Recipes for real, at the stand-in agent; at a real one where `FENCEPOST_CONSUL` names it, at a real broker where
//! `FENCEPOST_RABBITMQ` does, and at a real etcd server where `FENCEPOST_ETCD` does.

mod agents;
mod etcd;
mod holders;
mod long;
mod methods;
mod mistakes;
mod observers;
mod processes;
mod reads;
mod semaphores;
