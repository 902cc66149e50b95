//! Compiles the chain of locks into the crate: `locks.rs` lists the files of `locks/` by name.

use std::{env, error::Error, fmt::Write as _, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=locks");
    let folder = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("locks");
    let mut names = Vec::new();
    if folder.is_dir() {
        for entry in fs::read_dir(&folder)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if std::path::Path::new(&name).extension().is_some_and(|kind| kind == "json") {
                names.push(name);
            }
        }
    }
    names.sort();
    let mut out = String::from("/// The locks compiled in, by file name.\nstatic EMBEDDED: &[(&str, &[u8])] = &[\n");
    for name in names {
        writeln!(out, "    ({name:?}, include_bytes!({:?})),", folder.join(&name).display().to_string())?;
    }
    out.push_str("];\n");
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("locks.rs"), out)?;
    Ok(())
}
