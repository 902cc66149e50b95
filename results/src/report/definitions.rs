//! Definitions: each tool as its server has it, and as each arm shows it, as differences of lines.

use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use super::{
    source::{MetaTexts, Sources, ToolTexts},
    text::tame,
};

/// Characters of all differences together; what comes after is counted.
const BUDGET: usize = 1_000_000;
/// Characters of one definition.
const DEFINITION: usize = 20_000;
/// Unchanged lines around a change.
const CONTEXT: usize = 2;

/// A tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolDiff {
    /// `server/tool`.
    pub tool: String,
    /// Arms that show it as the reference does.
    pub unchanged: Vec<String>,
    /// Arms that do not show it at the start.
    pub hidden: Vec<String>,
    /// Arms that show something else, those with the same text together.
    pub changed: Vec<Shown>,
}

/// One other form of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shown {
    /// The arms that show it.
    pub arms: Vec<String>,
    /// Lines with their sign: `-` only in the original, `+` only in what is shown, blank in both, `…` where lines are left
    /// out.
    pub lines: Vec<(char, String)>,
}

/// A tool that arms add.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Added {
    /// The arms that add it in this form.
    pub arms: Vec<String>,
    /// Its name.
    pub name: String,
    /// Its definition.
    pub text: String,
}

/// All definitions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Definitions {
    /// Upstream tools, in catalog order.
    pub tools: Vec<ToolDiff>,
    /// Tools whose differences are not shown, since there are too many.
    pub tools_left_out: u64,
    /// Tools that arms add.
    pub added: Vec<Added>,
}

/// Builds the differences.
pub(super) fn definitions(sources: &Sources) -> Definitions {
    let (mut budget, mut left_out) = (BUDGET, 0);
    let mut tools = Vec::new();
    for texts in &sources.tools {
        let diff = diff(texts);
        let size: usize = diff.changed.iter().flat_map(|one| &one.lines).map(|(_, line)| line.len() + 1).sum();
        if size <= budget {
            budget -= size;
            tools.push(diff);
        } else {
            left_out += 1;
        }
    }
    Definitions { tools, tools_left_out: left_out, added: added(&sources.meta, budget) }
}

fn diff(texts: &ToolTexts) -> ToolDiff {
    let label = tame(&format!("{}/{}", texts.server, texts.tool), 120);
    let mut all = ToolDiff { tool: label, unchanged: Vec::new(), hidden: Vec::new(), changed: Vec::new() };
    let mut forms: Vec<&str> = Vec::new();
    for (arm, shown) in &texts.shown {
        let arm = tame(arm, 64);
        match shown {
            None => all.hidden.push(arm),
            Some(text) if *text == texts.original => all.unchanged.push(arm),
            Some(text) => {
                if let Some(at) = forms.iter().position(|form| form == text) {
                    all.changed[at].arms.push(arm);
                } else {
                    forms.push(text);
                    all.changed.push(Shown { arms: vec![arm], lines: lines(&texts.original, text) });
                }
            }
        }
    }
    all
}

fn lines(original: &str, shown: &str) -> Vec<(char, String)> {
    let (original, shown) = (tame(original, DEFINITION), tame(shown, DEFINITION));
    let diff = TextDiff::from_lines(&original, &shown);
    let mut all = Vec::new();
    for (at, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if at > 0 {
            all.push(('…', String::new()));
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            all.push((sign, change.value().trim_end_matches('\n').to_owned()));
        }
    }
    all
}

fn added(meta: &[MetaTexts], mut budget: usize) -> Vec<Added> {
    let mut all: Vec<Added> = Vec::new();
    for one in meta {
        let (name, text) = (tame(&one.name, 128), tame(&one.text, DEFINITION));
        let arm = tame(&one.arm, 64);
        if let Some(same) = all.iter_mut().find(|seen| seen.name == name && seen.text == text) {
            same.arms.push(arm);
        } else if text.len() <= budget {
            budget -= text.len();
            all.push(Added { arms: vec![arm], name, text });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(shown: &[(&str, Option<&str>)]) -> ToolTexts {
        ToolTexts {
            server: "git".into(),
            tool: "git_log".into(),
            original: "a\nb\nc\nd\ne\nf\ng\n".to_owned(),
            shown: shown.iter().map(|(arm, text)| ((*arm).into(), text.map(str::to_owned))).collect(),
        }
    }

    #[test]
    fn arms_with_the_same_text_share_one_difference() {
        let shown = "a\nb\nc\nd\ne\nf\n";
        let seen = diff(&texts(&[
            ("L0", Some(shown)),
            ("L1", Some(shown)),
            ("L2", None),
            ("L3", Some("a\nb\nc\nd\ne\nf\ng\n")),
        ]));
        assert_eq!((seen.unchanged, seen.hidden), (vec!["L3".to_owned()], vec!["L2".to_owned()]));
        assert_eq!(seen.changed.len(), 1);
        assert_eq!(seen.changed[0].arms, ["L0", "L1"]);
        let lines: String = seen.changed[0].lines.iter().map(|(sign, line)| format!("{sign}{line}|")).collect();
        assert_eq!(lines, " e| f|-g|");
    }

    #[test]
    fn what_exceeds_the_room_is_counted() {
        let long = "x".repeat(DEFINITION);
        let shown: Vec<String> = (0..200).map(|i| format!("{i}{long}")).collect();
        let tools = shown.iter().map(|text| texts(&[("L0", Some(text))])).collect();
        let mut sources = super::super::fixture::sources();
        sources.tools = tools;
        let all = definitions(&sources);
        assert_eq!(all.tools.len() as u64 + all.tools_left_out, 200);
        assert!(all.tools_left_out > 100, "{}", all.tools_left_out);
    }
}
