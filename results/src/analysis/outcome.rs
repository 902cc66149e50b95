//! One episode's outcome in one byte.

use bench_protocol::verdict::{Endpoint, Mark};

use crate::record::{End, EpisodeRecord};

const SEEN: u8 = 1;
const MISSING: u8 = 2;
const SELECTION: u8 = 4;
const ARGUMENTS: u8 = 8;
const FIRST_CALL: u8 = 16;
const LOOK_FIRST: u8 = 32;

/// What is known of a task under an arm; zero is "never attempted".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Outcome(u8);

impl Outcome {
    /// Of an episode; none where it is neither missing nor scored.
    pub(super) fn of(episode: &EpisodeRecord) -> Option<Self> {
        if episode.end == End::Missing {
            return Some(Self(SEEN | MISSING));
        }
        let score = episode.score()?;
        let bit = |on: bool, bit: u8| if on { bit } else { 0 };
        Some(Self(
            SEEN | bit(score.selection, SELECTION)
                | bit(score.arguments, ARGUMENTS)
                | bit(score.first_call_ok, FIRST_CALL)
                | bit(score.look_first_ok, LOOK_FIRST),
        ))
    }

    pub(super) fn attempted(self) -> bool {
        self.0 & SEEN != 0
    }

    pub(super) fn missing(self) -> bool {
        self.0 & MISSING != 0
    }

    /// The mark on an endpoint; none where the task was never attempted.
    pub(super) fn mark(self, endpoint: Endpoint) -> Option<Mark> {
        if !self.attempted() {
            return None;
        }
        if self.missing() {
            return Some(Mark::Missing);
        }
        let bit = match endpoint {
            Endpoint::Selection | Endpoint::Answer => SELECTION,
            Endpoint::Arguments => ARGUMENTS,
            Endpoint::FirstCall => FIRST_CALL,
            Endpoint::LookFirst => LOOK_FIRST,
        };
        Some(if self.0 & bit != 0 { Mark::Right } else { Mark::Wrong })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::episode::tests::episode;

    #[test]
    fn a_missing_episode_is_missing_on_every_endpoint_whatever_its_score_says() {
        let mut lost = episode("t1", "raw", true);
        lost.end = End::Missing;
        let outcome = Outcome::of(&lost).unwrap();
        assert_eq!(outcome.mark(Endpoint::Selection), Some(Mark::Missing));
        assert_eq!(outcome.mark(Endpoint::FirstCall), Some(Mark::Missing));
    }

    #[test]
    fn an_arm_fault_is_wrong_not_missing() {
        let mut fault = episode("t1", "L2", false);
        fault.end = End::ArmFault;
        assert_eq!(Outcome::of(&fault).unwrap().mark(Endpoint::Arguments), Some(Mark::Wrong));
    }

    #[test]
    fn never_attempted_has_no_mark_and_unscored_is_no_outcome() {
        assert_eq!(Outcome::default().mark(Endpoint::Selection), None);
        let mut unscored = episode("t1", "raw", true);
        unscored.set_score(None);
        assert_eq!(Outcome::of(&unscored), None);
    }

    #[test]
    fn each_endpoint_reads_its_own_bit() {
        let mut mixed = episode("t1", "raw", true);
        mixed.arguments = Some(false);
        mixed.first_call_ok = Some(false);
        let outcome = Outcome::of(&mixed).unwrap();
        let marks = [Endpoint::Selection, Endpoint::Arguments, Endpoint::FirstCall, Endpoint::LookFirst]
            .map(|endpoint| outcome.mark(endpoint).unwrap());
        assert_eq!(marks, [Mark::Right, Mark::Wrong, Mark::Wrong, Mark::Right]);
    }
}
