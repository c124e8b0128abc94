//! What was taken off a cart before it was paid: a record for whoever looks into losses. It changes no money, and no repeated
//! request is held against it. `docs/domain.md`, "Removed lines".

use serde::{Deserialize, Serialize};
use tillkeep_http::resource::Check;
use tillkeep_http::sent;
use tillkeep_model::fields::parked::REMOVED;
use tillkeep_model::{Instant, JsonText, Money, Qty};
use uuid::Uuid;

use crate::bounds::LARGEST_AMOUNT;

/// Lines that are kept of one cart; of more there is how many and how much.
const MOST: usize = 50;

sent! {
    #[derive(Clone, Debug, Serialize)]
    pub(crate) struct Removed as "RemovedLine" by REMOVED {
        pub product_id: Uuid,
        pub quantity: Qty,
        /// What one of it cost.
        pub unit_price: Money,
        /// When it was taken off.
        pub at: Option<Instant>,
    }
}

impl Removed {
    fn amount(&self) -> Money {
        self.unit_price.times(self.quantity)
    }
}

/// What cannot be said of such lines one by one.
pub(super) fn check(removed: &[Removed], check: &mut Check) {
    for (index, line) in removed.iter().enumerate() {
        let amount = i128::from(line.unit_price.0) * i128::from(line.quantity.0);
        let text = "makes an amount beyond 1000000000000 minor units";
        check.that(amount <= i128::from(LARGEST_AMOUNT) * 1000, &format!("removed[{index}].quantity"), text);
    }
}

/// As it stands in a row.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Kept {
    lines: Vec<Removed>,
    /// Lines that are not among them.
    more: usize,
    /// Of all.
    count: usize,
    amount: Money,
}

/// What a row keeps of `removed`; nothing of none.
pub(crate) fn kept(removed: &[Removed]) -> Option<JsonText> {
    beside(None, removed)
}

/// What a row keeps that has `before` already.
pub(super) fn beside(before: Option<&JsonText>, removed: &[Removed]) -> Option<JsonText> {
    if removed.is_empty() {
        return before.cloned();
    }
    let mut kept = before.and_then(|json| Kept::deserialize(&json.0).ok()).unwrap_or_default();
    kept.lines.extend(removed.iter().take(MOST.saturating_sub(kept.lines.len())).cloned());
    kept.count += removed.len();
    kept.more = kept.count.saturating_sub(kept.lines.len());
    let amount: Money = removed.iter().map(Removed::amount).sum();
    kept.amount += amount;
    Some(JsonText::new(&kept))
}
