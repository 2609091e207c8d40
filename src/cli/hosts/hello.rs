//! What two processes tell each other first: a line of JSON each.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// No hello is longer than this.
const BYTES_MAX: u64 = 1 << 20;

/// What a process says of itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Hello {
    /// What identifies its build.
    pub(super) build: String,
    /// Its place.
    pub(super) process: usize,
    /// All processes.
    pub(super) hosts: Vec<String>,
    /// Which of its searches begins; none: it says that it is there.
    pub(super) number: Option<u64>,
    /// What it searches, and how.
    pub(super) search: Vec<(String, String)>,
}

/// What came of a connection.
pub(super) enum Called {
    /// Another process has called.
    By(usize, TcpStream),
    /// It was something else.
    ByStranger,
}

impl Hello {
    /// Whether this is what `own` needs of the process at a place.
    ///
    /// # Errors
    /// What differs, as a sentence.
    pub(super) fn agrees(&self, own: &Hello, place: usize) -> Result<(), String> {
        let differs = |what: &str, theirs: &str, ours: &str| {
            let (other, own) = (place, own.process);
            Err(format!("{what} is {theirs} in process {other}, and {ours} in process {own}"))
        };
        if self.build != own.build {
            return differs("the build of fencepost", &self.build, &own.build);
        }
        if self.hosts != own.hosts {
            return differs("the list of hosts", &self.hosts.join(", "), &own.hosts.join(", "));
        }
        if self.process != place {
            return Err(format!("process {} answers where process {place} should", self.process));
        }
        if self.number != own.number {
            let number = |number: Option<u64>| number.map_or_else(|| "none".to_owned(), |number| number.to_string());
            return differs("the number of the search", &number(self.number), &number(own.number));
        }
        let theirs = |question: &String| self.search.iter().find(|(other, _)| other == question);
        for (question, answer) in &own.search {
            let other = theirs(question).map_or("nothing", |(_, answer)| answer.as_str());
            if other != answer {
                return differs(question, other, answer);
            }
        }
        Ok(())
    }

    /// Sends it as a line.
    pub(super) fn send(&self, stream: &mut TcpStream) -> io::Result<()> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        stream.write_all(&line)
    }

    /// Reads one. Byte by byte: what follows belongs to the search.
    pub(super) fn receive(stream: &TcpStream) -> io::Result<Hello> {
        let mut line = Vec::new();
        BufReader::with_capacity(1, stream.take(BYTES_MAX)).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(serde_json::from_slice(&line)?)
    }
}

/// Receives one that has begun to arrive, and waits for the rest of it no longer than that.
pub(super) fn receive_within(stream: &TcpStream, patience: Duration) -> io::Result<Hello> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(patience))?;
    let theirs = Hello::receive(stream)?;
    stream.set_read_timeout(None)?;
    Ok(theirs)
}

/// Answers what has called.
///
/// # Errors
/// It is a process that searches something else; a sentence says what.
pub(super) fn answer(mut stream: TcpStream, own: &Hello, patience: Duration) -> Result<Called, String> {
    let limited = |stream: &TcpStream, patience| {
        stream.set_nonblocking(false).and_then(|()| stream.set_read_timeout(patience)).is_ok()
    };
    if !limited(&stream, Some(patience)) {
        return Ok(Called::ByStranger);
    }
    let Ok(theirs) = Hello::receive(&stream) else { return Ok(Called::ByStranger) };
    if own.send(&mut stream).is_err() || !limited(&stream, None) {
        return Ok(Called::ByStranger);
    }
    if theirs.process <= own.process || theirs.process >= own.hosts.len() {
        return Err(format!("process {} called process {}", theirs.process, own.process));
    }
    theirs.agrees(own, theirs.process)?;
    Ok(Called::By(theirs.process, stream))
}
