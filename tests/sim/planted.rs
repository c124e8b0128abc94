//! Wrong programs, and what catches each of them. A fault is a patch of the product beside this file, `planted/NAME.patch`,
//! which `make planted` builds and runs. A checker that lets one of these pass proves nothing.

use std::path::Path;

use crate::plan::{
    DRAWERS, GIVEN_BACK, LATE, LOST_ANSWERS, OVERTAKEN, Plan, SHORT, SHORT_HQ_RESTORED, SHORT_STORES_RESTORED,
    failing_at,
};

const PAGES_FAIL: Plan = failing_at("apply.page");
const ENTRIES_FAIL: Plan = failing_at("outbox.enqueue");

pub struct Planted {
    /// What is wrong, as the patch is called.
    pub name: &'static str,
    /// The runs in which it shows: the first seed that catches it ends the search.
    pub plan: &'static Plan,
    /// How the broken promise begins; another one does not count.
    pub caught_by: &'static [&'static str],
    /// The seed to begin with: one that is known to catch it saves the others.
    pub first_seed: u64,
}

impl Planted {
    /// The seeds that are tried; each passes without a planted fault.
    pub fn seeds(&self) -> impl Iterator<Item = u64> {
        self.first_seed..self.first_seed + 6
    }

    const fn first_tried_with(mut self, seed: u64) -> Self {
        self.first_seed = seed;
        self
    }
}

const fn planted(name: &'static str, plan: &'static Plan, caught_by: &'static [&'static str]) -> Planted {
    Planted { name, plan, caught_by, first_seed: 1 }
}

pub const FAULTS: &[Planted] = &[
    planted("sent-before-the-answer", &SHORT, &["I2", "I9", "U7"]),
    planted("the-same-envelope-again", &SHORT, &["P5", "I4"]),
    planted("a-late-envelope-wins", &LATE, &["U7"]),
    planted("deleted-rows-are-not-pulled", &SHORT, &["I7"]),
    planted("the-network-counts-as-an-attempt", &SHORT, &["P5"]),
    planted("the-cursor-from-the-head", &SHORT, &["I7"]),
    planted("the-cursor-before-its-rows", &PAGES_FAIL, &["I7"]),
    planted("taxes-are-shown-page-by-page", &SHORT, &["D2"]),
    planted("a-pull-overwrites-unsent-work", &SHORT, &["D6"]),
    planted("what-was-left-aside-stays-away", &LOST_ANSWERS, &["I7"]),
    planted("permissions-are-merged", &SHORT, &["I7"]),
    planted("later-entries-do-not-wait", &SHORT, &["U4"]),
    planted("the-entry-in-a-transaction-of-its-own", &ENTRIES_FAIL, &["I2", "I9"]),
    planted("a-refused-entry-holds-up-the-others", &SHORT, &["U4"]),
    planted("the-sender-rests-for-an-hour", &SHORT, &["P3"]),
    planted("a-pull-brings-the-stock", &SHORT, &["I4"]),
    planted("a-void-keeps-the-goods", &SHORT, &["I4"]),
    planted("the-seller-says-what-came-back", &GIVEN_BACK, &["U17"]),
    planted("claims-of-others-do-not-count", &GIVEN_BACK, &["U17"]),
    planted("a-close-misses-a-movement", &DRAWERS, &["I5"]),
    planted("a-blind-report-tells-the-total", &DRAWERS, &["Blind"]),
    planted("two-tills-resume-one-cart", &DRAWERS, &["Cart"]),
    planted("an-added-column-is-not-loaded", &SHORT, &["I7"]),
    planted("a-reload-brings-no-deletes", &SHORT_HQ_RESTORED, &["I7"]),
    planted("a-reload-drops-unsent-work", &SHORT_HQ_RESTORED, &["D6", "I2"]),
    planted("what-headquarters-lost-is-not-sent-again", &SHORT_HQ_RESTORED, &["I2"]),
    planted("a-restored-store-gives-numbers-again", &SHORT_STORES_RESTORED, &["I6", "P5"]),
    planted("a-reinstalled-store-fetches-no-documents", &SHORT_STORES_RESTORED, &["I3"]),
    planted("an-unknown-ticket-means-nothing", &OVERTAKEN, &["I7", "I2"]).first_tried_with(6),
];

/// Runs the plan of the fault called `name` until a promise is broken that it must break: which one, by which seed. An
/// error says what else was broken.
pub fn search(name: &str) -> Result<String, String> {
    let fault = FAULTS.iter().find(|fault| fault.name == name).ok_or("it has no row in planted.rs")?;
    let mut others = Vec::new();
    for seed in fault.seeds() {
        let broken = crate::run::run_until(fault.plan, seed, fault.caught_by).broken;
        match broken.iter().find(|broken| fault.caught_by.iter().any(|promise| broken.starts_with(promise))) {
            Some(broken) => return Ok(format!("seed {seed}, {broken}")),
            None => others.extend(broken),
        }
    }
    Err(format!("none of {:?} is broken, only {others:?}", fault.caught_by))
}

#[test]
fn each_planted_fault_has_a_patch_that_fits_the_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the sources");
    let patches = root.join("tests/sim/planted");
    let mut there: Vec<String> = std::fs::read_dir(&patches)
        .expect("the patches")
        .map(|file| file.expect("a file").file_name().to_string_lossy().trim_end_matches(".patch").to_owned())
        .collect();
    let mut named: Vec<&str> = FAULTS.iter().map(|fault| fault.name).collect();
    there.sort();
    named.sort_unstable();
    assert_eq!(there, named, "each patch has a row here, each row a patch");
    for name in named {
        let said = std::process::Command::new("git")
            .args(["apply", "--check"])
            .arg(patches.join(name).with_extension("patch"))
            .current_dir(&root)
            // Sources that are unpacked within another repository are none of its files.
            .env("GIT_CEILING_DIRECTORIES", root.parent().expect("a directory"))
            .output()
            .expect("git");
        let why = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(said.status.success(), "{name}.patch does not fit the program any more: make a new one\n{why}");
    }
}

#[test]
fn no_fault_is_planted_in_the_program_itself() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders = vec![crates.canonicalize().expect("the crates")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files += 1;
                let text = std::fs::read_to_string(&path).expect("a text");
                assert!(!text.contains("fault::planted"), "{} has a fault of its own: make it a patch", path.display());
            }
        }
    }
    assert!(files > 100, "{files} files are not the program");
}
