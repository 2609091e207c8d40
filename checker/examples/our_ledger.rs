//! A scenario of one's own, in Rust: which sequencer protects a ledger whose lock is cleaned up after use?
//!
//! `cargo run --release -p fencepost-checker --example our_ledger`

use fencepost::consul::{Consul, SERVICE, Sequencer, Writes};
use fencepost_checker::{InternalError, Options};
use fencepost_model::properties::Property;
use fencepost_model::resource::Accepts;
use fencepost_model::scenario::Scenario;

fn main() -> Result<(), InternalError> {
    for sequencer in [Sequencer::LockIndex, Sequencer::CreateIndex, Sequencer::ModifyIndex] {
        let scenario = Scenario::<Consul>::new("our-ledger")
            .writes(1)
            .service(|lock| {
                lock.cleanup = true;
                lock.writes = Writes::Async;
                lock.sequencer = sequencer;
            })
            .resource(Accepts::NotLower)
            .promise(Property::NoLostUpdate);
        for outcome in SERVICE.any(&scenario).check(&Options::default())? {
            let finding = outcome.finding;
            println!("{sequencer:?}: {} is {}, {} states", finding.property, finding.verdict.word(), finding.states);
        }
    }
    Ok(())
}
