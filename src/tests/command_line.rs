//! The program as people and other programs meet it: exit codes, messages, JSON, files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fencepost::model::catalogue;

/// A folder of its own for one test, under Cargo's folder for such things.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a folder can be made");
    path
}

fn fencepost(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fencepost")).args(arguments).output().expect("the program starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

fn json(output: &Output) -> Vec<serde_json::Value> {
    stdout(output).lines().map(|line| serde_json::from_str(line).expect("a JSON object on each line")).collect()
}

fn text_of(scenario: &str) -> &'static str {
    catalogue::FILES.iter().find(|(name, _)| *name == scenario).expect("it is in the catalogue").1
}

/// Writes a variant of a scenario of the catalogue and returns the file's name.
fn variant(folder: &Path, scenario: &str, from: &str, to: &str) -> String {
    let text = text_of(scenario);
    assert!(text.contains(from), "{scenario} has no `{from}`");
    let path = folder.join("scenario.toml");
    fs::write(&path, text.replacen(from, to, 1)).expect("a file can be written");
    path.display().to_string()
}

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
    let told = stdout(&output);
    let mut rest = told.as_str();
    for event in [
        "client 1 enters",
        "session 1.1 expires",
        "client 2 enters",
        "the write of client 2 is accepted",
        "the write of client 1 is accepted",
    ] {
        let Some(place) = rest.find(event) else { panic!("“{event}” does not come next in:\n{told}") };
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
fn the_same_seed_gives_the_same_bytes() {
    let (first, second) = (folder("seed-1"), folder("seed-2"));
    let run = |out: &Path| {
        fencepost(&["simulate", "b01-no-fencing", "--seed", "7", "--json", "--out", out.to_str().expect("text")])
    };
    let (one, two) = (json(&run(&first)), json(&run(&second)));
    assert_eq!(one[0]["digest"], two[0]["digest"]);
    let trace =
        |folder: &Path| fs::read(folder.join("traces/b01-no-fencing--seed-7.jsonl")).expect("the trace was written");
    assert_eq!(trace(&first), trace(&second));
}

#[test]
fn traces_of_both_explorers_can_be_replayed() {
    let folder = folder("replay");
    let out = folder.to_str().expect("text");
    fencepost(&["check", "b17-release-then-stop", "--out", out]);
    fencepost(&["simulate", "b17-release-then-stop", "--seed", "3", "--scheduler", "uniform", "--out", out]);
    for name in ["b17-release-then-stop--mutual-exclusion", "b17-release-then-stop--seed-3"] {
        let path = folder.join(format!("traces/{name}.jsonl"));
        let output = fencepost(&["replay", path.to_str().expect("text")]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stdout(&output).contains("repeated to the letter"));
    }
}

#[test]
fn a_trace_edited_into_nonsense_is_refused_and_the_step_is_named() {
    let folder = folder("nonsense");
    let path = folder.join("traces/b17-release-then-stop--mutual-exclusion.jsonl");
    fencepost(&["check", "b17-release-then-stop", "--out", folder.to_str().expect("text")]);
    let good = fs::read_to_string(&path).expect("the trace was written");
    let lines: Vec<&str> = good.lines().collect();
    let without = |place: usize| [&lines[..place], &lines[place + 1..]].concat().join("\n");
    for (bad, says) in [
        (without(3), "step 3"),
        (good.replacen("client 1 is asked to take the lock", "client 9 is asked to take the lock", 1), "step 1"),
        (good.replacen("\"acquire\"", "\"fly\"", 1), "step 1"),
        (good.replacen("client 1 enters", "client 1 leaves", 1), "other facts"),
        (good.replacen("\"digest\":\"", "\"digest\":\"f", 1), "digest"),
        (without(lines.len() - 1), "digest"),
        (good.replacen("\"fencepost_trace\":1", "\"fencepost_trace\":99", 1), "format 99"),
        ("no trace at all".to_owned(), "line 1"),
        (String::new(), "line 1"),
    ] {
        fs::write(&path, &bad).expect("a file can be written");
        let output = fencepost(&["replay", path.to_str().expect("text")]);
        assert_eq!(output.status.code(), Some(2), "{says}: {}", stderr(&output));
        assert!(stderr(&output).contains(says), "“{says}” is not in: {}", stderr(&output));
    }
}

#[test]
fn a_bad_scenario_file_is_answered_with_the_place_and_what_would_be_right() {
    let folder = folder("bad-files");
    for (scenario, from, to, at, says) in [
        ("b01-pause-bounded", "lock_delay = 1", "lock_dely = 1", "lock_dely", "`lock_delay`"),
        ("b01-pause-bounded", "lock_delay = 1", "lock_delay = -1", "-1\nbelief", "from 0 to"),
        ("b01-pause-bounded", "clients = 2", "clients = \"two\"", "\"two\"", "u16"),
        ("b01-pause-bounded", "[[promise]]", "[budget]\ncrashes = 300\n\n[[promise]]", "300", "u8"),
        ("b01-no-fencing", "[[promise]]", "[budget]\npauses = 1\n\n[[promise]]", "1\n\n[[promise]]", "[synchrony]"),
        ("b01-no-fencing", "[[promise]]", "[budget]\nrestarts = 1\n\n[[promise]]", "1\n\n[[promise]]", "fewer crashes"),
        ("b01-no-fencing", "system = \"consul-lock\"", "system = \"zookeeper\"", "\"zookeeper\"", "`consul-lock`"),
        (
            "b01-no-fencing",
            "property = \"mutual-exclusion\"",
            "property = \"token-order\"",
            "\"token-order\"",
            "service.sequencer",
        ),
        ("b01-no-fencing", "expect = \"violated\"", "bound = 3", "3\n", "knows no bound"),
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
fn a_search_that_was_cut_is_bounded_and_says_by_what() {
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
fn a_closed_pipe_is_no_trouble() {
    let program = env!("CARGO_BIN_EXE_fencepost");
    let output = Command::new("sh").args(["-c", &format!("'{program}' list | head -n 1")]).output().expect("a shell");
    assert!(output.status.success() && stderr(&output).is_empty(), "{}", stderr(&output));
}

#[test]
fn a_hunt_finds_the_same_smallest_seed_with_one_thread_and_with_two_and_simulate_repeats_it() {
    let line = |jobs: &str| {
        let output = fencepost(&["hunt", "b17-release-then-stop", "--json", "--jobs", jobs]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    assert_eq!(line("1"), line("2"));
    let found: serde_json::Value = serde_json::from_str(&line("1")).expect("an object");
    let seed = found["seed"].as_u64().expect("a seed");
    assert_eq!(found["seeds_tried"], seed + 1);
    assert_eq!(found["violations"][0]["property"], "mutual-exclusion");
    let again = json(&fencepost(&["simulate", "b17-release-then-stop", "--seed", &seed.to_string(), "--json"]));
    assert_eq!(again[0]["digest"], found["digest"]);
    assert_eq!(again[0]["violations"], found["violations"]);
}

#[test]
fn a_hunt_that_finds_nothing_says_that_it_proves_nothing() {
    let output = fencepost(&["hunt", "b17-stop-then-release", "--seeds", "10..30"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stdout(&output).contains("20 seeds break nothing. That proves nothing"), "{}", stdout(&output));
    let output = fencepost(&["hunt", "b17-stop-then-release", "--timeout", "0", "--json"]);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(json(&output)[0]["seed"], serde_json::Value::Null);
}

#[test]
fn a_shrunk_trace_is_a_trace_and_cannot_be_shrunk_further() {
    let folder = folder("shrink");
    let out = folder.to_str().expect("text");
    fencepost(&["hunt", "b46-compare-and-delete", "--property", "MX-B", "--scheduler", "uniform", "--out", out]);
    let traces = folder.join("traces");
    let found = fs::read_dir(&traces).expect("a trace was written").next().expect("one").expect("readable").path();
    let shrink = |path: &Path| {
        let output = fencepost(&["shrink", path.to_str().expect("text"), "--property", "MX-B", "--json", "--out", out]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        json(&output).remove(0)
    };
    let first = shrink(&found);
    assert!(first["steps_after"].as_u64() < first["steps_before"].as_u64(), "{first}");
    let path = PathBuf::from(first["trace"].as_str().expect("a path"));
    assert_eq!(fencepost(&["replay", path.to_str().expect("text"), "--quiet"]).status.code(), Some(0));
    let text = fs::read_to_string(&path).expect("it was written");
    assert!(text.contains("\"clients\":2"), "two of the three clients are enough");
    let again = shrink(&path);
    assert_eq!(again["steps_after"], first["steps_after"]);
    assert_eq!(again["digest"], first["digest"]);
}

#[test]
fn a_trace_that_breaks_nothing_cannot_be_shrunk() {
    let folder = folder("unbroken");
    fencepost(&["simulate", "b17-stop-then-release", "--seed", "1", "--out", folder.to_str().expect("text")]);
    let trace = folder.join("traces/b17-stop-then-release--seed-1.jsonl");
    let output = fencepost(&["shrink", trace.to_str().expect("text")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("breaks no promise"), "{}", stderr(&output));
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
fn the_kill_matrix_has_a_row_for_each_mutant_and_no_survivor() {
    let output = fencepost(&["mutants", "--states", "500", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let rows = json(&output);
    assert!(rows.len() >= 25);
    assert!(rows.iter().all(|row| row["killed"] == true && row["scenario"].is_string()));
}

#[test]
fn an_endless_run_is_told_replayed_and_not_shrunk() {
    let folder = folder("endless");
    let out = folder.display().to_string();
    let output = fencepost(&["check", "b14-renew-after-loss", "--property", "LV", "--out", &out]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let told = stdout(&output);
    assert!(told.contains("an endless run that breaks it, 14 steps and then 10 for ever"), "{told}");
    assert!(told.contains("what follows happens again and again, for ever"), "{told}");
    let trace = folder.join("traces/b14-renew-after-loss--eventually-acquired.jsonl");
    let trace = trace.display().to_string();
    assert_eq!(fencepost(&["replay", &trace, "--quiet"]).status.code(), Some(0));
    // A round trip that does not lead back to where it set out is no endless run.
    let text = fs::read_to_string(&trace).expect("the trace is there");
    fs::write(&trace, text.replacen("\"from\":14", "\"from\":13", 1)).expect("a file can be written");
    let output = fencepost(&["replay", &trace, "--quiet"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("do not lead back to where they set out"), "{}", stderr(&output));
    fs::write(&trace, text).expect("a file can be written");
    let output = fencepost(&["shrink", &trace]);
    assert_eq!((output.status.code(), stderr(&output).contains("endless runs cannot be shrunk")), (Some(2), true));
}

#[test]
fn an_envelope_says_which_settings_keep_which_promises() {
    let vary = ["--vary", "service.lock_delay=0,1,many"];
    let output = fencepost(&["envelope", "b01-pause-bounded", vary[0], vary[1]]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let told = stdout(&output);
    assert!(told.contains("✗  ✗  lock_delay = 0\n✓  ✓  lock_delay = 1   ← keeps all\n"), "{told}");
    assert!(told.contains("–  lock_delay = \"many\"") && told.contains("1 of 2 settings keep every promise"), "{told}");
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
