//! The file of a certificate. It has its name when it is complete, and not before.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;

use crate::exit::CommandError;

/// A file that is being written; what is not completed is removed.
pub struct CertificateFile {
    file: PathBuf,
    unfinished: PathBuf,
    out: BufWriter<File>,
    is_complete: bool,
}

impl CertificateFile {
    /// Begins the file, so that a search is not for nothing. Until it is complete its name is that of this process.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn create(file: &Path) -> Result<Self, CommandError> {
        if file.is_dir() {
            return Err(unwritable(file, &io::ErrorKind::IsADirectory.into()));
        }
        let mut unfinished = file.as_os_str().to_owned();
        unfinished.push(format!(".{}.part", process::id()));
        let unfinished = PathBuf::from(unfinished);
        let out = BufWriter::new(File::create(&unfinished).map_err(|error| unwritable(file, &error))?);
        Ok(CertificateFile { file: file.to_owned(), unfinished, out, is_complete: false })
    }

    /// Where the certificate is written.
    pub fn out(&mut self) -> &mut dyn Write {
        &mut self.out
    }

    /// Gives the certificate its name.
    ///
    /// # Errors
    /// The rest of it cannot be written, or it cannot have the name.
    pub fn complete(mut self) -> Result<(), CommandError> {
        let named = self.out.flush().and_then(|()| fs::rename(&self.unfinished, &self.file));
        self.is_complete = named.is_ok();
        named.map_err(|error| unwritable(&self.file, &error))
    }
}

impl Drop for CertificateFile {
    fn drop(&mut self) {
        if !self.is_complete {
            // Nothing follows from it if it stays.
            _ = fs::remove_file(&self.unfinished);
        }
    }
}

fn unwritable(file: &Path, error: &io::Error) -> CommandError {
    CommandError::Input(format!("{} cannot be written: {error}", file.display()))
}
