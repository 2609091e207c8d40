//! One request over HTTP/1.1, read and answered by a server that is a fake.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// Method and URL of a request, with a space between them, and its body; none: the connection has ended.
pub fn read_request(stream: &TcpStream) -> Option<(String, String)> {
    let mut reader = BufReader::new(stream.try_clone().expect("a socket"));
    let (mut first, mut length) = (String::new(), 0);
    if reader.read_line(&mut first).unwrap_or(0) == 0 {
        return None;
    }
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a header");
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a number");
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("the body");
    let asked = first.trim_end().trim_end_matches(" HTTP/1.1").to_owned();
    Some((asked, String::from_utf8_lossy(&body).into_owned()))
}

/// Answers it, and closes the connection.
pub fn answer(mut stream: TcpStream, status: u16, body: &str) {
    let head = format!("HTTP/1.1 {status} x\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    let _ = stream.write_all(format!("{head}{body}").as_bytes());
}
