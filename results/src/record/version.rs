//! The version of the record's format, as a type: a file of another version is refused before anything else is read.

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

/// The record's format. There is one value: the version that this binary reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FormatVersion;

impl FormatVersion {
    /// The number as written.
    pub const NUMBER: u32 = 1;

    /// Whether a number is this version.
    pub fn reads(number: u64) -> bool {
        number == u64::from(Self::NUMBER)
    }
}

impl Serialize for FormatVersion {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(Self::NUMBER)
    }
}

impl<'de> Deserialize<'de> for FormatVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let found = u64::deserialize(deserializer)?;
        if Self::reads(found) {
            Ok(Self)
        } else {
            Err(D::Error::custom(format!("format {found} is unknown, this binary reads {}", Self::NUMBER)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_own_version_is_read() {
        assert_eq!(serde_json::from_str::<FormatVersion>("1").unwrap(), FormatVersion);
        let message = serde_json::from_str::<FormatVersion>("2").unwrap_err().to_string();
        assert!(message.contains("format 2 is unknown, this binary reads 1"), "{message}");
    }
}
