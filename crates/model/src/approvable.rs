//! What an approver may approve for a caller, at the till and for one action. `docs/domain.md`.

use crate::permission::code;
use crate::pricing::Deed;

/// Something that may be approved.
#[derive(Debug, PartialEq, Eq)]
pub struct Approvable {
    /// The permission that an approval stands in for.
    pub code: &'static str,
    /// Whoever holds one of these does it without asking, and may approve it: mostly the permission itself.
    pub holders: &'static [&'static str],
    pub about: About,
}

/// What one approval is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// A cart as it is.
    Cart,
    /// A cart, what of it goes on an account beyond its limit, or money that is given back.
    CartOrRefund,
    /// Money that is given back.
    Refund,
    /// A sale that was made.
    Sale,
    /// What a drawer is opened with.
    Float,
    /// A drawer that is closed.
    Drawer,
}

/// What a deed at the till needs besides the permission to sell. A price below the floor of its product is more than a
/// changed price or a discount.
#[must_use]
pub fn of(deed: Deed) -> &'static [&'static Approvable] {
    static CHANGED: [&Approvable; 1] = [&PRICE];
    static DISCOUNTED: [&Approvable; 1] = [&DISCOUNT];
    static BEYOND: [&Approvable; 1] = [&BEYOND_LIMIT];
    static BELOW: [&Approvable; 2] = [&PRICE, &BEYOND_LIMIT];
    match deed {
        Deed::ChangedPrice => &CHANGED,
        Deed::LineDiscount | Deed::CartDiscount => &DISCOUNTED,
        Deed::BeyondLimit => &BEYOND,
        Deed::BelowFloor => &BELOW,
    }
}

impl Approvable {
    const fn new(code: &'static str, holders: &'static [&'static str], about: About) -> Self {
        Self { code, holders, about }
    }

    /// The one that an approval of `code` stands in for.
    #[must_use]
    pub fn find(code: &str) -> Option<&'static Self> {
        ALL.into_iter().find(|known| known.code == code)
    }
}

/// The approvable things, with a name for each.
macro_rules! approvable {
    ($($(#[$about:meta])* $name:ident = $code:ident $(or $also:ident)* for $kind:ident,)+) => {
        $(
            $(#[$about])*
            pub static $name: Approvable = Approvable::new(
                code::$code::CODE,
                &[code::$code::CODE $(, code::$also::CODE)*],
                About::$kind,
            );
        )+

        /// Every one of them.
        pub static ALL: [&Approvable; [$(code::$code::CODE),+].len()] = [$(&$name),+];
    };
}

approvable! {
    DISCOUNT = PosDiscount for Cart,
    /// A discount above what may be given, a price below the floor of its product, what is owed beyond a limit, or money that is
    /// given back beyond what the shop does.
    BEYOND_LIMIT = PosDiscountOverrideMax for CartOrRefund,
    PRICE = PosPriceOverride for Cart,
    VOID = PosVoid for Sale,
    REFUND = PosRefund for Refund,
    CLOSING = RegistersClose or ReportsZReport for Drawer,
    FLOAT = RegistersOpen for Float,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn what_may_be_approved_is_known_by_its_permission_and_approved_by_whoever_may_do_it() {
        assert_eq!(ALL.iter().map(|known| known.code).collect::<BTreeSet<_>>().len(), ALL.len());
        for known in ALL {
            assert!(known.holders.contains(&known.code), "{}", known.code);
            assert_eq!(Approvable::find(known.code), Some(known));
        }
        assert_eq!(Approvable::find("pos.sell"), None);
    }
}
