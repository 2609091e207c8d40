//! Histories with timers that the model has made itself: a server that stands still for long, sessions that are renewed in vain, and locks that
//! are asked for before a lock-delay begins. What has happened is possible; and of an altered history the judge says what a plain search says, that
//! tries everything that may happen at any time.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt::Write;

use fencepost_model::time::Instant;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::super::consul::{Agent, Hint, HttpRequest, Options, Reply, SECOND};
use super::super::super::log::{Episode, read};
use super::super::super::verdict::Objection;
use super::super::runner::runner;
use super::super::search::Search;
use super::super::state::State;
use super::super::steps::attempt;
use super::super::{Limits, takes_locks};

/// How many states the plain search looks at.
const STATES_MAX: usize = 4_000;

/// What happens: of which kind, with which key and session, how many seconds later, and how long before and after it is on its way.
type Doing = (u8, u8, u8, i64, i64, i64);

fn doings() -> impl Strategy<Value = Vec<Doing>> {
    prop::collection::vec((0..20_u8, 0..2_u8, any::<u8>(), 0..12_i64, 0..25_i64, 0..25_i64), 4..11)
}

struct History {
    agent: Agent,
    /// With the instants at which clients know them.
    sessions: Vec<(String, i64)>,
    /// Requests that the leader has let pass, with when that was.
    passed: Vec<(HttpRequest, i64)>,
    lines: Vec<(i64, Value)>,
}

