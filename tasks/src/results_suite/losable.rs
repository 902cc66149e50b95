//! Which kinds a digest can lose, and a plain digest to show it by.
//!
//! [`plain_digest`] is not R. It has R's outline only (levels.md): arrays of records stay whole, of any other text the
//! first three lines, the last one and lines with a cue word are kept. R's own rules are applied by the harness.

use std::collections::BTreeMap;

use super::kind::Kind;

/// Whether a line digest loses the answers to most questions of this kind: the fact stands on a line without a cue, or
/// the answer needs all rows.
///
/// The others lose theirs less often: an error line is a cue, and who sees no row and says "none" is mostly right.
pub(super) fn losable(kind: Kind) -> bool {
    match kind {
        Kind::RecordLookup
        | Kind::UncuedFact
        | Kind::Count
        | Kind::Sum
        | Kind::SecondLargest
        | Kind::Join
        | Kind::NestedField
        | Kind::Unicode
        | Kind::LongBlocks
        | Kind::NearDuplicate
        | Kind::FirstLast => true,
        Kind::ErrorInLog | Kind::Absence => false,
    }
}

/// Words whose lines are kept.
const CUES: [&str; 12] = [
    "error",
    "fail",
    "fatal",
    "warn",
    "exception",
    "denied",
    "timeout",
    "decision",
    "decided",
    "summary",
    "total",
    "conclusion",
];
/// How often lines that differ in digits only are kept for their cue.
const PER_SHAPE: usize = 2;

/// Keeps arrays of records, and of other texts the first three lines, the last and those with a cue.
pub(super) fn plain_digest(text: &str) -> String {
    if text.starts_with('[') && text.ends_with(']') {
        return text.to_owned();
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut shapes: BTreeMap<String, usize> = BTreeMap::new();
    let mut kept = Vec::new();
    let mut dropped = 0;
    for (at, line) in lines.iter().enumerate() {
        let cued = || {
            let lower = line.to_lowercase();
            CUES.iter().any(|cue| lower.contains(cue))
        };
        let mut keep = at < 3 || at + 1 == lines.len();
        if !keep && cued() {
            let shape: String = line.chars().map(|c| if c.is_ascii_hexdigit() { '0' } else { c }).collect();
            let seen = shapes.entry(shape).or_default();
            *seen += 1;
            keep = *seen <= PER_SHAPE;
        }
        if keep {
            if dropped > 0 {
                kept.push(format!("[{dropped} lines dropped]"));
                dropped = 0;
            }
            kept.push((*line).to_owned());
        } else {
            dropped += 1;
        }
    }
    kept.join("\n")
}
