//! What is asked and answered at the edge, and what is known besides.

use std::fmt;

use fencepost_model::ids::Index;
use fencepost_model::mutation::Mutation;

use super::SECOND;
use super::class::Class;
use super::duration;
use super::names::NameLimitError;
use super::shape::BodyShape;

/// What is asked, as it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HttpRequest {
    /// `GET`, `PUT`, `POST` or `DELETE`.
    pub method: String,
    /// The path with its query: `/v1/kv/lead?acquire=…`.
    pub url: String,
    /// The body.
    pub body: Vec<u8>,
}

/// What must be answered.
#[derive(Clone, PartialEq, Debug)]
pub struct Expected {
    /// What the answer says, and by which rule.
    pub class: Class,
    /// The status.
    pub status: u16,
    /// What `X-Consul-Index` says, where it says something that is known.
    pub index: Option<Index>,
    /// Whether `X-Consul-Index` is there; none: that is not known. C-GEN-7.
    pub has_index: Option<bool>,
    /// The body.
    pub body: BodyShape,
}

/// What was answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// `X-Consul-Index`, if it was there.
    pub index: Option<u64>,
    /// Whether all headers are known: then an index that is not there was not sent.
    pub has_headers: bool,
    /// What the headers say about the leader; none: that is not known.
    pub contact: Option<Contact>,
    /// The body.
    pub body: Vec<u8>,
}

/// `X-Consul-KnownLeader` and `X-Consul-LastContact`, each as it was sent, if it was. C-GEN-7.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Contact {
    /// Whether there is a leader: `true` or `false`.
    pub known_leader: Option<String>,
    /// How long ago the server has heard from it, in milliseconds.
    pub last_contact: Option<String>,
}

impl fmt::Display for Contact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "missing".to_owned());
        let (known_leader, last_contact) = (text(&self.known_leader), text(&self.last_contact));
        write!(f, "X-Consul-KnownLeader {known_leader} and X-Consul-LastContact {last_contact}")
    }
}

/// What an agent is configured with.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// `session_ttl_min`, in nanoseconds. C-SES-7.
    pub session_ttl_min: i64,
    /// A fault that is built in on purpose.
    pub mutation: Option<Mutation>,
}

impl Default for Options {
    fn default() -> Self {
        Options { session_ttl_min: 10 * SECOND, mutation: None }
    }
}

/// What is known of a request that has been answered already.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Hint {
    /// Whether it was a success, where that is known: decides what an index is that has not been seen before.
    pub success: Option<bool>,
    /// Whether the leader has looked at the lock-delay already, some time ago. C-LD-9.
    pub has_passed: bool,
    /// Which operations of a transaction were refused because their index is stale, a bit for each: then it is not the present one.
    pub stale: u64,
}

/// A request, taken apart.
pub(super) struct Parts<'a> {
    pub(super) method: &'a str,
    /// Below the endpoint, decoded.
    pub(super) path: String,
    pub(super) query: Vec<(String, String)>,
    pub(super) body: &'a [u8],
    /// Whether the path is below `/v1/kv/`.
    pub(super) is_about_keys: bool,
    /// Whether it is a registration: its body names the datacenter.
    pub(super) is_about_catalog: bool,
}

impl Parts<'_> {
    /// The first value of a parameter.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }
}

/// What an endpoint answers, or why it cannot: too much of something for the model.
pub(super) type Answered = Result<Expected, NameLimitError>;

impl Expected {
    pub(super) fn new(class: Class, status: u16, body: BodyShape) -> Self {
        Expected { class, status, index: None, has_index: None, body }
    }

    /// A text, as errors have it.
    pub(super) fn text(class: Class, status: u16, text: impl Into<String>) -> Self {
        Expected::new(class, status, BodyShape::Text(text.into()))
    }

    /// `true` or `false`.
    pub(super) fn done(class: Class, done: bool) -> Self {
        Expected::new(class, 200, BodyShape::Json(done.into()))
    }

    /// A success without a body.
    pub(in super::super) fn done_silently(class: Class) -> Self {
        Expected::new(class, 200, BodyShape::Nothing)
    }

    /// A read, at an index; one of 0 is not known.
    pub(super) fn at(mut self, index: Index) -> Self {
        self.index = (index != Index::NONE).then_some(index);
        self.has_index = Some(true);
        self
    }
}

/// C-KV-26: a number as Go reads it: digits and nothing else.
pub fn unsigned(text: &str) -> Option<u64> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}

/// C-BLK-2, C-CON-1: what is wrong with the options that every read has.
pub(super) fn refused_options(parts: &Parts<'_>) -> Option<Expected> {
    if parts.get("wait").is_some_and(|wait| !wait.is_empty() && duration::nanoseconds(wait).is_err()) {
        return Some(Expected::text(Class::BadWait, 400, "Invalid wait time"));
    }
    if parts.get("index").is_some_and(|index| !index.is_empty() && unsigned(index).is_none()) {
        return Some(Expected::text(Class::BadIndex, 400, "Invalid index"));
    }
    if parts.has("stale") && parts.has("consistent") {
        return Some(Expected::text(Class::ModesConflict, 400, "Cannot specify ?stale with ?consistent"));
    }
    // What is read here is never cached; but the option is looked at.
    let is_refused = parts.has("cached") && parts.has("consistent");
    is_refused.then(|| Expected::text(Class::CacheConflict, 400, "Cannot specify ?cached with ?consistent"))
}
