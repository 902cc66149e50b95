//! Verifying a bundle that withholds its catalogs and everything that quotes them: what can still be said is little, and
//! each check that is not made stands among the notes. Nothing here makes a record a recomputed one.

use bench_protocol::{digest::Digest, lock::Chain, spec::Protocol};
use bench_results::{certificate::Certificate, record::Record};

use super::{
    Against,
    certificate::adds_up,
    certificate_code, kind,
    ledger::{self, Entered, Published},
    lock_text,
    stated::{self, Kept},
};
use crate::{
    bundle::Contents,
    checks::{CERTIFICATE, Found, Report},
    exit,
    run::live::folder,
    told::told,
};

/// Makes the checks that are left.
pub(super) fn verify(
    report: &mut Report,
    reader: &Record,
    contents: &Contents,
    against: &Against,
    published: Published<'_>,
) {
    let withheld = contents.withheld.len();
    let kept = protocol(reader).and_then(|protocol| {
        let digest = protocol.digest().map_err(|error| error.to_string())?;
        let chain = Chain::of_folder(&reader.inputs().join("locks")).map_err(|error| error.to_string())?;
        let terms = folder::terms(reader.folder()).map_err(|error| told(&error))?;
        Ok((protocol, digest, chain, terms))
    });
    match kept {
        Ok((protocol, digest, chain, terms)) => {
            report.add("kind", exit::VERIFY_INPUTS, kind::check(reader.manifest(), &protocol, terms.as_ref()));
            report.add("lock", exit::VERIFY_INPUTS, lock(reader, &protocol, &digest, &chain));
            super::whose_lock(report, reader.manifest(), &chain, against);
            let kept = Kept { reader, protocol: &protocol, chain: &chain, terms: terms.as_ref(), contents };
            report.add("certificate states", exit::VERIFY_CERTIFICATE, states(&kept));
            if let Some(terms) = &terms {
                let entered = Entered {
                    reader,
                    protocol: terms.looked_at(&digest),
                    tasks: terms.tasks(),
                    withheld: &contents.withheld,
                };
                ledger::check(report, &entered, published);
            }
        }
        Err(why) => report.add("inputs", exit::VERIFY_INPUTS, Err(why)),
    }
    let found = reader.certificate().map_err(|error| (false, error.to_string())).and_then(|bytes| adds_up(&bytes));
    report.add("certificate adds up", certificate_code(&found), found.map_err(|(_, why)| why));
    for (name, code) in [
        ("tasks", exit::VERIFY_TASKS),
        ("requests and surfaces", exit::VERIFY_SURFACES),
        ("episodes", exit::VERIFY_EPISODES),
        ("models", exit::VERIFY_EPISODES),
        ("schedule", exit::VERIFY_SCHEDULE),
        ("books", exit::VERIFY_BOOKS),
        (CERTIFICATE, exit::VERIFY_CERTIFICATE),
    ] {
        let why =
            format!("not made: {withheld} files are withheld; their digests are here, so that they can be shown later");
        report.note(name, code, why);
    }
}

fn protocol(reader: &Record) -> Result<Protocol, String> {
    let text = reader.input("protocol.toml").map_err(|error| error.to_string())?;
    let text = String::from_utf8(text).map_err(|_| "protocol.toml: not UTF-8".to_owned())?;
    Protocol::parse(&text, "protocol.toml").map_err(|error| error.to_string())
}

/// The protocol kept must be the one that the lock of the manifest froze.
fn lock(reader: &Record, protocol: &Protocol, digest: &Digest, chain: &Chain) -> Found {
    let Some(stated) = &reader.manifest().lock else {
        return Ok("the run states no lock: exploratory".to_owned());
    };
    let lock = chain.current().ok_or("the record keeps no lock")?;
    if lock.id() != stated {
        return Err(format!("the manifest states lock {stated}, the record's chain ends in {}", lock.id()));
    }
    if lock.digests().protocol == *digest {
        Ok(format!("{}: the chain holds, and the protocol is the one it froze", lock_text(stated, protocol)))
    } else {
        Err(format!("the lock froze protocol {}, the one kept is {digest}", lock.digests().protocol))
    }
}

fn states(kept: &Kept<'_>) -> Found {
    let bytes = kept.reader.certificate().map_err(|error| error.to_string())?;
    let certificate = Certificate::parse(&bytes).map_err(|error| error.to_string())?;
    stated::check(kept, &certificate)
}
