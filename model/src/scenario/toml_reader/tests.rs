//! The reader against the library's own deserializer, with each kind of value in each kind of field.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use toml::de::DeTable;

use super::{ReadError, TomlReader};

#[derive(Deserialize, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
struct Sample {
    name: String,
    number: Option<u8>,
    signed: Option<i64>,
    large: Option<u64>,
    truth: Option<bool>,
    letter: Option<char>,
    wrapped: Option<Wrapped>,
    pair: Option<(u8, String)>,
    list: Option<Vec<u8>>,
    map: Option<BTreeMap<String, i16>>,
    inner: Option<Inner>,
    variant: Option<Variant>,
    loose: Option<Loose>,
    ignored: Option<IgnoredAny>,
}

#[derive(Deserialize, PartialEq, Debug)]
struct Wrapped(u16);

#[derive(Deserialize, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
struct Inner {
    a: u8,
    #[serde(default)]
    b: Vec<Variant>,
}

#[derive(Deserialize, PartialEq, Debug)]
#[serde(rename_all = "kebab-case")]
enum Variant {
    Unit,
    One(u8),
    Two(u8, u8),
    Table { a: u8 },
}

#[derive(Deserialize, PartialEq, Debug)]
#[serde(untagged)]
enum Loose {
    Truth(bool),
    Number(i64),
    Text(String),
    List(Vec<u8>),
    Table(BTreeMap<String, u8>),
}

const FIELDS: [&str; 15] = [
    "name", "number", "signed", "large", "truth", "letter", "wrapped", "pair", "list", "map", "inner", "variant",
    "loose", "ignored", "unknown",
];

/// Values that a scenario may have, in their place or not.
const VALUES: [&str; 34] = [
    "0",
    "7",
    "-7",
    "255",
    "256",
    "0x1f",
    "0x10",
    "1_000",
    "9223372036854775807",
    "9223372036854775808",
    "true",
    "\"\"",
    "\"x\"",
    "\"ä\\n\"",
    "'long'",
    "\"unit\"",
    "\"other\"",
    "[]",
    "[1]",
    "[1, 256]",
    "[1, \"x\"]",
    "[true]",
    "{}",
    "{ a = 1 }",
    "{ a = 1, b = [] }",
    "{ a = 1, b = [\"unit\", { one = 2 }] }",
    "{ a = 1, b = [{ one = \"x\" }] }",
    "{ b = [] }",
    "{ unit = {} }",
    "{ one = 1 }",
    "{ two = [1, 2] }",
    "{ table = { a = 1 } }",
    "{ table = { a = 1, b = 1 } }",
    "{ a = 1, c = 300 }",
];

fn document(field: &str, value: &str) -> String {
    let name = if field == "name" { "" } else { "name = 'a'\n" };
    format!("{name}{field} = {value}\n")
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, ReadError> {
    TomlReader::from(DeTable::parse(text)?).read(T::deserialize)
}

#[test]
fn it_reads_what_the_library_reads_and_refuses_the_rest_in_its_words() {
    // The library reads a table from an array, by the order of its fields.
    let is_compared = |(field, value): &(&str, &str)| *field != "inner" || !value.starts_with('[');
    let pairs = FIELDS.into_iter().flat_map(|field| VALUES.map(|value| (field, value))).filter(is_compared);
    let documents = pairs.map(|(field, value)| document(field, value));
    let broken = ["", "name = 'a'\nname = 'b'\n", "name = \n", "name = 'a'\n[list]\n"].map(str::to_owned);
    let mut accepted = 0;
    for text in documents.chain(broken) {
        let (ours, library) = (read::<Sample>(&text), toml::from_str::<Sample>(&text).map_err(ReadError::from));
        assert_eq!(ours, library, "{text}");
        accepted += usize::from(ours.is_ok());
    }
    assert_eq!(accepted, 108, "documents are accepted by both");
}

#[test]
fn what_no_scenario_has_is_refused_where_it_stands() {
    let refused = [
        ("signed", "1.5", "invalid type: floating point `1.5`, expected i64"),
        ("loose", "1979-05-27", "invalid type: date, expected any value"),
        ("name", "1979-05-27", "invalid type: date, expected a string"),
        ("inner", "[1, []]", "invalid type: sequence, expected struct Inner"),
        ("pair", "[1, 'x', 2]", "invalid length 3, expected an array of 2"),
        ("variant", "{ two = [1, 2, 3] }", "invalid length 3, expected an array of 2"),
        ("variant", "{ two = { 0 = 1, 1 = 2 } }", "invalid type: map, expected tuple variant Variant::Two"),
        ("variant", "{ unit = { a = 1 } }", "expected an empty table"),
        ("large", "99999999999999999999", "integer number overflowed"),
    ];
    for (field, value, message) in refused {
        let text = document(field, value);
        let error = read::<Sample>(&text).expect_err(&text);
        let place = &text[error.span.expect("every error has a place")];
        assert_eq!(error.message, message, "{text}");
        assert!(!place.is_empty() && value.contains(place), "{text}: {place}");
    }
}
