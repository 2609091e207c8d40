//! The streams of the stand-in beside those of a real server, which `FENCEPOST_ETCD` names: the same requests at both, while both are open.

use std::collections::BTreeMap;
use std::env;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use fencepost_serve::{Server, Settings};
use serde_json::{Value, json};

use super::bench::bytes;

/// After this time without a message there is none: a server gets to the history of a watch after 100 ms.
const SILENCE: Duration = Duration::from_millis(400);

fn key(name: &str) -> String {
    bytes(&format!("fencepost/beside/{name}"))
}

/// One of the servers, and the revision of its store at the beginning.
struct Side {
    host: String,
    base: i64,
}

impl Side {
    fn new(host: String) -> Side {
        let mut side = Side { host, base: 0 };
        side.base = side.post("/v3/kv/range", &json!({"key": key("a")}))["header"]["revision"].as_i64().expect("one");
        side
    }

    /// Sends a request; what comes until its server is silent.
    fn open(&self, path: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).expect("it listens");
        stream.set_read_timeout(Some(SILENCE)).expect("a timeout");
        write!(stream, "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{body}", body.len())
            .expect("it reads");
        stream
    }

    /// The status, and the messages.
    fn read(&self, mut stream: TcpStream) -> (String, Vec<Value>) {
        let (mut text, mut more) = (Vec::new(), [0; 8192]);
        loop {
            match stream.read(&mut more) {
                Ok(0) => break,
                Ok(count) => text.extend_from_slice(&more[..count]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => break,
                Err(error) => panic!("{error}"),
            }
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        let status = text.lines().next().unwrap_or("no answer").to_owned();
        let read = text.lines().filter_map(|line| serde_json::from_str(line).ok()).filter(Value::is_object);
        (status, read.map(|message| self.relative(message)).collect())
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let (_, mut messages) = self.read(self.open(path, &body.to_string()));
        messages.pop().expect("an answer")
    }

    /// Revisions count from the beginning, and what is fresh in each answer is left out.
    fn relative(&self, mut value: Value) -> Value {
        if let Some(header) = value.get_mut("header").and_then(Value::as_object_mut) {
            header.retain(|name, _| name == "revision");
        }
        match &mut value {
            Value::Object(fields) => {
                for (name, field) in fields {
                    let number = field.as_str().and_then(|text| text.parse::<i64>().ok());
                    *field = match number.filter(|_| name.ends_with("revision")) {
                        Some(revision) => json!(revision - self.base),
                        None => self.relative(field.take()),
                    };
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| *item = self.relative(item.take())),
            _ => {}
        }
        value
    }

    /// Revisions in requests count from the beginning, too.
    fn placed(&self, text: &str) -> String {
        let mut parts = text.split('<');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |placed, part| {
            let (revision, rest) = part.split_once('>').expect("a number");
            format!("{placed}{}{rest}", revision.parse::<i64>().expect("a number") + self.base)
        })
    }

    /// What each watch of a stream hears, in its order, while `then` is done, besides the status.
    fn hears(&self, body: &str, then: &[(&str, Value)]) -> (String, BTreeMap<String, Vec<Value>>) {
        let stream = self.open("/v3/watch", &self.placed(body));
        std::thread::sleep(Duration::from_millis(200));
        for (path, body) in then {
            self.post(path, body);
        }
        let (status, messages) = self.read(stream);
        let mut of_watches: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for message in messages {
            of_watches.entry(message["result"]["watch_id"].to_string()).or_default().push(message);
        }
        (status, of_watches)
    }
}

/// Everything that is asked of a server, with what it says.
fn told(side: &Side) -> Vec<(String, BTreeMap<String, Vec<Value>>)> {
    let (a, b) = (key("a"), key("b"));
    let (put_a, put_b) = (("/v3/kv/put", json!({"key": a})), ("/v3/kv/put", json!({"key": b, "value": "eA=="})));
    let of = |more: &str| format!(r#"{{"create_request":{{"key":"{a}"{more}}}}}"#);
    let both = format!(r#","range_end":"{}""#, key("c"));
    let txn = json!({"success": [{"request_put": {"key": b}}, {"request_put": {"key": a}}, {"request_delete_range": {"key": key("z")}}]});
    let delete = ("/v3/kv/deleterange", json!({"key": a, "range_end": key("c")}));
    let writes = [put_a.clone(), put_b, ("/v3/kv/txn", txn), delete.clone(), put_a.clone()];
    let cancel = |id: i64| format!(r#"{{"cancel_request":{{"watch_id":"{id}"}}}}"#);
    let progress = r#"{"progress_request":{}}"#;
    let id = |id: i64| format!(r#","watch_id":{id}"#);
    let mut said = vec![
        side.hears(&(of(&(both.clone() + r#","prev_kv":true"#)) + &of("")), &writes),
        side.hears(&of(&(both.clone() + r#","start_revision":<1>,"prev_kv":true"#)), std::slice::from_ref(&put_a)),
        side.hears(
            &(of(r#","start_revision":<1>,"filters":["NOPUT"]"#) + &of(r#","start_revision":"<1>","filters":[1,7]"#)),
            &[],
        ),
        side.hears(&of(r#","start_revision":<9>"#), &[put_a.clone(), put_a.clone(), put_a.clone()]),
        side.hears(&(of(r#","start_revision":<1>"#) + progress), &[]),
        side.hears(&(of(r#","start_revision":<1>"#) + &cancel(0)), std::slice::from_ref(&put_a)),
        side.hears(
            &[of(&id(5)), cancel(5), cancel(7), of(&id(5)), of(&id(5)), of(""), cancel(0), of(""), of(&id(-5))]
                .concat(),
            &[],
        ),
        side.hears(&format!(r#"{{"createRequest":{{"key":"{b}","rangeEnd":"{a}"}}}}"#), &[]),
        side.hears("", &[]),
        side.hears("{}", &[]),
        side.hears(&cancel(3), &[]),
        side.hears(&(of("") + " and more"), &[]),
        side.hears(&(of("") + r#"{"create_request":{"key":"a"}}"# + &of("")), std::slice::from_ref(&put_a)),
    ];
    // What is wrong from the first message on: the words of the errors differ.
    for body in ["{", "[]", r#"{"create_request":{"key":"a"}}"#, r#"{"create_request":{"filters":["X"]}}"#] {
        let (status, _) = side.hears(body, &[]);
        said.push((status, BTreeMap::new()));
    }
    side.post("/v3/kv/compaction", &serde_json::from_str(&side.placed(r#"{"revision":<6>}"#)).expect("JSON"));
    said.push(side.hears(&(of(r#","start_revision":<2>,"watch_id":7"#) + &of(r#","start_revision":<7>"#)), &[]));
    said.push(side.hears(&of(r#","start_revision":-1"#), std::slice::from_ref(&put_a)));
    side.post(delete.0, &delete.1);
    said
}

/// An election, and what each of its observers hears: the status, and the messages (E-CC-23).
fn told_to_observers(side: &Side) -> Vec<(String, Vec<Value>)> {
    let name = key("election");
    let below = |rest: &str| bytes(&format!("fencepost/beside/election/{rest}"));
    let observe = || {
        let observer = side.open("/v3/election/observe", &json!({ "name": name }).to_string());
        std::thread::sleep(Duration::from_millis(200));
        observer
    };
    let campaign = |lease: i64, value: &str| json!({"name": name, "lease": lease, "value": bytes(value)});
    let put = |key: &str, value: &str| side.post("/v3/kv/put", &json!({"key": below(key), "value": bytes(value)}));
    let delete = |key: &str| side.post("/v3/kv/deleterange", &json!({"key": below(key)}));
    let leases = [7_001, 7_002];
    for lease in leases {
        side.post("/v3/lease/grant", &json!({"ID": lease, "TTL": 600}));
    }
    // Before any leader; then one that proclaims two values, and resigns while another one waits.
    let mut observers = vec![observe(), observe()];
    let elected = side.post("/v3/election/campaign", &campaign(leases[0], "a"));
    let next = side.open("/v3/election/campaign", &campaign(leases[1], "b").to_string());
    std::thread::sleep(Duration::from_millis(200));
    for value in ["a1", "a2"] {
        side.post("/v3/election/proclaim", &json!({"leader": elected["leader"], "value": bytes(value)}));
    }
    side.post("/v3/kv/put", &json!({"key": key("other")}));
    observers.push(observe());
    // What observers have heard is compacted behind them.
    side.post("/v3/kv/compaction", &serde_json::from_str(&side.placed(r#"{"revision":<5>}"#)).expect("JSON"));
    side.post("/v3/election/resign", &json!({"leader": elected["leader"]}));
    let (_, mut elected) = side.read(next);
    let elected = elected.pop().expect("an answer");
    side.post("/v3/election/proclaim", &json!({"leader": elected["leader"], "value": bytes("b1")}));
    // The lease goes, and with it the key: no key is there, then one without a value and a lease, then two that are as old.
    side.post("/v3/lease/revoke", &json!({"ID": leases[1]}));
    observers.push(observe());
    put("x", "");
    delete("x");
    let both = json!([{"request_put": {"key": below("z")}}, {"request_put": {"key": below("y")}}]);
    side.post("/v3/kv/txn", &json!({ "success": both }));
    observers.push(observe());
    put("y", "y1");
    put("z", "z1");
    let mut heard: Vec<_> = observers.into_iter().map(|observer| side.read(observer)).collect();
    side.post("/v3/lease/revoke", &json!({"ID": leases[0]}));
    side.post("/v3/kv/deleterange", &json!({"key": below(""), "range_end": key("election0")}));
    side.post("/v3/kv/deleterange", &json!({"key": key("other")}));
    // What is wrong: the words of the errors differ. What is not an object, or nothing, is an election without a name.
    for body in ["{", "[]", "7", r#"{"name":7}"#, r#"{"name":"a"}"#] {
        let (status, _) = side.read(side.open("/v3/election/observe", body));
        heard.push((status, Vec::new()));
    }
    for body in ["", "{}", "null", r#"{"nam":"YQ=="}"#] {
        heard.push(side.read(side.open("/v3/election/observe", body)));
    }
    heard
}

#[test]
fn a_live_etcd_tells_watches_and_observers_what_the_stand_in_tells_them() {
    let Ok(address) = env::var("FENCEPOST_ETCD") else {
        eprintln!("skipped: no live etcd server, for FENCEPOST_ETCD names none");
        return;
    };
    let server = Server::start_etcd(Settings::default(), "127.0.0.1:0").expect("a free port");
    let hosts = [address.trim_start_matches("http://").to_owned(), server.address().to_string()];
    let [real, own] = hosts.clone().map(|host| told(&Side::new(host)));
    for (place, (real, own)) in real.iter().zip(&own).enumerate() {
        assert_eq!(real, own, "number {place}");
    }
    let [real, own] = hosts.clone().map(|host| told_to_observers(&Side::new(host)));
    for (place, (real, own)) in real.iter().zip(&own).enumerate() {
        assert_eq!(real, own, "observer {place}");
    }
    // What comes next at the server wants it to be empty.
    for host in hosts {
        let every = json!({"key": "AA==", "range_end": "AA==", "count_only": true});
        assert_eq!(Side::new(host).post("/v3/kv/range", &every)["count"], Value::Null);
    }
    let counts: Vec<usize> = own.iter().map(|(_, messages)| messages.len()).collect();
    assert_eq!(counts, [8, 8, 6, 3, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
}
