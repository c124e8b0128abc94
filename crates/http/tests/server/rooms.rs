//! The rooms of this crate use each other in one direction: each can be read with what it stands on, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms that each room names with `crate::`, read from the source.
fn uses() -> BTreeMap<String, BTreeSet<String>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let shared = exported(&fs::read_to_string(source.join("lib.rs")).expect("lib.rs"));
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in files(&source) {
        let first = file.strip_prefix(&source).expect("below").iter().next().expect("a name").to_string_lossy();
        let room = first.trim_end_matches(".rs").to_owned();
        let text = fs::read_to_string(&file).expect("a file");
        let code: String =
            text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
        let named = code.split("crate::").skip(1).flat_map(names);
        let named = named.map(|name| shared.get(&name).cloned().unwrap_or(name)).filter(|name| *name != room);
        uses.entry(room.clone()).or_default().extend(named);
    }
    uses.remove("lib");
    uses
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let files = files.into_iter().filter(|path| path.extension().is_some_and(|kind| kind == "rs"));
    files.chain(folders.iter().flat_map(|folder| self::files(folder))).collect()
}

/// The first words of a path, or of each path of a list in braces.
fn names(path: &str) -> Vec<String> {
    let word = |text: &str| text.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    match path.strip_prefix('{') {
        None => vec![word(path)],
        Some(list) => {
            list.split(';').next().unwrap_or_default().split(',').map(word).filter(|name| !name.is_empty()).collect()
        }
    }
}

/// What `lib.rs` shows under its own name, with its room.
fn exported(lib: &str) -> BTreeMap<String, String> {
    let lines = lib.lines().filter_map(|line| line.strip_prefix("pub use ")?.strip_suffix(';')?.split_once("::"));
    let each = lines.flat_map(|(room, shown)| names(shown).into_iter().map(move |name| (name, room.to_owned())));
    each.collect()
}

/// A way from `room` back to itself.
fn circle(room: &str, uses: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    let mut ways = vec![vec![room.to_owned()]];
    let mut passed = BTreeSet::new();
    while let Some(way) = ways.pop() {
        for next in way.last().and_then(|last| uses.get(last)).into_iter().flatten() {
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
fn no_room_of_this_crate_leads_back_to_itself() {
    let uses = uses();
    let room = |name: &str| uses.get(name).unwrap_or_else(|| panic!("no room {name}"));
    assert!(room("layers").contains("extract") && room("directory").contains("answer"), "the source is read: {uses:?}");
    for room in uses.keys() {
        let circle = circle(room, &uses);
        assert!(circle.is_none(), "{}", circle.unwrap_or_default().join(" -> "));
    }
}

#[test]
fn a_circle_is_found_over_several_rooms() {
    let uses = |lines: &[(&str, &str)]| -> BTreeMap<String, BTreeSet<String>> {
        lines.iter().map(|(from, to)| ((*from).to_owned(), to.split(' ').map(str::to_owned).collect())).collect()
    };
    let open = uses(&[("error", "request"), ("layers", "error server"), ("server", "request")]);
    assert!(open.keys().all(|room| circle(room, &open).is_none()));
    let closed = uses(&[("error", "layers"), ("layers", "server"), ("server", "extract"), ("extract", "error")]);
    assert_eq!(circle("error", &closed).expect("a circle").join(" "), "error layers server extract error");
}
