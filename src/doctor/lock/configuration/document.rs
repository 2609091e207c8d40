//! A reader for the part of HCL in which configurations of servers are written, and for JSON: names, values, and where they stand.
//! Both are the same to it: JSON has colons and commas where HCL has equals signs and lines. Templates and expressions are not read.

use super::{ConfigurationError, Place};

/// Values lie within each other at most so deep.
const DEPTH_MAX: u8 = 32;

/// A value, and where it begins.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Item {
    pub place: Place,
    pub value: DocumentValue,
}

/// What can stand for a name.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum DocumentValue {
    Text(String),
    /// As it was written.
    Number(String),
    Truth(bool),
    Null,
    List(Vec<Item>),
    Block(Vec<Member>),
}

/// A name with its value, or a block with its labels.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Member {
    pub name: String,
    pub place: Place,
    pub labels: Vec<String>,
    pub item: Item,
}

impl Item {
    /// The kind of the value, for an error.
    pub fn kind(&self) -> &'static str {
        match self.value {
            DocumentValue::Text(_) => "a text",
            DocumentValue::Number(_) => "a number",
            DocumentValue::Truth(_) => "true or false",
            DocumentValue::Null => "null",
            DocumentValue::List(_) => "a list",
            DocumentValue::Block(_) => "a block",
        }
    }

    /// The value in one line.
    pub fn shown(&self) -> String {
        match &self.value {
            DocumentValue::Text(text) => format!("{text:?}"),
            DocumentValue::Number(number) => number.clone(),
            DocumentValue::Truth(truth) => truth.to_string(),
            DocumentValue::Null => "null".to_owned(),
            DocumentValue::List(items) => format!("[{}]", items.iter().map(Item::shown).collect::<Vec<_>>().join(", ")),
            DocumentValue::Block(_) => "{ … }".to_owned(),
        }
    }
}

/// The members of a document. One that begins with a brace is JSON.
pub(super) fn read(text: &str, file: &str) -> Result<Vec<Member>, ConfigurationError> {
    let mut reader = Reader { rest: text, place: Place { line: 1, column: 1 }, file };
    reader.skip(true)?;
    if !reader.rest.starts_with('{') {
        return reader.members(None, 0);
    }
    if let Err(error) = serde_json::from_str::<serde_json::Value>(text) {
        let place = Place { line: error.line(), column: error.column().max(1) };
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
        return Err(ConfigurationError::at(file, place, format!("this is no JSON: {message}")));
    }
    reader.step();
    reader.members(Some('}'), 1)
}

struct Reader<'a> {
    rest: &'a str,
    place: Place,
    file: &'a str,
}

