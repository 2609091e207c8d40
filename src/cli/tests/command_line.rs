//! The program as people and other programs meet it: exit codes, messages, JSON, files.

use std::fs;
use std::process::Command;

use fencepost::catalogue;
use serde_json::Value;

use crate::program::{fencepost, folder, json, stderr, stdout, variant};

#[test]
fn a_lock_delay_of_one_tick_less_flips_the_verdict() {
    let folder = folder("flip");
    let same = variant(&folder, "b01-pause-bounded", "lock_delay = 1", "lock_delay = 1");
    assert_eq!(fencepost(&["check", &same, "--property", "mutual-exclusion", "--quiet"]).status.code(), Some(0));
    let less = variant(&folder, "b01-pause-bounded", "lock_delay = 1", "lock_delay = 0");
    let output = fencepost(&["check", &less, "--property", "mutual-exclusion", "--json"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(json(&output)[0]["verdict"], "violated");
}

#[test]
fn b_01_breaks_in_the_order_that_is_published() {
    let output = fencepost(&["check", "b01-no-fencing", "--property", "no-lost-update"]);
    assert_eq!(output.status.code(), Some(0), "a violation that is expected is no failure");
    let printed = stdout(&output);
    let mut rest = printed.as_str();
    for event in [
        "client 1 enters",
        "session 1.1 expires",
        "client 2 enters",
        "the write of client 2 is accepted",
        "the write of client 1 is accepted",
    ] {
        let Some(place) = rest.find(event) else { panic!("“{event}” does not come next in:\n{printed}") };
        rest = &rest[place..];
    }
}

#[test]
fn b_01_with_fencing_repairs_the_effect_and_not_the_belief() {
    let found = json(&fencepost(&["check", "b01-fencing", "--json"]));
    let verdict = |property: &str| {
        found.iter().find(|line| line["property"] == property).expect("it is promised")["verdict"].clone()
    };
    assert_eq!(verdict("no-lost-update"), "proven");
    assert_eq!(verdict("mutual-exclusion"), "violated");
}

#[test]
fn a_hazard_means_all_its_scenarios() {
    let lines = json(&fencepost(&["list", "B-06", "--json"]));
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|line| line["hazard"] == "B-06"));
    assert_eq!(lines[0]["properties"][0], serde_json::json!({"name": "token-order", "expect": "violated"}));
    assert_eq!(lines[0]["variant"], "token=LockIndex with cleanup");
}

#[test]
fn a_bad_scenario_file_is_refused_with_the_place_and_a_correction() {
    let folder = folder("bad-files");
    for (scenario, from, to, at, says) in [
        ("b01-pause-bounded", "lock_delay = 1", "lock_dely = 1", "lock_dely", "`lock_delay`"),
        ("b01-pause-bounded", "lock_delay = 1", "lock_delay = -1", "-1\nbelief", "from 0 to"),
        ("b01-pause-bounded", "clients = 2", "clients = \"two\"", "\"two\"", "u16"),
        ("b01-pause-bounded", "[[promise]]", "[budget]\ncrashes = 300\n\n[[promise]]", "300", "u8"),
        ("b01-no-fencing", "[[promise]]", "[budget]\npauses = 1\n\n[[promise]]", "1\n\n[[promise]]", "[synchrony]"),
        (
            "b01-no-fencing",
            "[[promise]]",
            "[budget]\ncrashes = 1\nrestarts = 2\n\n[[promise]]",
            "2\n\n[[promise]]",
            "only a crashed client can restart",
        ),
        ("b01-no-fencing", "system = \"consul-lock\"", "system = \"zookeeper\"", "\"zookeeper\"", "`consul-lock`"),
        (
            "b01-no-fencing",
            "property = \"mutual-exclusion\"",
            "property = \"token-order\"",
            "\"token-order\"",
            "service.sequencer",
        ),
        ("b01-no-fencing", "expect = \"violated\"", "bound = 3", "3\n", "has no bound"),
        ("b01-no-fencing", "clients = 2", "clients = ", "\nrounds", "value"),
    ] {
        let file = variant(&folder, scenario, from, to);
        let text = fs::read_to_string(&file).expect("just written");
        let before = &text[..text.find(at).expect("the mistake is there")];
        let (line, column) =
            (before.matches('\n').count() + 1, before.len() - before.rfind('\n').map_or(0, |newline| newline + 1) + 1);
        let output = fencepost(&["check", &file]);
        assert_eq!(output.status.code(), Some(2), "{to}: {}", stderr(&output));
        let said = stderr(&output);
        assert!(
            said.contains(&format!("scenario.toml:{line}:{column}: ")) && said.contains(says),
            "{to}: {line}:{column} {said}"
        );
    }
}

