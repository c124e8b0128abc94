//! What `docs/operations.md` says of alerts that came and went was seen: `docs/alerts.json`, as `make ops` wrote it.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const SCRIPTS: [&str; 2] = ["at_stores", "at_headquarters"];

fn read(name: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(name)).unwrap_or_else(|_| panic!("{name} is not there"))
}

fn section() -> String {
    let page = read("docs/operations.md");
    let (_, rest) = page.split_once("\n### Seen to come and go\n").expect("the section");
    rest.split("\n## ").next().unwrap_or_default().to_owned()
}

/// The rows of the table: what was planted, the alert, when it fired and when it ended.
fn rows(section: &str) -> Vec<[String; 4]> {
    let table = section.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let cells = |line: &str| {
        let cells: Vec<String> = line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
        <[String; 4]>::try_from(cells).unwrap_or_else(|cells| panic!("{cells:?}"))
    };
    table.take_while(|line| line.starts_with('|')).map(cells).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// `A store is killed` of `a store is killed`.
fn sentence(words: &str) -> String {
    let (first, rest) = words.split_at(1);
    first.to_uppercase() + rest
}

/// A row as the table has to have it.
fn row(seen: &Value) -> [String; 4] {
    let [fired, ended] = ["fired", "ended"].map(|key| seen[key].as_f64().unwrap_or_else(|| panic!("{key} of {seen}")));
    let [planted, alert] = ["planted", "alert"].map(|key| text(&seen[key]));
    [sentence(planted), format!("`{alert}`"), format!("{fired:.0} s"), format!("{ended:.0} s")]
}

#[test]
fn what_the_table_of_alerts_says_was_seen_of_every_rule() {
    let (section, kept) = (section(), serde_json::from_str::<Value>(&read("docs/alerts.json")).expect("JSON"));
    let seen = kept["alerts"].as_array().expect("alerts");
    let wanted: Vec<_> = seen.iter().map(row).collect();
    assert_eq!(rows(&section), wanted, "the table, on the left, and docs/alerts.json");

    let scripts = SCRIPTS.map(|script| read(&format!("scripts/ops/watch/{script}.py"))).concat();
    for one in seen {
        for named in ["planted", "alert"].map(|key| format!("\"{}\"", text(&one[key]))) {
            assert!(scripts.contains(&named), "no script plants {named}: copy target/ops/alerts.json to docs");
        }
    }

    let mut names: BTreeSet<&str> = seen.iter().map(|one| text(&one["alert"])).collect();
    for (name, _) in kept["by_promtool_alone"].as_object().expect("alerts") {
        assert!(
            section.contains(&format!("`{name}`")),
            "{name} is tried by promtool alone, and the page does not say so"
        );
        assert!(names.insert(name), "{name} is tried here as well");
    }
    let rules = read("deploy/prometheus/alerts.yml");
    let all: BTreeSet<&str> = rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    assert_eq!(names, all, "docs/alerts.json, on the left, and the rules of alerts.yml");
}
