//! How fast it is, as the docs say it, is what was measured: tables and sentences with figures are made of
//! `docs/performance.json`, and nobody types one. `make generated` writes them anew.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value as Json;

use crate::walks::{ROOT, read};

const MEASURED: &str = "docs/performance.json";
const BEGIN: &str = "<!-- figures of docs/performance.json, written by make generated -->\n";
const END: &str = "<!-- end of the figures -->\n";

/// What a page has of the measurements.
type Made = fn(&Json) -> String;

/// Pages with figures, each with what makes them.
const PAGES: [(&str, Made); 3] =
    [("README.md", summary), ("docs/performance.md", results), ("docs/operations.md", of_a_store)];

/// A row of the README: what it is, the goal, and the figures with what stands around each. The first is compared with what the
/// last word names. Without one of its figures there is no row.
struct Line {
    what: &'static str,
    id: &'static str,
    figures: &'static [(&'static str, &'static str)],
    beside: &'static str,
}

const LINES: [Line; 6] = [
    Line {
        what: "A sale of 3 lines, on disk; 8 tills that never pause",
        id: "P6",
        figures: &[("sales, 8 tills", "# a second"), ("8 tills, median", ", median # ms")],
        beside: "SQLite's one-row commits",
    },
    Line {
        what: "A price changed at headquarters, until a connected store has it",
        id: "P5",
        figures: &[("change to store, median", "# ms")],
        beside: "",
    },
    Line {
        what: "A backlog of sales that a store pushes",
        id: "P2",
        figures: &[("sales, all good", "# sales a second")],
        beside: "prepared statements",
    },
    Line {
        what: "A new store loads its products, each with barcode and price",
        id: "P1",
        figures: &[("first store", "# products a second")],
        beside: "prepared statements",
    },
    Line {
        what: "Start of a store, until it is ready",
        id: "P9",
        figures: &[("store, start to ready", "# ms")],
        beside: "",
    },
    Line {
        what: "Memory of headquarters at rest",
        id: "P9",
        figures: &[("headquarters at rest, memory", "# MiB")],
        beside: "",
    },
];

fn measured() -> Json {
    serde_json::from_str(&read(MEASURED)).expect("docs/performance.json is JSON")
}

fn figures(measured: &Json) -> &[Json] {
    measured["figures"].as_array().map(Vec::as_slice).expect("figures")
}

fn figure<'a>(measured: &'a Json, id: &str, name: &str) -> Option<&'a Json> {
    figures(measured).iter().find(|figure| figure["id"] == id && figure["name"] == name)
}

fn text(value: &Json) -> &str {
    value.as_str().expect("a text")
}

/// With three digits at least: 31 050, 76.9, 2.87, 0.745.
fn number(value: &Json) -> String {
    let value = value.as_f64().expect("a number");
    let places = match value {
        value if value >= 99.95 => 0,
        value if value >= 9.995 => 1,
        value if value >= 0.9995 => 2,
        _ => 3,
    };
    let text = format!("{value:.places$}");
    if places > 0 {
        return text;
    }
    let grouped = text.char_indices().flat_map(|(place, digit)| {
        let begins = place > 0 && (text.len() - place).is_multiple_of(3);
        begins.then_some(' ').into_iter().chain([digit])
    });
    grouped.collect()
}

fn median(figure: &Json) -> String {
    number(&figure["value"]["median"])
}

/// `2 cores (Intel(R) Xeon(R) Processor, Linux 6.18)`.
fn machine(measured: &Json) -> String {
    let machine = &measured["machine"];
    let kernel: Vec<&str> = text(&machine["kernel"]).splitn(3, '.').take(2).collect();
    format!("{} cores ({}, Linux {})", machine["cores"], text(&machine["cpu"]), kernel.join("."))
}

fn summary(measured: &Json) -> String {
    let mut out = format!(
        "{} that client, headquarters and store share, on SQLite, by `{}`, medians:\n\n\
         | | Measured | Beside it, on the same machine |\n|---|--:|--:|\n",
        machine(measured),
        text(&measured["command"]),
    );
    for Line { what, id, figures, beside } in LINES {
        let found: Option<Vec<_>> = figures.iter().map(|(name, _)| figure(measured, id, name)).collect();
        let Some(found) = found else { continue };
        let shown: String =
            found.iter().zip(figures).map(|(figure, (_, around))| around.replace('#', &median(figure))).collect();
        let ratio = found.first().map(|figure| &figure["limit"]["ratio"]["median"]).filter(|ratio| !ratio.is_null());
        let compared = ratio.map(|ratio| format!("{} of {beside} ", number(ratio))).unwrap_or_default();
        let _ = writeln!(out, "| {what} ({id}) | {shown} | {compared}|");
    }
    out
}

