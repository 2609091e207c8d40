//! A request, from its path to its answer.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fencepost_conform::etcd::{EtcdExchange, EtcdReply};
use fencepost_etcd::mvcc::{Contender, ContenderStep, EtcdAnswer, EtcdCall};
use serde_json::{Value, json};

use super::EtcdBackend;
use super::decode::{Decoded, NoCall, decode};
use super::queue::Parked;
use super::watch_body::WatchMessage;
use crate::stand_in::{Answer, Journey, StandIn};

/// E-CC-30: the TTL of a lease that the server grants for a lock or a campaign without one, in seconds.
const ORPHAN_TTL: i64 = 60;

/// The ids of the cluster and its member.
const CLUSTER: &str = "17237436991929493444";
const MEMBER: &str = "9372538179322589801";

/// What comes of a request: its answer, or it waits.
enum Served {
    At(Answer),
    Later(Parked),
    /// Its answer goes on.
    Watches(Vec<WatchMessage>),
    /// It goes on, about the leaders of an election.
    Observer(String),
}

/// How far a lock or a campaign goes.
enum Contended {
    Answered(EtcdAnswer),
    Waits(Contender),
}

impl StandIn<EtcdBackend> {
    pub(super) fn carry_out(&mut self, journey: Journey) {
        let served = catch_unwind(AssertUnwindSafe(|| self.serve(&journey)));
        match served {
            Ok(Served::At(answer)) => self.finish(journey, answer),
            Ok(Served::Later(parked)) => self.park(journey, parked),
            Ok(Served::Watches(messages)) => self.serve_watches(journey, messages),
            Ok(Served::Observer(name)) => self.serve_observer(journey, name),
            Err(_) => {
                self.notice("an internal error: a request made the model panic. Please report it; answers may be wrong from here on");
                self.finish(journey, failure(500, "internal error of the stand-in"));
            }
        }
        self.serve_queue();
    }

    fn serve(&mut self, journey: &Journey) -> Served {
        let question = &journey.question;
        let decoded = decode(&question.url, &question.body);
        let is_post = question.method == "POST";
        Served::At(match decoded {
            Ok(Decoded::Version) => {
                let version = self.backend.store.version();
                let (server, cluster) = (version.to_string(), version.of_cluster().to_string());
                Answer::json(&json!({ "etcdserver": server, "etcdcluster": cluster }))
            }
            Ok(Decoded::Health) => Answer::json(&json!({"health": "true"})),
            Err(NoCall::NotFound) => Answer::text(404, "Not Found\n"),
            // E-GEN-4.
            _ if !is_post => Answer::text(405, "Method Not Allowed\n"),
            Ok(Decoded::Call(call)) => return self.call(call, &journey.client),
            Ok(Decoded::Watches(messages)) => return Served::Watches(messages),
            Ok(Decoded::Observer(name)) => return Served::Observer(name),
            Err(NoCall::Beyond(why)) => error(501, 12, &why),
            Err(NoCall::Bad(why)) => error(400, 3, &why),
            Err(NoCall::BadStream(why)) => error(500, 2, &why),
            Err(NoCall::NoLeaderKey) => error(500, 2, "\"leader\" field must be provided"),
            Err(NoCall::Refused(refusal)) => self.rendered(&EtcdCall::Leases, &EtcdAnswer::Refused(refusal)),
        })
    }

    fn call(&mut self, mut call: EtcdCall, client: &str) -> Served {
        match &mut call {
            // E-LS-1: the server chooses an id.
            EtcdCall::Grant { id, .. } if *id == 0 => *id = self.fresh_lease(),
            EtcdCall::Lock { lease, .. } | EtcdCall::Campaign { lease, .. } if *lease == 0 => {
                *lease = self.fresh_lease();
                let grant = EtcdCall::Grant { id: *lease, ttl: ORPHAN_TTL };
                self.ask(&grant);
            }
            _ => {}
        }
        if let EtcdCall::Renew(id) = call
            && self.is_overdue(id)
        {
            return Served::Later(Parked::Renewal(id));
        }
        let before = self.backend.store.revision();
        let answer = match &call {
            EtcdCall::Lock { .. } | EtcdCall::Campaign { .. } => match self.contend(&call) {
                Contended::Answered(answer) => answer,
                Contended::Waits(contender) => {
                    self.note_makers(&call, client, before);
                    return Served::Later(Parked::Contender(call, contender));
                }
            },
            _ => self.ask(&call),
        };
        self.note_makers(&call, client, before);
        Served::At(self.rendered(&call, &answer))
    }

