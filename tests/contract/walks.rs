//! ARCHITECTURE.md and docs/rooms.md against the sources: what an addition touches is there, and every folder has its row.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// The heading over the walks.
const WALKS: &str = "## To add something\n";

pub(crate) fn read(path: impl AsRef<Path>) -> String {
    let path = Path::new(ROOT).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every file below a folder, or the file itself.
fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).expect("a folder") {
        found.extend(files(&entry.expect("an entry").path()));
    }
    found
}

/// What stands as code in a text.
pub(crate) fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

pub(crate) fn is_test(name: &str) -> bool {
    name.matches('_').count() >= 3 && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
}

pub(crate) fn is_path(name: &str) -> bool {
    ["crates/", "docs/", "scripts/", "tests/", "web/"].iter().any(|begin| name.starts_with(begin))
}

/// The walks by what they add: the code in all rows of each.
fn walks(page: &str) -> Vec<(&str, Vec<&str>)> {
    let (_, after) = page.split_once(WALKS).expect("the walks");
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in after.lines().skip_while(|line| !line.starts_with("|---")).skip(1) {
        let Some(row) = line.strip_prefix("| ") else { break };
        let (what, places) = row.split_once("| ").expect("columns");
        if !what.is_empty() {
            found.push((what.trim().trim_matches('*'), Vec::new()));
        }
        found.last_mut().expect("a first row says what is added").1.extend(code(places));
    }
    found
}

/// What of a walk is not there: paths, targets of `make`, tests, and any other word in none of the files that the walk names.
fn missing(walk: &[&str], functions: &BTreeSet<String>, makefile: &str) -> Vec<String> {
    let paths: Vec<PathBuf> = walk.iter().filter(|name| is_path(name)).map(|name| Path::new(ROOT).join(name)).collect();
    let there = paths.iter().filter(|path| path.exists()).flat_map(|path| files(path));
    let texts: Vec<String> = there.filter_map(|file| std::fs::read_to_string(file).ok()).collect();
    let is_there = |name: &str| {
        if is_path(name) {
            Path::new(ROOT).join(name).exists()
        } else if let Some(target) = name.strip_prefix("make ") {
            makefile.contains(&format!("\n{target}:"))
        } else if is_test(name) {
            functions.contains(name)
        } else {
            name == "mod.rs" || texts.iter().any(|text| text.contains(name))
        }
    };
    walk.iter().filter(|name| !is_there(name)).map(|name| (*name).to_owned()).collect()
}

/// The names of all functions, those of the tests included.
pub(crate) fn functions() -> BTreeSet<String> {
    let all = ["crates", "tests"].map(|folder| files(&Path::new(ROOT).join(folder)));
    let rust = all.iter().flatten().filter(|file| file.extension().is_some_and(|end| end == "rs"));
    let mut names = BTreeSet::new();
    for file in rust {
        names.extend(read(file).split("fn ").skip(1).filter_map(|text| Some(text.split_once('(')?.0.to_owned())));
    }
    names
}

#[test]
fn every_path_and_every_test_that_the_walks_of_a_change_name_is_there() {
    let (page, makefile) = (read("ARCHITECTURE.md"), read("Makefile"));
    let functions = functions();
    let walks = walks(&page);
    assert!(walks.len() >= 15, "{walks:#?}");
    assert!(walks.iter().map(|(_, walk)| walk.len()).sum::<usize>() > 120, "{walks:#?}");
    for (what, walk) in walks {
        let missing = missing(&walk, &functions, &makefile);
        assert!(missing.is_empty(), "ARCHITECTURE.md, {what}: {missing:#?} is not there");
    }
    // What the remarks below the table name, as far as it is a path.
    let remarks = page.split_once(WALKS).expect("the walks").1.split("\n## ").next().unwrap_or_default();
    for path in code(remarks).filter(|name| is_path(name)) {
        assert!(Path::new(ROOT).join(path).exists(), "ARCHITECTURE.md names {path}, which is not there");
    }
}

/// The folders of the program and of what runs it. One of one or two files is a part of the file that it stands beside.
fn folders(below: &Path, into: &mut Vec<String>) {
    /// What one row says of all that is below it.
    const WHOLE: [&str; 4] = ["crates/hq/src/backoffice", "crates/http/src/describe", "tests", "web/src/pages"];
    let entries: Vec<PathBuf> =
        std::fs::read_dir(below).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    let name = below.strip_prefix(ROOT).expect("below the root").to_string_lossy().into_owned();
    let is_one_of_several = |path: &&PathBuf| path.is_dir() && std::fs::read_dir(path).is_ok_and(|all| all.count() > 2);
    let inside: Vec<&PathBuf> = entries.iter().filter(is_one_of_several).collect();
    for folder in inside {
        into.push(format!("{name}/{}", folder.file_name().unwrap_or_default().to_string_lossy()));
        if !WHOLE.contains(&name.as_str()) && !WHOLE.contains(&into.last().expect("one").as_str()) {
            folders(folder, into);
        }
    }
}

