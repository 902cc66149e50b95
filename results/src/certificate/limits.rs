//! The limits of the claim, in plain words.

use bench_protocol::{lock::OperatingCharacteristics, simulate::Claim};

use super::Subjects;
use crate::record::RunKind;

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
    if let Some(power) = &subjects.power {
        error_rates(power, margin).into_iter().for_each(&mut say);
    }
    say(format!(
        "One model ({}), one prompt, a fresh session per task, single-call tasks, tools shown as server__tool.",
        subjects.model.asked
    ));
    say("Upstream servers were replayed; nothing is said about their results or about latency of a product.".to_owned());
    all
}

/// How often the rule errs, by claim: the largest rate among the scenarios in which it holds its level, then the largest
/// among those in which it does not, with the reason.
fn error_rates(power: &OperatingCharacteristics, margin: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (claim, word) in [(Claim::Frames, "certified"), (Claim::Tools, "certified as tool-robust")] {
        let largest = |within: bool| {
            let rows = power.sizes.iter().filter(|row| row.claim == claim && row.within == within);
            rows.max_by_key(|row| row.rate_ppm)
        };
        let percent = |ppm: u64| format!("{}.{:02} %", ppm / 10_000, ppm % 10_000 / 100);
        if let Some(row) = largest(true) {
            all.push(format!(
                "Simulated before the run: a level that truly loses {margin} is {word} in at most {} of runs wherever the rule \
                 holds its level (scenario {}).",
                percent(row.rate_ppm),
                row.scenario
            ));
        }
        if let Some(row) = largest(false) {
            all.push(format!(
                "It does not hold it everywhere: {word} in up to {} of runs (scenario {}){}.",
                percent(row.rate_ppm),
                row.scenario,
                row.caveat.as_ref().map(|why| format!("; {why}")).unwrap_or_default()
            ));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::fixture::power;

    #[test]
    fn rows_that_exceed_the_level_stand_beside_the_claim_they_qualify() {
        insta::assert_snapshot!(error_rates(&power(), "0.02").join("\n"));
    }
}
