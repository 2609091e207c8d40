//! An agent that does not say clearly that it is empty is refused, and nothing in it is touched. The agents here are fakes:
//! they answer what they are told to, and write down what they are asked.

use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use fencepost_conform::{Consul, Removal};

use crate::fake_http::{answer, read_request};

/// A path with the status and the body of its answer.
type Answer = (&'static str, u16, &'static str);

/// What every agent says of itself.
const ABOUT: &str =
    r#"{"Config": {"NodeName": "here", "Version": "1.8.7"}, "Stats": {"raft": {"applied_index": "7"}}}"#;

/// An agent that is empty.
const EMPTY: [Answer; 6] = [
    ("/v1/agent/self", 200, ABOUT),
    ("/v1/kv/?keys", 200, "[]"),
    ("/v1/session/list", 200, "[]"),
    ("/v1/query", 200, "[]"),
    ("/v1/agent/checks", 200, "{}"),
    ("/v1/catalog/nodes", 200, r#"[{"Node": "here"}]"#),
];

/// A server with these answers in place of an empty agent's.
struct Fake {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Fake {
    fn with(changed: &[Answer]) -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = format!("http://{}", listener.local_addr().expect("bound"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (answers, heard) = ([changed, &EMPTY].concat(), Arc::clone(&asked));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                serve(stream, &answers, &heard);
            }
        });
        Fake { address, asked }
    }

    /// What becomes of a run, and every request that was not a read.
    fn make_room(&self, removal: Removal) -> (Result<(), String>, Vec<String>) {
        let result = Consul::connect(&self.address).and_then(|consul| consul.make_room(removal));
        let asked = self.asked.lock().expect("no thread panics").clone();
        let writes = asked.into_iter().filter(|line| !line.starts_with("GET ")).collect();
        (result.map_err(|failure| failure.to_string()), writes)
    }
}

fn serve(stream: TcpStream, answers: &[Answer], heard: &Mutex<Vec<String>>) {
    let Some((asked, body)) = read_request(&stream) else { return };
    let url = asked.split(' ').nth(1).expect("an url");
    let known = answers.iter().find(|(path, ..)| *path == url).map(|(_, status, body)| (*status, *body));
    let is_write = !asked.starts_with("GET ");
    heard.lock().expect("no thread panics").push(format!("{asked} {body}").trim_end().to_owned());
    let (status, body) = known.unwrap_or(if is_write { (200, "true") } else { (404, "") });
    answer(stream, status, body);
}

#[test]
fn an_agent_that_says_clearly_that_it_is_empty_is_used() {
    for removal in [Removal::Nothing, Removal::Leftovers, Removal::Everything] {
        assert_eq!(Fake::with(&[]).make_room(removal), (Ok(()), vec![]), "{removal:?}");
    }
}

#[test]
fn an_agent_with_an_unclear_inventory_is_refused_and_nothing_is_removed() {
    let unclear = [
        (500, "No cluster leader"),
        (500, "[]"),
        (403, "Permission denied"),
        (404, ""),
        (200, "<html>it works</html>"),
        (200, "{}"),
        (200, "null"),
        (200, ""),
        (200, "[7]"),
        (301, ""),
    ];
    for (url, ..) in &EMPTY[1..] {
        // An empty object is the empty list of checks.
        for (status, body) in unclear.into_iter().filter(|answer| !url.ends_with("/checks") || *answer != (200, "{}")) {
            for removal in [Removal::Nothing, Removal::Leftovers, Removal::Everything] {
                let (result, writes) = Fake::with(&[(url, status, body)]).make_room(removal);
                let why = result.expect_err("refused");
                assert!(why.contains(url) && why.contains("Nothing was removed"), "{url} {status} {body}: {why}");
                assert_eq!(writes, Vec::<String>::new(), "{url} {status} {body}");
                if status != 200 {
                    assert!(why.contains(&status.to_string()), "it says what was seen: {why}");
                }
            }
        }
    }
    let (result, writes) = Fake::with(&[("/v1/catalog/nodes", 200, "[]")]).make_room(Removal::Everything);
    assert!(result.expect_err("its own node must be there").contains("own node"));
    assert_eq!(writes, Vec::<String>::new());
    let guarded = r#"{"Config": {"NodeName": "here"}, "DebugConfig": {"ACLsEnabled": true}}"#;
    let (result, writes) = Fake::with(&[("/v1/agent/self", 200, guarded)]).make_room(Removal::Everything);
    assert!(result.expect_err("lists may be cut short").contains("access control"));
    assert_eq!(writes, Vec::<String>::new());
}

