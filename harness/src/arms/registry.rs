//! The built-in arms by name.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    Arm, ArmContext, ArmError, ArmId, ArmInfo, Waiver,
    controls::{self, PlantedLoss},
    definitions::Definitions,
    digest::{self, DigestArm},
    embed::Embedder,
    lazy,
    level::LevelArm,
    lossless,
    peers::{self, Materials},
    raw, summary,
};

/// The built-in arms; any number of them share one set of definitions.
pub struct Registry {
    context: ArmContext,
    definitions: Arc<Definitions>,
    materials: Materials,
}

/// What there is to build.
#[derive(Clone, Copy)]
enum Kind {
    Raw,
    Lossless,
    Summary,
    Lazy { pinned: bool },
    PlantedLoss,
    NamesOnly,
    Digest { expands: bool },
    Stacked { pinned: bool },
    Peer(peers::Build),
}

/// What R and its repetition waive: their list is raw's, and one tool more per server.
const R_WAIVERS: &[Waiver] = &[Waiver::LargerThanL0];

fn built_in() -> Vec<(ArmInfo, Kind)> {
    let r = |id, summary| digest::info(id, summary, R_WAIVERS);
    let own = vec![
        (raw::info("raw", "the captured definitions, unchanged: the reference"), Kind::Raw),
        (lossless::info(), Kind::Lossless),
        (summary::info(), Kind::Summary),
        (lazy::info(false), Kind::Lazy { pinned: false }),
        (lazy::info(true), Kind::Lazy { pinned: true }),
        (raw::info("raw-again", "control: raw a second time, the model's own flip rate"), Kind::Raw),
        (controls::planted_loss_info(), Kind::PlantedLoss),
        (controls::names_only_info(), Kind::NamesOnly),
        (raw::info("results-raw", "undigested results: the reference of R"), Kind::Raw),
        (r("R", "long text results as digests, the original on request"), Kind::Digest { expands: true }),
        (r("R-again", "control: R a second time"), Kind::Digest { expands: true }),
        (r("R-no-expand", "control: R without its way back; must not be certified"), Kind::Digest { expands: false }),
        (stacked("L2+R", &lazy::info(false)), Kind::Stacked { pinned: false }),
        (stacked("L3+R", &lazy::info(true)), Kind::Stacked { pinned: true }),
    ];
    own.into_iter().chain(peers::all().into_iter().map(|(info, build)| (info, Kind::Peer(build)))).collect()
}

/// R on top of a level.
fn stacked(id: &str, level: &ArmInfo) -> ArmInfo {
    ArmInfo {
        id: ArmId(id.to_owned()),
        summary: "R on top of the level: lazy definitions and digested results",
        waivers: &[Waiver::LargerThanL0, Waiver::Order],
        ..level.clone()
    }
}

/// What every built-in arm says of itself, in the order in which they are printed.
pub fn all() -> Vec<ArmInfo> {
    built_in().into_iter().map(|(info, _)| info).collect()
}

/// What every arm says of itself that needs an embedder; [`Registry::with_embedder`] can build them too.
pub fn embedded() -> Vec<ArmInfo> {
    peers::embedded().into_iter().map(|(info, _)| info).collect()
}

/// Builds one arm. Several are built faster through one [`Registry`].
pub fn build(id: &str, context: &ArmContext) -> Result<Arc<dyn Arm>, ArmError> {
    Registry::new(context)?.build(id)
}

impl Registry {
    /// Builds what the arms share.
    pub fn new(context: &ArmContext) -> Result<Self, ArmError> {
        let definitions = Arc::new(Definitions::new(&context.catalogs)?);
        let materials = Materials::new(Arc::clone(&definitions), context.clone());
        Ok(Self { context: context.clone(), definitions, materials })
    }

