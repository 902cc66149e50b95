//! Writes the lists of intent files and matcher tables that are compiled into the crate, sorted by name.

use std::{env, error::Error, fmt::Write as _, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    for folder in ["intents", "matchers"] {
        embed(folder)?;
    }
    Ok(())
}

fn embed(name: &str) -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join(name);
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            println!("cargo::rerun-if-changed={}", path.display());
            let file = path.file_name().and_then(|file| file.to_str());
            files.push(file.ok_or_else(|| format!("a file name in {name}/ is not UTF-8"))?.to_owned());
        }
    }
    files.sort();
    let mut list = String::from("&[\n");
    for file in &files {
        writeln!(list, "    ({file:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{name}/\", {file:?}))),")?;
    }
    list.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join(format!("{name}.rs")), list)?;
    Ok(())
}
