//! Medians, percentiles and spreads of what was measured.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The smallest, the middle and the largest of the runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    pub min: f64,
    pub median: f64,
    pub max: f64,
}

impl Spread {
    /// `None` without values.
    pub fn new(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let upper = *sorted.get(sorted.len() / 2)?;
        let median =
            if sorted.len().is_multiple_of(2) { f64::midpoint(sorted[sorted.len() / 2 - 1], upper) } else { upper };
        Some(Self { min, median, max })
    }
}

/// How long each of many things took.
#[derive(Default)]
pub struct Times(Vec<Duration>);

impl Times {
    pub fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    pub fn join(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Milliseconds within which so many of a hundred were done (nearest rank); 0 without any.
    pub fn percentile(&mut self, percent: usize) -> f64 {
        self.0.sort_unstable();
        let rank = (self.0.len() * percent).div_ceil(100).max(1);
        self.0.get(rank - 1).map_or(0.0, |time| millis(*time))
    }

    pub fn median(&mut self) -> f64 {
        self.percentile(50)
    }
}

pub fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// So many in this time, as a rate.
pub fn per_second(count: usize, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64().max(1e-9)
}

pub fn kib(bytes: u64) -> f64 {
    bytes as f64 / 1024.0
}

pub fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentile_is_the_time_within_which_so_many_were_done() {
        let mut times = Times::default();
        // Backwards: they come in no order.
        (1..=200).rev().for_each(|millis| times.add(Duration::from_millis(millis)));
        let within =
            |times: &mut Times, percents: [usize; 3]| percents.map(|percent| times.percentile(percent).to_string());
        assert_eq!(within(&mut times, [50, 99, 100]), ["100", "198", "200"]);
        let mut one = Times::default();
        one.add(Duration::from_millis(7));
        assert_eq!(within(&mut one, [1, 50, 99]), ["7", "7", "7"]);
        assert_eq!(within(&mut Times::default(), [1, 50, 99]), ["0", "0", "0"]);
    }

    #[test]
    fn the_median_of_an_even_number_of_runs_is_between_the_two_in_the_middle() {
        assert_eq!(Spread::new(&[3.0, 1.0, 2.0]), Some(Spread { min: 1.0, median: 2.0, max: 3.0 }));
        assert_eq!(Spread::new(&[4.0, 1.0, 2.0, 8.0]), Some(Spread { min: 1.0, median: 3.0, max: 8.0 }));
        assert_eq!(Spread::new(&[]), None);
    }
}
