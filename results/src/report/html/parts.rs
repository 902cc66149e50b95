//! Small pieces that several sections share.

use maud::{Markup, html};

use crate::report::{Origin, Tone};

/// Where the numbers of a section come from.
pub(super) fn mark(origin: Origin) -> Markup {
    html! { span.origin title="where these numbers come from" { (origin.word()) } }
}

/// The class of a tone.
pub(super) fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Bad => "bad",
        Tone::Open => "open",
    }
}

/// A sign that says a tone without colour.
pub(super) fn sign(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "✓",
        Tone::Bad => "✕",
        Tone::Open => "○",
    }
}

/// A family's title.
pub(super) fn family(name: &str) -> &'static str {
    match name {
        "levels" => "Tool suite",
        "products" => "Products",
        "results" => "Result suite",
        _ => "Suite",
    }
}

/// The families of some rows, in order, each once.
pub(super) fn families<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all: Vec<&str> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// A table that scrolls by itself where the page is narrow.
pub(super) fn scroll(label: &str, table: &Markup) -> Markup {
    html! { div.scroll role="region" tabindex="0" aria-label=(label) { (table) } }
}
