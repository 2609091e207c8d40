//! Several clients at the same time: what each asks for is drawn from a seed, what overlaps with what is up to the machine. Each
//! crowd has keys and sessions of its own, and becomes an episode, which is judged afterwards.

use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};
use serde_json::{Value, json};

use super::consul::{HttpRequest, Reply};
use super::error::ConformError;
use super::guard::MARK;
use super::log::{self, Episode, LogRecord};
use super::wire::{Consul, get, put, question};

/// How many clients there are in a crowd.
const CLIENTS: usize = 6;

/// How many requests each of them sends.
const REQUESTS: usize = 30;

/// How many requests a crowd sends at least, creation of sessions included.
pub const CROWD: u64 = (CLIENTS * (REQUESTS + 1)) as u64;

/// What a crowd shares.
struct Place<'a> {
    consul: &'a Consul,
    began: Instant,
    tree: String,
    lines: Mutex<Vec<LogRecord>>,
}

/// Lets a crowd loose, and returns what was said.
///
/// # Errors
/// The agent cannot be talked to.
pub fn crowd(consul: &Consul, seed: u64, number: u64) -> Result<Episode, ConformError> {
    let tree = format!("fencepost/{}-crowd-{seed}-{number}/", consul.position);
    let place = Place { consul, began: Instant::now(), tree, lines: Mutex::default() };
    let outcome = thread::scope(|scope| {
        let client = |client: usize| {
            let place = &place;
            scope.spawn(move || place.client(draws(seed, number, client)))
        };
        let clients: Vec<_> = (0..CLIENTS).map(client).collect();
        clients.into_iter().try_for_each(|client| client.join().expect("clients do not panic"))
    });
    consul.clean()?;
    outcome?;
    let mut lines = place.lines.into_inner().expect("no thread panics");
    lines.sort_by_key(|line| line.sent);
    let mut episode =
        Episode { node: consul.node.clone(), options: consul.options, lateness: None, lines, ..Episode::default() };
    log::number(std::slice::from_mut(&mut episode));
    Ok(episode)
}

fn draws(seed: u64, number: u64, client: usize) -> TestRng {
    let mut bytes = [3; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&number.to_le_bytes());
    bytes[16..24].copy_from_slice(&(client as u64).to_le_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

impl Place<'_> {
    fn ask(&self, question: HttpRequest) -> Result<Reply, ConformError> {
        let sent = self.now();
        let reply = self.consul.ask(&question)?;
        let received = self.now();
        self.lines.lock().expect("no thread panics").push(LogRecord::new(0, question, reply.clone(), (sent, received)));
        Ok(reply)
    }

    fn now(&self) -> i64 {
        i64::try_from(self.began.elapsed().as_nanos()).expect("no crowd lasts for centuries")
    }

    fn session(&self, delay: &str, behavior: &str) -> Result<String, ConformError> {
        let requested = json!({"Name": MARK, "NodeChecks": [], "LockDelay": delay, "Behavior": behavior});
        let reply = self.ask(put("/v1/session/create", requested.to_string()))?;
        let answer: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        Ok(answer["ID"].as_str().unwrap_or_default().to_owned())
    }

    fn client(&self, mut random: TestRng) -> Result<(), ConformError> {
        let mut draw = move |below: u32| random.next_u32() % below;
        let delay = ["0s", "0s", "1ms"][draw(3) as usize];
        let behavior = ["release", "delete"][draw(2) as usize];
        let mut session = self.session(delay, behavior)?;
        for number in 0..REQUESTS {
            let key = format!("{}{}", self.tree, ["a", "b", "a/c"][draw(3) as usize]);
            let value = format!("{session}-{number}");
            let operations = json!([
                {"KV": {"Verb": "check-not-exists", "Key": format!("{key}-not")}},
                {"KV": {"Verb": "lock", "Key": key, "Session": session, "Value": "eA=="}},
            ]);
            self.ask(match draw(100) {
                0..20 => put(&format!("/v1/kv/{key}"), value),
                20..40 => put(&format!("/v1/kv/{key}?acquire={session}"), value),
                40..54 => put(&format!("/v1/kv/{key}?release={session}"), ""),
                54..74 => get(&format!("/v1/kv/{key}")),
                74..80 => get(&format!("/v1/kv/{}?recurse", self.tree)),
                80..86 => question("DELETE", &format!("/v1/kv/{key}"), ""),
                86..90 => put(&format!("/v1/kv/{key}?cas=0"), value),
                90..94 => put("/v1/txn", operations.to_string()),
                94..97 => get(&format!("/v1/session/info/{session}")),
                _ => {
                    self.ask(put(&format!("/v1/session/destroy/{session}"), ""))?;
                    session = self.session(delay, behavior)?;
                    continue;
                }
            })?;
        }
        Ok(())
    }
}
