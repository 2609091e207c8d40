//! What a test asks under `/fencepost/`: the clock, the faults, and what its clients say of themselves. Nothing of it goes wrong; the
//! recorded run has only who was inside.

use fencepost_conform::nanoseconds;
use serde_json::{Value, json};

use crate::clock::seconds;
use crate::endpoints::parameter;
use crate::faults::{FaultPlan, PlanError};
use crate::judge::Write;
use crate::stand_in::{Answer, Backend, Due, Journey, RunRecord, StandIn};

/// Why a request of a test is refused.
struct Refusal(u16, String);

impl From<String> for Refusal {
    fn from(why: String) -> Self {
        Refusal(400, why)
    }
}

type Told = Result<Answer, Refusal>;

const ENDPOINTS: &str = "PUT clock/advance?by=15s, PUT clock/advance?until=next, GET clock, PUT sleep?for=2s, \
PUT client?tasks=2, DELETE client, PUT waiting?key=lead&within=60s, PUT inside?key=lead, PUT outside?key=lead, \
PUT resource/lead?token=7, GET resource/lead, \
PUT faults, POST faults, GET faults, DELETE faults, PUT reset, GET record, GET verdict";

impl<B: Backend> StandIn<B> {
    /// Carries out what a test asks.
    pub(crate) fn control(&mut self, mut journey: Journey) {
        if let Some(name) = parameter(&journey.question.url, "client").filter(|name| !name.is_empty()) {
            journey.client = name;
        }
        let url = journey.question.url.clone();
        let path = url.split('?').next().unwrap_or_default().trim_start_matches("/fencepost/").to_owned();
        let method = journey.question.method.clone();
        let told = match (method.as_str(), path.as_str()) {
            ("PUT", "sleep") => match self.nap(&url) {
                Ok(nap) => return self.sleep(journey, nap),
                Err(refusal) => Err(refusal),
            },
            ("GET", "clock") => Ok(Answer::json(&self.time())),
            ("PUT", "clock/advance") => self.advance(&url),
            ("PUT", "client") => self.tasks(&journey.client, &url),
            ("DELETE", "client") => {
                self.clients.leaves(&journey.client);
                Ok(Answer::json(&json!(true)))
            }
            ("PUT", "waiting") => self.waits_for(&journey.client, &url),
            ("PUT", "inside") => self.inside(&journey.client, &url),
            ("PUT", "outside") => self.outside(&journey.client, &url),
            ("PUT" | "POST" | "GET" | "DELETE", "faults") => self.faults(&method, &journey.question.body),
            ("PUT", "reset") => {
                self.begin_anew();
                Ok(Answer::json(&json!(true)))
            }
            ("GET", "record") if self.settings.is_recorded => {
                Ok(Answer::new(200, "application/x-ndjson", self.recorded()))
            }
            ("GET", "record") => Err(Refusal(404, "the run is not recorded: start with --record FILE".to_owned())),
            ("GET", "verdict") => Ok(Answer::json(&self.verdict().json())),
            ("PUT" | "GET", _) if path.starts_with("resource/") => {
                let key = percent_encoding::percent_decode_str(&path["resource/".len()..]).decode_utf8_lossy();
                self.resource(&method, &journey.client, &key, &url, journey.question.body.clone())
            }
            _ => Err(Refusal(404, format!("no such thing: {method} {path}. There are {ENDPOINTS}"))),
        };
        self.observe();
        let answer = told.unwrap_or_else(|Refusal(status, why)| Answer::text(status, format!("{why}\n")));
        self.reply(&journey, answer);
    }

    /// The time in seconds since the start, and what comes next.
    fn time(&self) -> Value {
        let next = self.next_due().map(|(at, due)| {
            let what = match due {
                Due::Server(due) => self.backend.told(&due),
                Due::Waiting(_) => "a blocking query has waited long enough".to_owned(),
                Due::Patience => "a client has waited for a lock for too long".to_owned(),
            };
            json!({"at": seconds(at), "what": what})
        });
        json!({"now": seconds(self.now), "clock": self.settings.clock.to_string(), "next": next})
    }

    fn advance(&mut self, url: &str) -> Told {
        if self.settings.clock.is_real() {
            let why = format!("the clock is {}, and goes on by itself: start with --clock manual", self.settings.clock);
            return Err(Refusal(409, why));
        }
        let refused = || Refusal(400, format!("advance?by=15s, {}", B::INSTANTS));
        let until = match (parameter(url, "by"), parameter(url, "until").as_deref()) {
            (Some(by), None) => match nanoseconds(&by)? {
                by @ 0.. => self.now.saturating_add(by),
                _ => return Err(Refusal(400, "time does not go back".to_owned())),
            },
            (None, Some("next")) => self.next_deadline().ok_or(Refusal(409, "nothing is due".to_owned()))?,
            (None, Some(name)) => B::instant(self, name).ok_or_else(refused)?.map_err(|why| Refusal(409, why))?,
            _ => return Err(refused()),
        };
        self.pass(until);
        Ok(Answer::json(&self.time()))
    }

