//! `serve` and `torture`, as programs meet them.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::program::{fencepost, folder, json, stderr, stdout};

/// A stand-in for a Consul agent that has said where it listens.
fn serve(arguments: &[&str]) -> (Child, String) {
    serve_as("consul", arguments)
}

/// A stand-in that has said where it listens.
fn serve_as(server: &str, arguments: &[&str]) -> (Child, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args(["serve", server])
        .args(arguments)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let address = address(&mut child);
    (child, address)
}

/// Where a stand-in listens, as it says.
fn address(child: &mut Child) -> String {
    let mut first = String::new();
    let output = child.stdout.as_mut().expect("a pipe");
    BufReader::with_capacity(1, output).read_line(&mut first).expect("it says where it is");
    let ready: serde_json::Value = serde_json::from_str(&first).expect("JSON");
    ready["address"].as_str().expect("an address").to_owned()
}

fn ask(address: &str, method: &str, url: &str) -> String {
    send(address, method, url, "")
}

fn send(address: &str, method: &str, url: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let length = body.len();
    write!(stream, "{method} {url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}")
        .expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}

/// The exit code after a signal, and what was left on stdout.
fn end(mut child: Child, signal: &str) -> (Option<i32>, String) {
    let kill = format!("kill -{signal} {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().expect("there is a shell").success(), "{kill}");
    let mut rest = String::new();
    child.stdout.as_mut().expect("a pipe").read_to_string(&mut rest).expect("text");
    (child.wait().expect("it ends").code(), rest)
}

#[test]
fn a_link_by_the_name_of_consul_is_an_agent() {
    let folder = folder("by-name");
    let (link, file) = (folder.join("consul"), folder.join("agent.json"));
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fencepost"), &link).expect("a link");
    fs::write(&file, r#"{"node_name": "from-file", "bind_addr": "127.0.0.1", "ports": {"http": 0, "server": 1}}"#)
        .expect("a file");
    let version = Command::new(&link).arg("version").output().expect("it starts");
    assert!(stdout(&version).starts_with("Consul v1.8.7\n"), "{version:?}");
    let help = Command::new(&link).args(["agent", "-help"]).output().expect("it starts");
    assert!(help.status.success() && stdout(&help).starts_with("consul agent [-config-file FILE]"), "{help:?}");
    let wrong = Command::new(&link).args(["members"]).output().expect("it starts");
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    let mut child = Command::new(&link)
        .args(["agent", "-dev", "-config-file"])
        .arg(&file)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let address = address(&mut child);
    assert!(ask(&address, "GET", "/v1/agent/self").contains("\"from-file\""));
    let mut said = String::new();
    let mut errors = child.stderr.take().expect("a pipe");
    assert_eq!(end(child, "TERM").0, Some(0));
    errors.read_to_string(&mut said).expect("text");
    assert_eq!(said, "fencepost: ignored: -dev, ports.server\n");
}

#[test]
fn a_signal_ends_a_stand_in_with_its_verdict_and_its_record() {
    let log = folder("stand-in").join("run.jsonl").display().to_string();
    for (signal, clients, code) in [("INT", &[][..], 0), ("TERM", &["a", "b"], 1)] {
        let (child, address) = serve(&["--clock", "manual", "--record", &log]);
        assert!(ask(&address, "PUT", "/v1/kv/lead").ends_with("true"));
        for client in clients {
            ask(&address, "PUT", &format!("/fencepost/inside?key=lead&client={client}"));
        }
        let (ended, rest) = end(child, signal);
        assert_eq!(ended, Some(code), "{rest}");
        assert_eq!(rest.contains("mutual-exclusion of lead is violated: a and b are both inside"), code == 1, "{rest}");
        let judged = fencepost(&["conform", "--recorded", &log, "--quiet"]);
        assert_eq!(judged.status.code(), Some(0), "{}{}", stdout(&judged), stderr(&judged));
        assert!(stdout(&judged).contains("1 answers are possible"), "{}", stdout(&judged));
    }
}

const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

/// Creates the lease `lead` for a holder, in place of the one that there is.
fn create_lease(address: &str, holder: &str) {
    ask(address, "DELETE", &format!("{LEASES}/lead"));
    let spec = format!(r#"{{"holderIdentity": "{holder}", "leaseDurationSeconds": 15}}"#);
    let created = send(address, "POST", LEASES, &format!(r#"{{"metadata": {{"name": "lead"}}, "spec": {spec}}}"#));
    assert!(created.starts_with("HTTP/1.1 201 "), "{created}");
}

#[test]
fn a_stand_in_for_leases_says_who_held_them_when_it_ends() {
    let folder = folder("leases");
    let [log, plan] = ["run.jsonl", "leases.plan"].map(|name| folder.join(name).display().to_string());
    fs::write(&plan, "on GET *leases/lead #1: status 503 \"the server is currently unable to handle the request\"\n")
        .expect("written");
    for (signal, holders, code, said) in [
        ("INT", &["a"][..], 0, "default/lead: a from 0.00"),
        ("TERM", &["a", "b"], 1, "lease-exclusion of default/lead is violated: two clients have been told"),
    ] {
        let options = ["--clock", "manual", "--seed", "7", "--client", "a", "--plan", &plan, "--record", &log];
        let (child, address) = serve_as("leases", &options);
        holders.iter().for_each(|holder| create_lease(&address, holder));
        assert!(ask(&address, "GET", &format!("{LEASES}/lead")).starts_with("HTTP/1.1 503 "));
        let (ended, rest) = end(child, signal);
        assert_eq!((ended, rest.contains(said)), (Some(code), true), "{rest}");
        let record = fs::read_to_string(&log).expect("it is written");
        assert_eq!(record.lines().count(), 2 * holders.len() + 1, "{record}");
    }
    fs::write(&plan, "on GET *: leader-change\n").expect("written");
    let output = fencepost(&["serve", "leases", "--plan", &plan]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("the stand-in for leases has no such fault"), "{}", stderr(&output));
}

#[test]
fn a_stand_in_for_etcd_answers_the_gateway_and_is_one_for_conform() {
    let (child, address) = serve_as("etcd", &["--timers", "seeded=500ms"]);
    let granted = send(&address, "POST", "/v3/lease/grant", r#"{"ID": 7, "TTL": 50}"#);
    assert!(granted.starts_with("HTTP/1.1 200 ") && granted.contains(r#""TTL":"50""#), "{granted}");
    assert!(send(&address, "POST", "/v3/maintenance/status", "{}").starts_with("HTTP/1.1 501 "));
    let url = format!("http://{address}");
    let output = fencepost(&["conform", "--etcd", &url, "--commands", "300", "--concurrent", "20", "--quiet"]);
    assert_eq!(output.status.code(), Some(2), "it is in use: {}", stderr(&output));
    assert!(send(&address, "POST", "/v3/lease/revoke", r#"{"ID": 7}"#).starts_with("HTTP/1.1 200 "));
    let output = fencepost(&["conform", "--etcd", &url, "--commands", "300", "--concurrent", "20", "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).contains("answers of etcd 3.4.23 are as the model says"), "{}", stdout(&output));
    assert_eq!(end(child, "TERM").0, Some(0));
}

#[test]
fn a_counterexample_happens_at_the_stand_in_for_etcd() {
    let (child, address) = serve_as("etcd", &[]);
    let output = fencepost(&["reenact", "e10-held", "--etcd", &format!("http://{address}"), "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).starts_with("✓ e10-held mutual-exclusion: happened in "), "{}", stdout(&output));
    assert_eq!(end(child, "TERM").0, Some(0));
}

#[test]
fn a_stand_in_starts_from_the_configuration_of_an_agent() {
    let file = folder("configuration").join("agent.json");
    fs::write(&file, r#"{"node_name": "here", "bind_addr": "127.0.0.1", "ports": {"http": 0}}"#).expect("written");
    let (child, address) = serve(&["--config-file", &file.display().to_string()]);
    assert!(ask(&address, "GET", "/v1/agent/self").contains("\"NodeName\":\"here\""));
    assert_eq!(end(child, "TERM").0, Some(0));
}

#[test]
fn bad_options_of_a_stand_in_are_bad_input() {
    let plan = folder("bad-plan").join("bad.plan");
    fs::write(&plan, "# nothing\non PUT /v1/kv/lead: explode\n").expect("written");
    for (arguments, part) in [
        (&["--plan", &plan.display().to_string()][..], "line 2: `explode`"),
        (&["--clock", "broken"], "there are real, scaled=100"),
        (&["--timers", "never"], "there are earliest, late=1s"),
        (&["--listen", "nowhere"], "nowhere: "),
        (&["--session-ttl-min", "soon"], "a duration, as 10s"),
    ] {
        let output = fencepost(&[&["serve", "consul"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(part), "{arguments:?}: {}", stderr(&output));
    }
}

/// Two clients that take whatever is not `false` for the lock.
const CARELESS: &str = r#"
exec 2>/dev/null
ask() {
  exec 3<>"/dev/tcp/${CONSUL_HTTP_ADDR/:/\/}" || return
  printf '%s %s HTTP/1.1\r\nHost: x\r\nX-Fencepost-Client: %s\r\nConnection: close\r\nContent-Length: 0\r\n\r\n' "$1" "$2" "$3" >&3
  cat <&3
}
id=$(ask PUT /v1/session/create a | grep -o '[0-9a-f-]\{36\}')
for client in a b; do
  [[ $(ask PUT "/v1/kv/lead?acquire=$id" $client) == *false ]] || ask PUT "/fencepost/inside?key=lead&client=$client" $client
  [ "$client" = b ] || ask PUT "/fencepost/outside?key=lead&client=a" a
  id=$(ask PUT /v1/session/create b | grep -o '[0-9a-f-]\{36\}')
done
true
"#;

/// The JSON lines of a stand-in whose clients are inside together, and of `torture`.
pub fn json_lines(printed: &mut BTreeMap<&'static str, Vec<serde_json::Value>>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args(["serve", "consul", "--clock", "manual", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut first = String::new();
    let output = child.stdout.as_mut().expect("a pipe");
    BufReader::with_capacity(1, output).read_line(&mut first).expect("it says where it is");
    let ready: serde_json::Value = serde_json::from_str(&first).expect("JSON");
    let address = ready["address"].as_str().expect("an address");
    for client in ["a", "b"] {
        ask(address, "PUT", &format!("/fencepost/inside?key=lead&client={client}"));
    }
    let (code, rest) = end(child, "INT");
    assert_eq!(code, Some(1), "{rest}");
    let (leases, there) = serve_as("leases", &["--clock", "manual", "--json"]);
    ["a", "b"].iter().for_each(|holder| create_lease(&there, holder));
    // A takeover, by a version that is known: each request before was a change.
    let taken = r#"{"metadata": {"resourceVersion": "4"}, "spec": {"holderIdentity": "c"}}"#;
    let taken = send(&there, "PUT", &format!("{LEASES}/lead"), taken);
    assert!(taken.starts_with("HTTP/1.1 200 "), "{taken}");
    let (_, of_leases) = end(leases, "INT");
    let verdicts = [rest, of_leases].map(|line| serde_json::from_str(&line).expect("JSON"));
    printed.insert("serve", [ready.clone()].into_iter().chain(verdicts).collect());
    let folder = folder("torture-lines");
    let plan = folder.join("some.plan").display().to_string();
    fs::write(&plan, "# no fault\n").expect("writable");
    let careless = CARELESS.replace("[ \"$client\" = b ] || ask PUT", "[ \"$client\" = b ] || : PUT");
    let torture = printed.entry("torture").or_default();
    for (options, test) in [
        (&["--fault", "lose-answer"][..], CARELESS),
        (&["--fault", "lose-request"], &careless),
        (&["--plan", &plan], CARELESS),
    ] {
        let test = ["--json", "--", "bash", "-c", test];
        torture.extend(json(&fencepost(&[&["torture"], options, &test].concat())));
    }
}

#[test]
fn torture_says_how_many_plans_it_has_tried_and_keeps_the_one_that_breaks() {
    let folder = folder("torture");
    let out = folder.display().to_string();
    let tried = fencepost(&["torture", "--json", "--fault", "lose-answer", "--", "bash", "-c", CARELESS]);
    assert_eq!(tried.status.code(), Some(0), "{}{}", stdout(&tried), stderr(&tried));
    assert_eq!((&json(&tried)[0]["requests"], &json(&tried)[0]["plans"]), (&5.into(), &5.into()), "{}", stdout(&tried));
    // The agent has no checks: whatever comes after that comes without it, too.
    let idle = ["torture", "--json", "--pairs", "--fault", "check-critical", "--", "bash", "-c", CARELESS];
    let idle = fencepost(&idle);
    assert_eq!((&json(&idle)[0]["plans"], &json(&idle)[0]["pruned"]), (&5.into(), &10.into()), "{}", stdout(&idle));
    let careless = CARELESS.replace("[ \"$client\" = b ] || ask PUT", "[ \"$client\" = b ] || : PUT");
    let test = ["--", "bash", "-c", &careless];
    let found = fencepost(&[&["torture", "--out", &out, "--quiet", "--fault", "lose-request"][..], &test].concat());
    assert_eq!(found.status.code(), Some(1), "{}{}", stdout(&found), stderr(&found));
    assert!(stdout(&found).contains("mutual-exclusion of lead: a and b are both inside"), "{}", stdout(&found));
    let plan = folder.join("torture.plan").display().to_string();
    let again = fencepost(&[&["torture", "--plan", &plan][..], &test].concat());
    assert_eq!(again.status.code(), Some(1), "{}{}", stdout(&again), stderr(&again));
    let cases = folder.join("torture.xml").display().to_string();
    let drawn = ["torture", "--fault", "lose-answer", "--drawn", "3", "--seed", "7", "--junit", &cases, "--json"];
    let drawn = fencepost(&[&drawn[..], &["--", "bash", "-c", CARELESS]].concat());
    assert_eq!(drawn.status.code(), Some(0), "{}{}", stdout(&drawn), stderr(&drawn));
    assert_eq!((&json(&drawn)[0]["plans"], &json(&drawn)[0]["upto"]), (&8.into(), &"drawn plans".into()));
    let xml = fs::read_to_string(&cases).expect("it is written");
    assert!(xml.contains("tests=\"8\" failures=\"0\" errors=\"0\""), "{xml}");
    assert!(xml.contains("lose-answer; on "), "a plan of several faults: {xml}");
    let unstarted = fencepost(&["torture", "--", "/nonexistent/test"]);
    assert_eq!(unstarted.status.code(), Some(2));
    assert!(stderr(&unstarted).contains("the test cannot be started"), "{}", stderr(&unstarted));
}
