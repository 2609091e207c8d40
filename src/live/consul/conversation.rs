//! Requests of one client to the agent, each in a thread and on a connection of its own, as in the model.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use fencepost_consul::{Consul, ConsulMessage, Request};
use fencepost_model::ids::{Call, ClientId};

use super::agent::Agent;
use super::http::{Reply, answer, question};
use super::names::SessionIds;
use super::wire::send;
use crate::LiveError;
use crate::server::{Conversation, LiveServer, Post};

/// What one client asks an agent.
#[derive(Debug)]
pub struct HttpConversation {
    agent: Agent,
    names: SessionIds,
    post: Post<(u64, Reply)>,
    /// Requests under way, by their number here: the program's number, and what was asked.
    requests: BTreeMap<u64, (Call, Request)>,
    /// How many requests are under way that change something.
    unheard: usize,
    /// The number of the newest request.
    asked: u64,
    /// The last answer that may have made the recipe give up.
    refusal: Option<String>,
}

impl LiveServer for Agent {
    type Service = Consul;
    type Conversation = HttpConversation;

    fn tick(&self) -> Duration {
        self.tick
    }

    fn client(&self) -> ClientId {
        self.client
    }

    fn converse(&self, post: Post<(u64, Reply)>) -> HttpConversation {
        HttpConversation {
            agent: self.clone(),
            names: SessionIds::new(self.client),
            post,
            requests: BTreeMap::new(),
            unheard: 0,
            asked: 0,
            refusal: None,
        }
    }
}

impl Conversation for HttpConversation {
    type Service = Consul;
    type Heard = (u64, Reply);

    fn send(&mut self, message: ConsulMessage) -> Result<(), LiveError> {
        let ConsulMessage::Request(call, request) = message else {
            return Err(LiveError::Unsupported(message.to_string()));
        };
        let question = question(&request, &self.agent, &self.names)?;
        self.asked += 1;
        self.requests.insert(self.asked, (call, request));
        self.unheard += usize::from(changes(&request));
        let (number, base, post) = (self.asked, self.agent.base.clone(), self.post.clone());
        thread::spawn(move || post.deliver((number, send(&base, &question))));
        Ok(())
    }

    fn hear(&mut self, (number, reply): (u64, Reply)) -> Result<Vec<ConsulMessage>, LiveError> {
        let Some((call, request)) = self.requests.remove(&number) else { return Ok(Vec::new()) };
        self.unheard -= usize::from(changes(&request));
        let Some(answer) = answer(&request, &reply, &self.agent, &mut self.names)? else { return Ok(Vec::new()) };
        self.refusal = Some(match reply {
            Reply::Refused(why) | Reply::Closed(why) => why,
            _ => format!("the last answer was: {request}: {answer}"),
        });
        Ok(vec![ConsulMessage::Response(call, answer)])
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

/// Whether the request changes anything at the agent.
fn changes(request: &Request) -> bool {
    !matches!(
        request,
        Request::Get(_)
            | Request::GetConsistent(_)
            | Request::List
            | Request::Before(_)
            | Request::FindSession
            | Request::Watch(_)
            | Request::WatchConsistent(_)
            | Request::SessionInfo(_)
            | Request::Sessions(_)
            | Request::Keys(_)
            | Request::Tree(_)
            | Request::Leader
            | Request::Nodes
            | Request::NodeHealth(_)
    )
}
