//! A round of thousands of requests: their numbers start again, and old states are forgotten, while a query waits.

use std::time::Duration;

use fencepost_consul::{Consul, HttpApi, LOCK, Opaque};
use fencepost_live::hold;
use fencepost_model::ids::{Index, Token};
use fencepost_model::normal::Normal;
use fencepost_model::program::{Gone, Handle, Lap, Recipe};
use serde::{Deserialize, Serialize};

use crate::agents::benches;

/// Reads a key many times, and then writes it.
#[derive(Clone, PartialEq, Debug, Normal, Serialize, Deserialize)]
struct Reader {
    left: u16,
    /// The log position of the key, once it is there.
    index: Option<Index>,
}

/// Waits for a change of the key.
#[derive(Clone, PartialEq, Debug, Normal, Serialize, Deserialize)]
struct Watcher {
    index: Index,
}

impl Recipe<Consul> for Reader {
    const NAME: &'static str = "reader-of-thousands";

    async fn lap(&mut self, consul: &Handle<Consul>) -> Result<Lap, Gone> {
        if self.index.is_none() {
            consul.put(LOCK, Opaque::Empty).await?;
            let index = consul.get(LOCK).await?.ok_or(Gone)?.modify;
            consul.spawn(Watcher { index });
            self.index = Some(index);
            return Ok(Lap::Again);
        }
        let entry = consul.get(LOCK).await?.ok_or(Gone)?;
        if self.left > 0 {
            self.left -= 1;
            return Ok(Lap::Again);
        }
        consul.put(LOCK, Opaque::Number(Token::numbered(1))).await?;
        consul.ended::<Watcher>().await;
        consul.enter(entry.modify_token());
        Ok(Lap::Done)
    }
}

impl Recipe<Consul> for Watcher {
    const NAME: &'static str = "watcher-of-one-key";

    async fn lap(&mut self, consul: &Handle<Consul>) -> Result<Lap, Gone> {
        match consul.watch(LOCK, self.index, None).await? {
            Some(entry) if entry.modify != self.index => Ok(Lap::Done),
            _ => Ok(Lap::Again),
        }
    }
}

#[test]
fn numbers_of_requests_start_again_while_one_waits() {
    for bench in benches() {
        let agent = bench.agent.clone().tick(Duration::from_micros(100));
        let held = hold(&agent, Reader { left: 2_500, index: None }, |tenure| tenure.token());
        assert_ne!(held.expect("the watcher hears of the write").value, Token::NONE);
    }
}
