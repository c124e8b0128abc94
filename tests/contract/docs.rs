//! What the docs name is in the program: flags, commands, variables, metrics, error codes and routes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use tillkeep_model::{AlarmCode, ErrorCode};
use tillkeep_storage::registry;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// What people who run it read; `development.md` and `performance.md` speak of other tools too.
const PAGES: [&str; 20] = [
    "api",
    "by-hand",
    "chain",
    "configuration",
    "decisions",
    "domain",
    "drawer",
    "glossary",
    "install",
    "integrate",
    "money-back",
    "operations",
    "protection",
    "reports-of-drawers",
    "safe",
    "security",
    "security-asvs",
    "sync",
    "web-client",
    "write-a-till",
];

fn pages() -> Vec<(String, String)> {
    let names = PAGES.iter().map(|name| format!("docs/{name}.md")).chain(["README.md".to_owned()]);
    let read = |name: String| {
        let text =
            std::fs::read_to_string(Path::new(ROOT).join(&name)).unwrap_or_else(|_| panic!("{name} is not there"));
        (name, text)
    };
    names.map(read).collect()
}

/// What stands as code: spans within a line, and the lines of blocks.
fn code(text: &str) -> Vec<&str> {
    let (mut found, mut is_block) = (Vec::new(), false);
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_block = !is_block;
        } else if is_block {
            // What follows a # is a comment of the shell.
            found.push(line.split(" # ").next().unwrap_or(line));
        } else {
            found.extend(line.split('`').skip(1).step_by(2));
        }
    }
    found
}

/// Every piece of code of every page, with the page.
fn pieces(pages: &[(String, String)]) -> Vec<(&str, &str)> {
    pages.iter().flat_map(|(name, text)| code(text).into_iter().map(move |piece| (name.as_str(), piece))).collect()
}

/// All Rust sources of the program.
fn sources() -> String {
    fn walk(folder: PathBuf, into: &mut String) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                walk(path, into);
            } else if path.extension().is_some_and(|end| end == "rs" || end == "toml") {
                into.push_str(&std::fs::read_to_string(path).expect("a file"));
            }
        }
    }
    let mut all = String::new();
    for entry in std::fs::read_dir(Path::new(ROOT).join("crates")).expect("crates") {
        walk(entry.expect("a crate").path().join("src"), &mut all);
    }
    all
}

/// The commands of the program by their words, each with its flags; asked from its own help.
fn commands() -> BTreeMap<Vec<String>, BTreeSet<String>> {
    let mut known = BTreeMap::new();
    let mut open = vec![Vec::<String>::new()];
    while let Some(words) = open.pop() {
        let shown = Command::new(env!("CARGO_BIN_EXE_tillkeep")).args(&words).arg("--help").output().expect("help");
        let help = String::from_utf8(shown.stdout).expect("a text");
        let flags = help.split_whitespace().filter_map(flag).map(str::to_owned).collect();
        let list = help.split("Commands:\n").nth(1).unwrap_or_default();
        for line in list.lines().take_while(|line| line.is_empty() || line.starts_with(' ')) {
            let name =
                line.strip_prefix("  ").filter(|line| !line.starts_with(' ')).and_then(|line| line.split(' ').next());
            if let Some(name) = name.filter(|name| !name.is_empty() && *name != "help") {
                open.push(words.iter().cloned().chain([name.to_owned()]).collect());
            }
        }
        known.insert(words, flags);
    }
    known
}

