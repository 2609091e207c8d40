//! A key, as clients speak of it: who is inside, and what is written to the resource that it protects.

use std::collections::BTreeMap;

use crate::clock::seconds;

/// A write to a resource.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    /// The fencing token that it brings, if any. The resource refuses one that is lower than the highest it has seen.
    pub(crate) token: Option<u64>,
    /// What is written.
    pub(crate) content: Vec<u8>,
}

/// A key and its resource.
#[derive(Clone, Debug, Default)]
pub(super) struct KeyState {
    /// Who is inside, in the order in which they came.
    inside: Vec<String>,
    /// Who waits to be, and since when; and until when it has to be.
    waiting: BTreeMap<String, Wait>,
    /// How many tenures there were.
    tenures: u64,
    /// The last tenure of each client.
    last: BTreeMap<String, u64>,
    /// The highest token that a tenure has begun with.
    token: Option<u64>,
    resource: Resource,
}

/// A client that waits to be inside, in nanoseconds since the start.
#[derive(Copy, Clone, Debug)]
struct Wait {
    since: i64,
    until: i64,
}

#[derive(Clone, Debug, Default)]
struct Resource {
    content: Option<Vec<u8>>,
    /// The newest tenure that has written.
    touched: u64,
    /// The highest token that it has seen.
    token: Option<u64>,
}

/// Promises that an event breaks, by name, each with a sentence.
type Broken = Vec<(&'static str, String)>;

impl KeyState {
    pub(super) fn inside(&self) -> &[String] {
        &self.inside
    }

    pub(super) fn is_inside(&self, client: &str) -> bool {
        self.inside.iter().any(|inside| inside == client)
    }

    pub(super) fn content(&self) -> Option<&[u8]> {
        self.resource.content.as_deref()
    }

    pub(super) fn enters(&mut self, client: &str, limit: usize, token: Option<u64>) -> Broken {
        let mut broken = Broken::new();
        self.waiting.remove(client);
        if self.is_inside(client) {
            return broken;
        }
        self.inside.push(client.to_owned());
        self.tenures += 1;
        self.last.insert(client.to_owned(), self.tenures);
        if limit == 1 && self.inside.len() > 1 {
            let first = &self.inside[0];
            broken.push(("mutual-exclusion", format!("{first} and {client} are both inside")));
        }
        if limit > 1 && self.inside.len() > limit {
            let names = self.inside.join(" and ");
            broken.push(("slot-limit-belief", format!("{names} are inside, and the semaphore has {limit} slots")));
        }
        if let (Some(token), Some(highest)) = (token, self.token)
            && token <= highest
            && limit == 1
        {
            let sentence = format!("{client} begins a tenure with token {token}, and there was {highest} before");
            broken.push(("token-order", sentence));
        }
        self.token = self.token.max(token);
        broken
    }

    /// Whether it was inside, or waited to be.
    pub(super) fn leaves(&mut self, client: &str) -> bool {
        let before = self.inside.len();
        self.inside.retain(|inside| inside != client);
        self.waiting.remove(client).is_some() || self.inside.len() < before
    }

    /// A client wants to be inside by an instant; one that waits already goes on with what it said first.
    pub(super) fn waits(&mut self, client: &str, since: i64, until: i64) {
        if !self.is_inside(client) {
            self.waiting.entry(client.to_owned()).or_insert(Wait { since, until });
        }
    }

    /// Who waits, and until when that may last.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (&str, i64)> {
        self.waiting.iter().map(|(client, wait)| (client.as_str(), wait.until))
    }

    /// When the first of those that wait has waited for too long.
    pub(super) fn patience(&self) -> Option<i64> {
        self.waiting.values().map(|wait| wait.until).min()
    }

    /// Those that have waited for too long; they are told once.
    pub(super) fn runs_out(&mut self, now: i64) -> Broken {
        let mut late = Vec::new();
        self.waiting.retain(|client, wait| {
            let is_late = wait.until <= now;
            if is_late {
                late.push((client.clone(), *wait));
            }
            !is_late
        });
        let sentence = |(client, wait): (String, Wait)| {
            let span = seconds(wait.until.saturating_sub(wait.since));
            ("eventually-acquired", format!("{client} has waited for {span} s, and is not inside"))
        };
        late.into_iter().map(sentence).collect()
    }

    /// Refused with the highest token that the resource has seen.
    pub(super) fn writes(&mut self, client: &str, write: Write) -> (Result<(), u64>, Broken) {
        let resource = &mut self.resource;
        if let (Some(token), Some(highest)) = (write.token, resource.token)
            && token < highest
        {
            return (Err(highest), Broken::new());
        }
        let mut broken = Broken::new();
        let tenure = self.last.get(client).copied().unwrap_or(0);
        if tenure < resource.touched {
            let sentence =
                format!("a write of {client} from an earlier tenure is accepted after a later tenure has written");
            broken.push(("no-lost-update", sentence));
        }
        resource.token = resource.token.max(write.token);
        resource.touched = resource.touched.max(tenure);
        resource.content = Some(write.content);
        (Ok(()), broken)
    }
}

