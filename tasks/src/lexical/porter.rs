//! Porter's stemmer (Porter 1980, *An algorithm for suffix stripping*), as full-text engines apply it to English.
//!
//! Only words of ASCII lower-case letters are stemmed; any other word is left as it is.

/// The stem of a word.
pub fn stem(word: &str) -> String {
    if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let mut stem = Stem(word.as_bytes().to_vec());
    stem.step_1a();
    stem.step_1b();
    stem.step_1c();
    stem.replace_first(&STEP_2);
    stem.replace_first(&STEP_3);
    stem.step_4();
    stem.step_5();
    stem.0.into_iter().map(char::from).collect()
}

/// Suffixes and what they become where the measure before them is above 0; the first that fits counts.
const STEP_2: [(&str, &str); 21] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("logi", "log"),
];
const STEP_3: [(&str, &str); 7] =
    [("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", "")];
/// Suffixes that go where the measure before them is above 1, longer ones before those they end in.
const STEP_4: [&str; 19] = [
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
];

struct Stem(Vec<u8>);

impl Stem {
    fn is_consonant(&self, at: usize) -> bool {
        match self.0[at] {
            b'a' | b'e' | b'i' | b'o' | b'u' => false,
            b'y' => at == 0 || !self.is_consonant(at - 1),
            _ => true,
        }
    }

    /// Number of vowel–consonant sequences in the first `length` letters.
    fn measure(&self, length: usize) -> usize {
        (1..length).filter(|&at| self.is_consonant(at) && !self.is_consonant(at - 1)).count()
    }

    fn has_vowel(&self, length: usize) -> bool {
        (0..length).any(|at| !self.is_consonant(at))
    }

    fn ends_in_double_consonant(&self) -> bool {
        let length = self.0.len();
        length >= 2 && self.0[length - 1] == self.0[length - 2] && self.is_consonant(length - 1)
    }

    /// Whether the first `length` letters end in consonant, vowel, consonant, the last none of w, x, y.
    fn ends_in_cvc(&self, length: usize) -> bool {
        length >= 3
            && self.is_consonant(length - 3)
            && !self.is_consonant(length - 2)
            && self.is_consonant(length - 1)
            && !matches!(self.0[length - 1], b'w' | b'x' | b'y')
    }

    /// The length of what stands before a suffix, where the word ends in it.
    fn before(&self, suffix: &str) -> Option<usize> {
        self.0.ends_with(suffix.as_bytes()).then(|| self.0.len() - suffix.len())
    }

    fn set(&mut self, length: usize, suffix: &str) {
        self.0.truncate(length);
        self.0.extend_from_slice(suffix.as_bytes());
    }

    fn step_1a(&mut self) {
        if let Some(length) = self.before("sses").or_else(|| self.before("ies")) {
            let kept = if self.0.ends_with(b"sses") { "ss" } else { "i" };
            self.set(length, kept);
        } else if self.before("ss").is_none()
            && let Some(length) = self.before("s")
        {
            self.set(length, "");
        }
    }

    fn step_1b(&mut self) {
        if let Some(length) = self.before("eed") {
            if self.measure(length) > 0 {
                self.set(length, "ee");
            }
            return;
        }
        let Some(length) = self.before("ed").or_else(|| self.before("ing")).filter(|&length| self.has_vowel(length))
        else {
            return;
        };
        self.set(length, "");
        if ["at", "bl", "iz"].iter().any(|end| self.before(end).is_some()) {
            self.0.push(b'e');
        } else if self.ends_in_double_consonant() && !matches!(self.0.last(), Some(b'l' | b's' | b'z')) {
            self.0.pop();
        } else if self.measure(self.0.len()) == 1 && self.ends_in_cvc(self.0.len()) {
            self.0.push(b'e');
        }
    }

    fn step_1c(&mut self) {
        if let Some(length) = self.before("y").filter(|&length| self.has_vowel(length)) {
            self.set(length, "i");
        }
    }

    fn replace_first(&mut self, rules: &[(&str, &str)]) {
        let fits = rules.iter().find_map(|(suffix, by)| Some((self.before(suffix)?, *by)));
        if let Some((length, by)) = fits.filter(|&(length, _)| self.measure(length) > 0) {
            self.set(length, by);
        }
    }

    fn step_4(&mut self) {
        let fits = STEP_4.iter().find_map(|suffix| Some((self.before(suffix)?, *suffix)));
        let Some((length, suffix)) = fits else { return };
        let allowed = suffix != "ion" || matches!(self.0[..length].last(), Some(b's' | b't'));
        if allowed && self.measure(length) > 1 {
            self.set(length, "");
        }
    }

    fn step_5(&mut self) {
        if let Some(length) = self.before("e") {
            let measure = self.measure(length);
            if measure > 1 || (measure == 1 && !self.ends_in_cvc(length)) {
                self.set(length, "");
            }
        }
        if self.before("ll").is_some() && self.measure(self.0.len()) > 1 {
            self.0.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_of_the_paper() {
        let cases = [
            ("caresses", "caress"),
            ("ponies", "poni"),
            ("cats", "cat"),
            ("feed", "feed"),
            ("agreed", "agre"),
            ("plastered", "plaster"),
            ("motoring", "motor"),
            ("sing", "sing"),
            ("conflated", "conflat"),
            ("sized", "size"),
            ("hopping", "hop"),
            ("falling", "fall"),
            ("filing", "file"),
            ("happy", "happi"),
            ("sky", "sky"),
            ("relational", "relat"),
            ("conditional", "condit"),
            ("rational", "ration"),
            ("digitizer", "digit"),
            ("operator", "oper"),
            ("feudalism", "feudal"),
            ("hopefulness", "hope"),
            ("formalize", "formal"),
            ("electrical", "electr"),
            ("goodness", "good"),
            ("revival", "reviv"),
            ("allowance", "allow"),
            ("adjustable", "adjust"),
            ("replacement", "replac"),
            ("adoption", "adopt"),
            ("probate", "probat"),
            ("rate", "rate"),
            ("cease", "ceas"),
            ("controlling", "control"),
            ("roll", "roll"),
            ("generalizations", "gener"),
            ("oscillators", "oscil"),
        ];
        for (word, expected) in cases {
            assert_eq!(stem(word), expected, "{word}");
        }
    }

    #[test]
    fn what_is_no_word_of_letters_is_left_alone() {
        for word in ["is", "v2s", "écoles", "", "Files"] {
            assert_eq!(stem(word), word);
        }
    }
}
