//! What is measured, as data: the figures of each goal, what each is compared with, and what is to be reached.

use std::pin::Pin;

use anyhow::Result;

use super::Bench;

/// What a figure is to reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// It is shown and no more.
    Shown,
    /// So much of its limit, or more.
    Ratio(f64),
    /// No more than this.
    Most(f64),
}

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    pub name: &'static str,
    pub unit: &'static str,
    /// What the same machine does at the most in the same minutes, in the same unit; empty where nothing compares.
    pub limit: &'static str,
    pub goal: Goal,
}

impl Figure {
    pub const fn shown(name: &'static str, unit: &'static str) -> Self {
        Self { name, unit, limit: "", goal: Goal::Shown }
    }

    pub const fn most(name: &'static str, unit: &'static str, most: f64) -> Self {
        Self { name, unit, limit: "", goal: Goal::Most(most) }
    }

    pub const fn new(name: &'static str, unit: &'static str, limit: &'static str, goal: Goal) -> Self {
        Self { name, unit, limit, goal }
    }
}

/// One value of one run.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub figure: &'static str,
    pub value: f64,
    pub limit: Option<f64>,
}

impl Sample {
    pub const fn new(figure: &'static str, value: f64) -> Self {
        Self { figure, value, limit: None }
    }

    pub const fn beside(figure: &'static str, value: f64, limit: f64) -> Self {
        Self { figure, value, limit: Some(limit) }
    }
}

/// The samples of one run.
pub type Running<'a> = Pin<Box<dyn Future<Output = Result<Vec<Sample>>> + 'a>>;

/// The figures of one goal.
pub struct Measurement {
    pub id: &'static str,
    pub title: &'static str,
    pub figures: &'static [Figure],
    pub run: fn(&Bench) -> Running<'_>,
}
