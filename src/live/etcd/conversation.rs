//! Requests of one client to the server, each in a thread and on a connection of its own, as in the model.

use std::collections::BTreeMap;
use std::thread;

use fencepost_etcd::{Etcd, EtcdMessage, Request, Response};
use fencepost_model::ids::{Call, ClientId};
use fencepost_model::scenario::Scenario;
use serde_json::Value;

use super::gateway::{answer, changes, event, question};
use super::names::LeaseNames;
use super::server::LiveEtcd;
use super::watch::{next_event, watch};
use crate::LiveError;
use crate::consul::http::Reply;
use crate::consul::wire::send;
use crate::server::{Conversation, LiveServer, Post};

/// What came of a request, which has this number here.
#[derive(Debug)]
pub enum EtcdHeard {
    /// A reply of the gateway.
    Replied(u64, Reply),
    /// A watch has ended.
    Watched(u64, Response),
    /// A watch shows an event, with its place among those of its revision.
    Event(u64, Value, u8),
}

/// What one client asks a server.
#[derive(Debug)]
pub struct GatewayConversation {
    server: LiveEtcd,
    names: LeaseNames,
    post: Post<EtcdHeard>,
    /// Requests under way, by their number here: the program's number, and what was asked.
    requests: BTreeMap<u64, (Call, Request)>,
    /// How many requests are under way that change something.
    unheard: usize,
    /// The number of the newest request.
    asked: u64,
    /// The last answer that may have made the recipe give up.
    refusal: Option<String>,
}

impl LiveServer for LiveEtcd {
    type Service = Etcd;
    type Conversation = GatewayConversation;

    fn tick(&self) -> std::time::Duration {
        self.tick
    }

    fn client(&self) -> ClientId {
        self.client
    }

    /// A server keeps its history until it is compacted.
    fn prepare(&self, scenario: Scenario<Etcd>) -> Scenario<Etcd> {
        scenario.service(|settings| settings.history = true)
    }

    fn converse(&self, post: Post<EtcdHeard>) -> GatewayConversation {
        GatewayConversation {
            server: self.clone(),
            names: LeaseNames::new(self.prefix()),
            post,
            requests: BTreeMap::new(),
            unheard: 0,
            asked: 0,
            refusal: None,
        }
    }
}

impl Conversation for GatewayConversation {
    type Service = Etcd;
    type Heard = EtcdHeard;

    fn send(&mut self, message: EtcdMessage) -> Result<(), LiveError> {
        let EtcdMessage::Request(call, request) = message else {
            return Err(LiveError::Unsupported(message.to_string()));
        };
        let question = question(&request, &self.server, &self.names)?;
        self.asked += 1;
        self.requests.insert(self.asked, (call, request));
        self.unheard += usize::from(changes(&request));
        let (number, base, post) = (self.asked, self.server.base.clone(), self.post.clone());
        thread::spawn(move || {
            post.deliver(match request {
                Request::Watch(..) => EtcdHeard::Watched(number, watch(&base, &question)),
                Request::Follow(_, cursor) => match next_event(&base, &question, cursor) {
                    Ok((event, place)) => EtcdHeard::Event(number, event, place),
                    Err(end) => EtcdHeard::Watched(number, end),
                },
                _ => EtcdHeard::Replied(number, send(&base, &question)),
            })
        });
        Ok(())
    }

    fn hear(&mut self, heard: EtcdHeard) -> Result<Vec<EtcdMessage>, LiveError> {
        let (EtcdHeard::Replied(number, _) | EtcdHeard::Watched(number, _) | EtcdHeard::Event(number, ..)) = heard;
        let Some((call, request)) = self.requests.remove(&number) else { return Ok(Vec::new()) };
        self.unheard -= usize::from(changes(&request));
        let (response, refused) = match heard {
            EtcdHeard::Watched(_, response) => (Some(response), None),
            EtcdHeard::Event(_, shown, place) => (Some(Response::Event(event(&shown, place, &mut self.names)?)), None),
            EtcdHeard::Replied(_, Reply::Refused(why)) => (Some(Response::Failed), Some(why)),
            EtcdHeard::Replied(_, reply) => (answer(&request, &reply, &mut self.names)?, None),
        };
        let Some(response) = response else { return Ok(Vec::new()) };
        self.refusal = refused.or_else(|| Some(format!("the last answer was: {request}: {response}")));
        Ok(vec![EtcdMessage::Response(call, response)])
    }

    fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    /// What the program does not wait for has no number any more.
    fn renumber(&mut self, numbers: &BTreeMap<Call, Call>) {
        for (call, _) in self.requests.values_mut() {
            *call = numbers.get(call).copied().unwrap_or(Call(0));
        }
    }

    fn is_unfinished(&self) -> bool {
        self.unheard > 0
    }
}
