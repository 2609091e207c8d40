//! Searches of several processes: who they are, and how they find each other.
//!
//! A process listens at its line of the file of hosts. Each one calls those before it, and is called by those behind it: first to say that it
//! is there, on a connection that stays open as long as it is, and then once for each search, on a connection that belongs to the search.
//!
//! ```text
//! file   the file of hosts
//! hello  what two processes tell each other first
//! ```

mod file;
mod hello;

use std::io;
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Once};
use std::thread::sleep;
use std::time::{Duration, Instant};

use fencepost::checker::Peers;

use self::hello::{Called, Hello};
use crate::exit::CommandError;
use crate::supervisor::interruption;

/// How long a process sleeps between two looks at whether others have come or gone.
const LOOK: Duration = Duration::from_millis(20);

/// How long two processes may take to say hello.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long an address may take to answer before a process looks whether it is to go on waiting.
const TRY: Duration = Duration::from_secs(1);

/// After this time it says for whom a process waits.
const SILENCE: Duration = Duration::from_secs(2);

/// Why the processes do not come together, as a sentence.
enum JoinError {
    /// One of them does not do what the others do, or is not there any more.
    Refused(String),
    /// A limit or a signal ended the wait.
    Stopped(String),
}

impl From<String> for JoinError {
    fn from(refusal: String) -> Self {
        JoinError::Refused(refusal)
    }
}

impl From<JoinError> for CommandError {
    fn from(error: JoinError) -> Self {
        match error {
            JoinError::Refused(why) => CommandError::Input(why),
            JoinError::Stopped(why) => CommandError::Stopped(why),
        }
    }
}

/// The processes of a search, and this one's place among them.
struct Members {
    addresses: Vec<String>,
    process: usize,
    /// What identifies the build.
    build: String,
    listener: TcpListener,
    /// A connection to each other process, open as long as that runs.
    present: Vec<Option<TcpStream>>,
    /// How many searches have begun.
    searches: AtomicU64,
    is_quiet: bool,
}

/// Waits until all processes that the file names are there. `process`: which of them this is, from 0. `patience`: how long it waits for another
/// one. Later it waits as long as they run: process 0 may judge what it judges alone.
///
/// # Errors
/// The file is wrong, the address is in use, another process is of another build, or a limit or a signal ends the wait.
pub fn join(
    file: &Path,
    process: usize,
    build: String,
    patience: Option<Duration>,
    is_quiet: bool,
) -> Result<Arc<dyn Peers>, CommandError> {
    let addresses = file::addresses(file).map_err(CommandError::Input)?;
    let Some(own) = addresses.get(process) else {
        let file = file.display();
        let all = addresses.len();
        let message = format!("--process {process}: {file} names {all} processes, counted from 0");
        return Err(CommandError::Input(message));
    };
    let unusable = |error: io::Error| CommandError::Input(format!("process {process} cannot listen at {own}: {error}"));
    let listener = TcpListener::bind(own).map_err(unusable)?;
    listener.set_nonblocking(true).map_err(unusable)?;
    let present = (0..addresses.len()).map(|_| None).collect();
    let searches = AtomicU64::new(0);
    let mut members = Members { addresses, process, build, listener, present, searches, is_quiet };
    members.present = members.meet(&members.hello(None, &[]), Wait::First(patience))?;
    expect_broken_connections();
    Ok(Arc::new(members))
}

impl Peers for Members {
    fn processes(&self) -> usize {
        self.addresses.len()
    }

    fn process(&self) -> usize {
        self.process
    }

    fn connect(&self, search: &[(String, String)]) -> Result<Vec<Option<TcpStream>>, String> {
        let number = self.searches.fetch_add(1, Relaxed);
        let met = self.meet(&self.hello(Some(number), search), Wait::BetweenSearches);
        met.map_err(|(JoinError::Refused(why) | JoinError::Stopped(why))| why)
    }
}

impl Members {
    fn hello(&self, number: Option<u64>, search: &[(String, String)]) -> Hello {
        let (build, process, hosts) = (self.build.clone(), self.process, self.addresses.clone());
        Hello { build, process, hosts, number, search: search.to_vec() }
    }

    fn name(&self, process: usize) -> String {
        format!("process {process} at {}", self.addresses[process])
    }