#[test]
fn an_agent_with_something_in_it_is_refused_and_everything_goes_only_on_request() {
    let used = [
        ("/v1/kv/?keys", 200, r#"["fencepost/7-1/a", "config/db"]"#),
        ("/v1/session/list", 200, r#"[{"ID": "s1", "Name": "", "Node": "here"}]"#),
    ];
    let (result, writes) = Fake::with(&used).make_room(Removal::Nothing);
    let why = result.expect_err("in use");
    assert!(why.contains("2 keys, 1 sessions") && why.contains("--wipe") && !why.contains("--clean"), "{why}");
    assert_eq!(writes, Vec::<String>::new());
    // This fake never gets empty: what counts is what it is asked for.
    let (_, writes) = Fake::with(&used).make_room(Removal::Everything);
    assert_eq!(writes, ["PUT /v1/session/destroy/s1", "DELETE /v1/kv/?recurse"]);
}

#[test]
fn leftovers_of_a_killed_run_are_recognised_by_name_and_removed_only_on_request() {
    let left = [
        ("/v1/kv/?keys", 200, r#"["fencepost/7-1/a"]"#),
        (
            "/v1/session/list",
            200,
            r#"[{"ID": "s1", "Name": "fencepost", "Node": "here"}, {"ID": "s2", "Name": "", "Node": "fencepost-n1"}]"#,
        ),
        ("/v1/query", 200, r#"[{"ID": "q1", "Name": "", "Session": "S2"}]"#),
        ("/v1/catalog/nodes", 200, r#"[{"Node": "here"}, {"Node": "fencepost-n1"}]"#),
    ];
    let (result, writes) = Fake::with(&left).make_room(Removal::Nothing);
    assert!(result.expect_err("in use").contains("--clean removes it"));
    assert_eq!(writes, Vec::<String>::new());
    let removed = [
        "PUT /v1/session/destroy/s1",
        "PUT /v1/session/destroy/s2",
        "DELETE /v1/query/q1",
        r#"PUT /v1/catalog/deregister {"Node":"fencepost-n1"}"#,
        "DELETE /v1/kv/fencepost/?recurse",
    ];
    assert_eq!(Fake::with(&left).make_room(Removal::Leftovers).1, removed);
    // Beside other data, only keys with our names are deleted.
    let mut mixed = left;
    mixed[0].2 = r#"["fencepost/7-1/a", "fencepost", "fencepostal/x"]"#;
    mixed[1].2 = r#"[{"ID": "s3", "Name": "fencepost lock", "Node": "here"}]"#;
    mixed[2].2 = r#"[{"ID": "q1", "Name": "web", "Session": "s3"}]"#;
    let (result, writes) = Fake::with(&mixed).make_room(Removal::Leftovers);
    assert_eq!(writes, [removed[3], removed[4]]);
    assert!(result.expect_err("in use").contains("--wipe"));
}

#[test]
fn a_removal_that_fails_ends_the_run() {
    let used = [
        ("/v1/session/list", 200, r#"[{"ID": "s1", "Name": "", "Node": "here"}]"#),
        ("/v1/session/destroy/s1", 403, "Permission denied"),
    ];
    let (result, writes) = Fake::with(&used).make_room(Removal::Everything);
    assert!(result.expect_err("refused").contains("403"));
    assert_eq!(writes, ["PUT /v1/session/destroy/s1"]);
}
