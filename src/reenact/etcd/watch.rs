//! A watch of a key until it is deleted. The gateway answers it by lines, as long as the connection is open (E-GEN-6).

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Instant;

use serde_json::Value;

use super::answers::{Heard, number};

/// What a watch has shown.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Watched {
    /// The key was deleted.
    Deleted,
    /// The revision from which it began is compacted (E-W-5).
    Compacted,
    /// The connection is broken.
    Broken,
}

/// The open connection of a watch. It is closed with it.
pub(super) struct OpenWatch(TcpStream);

impl OpenWatch {
    /// Begins to watch; what it shows is sent with its time.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub(super) fn begin(
        authority: &str,
        path: &str,
        body: &str,
        tell: Sender<(Heard, Instant)>,
    ) -> std::io::Result<OpenWatch> {
        let mut stream = TcpStream::connect(authority)?;
        let length = body.len();
        write!(stream, "POST {path} HTTP/1.1\r\nHost: {authority}\r\nContent-Length: {length}\r\n\r\n{body}")?;
        let lines = BufReader::new(stream.try_clone()?);
        thread::spawn(move || {
            let watched = until_deleted(lines).unwrap_or(Watched::Broken);
            // The execution may be over by now.
            let _ = tell.send((Heard::Watched(watched), Instant::now()));
        });
        Ok(OpenWatch(stream))
    }

    /// Breaks the connection.
    pub(super) fn break_off(&self) {
        // It may be closed already.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

impl Drop for OpenWatch {
    fn drop(&mut self) {
        self.break_off();
    }
}

/// Reads until something has become of the watch; an error: the connection is closed.
fn until_deleted(mut stream: impl BufRead) -> std::io::Result<Watched> {
    let mut head = String::new();
    while stream.read_line(&mut head)? > 2 {
        head.clear();
    }
    let mut text = Vec::new();
    loop {
        let mut size = String::new();
        stream.read_line(&mut size)?;
        let size = u64::from_str_radix(size.trim(), 16).map_err(std::io::Error::other)?;
        if size == 0 {
            return Ok(Watched::Broken);
        }
        stream.by_ref().take(size).read_to_end(&mut text)?;
        stream.read_line(&mut String::new())?;
        while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = text.drain(..=end).collect();
            if let Some(watched) = shown(&serde_json::from_slice(&line).unwrap_or_default()) {
                return Ok(watched);
            }
        }
    }
}

/// What a line says, if it ends the watch.
fn shown(line: &Value) -> Option<Watched> {
    let result = &line["result"];
    if result["canceled"] == true {
        let is_compacted = number(&result["compact_revision"]).is_some_and(|revision| revision > 0);
        return Some(if is_compacted { Watched::Compacted } else { Watched::Broken });
    }
    let events = result["events"].as_array().into_iter().flatten();
    let is_deleted = events.into_iter().any(|event| event["type"] == "DELETE");
    is_deleted.then_some(Watched::Deleted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched(lines: &[&str]) -> Option<Watched> {
        let chunk = |line: &&str| format!("{:x}\r\n{line}\n\r\n", line.len() + 1);
        let body: String = lines.iter().map(chunk).collect();
        until_deleted(format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}").as_bytes()).ok()
    }

    #[test]
    fn a_watch_ends_with_a_deletion_or_a_compaction() {
        let created = r#"{"result":{"header":{"revision":"4"},"created":true}}"#;
        let put = r#"{"result":{"header":{"revision":"5"},"events":[{"kv":{"key":"YQ==","mod_revision":"5"}}]}}"#;
        let deleted = r#"{"result":{"events":[{"type":"DELETE","kv":{"key":"YQ==","mod_revision":"6"}}]}}"#;
        let compacted = r#"{"result":{"canceled":true,"compact_revision":"7"}}"#;
        assert_eq!(watched(&[created, put, deleted]), Some(Watched::Deleted));
        assert_eq!(watched(&[created, compacted]), Some(Watched::Compacted));
        assert_eq!(watched(&[created, put]), None, "the connection is closed");
    }
}
