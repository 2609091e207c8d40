//! Logs for `conform --recorded`, of Consul and of RabbitMQ.

use fencepost_conform::{Limits, RECORDED, amqp, judge_until, read};

use super::fuzz;

/// Pieces of a log, each a whole episode.
fn pieces(log: &str, head: &str, most: usize) -> Vec<Vec<u8>> {
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    for line in log.lines() {
        if line.contains(head) {
            pieces.push(Vec::new());
        }
        let piece = pieces.last_mut().expect("a log begins with a head");
        piece.extend(line.bytes().chain([b'\n']));
    }
    pieces.retain(|piece| piece.len() < 20_000);
    pieces.truncate(most);
    pieces
}

#[test]
fn mutated_consul_logs_are_judged_or_refused() {
    let files = pieces(RECORDED, "\"consul\":", 60);
    fuzz("logs of Consul", 1, &files, &["line "], |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let episodes = read(&text).map_err(|error| format!("fuzzed.jsonl: {error}"))?;
        let _ = judge_until(&episodes, None, Limits { states: 5_000, choices: 1_000 }, &|| false);
        Ok(())
    });
}

#[test]
fn mutated_rabbitmq_logs_are_judged_or_refused() {
    let files = pieces(amqp::RECORDED, "\"rabbitmq\":", 60);
    fuzz("logs of RabbitMQ", 1, &files, &["line "], |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let sequences = amqp::read(&text).map_err(|error| format!("fuzzed.jsonl: {error}"))?;
        let _ = amqp::judge(&sequences, None);
        Ok(())
    });
}
