//! Several clients at the same time: what each asks for is drawn from a seed, what overlaps with what is up to the machine. Each
//! crowd has keys and sessions of its own, and becomes an episode, which is judged afterwards.

use std::ops::Range;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};
use serde_json::{Value, json};

use super::consul::{HttpRequest, Reply};
use super::error::ConformError;
use super::guard::MARK;
use super::log::{self, Episode, LogRecord};
use super::wire::{Consul, get, put, question};

/// How a crowd goes about.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Pace {
    /// Six clients with thirty requests each, one right after the other.
    Busy,
    /// Four clients with twelve requests each, with pauses, so that TTLs and lock-delays end between them.
    Slow,
}

impl Pace {
    const fn clients(self) -> usize {
        match self {
            Pace::Busy => 6,
            Pace::Slow => 4,
        }
    }

    const fn requests(self) -> usize {
        match self {
            Pace::Busy => 30,
            Pace::Slow => 12,
        }
    }

    /// How many requests a crowd sends at least, creation of sessions included.
    pub const fn total(self) -> usize {
        self.clients() * (self.requests() + 1)
    }
}

/// What a crowd shares.
struct Place<'a> {
    consul: &'a Consul,
    began: Instant,
    tree: String,
    pace: Pace,
    lines: Mutex<Vec<LogRecord>>,
}

/// Lets a crowd loose, and returns what was said; timers may be late by this number of nanoseconds.
///
/// # Errors
/// The agent cannot be talked to.
pub fn crowd(consul: &Consul, seed: u64, number: u64, lateness: i64) -> Result<Episode, ConformError> {
    let mut episodes = side_by_side(consul, seed, number..number + 1, Pace::Busy, lateness)?;
    Ok(episodes.remove(0))
}

/// Lets this number of slow crowds loose, side by side.
///
/// # Errors
/// The agent cannot be talked to.
pub fn slow_crowds(consul: &Consul, seed: u64, count: u64, lateness: i64) -> Result<Vec<Episode>, ConformError> {
    side_by_side(consul, seed, 0..count, Pace::Slow, lateness)
}

fn side_by_side(
    consul: &Consul,
    seed: u64,
    numbers: Range<u64>,
    pace: Pace,
    lateness: i64,
) -> Result<Vec<Episode>, ConformError> {
    let position = consul.position()?;
    let place = |number| {
        let tree = format!("fencepost/{position}-crowd-{seed}-{number}/");
        (number, Place { consul, began: Instant::now(), tree, pace, lines: Mutex::default() })
    };
    let places: Vec<(u64, Place<'_>)> = numbers.map(place).collect();
    let outcome = thread::scope(|scope| {
        let clients: Vec<_> = places
            .iter()
            .flat_map(|(number, place)| (0..pace.clients()).map(move |client| (*number, place, client)))
            .map(|(number, place, client)| scope.spawn(move || place.client(draws(seed, number, client))))
            .collect();
        clients.into_iter().try_for_each(|client| client.join().expect("clients do not panic"))
    });
    consul.clean()?;
    outcome?;
    let episode = |(_, place): (u64, Place<'_>)| {
        let mut lines = place.lines.into_inner().expect("no thread panics");
        lines.sort_by_key(|line| line.sent);
        let lateness = Some(lateness).filter(|_| pace == Pace::Slow);
        Episode { node: consul.node.clone(), options: consul.options, lateness, lines, ..Episode::default() }
    };
    let mut episodes: Vec<Episode> = places.into_iter().map(episode).collect();
    log::number(&mut episodes);
    Ok(episodes)
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
        let mut reply = self.consul.ask(&question)?;
        let received = self.now();
        if self.pace == Pace::Slow {
            // Other crowds write at the same time: what the whole store's index is, is not ours to know.
            (reply.index, reply.has_headers) = (None, false);
        }
        self.lines.lock().expect("no thread panics").push(LogRecord::new(0, question, reply.clone(), (sent, received)));
        Ok(reply)
    }

    fn now(&self) -> i64 {
        i64::try_from(self.began.elapsed().as_nanos()).expect("no crowd lasts for centuries")
    }

    fn key(&self, name: &str) -> String {
        format!("/v1/kv/{}{name}", self.tree)
    }

    fn client(&self, random: TestRng) -> Result<(), ConformError> {
        let mut client = Client { place: self, random, session: String::new(), terms: Terms::default() };
        client.terms = client.draw_terms();
        client.begin()?;
        (0..self.pace.requests()).try_for_each(|number| client.act(number))
    }
}

