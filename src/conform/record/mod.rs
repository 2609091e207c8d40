//! A recording proxy: it passes HTTP/1.1 requests on to a Consul agent, and writes each with its answer and its times into a log
//! that [`read`](super::read) reads.
//!
//! ```text
//! message   requests and answers on the wire      writer   the log, with the requests that are still open
//! ```

mod message;
mod writer;

use std::io::{self, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::consul::{HttpRequest, Reply};
use super::error::ConformError;
use super::log::{Details, Event, EventKind, LogRecord, RefusedRequest, head};
use message::{BODY_MAX, Message};
use writer::LogWriter;

/// The header by which a client may give its name; without it, the address of its connection is taken.
pub const CLIENT_HEADER: &str = "x-fencepost-client";

/// A proxy that listens, and has not been started.
pub struct Recorder {
    listener: TcpListener,
    upstream: String,
    began: Instant,
}

impl Recorder {
    /// Listens at an address, as `127.0.0.1:8501`, in front of an agent, as `http://127.0.0.1:8500`.
    ///
    /// # Errors
    /// The address is taken, or is none; the upstream is no `http` address.
    pub fn bind(listen: &str, upstream: &str) -> Result<Recorder, ConformError> {
        let wrong = |why: String| ConformError(why);
        let host = upstream
            .strip_prefix("http://")
            .ok_or_else(|| wrong(format!("{upstream}: an upstream begins with http://")))?;
        let host = host.trim_end_matches('/').to_owned();
        let listener = TcpListener::bind(listen).map_err(|error| wrong(format!("{listen}: {error}")))?;
        Ok(Recorder { listener, upstream: host, began: Instant::now() })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// The system does not say.
    pub fn address(&self) -> Result<SocketAddr, ConformError> {
        self.listener.local_addr().map_err(|error| ConformError(error.to_string()))
    }

    /// Passes requests on and writes them down, until `is_over`. Requests that are still open then are written without an answer.
    ///
    /// # Errors
    /// The agent cannot be talked to at the beginning, or the log cannot be written.
    pub fn run(self, log: Box<dyn Write + Send>, is_over: &dyn Fn() -> bool) -> Result<(), ConformError> {
        let wrong = |error: io::Error| ConformError(error.to_string());
        let log = Arc::new(Mutex::new(LogWriter::new(log, &self.first_line()?).map_err(wrong)?));
        let listened = self.listen(&log, is_over);
        let closed = log.lock().expect("no thread panics").close();
        listened.and(closed).map_err(wrong)
    }

    /// Accepts connections, each with a thread of its own.
    fn listen(&self, log: &Arc<Mutex<LogWriter>>, is_over: &dyn Fn() -> bool) -> io::Result<()> {
        self.listener.set_nonblocking(true)?;
        while !is_over() {
            match self.listener.accept() {
                Ok((client, address)) => {
                    client.set_nonblocking(false)?;
                    let (upstream, began, log) = (self.upstream.clone(), self.began, Arc::clone(log));
                    // A connection that breaks is the client's affair, or the agent's: what was answered is in the log.
                    thread::spawn(move || drop(serve(&client, address, &upstream, began, &log)));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(Duration::from_millis(5)),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// What the agent says of itself, and whether its store is empty.
    fn first_line(&self) -> Result<String, ConformError> {
        let unreachable = |error: io::Error| ConformError(format!("{}: {error}", self.upstream));
        let ask = |url: &str| -> Result<Message, ConformError> {
            let upstream = TcpStream::connect(&self.upstream).map_err(unreachable)?;
            let request = format!("GET {url} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.upstream);
            (&upstream).write_all(request.as_bytes()).map_err(unreachable)?;
            let answer = Message::answer(&mut BufReader::new(&upstream), false).map_err(unreachable)?;
            answer.ok_or_else(|| ConformError(format!("{}: no answer to {url}", self.upstream)))
        };
        let own: serde_json::Value = serde_json::from_slice(&ask("/v1/agent/self")?.body)
            .map_err(|_| ConformError(format!("{}: this is no Consul agent", self.upstream)))?;
        let is_empty = ask("/v1/kv/?recurse")?.status() == 404 && ask("/v1/session/list")?.body.trim_ascii() == b"[]";
        // Access control leaves out of a list what may not be read: then an empty one says nothing.
        let has_acl = own["DebugConfig"]["ACLsEnabled"] == true;
        let ttl = own["DebugConfig"]["SessionTTLMin"].as_str().filter(|ttl| *ttl != "0s").unwrap_or("10s");
        let text = |name: &str| own["Config"][name].as_str().unwrap_or_default();
        Ok(head(text("Version"), text("NodeName"), ttl, is_empty && !has_acl, has_acl))
    }
}

/// Answers in the server's place that a body is too large, and ends the connection. What the client still sends is read and dropped for a
/// while: a connection that is closed before would be reset, and the client would not see the answer.
fn refuse(client: &TcpStream, mut from: BufReader<&TcpStream>, status: &str, what: &str) -> io::Result<()> {
    let megabytes = BODY_MAX >> 20;
    let why = format!("fencepost record: the body of the {what} is larger than {megabytes} MB\n");
    Message::refusal(status, &why).write(&mut &*client)?;
    client.shutdown(Shutdown::Write)?;
    client.set_read_timeout(Some(Duration::from_secs(1)))?;
    let mut rest = vec![0; 1 << 16];
    while from.read(&mut rest)? > 0 {}
    Ok(())
}

/// Serves a connection.
fn serve(
    client: &TcpStream,
    address: SocketAddr,
    upstream: &str,
    began: Instant,
    log: &Mutex<LogWriter>,
) -> io::Result<()> {
    let mut from_client = BufReader::new(client);
    let upstream = TcpStream::connect(upstream)?;
    let mut from_upstream = BufReader::new(&upstream);
    let now = || i64::try_from(began.elapsed().as_nanos()).unwrap_or(i64::MAX);
    while let Some(request) = Message::request(&mut from_client, &mut &*client)? {
        let mut words = request.start.split(' ');
        let (method, url) = (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or_default().to_owned());
        let name = request.header(CLIENT_HEADER).map_or_else(|| address.to_string(), str::to_owned);
        if request.is_cut {
            let refused = RefusedRequest { client: Some(name), method, url, status: 413 };
            let kind = EventKind::NotPassedOn(refused);
            log.lock().expect("no thread panics").happened(&Event { number: 0, kind, sent: now(), received: now() })?;
            return refuse(client, from_client, "413 Payload Too Large", "request");
        }
        let line = LogRecord {
            number: 0,
            client: Some(name),
            question: HttpRequest { method: method.clone(), url, body: request.body.clone() },
            reply: None,
            sent: now(),
            received: i64::MAX,
            is_timed: true,
            details: Details::default(),
        };
        // The log is closed: a request that it cannot have is not sent.
        let Some(open) = log.lock().expect("no thread panics").open(line) else { return Ok(()) };
        let answer = request.write(&mut &upstream).and_then(|()| Message::answer(&mut from_upstream, method == "HEAD"));
        let received = now();
        // Of an answer that is cut the log has no more than that the request was sent.
        let whole = answer.as_ref().ok().and_then(Option::as_ref).filter(|answer| !answer.is_cut);
        let reply = whole.map(|answer| Reply {
            status: answer.status(),
            index: answer.header("x-consul-index").and_then(|index| index.parse().ok()),
            has_headers: true,
            contact: None,
            body: answer.body.clone(),
        });
        log.lock().expect("no thread panics").settle(open, reply, received)?;
        let Some(answer) = answer? else { return Ok(()) };
        if answer.is_cut {
            return refuse(client, from_client, "502 Bad Gateway", "response");
        }
        answer.write(&mut &*client)?;
        if answer.header("connection") == Some("close") || request.header("connection") == Some("close") {
            return Ok(());
        }
    }
    Ok(())
}
