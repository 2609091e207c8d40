//! A request, from its URL to its answer.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fencepost_conform::HttpRequest;
use fencepost_model::ids::{Index, RawId};
use serde_json::{Value, json};

use super::draft::{Draft, parsed};
use super::object::KeptLease;
use super::patch::{LeasePatch, PatchKind};
use super::status::{Refusal, deleted};
use super::store::NO_VERSION;
use super::target::{LeaseKey, Target};
use super::{GROUP, LeaseBackend, about};
use crate::endpoints::parameter;
use crate::faults::ServerEvent;
use crate::judge::LeaseChange;
use crate::stand_in::{Answer, Journey, StandIn};

/// What comes of a request: its answer, or why it is refused.
type Served = Result<Answer, Refusal>;

/// A lease before and after a request.
struct Changed {
    key: LeaseKey,
    before: Option<KeptLease>,
    after: Option<KeptLease>,
}

impl StandIn<LeaseBackend> {
    pub(super) fn carry_out(&mut self, journey: Journey) {
        let served = catch_unwind(AssertUnwindSafe(|| self.serve(&journey)));
        let answer = match served {
            Ok(Ok(answer)) => answer,
            Ok(Err(refusal)) => refusal.answer(),
            Err(_) => {
                self.notice("an internal error: a request made the model panic. Please report it; answers may be wrong from here on");
                Refusal::new(500, "internal error of the stand-in").answer()
            }
        };
        self.finish(journey, answer);
    }

    /// An event happens to the lease that a request is about, if there is one.
    pub(super) fn happen(&mut self, event: ServerEvent, journey: &Journey) {
        let Target::Lease(key) = Target::of(&journey.question.url) else { return };
        let operator = Journey { client: "an operator".to_owned(), ..journey.clone() };
        let done = match event {
            ServerEvent::LeaseDeleted => self.delete(&key, &operator, Draft::default()).map(drop),
            ServerEvent::LeaseLabelled => {
                let label = json!({"metadata": {"labels": {"fencepost/labelled": self.drawn().to_string()}}});
                self.change(&key, &operator, Draft::default(), |object| merge(object, label)).map(drop)
            }
            // Plans for leases do not have them.
            _ => Ok(()),
        };
        // There may be no lease that it could happen to.
        drop(done);
    }

    fn serve(&mut self, journey: &Journey) -> Served {
        let HttpRequest { method, url, body } = &journey.question;
        for what in ["watch", "labelSelector", "fieldSelector", "dryRun"] {
            if parameter(url, what).is_some_and(|value| !matches!(value.as_str(), "" | "false" | "0")) {
                return Err(Refusal::beyond(&format!("?{what}=")));
            }
        }
        match (method.as_str(), Target::of(url)) {
            ("GET", Target::About(path)) => {
                about::about(&path).ok_or_else(|| Refusal::new(404, "the server could not find the requested resource"))
            }
            ("GET", Target::Leases(namespace)) => self.list(namespace.as_deref(), journey),
            ("POST", Target::Leases(Some(namespace))) => {
                is_json(journey)?;
                self.create(namespace, journey, Draft::read(body)?)
            }
            ("DELETE", Target::Leases(_)) => Err(Refusal::beyond("deleting a list of leases")),
            ("GET", Target::Lease(key)) => {
                let (kept, version) = self.found(&key, journey)?;
                Ok(Answer::json(&kept.shown(&key, version.raw())))
            }
            ("PUT", Target::Lease(key)) => {
                is_json(journey)?;
                self.update(&key, journey, Draft::read(body)?)
            }
            ("PATCH", Target::Lease(key)) => {
                self.patch(&key, journey, LeasePatch::read(url, journey.content_type.as_deref(), body)?)
            }
            ("DELETE", Target::Lease(key)) => {
                let options = if body.is_empty() { Value::Null } else { parsed(body)? };
                self.delete(&key, journey, Draft::preconditions(&options))
            }
            (_, Target::About(_)) => Err(Refusal::new(404, "the server could not find the requested resource")),
            (_, Target::Leases(_) | Target::Lease(_)) => {
                Err(Refusal::new(405, "the server does not allow this method on the requested resource"))
            }
        }
    }

