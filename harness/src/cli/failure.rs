//! An error with the exit code that it ends the program with.

use bench_protocol::ProtocolError;
use bench_tasks::TasksError;

use crate::{arms::ArmError, exit, inputs::InputsError};

/// Why a command ended early.
#[derive(Debug)]
pub(super) struct Failure {
    /// Exit code, one of [`exit`].
    pub(super) code: u8,
    /// The message.
    pub(super) error: anyhow::Error,
}

impl Failure {
    /// A wrong use of the command line, or a refusal before any call.
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::new(exit::USAGE, anyhow::anyhow!(message.into()))
    }

    /// An error with its code.
    pub(super) fn new(code: u8, error: impl Into<anyhow::Error>) -> Self {
        Self { code, error: error.into() }
    }
}

/// Anything unforeseen is a bug of ours, except where the output was closed by its reader.
impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self { code: exit::BUG, error }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        let code = if error.kind() == std::io::ErrorKind::BrokenPipe { exit::OK } else { exit::INPUT };
        Self::new(code, error)
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        if error.is_io() { std::io::Error::from(error).into() } else { Self::new(exit::BUG, error) }
    }
}

impl From<InputsError> for Failure {
    fn from(error: InputsError) -> Self {
        Self::new(exit::INPUT, error)
    }
}

impl From<ProtocolError> for Failure {
    fn from(error: ProtocolError) -> Self {
        Self::new(exit::INPUT, error)
    }
}

impl From<TasksError> for Failure {
    fn from(error: TasksError) -> Self {
        Self::new(exit::INPUT, error)
    }
}

impl From<ArmError> for Failure {
    fn from(error: ArmError) -> Self {
        Self::new(exit::USAGE, error)
    }
}
