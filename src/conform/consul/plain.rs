//! Answers that are compared without being read: JSON without spaces, and without escapes. Fields may come in any order, for recorders sort
//! them. A body that is written otherwise, or is another one, is left to [`BodyShape::fit`], which reads it as a value: that accepts
//! every body that is accepted here, and tells the same log positions.

use fencepost_model::ids::Index;
use serde_json::Value;

use super::names::NameTable;
use super::shape::BodyShape;

/// Log positions, ours and the server's.
type Positions = Vec<(Index, u64)>;

impl BodyShape {
    /// Whether a body is plainly this. Then its log positions are bound, and otherwise none.
    pub(super) fn is_plainly(&self, body: &[u8], names: &mut NameTable) -> bool {
        let mut told = Positions::new();
        let is_this = self.rest(body, &mut told).is_some_and(|rest| matches!(rest, b"" | b"\n"));
        is_this && bind(told, names)
    }

    /// What comes after this in a body.
    fn rest<'b>(&self, body: &'b [u8], told: &mut Positions) -> Option<&'b [u8]> {
        match self {
            BodyShape::Any => skip(body, DEEPEST),
            BodyShape::Json(value) => rest_of_value(value, body),
            BodyShape::Index(index) => {
                let (theirs, rest) = number(body)?;
                told.push((*index, theirs));
                Some(rest)
            }
            BodyShape::Text(part) => {
                let (text, rest) = string(body)?;
                text.contains(part.as_str()).then_some(rest)
            }
            BodyShape::List(items) => {
                let mut items = items.iter();
                let rest = list(body, &mut |rest| items.next()?.rest(rest, told))?;
                items.next().is_none().then_some(rest)
            }
            BodyShape::Object(fields) => object(fields, false, body, |item, rest| item.rest(rest, told)),
            BodyShape::Some(fields) => object(fields, true, body, |item, rest| item.rest(rest, told)),
            BodyShape::Map(fields) => object(fields, false, body, |item, rest| item.rest(rest, told)),
            // Fresh ids are named once only.
            BodyShape::NewSession(_) | BodyShape::NewQuery(_) | BodyShape::Nothing | BodyShape::Raw(_) => None,
        }
    }
}

/// Binds log positions; false: they do not go together, and none is bound.
fn bind(mut told: Positions, names: &mut NameTable) -> bool {
    told.sort_unstable();
    told.dedup();
    let is_known = told.iter().all(|(ours, theirs)| names.may_bind(*ours, *theirs).is_ok());
    let rises = told.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1);
    is_known && rises && told.iter().all(|(ours, theirs)| names.bind(*ours, *theirs).is_ok())
}

fn rest_of_value<'b>(value: &Value, body: &'b [u8]) -> Option<&'b [u8]> {
    match value {
        Value::Null => body.strip_prefix(b"null"),
        Value::Bool(true) => body.strip_prefix(b"true"),
        Value::Bool(false) => body.strip_prefix(b"false"),
        Value::Number(expected) => {
            let (found, rest) = number(body)?;
            (expected.as_u64() == Some(found)).then_some(rest)
        }
        Value::String(expected) => {
            let (found, rest) = string(body)?;
            (found == expected).then_some(rest)
        }
        Value::Array(items) => {
            let mut items = items.iter();
            let rest = list(body, &mut |rest| rest_of_value(items.next()?, rest))?;
            items.next().is_none().then_some(rest)
        }
        Value::Object(fields) => {
            let fields: Vec<(&str, &Value)> = fields.iter().map(|(name, value)| (name.as_str(), value)).collect();
            object(&fields, false, body, |value, rest| rest_of_value(value, rest))
        }
    }
}

/// What comes after an object with these fields, each once, in any order; and with others, if there may be.
fn object<'b, N: AsRef<str>, T>(
    fields: &[(N, T)],
    has_others: bool,
    body: &'b [u8],
    mut rest_of: impl FnMut(&T, &'b [u8]) -> Option<&'b [u8]>,
) -> Option<&'b [u8]> {
    let mut missing = 1_u64.checked_shl(u32::try_from(fields.len()).ok()?)? - 1;
    let rest = members(body, &mut |name, rest| match fields.iter().position(|(field, _)| field.as_ref() == name) {
        Some(at) if missing & (1 << at) != 0 => {
            missing &= !(1 << at);
            rest_of(&fields[at].1, rest)
        }
        None if has_others => skip(rest, DEEPEST),
        _ => None,
    })?;
    (missing == 0).then_some(rest)
}

/// How deep values may be nested that are skipped.
const DEEPEST: usize = 16;

/// What comes after a value, whatever it is.
fn skip(body: &[u8], deepest: usize) -> Option<&[u8]> {
    let deeper = deepest.checked_sub(1)?;
    match body.first()? {
        b'"' => Some(string(body)?.1),
        b'[' => list(body, &mut |rest| skip(rest, deeper)),
        b'{' => members(body, &mut |_, rest| skip(rest, deeper)),
        b'0'..=b'9' => Some(number(body)?.1),
        _ => [&b"null"[..], b"true", b"false"].into_iter().find_map(|word| body.strip_prefix(word)),
    }
}

