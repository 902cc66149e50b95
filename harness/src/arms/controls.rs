//! Controls: arms whose outcome is known beforehand, so that a run which does not find it is not believed.

use std::{collections::BTreeMap, sync::Arc};

use bench_protocol::{
    controls::{NAMES_ONLY, PLANTED_LOSS},
    digest::Digest,
};
use serde_json::json;

use super::{
    Arm, ArmError, ArmInfo, ArmSession, CallOutcome, Scope, ToolCall, Waiver,
    block::Block,
    definitions::{Definitions, shown},
    level::{LevelArm, LevelSession},
    materials::Materials,
    names::Place,
    raw,
};
use crate::surface::Surface;

/// Parts per million.
const MILLION: u64 = 1_000_000;
/// What the model reads where planted-loss rejects its call.
const REJECTION: &str = "error: the call was not carried out";

pub(super) fn names_only_info() -> ArmInfo {
    ArmInfo::direct(NAMES_ONLY, "control: no descriptions and no schemas; must show damage", &[])
}

/// names-only.
pub(super) fn build_names_only(info: ArmInfo, materials: &Materials) -> Result<Arc<dyn Arm>, ArmError> {
    let definitions = materials.definitions();
    Ok(Arc::new(LevelArm::direct(info, Arc::clone(definitions), names_only_blocks(definitions)?)))
}

/// Every server's tools without description and schema.
fn names_only_blocks(definitions: &Definitions) -> Result<Vec<Block>, ArmError> {
    let schema = json!({ "type": "object" });
    let block = |server: usize| {
        let tools = 0..definitions.servers[server].tools.len();
        let shown = tools.map(|tool| shown(definitions.names.tool(Place { server, tool }), None, &schema));
        Ok(Block::direct(shown.collect::<Result<_, _>>()?))
    };
    (0..definitions.servers.len()).map(block).collect()
}

pub(super) fn planted_loss_info() -> ArmInfo {
    ArmInfo::direct(
        PLANTED_LOSS,
        "control: raw, every upstream call rejected in a known share of sessions; must not be certified",
        &[Waiver::LargerThanL0, Waiver::Rejects],
    )
}

/// planted-loss.
#[expect(clippy::unnecessary_wraps, reason = "every arm is built by a function of this type")]
pub(super) fn build_planted_loss(info: ArmInfo, materials: &Materials) -> Result<Arc<dyn Arm>, ArmError> {
    let context = materials.context();
    Ok(Arc::new(PlantedLoss::new(info, Arc::clone(materials.definitions()), context.seed, context.planted_loss_ppm)))
}

/// Raw's surface; in a share of the sessions every upstream call is rejected.
struct PlantedLoss {
    base: LevelArm,
    seed: [u8; 32],
    ppm: u32,
}

impl PlantedLoss {
    /// The control with this seed and share, in parts per million.
    fn new(info: ArmInfo, definitions: Arc<Definitions>, seed: [u8; 32], ppm: u32) -> Self {
        let blocks = raw::blocks(&definitions);
        Self { base: LevelArm::direct(info, definitions, blocks), seed, ppm }
    }
}

impl Arm for PlantedLoss {
    fn info(&self) -> &ArmInfo {
        self.base.info()
    }

    fn open(&self, scope: Scope<'_>) -> Result<Box<dyn ArmSession>, ArmError> {
        let base = self.base.session(scope)?;
        Ok(Box::new(PlantedSession { base, seed: self.seed, ppm: self.ppm, rejects: None }))
    }

    fn fallbacks(&self) -> BTreeMap<String, String> {
        self.base.fallbacks()
    }
}

struct PlantedSession {
    base: LevelSession,
    seed: [u8; 32],
    ppm: u32,
    /// Set by the first upstream call.
    rejects: Option<bool>,
}

impl ArmSession for PlantedSession {
    fn surface(&self) -> &Arc<Surface> {
        self.base.surface()
    }

    fn informs(&self, name: &str) -> bool {
        self.base.informs(name)
    }

    fn call(&mut self, call: &ToolCall) -> CallOutcome {
        let outcome = self.base.call(call);
        if !matches!(outcome, CallOutcome::Upstream { .. }) {
            return outcome;
        }
        if *self.rejects.get_or_insert_with(|| is_hit(&self.seed, self.ppm, call)) {
            return CallOutcome::Rejected { reply: REJECTION.to_owned() };
        }
        outcome
    }
}

/// True for the share `ppm` of first calls. A hash of the call and not a draw: the same answer of a model meets the same
/// fate in any order, on any thread, and again when the record is verified.
fn is_hit(seed: &[u8; 32], ppm: u32, call: &ToolCall) -> bool {
    let arguments = serde_json::Value::Object(call.arguments.clone()).to_string();
    let digest = Digest::of_parts([seed.as_slice(), call.name.as_bytes(), &[0], arguments.as_bytes()]);
    let head = digest.hex()[..16]
        .bytes()
        .fold(0_u64, |head, digit| (head << 4) | u64::from(char::from(digit).to_digit(16).unwrap_or_default()));
    ((u128::from(head) * u128::from(MILLION)) >> 64) < u128::from(ppm)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arms::fixtures::{call, context};

    fn first_calls_rejected(ppm: u32) -> usize {
        let mut context = context();
        context.planted_loss_ppm = ppm;
        let definitions = Arc::new(Definitions::new(&context.catalogs).unwrap());
        let arm = PlantedLoss::new(planted_loss_info(), definitions, context.seed, ppm);
        (0..20_000)
            .filter(|n| {
                let mut session = arm.open(Scope::Catalogs).unwrap();
                matches!(session.call(&call("git__git_log", json!({ "n": n }))), CallOutcome::Rejected { .. })
            })
            .count()
    }

    #[test]
    fn the_planted_share_of_sessions_is_lost() {
        assert_eq!(first_calls_rejected(0), 0);
        assert_eq!(first_calls_rejected(1_000_000), 20_000);
        // Six standard deviations of a binomial(20,000, 0.06) are 202.
        assert!((998..=1_402).contains(&first_calls_rejected(60_000)), "{}", first_calls_rejected(60_000));
    }

    #[test]
    fn the_first_upstream_call_decides_for_the_whole_session() {
        let context = context();
        let definitions = Arc::new(Definitions::new(&context.catalogs).unwrap());
        let arm = PlantedLoss::new(planted_loss_info(), definitions, context.seed, 500_000);
        let is_rejected = |session: &mut Box<dyn ArmSession>, n: u32| {
            matches!(session.call(&call("git__git_log", json!({ "n": n }))), CallOutcome::Rejected { .. })
        };
        for n in 0..50 {
            let mut session = arm.open(Scope::Catalogs).unwrap();
            session.call(&call("no_such_tool", json!({})));
            let first = is_rejected(&mut session, n);
            assert!((100..120).all(|later| is_rejected(&mut session, later) == first));
            assert_eq!(is_rejected(&mut arm.open(Scope::Catalogs).unwrap(), n), first);
        }
    }

    #[test]
    fn names_only_shows_nothing_but_names() {
        let definitions = Definitions::new(&context().catalogs).unwrap();
        for block in names_only_blocks(&definitions).unwrap() {
            for tool in block.shown {
                assert_eq!(
                    tool.json(),
                    format!("{{\"name\":\"{}\",\"input_schema\":{{\"type\":\"object\"}}}}", tool.name())
                );
            }
        }
    }
}
