//! API keys: read in one place, sent in one header, printed nowhere.

use std::{fs::File, io::Read, path::Path};

use reqwest::header::HeaderValue;

use super::ModelError;

/// Keys are shorter; a larger file is not a key.
const KEY_BYTES_AT_MOST: u64 = 4096;

/// Shorter values (`none`, `EMPTY`, `lm-studio`) are placeholders for servers without authentication. They may stand in
/// a reply by chance, and are not hidden in it.
const SECRET_BYTES_AT_LEAST: usize = 16;

/// Names of variables are shorter.
const NAME_BYTES_AT_MOST: usize = 64;

/// What stands in the place of a key that a server sent back.
const HIDDEN: &[u8] = b"[api key]";

/// An API key. It has no `Debug`, `Display`, `Serialize` or `Clone`, so that it cannot be printed or recorded by
/// accident: a type that holds one can derive none of them either.
pub struct Key(Box<str>);

impl Key {
    /// The key in an environment variable.
    pub fn from_env(variable: &str) -> Result<Self, ModelError> {
        if !is_name(variable) {
            return Err(ModelError::KeyVariable);
        }
        match std::env::var(variable) {
            Ok(text) if !text.trim().is_empty() => Self::new(&text, variable),
            Ok(_) | Err(std::env::VarError::NotPresent) => Err(ModelError::NoKey { variable: shown(variable) }),
            Err(std::env::VarError::NotUnicode(_)) => {
                Err(ModelError::KeyText { origin: variable.to_owned(), why: "is not text" })
            }
        }
    }

    /// The key in a file that only its owner can read.
    pub fn from_file(path: &Path) -> Result<Self, ModelError> {
        let wrong = |why: String| ModelError::KeyFile { path: path.to_owned(), why };
        let mut file = File::open(path).map_err(|error| wrong(error.to_string()))?;
        // The opened file is asked, not the path: nobody can swap it in between.
        let about = file.metadata().map_err(|error| wrong(error.to_string()))?;
        if !about.is_file() {
            return Err(wrong("it is not a regular file".to_owned()));
        }
        if let Some(mode) = readable_by_others(&about) {
            return Err(wrong(format!("mode {mode:04o} lets others read it; run `chmod 600` on it")));
        }
        let mut text = String::new();
        // One byte more than allowed tells a file that is too long.
        let read = file.by_ref().take(KEY_BYTES_AT_MOST + 1).read_to_string(&mut text);
        read.map_err(|_| wrong("it is not readable as text".to_owned()))?;
        if text.len() as u64 > KEY_BYTES_AT_MOST {
            return Err(wrong("it is too long to be a key".to_owned()));
        }
        Self::new(&text, &path.display().to_string())
    }

    fn new(text: &str, origin: &str) -> Result<Self, ModelError> {
        let wrong = |why| ModelError::KeyText { origin: origin.to_owned(), why };
        let text = text.trim();
        if text.is_empty() {
            return Err(wrong("is empty"));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong("holds spaces, line breaks or other characters that no key has"));
        }
        Ok(Self(text.into()))
    }

    /// The header value `prefix` + key, marked sensitive, so that HTTP libraries do not print it.
    pub(super) fn header(&self, prefix: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("{prefix}{}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// The bytes without the key: error messages of some providers quote it, and bodies go on record.
    pub(super) fn hide_in(&self, bytes: Vec<u8>) -> Vec<u8> {
        let key = self.0.as_bytes();
        if key.len() < SECRET_BYTES_AT_LEAST {
            return bytes;
        }
        let mut out = Vec::new();
        let mut rest = bytes.as_slice();
        while let Some(at) = rest.windows(key.len()).position(|window| window == key) {
            out.extend_from_slice(&rest[..at]);
            out.extend_from_slice(HIDDEN);
            rest = &rest[at + key.len()..];
        }
        if out.is_empty() {
            return bytes;
        }
        out.extend_from_slice(rest);
        out
    }
}

/// True for a name that a variable can have: letters, digits and underscores, no digit first.
fn is_name(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !text.starts_with(|first: char| first.is_ascii_digit())
        && !text.is_empty()
}

/// The name of a variable that is not set, for people. Some keys are names too (`gsk_…`): what is not in the capitals of a
/// usual name may be one, and is not shown.
fn shown(variable: &str) -> String {
    let usual = variable.len() <= NAME_BYTES_AT_MOST && !variable.bytes().any(|byte| byte.is_ascii_lowercase());
    if usual { variable.to_owned() } else { "that --api-key-env names".to_owned() }
}

#[cfg(unix)]
fn readable_by_others(about: &std::fs::Metadata) -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;
    let mode = about.mode() & 0o7777;
    (mode & 0o077 != 0).then_some(mode)
}

#[cfg(test)]
mod tests {
    use std::{io::Write as _, os::unix::fs::PermissionsExt as _};

    use super::*;

    fn file(mode: u32, text: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text).unwrap();
        file.as_file().set_permissions(std::fs::Permissions::from_mode(mode)).unwrap();
        file
    }

    fn refusal(result: Result<Key, ModelError>) -> String {
        result.err().unwrap().to_string()
    }

    #[test]
    fn a_key_file_must_be_closed_to_others() {
        for mode in [0o644, 0o640, 0o604, 0o620] {
            let file = file(mode, b"sk-secret");
            let message = refusal(Key::from_file(file.path()));
            assert!(message.contains("chmod 600") && !message.contains("sk-secret"), "{message}");
        }
        let file = file(0o600, b"sk-secret\n");
        assert_eq!(Key::from_file(file.path()).ok().unwrap().header("").unwrap().as_bytes(), b"sk-secret");
    }

    #[test]
    fn a_key_that_cannot_be_one_is_refused_without_being_shown() {
        for text in ["", "  ", "sk-one two", "sk-one\ntwo", "sk-schlüssel"] {
            let file = file(0o600, text.as_bytes());
            assert!(!refusal(Key::from_file(file.path())).contains("sk-"));
        }
        assert!(refusal(Key::from_file(Path::new("/nowhere/key"))).contains("/nowhere/key"));
        assert!(refusal(Key::from_file(file(0o600, &[b'a'; 5000]).path())).contains("too long"));
        assert!(refusal(Key::from_env("BENCH_NO_SUCH_VARIABLE")).contains("BENCH_NO_SUCH_VARIABLE"));
    }

    #[test]
    fn a_key_in_the_place_of_a_variable_is_not_shown() {
        for key in ["sk-ant-api03-0123456789", "0123456789abcdef", "gsk_0123456789abcdef", "", "A=B", "sk ant"] {
            let message = refusal(Key::from_env(key));
            assert!(message.contains("--api-key-env") && (key.is_empty() || !message.contains(key)), "{message}");
        }
    }

    #[test]
    fn a_key_is_cut_out_of_bytes_wherever_it_stands() {
        let key = Key::new("sk-0123456789abcdef", "test").ok().unwrap();
        let hidden = key.hide_in(b"sk-0123456789abcdef, sk-0123456789abcdefsk-0123456789abcde".to_vec());
        assert_eq!(hidden, b"[api key], [api key]sk-0123456789abcde");
        let short = Key::new("EMPTY", "test").ok().unwrap();
        assert_eq!(short.hide_in(b"EMPTY list".to_vec()), b"EMPTY list");
    }

    #[test]
    fn the_header_value_does_not_print_the_key() {
        let value = Key::new("sk-0123456789abcdef", "test").ok().unwrap().header("Bearer ").unwrap();
        assert!(!format!("{value:?}").contains("0123"));
    }
}
