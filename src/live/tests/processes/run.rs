//! Processes, the proxy between them and the agent, and the log of what they asked.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use fencepost_conform::{ConformError, Event, EventKind, Recorder, judge, read};

use super::child::{NAME, TASK, now};
use super::reports::ReportedTenure;

/// The longest that anything here takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// One run at the agent that `FENCEPOST_CONSUL` names.
pub struct ProcessRun {
    base: String,
    proxy: String,
    key: String,
    /// When the proxy began to count.
    began: Instant,
    log: Log,
    is_over: Arc<AtomicBool>,
    recorder: Option<JoinHandle<Result<(), ConformError>>>,
    processes: Vec<Child>,
    /// What they have said: whether a client is inside, and since when.
    reports: Arc<Mutex<Vec<(u16, bool, Duration)>>>,
    events: Vec<Event>,
}

impl ProcessRun {
    /// With a lock that is not in use; none: there is no agent.
    pub fn begin() -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let Ok(address) = std::env::var("FENCEPOST_CONSUL") else {
            eprintln!("skipped: no real agent, for FENCEPOST_CONSUL names none");
            return None;
        };
        let base = if address.contains("://") { address } else { format!("http://{address}") };
        let key = format!("fencepost-processes/{}/{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let recorder = Recorder::bind("127.0.0.1:0", &base).expect("a free port");
        let began = Instant::now();
        let proxy = format!("http://{}", recorder.address().expect("bound"));
        let (log, is_over) = (Log::default(), Arc::new(AtomicBool::new(false)));
        let (copy, over) = (log.clone(), Arc::clone(&is_over));
        let recorder = thread::spawn(move || recorder.run(Box::new(copy), &|| over.load(Ordering::Relaxed)));
        let (recorder, reports) = (Some(recorder), Arc::default());
        Some(ProcessRun {
            base,
            proxy,
            key,
            began,
            log,
            is_over,
            recorder,
            processes: Vec::new(),
            reports,
            events: Vec::new(),
        })
    }

    /// Starts a client in a process of its own, and returns its place.
    pub fn start(&mut self, kind: &str, client: u16, rounds: u16, inside: Duration) -> usize {
        let task = format!("{} {} {kind} {client} {rounds} {}", self.proxy, self.key, inside.as_millis());
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
        self.processes.push(process);
        self.processes.len() - 1
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
            match self.processes[place].try_wait().expect("it is a child") {
                Some(status) => return assert!(status.success(), "process {place}: {status}"),
                None => assert!(Instant::now() < end, "process {place} does not end"),
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Sends a signal to a process, and says when.
    pub fn signal(&self, place: usize, name: &str) -> Duration {
        let pid = self.processes[place].id().to_string();
        let at = now();
        let status = Command::new("kill").args([&format!("-{name}"), &pid]).status().expect("there is a kill");
        assert!(status.success(), "kill -{name} {pid}");
        at
    }

    /// Kills a process, and says when. It is not inside any more.
    pub fn kill(&mut self, place: usize) -> Duration {
        let at = now();
        // One that has ended by itself is no child any more.
        drop(self.processes[place].kill());
        self.processes[place].wait().expect("it is a child");
        thread::sleep(Duration::from_millis(100));
        at
    }

    /// Kills the agent, and starts it on the same data.
    pub fn restart(&mut self, command: &str) {
        let since = |began: Instant| i64::try_from(began.elapsed().as_nanos()).expect("it lasts no centuries");
        let sent = since(self.began);
        let status = Command::new("sh").args(["-c", command]).stdout(Stdio::null()).status().expect("there is a shell");
        assert!(status.success(), "{command}");
        let leads = || ureq::get(format!("{}/v1/kv/?keys&consistent", self.base)).call().is_ok_and(|_| true);
        let is_there = || leads() || ureq::get(format!("{}/v1/session/list", self.base)).call().is_ok();
        self.until(is_there, "the agent does not come back");
        self.events.push(Event { number: 0, kind: EventKind::Restart, sent, received: since(self.began) });
    }

    fn until(&self, is_true: impl Fn() -> bool, otherwise: &str) {
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

    /// The log of all requests is possible.
    pub fn judge(mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.recorder.take().expect("it runs").join().expect("it does not panic").expect("the log is written");
        let text = String::from_utf8(self.log.0.lock().expect("no thread panics").clone()).expect("text");
        let mut episodes = read(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        episodes[0].events.clone_from(&self.events);
        let judged = judge(&episodes, None).unwrap_or_else(|objection| panic!("{objection}: {text}"));
        assert!(judged.lines > 0, "{text}");
    }
}

impl Drop for ProcessRun {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for process in &mut self.processes {
            // It has ended, unless the test fails.
            drop(process.kill());
            drop(process.wait());
        }
        // What follows at the same agent wants it empty.
        if let Err(error) = ureq::delete(format!("{}/v1/kv/{}?recurse", self.base, self.key)).call() {
            eprintln!("the keys of {} stay at {}: {error}", self.key, self.base);
        }
    }
}

/// A log in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no thread panics").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
