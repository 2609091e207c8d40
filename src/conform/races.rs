//! Races of timers, which no answer by itself tells of: whether a live run has hit them. Its scripts try them again and again.

use serde_json::Value;

use super::consul::{nanoseconds, part};
use super::log::{Episode, LogRecord};

/// A race, and how often a run has hit it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Race {
    /// The rule that says what comes of it.
    pub rule: &'static str,
    /// What was seen where it was hit.
    pub seen: &'static str,
    /// How often it was tried.
    pub tried: usize,
    /// How often it was hit, for certain.
    pub hit: usize,
}

/// What is seen of each race, by rule.
const RACES: [(&str, &str, Sign); 3] = [
    ("C-TTL-5", "a renewal was answered well, and the session was gone all the same", renewed_in_vain),
    (
        "C-LD-9",
        "an acquire that was on its way during the destroy got the lock in spite of the lock-delay",
        slipped_past,
    ),
    ("C-LD-14", "a lock-delay was over before its time, by the timer of an earlier one", cut_short),
];

type Sign = fn(&Episode) -> bool;

/// How often each race was hit in these episodes; `tried`: how often a script played it, by rule.
pub fn races(episodes: &[Episode], tried: impl Fn(&str) -> usize) -> Vec<Race> {
    let race = |(rule, seen, is_hit): &(&'static str, &'static str, Sign)| {
        let hit = episodes.iter().filter(|episode| is_hit(episode)).count();
        Race { rule, seen, tried: tried(rule), hit }
    };
    RACES.iter().map(race).collect()
}

/// C-TTL-5.
fn renewed_in_vain(episode: &Episode) -> bool {
    let ends = |line: &LogRecord, session: &str, since: i64| {
        line.sent >= since && line.question.url == format!("/v1/session/info/{session}") && answer(line) == b"[]"
    };
    let destroyed = |session: &str, before: i64| {
        let url = format!("/v1/session/destroy/{session}");
        episode.lines.iter().any(|line| line.question.url == url && line.sent < before)
    };
    episode.lines.iter().any(|renewal| {
        let Some(session) = renewal.question.url.strip_prefix("/v1/session/renew/") else { return false };
        let Some(ttl) = asked(episode, session, "TTL").filter(|_| status(renewal) == 200) else { return false };
        episode.lines.iter().any(|line| {
            let is_early = line.received < renewal.sent.saturating_add(ttl.saturating_mul(2));
            is_early && ends(line, session, renewal.received) && !destroyed(session, line.received)
        })
    })
}

/// C-LD-9.
fn slipped_past(episode: &Episode) -> bool {
    early_acquires(episode).any(|(acquire, destroy)| acquire.sent <= destroy.received)
}

/// C-LD-14.
fn cut_short(episode: &Episode) -> bool {
    early_acquires(episode).any(|(acquire, destroy)| acquire.sent > destroy.received)
}

/// Acquires of a key that was held by a session when that was destroyed, within its lock-delay; and the destroys.
fn early_acquires(episode: &Episode) -> impl Iterator<Item = (&LogRecord, &LogRecord)> {
    let destroys = episode.lines.iter().filter_map(|destroy| {
        let session = destroy.question.url.strip_prefix("/v1/session/destroy/")?;
        let delay = asked(episode, session, "LockDelay")?;
        let held = episode.lines.iter().find_map(|line| {
            let key = acquired(line, session).filter(|_| line.received <= destroy.sent);
            key.or_else(|| locked(line, session).filter(|_| line.received <= destroy.sent))
        })?;
        Some((destroy, session, delay, held))
    });
    destroys.flat_map(move |(destroy, session, delay, held)| {
        let is_early = move |line: &&LogRecord| {
            let by_other = line.question.url.split_once("?acquire=").filter(|(_, id)| *id != session);
            by_other.is_some_and(|(path, _)| path.strip_prefix("/v1/kv/") == Some(held.as_str()))
                && answer(line) == b"true"
                && destroy.sent < line.received
                && line.received < destroy.sent.saturating_add(delay)
        };
        episode.lines.iter().filter(is_early).map(move |line| (line, destroy))
    })
}

/// The key that a request acquired for a session.
fn acquired(line: &LogRecord, session: &str) -> Option<String> {
    let (path, id) = line.question.url.split_once("?acquire=")?;
    let key = path.strip_prefix("/v1/kv/")?;
    (id == session && answer(line) == b"true").then(|| key.to_owned())
}