impl Reader<'_> {
    fn next(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn step(&mut self) -> Option<char> {
        let found = self.next()?;
        self.rest = &self.rest[found.len_utf8()..];
        if found == '\n' {
            self.place = Place { line: self.place.line + 1, column: 1 };
        } else {
            self.place.column += 1;
        }
        Some(found)
    }

    fn error<T>(&self, place: Place, message: impl Into<String>) -> Result<T, ConfigurationError> {
        Err(ConfigurationError::at(self.file, place, message))
    }

    /// Skips blanks and comments, and with `lines` also ends of lines and commas. Says whether it has met one of these.
    fn skip(&mut self, lines: bool) -> Result<bool, ConfigurationError> {
        let mut met = false;
        while let Some(next) = self.next() {
            let place = self.place;
            if next == '#' || self.rest.starts_with("//") {
                while self.next().is_some_and(|next| next != '\n') {
                    self.step();
                }
            } else if self.rest.starts_with("/*") {
                while !self.rest.starts_with("*/") {
                    if self.step().is_none() {
                        return self.error(place, "this comment does not end: close it with `*/`");
                    }
                }
                self.step();
                self.step();
            } else if next == '\n' || next == ',' {
                if !lines {
                    break;
                }
                met = true;
                self.step();
            } else if next.is_whitespace() || next == '\u{feff}' {
                self.step();
            } else {
                break;
            }
        }
        Ok(met)
    }

    fn members(&mut self, end: Option<char>, depth: u8) -> Result<Vec<Member>, ConfigurationError> {
        let mut members = Vec::new();
        let mut separated = true;
        loop {
            separated |= self.skip(true)?;
            let place = self.place;
            match self.next() {
                None if end.is_none() => return Ok(members),
                None => return self.error(place, "the file ends within a block: close it with `}`"),
                Some('}') if end.is_some() => {
                    self.step();
                    return Ok(members);
                }
                Some(_) if !separated => {
                    return self
                        .error(place, "one line has one name and its value: begin a new line, or write a comma");
                }
                Some(_) => members.push(self.member(depth)?),
            }
            separated = false;
        }
    }

    fn member(&mut self, depth: u8) -> Result<Member, ConfigurationError> {
        let place = self.place;
        let Some(name) = self.name()? else {
            return self.error(place, "here stands a name, as in `session_ttl = \"15s\"`");
        };
        let mut labels = Vec::new();
        loop {
            self.skip(false)?;
            let at = self.place;
            match self.next() {
                Some('=' | ':') if labels.is_empty() => {
                    self.step();
                    // In JSON the value may stand on the next line.
                    self.skip(true)?;
                    let item = self.item(depth)?;
                    return Ok(Member { name, place, labels, item });
                }
                Some('{') => {
                    let item = self.item(depth)?;
                    return Ok(Member { name, place, labels, item });
                }
                _ => match self.name()? {
                    Some(label) => labels.push(label),
                    None => {
                        return self.error(at, format!("after `{name}` comes `=` and a value, or a block in braces"));
                    }
                },
            }
        }
    }

    /// A name or a label, bare or in quotes.
    fn name(&mut self) -> Result<Option<String>, ConfigurationError> {
        match self.next() {
            Some('"') => self.text().map(Some),
            Some(first) if first.is_alphabetic() || first == '_' => Ok(Some(self.word())),
            _ => Ok(None),
        }
    }

    fn word(&mut self) -> String {
        let is_part = |c: char| c.is_alphanumeric() || "_-.+".contains(c);
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let word = self.rest[..end].to_owned();
        while self.next().is_some_and(is_part) {
            self.step();
        }
        word
    }

    fn item(&mut self, depth: u8) -> Result<Item, ConfigurationError> {
        let place = self.place;
        if depth >= DEPTH_MAX {
            return self.error(place, format!("blocks and lists lie within each other at most {DEPTH_MAX} deep"));
        }
        let value = match self.next() {
            Some('"') => DocumentValue::Text(self.text()?),
            Some('<') if self.rest.starts_with("<<") => DocumentValue::Text(self.lines()?),
            Some('{') => {
                self.step();
                DocumentValue::Block(self.members(Some('}'), depth + 1)?)
            }
            Some('[') => {
                self.step();
                DocumentValue::List(self.items(place, depth + 1)?)
            }
            Some(first) if first.is_ascii_digit() || first == '-' || first == '+' => {
                DocumentValue::Number(self.word_or_sign())
            }
            Some(first) if first.is_alphabetic() => match self.word().as_str() {
                "true" => DocumentValue::Truth(true),
                "false" => DocumentValue::Truth(false),
                "null" => DocumentValue::Null,
                word => {
                    return self.error(
                        place,
                        format!("`{word}` is no value: write a text in quotes, a number, true or false"),
                    );
                }
            },
            _ => {
                return self
                    .error(place, "here stands a value: a text in quotes, a number, true, false, a list or a block");
            }
        };
        Ok(Item { place, value })
    }

    fn word_or_sign(&mut self) -> String {
        let sign = if self.next().is_some_and(|next| next == '-' || next == '+') { self.step() } else { None };
        sign.into_iter().collect::<String>() + &self.word()
    }

    fn items(&mut self, start: Place, depth: u8) -> Result<Vec<Item>, ConfigurationError> {
        let mut items = Vec::new();
        loop {
            self.skip(true)?;
            match self.next() {
                None => return self.error(start, "this list does not end: close it with `]`"),
                Some(']') => {
                    self.step();
                    return Ok(items);
                }
                Some(_) => items.push(self.item(depth)?),
            }
        }
    }

    /// A text in quotes.
    fn text(&mut self) -> Result<String, ConfigurationError> {
        let start = self.place;
        self.step();
        let mut text = String::new();
        loop {
            let place = self.place;
            match self.step() {
                None | Some('\n') => {
                    return self.error(start, "this text does not end in its line: close it with `\"`");
                }
                Some('"') => return Ok(text),
                Some('\\') => match self.escape() {
                    Some(found) => text.push(found),
                    None => {
                        return self.error(place, "there is no such escape: use \\\\, \\\", \\n, \\r, \\t or \\u0041");
                    }
                },
                Some(other) => text.push(other),
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let digits = match self.step()? {
            'n' => return Some('\n'),
            'r' => return Some('\r'),
            't' => return Some('\t'),
            'b' => return Some('\u{8}'),
            'f' => return Some('\u{c}'),
            same @ ('"' | '\\' | '/') => return Some(same),
            'u' => 4,
            'U' => 8,
            _ => return None,
        };
        let code = self.rest.get(..digits).and_then(|code| u32::from_str_radix(code, 16).ok())?;
        for _ in 0..digits {
            self.step();
        }
        // Halves of a pair, as JSON writes what lies beyond 16 bits, stand for no character of their own.
        Some(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    /// A text of several lines: `<<END`, and with `<<-END` the last line may be indented.
    fn lines(&mut self) -> Result<String, ConfigurationError> {
        let start = self.place;
        self.step();
        self.step();
        if self.next() == Some('-') {
            self.step();
        }
        let mark = self.word();
        if mark.is_empty() || self.step() != Some('\n') {
            return self.error(start, "`<<` is followed by a word and the end of the line");
        }
        let mut text = String::new();
        loop {
            let line = self.rest.split('\n').next().unwrap_or_default().to_owned();
            if self.rest.is_empty() {
                return self
                    .error(start, format!("this text does not end: close it with `{mark}` on a line of its own"));
            }
            for _ in line.chars() {
                self.step();
            }
            if line.trim() == mark {
                return Ok(text);
            }
            self.step();
            text += &line;
            text.push('\n');
        }
    }
}
