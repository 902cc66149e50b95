//! Content digests, written `sha256:` and 64 hex digits everywhere.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest in its printed form, `sha256:<64 hex digits>`.
///
/// Reading one checks its form: digests name files of a record, and a record may be hostile.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(String);

/// Text that is no digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a digest; expected `sha256:` and 64 lower-case hex digits")]
pub struct NotADigest(String);

impl TryFrom<String> for Digest {
    type Error = NotADigest;

    fn try_from(text: String) -> Result<Self, NotADigest> {
        let fits = text
            .strip_prefix("sha256:")
            .is_some_and(|hex| hex.len() == 64 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')));
        if fits { Ok(Self(text)) } else { Err(NotADigest(text)) }
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.0
    }
}

/// Takes a digest piece by piece.
#[derive(Debug, Clone, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Adds some bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all of them.
    pub fn finish(self) -> Digest {
        Digest::from_hash(self.0.finalize().as_ref())
    }
}

impl Digest {
    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::from_hash(Sha256::digest(bytes).as_ref())
    }

    /// The digest of several pieces, as if they were one.
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = Hasher::default();
        for part in parts {
            hasher.update(part);
        }
        hasher.finish()
    }

    /// The digest of items as JSON Lines, without holding them all.
    ///
    /// # Errors
    /// An item that cannot be written as JSON.
    pub fn of_json_lines<T: Serialize>(items: impl IntoIterator<Item = T>) -> serde_json::Result<Self> {
        let mut hasher = Hasher::default();
        let mut line = Vec::new();
        for item in items {
            line.clear();
            serde_json::to_writer(&mut line, &item)?;
            line.push(b'\n');
            hasher.update(&line);
        }
        Ok(hasher.finish())
    }

    fn from_hash(hash: &[u8]) -> Self {
        Self(format!("sha256:{}", hex(hash)))
    }

    /// The printed form, with its `sha256:`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The 64 hex digits alone, as file names use them.
    pub fn hex(&self) -> &str {
        self.0.strip_prefix("sha256:").unwrap_or(&self.0)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Lower-case hex digits of some bytes.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(2 * bytes.len());
    for &byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_of_the_empty_string_is_the_published_one() {
        assert_eq!(Digest::of(b"").as_str(), "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }

    #[test]
    fn text_that_could_escape_a_folder_is_not_a_digest() {
        for text in ["\"sha256:../../x\"", "\"sha256:\"", "\"md5:00\""] {
            assert!(serde_json::from_str::<Digest>(text).is_err(), "{text}");
        }
        let digest = Digest::of(b"x");
        let json = serde_json::to_string(&digest).unwrap();
        assert_eq!(serde_json::from_str::<Digest>(&json).unwrap(), digest);
    }

    #[test]
    fn parts_hash_as_their_concatenation() {
        assert_eq!(Digest::of_parts([b"ab".as_slice(), b"c"]), Digest::of(b"abc"));
    }
}
