//! A special that is in force, and what it takes off a line.

use std::sync::Arc;

use uuid::Uuid;

use super::deal::Deal;
use crate::{Money, Qty};

/// A special that is in force: store, window and customer were looked at before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Special {
    pub id: Uuid,
    pub code: String,
    pub name: String,
    pub deal: Deal,
    /// Specials of one name and one deal count their units together.
    pub mix_group: Option<String>,
    /// Deals, or units, that one sale gets.
    pub max_per_sale: Option<i64>,
    pub priority: i32,
    /// Whether somebody at the till may take more off a line that has it.
    pub is_stackable: bool,
}

/// What a special takes off one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saving {
    pub special: Arc<Special>,
    /// Of how much of the line.
    pub quantity: Qty,
    pub amount: Money,
}
