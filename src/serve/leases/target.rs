//! What a URL names.

use std::fmt;

use percent_encoding::percent_decode_str;

use super::GROUP;

/// A lease by its namespace and name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct LeaseKey {
    pub(super) namespace: String,
    pub(super) name: String,
}

impl fmt::Display for LeaseKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// What a URL names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    /// A lease.
    Lease(LeaseKey),
    /// The leases of a namespace; of all, if there is none.
    Leases(Option<String>),
    /// What the server has, by its path.
    About(String),
}

impl Target {
    /// What the path of a URL names.
    pub(crate) fn of(url: &str) -> Target {
        let path = url.split('?').next().unwrap_or_default();
        let inside = path.strip_prefix("/apis/").and_then(|rest| rest.strip_prefix(GROUP)?.strip_prefix("/v1/"));
        let text = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
        let parts: Vec<&str> = inside.map_or_else(Vec::new, |rest| rest.trim_end_matches('/').split('/').collect());
        match parts[..] {
            ["leases"] => Target::Leases(None),
            ["namespaces", namespace, "leases"] => Target::Leases(Some(text(namespace))),
            ["namespaces", namespace, "leases", name] => {
                Target::Lease(LeaseKey { namespace: text(namespace), name: text(name) })
            }
            _ => Target::About(path.trim_end_matches('/').to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LeaseKey, Target};

    #[test]
    fn a_url_names_a_lease_a_list_or_something_about_the_server() {
        let key = LeaseKey { namespace: "default".to_owned(), name: "a.b".to_owned() };
        let start = "/apis/coordination.k8s.io/v1";
        for (url, expected) in [
            (format!("{start}/namespaces/default/leases/a.b?x=1"), Target::Lease(key.clone())),
            (format!("{start}/namespaces/default/leases/a%2Eb"), Target::Lease(key)),
            (format!("{start}/namespaces/default/leases/"), Target::Leases(Some("default".to_owned()))),
            (format!("{start}/leases"), Target::Leases(None)),
            (start.to_owned(), Target::About(start.to_owned())),
            (
                format!("{start}/namespaces/default/leases/a/status"),
                Target::About(format!("{start}/namespaces/default/leases/a/status")),
            ),
            ("/version".to_owned(), Target::About("/version".to_owned())),
        ] {
            assert_eq!(Target::of(&url), expected, "{url}");
        }
    }
}