/// `--flag` out of `[--flag=VALUE],`.
fn flag(word: &str) -> Option<&str> {
    let word = word.trim_start_matches(['[', '(']);
    let end = word.find(|letter: char| !(letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-'));
    let word = &word[..end.unwrap_or(word.len())];
    (word.starts_with("--") && word.len() > 2).then_some(word)
}

/// Where the docs name something that `is_known` does not know, of what `named` finds in a piece of code.
fn unknown<'a>(
    pieces: &[(&'a str, &'a str)],
    named: impl Fn(&'a str) -> Vec<&'a str>,
    is_known: impl Fn(&str) -> bool,
) -> (usize, Vec<String>) {
    let all: Vec<(&str, &str)> =
        pieces.iter().flat_map(|(page, piece)| named(piece).into_iter().map(move |name| (*page, name))).collect();
    let missing = all.iter().filter(|(_, name)| !is_known(name)).map(|(page, name)| format!("{name} in {page}"));
    (all.len(), missing.collect())
}

fn words(piece: &str) -> Vec<&str> {
    piece.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_')).collect()
}

#[test]
fn every_command_and_flag_that_docs_name_is_one_of_the_program() {
    let (pages, commands) = (pages(), commands());
    let (mut seen, mut missing) = (0, Vec::new());
    for (page, piece) in pieces(&pages) {
        for part in piece.split(" && ").flat_map(|part| part.split("; ")) {
            // Before it variables may be set. After any other program it is a name, as it is of connections to PostgreSQL.
            let is_set = |word: &&str| word.contains('=') || ["(", "exec", "sudo"].contains(word);
            let mut line = part.split_whitespace().skip_while(is_set);
            if line.next() != Some("tillkeep") || part.ends_with(" read") || part.ends_with(" write") {
                continue;
            }
            let mut path: Vec<String> = Vec::new();
            for word in line {
                let deeper: Vec<String> = path.iter().cloned().chain([word.to_owned()]).collect();
                if commands.contains_key(&deeper) {
                    path = deeper;
                } else if word == "COMMAND" {
                    break;
                } else if path.is_empty() && !word.starts_with('-') {
                    missing.push(format!("tillkeep {word} in {page}"));
                    break;
                } else if let Some(flag) = flag(word) {
                    seen += 1;
                    let longer = commands.iter().filter(|(words, _)| words.starts_with(&path));
                    if !longer.into_iter().any(|(_, flags)| flags.contains(flag)) {
                        missing.push(format!("tillkeep {} {flag} in {page}", path.join(" ")));
                    }
                }
            }
            seen += path.len();
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(seen > 60, "{seen}");
}

#[test]
fn every_flag_that_docs_name_alone_is_one_of_some_command() {
    /// Of curl, systemd, Docker and git.
    const OTHERS: [&str; 1] = ["--stop-timeout"];
    let (pages, commands) = (pages(), commands());
    let alone = |piece: &'_ str| piece.starts_with("--");
    let pieces: Vec<(&str, &str)> = pieces(&pages).into_iter().filter(|(_, piece)| alone(piece)).collect();
    let is_known = |flag: &str| OTHERS.contains(&flag) || commands.values().any(|flags| flags.contains(flag));
    let (seen, missing) = unknown(&pieces, |piece| piece.split_whitespace().filter_map(flag).collect(), is_known);
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(seen > 10, "{seen}");
}

#[test]
fn every_variable_that_docs_name_is_read_by_the_program() {
    /// Of the shell in the walk by hand, of the till of the docs, of systemd, and of the package.
    const OTHERS: [&str; 9] = [
        "HQ_PID",
        "STORE_PID",
        "HQ_TOKEN",
        "STORE_TOKEN",
        "PWD",
        "STORE_URL",
        "STORE_ID",
        "CAP_NET_BIND_SERVICE",
        "TILLKEEP_PURGE",
    ];
    let (pages, sources) = (pages(), sources());
    let is_variable = |word: &&str| {
        word.contains('_')
            && !word.starts_with('_')
            && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    };
    let named = |piece| words(piece).into_iter().filter(is_variable).collect();
    let is_known = |name: &str| {
        let name = name.strip_suffix("_FILE").filter(|_| !sources.contains(&format!("\"{name}\""))).unwrap_or(name);
        OTHERS.contains(&name) || sources.contains(&format!("\"{name}\""))
    };
    let (seen, missing) = unknown(&pieces(&pages), named, is_known);
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(seen > 60, "{seen}");
}

#[test]
fn every_setting_is_in_the_docs() {
    let shown = Command::new(env!("CARGO_BIN_EXE_tillkeep")).args(["config", "default"]).output().expect("a file");
    let file = String::from_utf8(shown.stdout).expect("a text");
    let page = std::fs::read_to_string(Path::new(ROOT).join("docs/configuration.md")).expect("the page");
    let listed = |server: &str| -> BTreeSet<&str> {
        let (_, after) = page.split_once(&format!("`[{server}]`\n")).expect("a section");
        let rows = after.split("\n## ").next().unwrap_or_default();
        rows.lines().filter_map(|line| line.strip_prefix("| ")?.split('|').next()).flat_map(code).collect()
    };
    let (mut section, mut seen, mut missing) = ("", 0, Vec::new());
    for line in file.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name;
        }
        // A setting that the server finds out by default stands there as a comment.
        let setting = line.trim_start_matches("# ").split_once(" = ").map(|(name, _)| name);
        if let Some(name) = setting.filter(|name| words(name).len() == 1) {
            let (server, inner) = section.split_once('.').unwrap_or((section, ""));
            let key = if inner.is_empty() { name.to_owned() } else { format!("{inner}.{name}") };
            seen += 1;
            if !listed(server).contains(key.as_str()) {
                missing.push(format!("{key} of {server}"));
            }
        }
    }
    assert!(missing.is_empty(), "docs/configuration.md has no row of {missing:?}");
    assert!(seen > 30, "{seen}");
}

#[test]
fn types_travel_in_the_order_of_the_docs_which_name_each_of_them() {
    let page = std::fs::read_to_string(Path::new(ROOT).join("docs/sync.md")).expect("the page");
    let row = |of: &str| {
        let (_, row) = page.split_once(&format!("| {of}")).unwrap_or_else(|| panic!("docs/sync.md has no row {of}"));
        let named = row.trim_start().split(" |").next().unwrap_or_default().split(", ");
        // What stands in brackets travels inside of a type.
        named.map(|name| name.split(" (").next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let pulled: Vec<_> = registry::pulled().map(|entity| entity.name).collect();
    assert_eq!(row("Pulled, in this order |"), pulled, "docs/sync.md");
    let pushed: Vec<_> = registry::pushed().map(|(entity, _)| entity.name).collect();
    assert_eq!(row("Pushed, in this order within a request |"), pushed, "docs/sync.md");
}

#[test]
fn every_document_that_is_exported_or_given_back_is_in_the_docs_of_it() {
    let read = |name: &str| std::fs::read_to_string(Path::new(ROOT).join(name)).expect("the page");
    let (operations, api) = (read("docs/operations.md"), read("docs/api.md"));
    let (_, given_back) = api.split_once("**`GET /sync/own-documents?").expect("the route");
    let given_back = given_back.split("**`").next().unwrap_or_default();
    for (entity, pushed) in registry::pushed() {
        let name = entity.name;
        if pushed.exported.is_some() {
            assert!(operations.contains(&format!("| `{name}.jsonl.zst` |")), "docs/operations.md has no row of {name}");
        }
        if pushed.restored.is_some() {
            assert!(given_back.contains(&format!("`{name}`")), "docs/api.md does not say that {name} are given back");
        }
    }
}

#[test]
fn every_metric_that_docs_name_is_counted_and_every_one_that_is_counted_is_in_the_docs() {
    let (pages, sources) = (pages(), sources());
    // A package has a number or a word for one there.
    let is_metric = |word: &&str| {
        let name = word.strip_prefix("tillkeep_");
        name.is_some_and(|name| name.starts_with(|first: char| first.is_ascii_lowercase()))
    };
    let literal = |word: &str| sources.contains(&format!("\"{word}\""));
    let named = |piece| words(piece).into_iter().filter(is_metric).collect();
    let (seen, missing) = unknown(&pieces(&pages), named, literal);
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(seen > 20, "{seen}");
    let listed: BTreeSet<&str> = pieces(&pages).into_iter().flat_map(|(_, piece)| words(piece)).collect();
    let counted = sources.split('"').filter(|text| words(text).len() == 1).filter(is_metric);
    // The names of crates stand in quotes too, for the log.
    let crates =
        ["tillkeep_hq", "tillkeep_http", "tillkeep_model", "tillkeep_storage", "tillkeep_store", "tillkeep_web"];
    let counted: BTreeSet<&str> = counted.filter(|name| !crates.contains(name)).collect();
    let unlisted: Vec<_> = counted.iter().filter(|name| !listed.contains(*name)).collect();
    assert!(unlisted.is_empty(), "{unlisted:#?}");
    let tables = [
        ("http/src/metrics.rs", "const METRICS"),
        ("http/src/metrics.rs", "const MEMORY"),
        ("hq/src/sync/dashboard/metrics.rs", "const METERS"),
    ];
    let table = |(path, name): (&str, &str)| {
        let text = std::fs::read_to_string(Path::new(ROOT).join("crates").join(path)).expect("a file");
        text.split_once(name).and_then(|(_, rest)| rest.split_once("\n];")).expect("a table").0.to_owned()
    };
    let described = tables.map(table).concat();
    let silent: Vec<_> = counted.iter().filter(|name| !described.contains(&format!("\"{name}\""))).collect();
    assert!(silent.is_empty(), "/metrics has no words for {silent:#?}");
}

#[test]
fn every_alarm_of_a_store_is_asked_for_by_a_rule_of_prometheus_and_no_other_one_is() {
    let rules = std::fs::read_to_string(Path::new(ROOT).join("deploy/prometheus/alerts.yml")).expect("the rules");
    let asked: BTreeSet<&str> = ["alarm=\"", "alarm=~\""]
        .into_iter()
        .flat_map(|of| rules.split(of).skip(1))
        .flat_map(|rest| rest.split('"').next().unwrap_or_default().split('|'))
        .collect();
    let raised: BTreeSet<&str> = AlarmCode::ALL.into_iter().map(AlarmCode::as_str).collect();
    assert_eq!(asked, raised, "deploy/prometheus/alerts.yml, on the left, and AlarmCode");
    let page = std::fs::read_to_string(Path::new(ROOT).join("docs/operations.md")).expect("the page");
    let (_, rows) = page.split_once("\n### Alarms of a store\n").expect("the heading");
    let rows = rows.split("\n#").next().unwrap_or_default();
    let silent: Vec<_> = raised.iter().filter(|code| !rows.contains(&format!("\n| `{code}` |"))).collect();
    assert!(silent.is_empty(), "docs/operations.md has no row of {silent:?}");
}

#[test]
fn every_error_code_that_docs_name_beside_a_status_is_one_of_the_program() {
    let pages = pages();
    let (mut seen, mut missing) = (0, Vec::new());
    for (page, text) in &pages {
        for (before, after) in text.match_indices(" `").map(|(at, _)| (&text[..at], &text[at + 2..])) {
            let status = before.len().checked_sub(3).and_then(|from| before.get(from..));
            let is_status =
                status.is_some_and(|status| status.starts_with(['4', '5']) && status.parse::<u16>().is_ok());
            let name = after.split('`').next().unwrap_or_default();
            if is_status && !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') {
                seen += 1;
                if ErrorCode::parse(name).is_none() {
                    missing.push(format!("{name} in {page}"));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(seen > 40, "{seen}");
}

#[test]
fn every_route_that_docs_name_is_one_of_a_server() {
    let (pages, mut routes) = (pages(), BTreeSet::new());
    for route in tillkeep_hq::routes::described(&tillkeep_store::routes::writes()).1 {
        routes.insert((route.method, route.full_path()));
    }
    for route in tillkeep_store::routes::described(&tillkeep_hq::routes::writes()).1 {
        routes.insert((route.method, route.full_path()));
    }
    // Outside of the description: the description itself, and what a page of it is.
    let beside = ["/api/v1/openapi.json", "/docs", "/metrics"];
    let (mut seen, mut missing) = (0, Vec::new());
    for (page, piece) in pieces(&pages) {
        let Some((method, path)) = piece.split_once(' ') else { continue };
        if !["GET", "POST", "PUT", "PATCH", "DELETE"].contains(&method) || !path.starts_with('/') {
            continue;
        }
        seen += 1;
        let path = path.split(['?', ' ', '[']).next().unwrap_or(path);
        let full = format!("/api/v1{}", path.strip_prefix("/api/v1").unwrap_or(path));
        let begins = |known: &str| full.strip_suffix('*').is_some_and(|begin| known.starts_with(begin));
        let is_there =
            |(of, known): &(&str, String)| *of == method && (*known == full || known == path || begins(known));
        if !beside.contains(&path) && !routes.iter().any(is_there) {
            missing.push(format!("{method} {path} in {page}"));
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(seen > 100, "{seen}");
}

#[test]
fn the_readme_names_the_rust_that_it_is_built_with() {
    let read = |name: &str| std::fs::read_to_string(Path::new(ROOT).join(name)).expect("a file");
    let toolchain = read("rust-toolchain.toml");
    let version = toolchain.split('"').nth(1).and_then(|text| text.rsplit_once('.')).expect("channel = \"1.2.3\"").0;
    let named = format!("[Rust](https://rustup.rs) {version};");
    assert!(read("README.md").contains(&named), "the README names another Rust than rust-toolchain.toml: {named}");
}
