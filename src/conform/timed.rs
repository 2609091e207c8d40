//! What takes real time: TTLs, lock-delays, and what several clients do at the same time. Each script talks to the agent with
//! keys and sessions of its own and becomes an episode of its own; they run side by side, and are judged afterwards.

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use super::consul::{HttpRequest, Reply};
use serde_json::{Value, json};

use super::error::ConformError;
use super::guard::MARK;
use super::log::{Episode, LogRecord, number};
use super::races::{Race, races};
use super::wire::{Consul, get, put};

/// How late a timer of an agent that has nothing else to do may be, in nanoseconds, unless the caller sets it.
pub const LATENESS: i64 = 900_000_000;

/// The rules that the scripts of [`timed()`] show on any machine. Of what hits a race only with luck,
/// [`timed_races`] tells.
pub const TIMED_RULES: [&str; 6] = ["C-TTL-2", "C-TTL-3", "C-LD-3", "C-LD-5", "C-LD-7", "C-LD-8"];

/// A script's side of the conversation.
struct Desk<'a> {
    consul: &'a Consul,
    began: Instant,
    /// What its keys begin with.
    tree: String,
    /// A node of its own.
    node: String,
    lines: Mutex<Vec<LogRecord>>,
}

type Script = fn(&Desk<'_>) -> Result<(), ConformError>;

/// The scripts, with how often each is played.
const SCRIPTS: &[(Script, usize)] = &[
    (ttl_runs_out, 2),
    (late_renewals, 2),
    (renewal_in_vain, RENEWALS_IN_VAIN),
    (delay_ends, 2),
    (destroy_in_a_crowd, CROWDED_DESTROYS),
    (failed_transaction, 2),
    (delay_of_a_ghost, GHOSTS),
];

const RENEWALS_IN_VAIN: usize = 24;
const CROWDED_DESTROYS: usize = 40;
const GHOSTS: usize = 2;

/// How often the scripts have hit the races that they try.
pub fn timed_races(episodes: &[Episode]) -> Vec<Race> {
    races(episodes, |rule| match rule {
        "C-TTL-5" => RENEWALS_IN_VAIN,
        "C-LD-9" => CROWDED_DESTROYS,
        _ => GHOSTS,
    })
}

/// Plays every script, and returns the exchanges; timers may be late by this number of nanoseconds.
///
/// # Errors
/// The agent cannot be talked to.
pub fn timed(consul: &Consul, lateness: i64) -> Result<Vec<Episode>, ConformError> {
    consul.clean()?;
    let position = consul.position()?;
    let position = &position;
    let plays: Vec<Script> = SCRIPTS.iter().flat_map(|(script, times)| vec![*script; *times]).collect();
    let mut episodes = thread::scope(|scope| {
        let play = |(number, script): (usize, Script)| {
            scope.spawn(move || {
                let tree = format!("fencepost/{position}-timed-{number}/");
                let node = format!("fencepost-timed-{number}");
                let desk = Desk { consul, began: Instant::now(), tree, node, lines: Mutex::default() };
                script(&desk)?;
                Ok(desk.into_episode(lateness))
            })
        };
        let handles: Vec<_> = plays.into_iter().enumerate().map(play).collect();
        handles.into_iter().map(|handle| handle.join().expect("scripts do not panic")).collect::<Result<Vec<_>, _>>()
    });
    consul.clean()?;
    if let Ok(episodes) = &mut episodes {
        number(episodes);
    }
    episodes
}

impl Desk<'_> {
    fn ask(&self, question: HttpRequest) -> Result<Reply, ConformError> {
        let sent = self.now();
        let mut reply = self.consul.ask(&question)?;
        let received = self.now();
        // Others write at the same time: what the whole store's index is, is not ours to know.
        (reply.index, reply.has_headers) = (None, false);
        let mut lines = self.lines.lock().expect("no thread panics");
        let number = lines.len() + 1;
        lines.push(LogRecord::new(number, question, reply.clone(), (sent, received)));
        Ok(reply)
    }

    fn now(&self) -> i64 {
        i64::try_from(self.began.elapsed().as_nanos()).expect("no script takes centuries")
    }

    fn into_episode(self, lateness: i64) -> Episode {
        let mut lines = self.lines.into_inner().expect("no thread panics");
        lines.sort_by_key(|line| line.sent);
        let consul = self.consul;
        Episode {
            node: consul.node.clone(),
            options: consul.options,
            lateness: Some(lateness),
            lines,
            ..Episode::default()
        }
    }

    /// The shortest TTL there is.
    fn ttl(&self) -> Duration {
        Duration::from_nanos(self.consul.options.session_ttl_min.unsigned_abs())
    }

    fn session(&self, requested: &Value) -> Result<String, ConformError> {
        let mut requested = requested.clone();
        requested["Name"] = json!(MARK);
        requested["NodeChecks"] = requested.get("NodeChecks").cloned().unwrap_or_else(|| json!([]));
        let reply = self.ask(put("/v1/session/create", requested.to_string()))?;
        let answer: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        Ok(answer["ID"].as_str().unwrap_or_default().to_owned())
    }

    fn with_ttl(&self) -> Result<String, ConformError> {
        self.session(&json!({"TTL": format!("{}ns", self.ttl().as_nanos()), "LockDelay": "700ms"}))
    }

    fn acquire(&self, key: &str, session: &str) -> Result<bool, ConformError> {
        let reply = self.ask(put(&format!("/v1/kv/{}{key}?acquire={session}", self.tree), "x"))?;
        Ok(reply.body.starts_with(b"true"))
    }

    fn destroy(&self, session: &str) -> Result<(), ConformError> {
        self.ask(put(&format!("/v1/session/destroy/{session}"), ""))?;
        Ok(())
    }

    fn lives(&self, session: &str) -> Result<bool, ConformError> {
        let reply = self.ask(get(&format!("/v1/session/info/{session}")))?;
        Ok(reply.body.trim_ascii() != b"[]")
    }

    /// Asks again and again until it is so, or for too long.
    fn until(&self, mut is_so: impl FnMut() -> Result<bool, ConformError>) -> Result<(), ConformError> {
        let end = Instant::now() + 3 * self.ttl() + Duration::from_secs(3);
        while !is_so()? && Instant::now() < end {
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }
}

/// C-TTL-2, C-LD-3: the session ends after twice its TTL, and its key cannot be had for the lock-delay.
fn ttl_runs_out(desk: &Desk<'_>) -> Result<(), ConformError> {
    let (mine, other) = (desk.with_ttl()?, desk.session(&json!({}))?);
    desk.acquire("lead", &mine)?;
    desk.until(|| Ok(!desk.lives(&mine)?))?;
    desk.until(|| desk.acquire("lead", &other))
}

/// C-TTL-3: a renewal between TTL and twice that is in time.
fn late_renewals(desk: &Desk<'_>) -> Result<(), ConformError> {
    let mine = desk.with_ttl()?;
    for _ in 0..2 {
        thread::sleep(desk.ttl().mul_f64(1.5));
        desk.ask(put(&format!("/v1/session/renew/{mine}"), ""))?;
    }
    desk.until(|| Ok(!desk.lives(&mine)?))
}

/// C-TTL-5: a renewal at the very moment at which the timer fires.
fn renewal_in_vain(desk: &Desk<'_>) -> Result<(), ConformError> {
    let mine = desk.with_ttl()?;
    thread::sleep(2 * desk.ttl() - Duration::from_micros(500));
    for _ in 0..3 {
        desk.ask(put(&format!("/v1/session/renew/{mine}"), ""))?;
    }
    desk.lives(&mine)?;
    desk.destroy(&mine)
}

/// C-LD-3, C-LD-5, C-LD-7: the delay belongs to the name, whatever becomes of the entry.
fn delay_ends(desk: &Desk<'_>) -> Result<(), ConformError> {
    let mine = desk.session(&json!({"LockDelay": "900ms", "Behavior": "delete"}))?;
    let other = desk.session(&json!({}))?;
    desk.acquire("lead", &mine)?;
    desk.destroy(&mine)?;
    desk.ask(put(&format!("/v1/kv/{}lead", desk.tree), "put back"))?;
    desk.until(|| desk.acquire("lead", &other))
}

/// C-LD-9: an acquire that the leader has let pass before the destroy was applied.
fn destroy_in_a_crowd(desk: &Desk<'_>) -> Result<(), ConformError> {
    let mine = desk.session(&json!({"LockDelay": "15s"}))?;
    let others = [desk.session(&json!({}))?, desk.session(&json!({}))?];
    desk.acquire("lead", &mine)?;
    thread::scope(|scope| {
        let spam = |other| move || (0..3).try_for_each(|_| desk.acquire("lead", other).map(|_| ()));
        let crowd = others.each_ref().map(|other| scope.spawn(spam(other)));
        let ended = desk.destroy(&mine);
        crowd.into_iter().try_for_each(|one| one.join().expect("no thread panics")).and(ended)
    })?;
    desk.ask(get(&format!("/v1/kv/{}lead", desk.tree)))?;
    Ok(())
}

/// C-LD-8: a transaction that fails leaves a lock-delay behind, and it hits the holder.
fn failed_transaction(desk: &Desk<'_>) -> Result<(), ConformError> {
    let node = &desk.node;
    let check = json!({"CheckID": "c1", "Name": "c1", "Status": "passing"});
    desk.ask(put("/v1/catalog/register", json!({"Node": node, "Address": "127.0.0.1", "Check": check}).to_string()))?;
    let mine = desk.session(&json!({"Node": node, "NodeChecks": ["c1"], "LockDelay": "800ms"}))?;
    desk.acquire("lead", &mine)?;
    let operations = json!([
        {"Check": {"Verb": "delete", "Check": {"Node": node, "CheckID": "c1"}}},
        {"KV": {"Verb": "check-not-exists", "Key": format!("{}lead", desk.tree)}},
    ]);
    desk.ask(put("/v1/txn", operations.to_string()))?;
    desk.until(|| desk.acquire("lead", &mine))
}

/// C-LD-14: a second delay on the key, cut short by the timer of the first.
fn delay_of_a_ghost(desk: &Desk<'_>) -> Result<(), ConformError> {
    let node = &desk.node;
    let check = json!({"CheckID": "c1", "Name": "c1", "Status": "passing"});
    desk.ask(put("/v1/catalog/register", json!({"Node": node, "Address": "127.0.0.1", "Check": check}).to_string()))?;
    let mine = desk.session(&json!({"Node": node, "NodeChecks": ["c1"], "LockDelay": "1s"}))?;
    let other = desk.session(&json!({"LockDelay": "3s"}))?;
    desk.acquire("lead", &mine)?;
    let operations = json!([
        {"Check": {"Verb": "set", "Check": {"Node": node, "CheckID": "c1", "Name": "c1", "Status": "critical"}}},
        {"KV": {"Verb": "lock", "Key": format!("{}lead", desk.tree), "Session": other}},
    ]);
    desk.ask(put("/v1/txn", operations.to_string()))?;
    thread::sleep(Duration::from_millis(400));
    desk.destroy(&other)?;
    let third = desk.session(&json!({}))?;
    desk.until(|| desk.acquire("lead", &third))
}
