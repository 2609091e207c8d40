//! `fencepost doctor client-go` with manifests of Kubernetes and with flags.

use std::fs;
use std::path::PathBuf;

use crate::program::{fencepost, folder, json, stderr, stdout};

/// The manifest on the page of the documentation.
fn documented() -> String {
    let page = include_str!("../../../reports/docs/doctor.md");
    let (_, rest) = page.split_once("```yaml\n").expect("a manifest");
    rest.split_once("```").expect("its end").0.to_owned()
}

fn written(name: &str, text: &str) -> PathBuf {
    let file = folder(&format!("doctor-manifest-{name}")).join("manifest.yaml");
    fs::write(&file, text).expect("writable");
    file
}

const ASKED: [&str; 3] = ["--property", "mutual-exclusion", "--quiet"];

#[test]
fn the_manifest_on_the_page_is_answered_as_the_page_says() {
    let file = written("page", &documented());
    let path = file.to_str().expect("text");
    let output = fencepost(&[&["doctor", "client-go", "--from", path, "--latency", "200ms"], &ASKED[..]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let printed = stdout(&output);
    let page = include_str!("../../../reports/docs/doctor.md");
    let (_, rest) = page.split_once("```text\nnot judged").expect("the answer");
    let lines = format!("not judged{}", rest.split_once("```").expect("its end").0);
    let mut left = printed.as_str();
    for line in lines.lines().filter(|line| *line != "…") {
        let Some(at) = left.find(line) else { panic!("“{line}” does not come next in:\n{printed}") };
        left = &left[at + line.len()..];
    }
}

#[test]
fn each_container_has_its_answer_and_explicit_options_come_first() {
    let file = written("each", &documented());
    let path = file.to_str().expect("text");
    let lines = json(&fencepost(&[&["doctor", "client-go", "--from", path, "--json"], &ASKED[..]].concat()));
    let found: Vec<_> = lines.iter().map(|line| (line["container"].as_str(), line["verdict"].as_str())).collect();
    assert_eq!(found, [(Some("csi-provisioner"), Some("broken")), (Some("csi-attacher"), Some("kept"))]);
    let field = &lines[1]["understood"][1];
    assert_eq!((&field["field"], &field["line"]), (&"--leader-election-lease-duration".into(), &22.into()));
    let one = ["doctor", "client-go", "--from", path, "--container", "csi-attacher"];
    let shorter =
        [&one[..], &["--renew-deadline", "12s", "--latency", "0s", "--pause", "0s", "--drift", "0ppm"]].concat();
    let printed = stdout(&fencepost(&[&shorter[..], &ASKED[..]].concat()));
    assert!(printed.contains("client-go: lease 30s, renew-deadline 12s, retry-period 5s"), "{printed}");
    // The command that it prints asks the same.
    let command =
        printed.lines().find_map(|line| line.strip_prefix("the same question: fencepost ")).expect("a command");
    let words: Vec<&str> = command.split(' ').chain(ASKED).collect();
    let answer = |text: &str| text.split_once("client-go: lease").expect("the settings").1.to_owned();
    assert_eq!(answer(&stdout(&fencepost(&words))), answer(&printed));
}

#[test]
fn flags_are_answered_and_what_is_not_in_them_is_an_assumption() {
    let flags = "kube-controller-manager --leader-elect-lease-duration=30s";
    let bounds = ["--latency", "0s", "--pause", "0s", "--drift", "0ppm"];
    let output = fencepost(&[&["doctor", "client-go", "--flags", flags], &bounds[..], &ASKED].concat());
    let printed = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{}{printed}", stderr(&output));
    for says in [
        "--leader-elect-lease-duration = 30s (line 1): lease 30s",
        "leader-elect-renew-deadline is not set: renew-deadline 10s: assumed, not in the flags: default of component-base",
        "request-timeout is not set: 5s: assumed",
        "✓ mutual-exclusion",
    ] {
        assert!(printed.contains(says), "{says}: {printed}");
    }
}

#[test]
fn a_manifest_without_an_election_says_so_and_mistakes_have_their_place() {
    let pod = |container: &str| format!("kind: Pod\nspec:\n  containers:\n    - name: a\n{container}");
    for (text, more, says) in [
        (
            pod("      args: [--v=2]\n"),
            &[][..],
            "manifest.yaml:1:1: no election is found here: container `a` of Pod without a name (line 4): nothing here says that it elects a leader",
        ),
        (
            pod("      args: [--leader-elect=false]\n"),
            &[],
            "(line 5) elects no leader, because `--leader-elect` is false",
        ),
        (documented(), &["--container", "driver"], "with replicas: 2 all of them work at once"),
        (
            documented(),
            &["--container", "nix"],
            "there is no container `nix`; there are csi-attacher, csi-provisioner, driver",
        ),
        (
            pod("      args: [--leader-elect, --leader-elect-lease-duration=15]\n"),
            &[],
            "manifest.yaml:5:30: `--leader-elect-lease-duration`: `15` has no unit",
        ),
        (pod("      args: --leader-elect\n"), &[], "manifest.yaml:5:13: `args` is a list, and here stands a text"),
        (pod("      args: [[a]]\n"), &[], "manifest.yaml:5:14: `args` is a list of texts, and here stands a list"),
        (pod("      args: [\n"), &[], "this is no YAML"),
        (
            "kind: Service\n".to_owned(),
            &[],
            "here is no election: a manifest has containers with flags, as a Deployment or a Pod, and a component's configuration has `leaderElection`; this file has Service",
        ),
        (String::new(), &[], "manifest.yaml:1:1: here is no election"),
        (
            "kind: ConfigMap\ndata:\n  config.yaml: |\n    leaderElection: {leaderElect: true}\n".to_owned(),
            &[],
            "manifest.yaml:4:5: here is no election, but the text `config.yaml` has `leaderElection`",
        ),
        (
            "kind: K\nleaderElection: {}\n".to_owned(),
            &[],
            "K (line 2): nothing here says that it elects a leader, as `leaderElect: true` does",
        ),
        (
            pod(
                "      args: [--leader-elect, --leader-elect-lease-duration=$$(LD)]\n      env: [{name: LD, value: 15s}]\n",
            ),
            &[],
            "manifest.yaml:5:30: `--leader-elect-lease-duration` is `$(LD)`",
        ),
        (format!("kind: Pod\nspec:\n  containers:\n{}", "    - {name: a}\n".repeat(1_000)), &[], "; and 990 more\n"),
        (format!("a: {}", "[".repeat(100)), &[], "at most 64 deep"),
        (
            "kind: K\nleaderElection: 7\n".to_owned(),
            &[],
            "manifest.yaml:2:17: `leaderElection` is a map, and here stands a text",
        ),
        (
            "kind: K\nleaderElection: {leaderElect: true, leaseDuration: [a]}\n".to_owned(),
            &[],
            "manifest.yaml:2:52: `leaseDuration` is a text",
        ),
    ] {
        let file = written("mistakes", &text);
        let path = file.to_str().expect("text");
        let output = fencepost(&[&["doctor", "client-go", "--from", path], more].concat());
        assert_eq!((output.status.code(), &*stdout(&output)), (Some(2), ""), "{text}");
        assert!(stderr(&output).contains(says), "{says}: {}", stderr(&output));
    }
    for arguments in [
        &["doctor", "client-go", "--flags", "--leader-elect=false"][..],
        &["doctor", "client-go", "--from", "nowhere.yaml"],
        &["doctor", "client-go", "--container", "a"],
        &["doctor", "client-go", "--flags", "--leader-elect", "--from", "nowhere.yaml"],
        &["doctor", "client-go", "--flags", "--leader-elect", "--container", "a"],
    ] {
        assert_eq!(fencepost(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

/// Containers of one name, and configurations of one kind, have names and folders of their own.
#[test]
fn elections_of_one_file_are_told_apart() {
    let pod = |name: &str| {
        format!(
            "kind: Pod\nmetadata: {{name: {name}}}\nspec: {{containers: [{{name: manager, args: [--leader-elect]}}]}}\n---\n"
        )
    };
    let stanza = "kind: Foo\nleaderElection: {leaderElect: true}\n";
    let file = written("apart", &format!("{}{}{stanza}---\n{stanza}", pod("one"), pod("two")));
    let out = folder("doctor-manifest-apart-out");
    let (path, to) = (file.to_str().expect("text"), out.to_str().expect("text"));
    let lines =
        json(&fencepost(&[&["doctor", "client-go", "--from", path, "--write", to, "--json"], &ASKED[..]].concat()));
    let names: Vec<_> = lines.iter().filter_map(|line| line["configuration"].as_str()).collect();
    let expected = [
        "container `manager` of Pod one",
        "container `manager` of Pod two",
        "`leaderElection` of Foo (line 10)",
        "`leaderElection` of Foo (line 13)",
    ];
    assert_eq!(names, expected);
    let mut folders: Vec<_> =
        fs::read_dir(&out).expect("it is there").map(|entry| entry.expect("readable").file_name()).collect();
    folders.sort();
    let expected = [
        "1-container-manager-of-Pod-one",
        "2-container-manager-of-Pod-two",
        "3-leaderElection-of-Foo-line-10",
        "4-leaderElection-of-Foo-line-13",
    ];
    assert_eq!(folders, expected);
}

/// A merge in a stanza has its members, and options and files that are not read are told.
#[test]
fn merges_are_read_and_options_and_unread_files_are_told() {
    let stanza = "d: &d {leaseDuration: 30s, renewDeadline: 29s}\nkind: KubeSchedulerConfiguration\nleaderElection: {<<: *d, leaderElect: true, renewDeadline: 20s}\n";
    let file = written("merge", stanza);
    let from = ["doctor", "client-go", "--from", file.to_str().expect("text")];
    let options = ["--renew-deadline", "18s", "--release=false"];
    let printed = stdout(&fencepost(&[&from[..], &options, &ASKED].concat()));
    for says in [
        "  leaseDuration = 30s (line 1): lease 30s",
        "  renewDeadline = 20s (line 3): no verdict depends on it: overridden by --renew-deadline 18s",
        "  ReleaseOnCancel is not set: no verdict depends on it: overridden by --release=false",
        "  request-timeout is not set: no verdict depends on it: overridden by --renew-deadline 18s: half of that",
        "client-go: lease 30s, renew-deadline 18s, retry-period 2s",
    ] {
        assert!(printed.contains(says), "{says}: {printed}");
    }
    let flags = ["doctor", "client-go", "--flags", "kube-controller-manager --config=/etc/x.yaml", "--lease", "16s"];
    let says = "the file of `--config` (line 1) is not read, and is taken to set nothing";
    let (_, assumed) = stdout(&fencepost(&[&flags[..], &ASKED].concat()))
        .split_once("\nassumed:\n")
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .expect("assumptions");
    assert!(assumed.contains(says), "{assumed}");
    let line = &json(&fencepost(&[&flags[..], &["--json"], &ASKED].concat()))[0];
    assert!(line["assumptions"][0].as_str().is_some_and(|first| first.starts_with(says)), "{line}");
    let meanings: Vec<_> =
        line["understood"].as_array().into_iter().flatten().filter_map(|one| one["meaning"].as_str()).collect();
    assert!(meanings.contains(&"no verdict depends on it: overridden by --lease 16s"), "{meanings:?}");
}
