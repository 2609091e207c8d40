//! `check --hosts`: several processes say what one says, and one that ends or searches something else ends the others.

use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use socket2::{Domain, Socket, Type};

use crate::program::{fencepost, folder, json, stderr, stdout};

/// A file of hosts for this number of processes, at ports that are free.
fn hosts(folder: &Path, processes: usize) -> PathBuf {
    let free: Vec<TcpListener> = (0..processes).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
    let lines: Vec<String> =
        free.iter().map(|listener| format!("{}\n", listener.local_addr().expect("an address"))).collect();
    let file = folder.join("hosts");
    fs::write(&file, format!("# the processes of a test\n\n{}", lines.concat())).expect("a file can be written");
    file
}

fn start(arguments: &[&str], hosts: &Path, process: usize) -> Child {
    Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .arg("check")
        .args(arguments)
        .arg("--hosts")
        .arg(hosts)
        .args(["--process", &process.to_string()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// What all processes of a check say.
fn together(arguments: &[&str], folder: &Path, processes: usize) -> Vec<Output> {
    let hosts = hosts(folder, processes);
    let all: Vec<Child> = (0..processes).map(|process| start(arguments, &hosts, process)).collect();
    all.into_iter().map(|child| child.wait_with_output().expect("it ends")).collect()
}

/// The lines of a check, without what differs between two runs.
fn lines(output: &Output) -> Vec<Value> {
    let mut lines = json(output);
    for line in &mut lines {
        line.as_object_mut().expect("an object").remove("seconds");
    }
    lines
}

#[test]
fn one_two_and_four_processes_say_the_same() {
    let folder = folder("hosts-same");
    let checks: [&[&str]; 5] = [
        &["b01-no-fencing"],
        &["b13-retry-then-stop"],
        &["b14-reassert", "--symmetry", "off"],
        &["consul-semaphore-3", "--max-states", "20000"],
        &["lease-endless", "b02-delay-too-short"],
    ];
    for check in checks {
        let arguments = [check, &["--json", "--quiet", "--workers", "1"]].concat();
        let alone = fencepost(&[&["check"], &arguments[..]].concat());
        assert!(!alone.stdout.is_empty(), "{check:?}: {}", stderr(&alone));
        for processes in [1, 2, 4] {
            let all = together(&arguments, &folder, processes);
            assert_eq!(lines(&all[0]), lines(&alone), "{check:?}, {processes} processes: {}", stderr(&all[0]));
            assert_eq!(all[0].status.code(), alone.status.code());
            for other in &all[1..] {
                // What the search of all of them did not complete, none of them has.
                let code = if alone.status.code() == Some(3) { 3 } else { 0 };
                assert_eq!((stdout(other), other.status.code()), (String::new(), Some(code)), "{}", stderr(other));
            }
        }
    }
}

#[test]
fn a_process_that_is_killed_ends_the_others_with_a_message() {
    let folder = folder("hosts-killed");
    let hosts = hosts(&folder, 3);
    // Together they take far longer than the kill waits.
    let arguments = ["consul-lock-3", "consul-semaphore-3", "b27-long-delay", "--symmetry", "off", "--workers", "1"];
    let mut all: Vec<Child> = (0..3).map(|process| start(&arguments, &hosts, process)).collect();
    sleep(Duration::from_millis(1_500));
    let mut killed = all.remove(1);
    killed.kill().expect("a child can be killed");
    killed.wait().expect("it ends");
    for other in all {
        let output = other.wait_with_output().expect("it ends");
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        // In a search, or between two.
        let told = ["another process ended, or the connection to it broke", " has ended"];
        assert!(said.contains("the search with other processes: "), "{said}");
        assert!(told.iter().any(|told| said.contains(told)), "{said}");
        assert!(!said.contains("panicked"), "{said}");
    }
}

#[test]
fn a_search_goes_on_after_a_process_was_killed() {
    let folder = folder("hosts-kept");
    let store = folder.join("store").display().to_string();
    let check = ["consul-lock-3", "--json", "--quiet"];
    let kept = [&check[..], &["--store", &store]].concat();
    let arguments = [&kept[..], &["--workers", "1"]].concat();
    for level in [9, 25, 40] {
        let hosts = hosts(&folder, 2);
        let (first, mut second) = (start(&arguments, &hosts, 0), start(&arguments, &hosts, 1));
        let begun = folder.join(format!("store/process-1/consul-lock-3/together/worker-1-level-{level}"));
        while !begun.exists() {
            assert!(second.try_wait().expect("a child").is_none(), "it ended before level {level}");
            sleep(Duration::from_millis(1));
        }
        second.kill().expect("a child can be killed");
        second.wait().expect("it ends");
        let output = first.wait_with_output().expect("it ends");
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(" levels are kept here: run the same commands again"), "{said}");
    }
    let telling: Vec<&str> = arguments.iter().copied().filter(|argument| *argument != "--quiet").collect();
    let all = together(&telling, &folder, 2);
    assert!(stderr(&all[0]).contains("fencepost: consul-lock-3: goes on after "), "{}", stderr(&all[0]));
    let alone = fencepost(&[&["check"], &check[..]].concat());
    assert_eq!(lines(&all[0]), lines(&alone), "{}", stderr(&all[0]));
    // Stores at the wrong places.
    let path = |name: &str| folder.join("store").join(name);
    fs::rename(path("process-0"), path("elsewhere")).expect("it is there");
    let others = together(&arguments, &folder, 2);
    for other in &others {
        let said = stderr(other);
        assert_eq!(other.status.code(), Some(2), "{said}");
        assert!(said.contains("levels and another one 0: is the store of one of them elsewhere?"), "{said}");
    }
    fs::remove_dir_all(path("process-0")).expect("it is there");
    fs::rename(path("process-1"), path("process-0")).expect("it is there");
    let others = together(&arguments, &folder, 2);
    let said = stderr(&others[0]);
    assert_eq!(others[0].status.code(), Some(2), "{said}");
    assert!(said.contains("belongs to another search: --process is 1 there, and 0 here"), "{said}");
    // The states of two workers instead of those of one.
    fs::remove_dir_all(path("process-1")).expect("it is there");
    fs::rename(path("process-0"), path("process-1")).expect("it is there");
    fs::rename(path("elsewhere"), path("process-0")).expect("it is there");
    let others = together(&[&kept[..], &["--workers", "2"]].concat(), &folder, 2);
    for other in &others {
        let said = stderr(other);
        assert_eq!(other.status.code(), Some(2), "{said}");
        let told = ["belongs to another search: --workers is 1 there, and 2 here", " has ended", "ended before"];
        assert!(told.iter().any(|told| said.contains(told)) && !said.contains("not a store"), "{said}");
    }
}

#[test]
fn a_process_that_searches_something_else_is_refused() {
    let folder = folder("hosts-other");
    let hosts = hosts(&folder, 2);
    let first = start(&["b01-no-fencing", "--workers", "1"], &hosts, 0);
    let second = start(&["b01-no-fencing", "--workers", "1", "--symmetry", "off"], &hosts, 1);
    for child in [first, second] {
        let output = child.wait_with_output().expect("it ends");
        let said = stderr(&output);
        assert_eq!((stdout(&output), output.status.code()), (String::new(), Some(2)), "{said}");
        assert!(said.contains("--symmetry is o"), "{said}");
    }
}

#[test]
fn a_process_waits_for_others_no_longer_than_its_time_limit() {
    let folder = folder("hosts-alone");
    let hosts = hosts(&folder, 2);
    for process in [0, 1] {
        let alone = start(&["b01-no-fencing", "--timeout", "0.1"], &hosts, process);
        let output = alone.wait_with_output().expect("it ends");
        let said = stderr(&output);
        assert_eq!((stdout(&output), output.status.code()), (String::new(), Some(3)), "{said}");
        assert!(said.contains("stopped by --timeout 0.1: process ") && said.contains(" is not there"), "{said}");
    }
}

/// What is behind a firewall does not answer at all, and the operating system waits for it for minutes. A listener whose queue is full is like that.
#[test]
fn a_process_that_does_not_answer_is_waited_for_no_longer_than_the_time_limit() {
    let folder = folder("hosts-silent");
    let silent = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    silent.bind(&"127.0.0.1:0".parse::<SocketAddr>().expect("an address").into()).expect("a port");
    silent.listen(0).expect("it listens");
    let address = silent.local_addr().ok().and_then(|address| address.as_socket()).expect("an address");
    let mut queue = Vec::new();
    while let Ok(caller) = TcpStream::connect_timeout(&address, Duration::from_millis(200)) {
        queue.push(caller);
    }
    let own = TcpListener::bind("127.0.0.1:0").and_then(|own| own.local_addr()).expect("a port");
    let hosts = folder.join("hosts");
    fs::write(&hosts, format!("{address}\n{own}\n")).expect("a file can be written");
    let output = start(&["b01-no-fencing", "--timeout", "3"], &hosts, 1).wait_with_output().expect("it ends");
    let said = stderr(&output);
    assert_eq!((stdout(&output), output.status.code()), (String::new(), Some(3)), "{said}");
    assert!(said.contains(&format!("waits for process 0 at {address}")), "{said}");
    assert!(said.contains("stopped by --timeout 3: process 0") && said.contains(" is not there"), "{said}");
}

/// Process 0 judges an endless promise until its time is over, which is longer than that of the other one. That one waits, and the verdicts are told.
#[test]
fn a_time_limit_ends_no_wait_for_a_process_that_judges_alone() {
    let folder = folder("hosts-endless");
    let scenario = folder.join("four.toml");
    let wall = concat!(env!("CARGO_MANIFEST_DIR"), "/../../model/services/consul/walls/wall-four-clients.toml");
    let endless = "\n[[promise]]\nproperty = \"eventually-acquired\"\nexpect = \"proven\"\n";
    fs::write(&scenario, fs::read_to_string(wall).expect("it is there") + endless).expect("a file can be written");
    let hosts = hosts(&folder, 2);
    let check =
        |timeout, process| start(&[&scenario.display().to_string(), "--json", "--timeout", timeout], &hosts, process);
    let first = check("4", 0);
    let text = fs::read_to_string(&hosts).expect("it is there");
    let address = text.lines().find(|line| line.starts_with("127.")).expect("process 0 has a line");
    while TcpStream::connect(address).is_err() {
        sleep(Duration::from_millis(20));
    }
    let all = [first, check("1", 1)].map(|child| child.wait_with_output().expect("it ends"));
    assert!(all.iter().all(|output| output.status.code() == Some(3)), "{}{}", stderr(&all[0]), stderr(&all[1]));
    let verdicts = lines(&all[0]);
    assert_eq!(verdicts.len(), 5, "{verdicts:?}");
    assert!(verdicts.iter().all(|line| line["verdict"] == "bounded"), "{verdicts:?}");
}

#[test]
fn a_wrong_file_of_hosts_is_refused() {
    let folder = folder("hosts-wrong");
    let refused = |text: &str, process: &str| {
        let file = folder.join("hosts");
        fs::write(&file, text).expect("a file can be written");
        let file = file.display().to_string();
        let output = fencepost(&["check", "b01-no-fencing", "--hosts", &file, "--process", process]);
        assert_eq!(output.status.code(), Some(2));
        stderr(&output).replace(&file, "FILE")
    };
    assert!(refused("", "0").contains("FILE names no process"), "{}", refused("", "0"));
    assert!(refused("127.0.0.1\n", "0").contains("FILE, line 1: `127.0.0.1` is no address, as host:port"));
    assert!(refused("127.0.0.1:70000\n", "0").contains("line 1"));
    assert!(refused("127.0.0.1:4001\n127.0.0.1:4001\n", "0").contains("line 2: 127.0.0.1:4001 is named twice"));
    assert!(refused("127.0.0.1:4001\n", "1").contains("--process 1: FILE names 1 process"));
    let output = fencepost(&["check", "b01-no-fencing", "--hosts", "FILE"]);
    assert_eq!(output.status.code(), Some(2));
    // It does not wait for the others first.
    let alone = start(&["b01-no-fencing", "--engine", "stateright"], &hosts(&folder, 2), 0);
    let output = alone.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--hosts is for fencepost's own search"), "{}", stderr(&output));
}
