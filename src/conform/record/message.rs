//! HTTP/1.1 messages: read, and written again with their body in one piece.

use std::io::{self, BufRead, Read, Write};

use super::CLIENT_HEADER;

/// The most bytes of a body.
pub(super) const BODY_MAX: usize = 64 << 20;

/// A message: its first line, its headers in small letters, and its body.
pub(super) struct Message {
    pub start: String,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Whether the body is longer than [`BODY_MAX`]: the rest of it is still to be read.
    pub is_cut: bool,
}

impl Message {
    /// Reads a request; none at the end of the connection. A client that asks first whether it may send the body is told so.
    pub fn request(from: &mut impl BufRead, to: &mut impl Write) -> io::Result<Option<Message>> {
        let Some(mut request) = Message::head(from)? else { return Ok(None) };
        let declared = request.header("content-length").and_then(|length| length.parse().ok());
        if declared.is_some_and(|length: usize| length > BODY_MAX) {
            request.is_cut = true;
            return Ok(Some(request));
        }
        if request.header("expect").is_some_and(is_continue) && request.start.ends_with("HTTP/1.1") {
            to.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
            to.flush()?;
        }
        request.read_body(from)?;
        Ok(Some(request))
    }

    /// Reads an answer; none at the end of the connection. Interim answers (1xx) are passed over.
    pub fn answer(from: &mut impl BufRead, has_no_body: bool) -> io::Result<Option<Message>> {
        loop {
            let Some(mut answer) = Message::head(from)? else { return Ok(None) };
            if (100..200).contains(&answer.status()) {
                continue;
            }
            if !has_no_body {
                answer.read_body(from)?;
            }
            return Ok(Some(answer));
        }
    }

    fn head(from: &mut impl BufRead) -> io::Result<Option<Message>> {
        let mut start = String::new();
        if from.read_line(&mut start)? == 0 {
            return Ok(None);
        }
        let mut message =
            Message { start: start.trim_end().to_owned(), headers: Vec::new(), body: Vec::new(), is_cut: false };
        loop {
            let mut line = String::new();
            if from.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            message.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Ok(Some(message))
    }

    fn read_body(&mut self, from: &mut impl BufRead) -> io::Result<()> {
        if self.header("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
            return self.read_chunks(from);
        }
        let Some(length) = self.header("content-length") else { return Ok(()) };
        let length = length.parse().map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        self.read_some(from, length)
    }

    fn read_chunks(&mut self, from: &mut impl BufRead) -> io::Result<()> {
        loop {
            let mut line = String::new();
            from.read_line(&mut line)?;
            let digits = line.trim_end().split(';').next().unwrap_or_default();
            let length = usize::from_str_radix(digits, 16).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
            self.read_some(from, length)?;
            if self.is_cut {
                return Ok(());
            }
            let mut end = String::new();
            from.read_line(&mut end)?;
            if length == 0 {
                return Ok(());
            }
        }
    }

    fn read_some(&mut self, from: &mut impl Read, length: usize) -> io::Result<()> {
        if length.saturating_add(self.body.len()) > BODY_MAX {
            self.is_cut = true;
            return Ok(());
        }
        let before = self.body.len();
        self.body.resize(before + length, 0);
        from.read_exact(&mut self.body[before..])
    }

    /// A message of the recorder's own, after which it closes the connection.
    pub fn refusal(status: &str, why: &str) -> Message {
        let headers = [("content-length", why.len().to_string().as_str()), ("connection", "close")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let body = why.as_bytes().to_owned();
        Message { start: format!("HTTP/1.1 {status}"), headers: headers.to_vec(), body, is_cut: false }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    pub fn status(&self) -> u16 {
        self.start.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
    }

    /// Writes it, with its body in one piece.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let mut text = format!("{}\r\n", self.start);
        // Without a request for compression answers are plain: the log shows them as they are.
        let framing = ["transfer-encoding", "content-length", "accept-encoding", CLIENT_HEADER];
        // The body is here: the server need not ask for it.
        let is_met = |name: &str, value: &str| name == "expect" && is_continue(value);
        let is_passed = |name: &str, value: &str| !framing.contains(&name) && !is_met(name, value);
        for (name, value) in self.headers.iter().filter(|(name, value)| is_passed(name, value)) {
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

/// Whether a client waits for `100 Continue` before it sends the body.
fn is_continue(expectation: &str) -> bool {
    expectation.eq_ignore_ascii_case("100-continue")
}
