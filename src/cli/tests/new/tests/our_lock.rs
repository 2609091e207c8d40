//! Every execution of our-lock.toml, against its promises.

use fencepost::{catalogue, verify};

#[test]
fn every_execution_keeps_the_promises() {
    let file = include_str!("../our-lock.toml");
    let scenario = catalogue::read(file, "our-lock.toml").unwrap_or_else(|error| panic!("{error}"));
    verify(&*scenario);
}