/// The key that a transaction acquired for a session.
fn locked(line: &LogRecord, session: &str) -> Option<String> {
    if line.question.url != "/v1/txn" || status(line) != 200 {
        return None;
    }
    let operations: Vec<Value> = serde_json::from_slice(&line.question.body).ok()?;
    let mut locks = operations.iter().filter_map(|operation| part(operation, "KV"));
    let lock = locks.find(|kv| kv["Verb"] == "lock" && kv["Session"] == session)?;
    lock["Key"].as_str().map(str::to_owned)
}

/// A duration that a session was created with, in nanoseconds.
fn asked(episode: &Episode, session: &str, name: &str) -> Option<i64> {
    let created = episode.lines.iter().find(|line| {
        line.question.url == "/v1/session/create" && String::from_utf8_lossy(answer(line)).contains(session)
    })?;
    let requested: Value = serde_json::from_slice(&created.question.body).ok()?;
    part(&requested, name).and_then(Value::as_str).and_then(|text| nanoseconds(text).ok())
}

fn answer(line: &LogRecord) -> &[u8] {
    line.reply.as_ref().map_or(&[], |reply| reply.body.trim_ascii())
}

fn status(line: &LogRecord) -> u16 {
    line.reply.as_ref().map_or(0, |reply| reply.status)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::races;
    use crate::log::read;

    const ONE: &str = "aaaaaaaa-0000-0000-0000-000000000001";
    const TWO: &str = "aaaaaaaa-0000-0000-0000-000000000002";

    fn line((sent, received): (f64, f64), url: &str, body: &str, answer: &str) -> Value {
        let method = if url.contains("/info/") { "GET" } else { "PUT" };
        json!({"method": method, "url": url, "body": body, "sent": sent, "received": received, "status": 200, "answer": answer})
    }

    fn created(session: &str, requested: &Value) -> Value {
        line((0.0, 0.1), "/v1/session/create", &requested.to_string(), &json!({"ID": session}).to_string())
    }

    fn acquire(times: (f64, f64), session: &str, answer: &str) -> Value {
        line(times, &format!("/v1/kv/lead?acquire={session}"), "", answer)
    }

    /// How often each race was hit: C-TTL-5, C-LD-9, C-LD-14.
    fn hits(lines: &[Value]) -> Vec<usize> {
        let text: Vec<String> = [&json!({"consul": "1.8.7"})].into_iter().chain(lines).map(Value::to_string).collect();
        races(&read(&text.join("\n")).expect("a log"), |_| 1).iter().map(|race| race.hit).collect()
    }

    #[test]
    fn c_ttl_5_a_renewal_that_was_in_vain_is_found() {
        let with = |renewed: f64, gone: f64, then: &[Value]| {
            let renewal = line((renewed, renewed + 0.1), &format!("/v1/session/renew/{ONE}"), "", "[]");
            let gone = line((gone, gone + 0.1), &format!("/v1/session/info/{ONE}"), "", "[]");
            hits(&[&[created(ONE, &json!({"TTL": "10s"})), renewal], then, &[gone]].concat())[0]
        };
        assert_eq!((with(20.0, 20.2, &[]), with(20.0, 41.0, &[])), (1, 0));
        let destroy = line((20.15, 20.18), &format!("/v1/session/destroy/{ONE}"), "", "true");
        assert_eq!(with(20.0, 20.2, &[destroy]), 0, "it was destroyed");
    }

    #[test]
    fn c_ld_9_and_c_ld_14_a_lock_within_the_lock_delay_is_found() {
        let with = |times: (f64, f64), answer: &str| {
            let begin = [
                created(ONE, &json!({"LockDelay": "15s"})),
                created(TWO, &json!({})),
                acquire((0.2, 0.3), ONE, "true"),
            ];
            let destroy = line((1.0, 1.2), &format!("/v1/session/destroy/{ONE}"), "", "true");
            hits(&[&begin[..], &[destroy, acquire(times, TWO, answer)]].concat())
        };
        assert_eq!(with((1.1, 1.3), "true"), [0, 1, 0]);
        assert_eq!(with((1.4, 1.5), "true"), [0, 0, 1]);
        assert_eq!(with((1.1, 1.3), "false"), [0, 0, 0]);
        assert_eq!(with((16.1, 16.3), "true"), [0, 0, 0], "the lock-delay is over");
    }
}
