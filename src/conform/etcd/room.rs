//! A safeguard against deleting other programs' data: a server that is not clearly empty is refused. What a run writes bears its mark, and
//! between sequences nothing else is removed.

use fencepost_etcd::mvcc::{DeleteRange, EtcdCall, Mvcc, RangeRead};
use serde_json::Value;

use super::draw::{LEASES, MARK};
use super::wire::{EtcdServer, text};
use crate::error::ConformError;
use crate::guard::Removal;

/// Every key.
const ALL: &str = "\0";

/// The end of the keys that bear the mark.
const MARK_END: &str = "fencepost0";

impl EtcdServer {
    /// Makes sure that the server is empty, and removes before that what may be removed.
    ///
    /// # Errors
    /// It is not empty, or does not say so clearly. Then nothing has been removed, unless `removal` allowed it.
    pub fn make_room(&self, removal: Removal) -> Result<(), ConformError> {
        let (keys, leases) = self.contents()?;
        match removal {
            Removal::Nothing => {}
            Removal::Leftovers => self.remove(MARK, MARK_END, &marked(&leases))?,
            Removal::Everything => self.remove(ALL, ALL, &leases)?,
        }
        let (keys, leases) = if removal == Removal::Nothing { (keys, leases) } else { self.contents()? };
        if keys.is_empty() && leases.is_empty() {
            return Ok(());
        }
        let is_ours = keys.iter().all(|key| key.starts_with(MARK)) && marked(&leases).len() == leases.len();
        let way_out = match is_ours {
            true => "All of it has the names that a run of `fencepost conform` gives; --clean removes it",
            false => "A run would remove everything in it; --wipe says that it may",
        };
        let (keys, leases) = (keys.len(), leases.len());
        Err(ConformError(format!("the server is in use: it has {keys} keys and {leases} leases. {way_out}")))
    }

    /// Removes what a sequence has left, and forgets its history. What remains is the model's empty store at the server's revision.
    pub(super) fn reset(&self) -> Result<Mvcc, ConformError> {
        let (_, leases) = self.contents()?;
        self.remove(MARK, MARK_END, &marked(&leases))?;
        let reply = self.ask(&all(true))?;
        let revision = reply.revision().ok_or_else(|| unclear("range", &reply.body))?;
        // It is refused where it was done before: then nothing was written since.
        self.ask(&EtcdCall::Compact(revision))?;
        let (keys, leases) = self.contents()?;
        if keys.is_empty() && leases.is_empty() {
            return Ok(Mvcc::empty_at(self.version, revision));
        }
        Err(ConformError("another program writes to the server at the same time".to_owned()))
    }

    fn remove(&self, key: &str, end: &str, leases: &[i64]) -> Result<(), ConformError> {
        for lease in leases {
            self.ask(&EtcdCall::Revoke(*lease))?;
        }
        let delete = DeleteRange { key: key.to_owned(), end: end.to_owned(), previous: false };
        self.ask(&EtcdCall::Delete(delete)).map(drop)
    }

    /// The keys, and the leases.
    fn contents(&self) -> Result<(Vec<String>, Vec<i64>), ConformError> {
        let reply = self.ask(&all(false))?;
        let is_clear = reply.status == 200 && reply.body["header"]["revision"].is_string();
        let count = reply.body["count"].as_str().unwrap_or("0");
        let entries = reply.body["kvs"].as_array().map_or(&[][..], Vec::as_slice);
        if !is_clear || count != entries.len().to_string() {
            return Err(unclear("range", &reply.body));
        }
        let name = |entry: &Value| text(entry["key"].as_str().unwrap_or_default());
        let keys = entries.iter().map(name).collect();
        let reply = self.ask(&EtcdCall::Leases)?;
        if reply.status != 200 || !reply.body["header"]["revision"].is_string() {
            return Err(unclear("leases", &reply.body));
        }
        let leases = reply.body["leases"].as_array().map_or(&[][..], Vec::as_slice).iter();
        let ids = leases.map(|lease| lease["ID"].as_str().and_then(|id| id.parse().ok()));
        let ids: Option<Vec<i64>> = ids.collect();
        Ok((keys, ids.ok_or_else(|| unclear("leases", &reply.body))?))
    }
}

fn all(count_only: bool) -> EtcdCall {
    EtcdCall::Range(RangeRead {
        key: ALL.to_owned(),
        end: ALL.to_owned(),
        keys_only: true,
        count_only,
        ..RangeRead::default()
    })
}

fn marked(leases: &[i64]) -> Vec<i64> {
    leases.iter().copied().filter(|lease| LEASES.contains(lease)).collect()
}

fn unclear(call: &str, seen: &Value) -> ConformError {
    let seen: String = seen.to_string().chars().take(120).collect();
    ConformError(format!("{call} does not say clearly what is in the server: {seen}. Nothing was removed"))
}
