//! What takes a while, and is measured: run by `.ci/long`.

use std::fmt::Write;
use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fencepost_conform::{Objection, judge, read};

/// The lines of a log of one client after the other, on a thousand keys: writes, reads, writes that compare, deletions.
fn sequential(lines: usize) -> String {
    let mut text = "{\"consul\": \"1.8.7\"}\n".to_owned();
    let mut entries = vec![None; 1000];
    let mut index = 10;
    for number in 0..lines {
        // Every key comes up in turn, and what is done to it changes each time.
        let (key, lap) = (number % 1000, number / 1000);
        let url = format!("/v1/kv/app/{key}");
        let (sent, received) = (number as f64 / 1e3, (number as f64 + 0.5) / 1e3);
        let times = format!("\"sent\": {sent}, \"received\": {received}, \"status\"");
        let value = format!("v{number}");
        let entry: &mut Option<(usize, usize, String)> = &mut entries[key];
        let line = match (lap % 4, entry.clone()) {
            (0, known) => {
                index += 1;
                *entry = Some((known.map_or(index, |(create, ..)| create), index, value.clone()));
                format!(
                    "\"method\": \"PUT\", \"url\": \"{url}\", \"body\": \"{value}\", {times}: 200, \"answer\": \"true\""
                )
            }
            (1, Some((create, modify, value))) => {
                let code = STANDARD.encode(value);
                format!(
                    "\"method\": \"GET\", \"url\": \"{url}\", {times}: 200, \"index\": {modify}, \"answer\": \"[{{\\\"LockIndex\\\":0,\\\"Key\\\":\\\"app/{key}\\\",\\\"Flags\\\":0,\\\"Value\\\":\\\"{code}\\\",\\\"CreateIndex\\\":{create},\\\"ModifyIndex\\\":{modify}}}]\""
                )
            }
            (2, Some((create, modify, _))) => {
                index += 1;
                *entry = Some((create, index, value.clone()));
                format!(
                    "\"method\": \"PUT\", \"url\": \"{url}?cas={modify}\", \"body\": \"{value}\", {times}: 200, \"answer\": \"true\""
                )
            }
            _ => {
                index += 1;
                *entry = None;
                format!("\"method\": \"DELETE\", \"url\": \"{url}\", {times}: 200, \"answer\": \"true\"")
            }
        };
        writeln!(text, "{{{line}}}").expect("a text");
    }
    text
}

#[test]
#[ignore = "takes seconds, and is measured: .ci/long"]
fn a_million_lines_are_judged() {
    let text = sequential(1_000_000);
    let began = Instant::now();
    let episodes = read(&text).expect("a log");
    let has_read = began.elapsed();
    let possible = judge(&episodes, None).unwrap_or_else(|objection| panic!("{objection}"));
    let all = began.elapsed();
    println!("{} lines: read in {has_read:?}, judged in {:?}", possible.lines, all - has_read);
    assert_eq!((possible.lines, possible.partial), (1_000_000, 0));
}

/// The same, short, and with one other answer: it is looked at.
#[test]
fn a_long_log_with_one_other_answer_is_impossible_at_its_line() {
    let text = sequential(5_000);
    assert_eq!(judge(&read(&text).expect("a log"), None).expect("possible").lines, 5_000);
    let altered = text.replacen(
        "\\\"LockIndex\\\":0,\\\"Key\\\":\\\"app/77\\\"",
        "\\\"LockIndex\\\":1,\\\"Key\\\":\\\"app/77\\\"",
        1,
    );
    let Err(Objection::Impossible(flaw)) = judge(&read(&altered).expect("a log"), None) else { panic!("possible") };
    assert_eq!(flaw.line, 1_079);
}
