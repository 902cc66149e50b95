//! Sizes of what a model is shown: tools, bytes and o200k tokens.
//!
//! Tokens are those of `o200k_base`, summed over the compact `{"name", "description"?, "input_schema"}` objects. No
//! provider counts exactly this, so sizes compare surfaces with one another and are no statement about a bill.

use serde::Serialize;

use crate::{
    arms::{Arm, ArmError, Scope, definitions::Definitions, names::Named},
    surface::ShownTool,
};

/// Size of a list of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Size {
    /// Tools, meta tools included.
    pub tools: usize,
    /// Bytes of the compact objects.
    pub bytes: usize,
    /// o200k tokens of the compact objects.
    pub tokens: usize,
}

impl Size {
    fn add(&mut self, tool: &ShownTool) {
        self.tools += 1;
        self.bytes += tool.json().len();
        self.tokens += tool.tokens();
    }
}

/// Sizes of an arm's surface at the start of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArmSizes {
    /// The arm.
    pub arm: String,
    /// By catalog, in catalog order.
    pub servers: Vec<(String, Size)>,
    /// Tools that belong to no single server.
    pub shared: Size,
    /// All of it.
    pub total: Size,
}

impl ArmSizes {
    /// Measures an arm.
    pub fn of(arm: &dyn Arm, definitions: &Definitions) -> Result<Self, ArmError> {
        let session = arm.open(Scope::Catalogs)?;
        let servers = definitions.servers.iter().map(|server| (server.name.to_string(), Size::default())).collect();
        let mut sizes = Self { arm: arm.info().id.0.clone(), servers, shared: Size::default(), total: Size::default() };
        for tool in session.surface().tools() {
            match definitions.names.get(tool.name()) {
                Some(Named::Tool(place)) => sizes.servers[place.server].1.add(tool),
                Some(Named::Meta(server, _)) => sizes.servers[server].1.add(tool),
                None => sizes.shared.add(tool),
            }
            sizes.total.add(tool);
        }
        Ok(sizes)
    }
}

/// What `tokens` saves against `reference`, in parts per million of it; negative where it is larger, 0 for an empty
/// reference. Rounded toward zero.
pub fn saving_ppm(tokens: usize, reference: usize) -> i64 {
    if reference == 0 {
        return 0;
    }
    let (tokens, reference) = (tokens as i128, reference as i128);
    i64::try_from((reference - tokens) * 1_000_000 / reference).unwrap_or(i64::MIN)
}

#[cfg(test)]
mod tests {
    use bench_tasks::catalog::{Catalog, Catalogs};

    use super::*;
    use crate::arms::{fixtures::context, registry::Registry};

    /// Tokens of a catalog's captured definitions under their bare upstream names: the figure that provenance states, to
    /// compare with other publications. Arms show `server__tool`, which takes a little more.
    fn bare_tokens(catalog: &Catalog) -> usize {
        let bare = catalog.tools.iter().map(|tool| {
            ShownTool::new(tool.name.to_string(), tool.description.clone(), &tool.input_schema).unwrap().tokens()
        });
        bare.sum()
    }

    #[test]
    fn the_published_size_of_the_reference_catalogs_is_reproduced() {
        let catalogs = Catalogs::vendored().unwrap();
        assert_eq!(catalogs.catalogs.iter().map(bare_tokens).sum::<usize>(), 9_688);
    }

    #[test]
    fn a_saving_is_a_share_of_the_reference() {
        assert_eq!(saving_ppm(75, 100), 250_000);
        assert_eq!(saving_ppm(150, 100), -500_000);
        assert_eq!(saving_ppm(5, 0), 0);
    }

    #[test]
    fn sizes_of_every_kind_of_surface() {
        let registry = Registry::new(&context()).unwrap();
        let mut lines = Vec::new();
        let mut raw = 0;
        for info in crate::arms::registry::all() {
            let arm = registry.build(&info.id.0).unwrap();
            let sizes = ArmSizes::of(arm.as_ref(), registry.definitions()).unwrap();
            let of_servers: usize = sizes.servers.iter().map(|(_, size)| size.tokens).sum();
            assert_eq!(of_servers + sizes.shared.tokens, sizes.total.tokens);
            if info.id.0 == "raw" {
                raw = sizes.total.tokens;
            }
            if ["raw-again", "planted-loss", "results-raw", "R-again", "R-no-expand"].contains(&info.id.0.as_str()) {
                continue;
            }
            // Most peers have one list for all servers.
            let servers = if sizes.shared.tools > 0 { &[] } else { &sizes.servers[..] };
            for (server, size) in servers {
                let lowered = arm.fallbacks().get(server).map(|why| format!("  {why}")).unwrap_or_default();
                lines.push(format!(
                    "{:12} {server:19} {:3} {:6} {:5}{lowered}",
                    info.id.0, size.tools, size.bytes, size.tokens
                ));
            }
            let Size { tools, bytes, tokens } = sizes.total;
            lines.push(format!(
                "{:12} {:19} {tools:3} {bytes:6} {tokens:5}  {} ppm",
                info.id.0,
                "all",
                saving_ppm(tokens, raw)
            ));
        }
        insta::assert_snapshot!(lines.join("\n"));
    }
}
