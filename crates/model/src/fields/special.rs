//! Specials: what costs less, when and where. Which figures belong to which type is in `crate::pricing::SpecialType`.

use super::{Book, Initial, any_i32, flag, flag_on, id, label, money, shape, shaped, whole, word};
use crate::pricing::SpecialType;

/// Units of a deal at the most: far more than anybody carries to a till.
const UNITS: i64 = 10_000;
const MONDAY_TO_SUNDAY: i64 = 0b111_1111;

/// The figures that a special of this type has, by their fields; it has no other.
#[must_use]
pub const fn figures(of: SpecialType) -> &'static [&'static str] {
    match of {
        SpecialType::PercentOff => &["percentBps"],
        SpecialType::AmountOff => &["amount"],
        SpecialType::FixedPrice => &["fixedPrice"],
        SpecialType::BuyXGetY => &["buyQuantity", "getQuantity", "getDiscountBps"],
        SpecialType::MultiBuy => &["bundleQuantity", "bundlePrice"],
    }
}

/// Whether it is about several units together.
#[must_use]
pub const fn is_of_groups(of: SpecialType) -> bool {
    matches!(of, SpecialType::BuyXGetY | SpecialType::MultiBuy)
}

pub static BOOK: Book = Book {
    table: "product_specials",
    fields: &[
        label("code", 40).required(),
        label("name", 100).required(),
        id("productId"),
        id("departmentId"),
        id("storeId"),
        label("mixGroup", 40),
        word("type", SpecialType::WORDS).required(),
        whole("percentBps", 1, 10_000),
        whole("amount", 1, super::LARGEST),
        money("fixedPrice"),
        whole("buyQuantity", 1, UNITS),
        whole("getQuantity", 1, UNITS),
        whole("getDiscountBps", 1, 10_000),
        whole("bundleQuantity", 2, UNITS),
        money("bundlePrice"),
        whole("maxPerSale", 1, 1_000_000),
        shaped("startDate", 10, &shape::DATE),
        shaped("endDate", 10, &shape::DATE),
        whole("daysOfWeek", 1, MONDAY_TO_SUNDAY).initially(Initial::Number(MONDAY_TO_SUNDAY)),
        shaped("startTime", 5, &shape::TIME_OF_DAY),
        shaped("endTime", 5, &shape::TIME_OF_DAY),
        any_i32("priority"),
        flag("isStackable"),
        flag("requiresCustomer"),
        flag_on("isActive"),
    ],
    server: &["id", "created_at", "updated_at", "deleted_at", "sync_version"],
};
