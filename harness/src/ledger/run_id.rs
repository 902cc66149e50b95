//! Names of runs: short, lower case, unique, and found by their beginning.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use thiserror::Error;

/// Base 32 without letters that are read as digits or as other letters (Crockford, 2002).
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Letters behind the `r`: 40 bits.
const LETTERS: usize = 8;

/// The id of a run: `r` and eight letters of base 32.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct RunId(String);

/// Why a text names no single run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ResolveError {
    /// No run's id begins so.
    #[error("no run is called `{text}`{}; `bench runs` lists them", suggestion(.near))]
    Unknown {
        /// The text.
        text: String,
        /// Ids that begin almost so.
        near: Vec<RunId>,
    },
    /// Several do.
    #[error("`{text}` begins several runs ({}); give more letters", list(.runs))]
    Ambiguous {
        /// The text.
        text: String,
        /// The runs.
        runs: Vec<RunId>,
    },
}

impl RunId {
    /// A new id from 64 random bits, of which it takes the low 40. `None` where it is taken: ask again with other bits.
    pub fn from_bits(bits: u64, taken: impl Fn(&Self) -> bool) -> Option<Self> {
        let mut text = String::from("r");
        for letter in (0..LETTERS).rev() {
            let index = usize::try_from((bits >> (5 * letter)) & 31).unwrap_or_default();
            text.push(char::from(ALPHABET[index]));
        }
        let id = Self(text);
        (!taken(&id)).then_some(id)
    }

    /// Reads a whole id.
    pub fn parse(text: &str) -> Result<Self, String> {
        let letters = text.strip_prefix('r').unwrap_or_default();
        if letters.len() == LETTERS && letters.bytes().all(|byte| ALPHABET.contains(&byte)) {
            Ok(Self(text.to_owned()))
        } else {
            Err(format!("`{text}` is not a run id such as r7k2m9xq0"))
        }
    }

    /// The run that a text names: its id, or a beginning that no other id has. Capitals are read as small letters, and the
    /// `r` may be left out.
    pub fn resolve<'a>(text: &str, runs: impl IntoIterator<Item = &'a Self>) -> Result<&'a Self, ResolveError> {
        let runs: Vec<&Self> = runs.into_iter().collect();
        let lower = text.to_ascii_lowercase();
        let full = if lower.starts_with('r') { lower } else { format!("r{lower}") };
        let begins: Vec<&Self> = runs.iter().copied().filter(|run| run.0.starts_with(&full)).collect();
        match begins.as_slice() {
            [run] => Ok(run),
            [] => {
                let near = runs.into_iter().filter(|run| slips(&full, &run.0) == 1).cloned().collect();
                Err(ResolveError::Unknown { text: text.to_owned(), near })
            }
            several => {
                Err(ResolveError::Ambiguous { text: text.to_owned(), runs: several.iter().copied().cloned().collect() })
            }
        }
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// How many letters of `text` differ from the beginning of `id`; two neighbours that changed places count once, letters too
/// many count each.
fn slips(text: &str, id: &str) -> usize {
    let (text, id) = (text.as_bytes(), id.as_bytes());
    let length = text.len().min(id.len());
    let differing: Vec<usize> = (0..length).filter(|&at| text[at] != id[at]).collect();
    let swapped = matches!(differing[..], [a, b] if b == a + 1 && text[a] == id[b] && text[b] == id[a]);
    text.len() - length + if swapped { 1 } else { differing.len() }
}

fn suggestion(near: &[RunId]) -> String {
    if near.is_empty() { String::new() } else { format!(" (did you mean {}?)", list(near)) }
}

fn list(runs: &[RunId]) -> String {
    runs.iter().map(RunId::as_str).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for RunId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(texts: &[&str]) -> Vec<RunId> {
        texts.iter().map(|text| RunId::parse(text).unwrap()).collect()
    }

    #[test]
    fn every_id_that_is_made_can_be_read_and_a_taken_one_is_not_made() {
        for bits in [0, u64::MAX, 0x0123_4567_89ab_cdef, 1 << 39] {
            let id = RunId::from_bits(bits, |_| false).unwrap();
            assert_eq!(RunId::parse(id.as_str()), Ok(id.clone()));
            assert_eq!(RunId::from_bits(bits, |taken| *taken == id), None);
        }
        assert_eq!(RunId::from_bits(33, |_| false).unwrap().as_str(), "r00000011");
    }

    #[test]
    fn what_is_no_id_is_refused() {
        for text in ["", "r", "r0000000", "r000000000", "x00000000", "r0000000o", "R00000000", "r../../.."] {
            assert!(RunId::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_unique_beginning_is_enough() {
        let runs = ids(&["r7k2m9xq0", "r7k3aaaaa", "rb0000000"]);
        for (text, expected) in [("r7k2m9xq0", 0), ("r7k2", 0), ("7k3", 1), ("RB", 2), ("b", 2)] {
            assert_eq!(RunId::resolve(text, &runs), Ok(&runs[expected]), "{text}");
        }
    }

    #[test]
    fn what_names_no_single_run_is_refused_with_what_might_be_meant() {
        let runs = ids(&["r7k2m9xq0", "r7k3aaaaa", "rb0000000"]);
        let errors: Vec<String> = ["r7k", "", "r7x2m", "rk72m", "rzzzz"]
            .iter()
            .map(|text| RunId::resolve(text, &runs).unwrap_err().to_string())
            .collect();
        insta::assert_snapshot!(errors.join("\n"));
    }
}
