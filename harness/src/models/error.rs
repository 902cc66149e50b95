//! What can keep a live run from starting; each message names the cause and the next step.

use std::path::PathBuf;

use thiserror::Error;

/// Why a model cannot be used. All of these are found before anything is paid for.
#[derive(Debug, Error)]
pub enum ModelError {
    /// A provider that this program does not speak to.
    #[error("no provider is called `{id}`; there are {known}")]
    Provider {
        /// The name.
        id: String,
        /// Those there are.
        known: String,
    },
    /// No key where one is needed.
    #[error(
        "no API key: the environment variable {variable} is not set or is empty; set it, or name another with --api-key-env"
    )]
    NoKey {
        /// The variable that was looked at, or words for it.
        variable: String,
    },
    /// What was given as the name of a variable is none. It may be the key itself, and is not shown.
    #[error(
        "--api-key-env takes the name of an environment variable (letters, digits, underscores), not the key itself; what was \
         given is not shown: if it was a key, it is now in the shell's history"
    )]
    KeyVariable,
    /// The key cannot be a key.
    #[error("the API key from {origin} {why}; copy it again, without quotes or line breaks")]
    KeyText {
        /// Variable or file.
        origin: String,
        /// What is wrong; never the key.
        why: &'static str,
    },
    /// The key file cannot be used.
    #[error("key file {}: {why}", .path.display())]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// What is wrong, and the next step.
        why: String,
    },
    /// The base URL cannot be used.
    #[error("base URL `{url}`: {why}")]
    BaseUrl {
        /// As given, without what may be secret.
        url: String,
        /// What is wrong, and the next step.
        why: String,
    },
    /// The HTTP client could not be made.
    #[error(
        "cannot set up the HTTP client: {why}; install the system's CA certificates (package ca-certificates) or point SSL_CERT_FILE at a bundle"
    )]
    Client {
        /// The cause.
        why: String,
    },
    /// Nobody answered.
    #[error("cannot reach {url}: {why}")]
    Unreachable {
        /// The endpoint.
        url: String,
        /// The cause, and the next step where it is known.
        why: String,
    },
    /// The key was refused.
    #[error("{url} refused the API key ({status}: {message}); check the key, its workspace and its billing")]
    Denied {
        /// The endpoint.
        url: String,
        /// HTTP status.
        status: u16,
        /// The provider's words.
        message: String,
    },
    /// An answer that this endpoint is not documented to give.
    #[error(
        "{url} gave an answer that cannot be used: {why}; check that the base URL is the API and not a web page or a proxy"
    )]
    Answer {
        /// The endpoint.
        url: String,
        /// What came.
        why: String,
    },
    /// The provider does not know the model.
    #[error("the provider does not serve a model `{model}`{}", next(.nearest.as_deref()))]
    UnknownModel {
        /// The id asked for.
        model: String,
        /// The nearest id that is known.
        nearest: Option<String>,
    },
    /// The provider has retired the model.
    #[error(
        "model `{model}` is retired; choose one that is served with --model (a run with another model is exploratory)"
    )]
    Retired {
        /// The id asked for.
        model: String,
    },
    /// No capability row.
    #[error("no capability row for model `{model}` of provider {provider}{}", next(.nearest.as_deref()))]
    NoRow {
        /// The provider.
        provider: &'static str,
        /// The id asked for.
        model: String,
        /// The nearest id in the table.
        nearest: Option<String>,
    },
    /// The surface is larger than the provider takes.
    #[error(
        "model `{model}` takes at most {limit} tools and the surface of arm `{arm}` shows {shown}; choose fewer catalogs with --catalogs, or leave the arm out with --arms"
    )]
    TooManyTools {
        /// The model.
        model: String,
        /// The arm.
        arm: String,
        /// Tools shown.
        shown: usize,
        /// Tools taken.
        limit: usize,
    },
    /// The capability table cannot be read.
    #[error("{file}: {why}")]
    Table {
        /// The file.
        file: String,
        /// What is wrong.
        why: String,
    },
}

/// The next step for an id that is not known.
fn next(nearest: Option<&str>) -> String {
    match nearest {
        Some(id) => format!("; did you mean `{id}`?"),
        None => "; use the exact id from the provider's model list".to_owned(),
    }
}
