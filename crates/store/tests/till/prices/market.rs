//! A shop with every kind of goods and specials, and carts by chance.

use serde_json::{Value as Json, json};
use tillkeep_model::{Bps, Cost, JsonText, Money};
use tillkeep_storage::entity::{department, product, product_special, reason};
use tillkeep_store::Chance;

use super::{
    amount_off, bundle, buy_get, fixed, here, int, list, off, product, quoted, reason, sends, special, specials,
};
use super::{weighed, with};
use crate::kit::{Person, Shop, cart, id, line};

/// Chance of a test, the same in every run.
pub(super) struct Dice(Chance);

impl Dice {
    pub(super) fn of(seed: u64) -> Self {
        Self(Chance::of_seed(seed))
    }

    /// From `least` to `most`, both included.
    pub(super) fn from(&self, least: i64, most: i64) -> i64 {
        least + i64::try_from(self.0.up_to((most - least).unsigned_abs())).expect("a small number")
    }

    pub(super) fn one_in(&self, many: i64) -> bool {
        self.from(1, many) == 1
    }

    pub(super) fn pick<'a, T>(&self, of: &'a [T]) -> &'a T {
        &of[usize::try_from(self.from(0, i64::try_from(of.len()).expect("small") - 1)).expect("a place")]
    }
}

/// A code with its check digit: weights 3 and 1 from the right.
pub(super) fn label(prefix: &str, plu: &str, value: i64) -> String {
    let digits = format!("{prefix}{plu}{value:05}");
    let weighted = digits.bytes().rev().enumerate().map(|(place, byte)| {
        let digit = u32::from(byte - b'0');
        if place % 2 == 0 { digit * 3 } else { digit }
    });
    format!("{digits}{}", (10 - weighted.sum::<u32>() % 10) % 10)
}

const GOODS: [(&str, i64, &str); 10] = [
    ("G0", 1999, "EXCLUSIVE"),
    ("G1", 399, "QUEBEC"),
    ("G2", 1299, "COMPOUND"),
    ("G3", 1399, "FREE"),
    ("G4", 1050, "EXCLUSIVE"),
    ("G5", 350, "COMPOUND"),
    ("G6", 333, "QUEBEC"),
    ("G7", 12_345, "LOCAL"),
    ("G8", 1, "EXCLUSIVE"),
    ("G9", 899, "QUEBEC"),
];

fn goods() -> Vec<product::Model> {
    let mut goods: Vec<product::Model> = GOODS
        .iter()
        .map(|(sku, price, group)| product::Model { tax_group_id: id(group), ..product(sku, *price) })
        .collect();
    (goods[1].allow_discount, goods[2].max_discount_bps) = (false, Some(Bps(500)));
    (goods[3].min_price, goods[6].min_price) = (Some(Cost(Money(1200))), Some(Cost(Money(300))));
    (goods[4].department_id, goods[5].department_id) = (id("bakery"), id("bakery"));
    goods.extend([
        weighed("PLUM", 599, "4012"),
        product::Model { tax_group_id: id("EXCLUSIVE"), ..weighed("FISH", 2350, "12345") },
        product::Model { is_open_price: true, ..product("REPAIRS", 0) },
        product::Model { is_open_price: true, named_at_till: true, ..product("THING", 0) },
        product::Model {
            packs: JsonText(json!([
                {"code": "CASE-6", "quantity": 6}, {"code": "CASE-12", "quantity": 12, "price": 999},
            ])),
            tax_group_id: id("QUEBEC"),
            ..product("CAN", 99)
        },
        product::Model {
            charge_product_id: Some(id("DEPOSIT")),
            tax_group_id: id("COMPOUND"),
            ..product("BOTTLE", 250)
        },
        product::Model { product_type: "deposit".into(), tax_group_id: id("QUEBEC"), ..product("DEPOSIT", 25) },
    ]);
    goods
}

