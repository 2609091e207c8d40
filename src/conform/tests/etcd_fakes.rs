//! Servers that answer as etcd does what a test tells them to, and write down what they are asked: a server that is not clearly empty is refused,
//! and what a member is still going to do never reaches the next crowd.

use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::{env, fs, process, thread};

use fencepost_conform::Removal;
use fencepost_conform::etcd::{EtcdCluster, EtcdPace, EtcdScript, EtcdServer, crowd_of_cluster};

use crate::fake_http::{answer, read_request};

/// The answer to a path: a status and a body; none: the connection breaks.
type Answers = dyn Fn(&str) -> Option<(u16, String)> + Send;

/// A server with such answers.
struct Fake {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Fake {
    fn with(answers: impl Fn(&str) -> Option<(u16, String)> + Send + 'static) -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = format!("http://{}", listener.local_addr().expect("bound"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&asked);
        thread::spawn(move || listener.incoming().flatten().for_each(|stream| serve(stream, &answers, &heard)));
        Fake { address, asked }
    }

    /// A member at a revision that has nothing in it. Calls at one path get no answer.
    fn member(revision: u8, lost: &'static str) -> Fake {
        Fake::with(move |path| match path {
            path if path == lost => None,
            path => Some(empty_at(path, revision)),
        })
    }

