//! Every log in `LOGS.md` is read and judged as the page says, and the log formats of proxies write the lines that stand below them.

use fencepost_conform::amqp::traffic::{self, Verdict};
use fencepost_conform::amqp::{self, Judged};
use fencepost_conform::{Objection, judge, read, uncertainties};

const PAGE: &str = include_str!("../LOGS.md");

/// The blocks of a page, with what stands behind the first fence.
fn blocks() -> Vec<(&'static str, &'static str)> {
    let mut parts = PAGE.split("\n```");
    let mut found = Vec::new();
    parts.next();
    while let (Some(block), Some(_)) = (parts.next(), parts.next()) {
        found.extend(block.split_once('\n'));
    }
    found
}

/// The verdict on a log: possible, no contradiction, or impossible with line and rule.
fn verdict(text: &str) -> String {
    if traffic::is_one(text) {
        return match traffic::judge(&traffic::read(text).expect("a log")[0], None) {
            Verdict::Possible(_) => "possible".to_owned(),
            Verdict::Impossible(flaw) => format!("impossible {}", flaw.line),
            Verdict::Undecided { line } => format!("undecided {line}"),
        };
    }
    if amqp::is_one(text) {
        return match amqp::judge(&amqp::read(text).expect("a log"), None) {
            Judged::Possible(_) => "possible".to_owned(),
            Judged::Impossible { line, .. } => format!("impossible {line}"),
        };
    }
    let episodes = read(text).expect("a log");
    match judge(&episodes, None) {
        Ok(possible) if possible.partial > 0 => "no contradiction".to_owned(),
        Ok(_) => "possible".to_owned(),
        Err(Objection::Impossible(impossible)) => {
            format!("impossible {} {}", impossible.line, impossible.rule.map_or("", |(rule, _)| rule))
        }
        Err(undecided) => undecided.to_string(),
    }
}

#[test]
fn every_log_of_the_page_is_judged_as_it_says() {
    let logs: Vec<_> =
        blocks().into_iter().filter_map(|(info, log)| Some((info.strip_prefix("jsonl ")?, log))).collect();
    assert_eq!(logs.len(), 16, "are they still looked for?");
    for (info, log) in logs {
        let (expected, open) = info.split_once(" | ").unwrap_or((info, ""));
        assert_eq!(verdict(log), expected, "{log}");
        if !open.is_empty() {
            let listed: Vec<String> =
                uncertainties(&read(log).expect("a log")).iter().map(ToString::to_string).collect();
            assert_eq!(listed.join("; "), open);
        }
    }
}

#[test]
fn a_log_of_the_page_without_its_last_line_is_not_impossible() {
    let impossible = blocks().into_iter().filter(|(info, _)| info.starts_with("jsonl impossible"));
    for (_, log) in impossible {
        let (rest, _) = log.trim_end().rsplit_once('\n').expect("lines");
        assert!(["possible", "no contradiction"].contains(&verdict(rest).as_str()), "{rest}");
    }
}

/// What the proxies put into their formats, for the first line of each example; a number is one in Envoy's typed lines.
const VALUES: [(&str, &[(&str, &str)]); 3] = [
    (
        "nginx",
        &[
            ("$remote_addr", "10.0.0.1"),
            ("$remote_port", "50412"),
            ("$request_method", "GET"),
            ("$request_uri", "/v1/kv/lead"),
            ("$msec", "1700000001.004"),
            ("$request_time", "0.004"),
            ("$status", "200"),
            ("$upstream_http_x_consul_index", "20"),
            ("$body_bytes_sent", "160"),
        ],
    ),
    (
        "haproxy",
        &[
            ("%ci", "10.0.0.1"),
            ("%cp", "50412"),
            ("%HM", "GET"),
            ("%HU", "/v1/kv/lead"),
            ("%Ts", "1700000001"),
            ("%ms", "000"),
            ("%Tt", "4"),
            ("%ST", "200"),
            ("%[capture.res.hdr(0)]", "20"),
            ("%[capture.res.hdr(1)]", "160"),
        ],
    ),
    (
        "envoy",
        &[
            ("%DOWNSTREAM_REMOTE_ADDRESS%", "10.0.0.1:50412"),
            ("%REQ(:METHOD)%", "GET"),
            ("%REQ(:PATH)%", "/v1/kv/lead"),
            ("%START_TIME%", "2023-11-14T22:13:21.000Z"),
            ("\"%DURATION%\"", "4"),
            ("\"%RESPONSE_CODE%\"", "200"),
            ("%RESP(X-CONSUL-INDEX)%", "20"),
            ("\"%BYTES_SENT%\"", "160"),
        ],
    ),
];

#[test]
fn the_formats_of_proxies_write_the_lines_below_them() {
    let blocks = blocks();
    for (proxy, values) in VALUES {
        let place = blocks.iter().position(|(info, _)| *info == format!("text template {proxy}")).expect("a template");
        let (template, example) = (blocks[place].1, blocks[place + 1].1);
        let begin = template.find("{\"").expect("an object");
        let mut line = template[begin..=template.rfind('}').expect("an object")].to_owned();
        for (name, value) in values {
            assert!(line.contains(name), "{proxy} has no {name}");
            line = line.replace(name, value);
        }
        assert_eq!(line, example.lines().nth(1).expect("a line"), "{proxy}");
    }
}
