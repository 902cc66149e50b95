//! Which draw a request is: named by a header that only our own client sends, else derived from the body.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::noise::Draw;

/// The header that names it.
pub(super) const HEADER: &str = "x-bench-draw";

/// A draw, owned.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct OwnedDraw {
    pub(super) task: String,
    pub(super) arm: String,
    pub(super) turn: u32,
}

impl OwnedDraw {
    /// Reads `TASK/ARM/TURN`; the arm may hold slashes.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (head, turn) = text.rsplit_once('/')?;
        let (task, arm) = head.split_once('/')?;
        let turn = turn.parse().ok().filter(|&turn| turn > 0)?;
        (!task.is_empty() && !arm.is_empty()).then(|| Self { task: task.to_owned(), arm: arm.to_owned(), turn })
    }

    /// The draw of a request that names none: equal bodies are equal draws.
    pub(super) fn of_body(body: &[u8]) -> Self {
        let digest = Sha256::digest(body);
        let task = digest.iter().take(8).fold("body-".to_owned(), |text, byte| format!("{text}{byte:02x}"));
        Self { task, arm: "none".to_owned(), turn: 1 }
    }

    /// True where `name` names this draw.
    pub(super) fn is(&self, name: &str) -> bool {
        Self::parse(name).is_some_and(|named| named == *self)
    }

    /// As the script takes it.
    pub(super) fn borrow(&self) -> Draw<'_> {
        Draw { task: &self.task, arm: &self.arm, turn: self.turn }
    }
}

impl fmt::Display for OwnedDraw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.task, self.arm, self.turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_is_read_back_from_its_name() {
        for name in ["t1/L2/1", "t1/a/b/12"] {
            assert_eq!(OwnedDraw::parse(name).map(|draw| draw.to_string()).as_deref(), Some(name));
        }
        for name in ["", "t1", "t1/L2", "t1/L2/0", "t1/L2/x", "/L2/1", "t1//1"] {
            assert_eq!(OwnedDraw::parse(name), None, "{name}");
        }
    }

    #[test]
    fn equal_bodies_are_equal_draws() {
        assert_eq!(OwnedDraw::of_body(b"a"), OwnedDraw::of_body(b"a"));
        assert_ne!(OwnedDraw::of_body(b"a"), OwnedDraw::of_body(b"b"));
    }
}
