//! `bench stats --explain`: the decision on one 2×2 table, step by step, in words and numbers.

use std::fmt::{self, Write as _};

use bench_protocol::stats::{
    Alpha, Margin, PairedTable, TableReport,
    exact::{SEARCH_ALLOWANCE, exact_test},
    gates::g1_p,
    power::largest_passing_net_loss,
    score::constrained_loss_rate,
};

use super::stats::{interval, p_text};

/// The whole explanation.
pub(super) fn explanation(table: PairedTable, margin: Margin, alpha: Alpha, report: &TableReport) -> String {
    let steps = Steps { table, margin, alpha, report };
    let mut text = String::new();
    // Writing into a string does not fail.
    let _ = steps.write(&mut text);
    text
}

struct Steps<'a> {
    table: PairedTable,
    margin: Margin,
    alpha: Alpha,
    report: &'a TableReport,
}

fn verdict(pass: bool) -> &'static str {
    if pass { "passes" } else { "does not pass" }
}

impl Steps<'_> {
    fn write(&self, out: &mut String) -> fmt::Result {
        self.counts(out)?;
        self.question(out)?;
        let g1 = self.score(out)?;
        let g2 = self.bootstrap(out)?;
        self.clusters(out, g1 && g2)?;
        self.interval(out)?;
        self.limits(out, g1 && g2)
    }

    fn counts(&self, out: &mut String) -> fmt::Result {
        let (n, loss, gain) = (self.report.n, self.report.loss, self.report.gain);
        let (both, neither) = (self.table.both(), self.table.neither());
        writeln!(out, "1. What was counted")?;
        writeln!(out, "   {n} tasks, each done once under raw and once under the arm:")?;
        writeln!(
            out,
            "   {both} right under both, {neither} under neither, {loss} only under raw (losses), {gain} only under the arm (gains)."
        )?;
        writeln!(out, "   Tasks on which both agree say nothing about a difference; they count in n alone.")?;
        writeln!(out, "   difference   (gains - losses)/n = ({gain} - {loss})/{n} = {:+.5}", self.report.delta_hat)?;
        writeln!(out, "   discordance  (gains + losses)/n = {:.5}", self.report.discordance)?;
        if loss.min(gain) > 0 {
            writeln!(
                out,
                "   Gains can hide losses: {loss} tasks that worked before do not work now, whatever the difference says."
            )?;
        }
        writeln!(out)
    }

    fn question(&self, out: &mut String) -> fmt::Result {
        let (margin, alpha) = (self.margin, self.alpha.value());
        writeln!(out, "2. The question")?;
        writeln!(
            out,
            "   Could the arm truly be worse by {margin} or more? That is the hypothesis to be refuted. The arm is certified"
        )?;
        writeln!(
            out,
            "   only if counts as good as these would be seen in at most {alpha} of all such runs with an arm that bad.\n"
        )
    }

    fn score(&self, out: &mut String) -> Result<bool, fmt::Error> {
        let counts = self.table.counts();
        let (n, net, margin) = (counts.n() as f64, counts.net(), self.margin);
        let d = -margin.value();
        let loss_rate = constrained_loss_rate(counts, d);
        let spread = (n * (2.0 * loss_rate + d * (1.0 - d))).max(0.0).sqrt();
        let test = &self.report.tango;
        writeln!(out, "3. Gate G1: the score test (Tango 1998, Nam 1997) and its exact guard")?;
        writeln!(
            out,
            "   If the true difference were -{margin}, the loss rate that fits these counts best would be {loss_rate:.6}"
        )?;
        writeln!(
            out,
            "   and the gain rate {margin} less. Gains minus losses would then be {:+.2} on average, give or take",
            n * d
        )?;
        writeln!(out, "   {spread:.3} (one standard deviation). Seen: {net:+}. In standard deviations that is")?;
        writeln!(out, "     T = ({net} + {:.2})/{spread:.3} = {:.4}", -n * d, test.t_lower)?;
        writeln!(out, "   and a normal variable is that large with probability p = {}.", p_text(test.p_lower))?;
        let exact = exact_test(counts, margin);
        writeln!(
            out,
            "   The normal curve is an approximation. The guard asks every loss rate that the hypothesis allows, exactly;"
        )?;
        writeln!(out, "   a T as large is likeliest at loss rate {:.5}: p = {}.", exact.loss_rate, p_text(exact.p))?;
        let p = g1_p(test.p_lower, exact.p);
        let pass = self.alpha.certifies(p);
        writeln!(
            out,
            "   The larger of the two ({SEARCH_ALLOWANCE} added to the guard's for its finite search) is {}: G1 {}.\n",
            p_text(p),
            verdict(pass)
        )?;
        Ok(pass)
    }

    fn bootstrap(&self, out: &mut String) -> Result<bool, fmt::Error> {
        let p = self.report.bootstrap_exact.p_lower;
        let pass = self.alpha.certifies(p);
        writeln!(out, "4. Gate G2: the bootstrap, exactly")?;
        if self.report.loss + self.report.gain == 0 {
            writeln!(
                out,
                "   Tasks drawn again from these, with replacement, can show no difference either: there is nothing to resample."
            )?;
            writeln!(
                out,
                "   Silence passes this gate at any n, however small, which is why it never decides alone: G2 passes.\n"
            )?;
        } else {
            let least = self.margin.lattice_floor(self.report.n);
            writeln!(
                out,
                "   Draw {} tasks from these, with replacement, again and again. Gains minus losses come out at {least:+} or",
                self.report.n
            )?;
            writeln!(
                out,
                "   less in a share of {} of all draws, summed up rather than simulated: G2 {}.\n",
                p_text(p),
                verdict(pass)
            )?;
        }
        Ok(pass)
    }

    fn clusters(&self, out: &mut String, passed: bool) -> fmt::Result {
        writeln!(out, "5. Gate G3: tasks of one frame are near-duplicates")?;
        writeln!(
            out,
            "   A 2x2 table does not know frames, so this gate cannot be decided here. It divides T by the root of the"
        )?;
        writeln!(out, "   design effect, the factor by which losses and gains that come in clumps widen the spread.")?;
        if passed {
            let largest = (self.report.tango.t_lower / self.alpha.z()).powi(2);
            writeln!(
                out,
                "   With many frames, T = {:.4} stands a design effect of up to {largest:.2}.",
                self.report.tango.t_lower
            )?;
            writeln!(
                out,
                "   With m tasks per frame and correlation r the effect is 1 + (m - 1)r: {}.",
                tolerated(largest)
            )?;
        }
        writeln!(out)
    }

    fn interval(&self, out: &mut String) -> fmt::Result {
        let level = 100.0 * (1.0 - 2.0 * self.alpha.value());
        writeln!(out, "6. The same as an interval")?;
        writeln!(
            out,
            "   All differences that the score test does not refute at either side: {} at {level} %.",
            interval(&self.report.tango_ci)
        )?;
        let below = if self.report.tango_ci.lower > -self.margin.value() { "above" } else { "not above" };
        writeln!(out, "   Its lower end is {below} -{}; that says the same as the score test's p.", self.margin)?;
        let discordant = self.report.loss + self.report.gain;
        if let Some(net) = largest_passing_net_loss(self.report.n, discordant, self.margin, self.alpha) {
            let text = if net >= 0 {
                format!("a net loss of up to {net}")
            } else {
                format!("only a net gain of at least {}", -net)
            };
            writeln!(
                out,
                "   With {discordant} discordant tasks among {}, {text} passes the score test.",
                self.report.n
            )?;
        }
        writeln!(out)
    }

    fn limits(&self, out: &mut String, passed: bool) -> fmt::Result {
        writeln!(out, "7. In words")?;
        if passed {
            writeln!(
                out,
                "   On this endpoint, taken alone and with tasks taken as independent, the arm is non-inferior: less than {}",
                self.margin
            )?;
            writeln!(out, "   worse than raw, absolute. That is not \"equal\" and not \"better\".")?;
        } else {
            writeln!(
                out,
                "   Non-inferiority is not shown. That is not yet harm: the interval says which differences are left."
            )?;
        }
        writeln!(
            out,
            "   A certificate needs more: G3, both endpoints, no broken tool, no talk where silence is right, controls that"
        )?;
        writeln!(out, "   behave, and every level before this one certified. docs/method.md derives the rule.")
    }
}

