//! `bench stats`: the tests of the protocol on anybody's counts.

use std::{fs, path::Path};

use bench_protocol::{
    spec::Protocol,
    stats::{Alpha, ExactCache, Interval, Margin, PairedTable, StatsError, TableReport, worst_case::worst_case_p},
};
use bench_results::reanalysis::{PublishedCounts, markdown, reanalyse};

use super::{args::StatsArgs, explain::explanation, failure::Failure, output::Output};
use crate::exit;

impl From<StatsError> for Failure {
    fn from(error: StatsError) -> Self {
        Self::new(exit::USAGE, error)
    }
}

/// Runs the command.
pub(super) fn run(args: &StatsArgs, protocol: &Protocol, output: &mut Output) -> Result<u8, Failure> {
    if let Some(path) = &args.published {
        return published(path, output);
    }
    let margin = match &args.margin {
        Some(text) => text.parse::<Margin>()?,
        None => protocol.test.margin,
    };
    let alpha = Alpha::new(args.alpha.unwrap_or_else(|| protocol.test.alpha.value()))?;
    match (args.table.as_slice(), args.margins.as_slice()) {
        (&[both, loss, gain, neither], []) => {
            let table = PairedTable::new(both, loss, gain, neither)?;
            let report = TableReport::new(table, margin, alpha, &ExactCache::new());
            if args.explain && output.json {
                return Err(Failure::usage("--explain is for people and --json is not; give one of them"));
            } else if args.explain {
                write!(output.product(), "{}", explanation(table, margin, alpha, &report))?;
            } else if output.json {
                output.document(&report)?;
            } else {
                print_table(&report, margin, alpha, output)?;
            }
        }
        ([], &[raw_right, arm_right, n]) => {
            let worst = worst_case_p(raw_right, arm_right, n, margin)?;
            if output.json {
                output.document(&serde_json::json!({
                    "raw_right": raw_right, "arm_right": arm_right, "n": n,
                    "margin": margin, "alpha": alpha.value(),
                    "p_lower": worst.p_lower, "loss": worst.loss, "gain": worst.gain,
                }))?;
            } else {
                writeln!(
                    output.product(),
                    "worst case over every split: {} losses and {} gains, p = {} (margin {margin}); {}",
                    worst.loss,
                    worst.gain,
                    p_text(worst.p_lower),
                    if alpha.certifies(worst.p_lower) {
                        "non-inferior by the score test whatever the split"
                    } else {
                        "the margins alone don't show non-inferiority"
                    }
                )?;
            }
        }
        (table, []) => {
            return Err(Failure::usage(format!(
                "--table takes four counts N11,N10,N01,N00 (both right, loss, gain, both wrong), not {}",
                table.len()
            )));
        }
        (_, margins) => {
            return Err(Failure::usage(format!(
                "--margins takes three counts RAW_RIGHT,ARM_RIGHT,N, not {}",
                margins.len()
            )));
        }
    }
    Ok(exit::OK)
}

/// Reads a file of published counts: a page, or the document.
fn published(path: &Path, output: &mut Output) -> Result<u8, Failure> {
    let input = |error: anyhow::Error| Failure::new(exit::INPUT, error.context(path.display().to_string()));
    let bytes = fs::read(path).map_err(|error| input(error.into()))?;
    let counts = PublishedCounts::parse(&bytes).map_err(|error| input(error.into()))?;
    let read = reanalyse(&counts).map_err(|error| input(error.into()))?;
    if output.json {
        output.document(&read)?;
    } else {
        write!(output.product(), "{}", markdown(&counts, &read))?;
    }
    Ok(exit::OK)
}

fn print_table(report: &TableReport, margin: Margin, alpha: Alpha, output: &mut Output) -> Result<(), Failure> {
    let level = 100.0 * (1.0 - 2.0 * alpha.value());
    let out = &mut output.product();
    writeln!(out, "n {}   losses {}   gains {}", report.n, report.loss, report.gain)?;
    writeln!(out, "difference {:+.4}   discordance {:.4}", report.delta_hat, report.discordance)?;
    writeln!(out, "margin {margin}   one-sided alpha {}   intervals at {level} %", alpha.value())?;
    writeln!(out)?;
    writeln!(
        out,
        "score test (Tango/Nam)    p- {}   p+ {}",
        p_text(report.tango.p_lower),
        p_text(report.tango.p_upper)
    )?;
    writeln!(out, "score interval            {}", interval(&report.tango_ci))?;
    writeln!(out, "exact unconditional       p  {}", p_text(report.exact_uncond.p))?;
    writeln!(
        out,
        "exact bootstrap           p  {}   percentile {}",
        // Its 0 says nothing of the truth where no discordant pair was seen, which is why it never decides alone.
        if report.loss + report.gain == 0 {
            "undefined (nothing to resample)".to_owned()
        } else {
            p_text(report.bootstrap_exact.p_lower)
        },
        interval(&report.bootstrap_exact.percentile_ci)
    )?;
    writeln!(out, "Newcombe, method 10       {}", interval(&report.newcombe10))?;
    writeln!(
        out,
        "McNemar (no margin)       exact {}   mid-p {}   harm {}",
        p_text(report.mcnemar.two_sided),
        p_text(report.mcnemar.midp_two),
        p_text(report.mcnemar.one_sided_harm)
    )?;
    Ok(())
}

pub(super) fn interval(interval: &Interval) -> String {
    format!("[{:+.5}, {:+.5}]", interval.lower, interval.upper)
}

/// A p-value for people. One that underflows is printed as a bound, never as 0.
pub(super) fn p_text(p: f64) -> String {
    if p < 1e-300 {
        "<1e-300".to_owned()
    } else if p < 1e-6 {
        format!("{p:.1e}")
    } else {
        format!("{p:.6}")
    }
}