    /// Carries out a call that does not wait, and keeps the clocks of leases.
    fn ask(&mut self, call: &EtcdCall) -> EtcdAnswer {
        let answer = self.backend.store.ask(call);
        match (call, &answer) {
            (EtcdCall::Grant { .. } | EtcdCall::Renew(_), EtcdAnswer::Lease { id, ttl: ttl @ 1.., .. }) => {
                self.begin_lease(*id, *ttl, 0);
            }
            (EtcdCall::Revoke(id), EtcdAnswer::Done { .. }) => self.lease_is_gone(*id),
            _ => {}
        }
        answer
    }

    /// A lock or a campaign goes as far as it can.
    fn contend(&mut self, call: &EtcdCall) -> Contended {
        let mut contender = match self.backend.store.enter(call) {
            Ok(contender) => contender,
            Err(refusal) => return Contended::Answered(EtcdAnswer::Refused(refusal)),
        };
        loop {
            match self.backend.store.go_on(call, contender) {
                Some(ContenderStep::Answered(answer)) => return Contended::Answered(answer),
                Some(ContenderStep::GoesOn(next)) => contender = next,
                None => return Contended::Waits(contender),
            }
        }
    }

    /// Remembers which client has created the keys of a call.
    fn note_makers(&mut self, call: &EtcdCall, client: &str, before: i64) {
        let revision = self.backend.store.revision();
        if revision == before {
            return;
        }
        for key in created_by(call) {
            self.backend.makers.insert((key, revision), client.to_owned());
        }
    }

    /// A positive id that no lease has.
    fn fresh_lease(&mut self) -> i64 {
        self.backend.drawn += 1;
        let number = self.draw(&[u64::from_be_bytes(*b"a  lease"), self.backend.drawn]);
        i64::try_from(number >> 1).unwrap_or(1).max(1)
    }

    /// Writes the ids and the term into a header (E-GEN-3).
    pub(super) fn sign(&self, header: &mut Value) {
        header["cluster_id"] = json!(CLUSTER);
        header["member_id"] = json!(MEMBER);
        header["raft_term"] = json!(self.backend.term.to_string());
    }

    /// An answer as the gateway writes it, with what the model leaves out: the ids and the term, and the remaining time of a lease.
    pub(super) fn rendered(&self, call: &EtcdCall, answer: &EtcdAnswer) -> Answer {
        let none = EtcdReply { status: 0, body: Value::Null };
        let version = self.backend.store.version();
        let exchange = EtcdExchange { version, call: call.clone(), reply: none, answer: answer.clone() };
        let EtcdReply { status, mut body } = exchange.expected();
        let revision = self.backend.store.revision().to_string();
        let header = |header: &mut Value| self.sign(header);
        if let (EtcdCall::Renew(_), Some(result)) = (call, body.get_mut("result")) {
            result["header"] = json!({ "revision": revision });
            header(&mut result["header"]);
        } else if let Some(written) = body.get_mut("header") {
            header(written);
        }
        if let (EtcdAnswer::TimeToLive { id, granted: Some(_), .. }, Some(fields)) = (answer, body.as_object_mut()) {
            // E-GEN-4: 0 is left out.
            match self.remaining(*id) {
                Some(0) | None => fields.remove("TTL"),
                Some(rest) => fields.insert("TTL".to_owned(), json!(rest.to_string())),
            };
        }
        let mut answer = Answer::json(&body);
        answer.status = status;
        if matches!(call, EtcdCall::Renew(_)) {
            // E-GEN-6: what streams is a line.
            answer.body.push(b'\n');
        }
        answer
    }
}

/// The keys that a call creates if they are absent.
fn created_by(call: &EtcdCall) -> Vec<String> {
    match call {
        EtcdCall::Put(put) => vec![put.key.clone()],
        EtcdCall::Lock { name, lease } | EtcdCall::Campaign { name, lease, .. } => {
            let sign = if *lease < 0 { "-" } else { "" };
            vec![format!("{name}/{sign}{:x}", lease.unsigned_abs())]
        }
        EtcdCall::Txn(txn) => txn.success.iter().chain(&txn.failure).flat_map(created_by).collect(),
        _ => Vec::new(),
    }
}

/// E-GEN-7.
fn error(status: u16, code: u32, why: &str) -> Answer {
    Answer { status, ..Answer::json(&json!({"error": why, "message": why, "code": code})) }
}

/// An error of the server, as it answers in place of a call.
pub(super) fn failure(status: u16, why: &str) -> Answer {
    let code = if status == 503 { 14 } else { 2 };
    error(status, code, why)
}