fn list<'b>(body: &'b [u8], item: &mut dyn FnMut(&'b [u8]) -> Option<&'b [u8]>) -> Option<&'b [u8]> {
    let mut rest = body.strip_prefix(b"[")?;
    if let Some(after) = rest.strip_prefix(b"]") {
        return Some(after);
    }
    loop {
        match item(rest)?.split_first()? {
            (b',', after) => rest = after,
            (b']', after) => return Some(after),
            _ => return None,
        }
    }
}

fn members<'b>(body: &'b [u8], member: &mut dyn FnMut(&'b str, &'b [u8]) -> Option<&'b [u8]>) -> Option<&'b [u8]> {
    let mut rest = body.strip_prefix(b"{")?;
    if let Some(after) = rest.strip_prefix(b"}") {
        return Some(after);
    }
    loop {
        let (name, value) = string(rest)?;
        match member(name, value.strip_prefix(b":")?)?.split_first()? {
            (b',', after) => rest = after,
            (b'}', after) => return Some(after),
            _ => return None,
        }
    }
}

/// A string that has nothing escaped, and what comes after it.
fn string(body: &[u8]) -> Option<(&str, &[u8])> {
    let body = body.strip_prefix(b"\"")?;
    let end = body.iter().position(|byte| *byte < b' ' || matches!(byte, b'"' | b'\\'))?;
    let rest = body[end..].strip_prefix(b"\"")?;
    Some((std::str::from_utf8(&body[..end]).ok()?, rest))
}

/// A number without a sign, and what comes after it.
fn number(body: &[u8]) -> Option<(u64, &[u8])> {
    let count = body.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = body.split_at(count);
    let is_whole = !matches!(rest.first(), Some(b'.' | b'e' | b'E'));
    if !is_whole || digits.len() > 1 && digits[0] == b'0' {
        return None;
    }
    Some((std::str::from_utf8(digits).ok()?.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use fencepost_model::ids::Index;
    use proptest::prelude::*;
    use serde_json::json;

    use super::{BodyShape, NameTable};

    fn entry() -> BodyShape {
        BodyShape::List(vec![
            BodyShape::Object(vec![
                ("Key", BodyShape::text("a/b")),
                ("Value", BodyShape::Json(json!({"x": null, "y": [true, 7]}))),
                ("CreateIndex", BodyShape::Index(Index::numbered(3))),
                ("ModifyIndex", BodyShape::Index(Index::numbered(4))),
            ]),
            BodyShape::Some(vec![("What", BodyShape::Text("lock".to_owned()))]),
        ])
    }

    const PLAIN: &str = concat!(
        r#"[{"Key":"a/b","Value":{"x":null,"y":[true,7]},"CreateIndex":17,"ModifyIndex":18},"#,
        r#"{"More":[{"a":1},"",[]],"What":"no lock"}]"#,
    );

    #[test]
    fn plain_bodies_are_compared_without_being_read() {
        let mut names = NameTable::default();
        assert!(entry().is_plainly(PLAIN.as_bytes(), &mut names));
        assert_eq!((names.theirs(Index::numbered(3)), names.theirs(Index::numbered(4))), (Some(17), Some(18)));
        let sorted = PLAIN.replace(r#""Key":"a/b","#, "").replace(":18}", r#":18,"Key":"a/b"}"#);
        assert!(entry().is_plainly(format!("{sorted}\n").as_bytes(), &mut names), "{sorted}");
    }

    #[test]
    fn other_bodies_bind_no_log_position() {
        let others = [
            PLAIN.replace("18", "16"),
            PLAIN.replace("a/b", "a/c"),
            PLAIN.replace("no lock", "nothing"),
            PLAIN.replace(":17,", ":17.5,"),
            PLAIN.replace(":17,", ":017,"),
            PLAIN.replace(r#""CreateIndex":17,"#, ""),
            PLAIN.replace(r#""CreateIndex":17"#, r#""ModifyIndex":18"#),
            PLAIN.replace("[true,7]", "[true]"),
            PLAIN.replace("{\"a\":1}", &"[".repeat(200_000)),
            format!("{PLAIN}]"),
        ];
        for other in others {
            let mut names = NameTable::default();
            assert!(!entry().is_plainly(other.as_bytes(), &mut names), "{other}");
            assert_eq!((names.theirs(Index::numbered(3)), names.theirs(Index::numbered(4))), (None, None), "{other}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4_000, rng_seed: proptest::test_runner::RngSeed::Fixed(26), ..ProptestConfig::default() })]

        /// Whatever is accepted plainly is accepted as a value, too, with the same log positions.
        #[test]
        fn no_more_is_accepted_than_as_a_value(
            place in 0..PLAIN.len(), with in "[0-9a-z\"\\\\,\\[\\]{}:. -]{0,2}", drops in 0..3_usize,
        ) {
            let body = format!("{}{with}{}", &PLAIN[..place], &PLAIN[(place + drops).min(PLAIN.len())..]);
            let (mut fast, mut slow) = (NameTable::default(), NameTable::default());
            let is_plain = entry().is_plainly(body.as_bytes(), &mut fast);
            let read = serde_json::from_str(&body).map(|value| entry().fit_value(&value, &mut slow));
            if is_plain {
                prop_assert_eq!(read.ok(), Some(Ok(())), "{}", body);
                prop_assert_eq!(fast.theirs(Index::numbered(3)), slow.theirs(Index::numbered(3)));
                prop_assert_eq!(fast.theirs(Index::numbered(4)), slow.theirs(Index::numbered(4)));
            }
        }
    }
}