/// Correlations that a design effect allows, for two and three tasks per frame.
fn tolerated(largest: f64) -> String {
    let most = |tasks: f64| (largest - 1.0) / (tasks - 1.0);
    let text = |r: f64| if r >= 1.0 { "any r".to_owned() } else { format!("r up to {:.2}", r.max(0.0)) };
    if most(3.0) >= 1.0 {
        return "any r passes with two or three".to_owned();
    }
    format!("{} passes with two, {} with three", text(most(2.0)), text(most(3.0)))
}

#[cfg(test)]
mod tests {
    use bench_protocol::stats::ExactCache;

    use super::*;

    fn explained(cells: [u64; 4]) -> String {
        let [both, loss, gain, neither] = cells;
        let table = PairedTable::new(both, loss, gain, neither).unwrap();
        let (margin, alpha) = ("0.02".parse().unwrap(), Alpha::new(0.05).unwrap());
        let report = TableReport::new(table, margin, alpha, &ExactCache::new());
        explanation(table, margin, alpha, &report)
    }

    #[test]
    fn five_losses_step_by_step() {
        insta::assert_snapshot!(explained([920, 5, 0, 75]));
    }

    #[test]
    fn silence_has_nothing_to_resample() {
        insta::assert_snapshot!(explained([1_000, 0, 0, 0]));
    }

    #[test]
    fn gains_that_hide_losses_are_named() {
        let text = explained([870, 30, 50, 50]);
        assert!(text.contains("30 tasks that worked before do not work now") && text.contains("G1 passes"), "{text}");
    }

    #[test]
    fn the_words_follow_the_gates() {
        let text = explained([940, 20, 0, 40]);
        assert!(text.contains("G1 does not pass") && text.contains("Non-inferiority is not shown"), "{text}");
        // 12 losses pass at n = 1,000, 13 do not.
        assert!(explained([988, 12, 0, 0]).contains("G1 passes"));
        assert!(explained([987, 13, 0, 0]).contains("G1 does not pass"));
    }
}
