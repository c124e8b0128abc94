//! P10: what work costs when the tables are large, beside the same work on small ones, at headquarters and at a store.

mod headquarters;
mod store;

use std::time::Instant;

use anyhow::{Context, Result};
use chrono::{Days, NaiveDate};

use super::Bench;
use super::figure::{Figure, Goal, Measurement, Sample};
use super::http::{Line, request};
use super::statistics::Times;

const LIMIT: &str = "the same at 1000 rows";
/// A cost may rise to one and a half.
const GOAL: Goal = Goal::Ratio(0.667);
/// Rows of each kind in the small tables.
const SMALL: usize = 1000;
const PRODUCTS: usize = 200;
/// The last day of the copies, of which each day has so many.
const LAST_DAY: &str = "2026-01-01";
const A_DAY: usize = 300;

pub const MEASUREMENT: Measurement = Measurement {
    id: "P10",
    title: "growth",
    figures: &[
        rate("pull of a page"),
        rate("products, first page"),
        rate("products, deep page"),
        rate("products, search"),
        rate("sales, first page"),
        rate("sales, deep page"),
        rate("sales of one store"),
        rate("sales, by receipt"),
        rate("sales, by status"),
        rate("sales, by total"),
        rate("sales, a day of one store"),
        rate("completeness of a day"),
        rate(headquarters::PUSH),
        Figure::most(headquarters::SLOWEST, "ms", 50.0),
        Figure::shown(headquarters::SUMS, "ms"),
        Figure::most(headquarters::DASHBOARD, "ms", 100.0),
        Figure::shown(headquarters::MEMORY, "MiB"),
        rate("store: sales, first page"),
        rate("store: sales, deep page"),
        rate("store: sales, search"),
        rate("store: sales, by status"),
        rate("store: sales, by receipt"),
        rate("store: state, all of it waiting"),
        Figure::most(store::SLOWEST, "ms", 20.0),
    ],
    run: |bench| Box::pin(run(bench)),
};

const fn rate(name: &'static str) -> Figure {
    Figure::new(name, "per s", LIMIT, GOAL)
}

async fn run(bench: &Bench) -> Result<Vec<Sample>> {
    let mut samples = headquarters::run(bench).await?;
    samples.extend(store::run(bench).await?);
    Ok(samples)
}

/// Something that is asked for.
struct Question {
    name: &'static str,
    /// `{deep}` is a page far back, `{version}` a version in the middle, `{receipt}` the number of a receipt, `{day}` a day,
    /// `{store}` the store that pushes.
    path: &'static str,
    /// Whether it is asked for by a store.
    machine: bool,
}

impl Question {
    const fn new(name: &'static str, path: &'static str) -> Self {
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
struct Asking<'a> {
    token: &'a str,
    times: usize,
    /// So many are there.
    rows: usize,
    store: &'a str,
}

/// What `question` takes, in milliseconds, the middle of all times.
async fn ask(line: &mut Line, question: &Question, asking: Asking<'_>) -> Result<f64> {
    let mut took = Times::default();
    for number in 0..asking.times {
        let request = request("GET", &question.path(number, asking)?, asking.token, "");
        let begun = Instant::now();
        line.expect(&request).await.with_context(|| question.name)?;
        took.add(begun.elapsed());
    }
    Ok(took.median())
}

/// How often each is done in a second with many rows, beside few.
fn rates<'a>(names: impl IntoIterator<Item = &'a &'static str>, large: &[f64], small: &[f64]) -> Vec<Sample> {
    let rate = |time: &f64| 1000.0 / time.max(1e-6);
    let times = large.iter().zip(small);
    names.into_iter().zip(times).map(|(name, (large, small))| Sample::beside(name, rate(large), rate(small))).collect()
}
