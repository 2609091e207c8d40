//! Clients in processes of their own, and what they say of themselves.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::child::{NAME, TASK, now};
use super::reports::ReportedTenure;

/// The longest that anything here takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// Processes that were started.
#[derive(Default)]
pub struct Processes {
    all: Vec<Child>,
    /// What they have said: whether a client is inside, and since when.
    reports: Arc<Mutex<Vec<(u16, bool, Duration)>>>,
}

impl Processes {
    /// Starts a client in a process of its own, and returns its place. Its server is at an address, and what it contends for there has
    /// a key.
    pub fn start(&mut self, at: (&str, &str), kind: &str, client: u16, rounds: u16, inside: Duration) -> usize {
        let task = format!("{} {} {kind} {client} {rounds} {}", at.0, at.1, inside.as_millis());
        let mut process = Command::new(std::env::current_exe().expect("this test"))
            .args(["--ignored", "--exact", "--nocapture", NAME])
            .env(TASK, task)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this test runs again");
        let (said, reports) = (process.stdout.take().expect("it is piped"), Arc::clone(&self.reports));
        thread::spawn(move || {
            for line in BufReader::new(said).lines().map_while(Result::ok) {
                let words: Vec<&str> = line.split(' ').collect();
                if let ["report", what, client, at] = words[..] {
                    let at = Duration::from_nanos(at.parse().expect("nanoseconds"));
                    let report = (client.parse().expect("a client"), what == "inside", at);
                    reports.lock().expect("no thread panics").push(report);
                }
            }
        });
        self.all.push(process);
        self.all.len() - 1
    }

    /// Waits until a client has said that it is inside.
    pub fn until_inside(&self, client: u16) {
        let is_inside = || self.reports.lock().expect("no thread panics").iter().any(|it| it.0 == client && it.1);
        self.until(is_inside, &format!("client {client} is not inside"));
    }

    /// Waits for the end of a process, which must be well.
    pub fn wait(&mut self, place: usize) {
        let end = Instant::now() + PATIENCE;
        loop {
            match self.all[place].try_wait().expect("it is a child") {
                Some(status) => return assert!(status.success(), "process {place}: {status}"),
                None => assert!(Instant::now() < end, "process {place} does not end"),
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Sends a signal to a process, and says when.
    pub fn signal(&self, place: usize, name: &str) -> Duration {
        let pid = self.all[place].id().to_string();
        let at = now();
        let status = Command::new("kill").args([&format!("-{name}"), &pid]).status().expect("there is a kill");
        assert!(status.success(), "kill -{name} {pid}");
        at
    }

    /// Kills a process, and says when. It is not inside any more.
    pub fn kill(&mut self, place: usize) -> Duration {
        let at = now();
        // One that has ended by itself is no child any more.
        drop(self.all[place].kill());
        self.all[place].wait().expect("it is a child");
        thread::sleep(Duration::from_millis(100));
        at
    }

    /// Waits until something is true.
    pub fn until(&self, is_true: impl Fn() -> bool, otherwise: &str) {
        let end = Instant::now() + PATIENCE;
        while !is_true() {
            assert!(Instant::now() < end, "{otherwise}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// When clients were inside, as they say; the last tenure of one that was killed is left out.
    pub fn tenures(&self) -> Vec<ReportedTenure> {
        let reports = self.reports.lock().expect("no thread panics");
        let entered = reports.iter().enumerate().filter(|(_, report)| report.1);
        let tenure = |(place, (client, _, from)): (usize, &(u16, bool, Duration))| {
            let left = reports[place..].iter().find(|other| other.0 == *client && !other.1);
            left.map(|left| ReportedTenure { client: *client, from: *from, until: left.2 })
        };
        entered.filter_map(tenure).collect()
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for process in &mut self.all {
            // It has ended, unless the test fails.
            drop(process.kill());
            drop(process.wait());
        }
    }
}
