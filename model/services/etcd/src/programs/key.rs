//! The wait for the keys before the own one (clientv3/concurrency/key.go of 3.4.23).

use serde::{Deserialize, Serialize};

use super::{EtcdApi, EtcdError, EtcdQuery};
use crate::Etcd;
use crate::messages::{Key, Response};
use fencepost_model::ids::Index;
use fencepost_model::normal::Normal;
use fencepost_model::program::Handle;

/// Where `waitDeletes` is (50-65): a recipe that waits begins a lap at each of its steps. E-CC-11.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyWait {
    /// `client.Get(ctx, pfx, getOpts...)` (53).
    Get,
    /// `waitDelete(ctx, client, lastKey, resp.Header.Revision)` (61).
    Watch(Key, Index),
}

impl KeyWait {
    /// Takes the next step, before a key that was created at this revision. None: no key is before it.
    ///
    /// # Errors
    /// `Get` or `Watch` has failed.
    pub async fn step(self, client: &Handle<Etcd>, created: Index) -> Result<Option<Self>, EtcdError> {
        match self {
            KeyWait::Get => {
                // `v3.WithLastCreate()`, `v3.WithMaxCreateRev(maxCreateRev)`; `if len(resp.Kvs) == 0 { return resp.Header, nil }`.
                let (last, revision) = client.newest_before(created).await?;
                Ok(last.map(|last| KeyWait::Watch(last.key, revision)))
            }
            KeyWait::Watch(key, from) => match client.watch_delete(key, from).await {
                // `if ev.Type == mvccpb.DELETE { return nil }` (34-36).
                Ok(()) => Ok(Some(KeyWait::Get)),
                // clientv3/watch.go resumes it where it began, for it has shown nothing. E-W-7.
                Err(EtcdError(Response::Disconnected)) => Ok(Some(self)),
                // `wr.Err()` (39-41).
                Err(error) => {
                    if error.0 == Response::Compacted {
                        client.send(EtcdQuery::Compacted);
                    }
                    Err(error)
                }
            },
        }
    }
}
