//! The model decides whether a request is accepted: a store of the service `observed-lease` for each lease, whose record is the lease.
//!
//! The model has less than HTTP, and each difference is mapped in one place:
//!
//! | HTTP | the model |
//! |---|---|
//! | several leases, one counter of versions (OL-S-1) | a store for each lease; before each request it is told how far the counter is |
//! | the identity of a holder | a name: the same text is the same name |
//! | the uid as a precondition (OL-S-4) | another uid is a version that no record has |
//! | no duration | a duration of one second: the store does not count it (OL-S-7) |
//! | a negative number of transitions | a duration of 0, which is the one way for a record to be invalid (OL-S-5) |
//! | labels, annotations, times and other fields | kept beside the record, and changed when the store has said that the write is applied |

use std::collections::BTreeMap;
use std::sync::Arc;

use fencepost_model::ids::{Call, ClientId, Index, ProcessId, SessionId};
use fencepost_model::process::{Context, Input, Message, Outbox, Process};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Instant, Ticks};
use fencepost_observed_lease::{Entry, Name, ObservedLease, ObservedLeaseMessage, Request, Response, Store};

use super::draft::Draft;
use super::object::KeptLease;
use super::status::Refusal;
use super::target::LeaseKey;

/// Every lease.
#[derive(Clone, Debug)]
pub(super) struct LeaseStore {
    scenario: Arc<Scenario<ObservedLease>>,
    leases: BTreeMap<LeaseKey, Record>,
    /// The counter of changes of the whole server (OL-S-1).
    version: Index,
    /// Identities of holders, each with its number.
    identities: BTreeMap<String, u16>,
    /// Clients, each with its place.
    clients: BTreeMap<String, usize>,
}

/// A lease that there is.
#[derive(Clone, Debug)]
struct Record {
    store: Store,
    kept: KeptLease,
}

/// A version that no record ever has.
pub(super) const NO_VERSION: Index = Index::NONE;

/// More identities, or clients, than the model has names for.
const NAMES_MAX: usize = 65_000;

impl LeaseStore {
    pub(super) fn new() -> Self {
        LeaseStore {
            scenario: Arc::new(Scenario::new("leases")),
            leases: BTreeMap::new(),
            // A server has written objects of its own before the first lease.
            version: Index::numbered(1),
            identities: BTreeMap::new(),
            clients: BTreeMap::new(),
        }
    }

    /// The counter of changes.
    pub(super) fn version(&self) -> Index {
        self.version
    }

    /// A lease and its version (OL-S-2).
    pub(super) fn find(&mut self, key: &LeaseKey, client: &str) -> Result<Option<(KeptLease, Index)>, Refusal> {
        match self.ask(key, client, Request::Get)? {
            (Response::Found(Some(shown)), _) => {
                Ok(self.leases.get(key).map(|record| (record.kept.clone(), shown.version)))
            }
            (Response::Found(None), _) => Ok(None),
            (other, _) => unreachable!("a read is answered with a record, and not with {other:?}"),
        }
    }

    /// The leases of a namespace, or all, with their versions.
    pub(super) fn list(
        &mut self,
        namespace: Option<&str>,
        client: &str,
    ) -> Result<Vec<(LeaseKey, KeptLease, Index)>, Refusal> {
        let is_listed = |key: &&LeaseKey| namespace.is_none_or(|namespace| key.namespace == namespace);
        let keys: Vec<LeaseKey> = self.leases.keys().filter(is_listed).cloned().collect();
        let mut listed = Vec::new();
        for key in keys {
            if let Some((kept, version)) = self.find(&key, client)? {
                listed.push((key, kept, version));
            }
        }
        Ok(listed)
    }

    /// OL-S-3: creates a lease, if there is none; the version that it has now.
    pub(super) fn create(
        &mut self,
        key: &LeaseKey,
        client: &str,
        draft: Draft,
        kept: KeptLease,
    ) -> Result<Index, Refusal> {
        let entry = self.entry(&draft)?;
        match self.ask(key, client, Request::Create(entry))? {
            (Response::Conflict, _) => Err(Refusal::already_exists(&key.name)),
            answer => self.written(key, &draft, kept, answer),
        }
    }

