//! Three ways to compress a tool list that many systems share, without anybody's name on them.

mod hierarchical;
mod index_schema_invoke;
mod search_invoke;

use super::{Build, info};
use crate::arms::{Affordance, ArmInfo};

const SOURCE: &str = "archetype: nobody's product";

pub(super) fn all() -> Vec<(ArmInfo, Build)> {
    vec![
        (
            info(
                "search-invoke",
                "archetype: a search over all tools, the five best with their schemas, called through one tool",
                SOURCE,
                Affordance::SearchInvoke,
                1,
            ),
            search_invoke::build,
        ),
        (
            info(
                "index-schema-invoke",
                "archetype: one index per server, schemas on request, called through one tool",
                SOURCE,
                Affordance::IndexSchemaInvoke,
                1,
            ),
            index_schema_invoke::build,
        ),
        (
            info(
                "hierarchical",
                "archetype: servers, then their tools, then a schema, called through one tool",
                SOURCE,
                Affordance::Hierarchical,
                3,
            ),
            hierarchical::build,
        ),
    ]
}

#[cfg(test)]
mod tests;
