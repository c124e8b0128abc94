//! One change of one product's level, and the word of what caused it.

use tillkeep_model::{Instant, Money, Qty};
use uuid::Uuid;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Sale,
    SaleVoid,
    Refund,
    Adjustment,
    /// What a store that lost its database gets back from HQ as its level; known to that store alone.
    Restored,
}

impl Kind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sale => "sale",
            Self::SaleVoid => "sale_void",
            Self::Refund => "refund",
            Self::Adjustment => "adjustment",
            Self::Restored => "restored",
        }
    }
}

/// One change of one product's level.
#[derive(Clone, Debug)]
pub struct Movement {
    pub kind: Kind,
    pub product_id: Uuid,
    pub change: Qty,
    pub source_id: Uuid,
    pub line_id: Uuid,
    pub business_date: String,
    pub at: Instant,
    /// Goods that came from outside: sets the time of the last receipt.
    pub received: bool,
    /// What a unit of goods that came in cost; feeds the moving average.
    pub unit_cost: Option<Money>,
    /// Whether stock was kept of the product where this happened. Where that is not said, what this server does counts.
    pub tracked: Option<bool>,
    /// The average cost after it at its store, and when that was: the newest is HQ's too.
    pub average_after: Option<(Money, Position)>,
}

/// When a store did something: the place of its database among those that HQ has met, then the number in its outbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub place: i64,
    pub seq: i64,
}