    /// OL-S-3, OL-S-4: replaces a lease, if it has that version; without a version in any case, also if there is none.
    pub(super) fn put(
        &mut self,
        key: &LeaseKey,
        client: &str,
        draft: &Draft,
        kept: KeptLease,
        version: Option<Index>,
    ) -> Result<Index, Refusal> {
        let entry = self.entry(draft)?;
        match self.ask(key, client, Request::Put(entry, version))? {
            (Response::Conflict, _) => {
                let why = "the object has been modified; please apply your changes to the latest version and try again";
                Err(Refusal::conflict(&key.name, why))
            }
            answer => self.written(key, draft, kept, answer),
        }
    }

    /// Deletes a lease, if it has that version; without a version in any case (OL-S-7). Whether it did.
    pub(super) fn delete(&mut self, key: &LeaseKey, client: &str, version: Option<Index>) -> Result<bool, Refusal> {
        let (response, _) = self.ask(key, client, Request::Delete(version))?;
        let is_gone = response == Response::Gone;
        if is_gone {
            self.leases.remove(key);
        }
        Ok(is_gone)
    }

    /// The identity of the holder.
    pub(super) fn holder(&self, key: &str) -> Option<String> {
        let (namespace, name) = key.split_once('/')?;
        let key = LeaseKey { namespace: namespace.to_owned(), name: name.to_owned() };
        self.leases.get(&key)?.kept.terms().holder.map(str::to_owned)
    }

    fn written(
        &mut self,
        key: &LeaseKey,
        draft: &Draft,
        kept: KeptLease,
        (response, store): (Response, Store),
    ) -> Result<Index, Refusal> {
        match response {
            Response::Written(version) => {
                self.leases.insert(key.clone(), Record { store, kept });
                Ok(version)
            }
            Response::Invalid => Err(Refusal::invalid("Lease", &key.name, &draft.mistakes())),
            other => unreachable!("a write is applied or refused, and not answered with {other:?}"),
        }
    }

    /// The model's answer, and the store of the lease after it.
    fn ask(&mut self, key: &LeaseKey, client: &str, request: Request) -> Result<(Response, Store), Refusal> {
        let from = ProcessId::from(self.client(client)?);
        let mut store = self.leases.get(key).map_or_else(Store::default, |record| record.store.clone());
        store.count_on_from(self.version);
        let context = Context { scenario: &self.scenario, now: Instant::at(0), me: ProcessId::Server };
        let mut out = Outbox::new();
        let message = Message::Service(ObservedLeaseMessage::Request(Call(0), request));
        store.on(Input::Message { from, message }, &context, &mut out);
        self.version = store.version();
        match out.messages() {
            [(_, Message::Service(ObservedLeaseMessage::Response(_, response)))] => Ok((*response, store)),
            other => unreachable!("the store answers each request once, and not with {other:?}"),
        }
    }

    /// What the model knows of a lease.
    fn entry(&mut self, draft: &Draft) -> Result<Entry, Refusal> {
        let holder = draft.spec.get("holderIdentity").and_then(serde_json::Value::as_str).unwrap_or_default();
        let holder = match holder.is_empty() {
            true => None,
            false => Some(Name::Own(SessionId::numbered(ClientId::of(0), self.identity(holder)?))),
        };
        let duration = match draft.mistakes().is_empty() {
            true => Ticks::new(draft.number("leaseDurationSeconds").unwrap_or(1)),
            false => Ticks::ZERO,
        };
        Ok(Entry { holder, duration, renewed: None, transitions: 0, preferred: None })
    }

    fn identity(&mut self, text: &str) -> Result<u16, Refusal> {
        let count = self.identities.len();
        let is_known = self.identities.contains_key(text);
        if !is_known && count >= NAMES_MAX {
            return Err(Refusal::beyond("more than 65,000 identities of holders"));
        }
        let number = u16::try_from(count + 1).expect("there are fewer");
        Ok(*self.identities.entry(text.to_owned()).or_insert(number))
    }

    fn client(&mut self, name: &str) -> Result<ClientId, Refusal> {
        let count = self.clients.len();
        if !self.clients.contains_key(name) && count >= NAMES_MAX {
            return Err(Refusal::beyond("more than 65,000 clients"));
        }
        Ok(ClientId::of(*self.clients.entry(name.to_owned()).or_insert(count)))
    }
}
