//! A request that is repeated if no answer comes in time: the recipes differ in what they ask, not in how long they wait.

use serde::{Deserialize, Serialize};

use crate::{Answer, Request, Stores};
use fencepost_model::normal::Normal;
use fencepost_model::program::Handle;
use fencepost_model::time::Ticks;

/// How long a client waits for an answer, and how often it repeats its request.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct Patience {
    /// How long it waits, in ticks; none: for ever.
    pub wait: Option<Ticks>,
    /// How often it may still repeat a request.
    pub retries: u8,
}

impl Patience {
    /// A client that waits for ever.
    pub const ENDLESS: Patience = Patience { wait: None, retries: 0 };

    /// Asks, and asks the same again if no answer comes in time. The last attempt waits for ever.
    pub async fn ask(&mut self, store: &Handle<Stores>, request: Request) -> Answer {
        loop {
            let Some(wait) = self.wait.filter(|_| self.retries > 0) else { return store.request(request).await };
            match store.timeout(wait, store.request(request)).await {
                Ok(answer) => return answer,
                Err(_) => self.retries -= 1,
            }
        }
    }
}