fn offers() -> Vec<product_special::Model> {
    let mixed = |code: &str, of: &str, group: &str| {
        let group = group.to_owned();
        special(code, of, move |row| row.mix_group = Some(group))
    };
    let three_for_ten = |code: &str, of: &str| {
        let mut row = mixed(code, of, "three");
        bundle(&mut row, 3, 1000);
        row.is_stackable = true;
        row
    };
    let half = |code: &str, of: &str| {
        let mut row = mixed(code, of, "half");
        buy_get(&mut row, 1, 1, 5000);
        (row.priority, row.max_per_sale) = (5, Some(2));
        row
    };
    let of_department = |code: &str, department: &str, change: fn(&mut product_special::Model)| {
        special(code, "", |row| {
            (row.product_id, row.department_id, row.is_stackable) = (None, Some(id(department)), true);
            change(row);
        })
    };
    vec![
        special("PERCENT", "G0", |row| row.is_stackable = true),
        special("AMOUNT", "G0", |row| {
            amount_off(row, 150);
            (row.is_stackable, row.max_per_sale) = (true, Some(2));
        }),
        special("FIXED", "G2", |row| fixed(row, 999)),
        special("ABOVE", "G9", |row| fixed(row, 999)),
        special("FREE", "G3", |row| {
            buy_get(row, 2, 1, 10_000);
            (row.max_per_sale, row.is_stackable) = (Some(1), true);
        }),
        three_for_ten("THREE-4", "G4"),
        three_for_ten("THREE-5", "G5"),
        three_for_ten("THREE-9", "G9"),
        half("HALF-5", "G5"),
        half("HALF-6", "G6"),
        special("FIRST", "G6", |row| {
            row.percent_bps = Some(Bps(700));
            row.priority = 9;
            row.max_per_sale = Some(1);
        }),
        of_department("BAKERY", "bakery", |row| buy_get(row, 3, 1, 2500)),
        of_department("ALL", "department", |row| (row.percent_bps, row.priority) = (Some(Bps(300)), -1)),
        special("CLUB", "G7", |row| (row.requires_customer, row.is_stackable) = (true, true)),
        special("HERE", "CAN", |row| (row.store_id, row.is_stackable) = (Some(id("S01")), true)),
        special("THERE", "CAN", |row| {
            (row.store_id, row.percent_bps, row.priority) = (Some(id("S02")), Some(Bps(9000)), 50);
        }),
        special("RIPE", "PLUM", |row| (row.percent_bps, row.is_stackable) = (Some(Bps(1234)), true)),
        special("PLUMS", "PLUM", |row| bundle(row, 2, 1)),
        special("ENDED", "G0", |row| (row.percent_bps, row.end_date) = (Some(Bps(9000)), Some("2026-11-19".into()))),
        special("OFF", "G0", |row| (row.percent_bps, row.is_active) = (Some(Bps(9000)), false)),
    ]
}

/// The goods, their specials and the reasons come to the store.
pub(super) async fn fill(shop: &Shop) {
    shop.insert::<department::Entity>([department::Model {
        id: id("bakery"),
        code: "BAKE".into(),
        name: "Bakery".into(),
        max_discount_bps: Some(Bps(1500)),
        is_active: true,
        ..department::Model::default()
    }])
    .await;
    sends(shop, goods()).await;
    here(shop, "G9", |row| (row.price.0, row.has_price_override) = (950, true)).await;
    specials(shop, offers()).await;
    shop.insert::<reason::Entity>([
        reason("discount", "damaged", "Damaged"),
        reason::Model { needs_note: true, ..reason("discount", "other", "Other") },
        reason("override", "price_match", "Price of a competitor"),
    ])
    .await;
}