impl History {
    fn of(all: &[Doing]) -> History {
        let own = put("/v1/catalog/register", r#"{"Node": "here", "Address": "127.0.0.1"}"#);
        let agent = Agent::new("here", Options::default()).that_answers(&own);
        let mut history = History { agent, sessions: Vec::new(), passed: Vec::new(), lines: Vec::new() };
        let mut now = 100;
        for (number, doing) in all.iter().enumerate() {
            now += doing.3;
            history.happen(now * SECOND + i64::try_from(number).expect("few"), *doing, number);
        }
        while let Some((question, since)) = history.passed.pop() {
            now += 1;
            history.ask(now * SECOND, &question, (since, 0), true);
        }
        // What is left of both keys, in either order.
        for key in if all.len().is_multiple_of(2) { [0, 1] } else { [1, 0] } {
            now += 1;
            history.ask(now * SECOND, &get(&format!("/v1/kv/k{key}")), (now * SECOND, 0), false);
        }
        history.lines.sort_by_key(|(sent, _)| *sent);
        history
    }

    fn happen(&mut self, now: i64, (what, key, choice, _, before, after): Doing, number: usize) {
        let known = self.sessions.get(usize::from(choice) % self.sessions.len().max(1)).cloned();
        let (session, since) = known.map_or((None, 0), |(session, since)| (Some(session), since));
        let times = ((now - before * SECOND).max(since), after);
        let key = format!("k{key}");
        let lock = |session: &str| put(&format!("/v1/kv/{key}?acquire={session}"), "");
        let ends = self.agent.expirable(Instant::at(now));
        let question = match (what, session) {
            (0..=3, _) => {
                let Some((session, since)) = ends.get(usize::from(choice) % ends.len().max(1)).copied() else { return };
                match since {
                    Some(_) if what < 2 => self.agent.decide_expiry(session),
                    _ => self.agent.expire(session, Instant::at(now)),
                }
                return;
            }
            (4 | 5, Some(session)) => {
                let question = lock(&session);
                if self.agent.lets_pass(&question, Instant::at(now)) {
                    self.passed.push((question, times.0));
                }
                return;
            }
            (6, _) if !self.passed.is_empty() => {
                let (question, since) = self.passed.remove(0);
                return self.ask(now, &question, (since, after), true);
            }
            (7..=10, Some(session)) => put(&format!("/v1/session/renew/{session}"), ""),
            (11..=13, Some(session)) => lock(&session),
            (14, Some(session)) => put(&format!("/v1/kv/{key}?release={session}"), ""),
            (15, Some(session)) => put(&format!("/v1/session/destroy/{session}"), ""),
            (16, Some(session)) if choice % 3 == 0 => get(&format!("/v1/session/info/{session}")),
            (16 | 17, Some(_)) => get(&format!("/v1/kv/{key}")),
            (18, Some(_)) => put(&format!("/v1/kv/{key}"), &number.to_string()),
            _ => {
                let behavior = if choice % 4 == 0 { "delete" } else { "release" };
                let delay = if choice % 3 == 0 { "0s" } else { "7s" };
                let body = json!({"NodeChecks": [], "TTL": "10s", "LockDelay": delay, "Behavior": behavior});
                put("/v1/session/create", &body.to_string())
            }
        };
        self.ask(now, &question, times, false);
    }

    fn ask(&mut self, now: i64, question: &HttpRequest, (sent, after): (i64, i64), has_passed: bool) {
        let hint = Hint { has_passed, ..Hint::default() };
        let expected = self.agent.ask(question, Instant::at(now), hint).expect("the model has it");
        let next = self.sessions.len();
        let mut fresh = || format!("{next:08x}-0000-4000-8000-000000000000");
        let Reply { status, index, body, .. } = self.agent.answer(&expected, &mut fresh);
        let mut received = now + 1 + after * SECOND;
        if question.url == "/v1/session/create" {
            received = now + 1;
            self.sessions.push((fresh(), received + 1));
        }
        let mut line = json!({
            "method": question.method, "url": question.url, "status": status,
            "answer": String::from_utf8(body).expect("text"), "body": String::from_utf8(question.body.clone()).expect("text"),
            "sent": sent as f64 / 1e9, "received": received as f64 / 1e9,
        });
        if let Some(index) = index {
            line["index"] = index.to_string().into();
        }
        self.lines.push((sent, line));
    }

    fn episode(&self, lateness: Option<&str>) -> Episode {
        let mut head = json!({"consul": "1.8.7", "node": "here"});
        lateness.into_iter().for_each(|lateness| head["lateness"] = lateness.into());
        let mut text = head.to_string();
        for (_, line) in &self.lines {
            write!(text, "\n{line}").expect("a string");
        }
        read(&text).unwrap_or_else(|why| panic!("{why}: {text}")).remove(0)
    }

    /// Another answer to one of the requests. None: there is nothing to alter.
    fn alter(&mut self, choice: usize) -> Option<()> {
        let place = choice.checked_rem(self.lines.len())?;
        let line = &mut self.lines[place].1;
        let answer = line["answer"].as_str()?.trim().to_owned();
        let url = line["url"].as_str()?.to_owned();
        let (status, other) = match (answer.as_str(), url.split_once("acquire=")) {
            ("true", Some((_, session))) if choice.is_multiple_of(2) => (500, format!("invalid session {session:?}")),
            ("true", _) => (200, "false".to_owned()),
            ("false", _) => (200, "true".to_owned()),
            (_, Some(_)) => (200, "false".to_owned()),
            _ => {
                let id = url.strip_prefix("/v1/session/renew/").filter(|_| line["status"] == 200)?;
                (404, format!("Session id '{id}' not found"))
            }
        };
        (line["status"], line["answer"]) = (status.into(), other.into());
        Some(())
    }
}

fn get(url: &str) -> HttpRequest {
    HttpRequest { method: "GET".to_owned(), url: url.to_owned(), body: Vec::new() }
}

fn put(url: &str, body: &str) -> HttpRequest {
    HttpRequest { method: "PUT".to_owned(), url: url.to_owned(), body: body.as_bytes().to_vec() }
}

/// Whether some order explains the answers from a state on, with all that may happen at any time; none if that are too many.
fn plain(search: &Search<'_>, mut state: State, known: &mut BTreeSet<(usize, u128)>) -> Option<bool> {
    while search.answers.get(state.at).is_some_and(|answer| state.forget(answer.place)) {
        state.at += 1;
    }
    let Some(answer) = search.answers.get(state.at) else { return Some(true) };
    if known.len() > STATES_MAX {
        return None;
    }
    if !known.insert((state.at, state.fingerprint())) {
        return Some(false);
    }
    let until = search.lines[answer.place].received;
    let mut next: Vec<State> = Vec::new();
    let open = answer.others.iter().chain([&answer.place]).copied().filter(|request| !state.is_done(*request));
    for request in open {
        let line = &search.lines[request];
        let has_passed = state.passed.contains(&request);
        for now in search.times(&state, request, until) {
            let mut after = state.clone();
            if !search.is_overdue(&state, now) && attempt(&mut after, line, now, has_passed).is_ok() {
                after.finish(request);
                next.push(after);
            }
            if takes_locks(&line.question) && !has_passed && state.agent.lets_pass(&line.question, Instant::at(now)) {
                let mut after = state.clone();
                after.passed.push(request);
                after.passed.sort_unstable();
                next.push(after);
            }
        }
    }
    for (session, since) in state.agent.expirable(Instant::at(until)) {
        if let Some(since) = since {
            let mut after = state.clone();
            after.decide_expiry(session, since);
            next.push(after);
        }
        for at in search.instants(&state, since.or(state.since(session)).unwrap_or(until), until) {
            let mut after = state.clone();
            after.agent.expire(session, Instant::at(at));
            after.expiring.retain(|(expiring, _)| *expiring != session);
            next.push(after);
        }
    }
    let mut is_open = false;
    for state in next {
        match plain(search, state, known) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => is_open = true,
        }
    }
    if is_open { None } else { Some(false) }
}

