//! Lists the entities for the tests, which look at each of them: `every_entity!(check)` is `check!(Entity)` for every file below
//! `src/entity` that holds one. A new one is nowhere listed by hand.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

const FOLDER: &str = "src/entity";

fn main() {
    println!("cargo::rerun-if-changed={FOLDER}");
    println!("cargo::rerun-if-changed=build.rs");
    let next = env::var_os("CARGO_FEATURE_NEXT_RELEASE").is_some();
    let mut checks = String::new();
    for folder in sorted(Path::new(FOLDER)).iter().filter(|path| path.is_dir()) {
        let floor = fs::read_to_string(folder.join("mod.rs")).expect("the modules of a folder");
        for file in sorted(folder) {
            let text = fs::read_to_string(&file).expect("a file");
            let module = file.file_stem().and_then(|name| name.to_str()).expect("a name");
            let later = floor.contains(&format!("#[cfg(feature = \"next-release\")]\npub mod {module};"));
            if text.contains("DeriveEntityModel") && (next || !later) {
                writeln!(checks, "        $check!(tillkeep_storage::entity::{module}::Entity);").expect("a line");
            }
        }
    }
    let list = format!("macro_rules! every_entity {{\n    ($check:ident) => {{\n{checks}    }};\n}}\n");
    let out = env::var_os("OUT_DIR").expect("a folder");
    fs::write(Path::new(&out).join("every_entity.rs"), list).expect("written");
}

fn sorted(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found: Vec<_> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    found.sort();
    found
}
