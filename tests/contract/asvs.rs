//! The table of the Application Security Verification Standard against the sources: every requirement has its row, and what
//! a row says shows it is there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::walks::{ROOT, code, functions, is_path, is_test, read};

const PAGE: &str = "docs/security-asvs.md";
/// The requirements of levels 1 and 2 of ASVS 5.0.0, each with its level.
const ALL: &str = include_str!("asvs.txt");
/// What may be said of a requirement, in the order of the columns that count it.
const VERDICTS: [&str; 4] = ["met", "partly", "not met", "does not apply"];
/// A name that has no test, as a column or a metric may be called.
const FEW: usize = 3;

/// A row of the table: what it is of, and what it says.
struct Row<'a> {
    ids: Vec<&'a str>,
    verdict: &'a str,
    how: &'a str,
    shown: &'a str,
}

fn rows(page: &str) -> Vec<Row<'_>> {
    let row = |line| {
        let cells: Vec<&str> = str::split(line, '|').map(str::trim).collect();
        let &["", ids, _, verdict, how, shown, ""] = cells.as_slice() else { return None };
        ids.starts_with(|first: char| first.is_ascii_digit()).then(|| Row {
            ids: ids.split(", ").collect(),
            verdict,
            how,
            shown,
        })
    };
    page.lines().filter_map(row).collect()
}

/// Whether what stands as code is there: a test by its name, a path, or a test of the web client by its file and title.
fn is_there(name: &str, functions: &BTreeSet<String>) -> bool {
    match name.split_once(": ") {
        Some((file, title)) => {
            let path = Path::new(ROOT).join(file);
            is_path(file) && std::fs::read_to_string(path).is_ok_and(|text| text.contains(&format!("'{title}'")))
        }
        None if is_test(name) => functions.contains(name),
        None => Path::new(ROOT).join(name).exists(),
    }
}

fn faults_of(row: &Row, functions: &BTreeSet<String>) -> Vec<String> {
    let mut faults = Vec::new();
    let id = row.ids.join(", ");
    if !VERDICTS.contains(&row.verdict) {
        faults.push(format!("{id}: {:?} is no verdict", row.verdict));
    }
    let shows = code(row.shown).count();
    if shows == 0 && VERDICTS[..2].contains(&row.verdict) {
        faults.push(format!("{id}: nothing shows it"));
    }
    if row.ids.len() > 1 && row.verdict != VERDICTS[3] {
        faults.push(format!("{id}: only what does not apply may share a row"));
    }
    let far = |name: &&str| is_path(name) || (is_test(name) && name.matches('_').count() > FEW);
    for name in code(row.shown).chain(code(row.how).filter(far)) {
        if !is_there(name, functions) {
            faults.push(format!("{id}: {name} is not there"));
        }
    }
    faults
}

/// The lines of the table at the head, as the rows add up: one a chapter, one a level, one for all.
fn sums(rows: &[Row]) -> Vec<String> {
    let verdicts: BTreeMap<&str, &str> =
        rows.iter().flat_map(|row| row.ids.iter().map(|id| (*id, row.verdict))).collect();
    let all: Vec<(&str, &str)> = ALL.lines().filter_map(|line| line.split_once(' ')).collect();
    let line = |what: String, ids: Vec<&str>| {
        let count = |verdict: &str| ids.iter().filter(|id| verdicts.get(*id) == Some(&verdict)).count();
        let [met, partly, not_met, aside] = VERDICTS.map(count);
        format!("| {what} | {} | {met} | {partly} | {not_met} | {aside} |", met + partly + not_met)
    };
    let which = |keep: &dyn Fn(&str, &str) -> bool| -> Vec<&str> {
        all.iter().filter(|(id, level)| keep(id, level)).map(|(id, _)| *id).collect()
    };
    let chapters = (1..=17).map(|chapter| {
        line(format!("V{chapter}"), which(&|id, _| id.split('.').next() == Some(chapter.to_string().as_str())))
    });
    let levels = ["1", "2"].map(|level| line(format!("Level {level}"), which(&|_, of| of == level)));
    chapters.chain(levels).chain([line("All".to_owned(), which(&|_, _| true))]).collect()
}

/// All that is wrong with the page.
fn faults(page: &str, functions: &BTreeSet<String>) -> Vec<String> {
    let rows = rows(page);
    let mut faults: Vec<String> = rows.iter().flat_map(|row| faults_of(row, functions)).collect();
    let named: Vec<&str> = rows.iter().flat_map(|row| row.ids.iter().copied()).collect();
    let wanted: Vec<&str> = ALL.lines().filter_map(|line| line.split(' ').next()).collect();
    for id in &wanted {
        let times = named.iter().filter(|other| *other == id).count();
        if times != 1 {
            faults.push(format!("{id} has {times} rows"));
        }
    }
    faults.extend(named.iter().filter(|id| !wanted.contains(id)).map(|id| format!("{id} is no requirement")));
    // The name of a chapter may stand behind its number.
    let said: BTreeSet<String> = page.lines().map(without_name).collect();
    faults.extend(sums(&rows).into_iter().filter(|line| !said.contains(line)).map(|line| format!("the sum is {line}")));
    faults
}

/// `| V1 Encoding | 1 | …` without the name of the chapter.
fn without_name(line: &str) -> String {
    let mut cells: Vec<&str> = line.split(" | ").collect();
    if let Some(first) = cells.first_mut().filter(|first| first.starts_with("| V")) {
        *first = first.match_indices(' ').nth(1).map_or(*first, |(at, _)| &first[..at]);
    }
    cells.join(" | ")
}

#[test]
fn every_requirement_of_the_standard_has_one_row_with_tests_and_paths_that_are_there() {
    let (page, functions) = (read(PAGE), functions());
    let faults = faults(&page, &functions);
    assert!(faults.is_empty(), "{PAGE}: {faults:#?}");
    let shown = rows(&page).iter().map(|row| code(row.shown).count()).sum::<usize>();
    assert!(shown > 200, "{shown}");
}

#[test]
fn a_false_name_a_row_too_many_and_a_wrong_sum_are_found_in_the_table_of_the_standard() {
    let (page, functions) = (read(PAGE), functions());
    let is_found = |from: &str, to: &str, fault: &str| {
        assert!(page.contains(from), "{from}");
        let faults = faults(&page.replacen(from, to, 1), &functions);
        assert!(faults.iter().any(|found| found.contains(fault)), "{from} as {to}: {faults:#?}");
    };
    let names = rows(&page);
    let names: Vec<&str> = names.iter().flat_map(|row| code(row.shown)).collect();
    let title = names.iter().find(|name| name.contains(".ts: ")).expect("a test of the web client");
    let test = names.iter().find(|name| is_test(name)).expect("a test");
    is_found(test, "a_test_that_does_not_exist", "a_test_that_does_not_exist is not there");
    is_found(title, "web/e2e/session.spec.ts: a title that does not exist", "a title that does not exist is not there");
    is_found("| 1.1.1 |", "| 1.1.2 |", "1.1.2 has 2 rows");
    is_found("| 1.1.1 |", "| 1.1.9 |", "1.1.9 is no requirement");
    is_found("| met |", "| not met |", "the sum is | V1 |");
    is_found("| met |", "| well |", "\"well\" is no verdict");
}
