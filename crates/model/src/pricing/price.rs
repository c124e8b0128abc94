//! Which of the prices of a product counts.

use crate::Money;

/// Where the unit price of a line comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PriceSource {
    /// The price of the catalogue.
    #[default]
    Default,
    /// The price of this store.
    Store,
    /// Changed for this sale by a user who may.
    Override,
    /// Typed in by the cashier, for a product that has no price of its own.
    Open,
    /// Printed on the label of a scale.
    Label,
}

impl PriceSource {
    pub const ALL: [Self; 5] = [Self::Default, Self::Store, Self::Override, Self::Open, Self::Label];

    /// The word in `sale_items.price_source`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Store => "store",
            Self::Override => "override",
            Self::Open => "open",
            Self::Label => "label",
        }
    }

    /// The source with this word; `None` for an unknown one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.as_str() == text)
    }
}

/// The unit price: the open price when one was typed in, else what a user who may has set for this line, else the
/// store's price when it is the store's own, else `default`, the price of the catalogue.
///
/// `store` is the price of the store's row and whether it is the store's own. A row that only copies the catalogue is
/// passed over, because the copy may be older than the catalogue's last change.
#[must_use]
pub fn choose_price(
    default: Money,
    store: Option<(Money, bool)>,
    open_price: Option<Money>,
    changed: Option<Money>,
) -> (Money, PriceSource) {
    match (open_price, changed, store) {
        (Some(price), ..) => (price, PriceSource::Open),
        (None, Some(price), _) => (price, PriceSource::Override),
        (None, None, Some((price, true))) => (price, PriceSource::Store),
        (None, None, _) => (default, PriceSource::Default),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_price_beats_the_price_of_the_store() {
        let store = Some((Money(1100), true));
        assert_eq!(choose_price(Money(0), store, Some(Money(250)), None), (Money(250), PriceSource::Open));
        assert_eq!(choose_price(Money(1000), store, None, None), (Money(1100), PriceSource::Store));
    }

    #[test]
    fn a_store_without_a_row_sells_at_the_default_price() {
        assert_eq!(choose_price(Money(1000), None, None, None), (Money(1000), PriceSource::Default));
    }

    #[test]
    fn a_store_may_give_a_product_away() {
        assert_eq!(choose_price(Money(1000), Some((Money(0), true)), None, None), (Money(0), PriceSource::Store));
    }

    #[test]
    fn a_changed_price_beats_what_the_store_and_the_catalogue_say() {
        let store = Some((Money(1100), true));
        assert_eq!(choose_price(Money(1000), store, None, Some(Money(900))), (Money(900), PriceSource::Override));
        assert_eq!(choose_price(Money(1000), None, None, Some(Money(0))), (Money(0), PriceSource::Override));
        assert_eq!(choose_price(Money(0), store, Some(Money(5)), Some(Money(900))), (Money(5), PriceSource::Open));
    }

    #[test]
    fn every_source_is_read_as_it_was_written() {
        for source in PriceSource::ALL {
            assert_eq!(PriceSource::parse(source.as_str()), Some(source));
        }
        assert_eq!(PriceSource::parse("Default"), None);
    }
}
