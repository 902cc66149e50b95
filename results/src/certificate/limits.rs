//! The limits of the claim, in plain words.

use crate::record::RunKind;

use super::Subjects;

/// The sentences, the gravest first.
pub(super) fn limits(subjects: &Subjects, margin: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut say = |text: String| all.push(text);
    if subjects.kind == RunKind::Plumbing {
        say("A scripted model answered: this shows that the program works and is never evidence about a language model.".to_owned());
    }
    if !subjects.confirmatory {
        say("The run was not confirmatory: its words describe what the rule would say.".to_owned());
    }
    if subjects.underpowered {
        say("The protocol says of itself that its sizes do not reach the planned power.".to_owned());
    }
    if subjects.locks.is_empty() {
        say("No lock covers these inputs.".to_owned());
    }
    say(format!(
        "Certified means: for other requests to these tools, equally weighted, the arm is less than {margin} worse than its \
         reference, absolute, on every endpoint; it does not mean equal or better."
    ));
    say("Only a tool-robust certificate speaks of other tools; none speaks of other servers: there are too few."
        .to_owned());
    say(format!(
        "One model ({}), one prompt, a fresh session per task, single-call tasks, tools shown as server__tool.",
        subjects.model.asked
    ));
    say("Upstream servers were replayed; nothing is said about their results or about latency of a product.".to_owned());
    all
}
