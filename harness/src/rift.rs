//! Rift: which tools a search by meaning is likely to take for one another, before anybody searches.
//!
//! From a published summary of Cartograph: clusters of near tools, the margin by which a tool beats its neighbours on a
//! query made of its own argument names, and the words that tell members apart. None of its thresholds is published: those
//! here are ours, and so is TF-IDF over words where no embedder is given.

use std::collections::{BTreeMap, BTreeSet};

use bench_tasks::{catalog::Catalogs, lexical::tokens};
use serde::Serialize;

use crate::arms::peers::{CardSpace, SignedCard};

/// Ours. Cosine distance up to which two tools are in one cluster (single linkage).
const NEAR: f64 = 0.15;
/// Ours. Margin below which a member makes its cluster a medium risk.
const SLIM: f64 = 0.05;

/// How likely members of a cluster are taken for one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Risk {
    /// Another tool fits a member's own query better.
    High,
    /// Another fits nearly as well.
    Medium,
    /// Neither.
    Low,
}

/// All of them, the worst first.
pub const RISKS: [Risk; 3] = [Risk::High, Risk::Medium, Risk::Low];

impl Risk {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }
}

/// One tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Member {
    /// `server/tool`.
    pub tool: String,
    /// Cosine of its own query with itself, less the highest with any other tool.
    pub margin: f64,
    /// The tool with that highest cosine.
    pub rival: Option<String>,
    /// Words of its card that no other member has.
    pub unique: Vec<String>,
    /// It has none: its card says nothing that tells it apart and is to be written anew.
    pub regenerate: bool,
}

/// Tools near to one another; many hold one tool alone.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cluster {
    /// Its risk: that of its worst member.
    pub risk: Risk,
    /// Words that all members' cards have.
    pub shared: Vec<String>,
    /// Its members, in catalog order.
    pub members: Vec<Member>,
}

/// The whole analysis.
#[derive(Debug, Clone, Serialize)]
pub struct Rift {
    /// What nearness is measured by.
    pub nearness: String,
    /// Tools looked at.
    pub tools: usize,
    /// Clusters by risk, then in catalog order of their first members.
    pub clusters: Vec<Cluster>,
    /// The cards, signed.
    pub cards: Vec<SignedCard>,
}

impl Rift {
    /// Clusters of several tools, in order.
    pub fn several(&self) -> impl Iterator<Item = &Cluster> {
        self.clusters.iter().filter(|cluster| cluster.members.len() > 1)
    }

    /// Tools that are in a cluster with no other, by the risk that they are taken for one all the same.
    pub fn alone(&self) -> impl Iterator<Item = (Risk, &Member)> {
        self.clusters.iter().filter(|cluster| cluster.members.len() == 1).flat_map(|cluster| {
            let risk = cluster.risk;
            cluster.members.iter().map(move |member| (risk, member))
        })
    }
}

/// Looks at the cards of all catalogs; `seed` is the key that signs them. `looked_at` is told of every tool, twice: once
/// its rival was found, and once its cluster was.
///
/// # Errors
/// Where an embedder fails.
pub fn analyse(catalogs: &Catalogs, space: &CardSpace, seed: &[u8; 32], looked_at: &dyn Fn()) -> Result<Rift, String> {
    let names: Vec<String> =
        catalogs.tools().map(|(catalog, tool)| format!("{}/{}", catalog.server, tool.name)).collect();
    let margins = margins(catalogs, space, looked_at)?;
    let near = |a: usize| {
        looked_at();
        // Documents behind the tools are servers.
        space.maybe_near(a, 1.0 - NEAR).into_iter().filter(|&b| b < names.len()).collect()
    };
    let mut clusters: Vec<Cluster> = linked(names.len(), near, |a, b| 1.0 - space.between(a, b) <= NEAR)
        .into_iter()
        .map(|members| {
            let words: Vec<BTreeSet<String>> =
                members.iter().map(|&at| tokens(space.text(at)).into_iter().collect()).collect();
            cluster(&members, &words, &margins, &names)
        })
        .collect();
    // Stable: within a risk, catalog order.
    clusters.sort_by_key(|cluster| cluster.risk);
    Ok(Rift { nearness: space.nearness(), tools: names.len(), clusters, cards: space.signed(seed) })
}

/// By tool: the cosine of its own query with itself, less the highest with any other; and that other tool.
fn margins(catalogs: &Catalogs, space: &CardSpace, looked_at: &dyn Fn()) -> Result<Vec<(f64, Option<usize>)>, String> {
    // Many tools ask by the same words: each query is put once.
    let mut asking: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, (_, tool)) in catalogs.tools().enumerate() {
        asking.entry(query(&tool.name, &tool.input_schema)).or_default().push(at);
    }
    let tools = catalogs.tool_count();
    let mut margins = vec![(0.0, None); tools];
    for (query, asking) in asking {
        let cosines = space.cosine(&query)?;
        // The nearest two, the first of equal ones: whoever is the nearest itself has the second for a rival.
        let mut nearest: [Option<usize>; 2] = [None; 2];
        for at in 0..tools {
            let beats = |other: Option<usize>| other.is_none_or(|other| cosines[at].total_cmp(&cosines[other]).is_gt());
            if beats(nearest[0]) {
                nearest = [Some(at), nearest[0]];
            } else if beats(nearest[1]) {
                nearest[1] = Some(at);
            }
        }
        for at in asking {
            let rival = nearest.into_iter().flatten().find(|&other| other != at);
            margins[at] = (cosines[at] - rival.map_or(0.0, |rival| cosines[rival]), rival);
            looked_at();
        }
    }
    Ok(margins)
}

