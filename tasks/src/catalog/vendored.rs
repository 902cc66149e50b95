//! The eight reference servers, compiled in.

use super::{Catalogs, provenance};
use crate::error::TasksError;

macro_rules! vendored {
    ($($server:literal),*) => {
        [$(($server, include_bytes!(concat!("../../catalogs/", $server, ".json")).as_slice())),*]
    };
}

const INDEX: &str = include_str!("../../catalogs/index.toml");

pub(super) fn load() -> Result<Catalogs, TasksError> {
    let files =
        vendored!("everything", "fetch", "filesystem", "git", "github", "memory", "sequential-thinking", "time")
            .into_iter()
            .map(|(server, bytes)| (server.to_owned(), format!("{server}.json"), bytes.into()))
            .collect();
    Catalogs::from_files(files, &provenance::parse("index.toml", "index.toml", INDEX.as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_servers_with_78_tools_and_full_provenance() {
        let catalogs = Catalogs::vendored().unwrap();
        let counts: Vec<_> = catalogs.catalogs.iter().map(|c| (&*c.server, c.tools.len())).collect();
        assert_eq!(
            counts,
            [
                ("everything", 13),
                ("fetch", 1),
                ("filesystem", 14),
                ("git", 12),
                ("github", 26),
                ("memory", 9),
                ("sequential-thinking", 1),
                ("time", 2)
            ]
        );
        assert_eq!(catalogs.tool_count(), 78);
        for catalog in &catalogs.catalogs {
            let provenance = catalog.provenance.as_ref().unwrap();
            assert_eq!(provenance.sha256, catalog.sha256);
            assert_eq!(provenance.tools, Some(catalog.tools.len() as u64));
            assert!(
                !provenance.integrity.is_empty() && !provenance.licence.is_empty() && !provenance.version.is_empty()
            );
            assert_eq!(provenance.captured.as_deref(), Some("2026-11-29"));
        }
    }
}