#[test]
fn every_folder_of_the_program_is_in_the_table_of_rooms() {
    /// Made by its build.
    const MADE: &str = "web/src/rules";
    let page = read("docs/rooms.md");
    let rooms: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let mut all = Vec::new();
    for entry in std::fs::read_dir(Path::new(ROOT).join("crates")).expect("the crates") {
        folders(&entry.expect("a crate").path().join("src"), &mut all);
    }
    folders(&Path::new(ROOT).join("tests"), &mut all);
    folders(&Path::new(ROOT).join("web/src"), &mut all);
    assert!(all.len() > 40, "{all:?}");
    let missing: Vec<_> = all.iter().filter(|name| *name != MADE && !rooms.contains(&name.as_str())).collect();
    assert!(missing.is_empty(), "docs/rooms.md says in no row what lives in {missing:#?}");
    let gone: Vec<_> = rooms.iter().filter(|room| is_path(room) && !Path::new(ROOT).join(room).exists()).collect();
    assert!(gone.is_empty(), "docs/rooms.md has rows of {gone:#?}, which are not there");
}

#[test]
fn every_test_that_docs_name_is_there() {
    const PAGES: [&str; 12] = [
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "README.md",
        "docs/api.md",
        "docs/chain.md",
        "docs/decisions.md",
        "docs/development.md",
        "docs/promises.md",
        "docs/protection.md",
        "docs/rooms.md",
        "docs/security.md",
        "docs/sync.md",
    ];
    let functions = functions();
    let (mut seen, mut missing) = (0, Vec::new());
    for page in PAGES {
        let text = read(page);
        let named = code(&text).filter(|name| is_test(name) && name.matches('_').count() > 3);
        for name in named.filter(|name| !name.starts_with("tillkeep_")) {
            seen += 1;
            if !functions.contains(name) {
                missing.push(format!("{name} in {page}"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(seen > 100, "{seen}");
}

#[test]
fn the_routes_of_every_room_are_in_the_table_of_its_server() {
    let mut rooms = 0;
    for server in ["crates/hq/src", "crates/store/src"] {
        let sources = files(&Path::new(ROOT).join(server));
        let texts: Vec<String> = sources.iter().map(read).collect();
        for (path, text) in sources.iter().zip(&texts) {
            let is_of_a_folder = path.ends_with("mod.rs");
            let named = if is_of_a_folder { path.parent().expect("a folder") } else { path };
            let room = named.file_stem().expect("a name").to_string_lossy();
            if text.contains("fn routes(") {
                rooms += 1;
                let is_named = texts.iter().any(|other| other.contains(&format!("{room}::routes")));
                assert!(
                    is_named,
                    "{}: `routes` names no `{room}::routes`, so that none of them is served",
                    path.display()
                );
            }
        }
    }
    assert!(rooms > 20, "{rooms}");
}

/// Clippy reads one file for a crate and takes nothing from the files above it.
#[test]
fn the_crate_that_may_write_rows_forbids_everything_else_that_all_forbid() {
    let all = read("clippy.toml");
    let (common, _) = all.split_once("# A row that stores pull is written by its type").expect("the rule on writes");
    let own = read("crates/storage/clippy.toml");
    let (_, own) = own.split_once('\n').expect("a first line that says what it is");
    assert_eq!(own.trim(), common.trim());
}

#[test]
fn people_write_at_headquarters_through_their_acts_alone() {
    // The start, the command line, requests of stores, and what works in the background. `Caller::begin` is for people.
    const OTHERS: [&str; 13] = [
        "alerts/look.rs",
        "live/tracker.rs",
        "start.rs",
        "sync/handles.rs",
        "sync/handshake.rs",
        "sync/left_out.rs",
        "sync/lookups.rs",
        "sync/processes.rs",
        "sync/refunds.rs",
        "sync/rounds.rs",
        "sync/servers.rs",
        "sync/sign_in.rs",
        "sync/store_caller.rs",
    ];
    let source = Path::new(ROOT).join("crates/hq/src");
    let begins = |file: &PathBuf| {
        let text = read(file);
        let code = text.lines().take_while(|line| line.trim() != "#[cfg(test)]");
        code.into_iter().any(|line| line.contains("db().begin") || line.contains("db.begin"))
    };
    let name = |file: PathBuf| file.strip_prefix(&source).expect("below").to_string_lossy().into_owned();
    let mut found: Vec<String> = files(&source).into_iter().filter(begins).map(name).collect();
    found.sort();
    assert_eq!(found, OTHERS, "use Caller::begin there, which ends an act with its line in the audit log");
}
