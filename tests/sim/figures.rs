//! What many runs came to.

use std::collections::BTreeMap;

use crate::run::Outcome;

#[derive(Default)]
pub struct Figures {
    seeds: usize,
    store_hours: i64,
    counts: BTreeMap<&'static str, u64>,
    drained: Vec<i64>,
    lost: usize,
    doubled: usize,
    /// Seeds that broke a promise, with the first one.
    pub broken: Vec<(u64, String)>,
}

impl Figures {
    pub fn add(&mut self, seed: u64, outcome: Outcome) {
        self.seeds += 1;
        self.store_hours += outcome.store_hours;
        for (what, count) in outcome.counts {
            *self.counts.entry(what).or_default() += count;
        }
        self.drained.extend(outcome.drained);
        self.lost += outcome.lost;
        self.doubled += outcome.doubled;
        self.broken.extend(outcome.broken.into_iter().next().map(|first| (seed, first)));
    }

    /// The table; `seconds` of one processor is what all of it took.
    pub fn print(mut self, seconds: i64) {
        self.drained.sort_unstable();
        let at = |of_hundred: usize| {
            self.drained.get((self.drained.len() * of_hundred / 100).min(self.drained.len().saturating_sub(1)))
        };
        let tenths = self.store_hours * 60 * 10 / 24 / seconds.max(1);
        println!("| | |\n|---|---:|");
        println!("| seeds | {} |", self.seeds);
        println!("| store-days | {} |", self.store_hours / 24);
        println!("| store-days a CPU minute | {}.{} |", tenths / 10, tenths % 10);
        for (what, count) in &self.counts {
            println!("| {what} | {count} |");
        }
        println!("| sales lost | {} |", self.lost);
        println!("| sales doubled | {} |", self.doubled);
        println!("| from the heal to an empty outbox, median | {} ms |", at(50).copied().unwrap_or_default());
        println!("| the same, 99 % | {} ms |", at(99).copied().unwrap_or_default());
        println!("| the same, longest | {} ms |", self.drained.last().copied().unwrap_or_default());
        println!("| seeds that broke a promise | {} |", self.broken.len());
    }
}

/// Seconds of processors that this process took, its threads included.
pub fn cpu_seconds() -> i64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<i64> =
        stat.rsplit(") ").next().unwrap_or_default().split(' ').filter_map(|text| text.parse().ok()).collect();
    // The first field is a letter and falls out: utime and stime, in hundredths.
    fields.get(10..12).map_or(0, |ticks| ticks.iter().sum::<i64>() / 100)
}
