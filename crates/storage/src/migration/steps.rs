//! Every step, in the order in which they are made. What a release has is never edited: what was wrong in it is mended by
//! a step of its own.

use super::m0001_schema;
use super::m0002_synchronisation;
use super::m0003_edges;
use super::m0004_people;
use super::m0005_prices;
use super::m0006_refunds;
use super::m0007_drawers;
use super::m0008_lists;
use super::m0009_alerts;
#[cfg(feature = "next-release")]
use super::next_release;
use super::step::Step;

pub const STEPS: &[Step] = &[
    Step { name: "0001_schema", changes: m0001_schema::CHANGES, beside: None },
    Step { name: "0002_synchronisation", changes: m0002_synchronisation::CHANGES, beside: None },
    Step { name: "0003_edges", changes: m0003_edges::CHANGES, beside: None },
    Step { name: "0004_people", changes: m0004_people::CHANGES, beside: None },
    Step { name: "0005_prices", changes: m0005_prices::CHANGES, beside: None },
    Step { name: "0006_refunds", changes: m0006_refunds::CHANGES, beside: None },
    Step { name: "0007_drawers", changes: m0007_drawers::CHANGES, beside: None },
    Step { name: "0008_lists", changes: m0008_lists::CHANGES, beside: None },
    Step { name: "0009_alerts", changes: m0009_alerts::CHANGES, beside: None },
    #[cfg(feature = "next-release")]
    Step { name: "0010_next_release", changes: next_release::CHANGES, beside: Some("0009_alerts") },
];
