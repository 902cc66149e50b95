//! What a person reads at the end: one table that fits 100 columns, then a sentence per verdict. From a certificate and the
//! plan of its protocol alone, so that a published one prints the same.

pub mod cell;
mod control;
pub mod grid;
mod rows;
mod sentence;

use bench_protocol::verdict::FamilyKind;

use crate::certificate::Certificate;

pub use cell::status_word;
pub(crate) use cell::{group, signed};
pub use control::{Planned, Showing, control_word};
pub use sentence::{EXPLORATORY_CERTIFIES_NOTHING, MOCK_IS_NO_EVIDENCE, caution, sentences, verdicts};

/// Widest line, in characters.
pub const WIDTH: usize = 100;

/// The tables of all families, a blank line between them; lines end in `\n` and hold at most [`WIDTH`] characters.
pub fn table(certificate: &Certificate, planned: Planned) -> String {
    let families = certificate.families.keys();
    let tables: Vec<String> = families.map(|&family| family_table(certificate, planned, family)).collect();
    tables.join("\n")
}

fn family_table(certificate: &Certificate, planned: Planned, family: FamilyKind) -> String {
    grid::render(rows::heads(certificate, family), &rows::rows(certificate, planned, family))
}

/// The word that the table ends an arm's row with; none for an arm that it does not list.
pub fn verdict_word(certificate: &Certificate, planned: Planned, arm: &str) -> Option<String> {
    certificate.arms.iter().find(|one| &*one.arm == arm).map(|one| rows::verdict(certificate, planned, one))
}

#[cfg(test)]
mod tests {
    use bench_protocol::spec::Protocol;

    use super::*;
    use crate::certificate::fixture::certificate;

    fn planned() -> Planned {
        Planned::of(&Protocol::built_in().unwrap())
    }

    #[test]
    fn the_table_of_a_plumbing_run_reads_like_this() {
        insta::assert_snapshot!(table(&certificate(), planned()));
    }

    #[test]
    fn the_word_of_an_arm_is_the_one_in_its_row() {
        let certificate = certificate();
        let text = table(&certificate, planned());
        for arm in &certificate.arms {
            let word = verdict_word(&certificate, planned(), &arm.arm).unwrap();
            let row = text.lines().find(|line| line.split(' ').next() == Some(&*arm.arm)).unwrap();
            assert!(row.ends_with(&word), "{row}: {word}");
        }
        assert_eq!(verdict_word(&certificate, planned(), "L9"), None);
    }

    #[test]
    fn no_line_is_wider_than_promised_even_with_long_names_and_heavy_losses() {
        let mut widest = certificate();
        for arm in &mut widest.arms {
            arm.arm = if &*arm.arm == "L1" { "a-compressor-with-a-long-name".into() } else { arm.arm.clone() };
            arm.rates.values_mut().for_each(|rate| rate.den = 1_872);
            widest.sizes.insert(arm.arm.to_string(), widest.sizes["raw"].clone());
        }
        widest.levels[1].arm = "a-compressor-with-a-long-name".into();
        let text = table(&widest, planned());
        for line in text.lines() {
            assert!(line.chars().count() <= WIDTH, "{} characters: {line}", line.chars().count());
        }
        assert!(text.contains("a-compressor-wi…"), "{text}");
    }
}
