//! A text as a shell takes it apart: commands, and the words of each.

use crate::configuration::{ConfigurationError, Place};

/// A word of a command line, and where it begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShellWord {
    /// Where it begins.
    pub place: Place,
    /// The word, without quotes.
    pub text: String,
}

/// What a new line is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum NewLine {
    /// The end of a command, as in a script.
    Ends,
    /// A blank, as in one command that was pasted.
    Blank,
}

/// Whether a word sets a variable of the environment for the command behind it.
pub(crate) fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// The words of one command, in quotes or not, up to what ends it; new lines are blanks.
pub(crate) fn words(file: &str, line: &str) -> Result<Vec<ShellWord>, ConfigurationError> {
    Ok(commands(file, line, NewLine::Blank)?.into_iter().next().unwrap_or_default())
}

/// The commands of a text, in order. A `;`, `&`, `|` or a parenthesis ends one, and a `#` before a word begins a comment that goes on to the
/// end of its line. None of the commands is empty.
pub(crate) fn commands(file: &str, text: &str, new_line: NewLine) -> Result<Vec<Vec<ShellWord>>, ConfigurationError> {
    let mut reader = ShellReader { commands: Vec::new(), words: Vec::new(), open: None };
    let mut quote: Option<(char, Place)> = None;
    let (mut is_comment, mut substitutions) = (false, 0u32);
    let mut characters = text.chars().zip(1..).peekable();
    let (mut row, mut before) = (1, 0);
    while let Some((character, position)) = characters.next() {
        let place = Place { line: row, column: position - before };
        if character == '\n' {
            (row, before) = (row + 1, position);
        }
        match (character, quote) {
            ('\n', None) => {
                is_comment = false;
                match new_line {
                    NewLine::Ends if substitutions == 0 => reader.end_command(),
                    _ => reader.end_word(),
                }
            }
            _ if is_comment => {}
            ('\\', None | Some(('"', _))) => match characters.next() {
                // The line goes on.
                Some(('\n', position)) => {
                    (row, before) = (row + 1, position);
                    if quote.is_none() {
                        reader.end_word();
                    }
                }
                Some((escaped, _)) => reader.push(place, escaped),
                None => return Err(ConfigurationError::at(file, place, "a backslash stands before a character")),
            },
            (mark, Some((opened, _))) if mark == opened => quote = None,
            (other, Some(_)) => reader.push(place, other),
            (mark @ ('"' | '\''), None) => {
                quote = Some((mark, place));
                reader.open.get_or_insert_with(|| ShellWord { place, text: String::new() });
            }
            ('#', None) if reader.open.is_none() => is_comment = true,
            // A command in the place of its output is a part of the word: `$(hostname | tr a b)`.
            ('(', None) if substitutions > 0 || reader.ends_with(&['$']) => {
                substitutions += 1;
                reader.push(place, '(');
            }
            (')', None) if substitutions > 0 => {
                substitutions -= 1;
                reader.push(place, ')');
            }
            // A redirection ends no command: `2>&1`, `&>/dev/null`.
            ('&', None) if reader.ends_with(&['>', '<']) || characters.peek().is_some_and(|(next, _)| *next == '>') => {
                reader.push(place, '&');
            }
            (';' | '&' | '|' | '(' | ')', None) if substitutions == 0 => reader.end_command(),
            (blank, None) if blank.is_whitespace() => reader.end_word(),
            (other, None) => reader.push(place, other),
        }
    }
    if let Some((mark, place)) = quote {
        return Err(ConfigurationError::at(file, place, format!("this text does not end: close it with `{mark}`")));
    }
    reader.end_command();
    Ok(reader.commands)
}

/// What was read of a text: whole commands, whole words of the next one, and a word that is open.
struct ShellReader {
    commands: Vec<Vec<ShellWord>>,
    words: Vec<ShellWord>,
    open: Option<ShellWord>,
}

impl ShellReader {
    /// Adds a character to the word that is open, or begins one.
    fn push(&mut self, place: Place, character: char) {
        self.open.get_or_insert_with(|| ShellWord { place, text: String::new() }).text.push(character);
    }

    fn ends_with(&self, characters: &[char]) -> bool {
        self.open.as_ref().is_some_and(|word| word.text.ends_with(characters))
    }

    fn end_word(&mut self) {
        self.words.extend(self.open.take());
    }

    fn end_command(&mut self) {
        self.end_word();
        if !self.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.words));
        }
    }
}
