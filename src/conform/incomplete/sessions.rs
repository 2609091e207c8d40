//! Lives of sessions: an id is given once, what has ended does not live, what was asked for is shown, and timers take their time.

use serde_json::Value;

use super::super::consul::{nanoseconds, part};
use super::super::log::EventKind;
use super::Case;
use super::evidence::{Life, Sign};
use super::spans::{Span, Spans};

type Rule = (&'static str, &'static str);

const FRESH: Rule = ("C-SES-2", "the id of a session is always a fresh one");
const ENDED: Rule = ("C-INV-1", "a session that has ended is gone");
const SHOWN: Rule = ("C-SES-14", "what is shown of a session never changes");
const TIMER: Rule = ("C-TTL-2", "a timer is twice the TTL, and starts anew with each renewal");

impl Case<'_> {
    pub(super) fn sessions(&mut self) {
        let lives = std::mem::take(&mut self.evidence.lives);
        for (id, life) in &lives {
            self.created_once(id, life);
            self.ends_once(id, life);
            self.looks_the_same(id, life);
            if !self.episode.gaps.others_write {
                self.keeps_its_time(id, life);
            }
        }
        self.evidence.lives = lives;
    }

    fn created_once(&mut self, id: &str, life: &Life) {
        let Some((first, _)) = life.created.iter().min_by_key(|(sign, _)| sign.span) else { return };
        for (other, _) in life.created.iter().filter(|(sign, _)| sign.at != first.at) {
            let why = format!("{id} was created in line {} already", self.number(first.at));
            self.object(other.at, FRESH, why);
        }
        for sign in life.alive.iter().filter(|sign| sign.at != first.at) {
            self.compare(sign.at);
            if sign.span.is_before(first.span) {
                let why = format!("{id} was created later, in line {}", self.number(first.at));
                self.object(sign.at, FRESH, why);
            }
        }
    }

    /// What has ended is not alive later.
    fn ends_once(&mut self, id: &str, life: &Life) {
        let created = life.created.iter().map(|(sign, _)| sign.span.received).max().unwrap_or(i64::MIN);
        let ends = life.dead.iter().filter(|sign| sign.span.sent >= created);
        let Some(end) = ends.min_by_key(|sign| sign.span.received) else { return };
        for sign in &life.alive {
            self.compare(sign.at);
            if end.span.is_before(sign.span) {
                let why = format!("session {id} had ended by line {}", self.number(end.at));
                self.object(sign.at, ENDED, why);
            }
        }
    }

    fn looks_the_same(&mut self, id: &str, life: &Life) {
        let Some((first, shown)) = life.shown.first() else { return };
        for (sign, other) in &life.shown[1..] {
            self.compare(sign.at);
            if other != shown {
                let (last, line) = if first.at > sign.at { (first, sign) } else { (sign, first) };
                let why = format!("session {id} is another one than in line {}", self.number(line.at));
                self.object(last.at, SHOWN, why);
            }
        }
    }

    /// C-TTL-2, C-TTL-3: of a session whose creation is in the log. Only requests in the log renew or destroy it.
    fn keeps_its_time(&mut self, id: &str, life: &Life) {
        let [(created, Some(asked))] = &life.created[..] else { return };
        let Some(ttl) = ttl(asked) else { return };
        let twice = ttl.saturating_mul(2);
        let restarts = self.events(|kind| matches!(kind, EventKind::Restart | EventKind::Failover));
        let restarts: Vec<Span> = restarts.map(|event| Span { sent: event.sent, received: event.received }).collect();
        let mut starts: Vec<Span> = life.renewed.iter().map(|sign| sign.span).chain([created.span]).collect();
        starts.extend(restarts.iter().copied());
        starts.sort_unstable();
        // It may be alive until twice the TTL after the last that may have started its timer.
        if let Some(lateness) = self.episode.lateness {
            for sign in &life.alive {
                let last = starts.iter().filter(|start| start.sent <= sign.span.received && **start != sign.span);
                let last =
                    last.map(|start| start.received.min(sign.span.received)).max().unwrap_or(created.span.received);
                self.compare(sign.at);
                let end = last.saturating_add(twice).saturating_add(lateness);
                if sign.span.sent > end && sign.at != created.at {
                    let late = (sign.span.sent - end) / 1_000_000;
                    let why = format!("session {id} should have ended {late} ms before");
                    self.object(sign.at, TIMER, why);
                }
            }
        }
        let may_end = Spans::of(self.evidence.ends_any.iter().copied().chain(life.destroyed.iter().copied()));
        let has_checks = !part(asked, "NodeChecks").is_some_and(|checks| *checks == Value::Array(Vec::new()))
            || part(asked, "ServiceChecks").is_some()
            || part(asked, "Checks").is_some();
        for sign in life.dead.iter().filter(|sign| created.span.is_before(sign.span)) {
            if has_checks || may_end.may_lie(created.span.sent, sign.span.received) {
                continue;
            }
            self.compare(sign.at);
            if !starts.iter().any(|start| may_fire(*start, &starts, twice, sign.span.received)) {
                let why = format!("session {id} has ended before its timer can have fired, and no request ended it");
                self.object(sign.at, TIMER, why);
            }
        }
    }

    /// Whether a session is certainly alive at an instant or later.
    pub(super) fn lives_at(life: &Life, instant: i64) -> bool {
        life.alive.iter().any(|Sign { span, .. }| span.sent >= instant)
    }
}

/// Whether a timer that was started then may have fired by an instant: no later start has certainly come in between.
fn may_fire(start: Span, starts: &[Span], twice: i64, by: i64) -> bool {
    let fires = start.sent.saturating_add(twice);
    let stops = |other: &&Span| start.is_before(**other) && other.received < fires;
    fires <= by && !starts.iter().any(|other| stops(&other))
}

/// The TTL that was asked for, in nanoseconds; none: there is none, or it cannot be read.
pub(super) fn ttl(asked: &Value) -> Option<i64> {
    part(asked, "TTL").and_then(Value::as_str).and_then(|ttl| nanoseconds(ttl).ok()).filter(|ttl| *ttl > 0)
}
