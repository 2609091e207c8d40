//! Requests that are none: the stand-in refuses them, and its state is what it was. With `FENCEPOST_MALFORMED=10000` more of them.

use std::env;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use fencepost_conform::Consul;
use fencepost_serve::{Clock, Server, Settings};

use crate::bench::Bench;

/// Seeds of malformed requests: each is cut, doubled and damaged.
const SEEDS: [&str; 12] = [
    "PUT /v1/kv/lead HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nvalue",
    "PUT /v1/kv/lead?acquire=zzz&flags=18446744073709551616 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
    "PUT /v1/session/create HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n{\"TTL\":\r\n5\r\n\"1s\"}\r\n0\r\n\r\n",
    "GET /v1/kv/?recurse&index=99999999999999999999&wait=1h HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /v1/kv/%ff%00%2e%2e/%zz HTTP/1.1\r\nHost: x\r\n\r\n",
    "PUT /v1/txn HTTP/1.1\r\nHost: x\r\nContent-Length: 60\r\n\r\n[{\"KV\":{\"Verb\":\"cas\",\"Key\":\"k\",\"Index\":18446744073709551615}}]",
    "PUT /v1/catalog/register HTTP/1.1\r\nHost: x\r\nContent-Length: 46\r\n\r\n{\"Node\":\"n\",\"Address\":{},\"Check\":[{}],\"ID\":[]}",
    "POST /v1/query HTTP/1.1\r\nHost: x\r\nContent-Length: 24\r\n\r\n{\"Session\":7,\"Name\":[1]}",
    "PUT /fencepost/clock/advance?by=99999999999h HTTP/1.1\r\nHost: x\r\n\r\n",
    "PUT /fencepost/faults HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\non \u{fc} : : ",
    "GET http://[::1]:99999/v1/kv/lead HTTP/1.1\r\n\r\n",
    "\u{16}\u{3}\u{1}\u{2}\0\u{1}",
];

/// Numbers that are the same on each run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % bound
    }
}

fn damaged(draw: &mut Draw) -> Vec<u8> {
    let mut bytes = SEEDS[draw.below(SEEDS.len())].as_bytes().to_vec();
    for _ in 0..draw.below(4) {
        let place = draw.below(bytes.len().max(1));
        match draw.below(5) {
            0 => bytes.truncate(place),
            1 if !bytes.is_empty() => bytes[place] = u8::try_from(draw.below(256)).expect("a byte"),
            2 => bytes.extend(SEEDS[draw.below(SEEDS.len())].as_bytes()),
            3 => drop(bytes.splice(place..place, [b'9'; 3])),
            _ => bytes.extend(vec![b'a'; draw.below(3) * 20_000]),
        }
    }
    bytes
}

fn send(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).expect("it listens");
    // It may close the connection before it has read everything.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    answer
}

#[test]
fn malformed_requests_are_refused_and_leave_the_rest_alone() {
    let count = env::var("FENCEPOST_MALFORMED").ok().and_then(|count| count.parse().ok()).unwrap_or(400);
    let settings = Settings { clock: Clock::Manual, ..Settings::default() };
    let server = Server::start(settings, "127.0.0.1:0").expect("a free port");
    let consul = Consul::connect(&format!("http://{}", server.address())).expect("it answers");
    let ask = |method: &str, url: &str| {
        let question =
            fencepost_conform::HttpRequest { method: method.to_owned(), url: url.to_owned(), body: b"kept".to_vec() };
        consul.ask(&question).expect("it answers")
    };
    assert_eq!(ask("PUT", "/v1/kv/untouched").status, 200);
    let before = ask("GET", "/v1/kv/untouched").body;
    let mut draw = Draw(1);
    let mut refused = 0;
    for _ in 0..count {
        let bytes = damaged(&mut draw);
        let answer = send(server.address(), &bytes);
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1."), "{}", String::from_utf8_lossy(&answer));
        refused += usize::from(answer.windows(13).any(|part| part.starts_with(b"HTTP/1.1 400 ")));
    }
    assert!(refused > count / 10, "{refused} of {count} were refused");
    assert_eq!(ask("GET", "/v1/kv/untouched").body, before);
    let news = server.news();
    assert!(!news.iter().any(|news| news.contains("internal error")), "{news:?}");
}

#[test]
fn bodies_and_urls_of_any_kind_make_no_request_panic() {
    let mut bench = Bench::new();
    let mut draw = Draw(2);
    let pieces = [
        "/v1/kv/",
        "/v1/txn",
        "/v1/session/create",
        "/v1/session/renew/",
        "/v1/catalog/register",
        "/v1/query",
        "?",
        "&",
        "acquire=",
        "cas=",
        "index=",
        "recurse",
        "keys&separator=",
        "wait=",
        "%ff",
        "ü",
        "//",
        "/fencepost/",
        "sleep?for=",
        "inside?key=",
        "18446744073709551616",
        "/v1/agent/check/update/",
        "/v1/health/service/",
        "-1",
    ];
    let bodies = [
        "",
        "{}",
        "[]",
        "null",
        "[null]",
        "{\"Node\":1}",
        "[{\"KV\":{\"Verb\":\"set\",\"Key\":7}}]",
        "\u{0}",
        "{\"TTL\":\"99999999h\"}",
    ];
    for _ in 0..3_000 {
        let url: String = (0..1 + draw.below(5)).map(|_| pieces[draw.below(pieces.len())]).collect();
        let method = ["GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD"][draw.below(6)];
        bench.send("a", method, &format!("/{}", url.trim_start_matches('/')), bodies[draw.below(bodies.len())]);
    }
    bench.stand_in.ready();
    assert!(!bench.stand_in.news().iter().any(|news| news.contains("internal error")));
}
