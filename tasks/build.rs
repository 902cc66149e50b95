//! Writes the list of intent files that are compiled into the crate, sorted by name.

use std::{env, error::Error, fmt::Write as _, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("intents");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            println!("cargo::rerun-if-changed={}", path.display());
            let name = path.file_name().and_then(|name| name.to_str()).ok_or("a file name in intents/ is not UTF-8")?;
            names.push(name.to_owned());
        }
    }
    names.sort();
    let mut list = String::from("&[\n");
    for name in &names {
        writeln!(
            list,
            "    ({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/intents/\", {name:?}))),"
        )?;
    }
    list.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("intents.rs"), list)?;
    Ok(())
}
