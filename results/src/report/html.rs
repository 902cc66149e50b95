//! One HTML file that holds everything: no script, no network, light and dark, and it prints.
//!
//! A policy in the page forbids scripts and loads, should ever something slip through the escaping of the templates.

mod cost;
mod definitions;
mod effects;
mod flow;
mod happened;
mod losses;
mod pairs;
mod parts;
mod standing;
mod verdicts;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{Outcomes, Report, ReportError, RunView, Trust, text::spelled};
use crate::{record::Weight, table::caution};

const STYLE: &str = include_str!("html/style.css");
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'";

/// The page.
///
/// # Errors
/// A figure could not be drawn.
pub fn render(report: &Report) -> Result<String, ReportError> {
    let run = &report.run;
    let body = match &report.outcomes {
        Some(outcomes) => closed(report, outcomes)?,
        None => open(report)?,
    };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "bench: run " (run.id) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the report" }
                header {
                    p.brand { "bench" span { " · report of a run" } }
                    (identity(run))
                }
                main id="main" { (body) }
                footer {
                    p { "Made from the record alone: the same record gives the same bytes. "
                        code { "bench verify " (run.id) } " recomputes what it says." }
                }
            }
        }
    };
    // One place for all of it: names and texts in a report are strangers'.
    Ok(spelled(&page.into_string()).into_owned() + "\n")
}

fn identity(run: &RunView) -> Markup {
    let state = match (run.complete, run.confirmatory) {
        (false, _) => "open",
        (true, true) => "confirmatory",
        (true, false) if run.mock => "plumbing",
        (true, false) => "exploratory",
    };
    html! {
        dl.facts {
            div { dt { "run" } dd { code { (run.id) } } }
            div { dt { "kind" } dd { (state) } }
            @for (name, value) in &run.model { div { dt { (name) } dd { bdi { (value) } } } }
            @for (name, value) in &run.times { div { dt { (name) } dd { (value) } } }
        }
    }
}

/// What a reader must know before the verdict: that it is none, or that nobody checked it.
fn banners(report: &Report) -> Markup {
    let weight = report.run.weight;
    let word = if weight == Weight::Scripted { "Plumbing. " } else { "Exploratory. " };
    let trust = report.standing.trust;
    html! {
        @if trust == Trust::Refuted {
            p.refuted role="alert" { strong { "This record does not verify. " } "Nothing on this page is to be relied on; see " a href="#checks" { "the checks" } "." }
        }
        @if trust == Trust::Unverified && report.outcomes.is_some() {
            p.mock role="note" { strong { "Not verified. " } "This page repeats what the record says; nobody recomputed it." }
        }
        @if let Some(text) = caution(weight) { p.mock role="note" { strong { (word) } (text) } }
    }
}

/// What a section is made from.
#[derive(Clone, Copy)]
enum Section {
    /// What every run has.
    Always(fn(&str, &Report) -> Markup),
    /// What is known of a run once it is closed.
    Closed(fn(&str, &Outcomes) -> Result<Markup, ReportError>),
}

/// The sections below the verdict, in order: id, title in the navigation, content.
const SECTIONS: [(&str, &str, Section); 13] = [
    ("effects", "Effects", Section::Closed(effects::section)),
    ("flow", "Flow", Section::Always(flow::section)),
    ("controls", "Controls", Section::Closed(|id, outcomes| Ok(verdicts::controls(id, outcomes)))),
    ("losses", "Losses", Section::Closed(|id, outcomes| Ok(losses::section(id, outcomes)))),
    ("pairs", "Pairs", Section::Closed(|id, outcomes| Ok(pairs::section(id, outcomes)))),
    ("context", "Context", Section::Closed(|id, outcomes| Ok(cost::context(id, outcomes)))),
    ("cost", "Cost", Section::Closed(|id, outcomes| Ok(cost::section(id, outcomes)))),
    ("happened", "What happened", Section::Closed(|id, outcomes| Ok(happened::section(id, outcomes)))),
    ("definitions", "Definitions", Section::Closed(|id, outcomes| Ok(definitions::section(id, outcomes)))),
    ("protocol", "Protocol", Section::Always(standing::protocol)),
    ("checks", "Checks", Section::Always(standing::checks)),
    ("origins", "Origins", Section::Always(standing::origins)),
    ("consort", "CONSORT", Section::Closed(|id, outcomes| Ok(standing::checklist(id, outcomes)))),
];

/// The sections of a run; of an open one those that say nothing of outcomes.
fn sections(report: &Report, outcomes: Option<&Outcomes>) -> Result<Vec<Markup>, ReportError> {
    let mut all = Vec::new();
    for (id, _, section) in SECTIONS {
        match (section, outcomes) {
            (Section::Always(content), _) => all.push(content(id, report)),
            (Section::Closed(content), Some(outcomes)) => all.push(content(id, outcomes)?),
            (Section::Closed(_), None) => {}
        }
    }
    Ok(all)
}

/// A run that is still open: nobody has seen an outcome, and this page is no exception.
fn open(report: &Report) -> Result<Markup, ReportError> {
    Ok(html! {
        section id="verdict" {
            h1 { "No verdict yet" }
            (banners(report))
            p.lead { "The run is open. Nothing is scored before it is closed, so this page shows its flow and nothing else." }
        }
        @for section in sections(report, None)? { (section) }
    })
}

