//! A stand-in without sockets, and the requests of named clients.

use fencepost_conform::HttpRequest;
use fencepost_serve::{Answer, Clock, Incoming, RequestOutcome, Settings, StandIn, Ticket};
use serde_json::{Value, json};

/// A stand-in whose clock is the test's, and the outcomes that were not yet asked for.
pub struct Bench {
    pub stand_in: StandIn,
    outcomes: Vec<(Ticket, RequestOutcome)>,
}

impl Bench {
    pub fn new() -> Self {
        Bench::with(Settings { clock: Clock::Manual, is_recorded: true, ..Settings::default() })
    }

    pub fn with(settings: Settings) -> Self {
        Bench { stand_in: StandIn::new(settings), outcomes: Vec::new() }
    }

    /// Sends a request.
    pub fn send(&mut self, client: &str, method: &str, url: &str, body: &str) -> Ticket {
        let question = HttpRequest { method: method.to_owned(), url: url.to_owned(), body: body.as_bytes().to_vec() };
        self.stand_in.arrive(Incoming { client: client.to_owned(), question, content_type: None, has_token: false })
    }

    /// How a request has ended, if it has.
    pub fn outcome(&mut self, ticket: Ticket) -> Option<RequestOutcome> {
        self.outcomes.extend(self.stand_in.ready());
        let place = self.outcomes.iter().position(|(other, _)| *other == ticket)?;
        Some(self.outcomes.remove(place).1)
    }

    /// Sends a request, and has its answer at once.
    #[track_caller]
    pub fn ask(&mut self, client: &str, method: &str, url: &str, body: &str) -> Answer {
        let ticket = self.send(client, method, url, body);
        match self.outcome(ticket) {
            Some(RequestOutcome::Answer(answer)) => answer,
            other => panic!("{method} {url}: {other:?}"),
        }
    }

    #[track_caller]
    pub fn get(&mut self, url: &str) -> Value {
        let answer = self.ask("test", "GET", url, "");
        assert!(answer.status < 500, "{url}: {answer:?}");
        answer.value()
    }

    #[track_caller]
    pub fn put(&mut self, client: &str, url: &str, body: &str) -> Value {
        let answer = self.ask(client, "PUT", url, body);
        assert_eq!(answer.status, 200, "{url}: {}", String::from_utf8_lossy(&answer.body));
        answer.value()
    }

    /// A session of a client, without checks.
    #[track_caller]
    pub fn session(&mut self, client: &str, ttl: &str, lock_delay: &str) -> String {
        let body = json!({"TTL": ttl, "LockDelay": lock_delay, "NodeChecks": []}).to_string();
        self.put(client, "/v1/session/create", &body)["ID"].as_str().expect("an id").to_owned()
    }

    #[track_caller]
    pub fn acquire(&mut self, client: &str, key: &str, session: &str) -> bool {
        self.put(client, &format!("/v1/kv/{key}?acquire={session}"), client) == true
    }

    #[track_caller]
    pub fn advance(&mut self, by: &str) {
        self.put("test", &format!("/fencepost/clock/advance?by={by}"), "");
    }

    /// Whether a session is still there.
    pub fn lives(&mut self, session: &str) -> bool {
        self.get(&format!("/v1/session/info/{session}")).as_array().is_some_and(|found| !found.is_empty())
    }
}
