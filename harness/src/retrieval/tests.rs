use bench_tasks::{
    generate::{FrameSet, Generator, Plan},
    intent::Intents,
};

use super::*;
use crate::arms::{fixtures::context, registry::Registry};

fn tasks(catalogs: &Catalogs) -> Vec<Task> {
    let plan = Plan {
        tool_tasks: 156,
        abstain_tasks: 5,
        frames_per_tool: 2,
        abstain_frames: 5,
        frames: FrameSet::Scored,
        allow_incomplete: true,
    };
    Generator::new(&Intents::embedded(), catalogs, [3; 32], plan).unwrap().iter().collect()
}

#[test]
fn figures_of_every_searching_arm() {
    let context = context();
    let registry = Registry::new(&context).unwrap();
    let requests = Requests::new(tasks(&context.catalogs), &context.catalogs);
    assert_eq!(requests.len(), 156, "abstain tasks have nothing to find");
    let mut rows = Vec::new();
    for info in crate::arms::registry::all() {
        let arm = registry.build(&info.id.0).unwrap();
        let Some(found) = measure(arm.as_ref(), &requests).unwrap() else { continue };
        assert_eq!(found.misses.values().map(|(asked, _)| asked).sum::<u64>(), 156);
        let Metrics { r1, r5, found: all, mrr, ndcg, .. } = found.equal;
        assert!(r1 <= mrr && mrr <= ndcg && ndcg <= r5 && (all - r5).abs() < 1e-12, "{found:?}");
        assert!(found.own_k < EQUAL_K || found.own.found >= all, "{found:?}");
        rows.push(format!(
            "{:26} {r1:.3} {r5:.3} {mrr:.3} {ndcg:.3}  {:2} {:.3}",
            found.arm, found.own_k, found.own.found
        ));
    }
    assert!(rows.len() >= 14, "{}", rows.len());
    insta::assert_snapshot!(rows.join("\n"));
}

#[test]
fn stuffed_descriptions_win_somewhere_and_take_nothing_from_who_does_not_read_them() {
    let clean = context();
    let stuffed = adversary::stuffed(&clean).unwrap();
    let (before, after) = (Registry::new(&clean).unwrap(), Registry::new(&stuffed).unwrap());
    let of = |catalogs: &Catalogs| Requests::new(tasks(&clean.catalogs), catalogs);
    let (clean_requests, stuffed_requests) = (of(&clean.catalogs), of(&stuffed.catalogs));
    let row = |id: &str| {
        let (a, b) = (before.build(id).unwrap(), after.build(id).unwrap());
        let clean = (a.as_ref(), &clean_requests);
        adversary::measure(clean, (b.as_ref(), &stuffed_requests), &stuffed.catalogs).unwrap().unwrap()
    };
    let words = row("toolsearch-bm25-reimpl");
    assert!(words.surfaced > 0.2 && words.r5_stuffed <= words.r5_clean, "{words:?}");
    // Cards hold no word of the publisher's prose.
    let cards = row("cartograph-lex-reimpl");
    assert!(cards.surfaced < words.surfaced, "{cards:?} {words:?}");
}
