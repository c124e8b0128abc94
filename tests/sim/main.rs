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

use std::time::Instant;

use figures::Figures;
use plan::{HARD, PUT_BACK, Plan};
use run::run;

#[track_caller]
fn holds(plan: &Plan, seed: u64) {
    let outcome = run(plan, seed, &[]);
    assert!(outcome.broken.is_empty(), "seed {seed}: {:#?}", outcome.broken);
    assert!(outcome.counts["sales"] > 20, "too little happened: {:?}", outcome.counts);
}

#[test]
fn on_a_bad_line_with_crashes_every_promise_holds() {
    for seed in 1..=3 {
        holds(&HARD, seed);
    }
}

#[test]
fn the_same_seed_is_the_same_run_and_another_one_is_not() {
    let plan = Plan { stores: 2, hours: 2, ..HARD };
    let (first, again, other) = (run(&plan, 7, &[]), run(&plan, 7, &[]), run(&plan, 8, &[]));
    for (number, (one, two)) in first.log.iter().zip(&again.log).enumerate() {
        assert_eq!(one, two, "line {number} differs");
    }
    assert_eq!(first.log.len(), again.log.len());
    assert_ne!(first.log, other.log);
}

#[test]
fn every_planted_fault_is_caught() {
    let mut caught = Vec::new();
    let mut missed = Vec::new();
    for fault in planted::FAULTS {
        let found = planted::SEEDS.iter().find_map(|seed| {
            let outcome = run(fault.plan, *seed, fault.lines);
            let hit = outcome.broken.iter().find(|broken| fault.caught_by.iter().any(|name| broken.starts_with(name)));
            hit.map(|broken| format!("{}: seed {seed}, {broken}", fault.what)).or_else(|| {
                println!("{}: seed {seed} breaks {:?}", fault.what, outcome.broken);
                None
            })
        });
        match found {
            Some(found) => caught.push(found),
            None => missed.push(fault.what),
        }
    }
    println!("{} of {} caught\n{}", caught.len(), planted::FAULTS.len(), caught.join("\n"));
    assert!(missed.is_empty(), "not caught: {missed:#?}");
}

/// `make sim ARGS="--seeds 1..200 --hours 72 --stores 5 --put-back --log sim.log"`
#[test]
#[ignore = "make sim"]
fn many_seeds() {
    let text = std::env::var("SIM").unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().collect();
    let value = |name: &str| words.iter().position(|word| *word == name).and_then(|at| words.get(at + 1).copied());
    let number = |name: &str| value(name).map(|text| text.parse::<i64>().expect("a number"));
    let (from, to) = value("--seeds").unwrap_or("1..20").split_once("..").expect("--seeds 1..20");
    let (from, to): (u64, u64) = (from.parse().expect("a seed"), to.parse().expect("a seed"));
    let base = if words.contains(&"--put-back") { PUT_BACK } else { HARD };
    let plan = Plan {
        stores: number("--stores").map_or(base.stores, |stores| usize::try_from(stores).expect("few")),
        hours: number("--hours").or(number("--days").map(|days| days * 24)).unwrap_or(base.hours),
        ..base
    };
    let lines: Vec<&str> = value("--plant").into_iter().flat_map(|text| text.split(',')).collect();
    let mut figures = Figures::default();
    let started = Instant::now();
    for seed in from..=to {
        let outcome = run(&plan, seed, &lines);
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
    figures.print(started.elapsed());
    assert!(broken.is_empty(), "{broken:#?}");
}