    /// Calls those before this process, and is called by those behind it.
    fn meet(&self, hello: &Hello, wait: Wait) -> Result<Vec<Option<TcpStream>>, JoinError> {
        let mut streams: Vec<Option<TcpStream>> = (0..self.addresses.len()).map(|_| None).collect();
        let mut waiting = Waiting::new(self, wait);
        for (other, stream) in streams.iter_mut().enumerate().take(self.process) {
            *stream = Some(self.call(other, hello, &mut waiting)?);
        }
        while let Some(missing) = (self.process + 1..streams.len()).find(|other| streams[*other].is_none()) {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    if let Called::By(other, stream) = hello::answer(stream, hello, PATIENCE)? {
                        streams[other] = Some(stream);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => waiting.for_process(missing)?,
                Err(error) => return Err(format!("{} cannot listen: {error}", self.name(self.process)).into()),
            }
        }
        Ok(streams)
    }

    /// Calls a process until it answers: it may not listen yet, or search something else first.
    fn call(&self, other: usize, hello: &Hello, waiting: &mut Waiting<'_>) -> Result<TcpStream, JoinError> {
        let gone = |error: io::Error| match self.present[other] {
            None => format!("{} does not speak like fencepost: {error}", self.name(other)),
            Some(_) => format!("{} has ended", self.name(other)),
        };
        let mut stream = loop {
            match connect(&self.addresses[other]) {
                Ok(stream) => break stream,
                // It does not listen yet; or nothing answers, which a firewall does, and a machine that is being started.
                Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::TimedOut) => {
                    waiting.for_process(other)?;
                }
                Err(error) => return Err(format!("{} cannot be reached: {error}", self.name(other)).into()),
            }
        };
        hello.send(&mut stream).and_then(|()| stream.set_nonblocking(true)).map_err(gone)?;
        while let Err(error) = stream.peek(&mut [0]) {
            if error.kind() != io::ErrorKind::WouldBlock {
                return Err(gone(error).into());
            }
            waiting.for_process(other)?;
        }
        let theirs = hello::receive_within(&stream, PATIENCE).map_err(gone)?;
        theirs.agrees(hello, other)?;
        Ok(stream)
    }

    /// The first of the others that was there, and is not any more.
    fn ended(&self) -> Option<usize> {
        let has_ended = |stream: &TcpStream| {
            let seen = stream.set_nonblocking(true).and_then(|()| stream.peek(&mut [0]));
            !matches!(seen, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
        };
        self.present.iter().position(|stream| stream.as_ref().is_some_and(has_ended))
    }
}

/// Connects to the first address of a name that answers, within [`TRY`] each.
fn connect(name: &str) -> io::Result<TcpStream> {
    let mut last = io::ErrorKind::NotFound.into();
    for address in name.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, TRY) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// For what a process waits.
#[derive(Copy, Clone)]
enum Wait {
    /// For the others to come, for so long.
    First(Option<Duration>),
    /// For them to be done with what they do alone, as long as they run.
    BetweenSearches,
}

/// How long a process waits for others.
struct Waiting<'a> {
    members: &'a Members,
    since: Instant,
    wait: Wait,
    is_told: bool,
}

impl<'a> Waiting<'a> {
    fn new(members: &'a Members, wait: Wait) -> Self {
        Waiting { members, since: Instant::now(), wait, is_told: members.is_quiet }
    }

    /// Waits a little for one of the others.
    fn for_process(&mut self, other: usize) -> Result<(), JoinError> {
        if let Some(ended) = self.members.ended() {
            return Err(format!("{} has ended", self.members.name(ended)).into());
        }
        let (waited, stopped) =
            (self.since.elapsed(), |by: String| Err(JoinError::Stopped(format!("stopped by {by}"))));
        match (interruption(), self.wait) {
            // The others are as a rule interrupted, too: together they say what they have found until then.
            (Some(_), Wait::BetweenSearches) if waited < SILENCE => {}
            (Some(signal), _) => return stopped(signal.to_owned()),
            (None, Wait::First(Some(patience))) if waited >= patience => {
                let other = self.members.name(other);
                return stopped(format!("--timeout {}: {other} is not there", patience.as_secs_f64()));
            }
            (None, _) => {}
        }
        if !self.is_told && waited > SILENCE {
            self.is_told = true;
            eprintln!("fencepost: {} waits for {}", self.members.name(self.members.process), self.members.name(other));
        }
        sleep(LOOK);
        Ok(())
    }
}

/// Where a connection breaks, the threads that use it panic, and so do the workers: the search says so, and they need not.
fn expect_broken_connections() {
    static ONCE: Once = Once::new();
    /// How those panics begin.
    const EXPECTED: [&str; 5] =
        ["timely communication error", "MergeQueue poisoned", "Send thread panic", "Recv thread panic", "Worker panic"];
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let payload = panic.payload();
            let text = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
            let text = text.unwrap_or_default();
            if !EXPECTED.iter().any(|expected| text.starts_with(expected)) {
                before(panic);
            }
        }));
    });
}