    /// The same with an embedder, for the arms that need one.
    #[must_use]
    pub fn with_embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.materials.set_embedder(embedder);
        self
    }

    /// What every arm says of itself that can be built here, in the order in which they are printed.
    pub fn known(&self) -> Vec<ArmInfo> {
        let more = if self.materials.has_embedder() { embedded() } else { Vec::new() };
        all().into_iter().chain(more).map(|info| self.materials.standing(info)).collect()
    }

    /// What tools are searched by, apart from any arm.
    pub fn materials(&self) -> &Materials {
        &self.materials
    }

    /// What the arms are built from.
    pub fn definitions(&self) -> &Arc<Definitions> {
        &self.definitions
    }

    /// Builds the arm of this name.
    pub fn build(&self, id: &str) -> Result<Arc<dyn Arm>, ArmError> {
        let embedded = peers::embedded().into_iter().map(|(info, build)| (info, Kind::Peer(build)));
        let (info, kind) = built_in()
            .into_iter()
            .chain(embedded)
            .find(|(info, _)| info.id.0 == id)
            .ok_or_else(|| ArmError::Unknown { id: id.to_owned() })?;
        let info = self.materials.standing(info);
        let definitions = Arc::clone(&self.definitions);
        let level = |info, (blocks, fallbacks): (_, BTreeMap<_, _>)| -> Arc<dyn Arm> {
            Arc::new(LevelArm::new(info, Arc::clone(&self.definitions), blocks, fallbacks))
        };
        Ok(match kind {
            Kind::Raw => Arc::new(LevelArm::direct(info, definitions, raw::blocks(&self.definitions))),
            Kind::Lossless => Arc::new(LevelArm::direct(info, definitions, lossless::blocks(&self.definitions))),
            Kind::NamesOnly => {
                let blocks = controls::names_only_blocks(&self.definitions)?;
                Arc::new(LevelArm::direct(info, definitions, blocks))
            }
            Kind::Summary => level(info, summary::blocks(&self.definitions)?),
            Kind::Lazy { pinned: false } => level(info, lazy::blocks(&self.definitions)?),
            Kind::Lazy { pinned: true } => level(info, lazy::pinned_blocks(&self.definitions, &self.context)?),
            Kind::PlantedLoss => {
                Arc::new(PlantedLoss::new(definitions, self.context.seed, self.context.planted_loss_ppm))
            }
            Kind::Digest { expands } => Arc::new(DigestArm::new(info, definitions, expands)?),
            Kind::Stacked { pinned } => {
                let blocks = if pinned {
                    lazy::pinned_blocks(&self.definitions, &self.context)?
                } else {
                    lazy::blocks(&self.definitions)?
                };
                Arc::new(DigestArm::over(info, definitions, blocks)?)
            }
            Kind::Peer(build) => build(info, &self.materials)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        arms::{Tasks, fixtures::context},
        helper::HelperError,
    };

    struct Named(&'static str);

    impl Embedder for Named {
        fn model(&self) -> &str {
            self.0
        }

        fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, HelperError> {
            Ok(vec![vec![1.0]; texts.len()])
        }
    }

    #[test]
    fn an_arm_that_names_its_embedding_model_is_ranked_with_that_one_only() {
        let ranked = |model: &'static str| -> Vec<String> {
            let registry = Registry::new(&context()).unwrap().with_embedder(Arc::new(Named(model)));
            let embedded = embedded().into_iter().map(|info| info.id.0);
            let built = embedded.map(|id| registry.build(&id).unwrap().info().clone());
            built.filter(|info| info.ranks(Tasks::Single)).map(|info| info.id.0).collect()
        };
        assert_eq!(ranked("sentence-transformers/all-MiniLM-L6-v2"), ["cartograph-emb-reimpl", "speakeasy-emb-reimpl"]);
        assert_eq!(ranked("BAAI/bge-small-en-v1.5"), ["speakeasy-emb-reimpl", "stacklok-emb-reimpl"]);
        assert_eq!(ranked("mine"), ["speakeasy-emb-reimpl"]);
        assert!(embedded().iter().all(|info| !info.ranked), "without an embedder there is nothing to rank");
        let cartograph = |model| {
            let registry = Registry::new(&context()).unwrap().with_embedder(Arc::new(Named(model)));
            registry.build("cartograph-emb-reimpl").unwrap().info().objections(Tasks::Single)
        };
        assert_eq!(cartograph("all-minilm-l6-v2"), [""; 0]);
        assert_eq!(cartograph("mine"), ["run with another embedding model than its own"]);
    }
}
