//! Processes at an agent, the proxy between them and it, and the log of what they asked.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use fencepost_conform::{ConformError, Event, EventKind, Recorder, judge, read};

use super::children::Processes;

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
    pub processes: Processes,
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
        let (recorder, processes) = (Some(recorder), Processes::default());
        Some(ProcessRun { base, proxy, key, began, log, is_over, recorder, processes, events: Vec::new() })
    }

    /// Starts a client in a process of its own, and returns its place.
    pub fn start(&mut self, kind: &str, client: u16, rounds: u16, inside: Duration) -> usize {
        self.processes.start((&self.proxy, &self.key), kind, client, rounds, inside)
    }

    /// Kills the agent, and starts it on the same data.
    pub fn restart(&mut self, command: &str) {
        let since = |began: Instant| i64::try_from(began.elapsed().as_nanos()).expect("it lasts no centuries");
        let sent = since(self.began);
        let status = Command::new("sh").args(["-c", command]).stdout(Stdio::null()).status().expect("there is a shell");
        assert!(status.success(), "{command}");
        let leads = || ureq::get(format!("{}/v1/kv/?keys&consistent", self.base)).call().is_ok_and(|_| true);
        let is_there = || leads() || ureq::get(format!("{}/v1/session/list", self.base)).call().is_ok();
        self.processes.until(is_there, "the agent does not come back");
        self.events.push(Event { number: 0, kind: EventKind::Restart, sent, received: since(self.began) });
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