/// A query that only the tool's arguments make: their names, or the tool's own where it takes none or they hold no word.
fn query(name: &str, schema: &serde_json::Value) -> String {
    let arguments: Vec<&str> = schema
        .get("properties")
        .and_then(serde_json::Value::as_object)
        .into_iter()
        .flat_map(serde_json::Map::keys)
        .map(String::as_str)
        .collect();
    let query = arguments.join(" ");
    if tokens(&query).is_empty() { name.to_owned() } else { query }
}

fn cluster(
    members: &[usize],
    words: &[BTreeSet<String>],
    margins: &[(f64, Option<usize>)],
    names: &[String],
) -> Cluster {
    let mut having: BTreeMap<&String, usize> = BTreeMap::new();
    for word in words.iter().flatten() {
        *having.entry(word).or_default() += 1;
    }
    let in_all = having.iter().filter(|(_, members)| **members == words.len());
    let shared: Vec<String> = in_all.map(|(word, _)| (*word).clone()).collect();
    let member = |(place, &at): (usize, &usize)| {
        let unique: Vec<String> = words[place].iter().filter(|word| having[word] == 1).cloned().collect();
        let (margin, rival) = margins[at];
        Member {
            tool: names[at].clone(),
            margin,
            rival: rival.map(|rival| names[rival].clone()),
            regenerate: unique.is_empty(),
            unique,
        }
    };
    let members: Vec<Member> = members.iter().enumerate().map(member).collect();
    let least = members.iter().map(|member| member.margin).fold(f64::INFINITY, f64::min);
    let risk = if least < 0.0 {
        Risk::High
    } else if least < SLIM {
        Risk::Medium
    } else {
        Risk::Low
    };
    Cluster { risk, shared, members }
}

/// Groups what is linked, directly or through others; groups and members in rising order. `near` gives whom one may be
/// linked with: all others, or fewer.
fn linked(
    count: usize,
    near: impl Fn(usize) -> Vec<usize>,
    is_linked: impl Fn(usize, usize) -> bool,
) -> Vec<Vec<usize>> {
    // A forest whose roots are the first members (Galler and Fischer 1964).
    let mut above: Vec<usize> = (0..count).collect();
    let root = |above: &mut [usize], mut at: usize| {
        while above[at] != at {
            above[at] = above[above[at]];
            at = above[at];
        }
        at
    };
    for a in 0..count {
        for b in near(a) {
            let roots = (root(&mut above, a), root(&mut above, b));
            if roots.0 != roots.1 && is_linked(a, b) {
                above[roots.0.max(roots.1)] = roots.0.min(roots.1);
            }
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in 0..count {
        groups.entry(root(&mut above, at)).or_default().push(at);
    }
    groups.into_values().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::arms::fixtures::catalogs_of;

    #[test]
    fn links_chain() {
        let links = [(0, 3), (3, 4), (1, 2)];
        let groups = linked(6, |_| (0..6).collect(), |a, b| links.contains(&(a, b)));
        assert_eq!(groups, [vec![0, 3, 4], vec![1, 2], vec![5]]);
    }

    #[test]
    fn twins_are_a_high_or_medium_risk_and_are_told_what_sets_them_apart() {
        let takes = |names: &[&str]| json!({"type": "object", "properties": names.iter().map(|name| ((*name).to_owned(), json!({}))).collect::<serde_json::Map<_, _>>(), "required": names});
        let tools = json!([
            {"name": "read_file", "inputSchema": takes(&["path"])},
            {"name": "file_read", "inputSchema": takes(&["path"])},
            {"name": "convert_time", "inputSchema": takes(&["timezone"])},
        ]);
        let catalogs = catalogs_of(&[("s", tools)]);
        let rift = analyse(&catalogs, &CardSpace::words(&catalogs), &[1; 32], &|| {}).unwrap();
        assert_eq!(rift.clusters.len(), 2);
        let twins = &rift.clusters[0];
        assert_eq!((twins.members.len(), twins.risk), (2, Risk::Medium), "{twins:?}");
        assert!(twins.members.iter().all(|member| member.regenerate && member.margin.abs() < 1e-9));
        let alone = &rift.clusters[1];
        assert_eq!((alone.members[0].tool.as_str(), alone.risk), ("s/convert_time", Risk::Low), "{alone:?}");
        assert!(rift.cards.iter().all(|card| card.verify().is_ok()));
    }

    #[test]
    fn of_the_reference_servers() {
        let catalogs = Catalogs::vendored().unwrap();
        let rift = analyse(&catalogs, &CardSpace::words(&catalogs), &[1; 32], &|| {}).unwrap();
        let alone = RISKS.map(|risk| rift.alone().filter(|(own, _)| *own == risk).count());
        let several: Vec<(Risk, Vec<&str>)> = rift
            .several()
            .map(|cluster| (cluster.risk, cluster.members.iter().map(|member| member.tool.as_str()).collect()))
            .collect();
        assert_eq!(alone.iter().sum::<usize>() + several.iter().map(|(_, tools)| tools.len()).sum::<usize>(), 78);
        insta::assert_debug_snapshot!((alone, several));
    }

    #[test]
    fn arguments_that_hold_no_word_leave_the_name_to_ask_by() {
        let takes = |names: &[&str]| json!({ "properties": names.iter().map(|name| ((*name).to_owned(), json!({}))).collect::<serde_json::Map<_, _>>() });
        assert_eq!(query("get-sum", &takes(&["a", "b"])), "get-sum");
        assert_eq!(query("get-sum", &takes(&[])), "get-sum");
        assert_eq!(query("get-sum", &takes(&["a", "unit"])), "a unit");
    }
}
