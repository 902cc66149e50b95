//! The byte order mark that some editors put before UTF-8.

/// The bytes after a byte order mark, or all of them. JSON has no place for one, TOML and CSV readers skip it: so a file
/// that people write may begin with it, whatever its format.
pub fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}
