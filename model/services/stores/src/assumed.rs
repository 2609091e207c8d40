//! Checks of assumptions against the state of the store, step by step.

use super::Stores;
use super::store::Store;
use fencepost_model::assumption::Execution;
use fencepost_model::service::Service;

impl Store {
    /// The record always has this limit.
    pub(super) fn limit_is(run: &Execution<Stores>, limit: u8) -> Result<(), String> {
        run.each(|moment| {
            let record = Stores::record(&moment.after.server.process, &run.scenario);
            let is_other = record.slots != Some(limit.into());
            if is_other { Err("the store has another limit".to_owned()) } else { Ok(()) }
        })
    }
}
