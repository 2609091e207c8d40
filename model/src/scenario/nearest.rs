//! A misspelt name is answered with the one that it is like.

/// The message of a reader, with the name that is like the unknown one, if there is one, before all names.
pub(super) fn with_nearest(message: &str) -> String {
    let nearest = || {
        let rest = message.strip_prefix("unknown field `").or_else(|| message.strip_prefix("unknown variant `"))?;
        let (word, known) = rest.split_once("`, expected ")?;
        // Names stand in backticks: they are each second part.
        let distances = known.split('`').skip(1).step_by(2).map(|name| (strsim::osa_distance(name, word), name));
        let (distance, name) = distances.min()?;
        let kind = &message[..message.len() - rest.len()];
        (distance <= word.chars().count().div_ceil(3))
            .then(|| format!("{kind}{word}`: is `{name}` meant? Expected {known}"))
    };
    nearest().unwrap_or_else(|| message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_like_the_unknown_one_comes_first() {
        assert_eq!(
            with_nearest("unknown field `ttll`, expected one of `grace`, `ttl`, `ttl_max`"),
            "unknown field `ttll`: is `ttl` meant? Expected one of `grace`, `ttl`, `ttl_max`"
        );
        assert_eq!(
            with_nearest("unknown variant `proved`, expected `proven` or `violated`"),
            "unknown variant `proved`: is `proven` meant? Expected `proven` or `violated`"
        );
    }

    #[test]
    fn other_messages_stay_as_they_are() {
        for message in
            ["unknown field `colour`, expected one of `grace`, `ttl`", "unknown field `a`", "invalid type: string"]
        {
            assert_eq!(with_nearest(message), message);
        }
    }
}