    fn nap(&self, url: &str) -> Result<i64, Refusal> {
        let asked = parameter(url, "for").ok_or_else(|| "sleep?for=2s".to_owned())?;
        match nanoseconds(&asked)? {
            nap @ 0.. => Ok(nap),
            _ => Err(Refusal(400, "time does not go back".to_owned())),
        }
    }

    fn tasks(&mut self, client: &str, url: &str) -> Told {
        let tasks: usize = number(url, "tasks")?.unwrap_or(1);
        self.clients.has_tasks(client, tasks.max(1));
        Ok(Answer::json(&json!({"client": client, "tasks": tasks.max(1)})))
    }

    fn waits_for(&mut self, client: &str, url: &str) -> Told {
        let key = key_of(url)?;
        let within =
            parameter(url, "within").ok_or_else(|| "&within=60s is missing: when is it too long?".to_owned())?;
        let within = nanoseconds(&within)?;
        if within <= 0 {
            return Err(Refusal(400, "it takes some time to be inside".to_owned()));
        }
        self.clients.acts(client, self.now);
        self.judge.waits(self.now, client, &key, self.now.saturating_add(within));
        Ok(Answer::json(&json!(true)))
    }

    fn inside(&mut self, client: &str, url: &str) -> Told {
        let key = key_of(url)?;
        let limit: usize = number(url, "limit")?.unwrap_or(1);
        if limit == 0 {
            return Err(Refusal(400, "the limit of a semaphore is 1 or more".to_owned()));
        }
        self.clients.acts(client, self.now);
        self.judge.enters(self.now, client, &key, limit, number(url, "token")?);
        self.record.reported(client, &key, true, self.now);
        Ok(Answer::json(&json!(true)))
    }

    fn outside(&mut self, client: &str, url: &str) -> Told {
        let key = key_of(url)?;
        self.clients.acts(client, self.now);
        match self.judge.leaves(self.now, client, &key) {
            true => {
                self.record.reported(client, &key, false, self.now);
                Ok(Answer::json(&json!(true)))
            }
            false => Err(Refusal(409, format!("{client} is not inside {key}, and does not wait for it"))),
        }
    }

    fn resource(&mut self, method: &str, client: &str, key: &str, url: &str, content: Vec<u8>) -> Told {
        if method == "GET" {
            let content = self.judge.content(key).ok_or(Refusal(404, String::new()))?;
            return Ok(Answer::new(200, "application/octet-stream", content));
        }
        let token = number(url, "token")?;
        self.clients.acts(client, self.now);
        match self.judge.writes(self.now, client, key, Write { token, content }) {
            Ok(()) => Ok(Answer::json(&json!(true))),
            Err(highest) => Err(Refusal(409, format!("the token is stale: the resource has seen {highest}"))),
        }
    }

    fn faults(&mut self, method: &str, body: &[u8]) -> Told {
        let read = || {
            let plan: FaultPlan =
                String::from_utf8_lossy(body).parse().map_err(|error: PlanError| error.to_string())?;
            plan.suits(B::NAME).map(|()| plan)
        };
        match method {
            "PUT" => self.plan = read()?,
            "POST" => self.plan.extend(read()?),
            "DELETE" => self.plan = FaultPlan::default(),
            _ => {}
        }
        let rules: Vec<Value> = self
            .plan
            .counts()
            .map(|(rule, seen)| {
                json!({"rule": rule.to_string(), "requests": seen, "allowed_by": rule.fault().allowed_by()})
            })
            .collect();
        Ok(Answer::json(&json!(rules)))
    }

    /// After each event: who holds the keys by record and by belief, for the stories.
    pub(crate) fn observe(&mut self) {
        for key in self.judge.key_names() {
            let holder = B::holder(self, &key);
            self.judge.observe(&key, holder);
        }
        self.judge.conclude();
    }
}

fn key_of(url: &str) -> Result<String, Refusal> {
    let key = parameter(url, "key").filter(|key| !key.is_empty());
    key.ok_or_else(|| Refusal(400, "?key=… is missing: which lock?".to_owned()))
}

/// A parameter that is a number, if it is there.
fn number<N: std::str::FromStr>(url: &str, name: &str) -> Result<Option<N>, Refusal> {
    let text = parameter(url, name).filter(|text| !text.is_empty());
    let read = |text: String| text.parse().map_err(|_| Refusal(400, format!("{name}={text} is no number")));
    text.map(read).transpose()
}
