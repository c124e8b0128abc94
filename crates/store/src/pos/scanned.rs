//! What the code of a line says of it: a label of a scale, or a pack with a code of its own.

use serde::Deserialize;
use tillkeep_model::{ErrorCode, Money, Qty, rdiv};
use tillkeep_storage::barcodes::normal;
use tillkeep_storage::entity::{product, store};
use tillkeep_storage::registry::fold;

use super::label::{self, Printed};

/// Several pieces that are sold under one code: one of `products.packs`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Pack {
    pub code: String,
    pub quantity: Qty,
    pub price: Option<Money>,
}

/// What a code of a product says of its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The product.
    Product,
    Weight(Qty),
    /// What the label costs.
    Price(Money),
    Pack(Pack),
}

/// How much of a product a line has, and what it costs, as far as its code says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Amounts {
    pub quantity: Qty,
    pub printed: Option<Money>,
}

/// The packs of a product; one that cannot be read is passed over, as the others still hold.
pub(crate) fn packs(product: &product::Model) -> impl Iterator<Item = Pack> {
    let list = product.packs.0.as_array().into_iter().flatten();
    list.filter_map(|pack| serde_json::from_value(pack.clone()).ok())
}

/// What `code` says of `product`; an error when it is none of its codes.
pub(crate) fn read(code: &str, product: &product::Model, store: &store::Model) -> Result<Meaning, (ErrorCode, String)> {
    let same = |other: &str| normal(other) == normal(code);
    if let Some(pack) = packs(product).find(|pack| same(&pack.code)) {
        return Ok(Meaning::Pack(pack));
    }
    let further = product.barcodes.0.as_array().into_iter().flatten().filter_map(serde_json::Value::as_str);
    let is_own = product.barcode.as_deref().into_iter().chain(further).any(same)
        || product.plu.as_deref() == Some(code)
        || product.sku_folded == fold(code);
    if is_own {
        return Ok(Meaning::Product);
    }
    let rules = label::rules(&store.scale_barcode_rules);
    let label = label::read(code, &rules, store.currency_exponent)
        .map_err(|_| (ErrorCode::BadCheckDigit, "is a label with a wrong check digit; scan it again".to_owned()))?;
    // A short number is filled up with zeros on the label.
    let names = |plu: &str| {
        plu == product.plu.as_deref().unwrap_or_default() || {
            Some(plu.trim_start_matches('0')) == product.plu.as_deref()
        }
    };
    match label {
        Some(label) if names(&label.plu) => Ok(match label.printed {
            Printed::Weight(quantity) => Meaning::Weight(quantity),
            Printed::Price(amount) => Meaning::Price(amount),
        }),
        _ => Err((ErrorCode::Validation, format!("is no code of {}; scan it again", product.sku))),
    }
}

impl Meaning {
    /// Quantity and amount of the line, with what was typed in besides and the price of the shelf; what is wrong with `quantity`.
    pub(crate) fn amounts(&self, typed: Option<Qty>, price: Money) -> Result<Amounts, String> {
        const NOTHING: &str = "is nothing by this label; weigh it again";
        let unlike = |says: Qty| format!("is {says} on the label; send that, or leave it out");
        match self {
            Self::Product => {
                let quantity = typed.ok_or_else(|| "is required".to_owned())?;
                Ok(Amounts { quantity, printed: None })
            }
            Self::Weight(Qty(..=0)) | Self::Price(Money(..=0)) => Err(NOTHING.to_owned()),
            Self::Weight(quantity) if typed.is_none_or(|typed| typed == *quantity) => {
                Ok(Amounts { quantity: *quantity, printed: None })
            }
            Self::Weight(quantity) => Err(unlike(*quantity)),
            // The label says what is paid; how much it is follows from the price, which may have changed since it was printed.
            // Two packages are two labels: a number besides would take two away for the price of one.
            Self::Price(amount) => {
                let quantity = of_price(*amount, price);
                if typed.is_some_and(|typed| typed != quantity) {
                    return Err(format!("is {quantity} by this label; leave it out, each label is a line of its own"));
                }
                Ok(Amounts { quantity, printed: Some(*amount) })
            }
            Self::Pack(pack) => {
                let quantity = typed.unwrap_or(pack.quantity);
                if pack.quantity <= Qty::ZERO || quantity.0 % pack.quantity.0 != 0 {
                    return Err(format!("must be whole packs of {}", pack.quantity));
                }
                let count = i128::from(quantity.0 / pack.quantity.0);
                let printed = pack.price.map(|price| Money::from_wide(i128::from(price.0) * count));
                Ok(Amounts { quantity, printed })
            }
        }
    }
}

/// How much a label with a price is of; of what has no price, one.
fn of_price(amount: Money, price: Money) -> Qty {
    if price <= Money::ZERO {
        return Qty::ONE;
    }
    let thousandths = rdiv(i128::from(amount.0) * 1000, i128::from(price.0));
    Qty(i64::try_from(thousandths).unwrap_or(i64::MAX).max(1))
}
