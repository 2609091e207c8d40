//! Signals: every command ends in order on SIGINT and on SIGTERM, with a message, an exit code, and what it has so far.
//! Linux tells how many threads a process has: the tests wait for a command's workers, and not for a time.

#![cfg(target_os = "linux")]

use std::io::Read;
use std::process::{Child, Command, Output, Stdio};
use std::thread::yield_now;

use crate::program::{folder, stderr, stdout};

/// A command that does not work yet has its main thread, and the one that waits for signals.
const IDLE: usize = 2;

/// Starts a command, sends it a signal as soon as it works, and waits for its end.
fn stopped(arguments: &[&str], signal: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    while threads(&child) <= IDLE {
        let ended = child.try_wait().expect("it can be asked");
        assert_eq!(ended, None, "{arguments:?} ended before the signal");
        yield_now();
    }
    send(&child, signal);
    child.wait_with_output().expect("it ends")
}

/// How many threads a process has.
fn threads(child: &Child) -> usize {
    std::fs::read_dir(format!("/proc/{}/task", child.id())).map_or(0, Iterator::count)
}

fn send(child: &Child, signal: &str) {
    let kill = format!("kill -{signal} {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().expect("there is a shell").success(), "{kill}");
}

#[test]
#[ignore = "takes half a minute or more: cargo test --tests -- --ignored"]
fn a_signal_ends_each_command_in_order() {
    let folder = folder("signals");
    let store = folder.join("some.sqlite").display().to_string();
    for (signal, word) in [("INT", "Ctrl-C"), ("TERM", "SIGTERM")] {
        for arguments in [
            &["check", "--suite", "full", "--quiet"][..],
            &["hunt", "b01-fencing", "--property", "no-lost-update", "--seeds", "100000000", "--quiet"],
            &["sweep", "b01-no-fencing", "--store", &store, "--seeds", "100000000", "--quiet"],
            &["detector", "--seeds", "100000", "--quiet"],
            &["schedulers", "--seeds", "100000000", "--quiet"],
            &["mutants", "--quiet"],
            &["tradeoff", "detector", "--quiet"],
        ] {
            let output = stopped(arguments, signal);
            assert_eq!(output.status.code(), Some(3), "{arguments:?}: {}", stderr(&output));
            // Verdicts and the end of a hunt are on stdout.
            let printed = stderr(&output) + &stdout(&output);
            let is_said = printed.contains(word) || printed.contains("bounded") || printed.contains("was called off");
            assert!(is_said, "{arguments:?}: {printed}");
            assert!(!printed.contains("there is no result"), "{arguments:?} does not heed the signal: {printed}");
        }
    }
}

#[test]
fn a_signal_is_the_regular_end_of_the_explorer() {
    for signal in ["INT", "TERM"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fencepost"))
            .args(["explore", "b01-no-fencing", "--address", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut first = [0; 20];
        child.stdout.as_mut().expect("a pipe").read_exact(&mut first).expect("it says where it is");
        send(&child, signal);
        assert_eq!(child.wait().expect("it ends").code(), Some(0), "{signal}");
    }
}
