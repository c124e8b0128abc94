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
        rate(headquarters::QUESTIONS[0].name),
        rate(headquarters::QUESTIONS[1].name),
        rate(headquarters::QUESTIONS[2].name),
        rate(headquarters::QUESTIONS[3].name),
        rate(headquarters::QUESTIONS[4].name),
        rate(headquarters::QUESTIONS[5].name),
        rate(headquarters::QUESTIONS[6].name),
        rate(headquarters::QUESTIONS[7].name),
        rate(headquarters::QUESTIONS[8].name),
        rate(headquarters::QUESTIONS[9].name),
        rate(headquarters::QUESTIONS[10].name),
        rate(headquarters::QUESTIONS[11].name),
        rate(headquarters::QUESTIONS[12].name),
        rate(headquarters::QUESTIONS[13].name),
        rate(headquarters::PUSH),
        Figure::most(headquarters::SLOWEST, "ms", 50.0),
        Figure::shown(headquarters::SUMS, "ms"),
        Figure::most(headquarters::DASHBOARD, "ms", 100.0),
        Figure::shown(headquarters::MEMORY, "MiB"),
        rate(headquarters::STARTS),
        Figure::most(headquarters::START, "ms", 100.0),
        rate(store::QUESTIONS[0].name),
        rate(store::QUESTIONS[1].name),
        rate(store::QUESTIONS[2].name),
        rate(store::QUESTIONS[3].name),
        rate(store::QUESTIONS[4].name),
        rate(store::QUESTIONS[5].name),
        Figure::most(store::SLOWEST, "ms", 20.0),
        rate(store::STARTS),
        Figure::most(store::START, "ms", 100.0),
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