    /// What becomes of a run, and every request that was not a read.
    fn make_room(&self, removal: Removal) -> (Result<(), String>, Vec<String>) {
        let result = EtcdServer::connect(&self.address).and_then(|server| server.make_room(removal));
        let reads = ["/version", "/v3/kv/range", "/v3/lease/leases"];
        let asked = self.asked.lock().expect("no thread panics").clone();
        let writes = asked.into_iter().filter(|line| !reads.iter().any(|read| line.starts_with(read)));
        (result.map_err(|failure| failure.to_string()), writes.collect())
    }
}

fn serve(stream: TcpStream, answers: &Answers, heard: &Mutex<Vec<String>>) {
    let Some((asked, body)) = read_request(&stream) else { return };
    let path = asked.split(' ').nth(1).expect("a path");
    heard.lock().expect("no thread panics").push(format!("{path} {body}"));
    if let Some((status, body)) = answers(path) {
        answer(stream, status, &body);
    }
}

/// What a server with nothing in it answers.
fn empty_at(path: &str, revision: u8) -> (u16, String) {
    match path {
        "/version" => (200, r#"{"etcdserver": "3.4.23"}"#.to_owned()),
        _ => (200, format!(r#"{{"header": {{"revision": "{revision}"}}}}"#)),
    }
}

/// A server that answers everything as an empty one does, but for one path.
fn but_for(changed: &'static str, status: u16, body: &'static str) -> Fake {
    Fake::with(move |path| {
        let answer = if path == changed { (status, body.to_owned()) } else { empty_at(path, 1) };
        Some(answer)
    })
}

const REMOVALS: [Removal; 3] = [Removal::Nothing, Removal::Leftovers, Removal::Everything];

#[test]
fn a_server_that_says_clearly_that_it_is_empty_is_used() {
    let (result, writes) = Fake::member(1, "").make_room(Removal::Nothing);
    assert_eq!((result, writes), (Ok(()), vec![]));
}

#[test]
fn a_server_that_does_not_say_clearly_what_is_in_it_is_refused_and_nothing_is_removed() {
    let unclear = [
        (503, r#"{"error": "etcdserver: no leader", "code": 14}"#),
        (500, r#"{"header": {"revision": "1"}}"#),
        (404, "Not Found"),
        (200, "<html>it works</html>"),
        (200, "{}"),
        (200, "[]"),
        (200, "null"),
        (200, ""),
        (200, r#"{"header": {}}"#),
        (200, r#"{"header": {"revision": 1}}"#),
    ];
    let cut_short = (200, r#"{"header": {"revision": "1"}, "count": "2", "kvs": [{"key": "ZmVuY2Vwb3N0L2E="}]}"#);
    let no_ids = (200, r#"{"header": {"revision": "1"}, "leases": [{}]}"#);
    let cases = |path, more| unclear.into_iter().chain([more]).map(move |(status, body)| (path, status, body));
    for (path, status, body) in cases("/v3/kv/range", cut_short).chain(cases("/v3/lease/leases", no_ids)) {
        for removal in REMOVALS {
            let (result, writes) = but_for(path, status, body).make_room(removal);
            let why = result.expect_err("refused");
            assert!(why.contains("Nothing was removed"), "{path} {status} {body}: {why}");
            assert_eq!(writes, Vec::<String>::new(), "{path} {status} {body}");
        }
    }
}

#[test]
fn a_server_with_something_in_it_is_refused_and_what_goes_is_said() {
    // The key is `config`; `fencepost/a` and the lease bear the marks of a run.
    let key = r#"{"header": {"revision": "7"}, "count": "1", "kvs": [{"key": "Y29uZmln"}]}"#;
    let marked_key = r#"{"header": {"revision": "7"}, "count": "1", "kvs": [{"key": "ZmVuY2Vwb3N0L2E="}]}"#;
    let lease = r#"{"header": {"revision": "7"}, "leases": [{"ID": "8"}]}"#;
    let marked_lease = r#"{"header": {"revision": "7"}, "leases": [{"ID": "1717923427"}]}"#;
    let of = |path, body| move |removal| but_for(path, 200, body).make_room(removal);
    for (path, body, option) in [
        ("/v3/kv/range", key, "--wipe"),
        ("/v3/kv/range", marked_key, "--clean"),
        ("/v3/lease/leases", lease, "--wipe"),
        ("/v3/lease/leases", marked_lease, "--clean"),
    ] {
        let (result, writes) = of(path, body)(Removal::Nothing);
        let why = result.expect_err("in use");
        assert!(why.contains("the server is in use") && why.contains(option), "{why}");
        assert_eq!(writes, Vec::<String>::new());
    }
    let of_marks = r#"/v3/kv/deleterange {"key":"ZmVuY2Vwb3N0Lw==","prev_kv":false,"range_end":"ZmVuY2Vwb3N0MA=="}"#;
    let of_all = r#"/v3/kv/deleterange {"key":"AA==","prev_kv":false,"range_end":"AA=="}"#;
    assert_eq!(of("/v3/kv/range", key)(Removal::Leftovers).1, [of_marks]);
    assert_eq!(of("/v3/lease/leases", lease)(Removal::Leftovers).1, [of_marks], "another program's lease stays");
    let revoked = |id| format!(r#"/v3/lease/revoke {{"ID":"{id}"}}"#);
    assert_eq!(of("/v3/lease/leases", marked_lease)(Removal::Leftovers).1, [&revoked(1_717_923_427), of_marks]);
    assert_eq!(of("/v3/lease/leases", lease)(Removal::Everything).1, [&revoked(8), of_all]);
    let (result, _) = of("/v3/kv/range", key)(Removal::Everything);
    assert!(result.expect_err("it is still there").contains("in use"));
}

/// What becomes of a crowd at these members, and the commands to the operator.
fn crowd_at(members: &[Fake], name: &str) -> (Option<String>, Vec<String>) {
    let file = env::temp_dir().join(format!("fencepost-{}-{name}", process::id()));
    let addresses: Vec<&str> = members.iter().map(|member| member.address.as_str()).collect();
    let command = format!("echo >> '{}'", file.display());
    let cluster = EtcdCluster::connect(&addresses.join(","), &command).expect("they answer");
    let script = EtcdScript::drawn(1, 1, EtcdPace::Busy);
    let refused = crowd_of_cluster(&cluster, &script).err().map(|error| error.to_string());
    let commands = fs::read_to_string(&file).unwrap_or_default();
    let _ = fs::remove_file(file);
    (refused, commands.lines().map(str::to_owned).collect())
}

impl Fake {
    /// The instants, as numbers of requests, of those at a path.
    fn times(&self, path: &str) -> Vec<usize> {
        let asked = self.asked.lock().expect("no thread panics");
        (0..).zip(asked.iter()).filter(|(_, line)| line.starts_with(path)).map(|(time, _)| time).collect()
    }
}

#[test]
fn e_gen_8_after_calls_whose_outcome_is_unknown_every_process_is_started_anew() {
    let members = |lost| [7, 7, 7].map(|revision| Fake::member(revision, lost));
    let commits = |members: &[Fake]| members.iter().all(|member| !member.times("/v3/maintenance/hash").is_empty());
    let answered = members("");
    assert_eq!(crowd_at(&answered, "answered"), (None, vec![]), "nothing is on its way");
    assert!(!commits(&answered));
    let lost = members("/v3/kv/txn");
    assert_eq!(crowd_at(&lost, "lost"), (None, vec!["restart".to_owned()]));
    assert!(commits(&lost), "E-GEN-9: what was written is on disk before");
}

#[test]
fn e_gen_9_keys_are_changed_before_each_crowd_and_after_it() {
    let members = [7, 7, 7].map(|revision| Fake::member(revision, ""));
    assert_eq!(crowd_at(&members, "changed").0, None);
    let put = r#"/v3/kv/put {"ignore_lease":false,"ignore_value":false,"key":"ZmVuY2Vwb3N0L2E=","lease":"0","prev_kv":false,"value":""}"#;
    let marked = r#"/v3/kv/deleterange {"key":"ZmVuY2Vwb3N0Lw==","prev_kv":false,"range_end":"ZmVuY2Vwb3N0MA=="}"#;
    let removals = members[0].times(marked);
    assert!(removals.len() >= 2, "{removals:?}");
    let puts = members[0].times(put);
    for removal in [removals[0], removals[removals.len() - 1]] {
        assert!(puts.iter().any(|put| (removal.saturating_sub(4)..removal).contains(put)), "{puts:?} {removals:?}");
    }
}

#[test]
fn e_txn_6_members_that_differ_are_refused() {
    for revisions in [[7, 9, 9], [9, 9, 7], [9, 7, 9]] {
        let members = revisions.map(|revision| Fake::member(revision, ""));
        let (refused, commands) = crowd_at(&members, &format!("{}{}", revisions[0], revisions[2]));
        let why = refused.expect("refused");
        let shown = revisions.map(|revision| revision.to_string()).join(", ");
        assert!(why.contains(&shown) && why.contains("begin with new ones"), "{why}");
        assert_eq!(commands, Vec::<String>::new());
    }
}
