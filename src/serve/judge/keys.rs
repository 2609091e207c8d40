//! A key, as clients speak of it: who is inside, and what is written to the resource that it protects.

use std::collections::BTreeMap;

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
    /// How many tenures there were.
    tenures: u64,
    /// The last tenure of each client.
    last: BTreeMap<String, u64>,
    /// The highest token that a tenure has begun with.
    token: Option<u64>,
    resource: Resource,
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

    /// Whether it was inside.
    pub(super) fn leaves(&mut self, client: &str) -> bool {
        let before = self.inside.len();
        self.inside.retain(|inside| inside != client);
        self.inside.len() < before
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
