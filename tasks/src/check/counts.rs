//! Enough frames for every tool.

use super::{CheckOptions, Finding, FindingKind};
use crate::{
    catalog::Catalogs,
    error::plural,
    intent::{Frame, Intents},
};

pub(super) fn check(intents: &Intents, catalogs: &Catalogs, options: &CheckOptions, findings: &mut Vec<Finding>) {
    for (catalog, tool) in catalogs.tools() {
        let frames: Vec<&Frame> = intents.of_tool(&catalog.server, &tool.name).collect();
        let dev = frames.iter().filter(|frame| frame.dev).count();
        for (kind, have, need) in
            [("scored", frames.len() - dev, options.scored_frames), ("dev", dev, options.dev_frames)]
        {
            require(&format!("tool {}/{}", catalog.server, tool.name), kind, have, need, findings);
        }
    }
    require(
        "the abstain suite",
        "scored",
        intents.abstain().filter(|frame| !frame.dev).count(),
        options.abstain_frames,
        findings,
    );
}

fn require(what: &str, kind: &str, have: usize, need: usize, findings: &mut Vec<Finding>) {
    if have < need {
        let frames = plural(have, &format!("{kind} frame"), &format!("{kind} frames"));
        let message = format!("{what} has {frames} of {need}; write {} more", need - have);
        findings.push(Finding::error(FindingKind::MissingFrames, &"".into(), None, None, message));
    }
}