#[test]
fn bad_usage_is_answered_with_exit_code_2() {
    for arguments in [
        &["check"][..],
        &["check", "no-such-scenario"],
        &["check", "no/such/file.toml"],
        &["check", "b01-fencing", "--property", "luck"],
        &["check", "b01-fencing", "--property", "single-owner"],
        &["check", "b01-fencing", "--max-depth", "0"],
        &["check", "b01-fencing", "--timeout", "-1"],
        &["check", "b01-fencing", "--timeout", "2fortnights"],
        &["conform", "--recorded", "no-such-log.jsonl", "--timeout", "0ms"],
        &["simulate", "b01-fencing"],
        &["simulate", "b01-fencing", "--seed", "7", "--refine", "0"],
        &["hunt"],
        &["hunt", "b01-fencing", "--seeds", "9..9"],
        &["hunt", "b01-fencing", "--seeds", "many"],
        &["shrink", "no-such-trace.jsonl"],
        &["explore", "no-such-scenario"],
        &["replay", "no-such-trace.jsonl"],
        &["dance"],
    ] {
        let output = fencepost(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(!stderr(&output).is_empty(), "{arguments:?} is answered");
    }
    assert!(
        stderr(&fencepost(&["check", "b01-fensing"])).contains("did you mean")
            || stderr(&fencepost(&["check", "b01-fensing"])).contains("fencepost list")
    );
}

#[test]
fn a_stopped_search_is_bounded_and_names_the_limit() {
    for (limit, value) in [("--max-states", "100"), ("--max-depth", "5"), ("--max-memory", "1"), ("--timeout", "0")] {
        let output = fencepost(&["check", "b01-pause-bounded", limit, value, "--json"]);
        assert_eq!(output.status.code(), Some(3), "{limit}: {}", stderr(&output));
        for line in json(&output) {
            assert_eq!(line["verdict"], "bounded", "{limit}");
            assert_eq!(line["cut_by"], format!("{limit} {value}"));
        }
    }
}

#[test]
fn a_time_limit_has_a_unit_or_is_in_seconds() {
    for limit in ["0", "0s", "0ms"] {
        let lines = json(&fencepost(&["check", "b01-pause-bounded", "--timeout", limit, "--json"]));
        assert_eq!(lines[0]["verdict"], "bounded", "{limit}");
    }
    for limit in ["60", "60s", "1m", "0.5m30s"] {
        let output = fencepost(&["check", "b01-fencing", "--timeout", limit, "--quiet"]);
        assert_eq!(output.status.code(), Some(0), "{limit}: {}", stderr(&output));
    }
}

#[test]
fn a_promise_that_is_never_put_to_the_test_is_vacuous() {
    let file = variant(&folder("vacuous"), "b03-ack-before-release", "clients = 2", "clients = 1");
    let output = fencepost(&["check", &file, "--json"]);
    assert_eq!(output.status.code(), Some(3));
    for line in json(&output) {
        assert_eq!(line["verdict"], "vacuous");
        assert_eq!(line["missing_goals"], serde_json::json!(["contended"]));
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let program = env!("CARGO_BIN_EXE_fencepost");
    let output = Command::new("sh").args(["-c", &format!("'{program}' list | head -n 1")]).output().expect("a shell");
    assert!(output.status.success() && stderr(&output).is_empty(), "{}", stderr(&output));
}

/// Asks an HTTP server on this machine for a page.
fn get(address: &str, path: &str) -> Option<String> {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(address).ok()?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n").ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    Some(text)
}

#[test]
fn the_explorer_serves_the_space_to_browsers_on_this_machine_only() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = free.local_addr().expect("an address").to_string();
    let busy = fencepost(&["explore", "b17-release-then-stop", "--address", &address]);
    assert_eq!(busy.status.code(), Some(2), "{}", stderr(&busy));
    drop(free);
    let mut server = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args(["explore", "b17-release-then-stop", "--address", &address])
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("it starts");
    let answer = (0..2_000).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(5));
        get(&address, "/.status")
    });
    let states = get(&address, "/.states");
    server.kill().and_then(|()| server.wait()).expect("it can be stopped");
    assert!(answer.is_some_and(|text| text.contains("every promise is kept")));
    assert!(states.is_some_and(|text| text.contains("200 OK")));
    for (arguments, says) in [
        (["explore", "b17-release-then-stop", "--address", "0.0.0.0:3000"], "open to others"),
        (["explore", "B-17", "--address", "127.0.0.1:3000"], "choose one of"),
    ] {
        let output = fencepost(&arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    }
}