#[cfg(test)]
mod tests {
    use super::{KeyState, Write};

    fn names(broken: &[(&'static str, String)]) -> Vec<&'static str> {
        broken.iter().map(|(name, _)| *name).collect()
    }

    fn write(token: Option<u64>) -> Write {
        Write { token, content: Vec::new() }
    }

    #[test]
    fn two_inside_break_mutual_exclusion_and_one_after_the_other_do_not() {
        let mut key = KeyState::default();
        assert!(key.enters("a", 1, None).is_empty());
        assert!(key.enters("a", 1, None).is_empty(), "it is inside already");
        assert!(key.leaves("a") && !key.leaves("a"));
        assert!(key.enters("b", 1, None).is_empty());
        assert_eq!(names(&key.enters("a", 1, None)), ["mutual-exclusion"]);
    }

    #[test]
    fn a_semaphore_has_room_for_its_limit() {
        let mut key = KeyState::default();
        assert!(key.enters("a", 2, None).is_empty());
        assert!(key.enters("b", 2, None).is_empty());
        let broken = key.enters("c", 2, None);
        assert_eq!(broken[0].1, "a and b and c are inside, and the semaphore has 2 slots");
    }

    #[test]
    fn who_waits_is_inside_in_time_or_gives_up() {
        let mut key = KeyState::default();
        key.waits("a", 0, 5_000_000_000);
        key.waits("a", 1, 9_000_000_000);
        key.waits("b", 0, 4_000_000_000);
        key.waits("c", 0, 3_000_000_000);
        assert_eq!(key.patience(), Some(3_000_000_000));
        key.enters("b", 1, None);
        assert!(key.leaves("c") && !key.leaves("c"), "it gives up");
        assert!(key.runs_out(4_999_999_999).is_empty());
        let broken = key.runs_out(5_000_000_000);
        assert_eq!(broken, [("eventually-acquired", "a has waited for 5 s, and is not inside".to_owned())]);
        assert!(key.runs_out(i64::MAX).is_empty() && key.patience().is_none(), "once");
        key.waits("b", 0, 1);
        assert!(key.patience().is_none(), "it is inside");
    }

    #[test]
    fn a_later_tenure_has_a_higher_token() {
        let mut key = KeyState::default();
        key.enters("a", 1, Some(5));
        key.leaves("a");
        assert_eq!(names(&key.enters("b", 1, Some(5))), ["token-order"]);
        key.leaves("b");
        assert!(key.enters("a", 1, Some(6)).is_empty());
    }

    #[test]
    fn a_token_keeps_a_late_write_out_and_without_one_an_update_is_lost() {
        for (tokens, lost) in [([Some(1), Some(2)], false), ([None, None], true)] {
            let mut key = KeyState::default();
            key.enters("a", 1, tokens[0]);
            assert!(key.writes("a", write(tokens[0])).0.is_ok());
            key.leaves("a");
            key.enters("b", 1, tokens[1]);
            assert!(key.writes("b", write(tokens[1])).0.is_ok());
            let (accepted, broken) = key.writes("a", write(tokens[0]));
            assert_eq!(accepted.is_ok(), lost);
            assert_eq!(names(&broken), if lost { vec!["no-lost-update"] } else { vec![] });
        }
    }
}
