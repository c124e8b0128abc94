//! P10: what work costs when the tables are large, beside the same work on small ones, at headquarters and at a store.

use anyhow::Result;

use super::figure::{Figure, Goal, Measurement, Sample};
use super::{Bench, growth_at_headquarters as headquarters, growth_at_store as store};

const LIMIT: &str = "the same at 1000 rows";
/// A cost may rise to one and a half.
const GOAL: Goal = Goal::Ratio(0.667);

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
