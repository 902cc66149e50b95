//! Names of prefixes: two prompts share a prefix where they share its name.

use sha2::{Digest, Sha256};

/// The name of a prefix: half a SHA-256 over the names and texts of all blocks up to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Link([u8; 16]);

impl Link {
    /// The prefix that is one block longer; each part of the block is hashed behind its length.
    pub(crate) fn then(self, parts: &[&str]) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(self.0);
        for part in parts {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part.as_bytes());
        }
        let mut name = [0; 16];
        name.iter_mut().zip(hasher.finalize()).for_each(|(to, from)| *to = from);
        Self(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_depend_on_every_part_its_place_and_what_came_before() {
        let start = Link::default();
        let names = [start, start.then(&["ab", "c"]), start.then(&["a", "bc"]), start.then(&["ab"]).then(&["c"])];
        for (n, name) in names.iter().enumerate() {
            assert!(!names[..n].contains(name), "{n}");
        }
        assert_eq!(start.then(&["ab", "c"]), names[1]);
    }
}
