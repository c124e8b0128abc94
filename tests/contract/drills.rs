//! What `docs/operations.md` says of drills was measured: `docs/drills.json`, as `make ops` wrote it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const SCRIPTS: [&str; 4] = ["upgrades", "disks", "outages", "faults"];

fn read(name: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(name)).unwrap_or_else(|_| panic!("{name} is not there"))
}

/// The rows of the table: what happens, without its star, and what was measured.
fn rows() -> BTreeMap<String, String> {
    let page = read("docs/operations.md");
    let (_, section) = page.split_once("\n## Drills\n").expect("the drills");
    let table = section.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let cells = |line: &str| {
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        let (what, measured) = (cells.next().expect("what happens"), cells.next_back().expect("a measure"));
        (what.trim_end_matches(" *").to_owned(), measured.to_owned())
    };
    table.take_while(|line| line.starts_with('|')).map(cells).collect()
}

/// Every drill of the scripts, with the row that it names.
fn scripted() -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for script in SCRIPTS {
        let text = read(&format!("scripts/ops/drills/{script}.py"));
        let (_, list) = text.split_once("\nDRILLS = [\n").expect("a list of drills");
        for line in list.lines().take_while(|line| *line != "]") {
            let quoted: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
            let [name, row] = quoted[..] else { panic!("{script}.py has no name and row in {line}") };
            found.insert((name.to_owned(), row.to_owned()));
        }
    }
    found
}

/// `0.2` of `ready after 0.2 s, …`.
fn seconds(text: &str) -> Vec<&str> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    let pairs = words.windows(2).filter(|pair| pair[1].trim_end_matches([',', ';', '.', ')']) == "s");
    pairs.map(|pair| pair[0].trim_start_matches('(')).filter(|word| is_number(word)).collect()
}

#[test]
fn what_the_table_of_drills_says_was_measured_by_all_of_them() {
    let (rows, kept) = (rows(), serde_json::from_str::<Value>(&read("docs/drills.json")).expect("JSON"));
    let mut measured: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let mut done = BTreeSet::new();
    for drill in kept["drills"].as_array().expect("drills") {
        assert_eq!(drill["failed"], false, "{drill}");
        let [name, row] = ["drill", "row"].map(|key| drill[key].as_str().expect("a name"));
        let times = drill["seconds"].as_object().expect("times").values().map(|time| time.as_f64().expect("a time"));
        measured.entry(row).or_default().extend(times);
        done.insert((name.to_owned(), row.to_owned()));
    }
    assert_eq!(
        done,
        scripted(),
        "docs/drills.json is not of the drills that there are: copy target/ops/drills.json there"
    );
    let shown: BTreeSet<&str> = rows.keys().map(String::as_str).collect();
    assert_eq!(shown, measured.keys().copied().collect::<BTreeSet<_>>(), "the table has a row for each");
    let mut seen = 0;
    for (row, said) in &rows {
        for figure in seconds(said) {
            let decimals = figure.split_once('.').map_or(0, |(_, after)| after.len());
            let is_there = measured[row.as_str()].iter().any(|time| format!("{time:.decimals$}") == figure);
            assert!(is_there, "{row}: {figure} s is none of {:?}", measured[row.as_str()]);
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen}");
}
