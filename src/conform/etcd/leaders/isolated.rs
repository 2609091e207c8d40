//! A leader whose process is stopped, and one whose followers are.

use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use fencepost_etcd::mvcc::{EtcdCall, RangeRead, WatchRange};
use serde_json::{Value, json};

use super::{ELECTION_MS, LEASES, LOOK, LeaderRule, Stage, between, marked, put};
use crate::error::ConformError;
use crate::etcd::cluster::says;
use crate::etcd::streams::WatchStream;
use crate::etcd::wire::{EtcdReply, bytes, number};

/// A TTL that does not run out here, in seconds.
const LONG: i64 = 60;

/// When a call without a leader is answered: 5 s, and two election timeouts (E-KV-10).
const PATIENCE_MS: i64 = 5_000 + 2 * ELECTION_MS;

/// How long watches are looked at.
const WATCHED: Duration = Duration::from_millis(9 * ELECTION_MS.unsigned_abs());

/// How often a member that was paused is asked, until it does not answer.
const STOP_LOOKS: u32 = 1_000;

/// A heartbeat, and the tick of a follower, in milliseconds.
const HEARTBEAT_MS: i64 = ELECTION_MS / 10;

fn rule(rule: &'static str, seen: String, is_so: bool) -> LeaderRule {
    LeaderRule { rule, seen, is_so: Some(is_so) }
}

/// E-LD-5: the others elect one of them; E-KV-10: what waited at the old leader is answered with what was written meanwhile, or not at all.
pub(super) fn stopped(stage: &Stage<'_>) -> Result<Vec<LeaderRule>, ConformError> {
    let leader = stage.begin(LONG)?;
    let other = stage.cluster.followers(leader).next().unwrap_or_default();
    let old = stage.member(leader);
    let (term, began) = (stage.term(other)?, Instant::now());
    stage.cluster.operate(&format!("pause {}", leader + 1))?;
    // On a busy machine its threads are stopped some time after the signal. A read that they still see may come before the write below.
    if !(0..STOP_LOOKS).any(|_| old.is_silent()) {
        return Err(ConformError("a member that was paused goes on".to_owned()));
    }
    let read = EtcdCall::Range(RangeRead { key: marked("a"), ..RangeRead::default() });
    let (elected, read, renewal) = thread::scope(|scope| {
        let read = scope.spawn(|| old.ask(&read));
        let renewal = scope.spawn(|| old.ask(&EtcdCall::Renew(LEASES[0])));
        let elected = elected(stage, other, &term);
        let written = elected.and_then(|elected| stage.ask(other, &put("after", LEASES[0])).map(|()| elected));
        stage.cluster.operate(&format!("resume {}", leader + 1))?;
        let read = read.join().expect("it does not panic")?;
        Ok::<_, ConformError>((written?, read, renewal.join().expect("it does not panic")?))
    })?;
    let took = between(began, elected);
    // Two heartbeats and ticks are as fine as it is; a vote that is split is repeated.
    let is_in_time = took >= ELECTION_MS - 2 * HEARTBEAT_MS && took <= 4 * ELECTION_MS + stage.lateness;
    let value = read.body["kvs"][0]["value"].clone();
    let (what, is_fresh) = match read.status {
        200 => (
            format!(
                "answered with the value {}",
                if value == bytes("after") { "of the next leader" } else { "before" }
            ),
            value == bytes("after"),
        ),
        _ => (format!("refused: {}", read.body["message"]), true),
    };
    let renewed = match (renewal.status, renewal.body["result"]["TTL"].as_str()) {
        (200, Some(ttl)) => format!("a renewal that waited there is answered {ttl}"),
        _ => format!("a renewal that waited there is answered {}", renewal.body),
    };
    let is_renewed = renewal.status != 200 || renewal.body["result"]["TTL"] == number(LONG);
    stage.end()?;
    Ok(vec![
        rule("E-LD-5", format!("a leader was stopped, and the others had another one after {took} ms"), is_in_time),
        rule(
            "E-KV-10",
            format!("a read that waited at the stopped leader is {what}; {renewed}"),
            is_fresh && is_renewed,
        ),
    ])
}

/// The instant at which a member knows of another leader than the one of a term, which is stopped.
fn elected(stage: &Stage<'_>, place: usize, old: &Value) -> Result<Instant, ConformError> {
    for _ in 0..1_000 {
        let body = stage.status(place)?;
        if body["raftTerm"] != *old && body["leader"].is_string() {
            return Ok(Instant::now());
        }
        sleep(LOOK / 4);
    }
    Err(ConformError("the others elected none".to_owned()))
}

