//! A helper: a program of the user's that measures something, spoken to in lines of JSON.
//!
//! It is started once. Its first line says who it is; then every request is one line on its standard input, and the reply
//! one line on its standard output. A reply `{"error": "…"}` reports a failure. Its error stream passes through.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use thiserror::Error;

/// Longest line of a reply, in bytes.
const MAX_LINE: u64 = 64 << 20;

/// What can go wrong with a helper.
#[derive(Debug, Error)]
pub enum HelperError {
    /// It cannot be started.
    #[error("helper `{command}`: {source}")]
    Start {
        /// The command.
        command: String,
        /// The cause.
        source: std::io::Error,
    },
    /// It cannot be written to or read from.
    #[error("helper: {0}; its own messages stand above")]
    Stream(#[from] std::io::Error),
    /// It ended before it answered.
    #[error("helper: ended before it answered; its own messages stand above")]
    Ended,
    /// It reports an error.
    #[error("helper: {0}")]
    Reported(String),
    /// It answers something else than was agreed.
    #[error("helper: {what}; expected {expected}")]
    Reply {
        /// What is wrong.
        what: String,
        /// What was agreed.
        expected: &'static str,
    },
}

/// A running helper; it is ended when it is dropped.
pub struct Helper {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Helper {
    /// Starts a program with its arguments and reads its first line.
    ///
    /// # Errors
    /// Where it cannot be started or does not introduce itself as `expected`.
    pub fn start<T: DeserializeOwned>(command: &[String], expected: &'static str) -> Result<(Self, T), HelperError> {
        let fail = |source| HelperError::Start { command: command.join(" "), source };
        let (program, arguments) = command
            .split_first()
            .ok_or_else(|| fail(std::io::Error::new(std::io::ErrorKind::InvalidInput, "the command is empty")))?;
        let mut child =
            Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(fail)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(HelperError::Ended);
        };
        let mut helper = Self { child, input, output: BufReader::new(output) };
        let hello = helper.read(expected)?;
        Ok((helper, hello))
    }

    /// Sends a request and reads the reply.
    ///
    /// # Errors
    /// Where the helper is gone, reports an error, or answers something else.
    pub fn ask<T: DeserializeOwned>(
        &mut self,
        request: &impl Serialize,
        expected: &'static str,
    ) -> Result<T, HelperError> {
        let mut line = serde_json::to_string(request).map_err(std::io::Error::from)?;
        line.push('\n');
        self.input.write_all(line.as_bytes())?;
        self.input.flush()?;
        self.read(expected)
    }

    fn read<T: DeserializeOwned>(&mut self, expected: &'static str) -> Result<T, HelperError> {
        let mut line = Vec::new();
        (&mut self.output).take(MAX_LINE).read_until(b'\n', &mut line)?;
        if !line.ends_with(b"\n") {
            return Err(HelperError::Ended);
        }
        let wrong = |error: serde_json::Error| HelperError::Reply { what: error.to_string(), expected };
        let value: Value = serde_json::from_slice(&line).map_err(wrong)?;
        if let Some(error) = value.get("error").and_then(Value::as_str) {
            return Err(HelperError::Reported(error.to_owned()));
        }
        serde_json::from_value(value).map_err(wrong)
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        // It may be gone already; there is nobody left to tell.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The command of a helper in shell that says these lines, one after each line it reads.
    pub(crate) fn saying(lines: &[&str]) -> Vec<String> {
        let script: Vec<String> = lines.iter().map(|line| format!("echo '{line}'")).collect();
        vec!["sh".to_owned(), "-c".to_owned(), script.join("; read _; ")]
    }

    fn error(lines: &[&str]) -> String {
        let asked = Helper::start::<Value>(&saying(lines), "a greeting")
            .and_then(|(mut helper, _)| helper.ask::<Vec<u32>>(&"?", "a list of numbers"));
        match asked {
            Ok(reply) => format!("{reply:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_helper_answers_line_by_line() {
        assert_eq!(error(&["{}", "[1, 2]"]), "[1, 2]");
    }

    #[test]
    fn what_was_not_agreed_is_named() {
        assert!(error(&["hello"]).ends_with("expected a greeting"), "{}", error(&["hello"]));
        assert!(error(&["{}", r#"{"error":"no memory"}"#]).ends_with("helper: no memory"));
        assert!(error(&["{}", "3"]).ends_with("expected a list of numbers"));
        // Gone before it was asked, or after: either way it is named.
        assert!(error(&["{}"]).contains("its own messages stand above"), "{}", error(&["{}"]));
        assert!(error(&[]).contains("ended before it answered"));
        let missing = Helper::start::<Value>(&["no-such-program-anywhere".to_owned()], "");
        assert!(missing.is_err_and(|error| error.to_string().contains("no-such-program-anywhere")));
        assert!(Helper::start::<Value>(&[], "").is_err_and(|error| error.to_string().contains("is empty")));
    }
}
