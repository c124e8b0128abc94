//! What `docs/operations.md` says of drills was measured: `docs/drills.json`, as `make ops` wrote it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const SCRIPTS: [&str; 4] = ["upgrades", "disks", "outages", "faults"];

/// Of which steps of each drill the table has the time, in the order in which its row says them.
const SHOWN: [(&str, &[&str]); 12] = [
    ("upgrade, headquarters first", &["headquarters starts as the new release", "the store is replaced"]),
    ("back to the release before", &["until all sales since are pushed again"]),
    (
        "the disk of headquarters is lost",
        &["restored", "until headquarters is ready", "until all sales since are there again"],
    ),
    (
        "the disk of a store is lost, restored",
        &["restored", "until the store is ready", "until the sales since the backup are back"],
    ),
    (
        "the disk of a store is lost, installed anew",
        &[
            "installed",
            "until the store is ready",
            "until its people sign in and its goods are there",
            "until its sales are back",
        ],
    ),
    ("a store is killed while it sells", &["sells again after a kill, at worst"]),
    (
        "the broker is dead",
        &[
            "an edit at a store of the other server, without it, median",
            "an edit at a store of the other server, without it, at worst",
            "an edit at a store of the other server, with the broker, median",
        ],
    ),
    (
        "PostgreSQL is away for a minute",
        &[
            "until the balancer says that no server is ready",
            "until headquarters is ready again",
            "until every sale of that minute is there",
        ],
    ),
    ("a server of headquarters is killed", &["until what was sold is there by the other server"]),
    (
        "the clock of a store is wrong",
        &["until store and headquarters say that it is two hours ahead", "until no alarm is left, once it is right"],
    ),
    (
        "the certificate of headquarters ends",
        &[
            "until the store says why there is no line",
            "until everything is at headquarters after the renewal in place",
        ],
    ),
    (
        "the token is rotated while the store is away",
        &[
            "until the store has taken over the new token",
            "until everything is at headquarters by the token that a person brought",
        ],
    ),
];

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

/// `0.2` of `ready after 0.2 s, …`, and `1.6` of `(1.6 at worst)`: what is in seconds, or has a part of one.
fn seconds(text: &str) -> Vec<&str> {
    let words: Vec<&str> =
        text.split_whitespace().map(|word| word.trim_matches(['(', ')', ',', ';', ':', '.'])).collect();
    let is_time = |at: usize, word: &str| {
        word.parse::<f64>().is_ok() && (word.contains('.') || words.get(at + 1).is_some_and(|unit| *unit == "s"))
    };
    words.iter().enumerate().filter(|(at, word)| is_time(*at, word)).map(|(_, word)| *word).collect()
}

#[test]
fn what_the_table_of_drills_says_was_measured_by_all_of_them() {
    let (rows, kept) = (rows(), serde_json::from_str::<Value>(&read("docs/drills.json")).expect("JSON"));
    let mut measured: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let mut done = BTreeSet::new();
    for drill in kept["drills"].as_array().expect("drills") {
        assert_eq!(drill["failed"], false, "{drill}");
        let [name, row] = ["drill", "row"].map(|key| drill[key].as_str().expect("a name"));
        let steps = SHOWN.iter().filter(|(shown, _)| *shown == name).flat_map(|(_, steps)| *steps);
        let times =
            steps.map(|step| drill["seconds"][step].as_f64().unwrap_or_else(|| panic!("{name} has no {step:?}")));
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
    for (name, _) in SHOWN {
        assert!(done.iter().any(|(drill, _)| drill == name), "{name} is no drill");
    }
    for (row, said) in &rows {
        let (said, times) = (seconds(said), &measured[row.as_str()]);
        assert_eq!(said.len(), times.len(), "{row} says {said:?}, and its steps took {times:?}");
        for (figure, time) in said.iter().zip(times) {
            let decimals = figure.split_once('.').map_or(0, |(_, after)| after.len());
            assert_eq!(*figure, format!("{time:.decimals$}"), "{row}");
        }
    }
}

#[test]
fn a_time_is_a_number_of_seconds_or_has_a_part_of_one() {
    let said = "from 0.1.0: 503 after 5 s, ready in 0.2 s (1.6 at worst); 400 sales, in place of 0.05.";
    assert_eq!(seconds(said), ["5", "0.2", "1.6", "0.05"]);
}
