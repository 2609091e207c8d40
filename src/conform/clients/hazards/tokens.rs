//! Hazards of the LockIndex as a token (C-KV-19): it does not tell the tenures of an entry apart that began anew between them.

use serde_json::Value;

use super::super::super::consul::part;
use super::super::super::log::LogRecord;
use super::super::asks::{Ask, asks, is_done, lock_index};
use super::super::beliefs::is_by;
use super::super::tenures::{Ending, Tenure};
use super::Evidence;

/// The LockIndex that the client of a tenure was shown while it held the lock: what it may take for its token.
fn token(evidence: &Evidence<'_>, tenure: &Tenure) -> Option<u64> {
    let own = evidence.episode.lines.iter().filter(|line| is_by(line, tenure));
    own.filter_map(|line| lock_index(line, &tenure.key, &tenure.session)).next_back()
}

/// A later tenure of the lock whose token is no higher, with both tokens.
fn repeated<'a>(evidence: &Evidence<'a>) -> Option<(&'a Tenure, u64, u64)> {
    let mine = evidence.tenure;
    evidence.write.filter(|_| mine.limit.is_none())?;
    let token_of = |tenure: &Tenure| token(evidence, tenure);
    let first = token_of(mine)?;
    let later = evidence
        .tenures
        .iter()
        .filter(|other| other.key == mine.key && mine.is_of_other(other) && mine.began.1 < other.began.0);
    later.filter_map(|other| Some((other, first, token_of(other)?))).find(|(_, first, second)| second <= first)
}

/// C-KV-18: an entry that is made anew begins with LockIndex 1.
pub(super) fn cleaned_up(evidence: &Evidence<'_>) -> Option<String> {
    let (other, first, second) = repeated(evidence)?;
    let is_deletion = |line: &&LogRecord| {
        let deletes = asks(line).iter().any(|asked| asked.ask == Ask::Delete && asked.is_about(&other.key));
        deletes && is_done(line) && evidence.tenure.began.1 <= line.sent && line.sent <= other.began.1
    };
    let line = evidence.episode.lines.iter().find(is_deletion)?.number;
    let (key, mine, theirs) = (&other.key, evidence.tenure.who(), other.who());
    Some(format!(
        "`{key}` was deleted in line {line}, and its LockIndex began again: it was {first} for {mine} and {second} for {theirs}, and is no token"
    ))
}

/// C-INV-1: a session with the behaviour `delete` takes its keys with it.
pub(super) fn went_with_its_session(evidence: &Evidence<'_>) -> Option<String> {
    let (other, first, second) = repeated(evidence)?;
    let (_, requested) = evidence.creation()?;
    let behavior = part(&requested, "Behavior").and_then(Value::as_str);
    let is_ended = matches!(evidence.tenure.ending, Ending::Expired(_) | Ending::Destroyed(_) | Ending::Pruned(_));
    (behavior == Some("delete") && is_ended).then(|| {
        let (key, mine, theirs) = (&other.key, evidence.tenure.who(), other.who());
        format!(
            "its session took `{key}` with it when it ended (behaviour `delete`), and the LockIndex began again: it was {first} for {mine} and {second} for {theirs}, and is no token"
        )
    })
}