/// E-LD-6: a leader that hears of no follower goes on for two election timeouts; then it renews nothing, and answers what it has, or not in time.
/// E-W-7: its watches are silent.
pub(super) fn cut_off(stage: &Stage<'_>) -> Result<Vec<LeaderRule>, ConformError> {
    let leader = stage.begin(LONG)?;
    let followers: Vec<usize> = stage.cluster.followers(leader).collect();
    let all = WatchRange { end: "\0".to_owned(), ..WatchRange::default() };
    let server = stage.member(leader);
    let streams = [WatchStream::open(server, &all)?, WatchStream::open_with_leader(server, &all)?];
    let began = Instant::now();
    for place in &followers {
        stage.cluster.operate(&format!("pause {}", place + 1))?;
    }
    let seen = thread::scope(|scope| {
        // The last of these waits until it is refused.
        let renewals = scope.spawn(move || {
            let mut last = began;
            loop {
                let (sent, reply) = (Instant::now(), server.ask(&EtcdCall::Renew(LEASES[0]))?);
                if reply.status != 200 || reply.body["error"].is_object() {
                    return Ok::<_, ConformError>((last, sent, Instant::now(), reply));
                }
                last = Instant::now();
                sleep(LOOK);
            }
        });
        let streams = streams.map(|stream| scope.spawn(move || stream.end(WATCHED)));
        sleep(Duration::from_millis((3 * ELECTION_MS).unsigned_abs()));
        let ask = |call: EtcdCall| {
            scope.spawn(move || {
                let (sent, reply) = (Instant::now(), server.ask(&call)?);
                Ok::<_, ConformError>((between(sent, Instant::now()), reply))
            })
        };
        let waiting = [
            ("a write", ask(put("after", 0))),
            ("a read", ask(EtcdCall::Range(RangeRead { key: marked("a"), ..RangeRead::default() }))),
            ("the remaining time", ask(EtcdCall::TimeToLive { id: LEASES[0], keys: false })),
        ];
        let body = json!({ "key": bytes(&marked("a")), "serializable": true });
        let local = (server.post("/v3/kv/range", &body), server.ask(&EtcdCall::Leases));
        let renewals = renewals.join().expect("it does not panic");
        let waiting = waiting.map(|(what, call)| (what, call.join().expect("it does not panic")));
        let streams = streams.map(|stream| stream.join().expect("it does not panic"));
        for place in &followers {
            stage.cluster.operate(&format!("resume {}", place + 1))?;
        }
        Ok::<_, ConformError>((renewals?, waiting, streams, local.0?, local.1?))
    });
    let ((last, refused_from, refused, reply), waiting, [plain, with_leader], range, leases) = seen?;
    stage.cluster.settle()?;
    let mut rules = vec![acknowledged(stage, between(began, last), between(refused_from, refused), &reply)];
    for (what, answer) in waiting {
        let (took, reply) = answer?;
        rules.push(not_in_time(stage, what, took, &reply));
    }
    let is_stale = range.status == 200 && range.body["kvs"][0]["value"] == bytes("before") && leases.status == 200;
    let seen = format!(
        "cut off, it answers a serializable read ({}) and a list of leases ({}) from its copy",
        range.status, leases.status
    );
    rules.push(rule("E-LD-6", seen, is_stale));
    rules.push(watched(stage, began, plain?, with_leader?));
    stage.end()?;
    Ok(rules)
}

/// E-W-7: a watch of a member without a leader is silent; one that asks for a leader ends after three to four election timeouts without one, which
/// begin two of them after the last contact at the latest (E-LD-5).
fn watched(
    stage: &Stage<'_>,
    began: Instant,
    plain: Option<(Instant, Value)>,
    with_leader: Option<(Instant, Value)>,
) -> LeaderRule {
    let silent = if plain.is_none() { "stays open, and silent" } else { "ends" };
    let Some((ended, said)) = with_leader else {
        let seen = format!("cut off, a watch {silent}, and so does one with `hasleader`");
        return rule("E-W-7", seen, false);
    };
    let took = between(began, ended);
    let interval = 3 * ELECTION_MS..=6 * ELECTION_MS + HEARTBEAT_MS + stage.lateness;
    let is_so = plain.is_none() && says(&said, "no leader") && interval.contains(&took);
    let told = said["message"].as_str().unwrap_or("?");
    rule("E-W-7", format!("cut off, a watch {silent}; one with `hasleader` ends after {took} ms: {told}"), is_so)
}

/// Until when it renewed, and what it said then.
fn acknowledged(stage: &Stage<'_>, last: i64, waited: i64, reply: &EtcdReply) -> LeaderRule {
    let is_so = last <= 2 * ELECTION_MS + HEARTBEAT_MS + stage.lateness && says(&reply.body, "no leader");
    let said = reply.body["error"]["message"].as_str().or_else(|| reply.body["message"].as_str()).unwrap_or("?");
    rule(
        "E-LD-6",
        format!("cut off, it renewed for {last} ms; the next renewal is refused after {waited} ms: {said}"),
        is_so,
    )
}

/// A call that needs a leader.
fn not_in_time(stage: &Stage<'_>, what: &str, took: i64, reply: &EtcdReply) -> LeaderRule {
    let wanted = if what == "the remaining time" { "no leader" } else { "request timed out" };
    // A member that knows of no leader does not even propose a write (E-GEN-8).
    let is_said = says(&reply.body, wanted) || what == "a write" && says(&reply.body, "context deadline exceeded");
    let is_so = is_said && (PATIENCE_MS - HEARTBEAT_MS..=PATIENCE_MS + 1_000 + stage.lateness).contains(&took);
    let said = reply.body["message"].as_str().unwrap_or("?");
    rule("E-KV-10", format!("cut off, it answers {what} after {took} ms: {said}"), is_so)
}
