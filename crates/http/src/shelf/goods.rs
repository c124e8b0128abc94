//! From a product to a line of a cart.

use std::collections::HashMap;
use std::sync::Arc;

use tillkeep_model::pricing::{
    CartLine, CartTerms, Discount, PriceSource, Special, StoreLimits, TaxRounding, choose_price,
};
use tillkeep_model::{Bps, Money, Qty};
use tillkeep_storage::entity::{product, store};
use tillkeep_storage::taxes::TaxGroup;
use uuid::Uuid;

/// Decimals from which on a quantity is weighed, whatever the product says.
const WEIGHED: i16 = 3;

/// What all products of a store are priced with.
#[derive(Clone, Copy, Debug)]
pub struct Goods<'a> {
    pub store: &'a store::Model,
    pub tax_groups: &'a HashMap<Uuid, TaxGroup>,
    /// What departments allow to be taken off, by department.
    pub department_limits: &'a HashMap<Uuid, Bps>,
}

/// What somebody at the till, or a label, says of a line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Typed {
    pub quantity: Qty,
    pub open_price: Option<Money>,
    pub changed_price: Option<Money>,
    /// What a label or a pack costs.
    pub printed: Option<Money>,
    pub discount: Option<Discount>,
}

impl<'a> Goods<'a> {
    /// The tax group of a product. Types arrive at a store one by one: a product can be there before its tax group, or still be
    /// in one that is gone and has no rates any more. It must not be sold untaxed meanwhile.
    #[must_use]
    pub fn tax_group(&self, product: &product::Model) -> Option<&'a TaxGroup> {
        self.tax_groups.get(&product.tax_group_id).filter(|group| group.row.deleted_at.is_none())
    }

    /// A line of `product`. `own` is the price of the store and whether it is one of its own; `specials` are those in force
    /// that concern it.
    #[must_use]
    pub fn line(
        &self,
        product: &product::Model,
        group: &TaxGroup,
        own: Option<(Money, bool)>,
        specials: impl Into<Arc<[Arc<Special>]>>,
        typed: Typed,
    ) -> CartLine {
        let (regular_price, _) = choose_price(product.price, own, None, None);
        let (unit_price, source) = choose_price(product.price, own, typed.open_price, typed.changed_price);
        CartLine {
            product_id: product.id,
            quantity: typed.quantity,
            unit_price,
            price_source: if typed.printed.is_some() { PriceSource::Label } else { source },
            regular_price,
            inclusive: group.inclusive(Some(self.store)),
            rates: group.rates.clone(),
            unit_cost: None,
            printed: typed.printed,
            is_counted: is_counted(product),
            specials: specials.into(),
            allows_discount: product.allow_discount,
            discount: typed.discount,
            limit: product.max_discount_bps.or_else(|| self.department_limits.get(&product.department_id).copied()),
            floor: product.min_price.map(|floor| floor.0),
        }
    }
}

/// Whether a product can be the charge of another one. Headquarters lets nothing else be one; what is stored may be older.
#[must_use]
pub fn is_chargeable(product: &product::Model) -> bool {
    product.is_active && product.deleted_at.is_none() && !product.is_open_price && !product.is_weighed
}

/// Whether it is sold by the piece, so that it may be in a deal over several.
#[must_use]
pub(super) const fn is_counted(product: &product::Model) -> bool {
    !product.is_weighed && product.quantity_decimals < WEIGHED
}

/// How a cart of `store` is priced as a whole.
#[must_use]
pub fn terms(store: &store::Model, exempt: bool, discount: Option<Discount>) -> CartTerms {
    CartTerms { rounding: TaxRounding::parse(&store.tax_rounding).unwrap_or_default(), exempt, discount }
}

/// What a cashier of `store` may take off without asking.
#[must_use]
pub const fn limits(store: &store::Model) -> StoreLimits {
    StoreLimits { line: store.max_line_discount_bps, cart: store.max_cart_discount_bps }
}
