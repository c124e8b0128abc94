//! The pages as a reader goes through them: each says first who needs it, and its links lead somewhere.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::walks::{ROOT, read};

/// What a page begins with, below its heading.
const READER: &str = "**Who needs this:** ";

/// Every page, by its path from the root.
fn pages() -> Vec<PathBuf> {
    let of = |folder: &str| {
        let entries = std::fs::read_dir(Path::new(ROOT).join(folder)).expect("a folder");
        let paths = entries.map(|entry| Path::new(folder).join(entry.expect("an entry").file_name()));
        paths.filter(|path| path.extension().is_some_and(|end| end == "md")).collect::<Vec<_>>()
    };
    [of(""), of("docs")].concat()
}

/// The lines that are no block of code, without the code within them.
fn prose(text: &str) -> impl Iterator<Item = String> {
    let mut is_block = false;
    let lines = text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_block ^= is_fence;
        !is_block && !is_fence
    });
    lines.map(|line| line.split('`').step_by(2).collect())
}

/// What GitHub makes of a heading for links to it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|letter| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    let mut is_block = false;
    let headings = text.lines().filter(move |line| {
        is_block ^= line.starts_with("```");
        !is_block && line.starts_with('#')
    });
    headings.map(|line| anchor(line.trim_start_matches('#'))).collect()
}

/// Where the links and pictures of a text lead, within this repository.
fn links(text: &str) -> Vec<String> {
    let ends = [("](", ')'), ("src=\"", '"'), ("srcset=\"", '"')];
    let of = |line: String| {
        let found = ends.iter().flat_map(|(begin, end)| {
            line.split(begin).skip(1).filter_map(|rest| Some(rest.split_once(*end)?.0.to_owned())).collect::<Vec<_>>()
        });
        found.filter(|link| !link.starts_with("http")).collect::<Vec<_>>()
    };
    prose(text).flat_map(of).collect()
}

/// `docs/../README.md` as `README.md`.
fn straight(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut so_far, part| {
        if part == Component::ParentDir {
            so_far.pop();
        } else {
            so_far.push(part);
        }
        so_far
    })
}

fn leads_somewhere(page: &Path, link: &str) -> bool {
    let (file, heading) = link.split_once('#').unwrap_or((link, ""));
    let target =
        if file.is_empty() { page.to_owned() } else { straight(&page.parent().unwrap_or(Path::new("")).join(file)) };
    let is_there = Path::new(ROOT).join(&target).exists();
    is_there && (heading.is_empty() || anchors(&read(&target)).contains(heading))
}

#[test]
fn each_page_says_first_who_needs_it() {
    // The changes have the form of that kind of page.
    let pages: Vec<PathBuf> = pages().into_iter().filter(|page| page != Path::new("CHANGELOG.md")).collect();
    let says = |page: &&PathBuf| {
        let text = read(page);
        let mut lines = text.lines().filter(|line| !line.is_empty());
        lines.next().is_some_and(|line| line.starts_with("# "))
            && lines.next().is_some_and(|line| line.starts_with(READER))
    };
    let silent: Vec<_> = pages.iter().filter(|page| !says(page)).collect();
    assert!(silent.is_empty(), "{silent:?} do not begin with {READER}");
    assert!(pages.len() > 15, "{pages:?}");
}

#[test]
fn every_link_of_the_docs_leads_to_a_file_and_a_heading_that_are_there() {
    let (mut seen, mut broken) = (0, Vec::new());
    for page in pages() {
        for link in links(&read(&page)) {
            seen += 1;
            if !leads_somewhere(&page, &link) {
                broken.push(format!("{link} in {}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(seen > 150, "{seen}");
}
