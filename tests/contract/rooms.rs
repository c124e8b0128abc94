//! The rooms of each crate use each other in one direction: each can be read with what it stands on, and nothing else. A room is
//! what lies in a folder, a file or a folder as a whole; a `mod.rs` is the floor of its folder and no room in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::walks::ROOT;

/// The files that a folder may have, so that a reader finds one by looking.
const MOST: usize = 40;

/// A module by the names that lead to it from its crate.
type Module = Vec<String>;

/// What each module of a crate uses of the others.
type Uses = BTreeMap<Module, BTreeSet<Module>>;

/// What each of some rooms uses of the others.
type Rooms = BTreeMap<String, BTreeSet<String>>;

fn crates() -> Vec<PathBuf> {
    let all = fs::read_dir(Path::new(ROOT).join("crates")).expect("the crates");
    all.map(|entry| entry.expect("a crate").path().join("src")).filter(|source| source.is_dir()).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let files = files.into_iter().filter(|path| path.extension().is_some_and(|kind| kind == "rs"));
    files.chain(folders.iter().flat_map(|folder| self::files(folder))).collect()
}

/// What the modules of a crate use of each other, by the paths that begin with `crate::` and `super::` in its program.
fn uses(source: &Path) -> Uses {
    let root = ["lib.rs", "main.rs"].map(|name| fs::read_to_string(source.join(name)).unwrap_or_default());
    let shown = shown(&root.concat());
    let files = files(source).into_iter().filter(|file| !file.ends_with("tests.rs"));
    let read = files.map(|file| (module(source, &file), program(&fs::read_to_string(&file).expect("a file"))));
    read.map(|(module, code)| {
        let named = paths(&code).into_iter().map(|path| absolute(&path, &module, &shown)).collect();
        (module, named)
    })
    .collect()
}

fn module(source: &Path, file: &Path) -> Module {
    let inside = file.strip_prefix(source).expect("below").with_extension("");
    let mut names: Module = inside.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    if names.last().is_some_and(|name| matches!(name.as_str(), "mod" | "lib" | "main")) {
        names.pop();
    }
    names
}

/// The text without comments and without its tests, which stand at the end.
fn program(text: &str) -> String {
    let lines = text.lines().take_while(|line| *line != "#[cfg(test)]");
    lines.filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The paths that begin with `crate::` or `super::`, those of lists in braces each by itself.
fn paths(code: &str) -> Vec<Module> {
    let mut found = Vec::new();
    for begin in ["crate::", "super::"] {
        for (at, _) in code.match_indices(begin) {
            let is_begin = !code[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '$'));
            if is_begin {
                take(&mut &code[at..], &[], &mut found);
            }
        }
    }
    found
}

/// Takes a path off the text, or all of a list, each with what stood before it.
fn take(rest: &mut &str, before: &[String], found: &mut Vec<Module>) {
    let mut path = before.to_vec();
    loop {
        *rest = rest.trim_start();
        if let Some(list) = rest.strip_prefix('{') {
            *rest = list;
            while !rest.trim_start().starts_with('}') && !rest.is_empty() {
                take(rest, &path, found);
                // What an item is called here says nothing.
                let end = rest.find([',', '}']).unwrap_or(rest.len());
                *rest = rest[end..].strip_prefix(',').unwrap_or(&rest[end..]);
            }
            *rest = rest.trim_start().strip_prefix('}').unwrap_or(rest);
            return;
        }
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        *rest = after;
        if !word.is_empty() && word != "self" {
            path.push(word.to_owned());
        }
        match after.strip_prefix("::") {
            Some(after) if !word.is_empty() => *rest = after,
            _ => return found.push(path),
        }
    }
}

/// What a crate shows under a name of its own, with the path behind it.
fn shown(root: &str) -> BTreeMap<String, Module> {
    let mut shown = BTreeMap::new();
    for text in root.split("pub use ").skip(1) {
        let mut found = Vec::new();
        take(&mut &text[..], &[], &mut found);
        let named = found.into_iter().filter(|path| path.len() > 1);
        shown.extend(named.filter_map(|path| Some((path.last()?.clone(), path))));
    }
    shown
}

/// The path from the crate on.
fn absolute(path: &[String], module: &[String], shown: &BTreeMap<String, Module>) -> Module {
    if path[0] == "crate" {
        return match path.get(1).and_then(|name| shown.get(name)) {
            Some(behind) => behind.iter().chain(&path[2..]).cloned().collect(),
            None => path[1..].to_vec(),
        };
    }
    let ups = path.iter().take_while(|name| *name == "super").count();
    module[..module.len().saturating_sub(ups)].iter().chain(&path[ups..]).cloned().collect()
}

/// What the rooms in `folder` use of each other.
fn rooms(uses: &Uses, folder: &[String]) -> Rooms {
    let room = |module: &Module| module.strip_prefix(folder)?.first().cloned();
    let all: BTreeSet<String> = uses.keys().filter_map(room).collect();
    let mut rooms: Rooms = all.iter().map(|name| (name.clone(), BTreeSet::new())).collect();
    for (module, named) in uses {
        let Some(from) = room(module) else { continue };
        let others = named.iter().filter_map(room).filter(|to| *to != from && all.contains(to));
        rooms.entry(from.clone()).or_default().extend(others);
    }
    rooms
}

