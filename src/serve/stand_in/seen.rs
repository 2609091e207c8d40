//! Requests by names that are the same in each run: without the ids and log positions in them.

use super::Fingerprint;

/// A request that has arrived.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    /// The name of the client that sent it.
    pub client: String,
    /// Its method.
    pub method: String,
    /// Its path and query, as they were.
    pub url: String,
    /// The same, with `*` for each id of a session and for each index: a rule of a plan can name it.
    pub pattern: String,
    /// What decided, before it arrived, how the run would go on.
    pub before: Fingerprint,
}

impl Seen {
    pub(super) fn new(client: &str, method: &str, url: &str, before: Fingerprint) -> Self {
        let (client, method, url) = (client.to_owned(), method.to_owned(), url.to_owned());
        Seen { pattern: pattern(&url), client, method, url, before }
    }

    /// What is the same in each run.
    pub fn name(&self) -> String {
        format!("{} {} {}", self.client, self.method, self.pattern)
    }
}

fn pattern(url: &str) -> String {
    let mut pattern = String::new();
    let mut rest = url;
    while let Some(c) = rest.chars().next() {
        if rest.len() >= ID && rest.is_char_boundary(ID) && is_id(&rest[..ID]) {
            pattern.push('*');
            rest = &rest[ID..];
            continue;
        }
        pattern.push(c);
        rest = &rest[c.len_utf8()..];
        if pattern.ends_with("?index=") || pattern.ends_with("&index=") || pattern.ends_with("?cas=") {
            pattern.push('*');
            rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        }
    }
    pattern
}

/// How long the id of a session is.
const ID: usize = 36;

fn is_id(text: &str) -> bool {
    text.bytes().enumerate().all(|(place, byte)| match place {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}

#[cfg(test)]
mod tests {
    use super::pattern;

    #[test]
    fn ids_and_indexes_are_left_out() {
        let id = "adf4238a-882b-9ddc-4a9d-5b6758e4159e";
        for (url, expected) in [
            ("/v1/session/create".to_owned(), "/v1/session/create"),
            (format!("/v1/session/renew/{id}"), "/v1/session/renew/*"),
            (format!("/v1/kv/lead?acquire={id}&flags=3"), "/v1/kv/lead?acquire=*&flags=3"),
            (format!("/v1/kv/ü/{id}/{id}"), "/v1/kv/ü/*/*"),
            ("/v1/kv/lead?wait=10s&index=17".to_owned(), "/v1/kv/lead?wait=10s&index=*"),
        ] {
            assert_eq!(pattern(&url), expected);
        }
    }
}
