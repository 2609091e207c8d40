//! Requests and answers as the package has them on the wire, and as the model has them.

use fencepost_model::ids::{ClientId, Index, RawId};
use fencepost_observed_lease::{Entry, Name, Request, Response};
use serde_json::{Value, json};

use super::schedule::LockObject;

/// The annotation of `ConfigMapLock`.
const ANNOTATION: &str = "control-plane.alpha.kubernetes.io/leader";

/// A request, as both sides say it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WireRequest {
    /// GET.
    Get,
    /// POST.
    Create(WireRecord),
    /// PUT, with the version that it replaces.
    Update(String, WireRecord),
}

/// The record of an election. Times are in milliseconds, as text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WireRecord {
    /// holderIdentity.
    pub holder: String,
    /// leaseDurationSeconds, in milliseconds.
    pub duration: i64,
    /// acquireTime.
    pub acquired: String,
    /// renewTime.
    pub renewed: String,
}

/// The identity of a client's first process.
pub fn identity(client: ClientId) -> String {
    format!("{}.1", client.0)
}

/// A time of the epoch in `elector.py`.
pub fn time(milliseconds: i64) -> String {
    let seconds = milliseconds / 1000;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!("2026-01-01T{hours:02}:{minutes:02}:{:02}.{:03}", seconds % 60, milliseconds % 1000)
}

/// A request of the model with the times that a client writes; none: no request of this client.
pub fn modelled(request: Request, tick: i64, acquired: &str, renewed: &str) -> WireRequest {
    let record = |entry: Entry| WireRecord {
        holder: entry.holder.as_ref().map(Name::to_string).unwrap_or_default(),
        duration: entry.duration.count() * tick,
        acquired: acquired.to_owned(),
        renewed: renewed.to_owned(),
    };
    match request {
        Request::Get => WireRequest::Get,
        Request::Create(entry) => WireRequest::Create(record(entry)),
        Request::Put(entry, Some(version)) => WireRequest::Update(version.raw().to_string(), record(entry)),
        other => panic!("the elector does not send this: {other}"),
    }
}

impl LockObject {
    /// Where its objects are.
    fn place(self) -> &'static str {
        match self {
            LockObject::Lease => "/apis/coordination.k8s.io/v1/namespaces/default/leases",
            LockObject::ConfigMap => "/api/v1/namespaces/default/configmaps",
        }
    }

    /// What the body of a request records, as it is kept.
    pub fn content(self, body: &Value) -> Value {
        match self {
            LockObject::Lease => body["spec"].clone(),
            LockObject::ConfigMap => body["metadata"]["annotations"].clone(),
        }
    }

    /// The record in what is kept.
    pub fn record(self, content: &Value) -> WireRecord {
        let inner = match self {
            LockObject::Lease => content.clone(),
            LockObject::ConfigMap => {
                serde_json::from_str(content[ANNOTATION].as_str().expect("the annotation")).expect("JSON")
            }
        };
        let text = |name: &str| inner[name].as_str().unwrap_or_default().to_owned();
        let time = |name: &str| text(name).replace(' ', "T").get(..23).unwrap_or("no time").to_owned();
        let seconds = match &inner["leaseDurationSeconds"] {
            Value::String(text) => text.parse().expect("a number"),
            other => other.as_f64().expect("a number"),
        };
        WireRecord {
            holder: text("holderIdentity"),
            duration: milliseconds(seconds),
            acquired: time("acquireTime"),
            renewed: time("renewTime"),
        }
    }

    /// A request of the package.
    pub fn request(self, method: &str, url: &str, body: Option<&Value>) -> WireRequest {
        let path = url.strip_prefix("http://localhost").unwrap_or(url);
        let name = path.strip_prefix(self.place()).unwrap_or_else(|| panic!("a request to {url}"));
        let record = || self.record(&self.content(body.expect("a body")));
        match (method, name) {
            ("GET", "/lead") => WireRequest::Get,
            ("POST", "") => WireRequest::Create(record()),
            ("PUT", "/lead") => {
                let version = &body.expect("a body")["metadata"]["resourceVersion"];
                WireRequest::Update(version.as_str().unwrap_or("none").to_owned(), record())
            }
            _ => panic!("the package sends {method} {url}"),
        }
    }

    fn object(self, version: Index, content: &Value) -> String {
        let metadata = json!({ "name": "lead", "namespace": "default", "resourceVersion": version.raw().to_string() });
        let mut object = match self {
            LockObject::Lease => {
                json!({ "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": content })
            }
            LockObject::ConfigMap => json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata }),
        };
        if self == LockObject::ConfigMap {
            object["metadata"]["annotations"] = content.clone();
        }
        object.to_string()
    }

    /// An answer of the store: `content` is that of a version; `error` is the error that it answers with, if it does.
    pub fn answer(self, response: Response, error: Option<(u16, bool)>, content: impl Fn(Index) -> Value) -> Value {
        let (status, body) = match response {
            Response::Found(Some(shown)) => (200, self.object(shown.version, &content(shown.content))),
            Response::Written(version) => (200, self.object(version, &content(version))),
            Response::Found(None) => (404, failure(404)),
            Response::Conflict => (409, failure(409)),
            Response::Unavailable => match error.expect("the store fails because the schedule says so") {
                (status, true) => {
                    return json!({ "status": status, "type": "text/html", "body": "<html>upstream</html>" });
                }
                (status, false) => (status, failure(status)),
            },
            other => panic!("the store does not answer this: {other}"),
        };
        json!({ "status": status, "type": "application/json", "body": body })
    }
}

/// A Status object.
fn failure(code: u16) -> String {
    json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code }).to_string()
}

/// Seconds of the package, which are whole milliseconds.
pub fn milliseconds(seconds: f64) -> i64 {
    let text = format!("{:.0}", seconds * 1000.0);
    text.parse().expect("a whole number")
}
