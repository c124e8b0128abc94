//! The sync engine in virtual time: headquarters and its stores in one thread, everything that can go wrong between
//! them drawn from a seed, and the promises checked on the way and at the end. docs/development.md, *The simulation*.

mod check;
mod figures;
mod headquarters;
mod line;
mod plan;
mod planted;
mod run;
mod shop;
mod site;
mod world;

use figures::Figures;
use plan::{HARD, PUT_BACK, Plan, SHORT};
use run::{run, run_with};

#[track_caller]
fn holds(plan: &Plan, seed: u64) {
    let outcome = run(plan, seed);
    assert!(outcome.broken.is_empty(), "seed {seed}: {:#?}", outcome.broken);
    assert!(outcome.counts["sales"] > 20, "too little happened: {:?}", outcome.counts);
}

#[test]
fn on_a_bad_line_with_crashes_every_promise_holds() {
    holds(&Plan { hours: 2, ..HARD }, 1);
}

#[test]
fn the_same_seed_is_the_same_run_and_another_one_is_not() {
    let (first, again, other) = (run(&SHORT, 7), run(&SHORT, 7), run(&SHORT, 8));
    for (number, (one, two)) in first.log.iter().zip(&again.log).enumerate() {
        assert_eq!(one, two, "line {number} differs");
    }
    assert_eq!(first.log.len(), again.log.len());
    assert_ne!(first.log, other.log);
}

#[test]
fn without_a_planted_fault_nothing_is_caught() {
    let mut plans: Vec<&Plan> = Vec::new();
    for fault in planted::FAULTS {
        if !plans.contains(&fault.plan) {
            plans.push(fault.plan);
        }
    }
    for plan in plans {
        holds(plan, 1);
    }
}

/// The planted faults are shared out among so many tests, which then run side by side.
const PARTS: usize = 4;

#[test]
fn every_planted_fault_is_caught_first_quarter() {
    caught(0);
}

#[test]
fn every_planted_fault_is_caught_second_quarter() {
    caught(1);
}

#[test]
fn every_planted_fault_is_caught_third_quarter() {
    caught(2);
}

#[test]
fn every_planted_fault_is_caught_last_quarter() {
    caught(3);
}

#[track_caller]
fn caught(part: usize) {
    let mut caught = Vec::new();
    let mut missed = Vec::new();
    let only = std::env::var("PLANT").unwrap_or_default();
    let share = planted::FAULTS.iter().skip(part).step_by(PARTS);
    for fault in share.filter(|fault| fault.what.contains(&only)) {
        let mut others = Vec::new();
        let found = fault.seeds().find_map(|seed| {
            let broken = run_with(fault.plan, seed, fault.lines, fault.caught_by).broken;
            let hit = broken.iter().find(|broken| fault.caught_by.iter().any(|name| broken.starts_with(name)));
            let hit = hit.map(|broken| format!("{}: {broken} (seed {seed})", fault.what));
            others.extend(broken);
            hit
        });
        println!("{}", found.as_deref().unwrap_or(fault.what));
        match found {
            Some(found) => caught.push(found),
            None => missed.push((fault.what, others)),
        }
    }
    println!("{} of {} caught", caught.len(), caught.len() + missed.len());
    assert!(missed.is_empty(), "not caught: {missed:#?}");
}

/// `make sim ARGS="--seeds 1..200 --days 3 --stores 5 --put-back --log sim.log"`; the last log is kept.
#[test]
#[ignore = "make sim"]
fn many_seeds() {
    let text = std::env::var("SIM").unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().collect();
    let value = |name: &str| words.iter().position(|word| *word == name).and_then(|at| words.get(at + 1).copied());
    let number = |name: &str| value(name).map(|text| text.parse::<i64>().expect("a number"));
    let (from, to) = value("--seeds").unwrap_or("1..20").split_once("..").expect("--seeds 1..20");
    let (from, to): (u64, u64) = (from.parse().expect("a seed"), to.parse().expect("a seed"));
    let base = match value("--plan") {
        Some("short") => SHORT,
        Some("overtaken") => plan::OVERTAKEN,
        Some("short-put-back") => plan::SHORT_PUT_BACK,
        _ if words.contains(&"--put-back") => PUT_BACK,
        _ => HARD,
    };
    let plan = Plan {
        stores: number("--stores").map_or(base.stores, |stores| usize::try_from(stores).expect("few")),
        hours: number("--hours").or(number("--days").map(|days| days * 24)).unwrap_or(base.hours),
        ..base
    };
    let lines: Vec<&str> = value("--plant").into_iter().flat_map(|text| text.split(',')).collect();
    let mut figures = Figures::default();
    let before = figures::cpu_seconds();
    for seed in from..=to {
        let outcome = run_with(&plan, seed, &lines, &[]);
        if let Some(path) = value("--log") {
            std::fs::write(path, outcome.log.join("\n")).expect("the log is written");
        }
        println!(
            "seed {seed}: {}",
            if outcome.broken.is_empty() { "holds".to_owned() } else { format!("{:#?}", outcome.broken) }
        );
        figures.add(seed, outcome);
    }
    let broken = figures.broken.clone();
    figures.print(figures::cpu_seconds() - before);
    assert!(broken.is_empty(), "{broken:#?}");
}
