//! Patterns: a text in which `*` stands for any other, also for none.

/// A pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Glob(String);

impl Glob {
    pub(super) fn new(text: &str) -> Self {
        Glob(text.to_owned())
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// Whether a text fits: what stands before the first `*` begins it, what stands behind the last ends it, and the other parts come
    /// in between, in their order, each as early as it can.
    pub(super) fn fits(&self, text: &str) -> bool {
        let Some((start, rest)) = self.0.split_once('*') else { return text == self.0 };
        let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
        let Some(text) = text.strip_prefix(start).and_then(|text| text.strip_suffix(end)) else { return false };
        let mut rest = text;
        middle.split('*').all(|part| rest.find(part).map(|place| rest = &rest[place + part.len()..]).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::Glob;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, fits) in [
            ("/v1/kv/lead", "/v1/kv/lead", true),
            ("/v1/kv/lead", "/v1/kv/lead/er", false),
            ("/v1/kv/*", "/v1/kv/", true),
            ("*", "", true),
            ("/v1/*/renew/*", "/v1/session/renew/1", true),
            ("/v1/*/renew/*", "/v1/session/destroy/1", false),
            ("*?acquire=*", "/v1/kv/a?flags=1", false),
            ("a*a", "a", false),
            ("a*b*c", "a-b-b-c", true),
            ("*b*b*", "b", false),
        ] {
            assert_eq!(Glob::new(pattern).fits(text), fits, "{pattern} {text}");
        }
    }
}
