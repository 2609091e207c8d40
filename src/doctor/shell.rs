//! A line as a shell takes it apart.

use crate::configuration::{ConfigurationError, Place};

/// A word of a command line, and where it begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShellWord {
    /// Where it begins.
    pub place: Place,
    /// The word, without quotes.
    pub text: String,
}

/// Whether a word sets a variable of the environment for the command behind it.
pub(crate) fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// The words of a line, in quotes or not, up to a `;`, a `|` or a comment.
pub(crate) fn words(file: &str, line: &str) -> Result<Vec<ShellWord>, ConfigurationError> {
    let mut words: Vec<ShellWord> = Vec::new();
    let mut open: Option<ShellWord> = None;
    let mut quote: Option<(char, Place)> = None;
    let mut characters = line.chars().zip(1..);
    let (mut row, mut before) = (1, 0);
    while let Some((character, position)) = characters.next() {
        let place = Place { line: row, column: position - before };
        match (character, quote) {
            ('\n', None) => {
                (row, before) = (row + 1, position);
                words.extend(open.take());
            }
            ('\\', None | Some(('"', _))) => match characters.next() {
                // The line goes on.
                Some(('\n', position)) => {
                    (row, before) = (row + 1, position);
                    words.extend(open.take());
                }
                Some((escaped, _)) => push(&mut open, place, escaped),
                None => return Err(ConfigurationError::at(file, place, "a backslash stands before a character")),
            },
            (mark, Some((opened, _))) if mark == opened => quote = None,
            (other, Some(_)) => push(&mut open, place, other),
            (mark @ ('"' | '\''), None) => {
                quote = Some((mark, place));
                open.get_or_insert_with(|| ShellWord { place, text: String::new() });
            }
            (';' | '|' | '#', None) if open.is_none() => break,
            (blank, None) if blank.is_whitespace() => words.extend(open.take()),
            (other, None) => push(&mut open, place, other),
        }
    }
    if let Some((mark, place)) = quote {
        return Err(ConfigurationError::at(file, place, format!("this text does not end: close it with `{mark}`")));
    }
    words.extend(open);
    Ok(words)
}

/// Adds a character to the word that is open, or begins one.
fn push(open: &mut Option<ShellWord>, place: Place, character: char) {
    open.get_or_insert_with(|| ShellWord { place, text: String::new() }).text.push(character);
}
