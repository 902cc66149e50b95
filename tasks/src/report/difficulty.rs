//! How hard the frames are for word overlap alone.
//!
//! Every scored frame with a gold is asked once, its slots filled with the first entries of their shares; the tools of
//! all catalogs are ranked by BM25 (Robertson and Walker, 1994) over name and description, as `raw` shows them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    catalog::Catalogs,
    intent::{Frame, Intents},
    lexical::{Index, rank, tokens, tool_tokens},
    slots::Row,
    task::Stratum,
};

/// Where the right tool stands in the ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Ranks {
    /// Frames asked.
    pub frames: usize,
    /// Frames whose right tool is ranked first; ties go to the earlier tool.
    pub first: usize,
    /// Frames whose right tool is among the first five.
    pub first_five: usize,
}

impl Ranks {
    /// Share of frames whose right tool is ranked first, 0 to 1; 0 without frames.
    pub fn first_share(&self) -> f64 {
        self.first as f64 / self.frames.max(1) as f64
    }

    /// Share of frames whose right tool is among the first five, 0 to 1; 0 without frames.
    pub fn first_five_share(&self) -> f64 {
        self.first_five as f64 / self.frames.max(1) as f64
    }
}

/// A tool that is ranked first in place of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Confusion {
    /// The intent's tool, `server/tool`.
    pub asked: String,
    /// The tool ranked first.
    pub picked: String,
    /// Frames.
    pub frames: usize,
}

/// Difficulty under word overlap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difficulty {
    /// All frames.
    pub all: Ranks,
    /// By stratum.
    pub strata: BTreeMap<Stratum, Ranks>,
    /// Wrong first picks, the most frequent first, then by name.
    pub confusions: Vec<Confusion>,
}

/// Ranks the tools for every scored frame.
pub fn difficulty(intents: &Intents, catalogs: &Catalogs) -> Difficulty {
    let tools: Vec<(&str, &str)> = catalogs.tools().map(|(catalog, tool)| (&*catalog.server, &*tool.name)).collect();
    let index = Index::new(catalogs.tools().map(|(_, tool)| tool_tokens(&tool.name, tool.description.as_deref())));
    let mut strata: BTreeMap<Stratum, Ranks> = BTreeMap::new();
    let mut all = Ranks::default();
    let mut confusions: BTreeMap<(String, String), usize> = BTreeMap::new();
    for frame in intents.frames().iter().filter(|frame| !frame.dev && !frame.gold.is_empty()) {
        let order = rank(&index.bm25(&tokens(&utterance(frame))));
        let right = |at: &usize| frame.gold.iter().any(|gold| tools[*at] == (&*gold.server, &*gold.tool));
        let Some(place) = order.iter().position(right) else { continue };
        for ranks in [&mut all, strata.entry(frame.stratum).or_default()] {
            ranks.frames += 1;
            ranks.first += usize::from(place == 0);
            ranks.first_five += usize::from(place < 5);
        }
        if let (Some(&first), Some(server), Some(tool), 1..) = (order.first(), &frame.server, &frame.tool, place) {
            let (other_server, other_tool) = tools[first];
            *confusions.entry((format!("{server}/{tool}"), format!("{other_server}/{other_tool}"))).or_default() += 1;
        }
    }
    let mut confusions: Vec<Confusion> =
        confusions.into_iter().map(|((asked, picked), frames)| Confusion { asked, picked, frames }).collect();
    // Stable, so equally frequent ones stay in name order.
    confusions.sort_by_key(|confusion| std::cmp::Reverse(confusion.frames));
    Difficulty { all, strata, confusions }
}

fn utterance(frame: &Frame) -> String {
    let rows: Vec<Row<'_>> = frame.slots.iter().map(|slot| slot.pool.get(slot.share.index(0))).collect();
    frame.text.fill(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intent::IntentFile;

    #[test]
    fn ranks_and_wrong_picks_are_counted() {
        let text = r#"
server = "git"
writer = "w"
[[intent]]
tool = "git_log"
[[intent.frame]]
id = "said"
stratum = "plain"
voice = "terse"
text = "shows the commit logs, git log"
gold = { repo_path = "/r" }
[[intent.frame]]
id = "misled"
stratum = "paraphrase"
voice = "terse"
text = "create branch"
gold = { repo_path = "/r" }
[[intent.frame]]
id = "dev"
stratum = "plain"
voice = "terse"
text = "create branch"
gold = { repo_path = "/r" }
dev = true
"#;
        let intents = Intents::from_files(vec![IntentFile { name: "git.toml".into(), text: text.into() }]);
        let found = difficulty(&intents, &Catalogs::vendored().unwrap());
        assert_eq!((found.all.frames, found.all.first), (2, 1));
        assert_eq!(found.strata[&Stratum::Plain], Ranks { frames: 1, first: 1, first_five: 1 });
        assert_eq!(found.strata[&Stratum::Paraphrase].first, 0);
        assert_eq!(found.confusions.len(), 1);
        assert_eq!((found.confusions[0].asked.as_str(), found.confusions[0].frames), ("git/git_log", 1));
        assert!(found.confusions[0].picked.contains("create"), "{:?}", found.confusions);
    }
}