#[test]
#[ignore = "takes half a minute or more: cargo test --tests -- --ignored"]
fn the_kill_matrix_has_a_row_for_each_mutant_with_the_scenario_that_kills_it() {
    let output = fencepost(&["mutants", "B-06", "b42-descending", "--json"]);
    assert_eq!(output.status.code(), Some(1), "three scenarios do not notice every fault: {}", stderr(&output));
    let rows = json(&output);
    assert_eq!(rows.len(), catalogue::mutations().len());
    let is_enough =
        |row: &serde_json::Value| !["count", "panic", "nothing"].iter().any(|word| row["noticed_by"] == *word);
    assert!(rows.iter().all(|row| (row["killed"] == true) == is_enough(row)));
    let by_scenario = rows.iter().filter(|row| row["noticed_by"] == "verdict").count();
    assert!(by_scenario >= 5, "three scenarios notice {by_scenario}");
    let by_law = rows.iter().filter(|row| row["law"].is_string()).count();
    assert!(by_law >= 10, "laws notice {by_law}");
    let refuted = rows.iter().filter(|row| row["refuted_by"].is_string()).count();
    assert!(refuted >= 30, "a real server refutes {refuted}");
}

#[test]
fn an_option_that_makes_no_difference_to_a_log_is_refused() {
    let folder = folder("without-effect");
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    let rabbitmq = file("rabbitmq.jsonl", fencepost_conform::amqp::RECORDED);
    let etcd = file("etcd.jsonl", fencepost_conform::etcd::RECORDED);
    let consul = file("consul.jsonl", fencepost_conform::RECORDED);
    for (log, option, of) in [
        (&rabbitmq, &["--lateness", "1s"][..], "a log of RabbitMQ"),
        (&rabbitmq, &["--clients"][..], "a log of RabbitMQ"),
        (&etcd, &["--timeout", "1s"][..], "a log of etcd"),
        (&etcd, &["--max-states", "1"][..], "a log of etcd"),
        (&consul, &["--wipe"][..], "a log of Consul"),
    ] {
        let output = fencepost(&[&["conform", "--recorded", log][..], option].concat());
        assert_eq!(output.status.code(), Some(2), "{option:?}");
        let expected = format!("{} has no effect on {of}", option[0]);
        assert!(stderr(&output).contains(&expected), "{}", stderr(&output));
    }
    assert_eq!(fencepost(&["conform", "--recorded", &consul, "--lateness", "any"]).status.code(), Some(0));
}

