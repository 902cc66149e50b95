//! Verifying a bundle that withholds its catalogs and everything that quotes them: what can still be said is little, and
//! each check that is not made stands among the notes.

use std::path::Path;

use bench_protocol::{lock::Chain, spec::Protocol};
use bench_results::record::Record;

use super::{
    certificate::adds_up,
    certificate_code, ledger,
    report::{Found, Report},
};
use crate::{
    bundle::{Contents, layout},
    exit,
};

/// Makes the checks that are left.
pub(super) fn verify(report: &mut Report, reader: &Record, contents: &Contents, published: Option<&Path>) {
    report.add("lock", exit::VERIFY_INPUTS, lock(reader));
    if reader.inputs().join(layout::LEDGER).is_file() {
        ledger::check(report, reader, published);
    }
    let found = reader.certificate().map_err(|error| (false, error.to_string())).and_then(|bytes| adds_up(&bytes));
    report.add("certificate adds up", certificate_code(&found), found.map_err(|(_, why)| why));
    for (name, code) in [
        ("tasks", exit::VERIFY_TASKS),
        ("requests and surfaces", exit::VERIFY_SURFACES),
        ("episodes", exit::VERIFY_EPISODES),
        ("schedule", exit::VERIFY_SCHEDULE),
        ("books", exit::VERIFY_BOOKS),
        ("certificate", exit::VERIFY_CERTIFICATE),
    ] {
        let why = format!(
            "not made: {} files are withheld; their digests are here, so that they can be shown later",
            contents.withheld.len()
        );
        report.note(name, code, why);
    }
}

/// The protocol kept must be the one that the lock of the manifest froze.
fn lock(reader: &Record) -> Found {
    let Some(stated) = &reader.manifest().lock else {
        return Ok("the run states no lock: exploratory".to_owned());
    };
    let chain = Chain::of_folder(&reader.inputs().join("locks")).map_err(|error| error.to_string())?;
    let lock = chain.current().ok_or("the record keeps no lock")?;
    if lock.id() != stated {
        return Err(format!("the manifest states lock {stated}, the record's chain ends in {}", lock.id()));
    }
    let text = reader.input("protocol.toml").map_err(|error| error.to_string())?;
    let text = String::from_utf8(text).map_err(|_| "protocol.toml: not UTF-8".to_owned())?;
    let protocol = Protocol::parse(&text, "protocol.toml").map_err(|error| error.to_string())?;
    let digest = protocol.digest().map_err(|error| error.to_string())?;
    if lock.digests().protocol == digest {
        Ok(format!("{stated}: the chain holds, and the protocol is the one it froze"))
    } else {
        Err(format!("the lock froze protocol {}, the one kept is {digest}", lock.digests().protocol))
    }
}
