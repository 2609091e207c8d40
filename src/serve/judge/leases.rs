//! Who held which lease, as the record says, and who was told so: a client certainly holds a lease from the answer to a write that gave
//! or renewed it until one lease after that write was sent. Two clients that certainly hold one lease at once break `lease-exclusion`.

use std::collections::BTreeMap;

use fencepost_conform::{HttpRequest, SECOND};
use serde_json::Value;

use super::lease_run::{LeaseRun, LeaseTakeover, LeaseTenure};
use super::{Misuse, Violated};
use crate::clock::seconds;
use crate::leases::Target;
use crate::stand_in::{Answer, Journey, NAMELESS, Ticket, Witness};

/// What a request has made of a lease.
#[derive(Copy, Clone, Debug)]
pub(crate) struct LeaseChange<'a> {
    /// The namespace and the name.
    pub(crate) lease: &'a str,
    /// What the record said before; none: there was none.
    pub(crate) before: Option<LeaseTerms<'a>>,
    /// What it says now; none: it is deleted.
    pub(crate) after: Option<LeaseTerms<'a>>,
    /// Whether anything changed that contenders compare (OL-S-8).
    pub(crate) is_of_spec: bool,
}

/// What a record says of who holds the lease, and for how long.
#[derive(Copy, Clone, Debug)]
pub(crate) struct LeaseTerms<'a> {
    /// The holder's identity; none: the lease is free.
    pub(crate) holder: Option<&'a str>,
    /// The duration in nanoseconds, if the record has one.
    pub(crate) duration: Option<i64>,
}

/// What is seen of clients that elect a leader.
#[derive(Clone, Debug, Default)]
pub struct LeaseWitness {
    run: LeaseRun,
    leases: BTreeMap<String, Standing>,
    /// Writes that gave or renewed a lease, and whose answers have not arrived.
    unheard: BTreeMap<Ticket, (String, Grant)>,
}

/// How a lease stands.
#[derive(Clone, Debug, Default)]
struct Standing {
    /// The tenure that lasts, by its place.
    tenure: Option<usize>,
    /// Since when the record has stood unchanged.
    since: i64,
    /// Grants that their clients know of.
    grants: Vec<Grant>,
}

/// A lease, as its client counts it.
#[derive(Clone, Debug)]
struct Grant {
    client: String,
    holder: String,
    until: i64,
    tenure: usize,
}

impl Grant {
    /// Clients that do not say their names are told apart by their identities only.
    fn is_of_other(&self, other: &Grant) -> bool {
        let are_named = self.client != NAMELESS && other.client != NAMELESS;
        self.holder != other.holder || are_named && self.client != other.client
    }

    fn owner(&self) -> String {
        match self.client == NAMELESS || self.client == self.holder {
            true => self.holder.clone(),
            false => format!("{} (as {})", self.client, self.holder),
        }
    }
}