#[test]
fn a_log_that_does_not_say_everything_is_never_called_possible() {
    let file = folder("partial").join("log.jsonl");
    let read = |sent: f64, index: u32| {
        let entry = format!(
            r#"[{{"LockIndex": 0, "Key": "k", "Flags": 0, "Value": "YQ==", "CreateIndex": 9, "ModifyIndex": {index}}}]"#
        );
        let (received, answer) = (sent + 0.5, serde_json::Value::String(entry));
        format!(
            r#"{{"method": "GET", "url": "/v1/kv/k", "sent": {sent}, "received": {received}, "status": 200, "index": {index}, "answer": {answer}}}"#
        )
    };
    let judged = |lines: &[String]| {
        let text = format!("{}\n{}\n", r#"{"consul": "1.8.7", "begins": "later"}"#, lines.join("\n"));
        fs::write(&file, text).expect("written");
        let output = fencepost(&["conform", "--recorded", &file.display().to_string(), "--json"]);
        let last = stdout(&output).lines().last().expect("a verdict").to_owned();
        let last: serde_json::Value = serde_json::from_str(&last).expect("JSON");
        (output.status.code(), last["verdict"].as_str().expect("a word").to_owned(), last["compared"].as_u64())
    };
    // A single answer can be held against no other one.
    assert_eq!(judged(&[read(1.0, 20)]), (Some(3), "undecided".to_owned(), Some(0)));
    assert_eq!(judged(&[read(1.0, 20), read(2.0, 21)]), (Some(0), "no-contradiction".to_owned(), Some(1)));
    assert_eq!(judged(&[read(1.0, 20), read(2.0, 19)]), (Some(1), "impossible".to_owned(), None));
}

#[test]
fn a_recorded_log_is_possible_or_impossible_at_a_line_because_of_a_rule() {
    let folder = folder("recorded");
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("a file can be written");
        path.display().to_string()
    };
    let session = |number: u8| {
        format!(
            r#"{{"method": "PUT", "url": "/v1/session/create", "status": 200, "answer": "{{\"ID\": \"aaaaaaaa-0000-0000-0000-00000000000{number}\"}}"}}"#
        )
    };
    let acquire = |number: u8, answer: bool| {
        format!(
            r#"{{"method": "PUT", "url": "/v1/kv/lead?acquire=aaaaaaaa-0000-0000-0000-00000000000{number}", "status": 200, "answer": "{answer}"}}"#
        )
    };
    let log = |second: bool| {
        let head = r#"{"consul": "1.8.7"}"#.to_owned();
        [head, session(1), session(2), acquire(1, true), acquire(2, second)].join("\n")
    };
    let output = fencepost(&["conform", "--recorded", &file("possible.jsonl", &log(false)), "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(json(&output).iter().any(|row| row["rule"] == "C-KV-10" && row["count"] == 1));
    let output = fencepost(&["conform", "--recorded", &file("impossible.jsonl", &log(true))]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("impossible at line 5 because of rule C-KV-10"), "{}", stdout(&output));
    let output = fencepost(&["conform", "--recorded", &file("broken.jsonl", "{\"consul\": \"1.8.7\"}\n{")]);
    assert_eq!((output.status.code(), stderr(&output).contains("broken.jsonl: line 2")), (Some(2), true));
    let output = fencepost(&["conform", "--consul", "http://127.0.0.1:1"]);
    assert_eq!((output.status.code(), stderr(&output).contains("http://127.0.0.1:1")), (Some(2), true));
    let output = fencepost(&["conform"]);
    let subjects = "<--consul <URL>|--rabbitmq <URL>|--etcd <URL>|--recorded <FILE>>";
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains(subjects), "{}", stderr(&output));
    let two = fencepost(&["conform", "--consul", "http://127.0.0.1:1", "--recorded", "log.jsonl"]);
    assert!(two.status.code() == Some(2) && stderr(&two).contains("cannot be used with"), "{}", stderr(&two));
}

#[test]
fn a_recorded_log_of_etcd_is_possible_or_impossible_at_a_line() {
    let recorded = include_str!("../../conform/recorded/etcd-3.4.23.jsonl");
    let lines: Vec<&str> = recorded.lines().take(300).collect();
    let folder = folder("recorded-etcd");
    let judged = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("a file can be written");
        fencepost(&["conform", "--recorded", &path.display().to_string()])
    };
    let output = judged("possible.jsonl", &lines.join("\n"));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stdout(&output).contains("answers are possible, none of them to clients at the same time."),
        "{}",
        stdout(&output)
    );
    let output = judged("crowds.jsonl", fencepost_conform::etcd::RECORDED_CROWDS);
    let told = "1081 answers are possible, 1081 of them to clients at the same time; 7 leases ended by themselves, at most 1400ms late.";
    assert!(stdout(&output).contains(told), "{}", stdout(&output));
    let place = lines.iter().rposition(|line| line.contains(r#""status":200"#)).expect("an answer");
    let changed = lines[place].replacen(r#""status":200"#, r#""status":404"#, 1);
    let altered = [&lines[..place], &[&changed], &lines[place + 1..]].concat();
    let output = judged("impossible.jsonl", &altered.join("\n"));
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stdout(&output).contains(&format!("impossible at line {}: the server said", place + 1)),
        "{}",
        stdout(&output)
    );
    let output = judged("empty.jsonl", lines[0]);
    assert_eq!((output.status.code(), stderr(&output).contains("there is no call in it")), (Some(2), true));
    let output = fencepost(&["conform", "--etcd", "http://127.0.0.1:1"]);
    assert_eq!((output.status.code(), stderr(&output).contains("http://127.0.0.1:1")), (Some(2), true));
    let members = "http://127.0.0.1:1,http://127.0.0.1:2";
    for (more, says) in [(&[][..], "add --members COMMAND"), (&["--members", "true"][..], "at least three members")] {
        let output = fencepost(&[&["conform", "--etcd", members][..], more].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    }
}

#[test]
fn an_envelope_says_which_settings_keep_which_promises() {
    let vary = ["--vary", "service.lock_delay=0,1,many"];
    let output = fencepost(&["envelope", "b01-pause-bounded", vary[0], vary[1]]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let printed = stdout(&output);
    assert!(printed.contains("✗  ✗  lock_delay = 0\n✓  ✓  lock_delay = 1   ← keeps all\n"), "{printed}");
    assert!(
        printed.contains("–  lock_delay = \"many\"") && printed.contains("1 of 2 settings keep every promise"),
        "{printed}"
    );
    let output = fencepost(&["envelope", "b01-pause-bounded", "--vary", "lock_delay"]);
    assert_eq!(output.status.code(), Some(2));
    let output = fencepost(&["envelope", "b01-pause-bounded", "--vary", "service.lok_delay=1"]);
    assert_eq!((output.status.code(), stderr(&output).contains("misspelt")), (Some(2), true));
    let output = fencepost(&["envelope", "b01-pause-bounded", vary[0], vary[1], "--json"]);
    assert_eq!(json(&output)[2]["settings"][0], "lock_delay = 1");
}

#[test]
fn engines_and_symmetry_are_chosen_by_name() {
    let states = |options: &[&str]| {
        let output = fencepost(&[&["check", "lease-just-enough", "--property", "MX-B", "--json"], options].concat());
        let lines = json(&output);
        (lines[0]["states"].as_u64(), lines[0]["engine"].as_str().map(str::to_owned))
    };
    let (off, engine) = states(&["--symmetry", "off", "--workers", "2"]);
    assert_eq!(engine.as_deref(), Some("dataflow"));
    assert_eq!(states(&["--symmetry", "off", "--engine", "stateright"]), (off, Some("stateright".to_owned())));
    assert!(states(&[]).0 < off);
    assert_eq!(fencepost(&["check", "lease-just-enough", "--engine", "spin"]).status.code(), Some(2));
}

/// Fewer states, the same verdicts; an engine that cannot leave out covered states says so.
#[test]
fn covered_states_are_left_out_where_that_is_asked_for() {
    let check = |options: &[&str]| fencepost(&[&["check", "b02-delay-too-short", "--json"], options].concat());
    let found = |options: &[&str]| {
        let lines = json(&check(options)).into_iter().filter(|line| line["verdict"].is_string());
        let lines = lines.map(|line| (line["verdict"].clone(), line["steps"].clone(), line["states"].as_u64()));
        lines.collect::<Vec<_>>()
    };
    let (all, some) = (found(&[]), found(&["--subsumption"]));
    assert_eq!(some, found(&["--subsumption", "--workers", "3"]));
    for (all, some) in all.iter().zip(&some) {
        assert_eq!((&all.0, &all.1), (&some.0, &some.1));
        assert!(some.2 < all.2, "{some:?}, and {all:?} without");
    }
    assert_eq!((all.len(), some.len()), (2, 2));
    let refused = check(&["--subsumption", "--engine", "stateright"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("stateright's explores every state"), "{}", stderr(&refused));
}

/// The same states, and a proof that rests on no probability.
#[test]
fn states_are_compared_in_full_where_that_is_asked_for() {
    let check = |options: &[&str]| fencepost(&[&["check", "b02-fencing", "--json"], options].concat());
    let found = |options: &[&str]| json(&check(options))[0].clone();
    let (hashed, exact) = (found(&[]), found(&["--exact", "--workers", "2"]));
    for name in ["verdict", "states", "transitions", "depth"] {
        assert_eq!(hashed[name], exact[name], "{name}");
    }
    assert_eq!(
        (&hashed["certificate"]["fingerprint_bits"], &exact["certificate"]["fingerprint_bits"]),
        (&63.into(), &Value::Null)
    );
    let probability = |finding: &Value| finding["collision_probability"].as_f64().expect("a proof has one");
    assert!(probability(&hashed) > 0.0 && probability(&exact) == 0.0);
    for (options, says) in [
        (&["--exact", "--engine", "stateright"][..], "stateright's tells states apart by hashes"),
        (&["--exact", "--subsumption"], "cannot be used with '--subsumption'"),
        (&["--exact", "--store", "x"], "cannot be used with"),
    ] {
        let refused = check(options);
        assert_eq!(refused.status.code(), Some(2), "{options:?}");
        assert!(stderr(&refused).contains(says), "{options:?}: {}", stderr(&refused));
    }
}

#[test]
fn gossip_is_measured_and_refused_without_a_detector() {
    let arguments =
        ["detector", "--members", "3,12", "--loss", "0,30", "--slow", "20", "--seeds", "3", "--watch", "60"];
    let (first, second) =
        (fencepost(&[&arguments[..], &["--json"]].concat()), fencepost(&[&arguments[..], &["--json"]].concat()));
    assert_eq!(first.stdout, second.stdout);
    let rows = json(&first);
    assert_eq!(rows.len(), 8, "sizes, losses, with and without Lifeguard");
    for row in &rows {
        let notices = row["server_ms"].as_array().unwrap();
        // Where packets are lost, a member may have been suspected before it crashed.
        let least = if row["loss_percent"] == 0 { 4999 } else { 0 };
        assert!(notices.len() == 3 && notices.iter().all(|time| time.as_i64() > Some(least)), "{row}");
    }
    let folder = folder("gossip");
    let profile = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let listens = profile("gossip.toml", "[detector]\nservers = 3\n");
    let runs = |scenario, profile: &str| fencepost(&["simulate", scenario, "--seed", "1", "--profile", profile]);
    assert_eq!(runs("b18-serf-health", &listens).status.code(), Some(0));
    let deaf = runs("b01-no-fencing", &listens);
    assert_eq!(deaf.status.code(), Some(2));
    assert!(stderr(&deaf).contains("service.health.detection"), "{}", stderr(&deaf));
    let hasty = profile("hasty.toml", "[detector]\nprobe_timeout = 5000\n");
    for output in [runs("b18-serf-health", &hasty), fencepost(&["detector", "--profile", &hasty])] {
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("probe_timeout must not be longer"), "{}", stderr(&output));
    }
    assert_eq!(fencepost(&["detector", "--members", "2"]).status.code(), Some(2));
}

#[test]
fn the_report_names_the_hazards_that_were_found_with_their_sources() {
    let folder = folder("hazards");
    let output = fencepost(&["check", "B-17", "B-07", "--quiet", "--out", folder.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report = fs::read_to_string(folder.join("report.html")).expect("it was written");
    for words in [
        "2 of 2 were found here",
        "<b>B-17</b> Released first, stopped second",
        "vmware/pinniped issue 800",
        "<b>B-07</b> With <code>delete</code> behaviour every tenure has LockIndex 1",
        "<code>fencepost check B-07</code>",
        "Story and sources",
    ] {
        assert!(report.contains(words), "{words}");
    }
}
