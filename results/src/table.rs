//! What a person reads at the end: one table that fits 100 columns, then a sentence per verdict. From a certificate alone,
//! so that a published one prints the same.

pub mod cell;
pub mod grid;
mod rows;
mod sentence;

use bench_protocol::verdict::FamilyKind;

use crate::certificate::Certificate;

pub(crate) use cell::{group, signed, status_word};
pub(crate) use rows::control_word;
pub use sentence::{EXPLORATORY_CERTIFIES_NOTHING, MOCK_IS_NO_EVIDENCE, caution, sentences};

/// Widest line, in characters.
pub const WIDTH: usize = 100;

/// The tables of all families, a blank line between them; lines end in `\n` and hold at most [`WIDTH`] characters.
pub fn table(certificate: &Certificate) -> String {
    let tables: Vec<String> = certificate.families.keys().map(|&family| family_table(certificate, family)).collect();
    tables.join("\n")
}

fn family_table(certificate: &Certificate, family: FamilyKind) -> String {
    grid::render(rows::heads(certificate, family), &rows::rows(certificate, family))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::fixture::certificate;

    #[test]
    fn the_table_of_a_plumbing_run_reads_like_this() {
        insta::assert_snapshot!(table(&certificate()));
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
        let text = table(&widest);
        for line in text.lines() {
            assert!(line.chars().count() <= WIDTH, "{} characters: {line}", line.chars().count());
        }
        assert!(text.contains("a-compressor-wi…"), "{text}");
    }
}