/// What the judge says, and what the plain search says: whether it is possible.
fn judged(episode: &Episode) -> (Option<bool>, Option<bool>) {
    let search = Search::new(episode, None, Limits::default(), &|| false);
    let judged = match search.widening() {
        Ok(_) => Some(true),
        Err(Objection::Impossible(_)) => Some(false),
        Err(Objection::Undecided { .. }) => None,
    };
    (judged, plain(&search, search.start(), &mut BTreeSet::new()))
}

#[test]
fn what_has_happened_with_timers_is_possible() {
    let result = runner(2_000).run(&doings(), |all| {
        let history = History::of(&all);
        let episode = history.episode(None);
        let judged = Search::new(&episode, None, Limits::default(), &|| false).widening().map(|_| ());
        prop_assert!(judged.is_ok(), "{judged:?}\n{:#?}", history.lines);
        Ok(())
    });
    result.unwrap_or_else(|why| panic!("{why}"));
}

/// With timers that may fire at any time after they may, and with some that fire two seconds late at most.
#[test]
fn no_order_with_timers_is_lost_and_none_is_made_up() {
    for lateness in [None, Some("2s")] {
        let counts = Cell::new([0, 0]);
        let result = runner(1_000).run(&(doings(), any::<usize>()), |(all, choice)| {
            let mut history = History::of(&all);
            if history.alter(choice).is_none() {
                return Ok(());
            }
            let (judged, plain) = judged(&history.episode(lateness));
            if let Some(is_possible) = plain {
                prop_assert_eq!(judged, plain, "{:#?}", history.lines);
                let mut both = counts.get();
                both[usize::from(is_possible)] += 1;
                counts.set(both);
            }
            Ok(())
        });
        result.unwrap_or_else(|why| panic!("{lateness:?}: {why}"));
        let [impossible, possible] = counts.get();
        assert!(impossible > 50 && possible > 50, "{lateness:?}: {impossible} impossible, {possible} possible");
    }
}

/// Two sessions have ended. Their keys are read one after the other, and the log positions say which of the two ended first.
#[test]
fn positions_tell_in_which_order_sessions_have_ended() {
    let said = |first: u64, second: u64| {
        let mut text = String::from(r#"{"consul": "1.8.7", "node": "here"}"#);
        let mut say = |line: Value| write!(text, "\n{line}").expect("a string");
        for (number, key) in ["a", "b"].into_iter().enumerate() {
            let at = number as f64;
            let id = format!("{number:08x}-0000-4000-8000-000000000000");
            let body = json!({"NodeChecks": [], "TTL": "10s", "LockDelay": "0s", "Behavior": "release"}).to_string();
            say(json!({
                "method": "PUT", "url": "/v1/session/create", "body": body, "sent": at, "received": at + 0.1,
                "status": 200, "answer": json!({"ID": id}).to_string(),
            }));
            say(json!({
                "method": "PUT", "url": format!("/v1/kv/{key}?acquire={id}"), "body": "", "sent": at + 0.2,
                "received": at + 0.3, "status": 200, "answer": "true",
            }));
        }
        for (key, create, modify, at) in [("a", 11, first, 40.0), ("b", 13, second, 41.0)] {
            let entry = json!({
                "Key": key, "CreateIndex": create, "ModifyIndex": modify, "LockIndex": 1, "Flags": 0, "Value": null,
            });
            say(json!({
                "method": "GET", "url": format!("/v1/kv/{key}"), "sent": at, "received": at + 0.1, "status": 200,
                "answer": json!([entry]).to_string(),
            }));
        }
        let episode = read(&text).unwrap_or_else(|why| panic!("{why}: {text}")).remove(0);
        let (judged, plain) = judged(&episode);
        assert_eq!(judged, plain, "{text}");
        judged
    };
    assert_eq!([said(14, 15), said(15, 14), said(14, 14)], [Some(true), Some(true), Some(false)]);
}