/// What a client asks for its sessions.
#[derive(Clone, Debug, Default)]
struct Terms {
    delay: &'static str,
    behavior: &'static str,
    /// In nanoseconds; 0: none.
    ttl: i64,
}

/// A client of a crowd.
struct Client<'a> {
    place: &'a Place<'a>,
    random: TestRng,
    session: String,
    terms: Terms,
}

impl Client<'_> {
    fn draw(&mut self, below: u32) -> u32 {
        self.random.next_u32() % below
    }

    fn draw_terms(&mut self) -> Terms {
        let delays: &[&str] = match self.place.pace {
            Pace::Busy => &["0s", "0s", "1ms"],
            Pace::Slow => &["0s", "300ms", "700ms", "1500ms"],
        };
        let delay = delays[self.draw(delays.len() as u32) as usize];
        let behavior = ["release", "delete"][self.draw(2) as usize];
        let has_ttl = self.place.pace == Pace::Slow && self.draw(4) > 0;
        let ttl = if has_ttl { self.place.consul.options.session_ttl_min } else { 0 };
        Terms { delay, behavior, ttl }
    }

    /// Creates a session.
    fn begin(&mut self) -> Result<(), ConformError> {
        let Terms { delay, behavior, ttl } = self.terms;
        let mut requested = json!({"Name": MARK, "NodeChecks": [], "LockDelay": delay, "Behavior": behavior});
        if ttl > 0 {
            requested["TTL"] = json!(format!("{ttl}ns"));
        }
        let reply = self.place.ask(put("/v1/session/create", requested.to_string()))?;
        let answer: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        answer["ID"].as_str().unwrap_or_default().clone_into(&mut self.session);
        Ok(())
    }

    fn act(&mut self, number: usize) -> Result<(), ConformError> {
        self.pause();
        let place = self.place;
        let key = place.key(["a", "b", "a/c"][self.draw(3) as usize]);
        let name = key.trim_start_matches("/v1/kv/").to_owned();
        let session = self.session.clone();
        let value = format!("{session}-{number}");
        let operations = json!([
            {"KV": {"Verb": "check-not-exists", "Key": format!("{name}-not")}},
            {"KV": {"Verb": "lock", "Key": name, "Session": session, "Value": STANDARD.encode(&value)}},
        ]);
        let reply = place.ask(match self.draw(100) {
            0..16 => put(&key, value),
            16..36 => put(&format!("{key}?acquire={session}"), value),
            36..50 => put(&format!("{key}?release={session}"), value),
            50..68 => get(&key),
            68..74 => get(&format!("{}?recurse", place.key(""))),
            74..80 => question("DELETE", &key, ""),
            80..84 => put(&format!("{key}?cas=0"), value),
            84..88 => put("/v1/txn", operations.to_string()),
            88..91 => get(&format!("/v1/session/info/{session}")),
            91..97 => put(&format!("/v1/session/renew/{session}"), ""),
            _ => {
                place.ask(put(&format!("/v1/session/destroy/{session}"), ""))?;
                return self.begin();
            }
        })?;
        // A session that has ended is of no use.
        let has_ended = reply.status == 404 && reply.body.starts_with(b"Session id");
        if has_ended { self.begin() } else { Ok(()) }
    }

    /// Waits for some part of what timers take.
    fn pause(&mut self) {
        if self.place.pace == Pace::Busy {
            return;
        }
        let ttl = Duration::from_nanos(self.place.consul.options.session_ttl_min.unsigned_abs());
        let longest = [Duration::ZERO, ttl / 3, ttl * 2][self.draw(3) as usize];
        thread::sleep(longest.mul_f64(f64::from(self.draw(1000)) / 1000.0));
    }
}
