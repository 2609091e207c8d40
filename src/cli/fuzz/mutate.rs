//! Mutations of a file: bytes, numbers, lines, and tokens of other files.

use proptest::prelude::*;

/// Numbers at the limits of types and ranges.
const EXTREMES: [&str; 16] = [
    "0",
    "-1",
    "1",
    "255",
    "256",
    "65535",
    "65536",
    "10000",
    "2147483648",
    "4294967295",
    "1000000000000",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "1e308",
    "-0.5",
];

/// One mutation; `at` and `other` choose places.
#[derive(Clone, Debug)]
pub struct Edit {
    kind: u8,
    at: u32,
    other: u32,
}

impl Arbitrary for Edit {
    type Parameters = ();
    type Strategy = BoxedStrategy<Edit>;

    fn arbitrary_with((): ()) -> Self::Strategy {
        // Numbers and tokens most often: other damage is mostly refused by the reader.
        let kind = prop_oneof![6 => Just(3u8), 4 => Just(4u8), 1 => 0u8..3, 2 => 5u8..8];
        (kind, any::<u32>(), any::<u32>()).prop_map(|(kind, at, other)| Edit { kind, at, other }).boxed()
    }
}

/// The files that are mutated, with their tokens.
pub struct Mutator {
    files: Vec<Vec<u8>>,
    tokens: Vec<Vec<u8>>,
}

impl Mutator {
    pub fn new(files: &[Vec<u8>]) -> Self {
        let mut tokens: Vec<Vec<u8>> =
            files.iter().flat_map(|file| words(file).into_iter().map(|(from, to)| file[from..to].to_vec())).collect();
        tokens.sort();
        tokens.dedup();
        Mutator { files: files.to_vec(), tokens }
    }

    /// The file after these edits.
    pub fn mutate(&self, file: usize, edits: &[Edit]) -> Vec<u8> {
        let mut bytes = self.files[file % self.files.len()].clone();
        for edit in edits.iter().filter(|_| !self.tokens.is_empty()) {
            self.apply(&mut bytes, edit);
        }
        bytes
    }

    fn apply(&self, bytes: &mut Vec<u8>, edit: &Edit) {
        let (at, other) = (edit.at as usize, edit.other as usize);
        if bytes.is_empty() {
            return;
        }
        let place = at % bytes.len();
        let length = 1 + other % 8.min(bytes.len() - place);
        match edit.kind {
            0 => bytes[place] ^= 1 << (other % 8),
            1 => drop(bytes.drain(place..place + length)),
            2 => {
                let copy = bytes[place..place + length].to_vec();
                bytes.splice(place..place, copy);
            }
            3 => {
                let numbers: Vec<(usize, usize)> =
                    words(bytes).into_iter().filter(|(from, _)| bytes[*from].is_ascii_digit()).collect();
                if let Some((from, to)) = numbers.get(at % numbers.len().max(1)).copied() {
                    bytes.splice(from..to, EXTREMES[other % EXTREMES.len()].bytes());
                }
            }
            4 => {
                let all = words(bytes);
                if let Some((from, to)) = all.get(at % all.len().max(1)).copied() {
                    bytes.splice(from..to, self.tokens[other % self.tokens.len()].iter().copied());
                }
            }
            kind => lines(bytes, kind, at, other),
        }
    }
}

/// Swaps, doubles or removes lines.
fn lines(bytes: &mut Vec<u8>, kind: u8, at: usize, other: usize) {
    let mut lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let (one, two) = (at % lines.len(), other % lines.len());
    match kind {
        5 => lines.swap(one, two),
        6 => lines.insert(two, lines[one].clone()),
        _ => drop(lines.remove(one)),
    }
    *bytes = lines.join(&b'\n');
}

/// Where words and numbers begin and end.
fn words(bytes: &[u8]) -> Vec<(usize, usize)> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let mut words = Vec::new();
    let mut begin = None;
    for (place, byte) in bytes.iter().copied().chain([b' ']).enumerate() {
        match (begin, is_word(byte)) {
            (None, true) => begin = Some(place),
            (Some(from), false) => {
                words.push((from, place));
                begin = None;
            }
            _ => {}
        }
    }
    words
}
