use std::collections::BTreeMap;

use super::*;
use crate::{
    catalog::Catalogs,
    generate::{FrameSet, Plan},
    intent::Intents,
};

fn generator() -> Generator {
    let plan = Plan {
        tool_tasks: 468,
        abstain_tasks: 0,
        frames_per_tool: 6,
        abstain_frames: 0,
        frames: FrameSet::Scored,
        allow_incomplete: true,
    };
    Generator::new(&Intents::embedded(), &Catalogs::vendored().unwrap(), [1; 32], plan).unwrap()
}

fn sessions(generator: &Generator, seed: u8) -> Sessions<'_> {
    Sessions::new(generator, [seed; 32], SessionPlan::default()).unwrap()
}

fn tools(session: &Session) -> Vec<String> {
    session.steps.iter().map(|step| step.task.frame.rsplit_once('/').unwrap().0.to_owned()).collect()
}

#[test]
fn a_session_is_the_same_whichever_was_made_before_and_the_seed_decides() {
    let generator = generator();
    let (a, b) = (sessions(&generator, 1), sessions(&generator, 1));
    b.session(7);
    assert_eq!(tools(&a.session(30)), tools(&b.session(30)));
    assert_ne!(tools(&a.session(30)), tools(&sessions(&generator, 2).session(30)));
}

#[test]
fn every_session_has_its_length_and_says_nothing_twice() {
    let generator = generator();
    let sessions = sessions(&generator, 1);
    for index in 0..60 {
        let session = sessions.session(index);
        assert_eq!((session.steps.len(), session.user), (20, index % 25));
        let mut said: Vec<&str> = session.steps.iter().map(|step| step.task.utterance.as_str()).collect();
        said.sort_unstable();
        said.dedup();
        assert_eq!(said.len(), 20);
        assert!((0..20).all(|step| session.gold(step).is_some()));
    }
}

#[test]
fn tools_come_back_within_a_session_and_users_differ() {
    let generator = generator();
    let sessions = sessions(&generator, 1);
    let (mut repeated, mut continued) = (0, 0);
    let mut of_user: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for index in 0..100 {
        let session = sessions.session(index);
        let all = tools(&session);
        repeated += (1..20).filter(|&at| all[..at].contains(&all[at])).count();
        continued += session.steps.iter().filter(|step| step.continues).count();
        of_user.entry(session.user).or_default().extend(all);
    }
    // Of 2,000 requests; uniform choice over 78 tools would repeat about a tenth.
    assert!(repeated > 600, "{repeated}");
    assert!((400..1_600).contains(&continued), "{continued}");
    let favourite = |tools: &[String]| {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        tools.iter().for_each(|tool| *counts.entry(tool).or_default() += 1);
        counts.into_iter().max_by_key(|(_, count)| *count).map(|(tool, _)| tool.to_owned())
    };
    let favourites: std::collections::BTreeSet<_> = of_user.values().map(|tools| favourite(tools)).collect();
    assert!(favourites.len() > 10, "{favourites:?}");
}