    fn found(&mut self, key: &LeaseKey, journey: &Journey) -> Result<(KeptLease, Index), Refusal> {
        self.backend.store.find(key, &journey.client)?.ok_or_else(|| Refusal::not_found(&key.name))
    }

    fn list(&mut self, namespace: Option<&str>, journey: &Journey) -> Served {
        let leases = self.backend.store.list(namespace, &journey.client)?;
        let shown = |(key, kept, version): (LeaseKey, KeptLease, Index)| {
            let mut item = kept.shown(&key, version.raw());
            // Items of a list have neither.
            item.as_object_mut()
                .into_iter()
                .for_each(|item| item.retain(|field, _| field != "kind" && field != "apiVersion"));
            item
        };
        let items: Vec<Value> = leases.into_iter().map(shown).collect();
        let version = self.backend.store.version().raw().to_string();
        Ok(Answer::json(&json!({
            "kind": "LeaseList", "apiVersion": format!("{GROUP}/v1"), "metadata": {"resourceVersion": version}, "items": items,
        })))
    }

    /// OL-S-3: POST creates if absent.
    fn create(&mut self, namespace: String, journey: &Journey, mut draft: Draft) -> Served {
        if draft.version.is_some() {
            return Err(Refusal::new(500, "resourceVersion should not be set on objects to be created"));
        }
        let generated = draft.generate_name.take().map(|begin| format!("{begin}{}", self.suffix()));
        let Some(name) = draft.name.take().or(generated) else {
            let why = "Required value: name or generateName is required".to_owned();
            return Err(Refusal::invalid("Lease", "", &[("metadata.name", why)]));
        };
        let key = LeaseKey { namespace, name };
        draft.is_of(&key)?;
        let kept = KeptLease::created(draft.clone(), self.id(), self.now);
        let version = self.backend.store.create(&key, &journey.client, draft, kept.clone())?;
        Ok(self.written(journey, Changed { key, before: None, after: Some(kept) }, version))
    }

    /// OL-S-3, OL-S-4: PUT carries the version, and the uid of the object that it was read from.
    fn update(&mut self, key: &LeaseKey, journey: &Journey, draft: Draft) -> Served {
        draft.is_of(key)?;
        let present = self.backend.store.find(key, &journey.client)?;
        let is_this = |(kept, _): &(KeptLease, Index)| draft.uid.as_ref().is_none_or(|uid| *uid == kept.uid);
        if draft.version.is_none() && present.as_ref().is_some_and(is_this) {
            let why = "Invalid value: 0: must be specified for an update".to_owned();
            return Err(Refusal::invalid("leases", &key.name, &[("metadata.resourceVersion", why)]));
        }
        self.change(key, journey, draft.clone(), |_| Ok(draft))
    }

    /// OL-K-22, OL-K-23: a patch names a version only if it wants to.
    fn patch(&mut self, key: &LeaseKey, journey: &Journey, patch: LeasePatch) -> Served {
        let conditions =
            Draft { uid: patch.metadata("uid"), version: patch.metadata("resourceVersion"), ..Draft::default() };
        if patch.kind != PatchKind::Apply {
            self.found(key, journey)?;
        }
        self.change(key, journey, conditions, |object| Draft::of(patch.applied(object)))
    }

    /// Writes what is made of the object that there is, under the conditions of a draft.
    fn change(
        &mut self,
        key: &LeaseKey,
        journey: &Journey,
        conditions: Draft,
        make: impl FnOnce(Value) -> Result<Draft, Refusal>,
    ) -> Served {
        let found = self.backend.store.find(key, &journey.client)?;
        let object = found.as_ref().map_or_else(|| json!({}), |(kept, version)| kept.shown(key, version.raw()));
        let draft = make(object)?;
        draft.is_of(key)?;
        let before = found.as_ref().map(|(kept, _)| kept.clone());
        let version = self.condition(conditions, before.as_ref())?;
        let after = match &before {
            Some(before) => before.updated(draft.clone()),
            None => KeptLease::created(draft.clone(), self.id(), self.now),
        };
        if let Some((kept, present)) = &found
            && *kept == after
            && version.is_none_or(|version| version == *present)
        {
            // What changes nothing is not written, and has no new version.
            return Ok(Answer::json(&after.shown(key, present.raw())));
        }
        let version = self.backend.store.put(key, &journey.client, &draft, after.clone(), version)?;
        Ok(self.written(journey, Changed { key: key.clone(), before, after: Some(after) }, version))
    }

