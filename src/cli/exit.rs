//! How a command ends: an exit code, or an error that has one.

use std::fmt;
use std::process::ExitCode;

use fencepost::model::program::ProgramError;

/// How a command ended.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Exit {
    AsExpected = 0,
    Unexpected = 1,
    Usage = 2,
    Undecided = 3,
    Internal = 4,
}

impl Exit {
    /// Every exit code, in order.
    pub const ALL: [Exit; 5] = [Exit::AsExpected, Exit::Unexpected, Exit::Usage, Exit::Undecided, Exit::Internal];

    /// What it says of a command.
    pub fn about(self) -> &'static str {
        match self {
            Exit::AsExpected => "all verdicts as expected",
            Exit::Unexpected => "a verdict against expectation",
            Exit::Usage => "bad usage or input",
            Exit::Undecided => "bounded or vacuous, or nothing found",
            Exit::Internal => "internal error",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// Why a command did not come to a verdict.
#[derive(Debug)]
pub enum CommandError {
    /// The user can do something about it.
    Input(String),
    /// A limit or a signal stopped it.
    Stopped(String),
    /// An internal error.
    Internal(String),
}

impl CommandError {
    pub fn exit(&self) -> Exit {
        match self {
            CommandError::Input(_) => Exit::Usage,
            CommandError::Stopped(_) => Exit::Undecided,
            CommandError::Internal(_) => Exit::Internal,
        }
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandError::Input(message) | CommandError::Stopped(message) | CommandError::Internal(message) => {
                f.write_str(message)
            }
        }
    }
}

impl From<fencepost::checker::InternalError> for CommandError {
    fn from(error: fencepost::checker::InternalError) -> Self {
        match error {
            fencepost::checker::InternalError::Program(mistake) => mistake.into(),
            fencepost::checker::InternalError::Store(refused) => CommandError::Input(refused.to_string()),
            fencepost::checker::InternalError::Peers(_) => CommandError::Input(error.to_string()),
            _ => CommandError::Internal(error.to_string()),
        }
    }
}

impl From<fencepost::checker::CertificateError> for CommandError {
    fn from(error: fencepost::checker::CertificateError) -> Self {
        match error {
            fencepost::checker::CertificateError::Internal(error) => error.into(),
            fencepost::checker::CertificateError::Contradiction(_) => CommandError::Internal(error.to_string()),
            fencepost::checker::CertificateError::Cut(_) => CommandError::Stopped(unwritten(&error)),
            _ => CommandError::Input(unwritten(&error)),
        }
    }
}

fn unwritten(error: &fencepost::checker::CertificateError) -> String {
    format!("no certificate is written: {error}")
}

/// A wrong program is bad input, and not an internal error.
impl From<ProgramError> for CommandError {
    fn from(mistake: ProgramError) -> Self {
        CommandError::Input(mistake.to_string())
    }
}

#[cfg(test)]
mod tests {
    use fencepost::checker::CertificateError;

    use super::*;

    #[test]
    fn a_certificate_that_a_limit_stopped_is_undecided() {
        let stopped = CommandError::from(CertificateError::Cut("--timeout 1".to_owned()));
        assert_eq!(stopped.exit(), Exit::Undecided);
        assert!(stopped.to_string().ends_with("stopped by --timeout 1"), "{stopped}");
        assert_eq!(CommandError::from(CertificateError::NothingProven).exit(), Exit::Usage);
    }
}
