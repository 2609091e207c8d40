//! Answers, in the order in which they arrived.

use super::super::log::LogRecord;

/// The answer to a request arrives: by now it has been carried out.
pub(super) struct Answer {
    pub(super) place: usize,
    /// Other requests that have been sent, and are answered later; in order.
    pub(super) others: Vec<usize>,
    /// How many requests have been sent.
    pub(super) sent: usize,
    /// When the oldest of all these was sent.
    pub(super) oldest: i64,
}

/// Answers as they arrived, and requests without one, with how many answers had arrived when each was sent.
pub(super) fn arrivals(lines: &[LogRecord]) -> (Vec<Answer>, Vec<(usize, usize)>) {
    let mut events: Vec<(i64, bool, usize)> = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        events.push((line.sent, false, place));
        if line.reply.is_some() {
            events.push((line.received, true, place));
        }
    }
    events.sort_unstable();
    let (mut answers, mut lost, mut open) = (Vec::new(), Vec::new(), Vec::new());
    let (mut sent, mut lost_since) = (0, i64::MAX);
    for (at, is_answer, place) in events {
        if !is_answer {
            sent = place + 1;
            match lines[place].reply {
                Some(_) => open.push(place),
                None => {
                    lost_since = lost_since.min(at);
                    lost.push((place, answers.len()));
                }
            }
            continue;
        }
        let oldest = open.iter().map(|open: &usize| lines[*open].sent).min().unwrap_or(at).min(lost_since);
        open.retain(|open| *open != place);
        answers.push(Answer { place, others: open.clone(), sent, oldest });
    }
    (answers, lost)
}