/// One line of what there is, without discounts.
fn goods_by_chance(dice: &Dice) -> Json {
    match dice.from(0, 11) {
        0 => line("PLUM", format!("{}.{:03}", dice.from(0, 3), dice.from(1, 999))),
        1 => {
            let (sku, plu) = *dice.pick(&[("PLUM", "04012"), ("FISH", "12345")]);
            json!({"productId": id(sku), "code": label(dice.pick(&["20", "21"]), plu, dice.from(1, 9999))})
        }
        2 => with(line("REPAIRS", dice.from(1, 3)), "openPrice", dice.from(0, 9000)),
        3 => with(with(line("THING", 1), "openPrice", dice.from(1, 9000)), "name", "An old chair"),
        4 => json!({"productId": id("CAN"), "code": dice.pick(&["CASE-6", "CASE-12"])}),
        5 => with(line("CAN", 12 * dice.from(1, 3)), "code", *dice.pick(&["CASE-6", "CASE-12", "CAN"])),
        6 => line("BOTTLE", dice.from(1, 12)),
        7 => {
            let changed = with(line(dice.pick(&GOODS).0, dice.from(1, 4)), "unitPriceOverride", dice.from(0, 3000));
            match dice.one_in(2) {
                true => with(changed, "overrideReason", "a scratched tin"),
                false => with(changed, "overrideReasonCode", "price_match"),
            }
        }
        _ => line(dice.pick(&GOODS).0, dice.from(1, 7)),
    }
}

fn discount_by_chance(dice: &Dice) -> Json {
    let mut given = match dice.one_in(2) {
        true => off(i32::try_from(dice.from(1, 4000)).expect("small")),
        false => with(json!({"type": "amount"}), "amount", dice.from(1, 700)),
    };
    match dice.from(0, 2) {
        0 => given["reason"] = json!("damaged box"),
        1 => {
            given.as_object_mut().expect("a discount").remove("reason");
            given["reasonCode"] = json!("damaged");
        }
        _ => (given["reasonCode"], given["reason"]) = (json!("other"), json!("it rained")),
    }
    given
}

/// A cart by chance. Discounts are on those lines alone that take one, as `person` is quoted.
pub(super) async fn cart_by_chance(dice: &Dice, person: &Person) -> Json {
    let lines: Vec<Json> = (0..dice.from(1, 9)).map(|_| goods_by_chance(dice)).collect();
    let mut cart = cart(json!(lines), json!([]));
    match dice.from(0, 5) {
        0 | 1 => cart["customerId"] = json!(id("HQ-000001")),
        2 => cart["customerId"] = json!(id("HQ-000002")),
        _ => {}
    }
    if dice.one_in(3) {
        cart["note"] = json!("wrapped as a gift");
    }
    let plain = quoted(person, &cart).await;
    let entered: Vec<&Json> = list(&plain, "lines").iter().filter(|line| line["chargeOf"].is_null()).collect();
    let takes: Vec<bool> = entered.iter().map(|line| line["takesDiscount"] == true).collect();
    for (line, takes) in cart["lines"].as_array_mut().expect("lines").iter_mut().zip(&takes) {
        if *takes && dice.one_in(3) {
            line["lineDiscount"] = discount_by_chance(dice);
        }
        if dice.one_in(5) {
            (line["note"], line["serial"]) = (json!("blue"), json!("SN-4711"));
        }
    }
    if takes.contains(&true) && dice.one_in(3) {
        cart["cartDiscount"] = discount_by_chance(dice);
    }
    let total = int(&quoted(person, &cart).await, "totalAmount");
    cart["payments"] = payments_by_chance(dice, total);
    cart
}

fn payments_by_chance(dice: &Dice, total: i64) -> Json {
    let card = || json!({"tenderId": id("CARD"), "cardBrand": "VISA", "cardLast4": "4242", "externalId": "tx-1"});
    match dice.from(0, 4) {
        _ if total == 0 => json!([]),
        0 => json!([card()]),
        1 if total > 1 => json!([{"tenderId": id("CASH"), "tenderedAmount": dice.from(1, total - 1)}, card()]),
        2 if total > 1 => json!([card(), {"tenderId": id("CASH"), "tenderedAmount": dice.from(1, total - 1)}]),
        3 => json!([{"tenderId": id("CASH"), "tenderedAmount": total + dice.from(0, 5000)}]),
        _ => json!([{"tenderId": id("CASH")}]),
    }
}