    fn delete(&mut self, key: &LeaseKey, journey: &Journey, conditions: Draft) -> Served {
        let (kept, _) = self.found(key, journey)?;
        let uid = kept.uid.clone();
        let version = self.condition(conditions, Some(&kept))?;
        if !self.backend.store.delete(key, &journey.client, version)? {
            let why =
                "Precondition failed: it is another object, or another version of it, than the preconditions name";
            return Err(Refusal::conflict(&key.name, why));
        }
        self.tell(journey, &Changed { key: key.clone(), before: Some(kept), after: None });
        Ok(deleted(key, &uid))
    }

    /// The version that a request names. OL-S-4: another uid is a version that no record has.
    fn condition(&self, conditions: Draft, present: Option<&KeptLease>) -> Result<Option<Index>, Refusal> {
        if conditions.uid.is_some_and(|uid| present.is_none_or(|present| present.uid != uid)) {
            return Ok(Some(NO_VERSION));
        }
        // A request that names no uid creates what there is not, whatever its version: store.go, Update.
        let (Some(text), Some(_)) = (conditions.version, present) else { return Ok(None) };
        let number: u64 = text.parse().map_err(|_| {
            let why = format!("Invalid value: {text:?}: it is no number");
            Refusal::invalid("leases", "", &[("metadata.resourceVersion", why)])
        })?;
        Ok(Some(u32::try_from(number).map_or(NO_VERSION, Index::numbered)))
    }

    fn written(&mut self, journey: &Journey, changed: Changed, version: Index) -> Answer {
        self.tell(journey, &changed);
        let status = if changed.before.is_none() { 201 } else { 200 };
        let shown = changed.after.map_or(Value::Null, |after| after.shown(&changed.key, version.raw()));
        Answer { status, ..Answer::json(&shown) }
    }

    fn tell(&mut self, journey: &Journey, Changed { key, before, after }: &Changed) {
        let is_of_spec = before.as_ref().map(|kept| &kept.spec) != after.as_ref().map(|kept| &kept.spec);
        let (before, after) = (before.as_ref().map(KeptLease::terms), after.as_ref().map(KeptLease::terms));
        let lease = key.to_string();
        self.judge.changed(self.now, journey, LeaseChange { lease: &lease, before, after, is_of_spec });
    }

    fn drawn(&mut self) -> u64 {
        self.backend.drawn += 1;
        self.backend.drawn
    }

    fn id(&mut self) -> String {
        let number = self.drawn();
        self.seed().uuid(number)
    }

    /// The end of a name that the server completes.
    fn suffix(&mut self) -> String {
        const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        let number = self.drawn();
        let letter = |place: u64| {
            let drawn = self.draw(&[u64::from_be_bytes(*b"the name"), number, place]);
            let place = usize::try_from(drawn % LETTERS.len() as u64).expect("a small number");
            char::from(LETTERS[place])
        };
        (0..5).map(letter).collect()
    }
}

/// What a label adds.
fn merge(object: Value, label: Value) -> Result<Draft, Refusal> {
    Draft::of(super::patch::merged(object, label))
}

/// Bodies of other kinds exist for a real server: the stand-in reads JSON.
fn is_json(journey: &Journey) -> Result<(), Refusal> {
    let kind = journey.content_type.as_deref().and_then(|kind| kind.split(';').next()).unwrap_or_default();
    match kind.trim().to_ascii_lowercase().as_str() {
        "" | "application/json" | "text/json" => Ok(()),
        other => Err(Refusal::new(
            415,
            format!(
                "the body of the request was in an unknown format ({other}) - accepted media types include: application/json"
            ),
        )),
    }
}
