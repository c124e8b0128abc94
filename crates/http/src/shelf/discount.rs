//! What somebody takes off by hand.

use tillkeep_model::pricing::{Discount, PricedLine};
use tillkeep_model::{Bps, Money};

/// The discount that a body says: `type` with `bps` or `amount`; else the field that is wrong and why.
pub fn said_discount(
    kind: &str,
    bps: Option<Bps>,
    amount: Option<Money>,
) -> Result<Discount, (&'static str, &'static str)> {
    match (kind, bps, amount) {
        ("percent", Some(bps), None) if bps.0 > 0 => Ok(Discount::Percent(bps)),
        ("percent", None, None) => Err(("bps", "is required: 1000 is 10 %")),
        ("percent", Some(_), None) => Err(("bps", "must be 1 to 10000; leave the discount out to give none")),
        ("percent", ..) => Err(("amount", "is for the type amount; leave it out")),
        ("amount", None, Some(amount)) if amount > Money::ZERO => Ok(Discount::Amount(amount)),
        ("amount", None, None) => Err(("amount", "is required, in minor units")),
        ("amount", None, Some(_)) => Err(("amount", "must be 1 or more; leave the discount out to give none")),
        ("amount", ..) => Err(("bps", "is for the type percent; leave it out")),
        _ => Err(("type", "must be percent or amount")),
    }
}

/// Why a line of the product `sku` takes no discount.
#[must_use]
pub fn takes_none(sku: &str, line: &PricedLine) -> String {
    let fixed = line.savings.iter().find(|saving| !saving.special.is_stackable);
    fixed.map_or_else(
        || format!("{sku} takes no discount; leave it out"),
        |saving| format!("{} is on this line, which takes no discount besides; leave it out", saving.special.name),
    )
}
