//! `fencepost reenact`, at the stand-in agent: what happens, what cannot, and what is bad input.

use fencepost_serve::{Clock, Server, Settings};

use crate::program::{fencepost, folder, json, stderr, stdout, variant};

/// An agent whose sessions last for at least this number of seconds.
pub fn agent(seconds: i64) -> (Server, String) {
    let mut settings = Settings { clock: Clock::Real, ..Settings::default() };
    settings.options.session_ttl_min = seconds * 1_000_000_000;
    let server = Server::start(settings, "127.0.0.1:0").expect("a free port");
    let address = format!("http://{}", server.address());
    (server, address)
}

#[test]
fn a_counterexample_happens_from_its_name_and_from_its_file() {
    let (_server, address) = agent(1);
    let out = folder("reenacts").display().to_string();
    let output = fencepost(&["reenact", "b17-release-then-stop", "--consul", &address, "--out", &out, "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let [line] = &json(&output)[..] else { panic!("{}", stdout(&output)) };
    assert_eq!((&line["outcome"], &line["server"]), (&"happened".into(), &"Consul 1.8.7".into()));
    let trace = line["trace"].as_str().expect("a file");
    let output = fencepost(&["reenact", trace, "--consul", &address]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let printed = stdout(&output);
    assert!(printed.starts_with("✓ b17-release-then-stop mutual-exclusion: happened in "), "{printed}");
}

#[test]
fn what_cannot_happen_from_outside_is_undecided() {
    let (_server, address) = agent(1);
    let output = fencepost(&["reenact", "b13-give-up", "b01-pause-equal", "--consul", &address, "--quiet"]);
    let printed = stdout(&output);
    assert_eq!(output.status.code(), Some(3), "{printed}{}", stderr(&output));
    for line in [
        "· b13-give-up mutual-exclusion: needs a fault that cannot be caused from outside: a change of the leader (step 8)\n",
        "· b01-pause-equal mutual-exclusion: needs exact simultaneity: steps ",
        "\n0 of 3 violations were seen on Consul 1.8.7 (server real, clients driven by fencepost); 0 need neither",
    ] {
        assert!(printed.contains(line), "{printed}");
    }
}

#[test]
fn bad_input_is_refused_with_a_way_out() {
    let (_server, slow) = agent(10);
    let (_other, address) = agent(1);
    let out = folder("reenacts-bad").display().to_string();
    assert_eq!(fencepost(&["check", "lease-one-tick-less", "--out", &out]).status.code(), Some(0));
    let lease = format!("{out}/traces/lease-one-tick-less--mutual-exclusion.jsonl");
    let refused = |arguments: &[&str], why: &str| {
        let output = fencepost(&[&["reenact"], arguments].concat());
        assert_eq!((output.status.code(), stderr(&output).contains(why)), (Some(2), true), "{}", stderr(&output));
    };
    refused(&["b17-release-then-stop"], "<--consul <URL>|--rabbitmq <URL>|--etcd <URL>>");
    refused(
        &["b17-release-then-stop", "--consul", &address, "--rabbitmq", "amqp://127.0.0.1:1"],
        "cannot be used with",
    );
    refused(&["b17-release-then-stop", "--consul", &address, "--rabbitmqctl", "rabbitmqctl"], "cannot be used with");
    refused(&["f32-passive-declare", "--rabbitmq", "amqp://127.0.0.1:1"], "127.0.0.1:1");
    refused(&["e10-held", "--etcd", "http://127.0.0.1:1"], "127.0.0.1:1");
    refused(&["e10-held", "--etcd", &address], "answers, but not as etcd does");
    refused(&["e10-held", "--etcd", &address, "--pause", "true"], "--resume");
    refused(
        &["b17-release-then-stop", "--consul", &address, "--pause", "true", "--resume", "true"],
        "cannot be used with",
    );
    refused(
        &["f32-passive-declare", "--consul", &address],
        "is an execution of rabbitmq-semaphore, and the server is Consul 1.8.7",
    );
    refused(&["--consul", &address], "<TARGETS>");
    refused(&["b17-release-then-stop", "--consul", "http://127.0.0.1:1"], "127.0.0.1:1");
    refused(&["b17-release-then-stop", "--consul", &slow], "-hcl 'session_ttl_min = \"1s\"'");
    refused(&["b17-stop-then-release", "--consul", &address], "no promise is violated");
    refused(&["b17-release", "--consul", &address], "did you mean b17-release-then-stop");
    refused(&[&lease, "--consul", &address], "is an execution of lease");
    refused(&["no-such-file.jsonl", "--consul", &address], "no-such-file.jsonl cannot be read");
}

#[test]
fn the_report_marks_what_was_seen_and_not_a_scenario_that_has_only_the_name() {
    let out = folder("reenacts-report");
    let report = |scenario: &str| {
        let output = fencepost(&["check", scenario, "--quiet", "--out", &out.display().to_string()]);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{}", stderr(&output));
        std::fs::read_to_string(out.join("report.html")).expect("a report")
    };
    let mark = "seen on Consul 1.8.7 (server real, clients driven by fencepost)";
    let single = report("b17-release-then-stop");
    assert!(single.contains(mark) && single.contains("The verdict is as expected."));
    let other = "seen on RabbitMQ 3.10.8 (server real, clients driven by fencepost)";
    assert!(report("f06-add-declares-one").contains(other));
    assert!(!report("b01-pause-equal").contains(mark), "it needs exact simultaneity");
    let other = variant(&out, "b17-release-then-stop", "clients = 2", "clients = 3");
    assert!(!report(&other).contains(mark));
}
