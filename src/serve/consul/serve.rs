//! A request through the model, and from there into an answer.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fencepost_conform::{Class, Expected, Hint, HttpRequest, Sleep, Waking, Watch};
use fencepost_model::time::Instant;

use crate::endpoints::parameter;
use crate::settings::Timers;
use crate::stand_in::{Answer, Journey, MICROSECOND, StandIn, Ticket, Waiting};

/// The model numbers the sessions of a node with 16 bits.
const SESSIONS_MAX: u32 = 65_000;

impl StandIn {
    /// A request reaches the server.
    pub(super) fn carry_out(&mut self, journey: Journey) {
        let deposed = self.ask_deposed(&journey.question, &journey.client);
        let answer = deposed.unwrap_or_else(|| self.serve(&journey.question, &journey.client));
        if let Some((index, until)) = self.waits(&journey.question, &answer) {
            let watch = self.backend.agent.park(&journey.question.url).map(|watch| watch.at(index));
            // A lost request that repeats another has no ticket, and no client waits for it.
            if journey.ticket != Ticket(0) {
                self.waiting.insert(journey.ticket, Waiting::Parked { journey, watch, index, until, last: answer });
            }
            return;
        }
        let is_read = journey.question.method == "GET";
        self.finish(journey, answer);
        if !is_read {
            self.wake();
        }
    }

    /// C-BLK-1, C-BLK-2: for which index a read waits, and how long at most.
    fn waits(&self, question: &HttpRequest, answer: &Answer) -> Option<(u64, i64)> {
        let Sleep { index, at_least } = Sleep::of(question)?;
        answer.index().filter(|present| *present <= index)?;
        let most = u64::try_from(at_least / 16).unwrap_or(0);
        let jitter = match self.settings.timers {
            Timers::Earliest => 0,
            Timers::Late(_) | Timers::Pending(_) => most.saturating_sub(1),
            Timers::Seeded(_) => self.draw(&[u64::from_be_bytes(*b"the wait"), self.last_ticket]) % most.max(1),
        };
        Some((index, self.now.saturating_add(at_least).saturating_add(i64::try_from(jitter).unwrap_or(0))))
    }

    /// A request is answered as the model says, or by an endpoint that is no part of it.
    pub(crate) fn serve(&mut self, question: &HttpRequest, client: &str) -> Answer {
        if question.url.starts_with("/v1/session/create") && self.backend.sessions >= SESSIONS_MAX {
            return beyond("more than 65,000 sessions");
        }
        if is_filtered(&question.url) {
            return beyond("a filter expression");
        }
        let now = Instant::at(self.now);
        let asked = catch_unwind(AssertUnwindSafe(|| self.backend.agent.ask(question, now, Hint::default())));
        let expected = match asked {
            Ok(Ok(expected)) => expected,
            Ok(Err(overflow)) => return beyond(&overflow.to_string()),
            Err(_) => {
                self.notice("an internal error: a request made the model panic. Please report it; answers may be wrong from here on");
                return Answer::text(500, "internal error of the stand-in");
            }
        };
        let answer = match expected.class {
            Class::NoSuchPath => self.serve_beyond(question, client),
            _ => self.answer(question, client, &expected),
        };
        self.backend.agent.tidy_all(now);
        if is_pretty(&question.url) { answer.pretty() } else { answer }
    }

    fn answer(&mut self, question: &HttpRequest, client: &str, expected: &Expected) -> Answer {
        let (seed, ids) = (self.seed(), &mut self.backend.ids);
        let reply = self.backend.agent.answer(expected, &mut || {
            *ids += 1;
            seed.uuid(*ids)
        });
        let mut answer = Answer::of(expected, reply);
        match expected.class {
            Class::SessionCreated => {
                self.backend.sessions += 1;
                if let Some(id) = answer.value()["ID"].as_str() {
                    self.judge.session(id, client, &question.body);
                }
            }
            Class::PathCleaned => answer.headers.push(("Location", cleaned(&question.url))),
            Class::Options => {
                answer.headers.push(("Allow", self.backend.agent.methods(&question.url)));
            }
            Class::TxnRead | Class::TxnReadFailed => answer = answer.of_leader(),
            _ => {}
        }
        self.backend.directory.note(question, expected.class, self.backend.agent.position());
        self.decorate(question, expected.class, &mut answer);
        answer
    }

    /// The blocking queries that wait.
    pub(super) fn parked(&self) -> Vec<Ticket> {
        let is_parked = |(_, waiting): &(&Ticket, &Waiting)| matches!(waiting, Waiting::Parked { .. });
        self.waiting.iter().filter(is_parked).map(|(ticket, _)| *ticket).collect()
    }

    /// Something has changed: blocking queries that wait for it are answered.
    pub(crate) fn wake(&mut self) {
        for ticket in self.parked() {
            let Some(Waiting::Parked { journey, watch, index, until, last }) = self.waiting.remove(&ticket) else {
                continue;
            };
            match self.woken(ticket, &journey, watch.as_ref(), index, &last) {
                Some(answer) => {
                    self.now = self.now.saturating_add(MICROSECOND);
                    self.finish(journey, answer);
                }
                None => {
                    // C-BLK-7: a watch that has fired, and whose index has not passed, looks out for the next change.
                    let watch =
                        watch.and_then(|_| self.backend.agent.park(&journey.question.url)).map(|watch| watch.at(index));
                    self.waiting.insert(ticket, Waiting::Parked { journey, watch, index, until, last });
                }
            }
        }
    }

    /// The answer of a blocking query, if what has changed wakes it. C-BLK-5, C-BLK-6.
    fn woken(
        &mut self,
        ticket: Ticket,
        journey: &Journey,
        watch: Option<&Watch>,
        index: u64,
        last: &Answer,
    ) -> Option<Answer> {
        let neighbours = match self.settings.timers {
            Timers::Earliest => true,
            Timers::Late(_) | Timers::Pending(_) => false,
            Timers::Seeded(_) => self
                .draw(&[u64::from_be_bytes(*b"neighbor"), ticket.0, self.backend.agent.position()])
                .is_multiple_of(2),
        };
        let Some(watch) = watch else {
            let answer = self.serve(&journey.question, &journey.client);
            let passes = answer.index().is_none_or(|now| now > index) && answer.body != last.body;
            return passes.then_some(answer);
        };
        let wakes = match self.backend.agent.waking(watch) {
            Waking::Wakes => true,
            Waking::Sleeps => false,
            Waking::Either => neighbours,
        };
        wakes.then(|| self.serve(&journey.question, &journey.client))
    }
}

/// What the model, or the stand-in, does not have.
pub(crate) fn beyond(what: &str) -> Answer {
    Answer::text(501, format!("the stand-in does not have this: {what}"))
}

fn is_pretty(url: &str) -> bool {
    parameter(url, "pretty").is_some()
}

/// Lists of nodes, services and checks can be filtered by an expression; an answer without it would be wrong.
fn is_filtered(url: &str) -> bool {
    let has_filters = ["/v1/catalog/", "/v1/health/", "/v1/agent/"].iter().any(|start| url.starts_with(start));
    has_filters && parameter(url, "filter").is_some_and(|expression| !expression.is_empty())
}

/// C-GEN-9: a path without empty parts, and its query.
fn cleaned(url: &str) -> String {
    let (path, query) = url.split_once('?').map_or((url, None), |(path, query)| (path, Some(query)));
    let mut clean = String::new();
    for c in path.chars() {
        if c != '/' || !clean.ends_with('/') {
            clean.push(c);
        }
    }
    query.into_iter().for_each(|query| clean += &format!("?{query}"));
    clean
}
