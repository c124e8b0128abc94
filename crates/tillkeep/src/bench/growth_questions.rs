//! What is asked of large tables and of small ones.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use chrono::{Days, NaiveDate};

use super::figure::Sample;
use super::http::{Line, request};
use super::statistics::Times;

/// Rows of each kind in the small tables.
pub const SMALL: usize = 1000;
pub const PRODUCTS: usize = 200;
/// What takes long is asked less often: no more of it after so long, once it was asked a few times.
const ENOUGH: Duration = Duration::from_secs(2);
const AT_LEAST: usize = 5;
/// The last day of the copies, of which each day has so many.
pub const LAST_DAY: &str = "2026-01-01";
pub const A_DAY: usize = 300;

/// Something that is asked for.
pub struct Question {
    pub name: &'static str,
    /// `{deep}` is a page far back, `{version}` a version in the middle, `{receipt}` the number of a receipt, `{day}` a day,
    /// `{store}` the store that pushes.
    pub path: &'static str,
    /// Whether it is asked for by a store.
    pub machine: bool,
}

impl Question {
    pub const fn new(name: &'static str, path: &'static str) -> Self {
        Self { name, path, machine: false }
    }

    /// What it is asked for the `number`th time: each time another one, so that none is answered from memory.
    fn path(&self, number: usize, Asking { rows, store, .. }: Asking<'_>) -> Result<String> {
        let day = LAST_DAY.parse::<NaiveDate>()? - Days::new(u64::try_from(number % (rows / A_DAY).max(1))?);
        Ok(self
            .path
            .replace("{deep}", &(rows / 50 * 3 / 4 + number % 5 + 1).to_string())
            .replace("{version}", &(rows / 2 + number * 7).to_string())
            .replace("{receipt}", &format!("S01-08-{:08}", rows / 2 + number))
            .replace("{day}", &day.to_string())
            .replace("{store}", store))
    }
}

/// How something is asked for.
#[derive(Clone, Copy)]
pub struct Asking<'a> {
    pub token: &'a str,
    pub times: usize,
    /// So many are there.
    pub rows: usize,
    pub store: &'a str,
}

/// What `question` takes, in milliseconds, the middle of all times.
pub async fn ask(line: &mut Line, question: &Question, asking: Asking<'_>) -> Result<f64> {
    let mut took = Times::default();
    let first = Instant::now();
    for number in 0..asking.times {
        if number >= AT_LEAST && first.elapsed() > ENOUGH {
            break;
        }
        let request = request("GET", &question.path(number, asking)?, asking.token, "");
        let begun = Instant::now();
        line.expect(&request).await.with_context(|| question.name)?;
        took.add(begun.elapsed());
    }
    Ok(took.median())
}

/// How often each is done in a second with many rows, beside few.
pub fn rates(names: &[&'static str], large: &[f64], small: &[f64]) -> Vec<Sample> {
    let rate = |time: &f64| 1000.0 / time.max(1e-6);
    let times = large.iter().zip(small);
    names.iter().zip(times).map(|(name, (large, small))| Sample::beside(name, rate(large), rate(small))).collect()
}
