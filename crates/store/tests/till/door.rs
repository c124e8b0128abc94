//! Rules that the source itself keeps: who writes, and where.

use std::fs;
use std::path::{Path, PathBuf};

/// The files of the program below `src`, by their path there, without comments.
fn sources() -> Vec<(String, String)> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let file = |path: PathBuf| {
        let name = path.strip_prefix(&source).expect("below").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("a file");
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        // What is only tested is no part of the program.
        let code = code.take_while(|line| *line != "#[cfg(test)]").collect::<Vec<_>>().join("\n");
        (name, code)
    };
    files(&source).into_iter().map(file).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    files.into_iter().chain(folders.iter().flat_map(|folder| self::files(folder))).collect()
}

/// The files in which one of `words` stands.
fn with(words: &[&str]) -> Vec<String> {
    let mut found: Vec<String> = sources()
        .into_iter()
        .filter(|(_, code)| words.iter().any(|word| code.contains(word)))
        .map(|(name, _)| name)
        .collect();
    found.sort();
    found
}

#[test]
fn people_write_through_the_door_alone() {
    let begins =
        [".begin()", ".begin_aside()", "door.0", "sync_db()", "sync.db", "auth.db", "auth().db", ".db()", "test_db()"];
    let found = with(&begins);
    assert!(found.contains(&"act/mod.rs".to_owned()), "the source is read: {found:?}");
    // The start writes the identity of the database before there are any people; a command beside a stopped server says which copy
    // is the store.
    let others: Vec<&String> = found.iter().filter(|name| !name.starts_with("sync/")).collect();
    assert_eq!(others, ["act/mod.rs", "headquarters/standing.rs", "state/mod.rs"], "use Store::act there");
    let handlers = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sync/handlers.rs"));
    let handlers = handlers.expect("the routes of the sync client");
    assert!(!begins.iter().any(|word| handlers.contains(word)), "sync/handlers.rs: people write through Store::act");
}

#[test]
fn every_table_of_documents_is_written_by_the_door_alone() {
    let writes = ["insert", "insert_many", "update", "update_many", "delete", "delete_by_id", "delete_many"];
    let writes = writes.map(|name| format!("Entity::{name}("));
    let found = with(&writes.each_ref().map(String::as_str));
    // Approvals and devices belong to this store alone.
    let known = ["approvals/presented.rs", "devices.rs", "pos/grant.rs"];
    assert_eq!(found, known, "implement Record, and use Acting::insert and Acting::update there");
    assert_eq!(with(&["outbox::enqueue"]), ["act/acting.rs"]);
    assert_eq!(with(&["audit::record"]), ["act/acting.rs"]);
    assert_eq!(with(&["insert_lines"]), ["act/acting.rs", "pos/refunds/booking.rs", "pos/sale.rs", "pos/void.rs"]);
}

#[test]
fn sales_alone_are_their_own_record() {
    assert_eq!(with(&["Log::InDocument"]), ["act/acting.rs", "pos/sale.rs"]);
}
