//! A stand-in without sockets, and what clients ask of it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fencepost_conform::{HttpRequest, SECOND};
use fencepost_serve::{Answer, Clock, EtcdBackend, Incoming, RequestOutcome, Settings, StandIn, Ticket};
use serde_json::{Value, json};

/// Bytes as the gateway writes them.
pub fn bytes(text: &str) -> String {
    STANDARD.encode(text)
}

/// The stand-in, and answers that no one has asked for yet.
pub struct Bench {
    pub stand_in: StandIn<EtcdBackend>,
    outcomes: Vec<(Ticket, RequestOutcome)>,
}

impl Bench {
    pub fn new(plan: &str) -> Bench {
        Bench::with(Settings { plan: plan.parse().expect("a plan"), ..Settings::default() })
    }

    pub fn with(settings: Settings) -> Bench {
        Bench { stand_in: StandIn::new(Settings { clock: Clock::Manual, ..settings }), outcomes: Vec::new() }
    }

    /// A client sends a request.
    pub fn send(&mut self, client: &str, path: &str, body: Value) -> Ticket {
        let method = if body.is_null() { "GET" } else { "POST" };
        self.send_as(client, method, path, body.to_string().into_bytes())
    }

    pub fn send_as(&mut self, client: &str, method: &str, path: &str, body: Vec<u8>) -> Ticket {
        let question = HttpRequest { method: method.to_owned(), url: path.to_owned(), body };
        self.stand_in.arrive(Incoming { client: client.to_owned(), question, content_type: None, has_token: false })
    }

    /// How a request has ended; none: it waits.
    pub fn outcome(&mut self, ticket: Ticket) -> Option<RequestOutcome> {
        self.outcomes.extend(self.stand_in.ready());
        let place = self.outcomes.iter().position(|(other, _)| *other == ticket)?;
        Some(self.outcomes.remove(place).1)
    }

    /// The answer to a request that was sent.
    pub fn answer(&mut self, ticket: Ticket) -> Answer {
        match self.outcome(ticket) {
            Some(RequestOutcome::Answer(answer)) => answer,
            other => panic!("{other:?}"),
        }
    }

    /// A request of client a, and its answer: the status and the body.
    pub fn ask(&mut self, path: &str, body: Value) -> (u16, Value) {
        let ticket = self.send("a", path, body);
        let answer = self.answer(ticket);
        (answer.status, answer.value())
    }

    /// A lease with an id.
    pub fn grant(&mut self, id: i64, ttl: i64) {
        assert_eq!(self.ask("/v3/lease/grant", json!({"ID": id, "TTL": ttl})).0, 200);
    }

    /// Time passes, in tenths of a second.
    pub fn pass(&mut self, tenths: i64) {
        let until = self.stand_in.now() + tenths * SECOND / 10;
        self.stand_in.pass(until);
    }

    /// What a renewal is told: the TTL, and 0 for a lease that is gone.
    pub fn renewed(&mut self, id: i64) -> i64 {
        let (status, body) = self.ask("/v3/lease/keepalive", json!({"ID": id}));
        assert_eq!(status, 200);
        body["result"]["TTL"].as_str().map_or(0, |ttl| ttl.parse().expect("a number"))
    }

    /// Whether a key exists.
    pub fn has(&mut self, key: &str) -> bool {
        self.ask("/v3/kv/range", json!({"key": bytes(key)})).1["count"] == "1"
    }
}
