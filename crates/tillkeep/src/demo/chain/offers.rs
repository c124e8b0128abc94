//! Specials, and the prices of single stores.

use chrono::NaiveDate;
use tillkeep_model::{Bps, Instant, Money, ids};
use tillkeep_storage::entity::{product, product_special, store, store_product};

use super::catalog::{department_id, percent_of, product_id, up_to_nine};
use super::columns::{date, text};
use super::rng::Stream;
use super::stores::Town;

const EVERY_DAY: i32 = 0b111_1111;
/// Bit 0 is Monday.
const FRIDAY_TO_SUNDAY: i32 = 0b111_0000;
/// Sold at a fixed price for a while.
const FIXED_PRICE: [&str; 2] = ["GROC-0201", "DAIRY-0302"];
/// Two of them give a third, in any mixture.
const MIXED: [&str; 4] = ["CARE-0301", "CARE-0302", "CARE-0303", "CARE-0304"];
const THREE_FOR_TEN: &str = "BEV-0303";
/// Cheaper for whoever says who they are.
const FOR_CUSTOMERS: &str = "BAKE-0101";

/// Each type in force, by day, by hour or always; beside one that is over and one that is to come. Those in force have
/// no end, so that a demonstration has them on any day.
pub fn specials(at: Instant, anchor_date: NaiveDate, products: &[product::Model]) -> Vec<product_special::Model> {
    let special = |code: &str, name: &str, kind: &str| product_special::Model {
        id: ids::named(&format!("special:{code}")),
        created_at: at,
        updated_at: at,
        code: code.to_owned(),
        name: name.to_owned(),
        kind: kind.to_owned(),
        days_of_week: EVERY_DAY,
        is_active: true,
        ..product_special::Model::default()
    };
    let day = |days| date(anchor_date, days);
    let mut rows = vec![
        product_special::Model {
            department_id: Some(department_id("SNACK")),
            percent_bps: Some(Bps(1500)),
            days_of_week: FRIDAY_TO_SUNDAY,
            is_stackable: true,
            ..special("SNACK-WEEKEND", "Snack weekend, 15 % off", "percent_off")
        },
        product_special::Model {
            product_id: Some(product_id(THREE_FOR_TEN)),
            bundle_quantity: Some(3),
            bundle_price: Some(Money(1000)),
            ..special("WATER-3-FOR-10", "Sparkling water, 3 for 10", "multi_buy")
        },
        product_special::Model {
            department_id: Some(department_id("CAFE")),
            percent_bps: Some(Bps(2000)),
            start_time: text("16:00"),
            end_time: text("18:00"),
            ..special("CAFE-HAPPY-HOUR", "Cafe happy hour, 20 % off", "percent_off")
        },
        product_special::Model {
            product_id: Some(product_id(FOR_CUSTOMERS)),
            amount: Some(Money(50)),
            requires_customer: true,
            max_per_sale: Some(2),
            priority: 1,
            ..special("BREAD-CUSTOMERS", "White bread, 0.50 off for customers", "amount_off")
        },
        product_special::Model {
            department_id: Some(department_id("HOME")),
            percent_bps: Some(Bps(1000)),
            start_date: day(-90),
            end_date: day(-60),
            ..special("HOME-LATE-SUMMER", "Household, 10 % off (over)", "percent_off")
        },
        product_special::Model {
            department_id: Some(department_id("ELEC")),
            amount: Some(Money(200)),
            start_date: day(14),
            end_date: day(28),
            ..special("ELEC-HOLIDAYS", "Electronics, 2.00 off (soon)", "amount_off")
        },
    ];
    rows.extend(products.iter().filter(|product| FIXED_PRICE.contains(&product.sku.as_str())).map(|product| {
        product_special::Model {
            product_id: Some(product.id),
            fixed_price: Some(lower(product.price, 80)),
            start_date: day(-30),
            ..special(
                &format!("FIXED-{}", product.sku),
                &format!("{}, price of the month", product.name),
                "fixed_price",
            )
        }
    }));
    rows.extend(MIXED.map(|sku| product_special::Model {
        product_id: Some(product_id(sku)),
        mix_group: text("CARE-SOAP"),
        buy_quantity: Some(2),
        get_quantity: Some(1),
        get_discount_bps: Some(Bps(10_000)),
        ..special(&format!("SOAP-2-PLUS-1-{sku}"), "Soap bars, buy 2 get 1", "buy_x_get_y")
    }));
    rows
}

/// The prices that a store has to itself: twelve dearer ones where the first store's town is, five cheaper ones where
/// the third's is.
pub fn store_prices(
    seed: u64,
    at: Instant,
    stores: &[store::Model],
    products: &[product::Model],
) -> Vec<store_product::Model> {
    let mut rows = Vec::new();
    for (index, store) in stores.iter().enumerate() {
        let (count, percents) = match Town::new(index) {
            Town::NewYork => (12, 103..=112),
            Town::Chicago => continue,
            Town::Denver => (5, 92..=97),
        };
        let mut stream = Stream::new(seed, &format!("store_prices:{}", store.code));
        let mut chosen: Vec<usize> = Vec::new();
        // What has a supplier has a price that a store may have its own of.
        let priced: Vec<&product::Model> = products.iter().filter(|row| row.default_supplier_id.is_some()).collect();
        while chosen.len() < count.min(priced.len()) {
            let position = stream.below(priced.len());
            if !chosen.contains(&position) {
                chosen.push(position);
            }
        }
        for product in chosen.into_iter().filter_map(|position| priced.get(position)) {
            let percent = stream.between(*percents.start(), *percents.end());
            let price = if percent > 100 {
                Money(up_to_nine(percent_of(product.price.0, percent).max(product.price.0 + 1)))
            } else {
                lower(product.price, percent)
            };
            rows.push(store_product::Model {
                id: ids::store_product(store.id, product.id),
                created_at: at,
                updated_at: at,
                store_id: store.id,
                product_id: product.id,
                price,
                has_price_override: true,
                cost: product.cost,
                reorder_point: product.reorder_point,
                reorder_quantity: product.reorder_quantity,
                is_stocked: true,
                ..store_product::Model::default()
            });
        }
    }
    rows
}

/// About `percent` of a price, always below it when `percent` is, and ending in 9 cents.
fn lower(price: Money, percent: i64) -> Money {
    Money(up_to_nine(percent_of(price.0, percent) - 9))
}
