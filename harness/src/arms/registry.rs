//! The built-in arms by name.

use std::sync::Arc;

use bench_protocol::controls::{R_AGAIN, R_NO_EXPAND, RAW_AGAIN};

use super::{
    Arm, ArmContext, ArmError, ArmInfo, controls,
    definitions::Definitions,
    digest,
    embed::Embedder,
    lazy, lossless,
    materials::{Build, Materials},
    peers, raw, summary,
};

/// The built-in arms; any number of them share one set of definitions.
pub struct Registry {
    materials: Materials,
}

/// Every arm that needs no embedder, in the order in which they are printed.
fn built_in() -> Vec<(ArmInfo, Build)> {
    let mut arms: Vec<(ArmInfo, Build)> = vec![
        (raw::info("raw", "the captured definitions, unchanged: the reference"), raw::build),
        (lossless::info(), lossless::build),
        (summary::info(), summary::build),
        (lazy::info(false), lazy::build),
        (lazy::info(true), lazy::build_pinned),
        (raw::info(RAW_AGAIN, "control: raw a second time, the model's own flip rate"), raw::build),
        (controls::planted_loss_info(), controls::build_planted_loss),
        (controls::names_only_info(), controls::build_names_only),
        (raw::info("results-raw", "undigested results: the reference of R"), raw::build),
        (digest::info("R", "long text results as digests, the original on request"), digest::build),
        (digest::info(R_AGAIN, "control: R a second time"), digest::build),
        (
            digest::info(R_NO_EXPAND, "control: R without its way back; must not be certified"),
            digest::build_without_expand,
        ),
        (digest::info_over("L2+R", &lazy::info(false)), digest::build_over_lazy),
        (digest::info_over("L3+R", &lazy::info(true)), digest::build_over_pinned),
    ];
    arms.extend(peers::all());
    arms
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
        Ok(Self { materials: Materials::new(definitions, context.clone()) })
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
        self.materials.definitions()
    }

    /// Builds the arm of this name.
    pub fn build(&self, id: &str) -> Result<Arc<dyn Arm>, ArmError> {
        let (info, build) = built_in()
            .into_iter()
            .chain(peers::embedded())
            .find(|(info, _)| info.id.0 == id)
            .ok_or_else(|| ArmError::Unknown { id: id.to_owned() })?;
        build(self.materials.standing(info), &self.materials)
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
