//! What holds if the log has all requests that write: a lock passes on only if something ends a tenure, and a value was written by a
//! request.

use std::collections::{BTreeMap, BTreeSet};

use super::Case;
use super::evidence::{Kind, Life, Seen, Write};
use super::sessions::ttl;
use super::spans::{Span, Spans};

const HELD: (&str, &str) = ("C-KV-10", "a key that is held is acquired by no other session");
const UNWRITTEN: (&str, &str) = ("C-KV-8", "a value is what a request wrote");

/// A session certainly held a key at some instant.
#[derive(Clone, Debug)]
struct Hold {
    at: usize,
    span: Span,
    session: String,
}

impl Case<'_> {
    pub(super) fn holders(&mut self) {
        let (seen, writes) = (std::mem::take(&mut self.evidence.seen), std::mem::take(&mut self.evidence.writes));
        let trees: Vec<(String, Span)> = self.evidence.trees.clone();
        let ends_any = Spans::of(self.evidence.ends_any.iter().copied());
        let (no_reads, no_writes) = (Vec::new(), Vec::new());
        let keys: BTreeSet<&String> = seen.keys().chain(writes.keys()).collect();
        for key in keys {
            let (shown, written) = (seen.get(key).unwrap_or(&no_reads), writes.get(key).unwrap_or(&no_writes));
            let covering: Vec<Span> =
                trees.iter().filter(|(prefix, _)| key.starts_with(prefix.as_str())).map(|(_, span)| *span).collect();
            self.passes_on(key, shown, written, &covering, &ends_any);
            self.values_are_written(key, shown, written, &covering);
        }
        (self.evidence.seen, self.evidence.writes) = (seen, writes);
    }

    /// C-KV-10.
    fn passes_on(&mut self, key: &str, shown: &[Seen], written: &[Write], covering: &[Span], ends_any: &Spans) {
        let acquires: Vec<Hold> = written
            .iter()
            .filter(|write| write.is_done == Some(true))
            .filter_map(|write| match &write.kind {
                Kind::Acquire(session) => Some(Hold { at: write.at, span: write.span, session: session.clone() }),
                _ => None,
            })
            .collect();
        if acquires.is_empty() {
            return;
        }
        let reads = shown.iter().filter(|seen| seen.is_fresh).filter_map(|seen| {
            let session = seen.content.as_ref()?.session.clone()?;
            Some(Hold { at: seen.at, span: seen.span, session })
        });
        let mut holds: Vec<Hold> = acquires.iter().cloned().chain(reads).collect();
        holds.sort_by_key(|hold| hold.span.received);
        // By when it was known: the hold that was looked at last.
        for at in 1..holds.len() {
            if holds[at].span.sent < holds[at - 1].span.sent {
                let span = holds[at].span;
                let last = holds[at - 1].clone();
                holds[at] = Hold { span: Span { sent: last.span.sent, received: span.received }, ..last };
            }
        }
        let frees = |write: &&Write| {
            !matches!(write.kind, Kind::Put | Kind::Cas(_) | Kind::Acquire(_)) && write.is_done != Some(false)
        };
        let frees = Spans::of(written.iter().filter(frees).map(|write| write.span).chain(covering.iter().copied()));
        for acquire in acquires {
            let place = holds.partition_point(|hold| hold.span.received < acquire.span.sent);
            let Some(hold) = place.checked_sub(1).map(|last| holds[last].clone()) else { continue };
            self.compare(acquire.at);
            if hold.session == acquire.session || frees.may_lie(hold.span.sent, acquire.span.received) {
                continue;
            }
            let life = self.evidence.lives.get(&hold.session.to_ascii_lowercase()).cloned().unwrap_or_default();
            if !may_have_ended(&life, &hold, acquire.span, ends_any) {
                let why = format!(
                    "{key:?} was held by session {} in line {}, and nothing has ended that",
                    hold.session,
                    self.number(hold.at)
                );
                self.object(acquire.at, HELD, why);
            }
        }
    }

    /// C-KV-8: a value that was not there before was written by a request since.
    fn values_are_written(&mut self, key: &str, shown: &[Seen], written: &[Write], covering: &[Span]) {
        let mut of_value: BTreeMap<&[u8], Vec<Span>> = BTreeMap::new();
        let mut unknown: Vec<Span> = covering.to_vec();
        for write in written.iter().filter(|write| write.is_done != Some(false)) {
            match &write.value {
                Some(value) => of_value.entry(value).or_default().push(write.span),
                None => unknown.push(write.span),
            }
        }
        let of_value: BTreeMap<&[u8], Spans> =
            of_value.into_iter().map(|(value, spans)| (value, Spans::of(spans))).collect();
        let unknown = Spans::of(unknown);
        let value_of = |seen: &Seen| seen.content.as_ref().and_then(|content| content.value.clone());
        let mut known: Vec<(&Seen, Vec<u8>)> = shown.iter().filter_map(|seen| Some((seen, value_of(seen)?))).collect();
        known.sort_by_key(|(seen, _)| seen.span.received);
        // C-CON-2, C-CON-4: what an old read shows may have been overwritten long before.
        let fresh: Vec<&(&Seen, Vec<u8>)> = known.iter().filter(|(seen, _)| seen.is_fresh).collect();
        let mut highest: Vec<usize> = (0..fresh.len()).collect();
        for at in 1..fresh.len() {
            if fresh[highest[at - 1]].0.modify > fresh[at].0.modify {
                highest[at] = highest[at - 1];
            }
        }
        for (seen, value) in &known {
            let place = fresh.partition_point(|(other, _)| other.span.received < seen.span.sent);
            let Some(before) = place.checked_sub(1).map(|last| fresh[highest[last]]) else { continue };
            if before.0.modify >= seen.modify || before.1 == *value {
                continue;
            }
            self.compare(seen.at);
            let (from, to) = (before.0.span.sent, seen.span.received);
            let is_written = of_value.get(value.as_slice()).is_some_and(|spans| spans.may_lie(from, to));
            if !is_written && !unknown.may_lie(from, to) {
                let why = format!("no request since line {} wrote this value of {key:?}", self.number(before.0.at));
                self.object(seen.at, UNWRITTEN, why);
            }
        }
    }
}

/// Whether a session that held a key may have ended before another one acquired it.
fn may_have_ended(life: &Life, hold: &Hold, acquire: Span, ends_any: &Spans) -> bool {
    if Case::lives_at(life, acquire.received) {
        return false;
    }
    let destroyed = Spans::of(life.destroyed.iter().copied());
    let is_ended = |spans: &Spans| spans.may_lie(hold.span.sent, acquire.received);
    if is_ended(&destroyed) || is_ended(ends_any) {
        return true;
    }
    // A session of unknown terms may have any TTL.
    let [(created, Some(asked))] = &life.created[..] else { return true };
    ttl(asked).is_some_and(|ttl| created.span.sent.saturating_add(ttl.saturating_mul(2)) <= acquire.received)
}
