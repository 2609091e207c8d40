//! Histories that the model has made itself: requests are carried out one by one, each at an instant, and sent some time before and answered
//! some time after. Such a log is possible, whatever is laid out; and where one is altered, an order that is found is one that the search finds.

use std::cell::Cell;
use std::fmt::Write;

use fencepost_model::time::Instant;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::super::consul::{Agent, Hint, HttpRequest, Options, Reply};
use super::super::super::log::{Episode, read};
use super::super::super::verdict::Objection;
use super::super::Limits;
use super::super::runner::runner;
use super::super::search::Search;
use super::line_up;

const KEYS: u8 = 3;

/// How far apart requests are carried out, in nanoseconds.
const APART: i64 = 1_000_000;

/// What is asked: about which key and session, and for how many others before and after it is on its way.
type Asked = (u8, u8, u8, i64, i64);

fn asked() -> impl Strategy<Value = Vec<Asked>> {
    prop::collection::vec((0..16_u8, 0..KEYS, any::<u8>(), 0..4_i64, 0..4_i64), 4..20)
}

struct History {
    agent: Agent,
    /// With the instants at which clients know them.
    sessions: Vec<(String, i64)>,
    lines: Vec<(i64, Value)>,
}

impl History {
    fn of(all: &[Asked]) -> History {
        let own = put("/v1/catalog/register", r#"{"Node": "here", "Address": "127.0.0.1"}"#);
        let agent = Agent::new("here", Options::default()).that_answers(&own);
        let mut history = History { agent, sessions: Vec::new(), lines: Vec::new() };
        for (number, asked) in all.iter().enumerate() {
            history.ask(i64::try_from(number + 10).expect("few") * APART, *asked);
        }
        history.lines.sort_by_key(|(sent, _)| *sent);
        history
    }

    fn ask(&mut self, at: i64, (what, key, choice, before, after): Asked) {
        let key = format!("keys/k{key}");
        let known = self.sessions.get(usize::from(choice) % self.sessions.len().max(1)).cloned();
        let (session, since) = known.map_or((None, 0), |(session, since)| (Some(session), since));
        let index = self.agent.modify_index(&key).unwrap_or(0);
        let question = match (what, session) {
            (0 | 1, _) => get(&format!("/v1/kv/{key}")),
            (2 | 3, _) => put(&format!("/v1/kv/{key}"), &choice.to_string()),
            (4 | 5, _) => HttpRequest { method: "DELETE".to_owned(), ..get(&format!("/v1/kv/{key}")) },
            (6, _) => put(&format!("/v1/kv/{key}?cas={}", index + u64::from(choice % 2)), "cas"),
            (7, _) => get("/v1/kv/keys/?recurse"),
            (8, _) => {
                let gets = format!("keys/k{}", choice % KEYS);
                let set = json!({"KV": {"Verb": "set", "Key": key, "Value": "eA=="}});
                put("/v1/txn", &json!([set, {"KV": {"Verb": "get", "Key": gets}}]).to_string())
            }
            (9..=11, Some(session)) => put(&format!("/v1/kv/{key}?acquire={session}"), &format!("lock {choice}")),
            (12, Some(session)) => put(&format!("/v1/kv/{key}?release={session}"), "released"),
            (13, Some(session)) => put(&format!("/v1/session/destroy/{session}"), ""),
            (14, Some(session)) => get(&format!("/v1/session/info/{session}")),
            _ => {
                let behavior = if choice % 2 == 0 { "release" } else { "delete" };
                let body = json!({"NodeChecks": [], "LockDelay": "0s", "Behavior": behavior});
                put("/v1/session/create", &body.to_string())
            }
        };
        let expected = self.agent.ask(&question, Instant::at(at), Hint::default()).expect("the model has it");
        let next = self.sessions.len();
        let mut fresh = || format!("{next:08x}-0000-4000-8000-000000000000");
        let Reply { status, index, body, .. } = self.agent.answer(&expected, &mut fresh);
        let answer = String::from_utf8(body).expect("text");
        let is_new = question.url == "/v1/session/create";
        let sent = (at - before * APART - 1).max(since);
        let received = at + 1 + if is_new { 0 } else { after * APART };
        if is_new {
            self.sessions.push((fresh(), received + 1));
        }
        let mut line = json!({
            "method": question.method, "url": question.url, "status": status, "answer": answer,
            "body": String::from_utf8(question.body).expect("text"),
            "sent": sent as f64 / 1e9, "received": received as f64 / 1e9,
        });
        if let Some(index) = index {
            line["index"] = index.to_string().into();
        }
        self.lines.push((sent, line));
    }

    fn episode(&self) -> Episode {
        let mut text = json!({"consul": "1.8.7", "node": "here"}).to_string();
        for (_, line) in &self.lines {
            write!(text, "\n{line}").expect("a string");
        }
        read(&text).unwrap_or_else(|why| panic!("{why}: {text}")).remove(0)
    }

    /// Another answer to one of the requests. None: there is nothing to alter.
    fn alter(&mut self, choice: usize) -> Option<()> {
        let place = choice % self.lines.len();
        let line = &mut self.lines[place].1;
        let answer = line["answer"].as_str()?.to_owned();
        let other = match answer.trim() {
            "true" => "false".to_owned(),
            "false" => "true".to_owned(),
            _ if answer.contains("\"LockIndex\":0") => answer.replace("\"LockIndex\":0", "\"LockIndex\":1"),
            _ if answer.contains("\"LockIndex\":1") => answer.replace("\"LockIndex\":1", "\"LockIndex\":2"),
            _ if line["status"] == 404 => {
                let index: u64 = line["index"].as_str()?.parse().ok()?;
                line["index"] = (index + 1).to_string().into();
                answer
            }
            _ => return None,
        };
        line["answer"] = other.into();
        Some(())
    }
}

fn get(url: &str) -> HttpRequest {
    HttpRequest { method: "GET".to_owned(), url: url.to_owned(), body: Vec::new() }
}

fn put(url: &str, body: &str) -> HttpRequest {
    HttpRequest { method: "PUT".to_owned(), url: url.to_owned(), body: body.as_bytes().to_vec() }
}

/// Whether the order that is laid out explains a history, and what the search says of it alone.
fn judged(history: &History) -> (bool, Result<(), Objection>) {
    let episode = history.episode();
    let few = Limits { states: 20_000, ..Limits::default() };
    let search = Search::new(&episode, None, few, &|| false);
    let is_laid = line_up(&search.lines, &|| false, |order| search.follow(order)).is_some();
    (is_laid, search.widening().map(|_| ()))
}

#[test]
fn what_the_model_has_made_is_found_and_mostly_laid_out() {
    let laid = Cell::new(0);
    let result = runner(400).run(&asked(), |all| {
        let (is_laid, searched) = judged(&History::of(&all));
        laid.set(laid.get() + u32::from(is_laid));
        prop_assert!(is_laid || searched.is_ok(), "{searched:?}");
        Ok(())
    });
    result.unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(laid.get(), 391, "of 400 are laid out");
}

#[test]
fn no_order_is_laid_out_where_the_search_says_that_there_is_none() {
    let (laid, impossible) = (Cell::new(0), Cell::new(0));
    let result = runner(400).run(&(asked(), any::<usize>()), |(all, choice)| {
        let mut history = History::of(&all);
        if history.alter(choice).is_none() {
            return Ok(());
        }
        let (is_laid, searched) = judged(&history);
        let is_impossible = matches!(searched, Err(Objection::Impossible(_)));
        prop_assert!(!is_laid || !is_impossible, "{searched:?}");
        laid.set(laid.get() + u32::from(is_laid));
        impossible.set(impossible.get() + u32::from(is_impossible));
        Ok(())
    });
    result.unwrap_or_else(|why| panic!("{why}"));
    assert!(laid.get() >= 20 && impossible.get() >= 20, "{} laid out, {} impossible", laid.get(), impossible.get());
}
