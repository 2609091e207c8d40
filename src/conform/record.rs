//! A recording proxy: it passes HTTP/1.1 requests on to a Consul agent, and writes each with its answer and its times into a log
//! that [`read`](super::read) reads.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::consul::{HttpRequest, Reply};
use super::error::ConformError;
use super::log::{Details, LogRecord, head, record};

/// The header by which a client may give its name; without it, the address of its connection is taken.
pub const CLIENT_HEADER: &str = "x-fencepost-client";

/// The most bytes of a body.
const BODY_MAX: usize = 64 << 20;

/// A proxy that listens, and has not been started.
pub struct Recorder {
    listener: TcpListener,
    upstream: String,
    began: Instant,
}

/// A message: its first line, its headers in small letters, and its body.
struct Message {
    start: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
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

    /// Passes requests on and writes them down, until `is_over`.
    ///
    /// # Errors
    /// The agent cannot be talked to at the beginning, or the log cannot be written.
    pub fn run(self, log: Box<dyn Write + Send>, is_over: &dyn Fn() -> bool) -> Result<(), ConformError> {
        let wrong = |error: io::Error| ConformError(error.to_string());
        let log = Arc::new(Mutex::new(log));
        let first = self.first_line()?;
        writeln!(log.lock().expect("no thread panics"), "{first}").map_err(wrong)?;
        self.listener.set_nonblocking(true).map_err(wrong)?;
        while !is_over() {
            match self.listener.accept() {
                Ok((client, address)) => {
                    client.set_nonblocking(false).map_err(wrong)?;
                    let (upstream, began, log) = (self.upstream.clone(), self.began, Arc::clone(&log));
                    // A connection that breaks is the client's affair, or the agent's: what was answered is in the log.
                    thread::spawn(move || drop(serve(&client, address, &upstream, began, &log)));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(Duration::from_millis(5)),
                Err(error) => return Err(wrong(error)),
            }
        }
        log.lock().expect("no thread panics").flush().map_err(wrong)
    }

    /// What the agent says of itself, and whether its store is empty.
    fn first_line(&self) -> Result<String, ConformError> {
        let unreachable = |error: io::Error| ConformError(format!("{}: {error}", self.upstream));
        let ask = |url: &str| -> Result<Message, ConformError> {
            let upstream = TcpStream::connect(&self.upstream).map_err(unreachable)?;
            let request = format!("GET {url} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.upstream);
            (&upstream).write_all(request.as_bytes()).map_err(unreachable)?;
            let answer = Message::read(&mut BufReader::new(&upstream), false).map_err(unreachable)?;
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

/// Serves a connection.
fn serve(
    client: &TcpStream,
    address: SocketAddr,
    upstream: &str,
    began: Instant,
    log: &Mutex<Box<dyn Write + Send>>,
) -> io::Result<()> {
    let mut from_client = BufReader::new(client);
    let upstream = TcpStream::connect(upstream)?;
    let mut from_upstream = BufReader::new(&upstream);
    let now = || i64::try_from(began.elapsed().as_nanos()).unwrap_or(i64::MAX);
    while let Some(request) = Message::read(&mut from_client, false)? {
        let mut words = request.start.split(' ');
        let (method, url) = (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or_default().to_owned());
        let name = request.header(CLIENT_HEADER).map_or_else(|| address.to_string(), str::to_owned);
        let question = HttpRequest { method: method.clone(), url, body: request.body.clone() };
        let sent = now();
        request.write(&mut &upstream)?;
        let answer = Message::read(&mut from_upstream, method == "HEAD");
        let received = now();
        let reply = answer.as_ref().ok().and_then(Option::as_ref).map(|answer| Reply {
            status: answer.status(),
            index: answer.header("x-consul-index").and_then(|index| index.parse().ok()),
            has_headers: true,
            contact: None,
            body: answer.body.clone(),
        });
        let received = if reply.is_some() { received } else { i64::MAX };
        let line = LogRecord {
            number: 0,
            client: Some(name),
            question,
            reply,
            sent,
            received,
            is_timed: true,
            details: Details::default(),
        };
        let mut log = log.lock().expect("no thread panics");
        writeln!(log, "{}", record(&line))?;
        log.flush()?;
        drop(log);
        let Some(answer) = answer? else { return Ok(()) };
        answer.write(&mut &*client)?;
        if answer.header("connection") == Some("close") || request.header("connection") == Some("close") {
            return Ok(());
        }
    }
    Ok(())
}

impl Message {
    /// Reads a message; none at the end of the connection.
    fn read(from: &mut impl BufRead, has_no_body: bool) -> io::Result<Option<Message>> {
        let mut start = String::new();
        if from.read_line(&mut start)? == 0 {
            return Ok(None);
        }
        let mut message = Message { start: start.trim_end().to_owned(), headers: Vec::new(), body: Vec::new() };
        loop {
            let mut line = String::new();
            if from.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            message.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        if has_no_body {
            return Ok(Some(message));
        }
        if message.header("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
            message.read_chunks(from)?;
        } else if let Some(length) = message.header("content-length") {
            let length = length.parse().map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
            message.read_some(from, length)?;
        }
        Ok(Some(message))
    }

    fn read_chunks(&mut self, from: &mut impl BufRead) -> io::Result<()> {
        loop {
            let mut line = String::new();
            from.read_line(&mut line)?;
            let digits = line.trim_end().split(';').next().unwrap_or_default();
            let length = usize::from_str_radix(digits, 16).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
            self.read_some(from, length)?;
            let mut end = String::new();
            from.read_line(&mut end)?;
            if length == 0 {
                return Ok(());
            }
        }
    }

    fn read_some(&mut self, from: &mut impl Read, length: usize) -> io::Result<()> {
        if length.saturating_add(self.body.len()) > BODY_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let before = self.body.len();
        self.body.resize(before + length, 0);
        from.read_exact(&mut self.body[before..])
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    fn status(&self) -> u16 {
        self.start.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
    }

    /// Writes it, with its body in one piece.
    fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let mut text = format!("{}\r\n", self.start);
        // Without a request for compression answers are plain: the log shows them as they are.
        let framing = ["transfer-encoding", "content-length", "accept-encoding", CLIENT_HEADER];
        for (name, value) in self.headers.iter().filter(|(name, _)| !framing.contains(&name.as_str())) {
            text += &format!("{name}: {value}\r\n");
        }
        let had_length = self.header("content-length").is_some() || self.header("transfer-encoding").is_some();
        if had_length {
            let length = if self.body.is_empty() {
                self.header("content-length").unwrap_or("0").to_owned()
            } else {
                self.body.len().to_string()
            };
            text += &format!("content-length: {length}\r\n");
        }
        text += "\r\n";
        to.write_all(text.as_bytes())?;
        to.write_all(&self.body)?;
        to.flush()
    }
}