impl LeaseWitness {
    /// A request has changed a lease. What it did, as stories tell it.
    pub(super) fn changed(&mut self, now: i64, journey: &Journey, change: LeaseChange<'_>) -> Option<String> {
        let LeaseChange { lease, before, after, is_of_spec } = change;
        if !is_of_spec {
            return None;
        }
        let standing = self.leases.entry(lease.to_owned()).or_default();
        let unchanged_for = now.saturating_sub(standing.since);
        standing.since = now;
        let was = before.and_then(|before| before.holder);
        let is = after.and_then(|after| after.holder);
        let mut told = None;
        if was != is {
            let end = match (after, is) {
                (None, _) => "deleted",
                (Some(_), None) => "released",
                (Some(_), Some(_)) => "taken over",
            };
            if let Some(tenure) = standing.tenure.take() {
                self.run.tenures[tenure].end = Some((now, end));
            }
            // OL-K-12: who releases a lease believes in it no more; another holder's belief stays (OL-3).
            let is_released = |grant: &Grant| match journey.client == NAMELESS {
                true => was == Some(&grant.holder),
                false => grant.client == journey.client,
            };
            if end == "released" {
                standing.grants.retain(|grant| !is_released(grant));
            }
            told = was.map(|was| format!("{lease}: the lease of {was} is {end}"));
        }
        let (Some(holder), Some(after)) = (is, after) else { return told };
        if was != is {
            if let Some(from) = was {
                let (from, to, at) = (from.to_owned(), holder.to_owned(), now);
                let duration = before.and_then(|before| before.duration);
                told = Some(format!(
                    "{lease}: {to} takes the lease over from {from}; its record has stood unchanged for {} s",
                    seconds(unchanged_for)
                ));
                let lease = lease.to_owned();
                self.run.takeovers.push(LeaseTakeover { lease, from, to, at, unchanged_for, duration });
            }
            standing.tenure = Some(self.run.tenures.len());
            self.run.tenures.push(LeaseTenure {
                lease: lease.to_owned(),
                holder: holder.to_owned(),
                client: journey.client.clone(),
                from: now,
                certain_until: None,
                renewals: 0,
                end: None,
            });
        } else if let Some(tenure) = standing.tenure {
            self.run.tenures[tenure].renewals += 1;
        }
        if let (Some(duration), Some(tenure)) = (after.duration, standing.tenure) {
            let until = journey.sent.saturating_add(duration);
            let grant = Grant { client: journey.client.clone(), holder: holder.to_owned(), until, tenure };
            self.unheard.insert(journey.ticket, (lease.to_owned(), grant));
        }
        told
    }
}

impl Witness for LeaseWitness {
    /// With the holder that its body names.
    fn request(&self, question: &HttpRequest) -> String {
        let mut text = format!("{} {}", question.method, question.url);
        let body: Value = serde_json::from_slice(&question.body).unwrap_or_default();
        if let Some(holder) = body["spec"]["holderIdentity"].as_str() {
            text += &format!(" holder {holder:?}");
        }
        if let Some(version) = body["metadata"]["resourceVersion"].as_str().filter(|version| !version.is_empty()) {
            text += &format!(" at {version}");
        }
        text
    }

    fn told(&self, answer: &Answer) -> String {
        let body = answer.value();
        match (body["reason"].as_str(), body["metadata"]["resourceVersion"].as_str()) {
            (Some(reason), _) => format!("{} {reason}", answer.status),
            (None, Some(version)) => format!("{}, version {version}", answer.status),
            (None, None) => answer.status.to_string(),
        }
    }

    fn acquired_key(question: &HttpRequest) -> Option<String> {
        match Target::of(&question.url) {
            Target::Lease(key) if question.method != "GET" => Some(key.to_string()),
            _ => None,
        }
    }

    fn answered(&mut self, _: i64, _: &Journey, _: &Answer, _: &mut Vec<Misuse>) {}

    fn delivered(&mut self, at: i64, journey: &Journey) -> Vec<(String, Violated)> {
        let Some((lease, grant)) = self.unheard.remove(&journey.ticket) else { return Vec::new() };
        let tenure = &mut self.run.tenures[grant.tenure];
        // A late renewal extends the lease of a successor, which does not hear of it (OL-19).
        if tenure.client == grant.client {
            tenure.certain_until = tenure.certain_until.max(Some(grant.until));
        }
        let standing = self.leases.entry(lease.clone()).or_default();
        standing.grants.retain(|known| known.until > at && known.is_of_other(&grant));
        if grant.until <= at {
            return Vec::new();
        }
        let told = |other: &Grant| {
            let [one, two] = [other, &grant].map(|grant| format!("{} until {} s", grant.owner(), seconds(grant.until)));
            let sentence = format!("two clients have been told that they hold the lease: {one}, {two}");
            (lease.clone(), ("lease-exclusion", sentence))
        };
        let broken = standing.grants.iter().map(told).collect();
        standing.grants.push(grant);
        broken
    }

    fn has_lost(&self, _: &str, _: &str) -> bool {
        false
    }

    fn leases(&self) -> Option<LeaseRun> {
        Some(self.run.clone())
    }
}

/// A duration of whole seconds in nanoseconds.
pub(crate) fn whole_seconds(count: i64) -> i64 {
    count.saturating_mul(SECOND)
}
