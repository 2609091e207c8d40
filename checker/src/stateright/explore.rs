//! The space of a scenario in a browser: stateright's Explorer.

use std::net::SocketAddr;
use std::sync::Arc;

use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use stateright::Model as _;

use super::erased::FormedTransitions;
use super::space::Space;
use crate::limits::{Limits, Unsupervised};
use crate::reduction::Form;

/// Serves the space of a scenario to browsers, until the program ends. States are worlds in normal form.
///
/// # Panics
/// The address is not on this machine, or cannot be bound: the caller tries that first.
pub fn browse<P: Service>(scenario: &Scenario<P>, address: SocketAddr) {
    assert!(address.ip().is_loopback(), "{address} is open to others");
    let transitions = FormedTransitions { form: Form::new(scenario, false), scenario: scenario.clone() };
    serve(Space::new(Arc::new(transitions), Limits::default(), Arc::new(Unsupervised)), address);
}

fn serve(space: Space, address: SocketAddr) {
    let _ = space.checker().serve(address);
}