/// A way from `room` back to itself.
fn circle(room: &str, rooms: &Rooms) -> Option<Vec<String>> {
    let mut ways = vec![vec![room.to_owned()]];
    let mut passed = BTreeSet::new();
    while let Some(way) = ways.pop() {
        for next in way.last().and_then(|last| rooms.get(last)).into_iter().flatten() {
            let way: Vec<String> = way.iter().chain([next]).cloned().collect();
            if next == room {
                return Some(way);
            }
            if passed.insert(next.clone()) {
                ways.push(way);
            }
        }
    }
    None
}

#[test]
fn no_room_of_a_crate_leads_back_to_itself() {
    let (mut seen, mut circles) = (0, BTreeSet::new());
    for source in crates() {
        let uses = uses(&source);
        let deep = |module: &Module| (0..module.len()).map(|deep| module[..deep].to_vec()).collect::<Vec<_>>();
        for folder in uses.keys().flat_map(deep).collect::<BTreeSet<Module>>() {
            let rooms = rooms(&uses, &folder);
            seen += rooms.values().map(BTreeSet::len).sum::<usize>();
            let place = source.join(folder.join("/"));
            let back = rooms.keys().filter_map(|room| circle(room, &rooms));
            circles.extend(back.map(|way| format!("{}: {}", place.display(), way.join(" -> "))));
        }
    }
    assert!(seen > 500, "the source is read: {seen} uses");
    assert!(circles.is_empty(), "{circles:#?}");
}

/// Whether a program names what takes SQL as text.
fn names_raw_sql(code: &str) -> bool {
    let code = code.replace("::tillkeep_storage::", "tillkeep_storage::").replace("tillkeep_storage::", "crate::");
    paths(&code).iter().any(|path| path[0] == "crate" && path.get(1).is_some_and(|room| room == "raw"))
}

#[test]
fn statements_of_own_text_are_out_of_reach_for_the_servers() {
    for named in [
        "tillkeep_storage::raw::query(c)",
        "use tillkeep_storage::{DbErr, raw::{execute}};",
        "::tillkeep_storage::raw::x",
    ] {
        assert!(names_raw_sql(named), "{named}");
    }
    let servers = ["hq", "http", "store", "tillkeep"].map(|name| Path::new(ROOT).join("crates").join(name).join("src"));
    // The measurement of PostgreSQL itself.
    let measures = |file: &Path| file.ends_with("tillkeep/src/bench/postgres.rs");
    let program_files = servers.iter().flat_map(|source| files(source));
    let named: Vec<PathBuf> = program_files
        .filter(|file| !file.ends_with("tests.rs") && !measures(file))
        .filter(|file| names_raw_sql(&program(&fs::read_to_string(file).expect("a file"))))
        .collect();
    assert!(named.is_empty(), "these name tillkeep_storage::raw: {named:?}");
}

#[test]
fn the_rooms_of_a_crate_are_read_from_its_source() {
    let storage = uses(&Path::new(ROOT).join("crates/storage/src"));
    let above = rooms(&storage, &[]);
    let stands_on = |room: &str, other: &str| above[room].contains(other);
    assert!(stands_on("push", "envelope") && stands_on("push", "sql") && !stands_on("sql", "push"), "{above:?}");
    let within = rooms(&storage, &["verify".to_owned()]);
    assert!(within["rules"].contains("rule"), "{within:?}");
}

#[test]
fn no_folder_of_a_crate_has_more_files_than_a_reader_looks_through() {
    for source in crates() {
        let mut folders: BTreeMap<PathBuf, usize> = BTreeMap::new();
        for file in files(&source) {
            *folders.entry(file.parent().expect("a folder").to_owned()).or_default() += 1;
        }
        let full: Vec<_> = folders.into_iter().filter(|(_, files)| *files > MOST).collect();
        assert!(full.is_empty(), "more than {MOST} files: {full:?}");
    }
}

#[test]
fn a_circle_is_found_over_several_rooms() {
    let rooms = |lines: &[(&str, &str)]| -> Rooms {
        lines.iter().map(|(from, to)| ((*from).to_owned(), to.split(' ').map(str::to_owned).collect())).collect()
    };
    let open = rooms(&[("error", "request"), ("layers", "error server"), ("server", "request")]);
    assert!(open.keys().all(|room| circle(room, &open).is_none()));
    let closed = rooms(&[("error", "layers"), ("layers", "server"), ("server", "extract"), ("extract", "error")]);
    assert_eq!(circle("error", &closed).expect("a circle").join(" "), "error layers server extract error");
}

#[test]
fn a_path_is_followed_to_where_it_leads() {
    let code = program(
        "// crate::not::this\nuse crate::a::{self, b::{C, d as E}, F};\nuse super::super::g::H;\nfn x() { crate::I::new(); }\n\
         #[cfg(test)]\nmod tests { use crate::j; }",
    );
    let shown = shown("pub use k::{I, L};\npub use m::N;");
    let module = ["o", "p", "q"].map(str::to_owned);
    let mut led: Vec<String> =
        paths(&code).into_iter().map(|path| absolute(&path, &module, &shown).join("::")).collect();
    led.sort();
    assert_eq!(led, ["a", "a::F", "a::b::C", "a::b::d", "k::I::new", "o::g::H"]);
}