fn closed(report: &Report, outcomes: &Outcomes) -> Result<Markup, ReportError> {
    Ok(html! {
        section id="verdict" {
            h1 { "Verdict" }
            (banners(report))
            (verdicts::cards(outcomes))
        }
        nav aria-label="Sections" { ul { @for (id, title, _) in SECTIONS { li { a href={ "#" (id) } { (title) } } } } }
        @for section in sections(report, Some(outcomes))? { (section) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{CheckLine, CheckOutcome, fixture};

    /// Tags and attributes without text: what a reader's browser is given to build.
    fn skeleton(html: &str) -> String {
        let mut lines: Vec<String> = Vec::new();
        let body = html.split_once("<body>").unwrap().1;
        for part in body.split('<').skip(1) {
            let tag = part.split('>').next().unwrap();
            let name: String = tag.chars().take_while(|c| !c.is_whitespace()).collect();
            let id = tag.split("id=\"").nth(1).and_then(|rest| rest.split('"').next());
            if matches!(name.as_str(), "section" | "h1" | "h2" | "h3" | "table" | "details" | "svg" | "nav" | "caption")
            {
                let line = id.map_or_else(|| name.clone(), |id| format!("{name} #{id}"));
                match lines.last_mut() {
                    Some(last) if last.split(" ×").next() == Some(&line) => {
                        let times = last.split(" ×").nth(1).map_or(1, |times| times.parse::<u32>().unwrap());
                        *last = format!("{line} ×{}", times + 1);
                    }
                    _ => lines.push(line),
                }
            }
        }
        lines.join("\n")
    }

    #[test]
    fn the_structure_of_a_small_run_is_this() {
        let page = render(&fixture::run(200, true).report()).unwrap();
        insta::assert_snapshot!(skeleton(&page));
    }

    #[test]
    fn a_record_that_does_not_verify_has_no_verdict_word_and_says_so_first() {
        let mut run = fixture::run(120, true);
        let verified = render(&run.report()).unwrap();
        assert!(!verified.contains("does not verify") && verified.contains("(mock)"));
        let line = |outcome| CheckLine { name: "books".to_owned(), outcome, evidence: "differ".to_owned() };
        run.sources.checks.push(line(CheckOutcome::Note));
        let noted = render(&run.report()).unwrap();
        assert!(noted.contains("– note") && !noted.contains("does not verify"), "a note is neither pass nor failure");
        run.sources.checks.push(line(CheckOutcome::Fail));
        let refuted = render(&run.report()).unwrap();
        assert!(
            refuted.find("This record does not verify") < refuted.find("class=\"cards\""),
            "the banner comes first"
        );
        for word in ["(mock)", "would be certified", "tool-robust</p>"] {
            assert!(!refuted.contains(word), "{word}");
        }
        run.sources.checks.clear();
        assert!(render(&run.report()).unwrap().contains("nobody recomputed it"));
    }

    #[test]
    fn only_a_live_confirmatory_run_has_no_caution() {
        let mut report = fixture::run(60, true).report();
        for (weight, word) in [
            (Weight::Scripted, Some("Plumbing. ")),
            (Weight::Exploratory, Some("Exploratory. ")),
            (Weight::Certifies, None),
        ] {
            report.run.weight = weight;
            let page = render(&report).unwrap();
            let shown =
                ["Plumbing. ", "Exploratory. "].into_iter().find(|word| page.contains(&format!("<strong>{word}")));
            assert_eq!(shown, word);
        }
    }

    #[test]
    fn every_link_within_the_page_leads_somewhere() {
        for (complete, least) in [(true, SECTIONS.len()), (false, 1)] {
            let page = render(&fixture::run(60, complete).report()).unwrap();
            let targets: Vec<&str> =
                page.split("href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
            assert!(targets.len() >= least, "{targets:?}");
            for target in targets {
                assert_eq!(page.matches(&format!("id=\"{target}\"")).count(), 1, "{target}");
            }
        }
    }

    #[test]
    fn the_same_record_gives_the_same_bytes() {
        let run = fixture::run(120, true);
        assert_eq!(render(&run.report()).unwrap(), render(&run.report()).unwrap());
    }

    #[test]
    fn nothing_is_loaded_and_nothing_runs() {
        let page = render(&fixture::run(120, true).report()).unwrap();
        for forbidden in
            ["<script", "http://", "https://", "javascript:", "<img", "<iframe", "<link", "url(", "@import", " onclick"]
        {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
    }

    #[test]
    fn an_open_run_shows_flow_and_no_outcome() {
        let page = render(&fixture::run(120, false).report()).unwrap();
        assert!(page.contains("No verdict yet") && page.contains("id=\"flow\""));
        for section in ["effects", "losses", "pairs", "controls", "cost", "happened"] {
            assert!(!page.contains(&format!("id=\"{section}\"")), "{section}");
        }
    }

    #[test]
    fn hostile_text_is_shown_as_text_and_bounded() {
        let mut run = fixture::run(200, true);
        run.make_hostile();
        let report = run.report();
        let page = render(&report).unwrap();
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "the utterance is shown");
        assert!(page.contains("⟨U+202E⟩"), "overrides of direction are spelled out");
        assert!(!page.contains('\u{202E}') && !page.contains("<script"));
        assert!(!page.contains("\" onmouseover=\""), "no attribute is broken out of");
        assert!(page.len() < 3 << 20, "{} bytes from megabytes of text", page.len());
        assert!(report.json().unwrap().len() < 6 << 20);
    }
}
