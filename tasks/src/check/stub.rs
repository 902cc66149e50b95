//! Texts that the scaffold left to be written.

use super::{Finding, FindingKind};
use crate::{intent::Frame, scaffold::STUBS};

pub(super) fn check(frame: &Frame, findings: &mut Vec<Finding>) {
    let text = frame.text.literal(" ");
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    let Some(stub) = words.find(|word| STUBS.contains(word)) else { return };
    let message = format!(
        "nobody has written its text yet: {stub} is what the scaffold puts there; write what somebody would ask, and no word {stub} in capitals"
    );
    findings.push(Finding::error(FindingKind::Stub, &frame.file, Some(frame.line), Some(&frame.id), message));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intent::{IntentFile, Intents};

    fn found(text: &str) -> Vec<String> {
        let text = format!(
            "suite = \"abstain\"\nwriter = \"w\"\n[[frame]]\nid = \"x\"\nreason = \"no-tool\"\nvoice = \"terse\"\ntext = \"{text}\"\n"
        );
        let intents = Intents::from_files(vec![IntentFile { name: "mine.toml".into(), text: text.into() }]);
        let mut findings = Vec::new();
        intents.frames().iter().for_each(|frame| check(frame, &mut findings));
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_text_that_the_scaffold_left_is_named_with_file_and_frame() {
        for (text, stub) in [("REWRITE", "REWRITE"), ("Please, REPHRASE: all of it", "REPHRASE")] {
            let found = found(text);
            assert!(found.len() == 1 && found[0].starts_with("mine.toml:4: frame abstain/x: "), "{found:?}");
            assert!(found[0].contains(stub), "{found:?}");
        }
    }

    #[test]
    fn people_may_ask_for_something_to_be_rewritten() {
        for text in ["Rewrite my letter", "rephrase it", "REWRITES and PREREWRITE"] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
