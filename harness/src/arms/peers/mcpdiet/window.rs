//! What was said lately: terms with weights that fade.

use std::collections::BTreeMap;

use super::words::words;

/// Terms kept at most.
const MOST: usize = 256;
/// What an addition leaves of the weights that were there.
const DECAY: f64 = 0.72;
/// Weight below which a term is dropped.
const LEAST: f64 = 1e-4;
/// Texts of one message that are read, and bytes of each.
const TEXTS: usize = 64;
const BYTES: usize = 4_096;

/// A window over terms.
#[derive(Debug, Clone, Default)]
pub(super) struct Window {
    weights: BTreeMap<String, f64>,
}

impl Window {
    /// Takes the texts of one message: all weights fade once, then its terms have weight 1.
    pub(super) fn add<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) {
        self.weights.values_mut().for_each(|weight| *weight *= DECAY);
        self.weights.retain(|_, weight| *weight >= LEAST);
        for text in texts.into_iter().take(TEXTS) {
            let end = (0..=text.len().min(BYTES)).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
            self.weights.extend(words(&text[..end]).into_iter().map(|term| (term, 1.0)));
        }
        while self.weights.len() > MOST {
            let lightest = self.weights.iter().min_by(|a, b| a.1.total_cmp(b.1).then_with(|| a.0.cmp(b.0)));
            let Some(term) = lightest.map(|(term, _)| term.clone()) else { break };
            self.weights.remove(&term);
        }
    }

    /// The terms that there are, in order, with their weights.
    pub(super) fn terms(&self) -> impl Iterator<Item = (&str, f64)> {
        self.weights.iter().map(|(term, &weight)| (term.as_str(), weight))
    }
}

/// h/(h+2) over the summed weights h of a tool's terms.
pub(super) fn nearness(sum: f64) -> f64 {
    sum / (sum + 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(window: &Window, wanted: &str) -> f64 {
        nearness(window.terms().filter(|(term, _)| *term == wanted).map(|(_, weight)| weight).sum())
    }

    #[test]
    fn weights_fade_with_every_message_and_return_to_one() {
        let mut window = Window::default();
        window.add(["alpha beta"]);
        window.add(["beta gamma"]);
        assert!((near(&window, "beta") - 1.0 / 3.0).abs() < 1e-12);
        assert!((near(&window, "alpha") - 0.72 / 2.72).abs() < 1e-12);
        assert!(near(&window, "delta").abs() < f64::EPSILON);
        (0..40).for_each(|_| window.add([]));
        assert!(window.weights.is_empty());
    }

    #[test]
    fn the_lightest_term_gives_way_ties_by_word() {
        let mut window = Window::default();
        window.add(["zzz"]);
        let many: Vec<String> = (0..MOST).map(|n| format!("term{n:03}")).collect();
        window.add([many.join(" ").as_str()]);
        assert_eq!(window.weights.len(), MOST);
        assert!(!window.weights.contains_key("zzz"));
        window.add(["aaa"]);
        assert!(!window.weights.contains_key("term000") && window.weights.contains_key("term001"));
    }
}
