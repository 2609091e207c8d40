//! The log that a proxy writes: a line for each request when its answer is known, and at the end a line for each that is still open.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::super::consul::Reply;
use super::super::log::{Event, LogRecord, happened, record};

/// A log that is being written.
pub(super) struct LogWriter {
    to: Box<dyn Write + Send>,
    /// The requests that were sent and not answered yet, by their numbers.
    open: BTreeMap<u64, LogRecord>,
    /// The number of the next request.
    next: u64,
    is_closed: bool,
}

impl LogWriter {
    /// Begins a log with its head.
    pub fn new(mut to: Box<dyn Write + Send>, head: &str) -> io::Result<Self> {
        writeln!(to, "{head}")?;
        to.flush()?;
        Ok(LogWriter { to, open: BTreeMap::new(), next: 0, is_closed: false })
    }

    /// A request is about to be sent; its number. None: the log is closed.
    pub fn open(&mut self, line: LogRecord) -> Option<u64> {
        if self.is_closed {
            return None;
        }
        let number = self.next;
        self.next += 1;
        self.open.insert(number, line);
        Some(number)
    }

    /// A request was answered, or its connection has ended without an answer. A closed log has its line already.
    pub fn settle(&mut self, number: u64, reply: Option<Reply>, received: i64) -> io::Result<()> {
        let Some(line) = self.open.remove(&number) else { return Ok(()) };
        let received = if reply.is_some() { received } else { i64::MAX };
        writeln!(self.to, "{}", record(&LogRecord { reply, received, ..line }))?;
        self.to.flush()
    }

    /// Something happened that is no request to a server.
    pub fn happened(&mut self, event: &Event) -> io::Result<()> {
        if self.is_closed {
            return Ok(());
        }
        writeln!(self.to, "{}", happened(event))?;
        self.to.flush()
    }

    /// Writes the requests that are still open, without answers, and takes no more.
    pub fn close(&mut self) -> io::Result<()> {
        self.is_closed = true;
        for line in std::mem::take(&mut self.open).into_values() {
            writeln!(self.to, "{}", record(&line))?;
        }
        self.to.flush()
    }
}
