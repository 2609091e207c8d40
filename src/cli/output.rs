//! Writing: lines to stdout that survive a closed pipe, files with errors that name them, colours only where wanted.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::{env, fs, process};

use crate::exit::CommandError;

/// Writes to stdout. The reader may have closed the pipe, like `head`; then there is nothing left to do.
pub fn say(text: &str) {
    if let Err(error) = io::stdout().lock().write_all(text.as_bytes()) {
        process::exit(if error.kind() == io::ErrorKind::BrokenPipe { 0 } else { 4 });
    }
}

/// Writes one JSON object on a line of its own.
pub fn say_json(object: &impl serde::Serialize) {
    say(&(serde_json::to_string(object).expect("plain data can be written") + "\n"));
}

/// Makes a folder and those above it.
pub fn make_folder(path: &Path) -> Result<(), CommandError> {
    fs::create_dir_all(path).map_err(|error| CommandError::Input(format!("{} cannot be made: {error}", path.display())))
}

/// Writes a file and the folders above it.
pub fn write(path: &Path, text: &str) -> Result<(), CommandError> {
    make_folder(path.parent().unwrap_or(Path::new("")))?;
    fs::write(path, text).map_err(|error| CommandError::Input(format!("{} cannot be written: {error}", path.display())))
}

/// Writes a trace into the folder for output, if there is one.
pub fn write_trace(out: Option<&Path>, name: &str, trace: &str) -> Result<Option<PathBuf>, CommandError> {
    let Some(out) = out else { return Ok(None) };
    let path = out.join("traces").join(format!("{name}.jsonl"));
    write(&path, trace)?;
    Ok(Some(path))
}

/// How wide the terminal is that stdout goes to, if it goes to one.
pub fn width() -> Option<usize> {
    let (_, columns) = console::Term::stdout().size_checked()?;
    io::stdout().is_terminal().then_some(usize::from(columns))
}

/// Whether to colour what goes to stdout.
pub fn is_coloured() -> bool {
    io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