fn results(measured: &Json) -> String {
    let mut out = format!(
        "Median (smallest to largest) of {} runs of `{}` at commit {}, on {} with {} MiB, by `{}`.\n\n\
         | | Figure | Median (range) | Ratio | Goal |\n|---|---|--:|---|---|\n",
        measured["runs"],
        text(&measured["program"]),
        text(&measured["commit"]),
        machine(measured),
        measured["machine"]["memoryMib"],
        text(&measured["command"]),
    );
    for figure in figures(measured) {
        let (limit, goal, value) = (&figure["limit"], &figure["goal"], &figure["value"]);
        let ratio = if limit.is_null() {
            String::new()
        } else {
            format!("{} of {} ", number(&limit["ratio"]["median"]), text(&limit["what"]))
        };
        let missed = if goal["met"] == false { "**missed** " } else { "" };
        let goal = goal["text"].as_str().map(|text| format!("{text} {missed}")).unwrap_or_default();
        let _ = writeln!(
            out,
            "| {} | {} ({}) | {} ({} to {}) | {ratio}| {goal}|",
            text(&figure["id"]),
            text(&figure["name"]),
            text(&figure["unit"]),
            median(figure),
            number(&value["min"]),
            number(&value["max"]),
        );
    }
    out
}

fn of_a_store(measured: &Json) -> String {
    let of = |id: &str, name: &str| {
        let found = figure(measured, id, name);
        median(found.unwrap_or_else(|| panic!("{MEASURED} has no {name:?} of {id}, which docs/operations.md names")))
    };
    format!(
        "**A store** ([P1, P6, P9](performance.md#results), {} cores that ran tills and headquarters too): {} sales a second from one\n\
         till, {} from eight, {} and {} ms of a processor each; {} MiB of memory at most while it loads {} products; ready\n\
         {} ms after its start.\n",
        measured["machine"]["cores"],
        of("P6", "sales, 1 till"),
        of("P6", "sales, 8 tills"),
        of("P6", "1 till, CPU of the store"),
        of("P6", "8 tills, CPU of the store"),
        of("P1", "store, most memory"),
        number(&measured["sizes"]["products"]),
        of("P9", "store, start to ready"),
    )
}

/// A page before its figures, the figures, and what comes after them.
fn parts<'a>(page: &str, text: &'a str) -> [&'a str; 3] {
    let found = text.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?)));
    let (before, (figures, after)) = found.unwrap_or_else(|| panic!("{page} has no lines {BEGIN:?} and {END:?}"));
    [before, figures, after]
}

#[test]
fn the_figures_of_the_docs_are_those_of_the_checked_in_measurements() {
    let measured = measured();
    for (page, made) in PAGES {
        let now = made(&measured);
        if std::env::var_os("UPDATE_GENERATED").is_some() {
            let old = read(page);
            let [before, _, after] = parts(page, &old);
            std::fs::write(Path::new(ROOT).join(page), [before, BEGIN, now.as_str(), END, after].concat())
                .expect("a page");
        }
        let kept = read(page);
        assert!(parts(page, &kept)[1] == now, "the figures of {page} are not those of {MEASURED}; run: make generated");
    }
}

#[test]
fn the_readme_names_figures_that_are_measured_and_shows_all_of_them() {
    let folder = Path::new("crates/tillkeep/src/bench");
    let files = std::fs::read_dir(Path::new(ROOT).join(folder)).expect("the benchmark");
    let sources: String = files.map(|file| read(folder.join(file.expect("a file").file_name()))).collect();
    let measured = measured();
    for Line { what, id, figures, .. } in &LINES {
        for (name, around) in *figures {
            assert!(sources.contains(&format!("\"{name}\"")), "{name:?} of {id} is no figure of the benchmark");
            assert_eq!(around.matches('#').count(), 1, "{around:?} of {what:?} has one place for its figure");
        }
    }
    // Each of a goal that was measured has its row.
    let was_measured = |id: &str| figures(&measured).iter().any(|figure| figure["id"] == id);
    let wanted = LINES.iter().filter(|line| was_measured(line.id)).count();
    let rows = summary(&measured).lines().filter(|line| line.starts_with("| ") && !line.starts_with("| |")).count();
    assert_eq!(rows, wanted, "{MEASURED} lacks a figure of a row of the README");
}

#[test]
fn a_figure_is_written_with_three_digits_at_least() {
    let written = [0.0, 0.745_39, 0.9996, 2.872_359, 9.996, 76.941, 99.96, 492.4, 1132.9, 31_050.2, 1_234_567.0];
    let written = written.map(|value| number(&Json::from(value)));
    let wanted = ["0.000", "0.745", "1.00", "2.87", "10.0", "76.9", "100", "492", "1 133", "31 050", "1 234 567"];
    assert_eq!(written, wanted);
}
