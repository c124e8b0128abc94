//! What a till charges and why: specials, discounts, labels, packs, charges, floors and payments, over HTTP against a store.

mod again;
mod approved;
mod basics;
mod charges;
mod floors;
mod labels;
mod market;
mod paid;
mod reasons;
mod resold;
mod shown;
mod typed;
mod vectors;
mod windows;

use serde_json::{Value as Json, json};
use tillkeep_model::{Bps, Instant, Money, ids};
use tillkeep_storage::barcodes::normal;
use tillkeep_storage::entity::{product, product_barcode, product_special, reason, store_product};
use tillkeep_storage::sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel};
use uuid::Uuid;

use crate::kit::{Person, Shop, id, rows};

/// What stands under one name in a quote and in the sale of it.
const SUMS: [&str; 8] = [
    "listAmount",
    "specialDiscount",
    "lineDiscount",
    "cartDiscount",
    "netAmount",
    "taxAmount",
    "totalAmount",
    "taxLines",
];
/// The same of a line.
const OF_LINE: [&str; 19] = [
    "lineNo",
    "productId",
    "sku",
    "productName",
    "unitOfMeasure",
    "quantity",
    "regularPrice",
    "unitPrice",
    "priceSource",
    "priceIncludesTax",
    "listAmount",
    "specialDiscount",
    "specialDetails",
    "lineDiscount",
    "cartDiscount",
    "netAmount",
    "taxAmount",
    "totalAmount",
    "taxDetails",
];

/// A product without taxes off which something may be taken.
fn product(sku: &str, price: i64) -> product::Model {
    product::Model { allow_discount: true, ..rows::product(sku, price, "FREE") }
}

/// A product that is weighed, with a number that labels carry.
fn weighed(sku: &str, price: i64, plu: &str) -> product::Model {
    product::Model {
        plu: Some(plu.into()),
        unit_of_measure: "kg".into(),
        quantity_decimals: 3,
        is_weighed: true,
        ..product(sku, price)
    }
}

/// A special of a product, 10 % off at any time.
fn special(code: &str, of: &str, change: impl FnOnce(&mut product_special::Model)) -> product_special::Model {
    let mut row = product_special::Model {
        id: id(&format!("special {code}")),
        code: code.into(),
        name: format!("Week of {code}"),
        product_id: Some(id(of)),
        kind: "percent_off".into(),
        percent_bps: Some(Bps(1000)),
        days_of_week: 127,
        is_active: true,
        created_at: rows::made(),
        updated_at: rows::made(),
        ..product_special::Model::default()
    };
    change(&mut row);
    row
}

fn bundle(row: &mut product_special::Model, units: i32, price: i64) {
    (row.kind, row.percent_bps) = ("multi_buy".into(), None);
    (row.bundle_quantity, row.bundle_price) = (Some(units), Some(Money(price)));
}

fn buy_get(row: &mut product_special::Model, buy: i32, get: i32, off: i32) {
    (row.kind, row.percent_bps) = ("buy_x_get_y".into(), None);
    (row.buy_quantity, row.get_quantity, row.get_discount_bps) = (Some(buy), Some(get), Some(Bps(off)));
}

fn fixed(row: &mut product_special::Model, price: i64) {
    (row.kind, row.percent_bps, row.fixed_price) = ("fixed_price".into(), None, Some(Money(price)));
}

fn amount_off(row: &mut product_special::Model, off: i64) {
    (row.kind, row.percent_bps, row.amount) = ("amount_off".into(), None, Some(Money(off)));
}

/// A reason of headquarters' list.
fn reason(kind: &str, code: &str, name: &str) -> reason::Model {
    reason::Model {
        id: id(&format!("{kind} {code}")),
        code: code.into(),
        name: name.into(),
        kind: kind.into(),
        is_active: true,
        created_at: rows::made(),
        updated_at: rows::made(),
        ..reason::Model::default()
    }
}

/// Products come to the store, each with its codes and ten on hand.
async fn sends(shop: &Shop, products: impl IntoIterator<Item = product::Model>) {
    let products: Vec<product::Model> = products.into_iter().collect();
    shop.insert::<store_product::Entity>(products.iter().map(rows::stock_row)).await;
    let codes = products.iter().flat_map(|product| {
        let packs = product.packs.0.as_array().into_iter().flatten();
        let packs = packs.filter_map(|pack| pack["code"].as_str().map(str::to_owned));
        let codes = product.barcode.clone().into_iter().chain(packs);
        codes.map(|code| product_barcode::Model { normal: normal(&code), code, product_id: product.id })
    });
    let codes: Vec<_> = codes.collect();
    if !codes.is_empty() {
        shop.insert::<product_barcode::Entity>(codes).await;
    }
    shop.insert::<product::Entity>(products).await;
}

async fn specials(shop: &Shop, specials: impl IntoIterator<Item = product_special::Model>) {
    shop.insert::<product_special::Entity>(specials).await;
}

/// Changes what this store has of a product.
async fn here(shop: &Shop, sku: &str, change: impl FnOnce(&mut store_product::Model)) {
    let tx = shop.store.test_db().begin().await.expect("a transaction");
    let key = ids::store_product(shop.store.id, id(sku));
    let mut row = store_product::Entity::find_by_id(key).one(&tx).await.expect("a read").expect("a row");
    change(&mut row);
    store_product::Entity::update(row.into_active_model().reset_all()).exec(&tx).await.expect("an update");
    tx.commit().await.expect("a commit");
}

/// The special is over from now on.
async fn ends(shop: &Shop, code: &str) {
    let tx = shop.store.test_db().begin().await.expect("a transaction");
    let key = id(&format!("special {code}"));
    let mut row = product_special::Entity::find_by_id(key).one(&tx).await.expect("a read").expect("a special");
    row.is_active = false;
    product_special::Entity::update(row.into_active_model().reset_all()).exec(&tx).await.expect("an update");
    tx.commit().await.expect("a commit");
}

/// Per cent off, in basis points.
fn off(bps: i32) -> Json {
    json!({"type": "percent", "bps": bps, "reason": "damaged box"})
}

/// An amount off.
fn less(amount: i64) -> Json {
    json!({"type": "amount", "amount": amount, "reason": "damaged box"})
}

fn cash() -> Json {
    json!([{"tenderId": id("CASH")}])
}

/// The line with one more field.
fn with(mut line: Json, field: &str, value: impl Into<Json>) -> Json {
    line[field] = value.into();
    line
}

/// The same cart for another sale.
fn anew(cart: &Json) -> Json {
    with(cart.clone(), "id", Uuid::now_v7().to_string())
}

fn set_clock(shop: &Shop, at: &str) {
    let at = Instant::parse(at).expect("an instant");
    shop.clock.advance(at.millis_since(shop.clock.now()));
}

async fn quoted(person: &Person, cart: &Json) -> Json {
    let mut asked = cart.clone();
    asked.as_object_mut().expect("an object").remove("payments");
    person.post("/pos/quote", asked).await.ok(200)
}

/// Quotes a cart, sells it for what it was quoted at, and finds the same in both. The quote and the sale.
async fn sold(person: &Person, cart: Json) -> (Json, Json) {
    let quote = quoted(person, &cart).await;
    let cart = with(cart, "expectedTotal", quote["totalAmount"].clone());
    let sale = person.post("/pos/sales", cart).await.ok(201);
    same_amounts(&quote, &sale);
    adds_up(&sale);
    (quote, sale)
}

/// The token of what somebody with this PIN approves of a cart as it is quoted now.
async fn approval(person: &Person, pin: &str, permission: &str, cart: &Json) -> Json {
    let hash = quoted(person, cart).await["cartHash"].clone();
    let body = json!({"permission": permission, "pin": pin, "reason": "seen", "context": {"cartHash": hash}});
    person.post("/pos/approvals", body).await.ok(201)["token"].clone()
}

#[track_caller]
fn int(row: &Json, key: &str) -> i64 {
    row[key].as_i64().unwrap_or_else(|| panic!("{key} of {row}"))
}

#[track_caller]
fn list<'a>(row: &'a Json, key: &str) -> &'a [Json] {
    row[key].as_array().unwrap_or_else(|| panic!("{key} of {row}"))
}

fn same_amounts(quote: &Json, sale: &Json) {
    for key in SUMS {
        assert_eq!(quote[key], sale[key], "{key}");
    }
    let (lines, items) = (list(quote, "lines"), list(sale, "saleItems"));
    assert_eq!(lines.len(), items.len());
    for (line, item) in lines.iter().zip(items) {
        for key in OF_LINE {
            assert_eq!(line[key], item[key], "{key} of {line} and of {item}");
        }
        let owner = line["chargeOf"].as_u64().map(|line_no| &lines[usize::try_from(line_no - 1).expect("a line")]);
        let charged = items.iter().find(|other| other["id"] == item["chargeOf"]);
        assert_eq!(charged.map(|other| &other["lineNo"]), owner.map(|other| &other["lineNo"]), "{item}");
    }
}

/// The identities that headquarters looks at.
fn adds_up(sale: &Json) {
    let items = list(sale, "saleItems");
    for key in &SUMS[..7] {
        assert_eq!(items.iter().map(|item| int(item, key)).sum::<i64>(), int(sale, key), "{key} of {sale}");
    }
    for item in items {
        let ext = extended(item);
        assert!(ext >= 0, "{item}");
        assert_eq!(int(item, "netAmount") + int(item, "taxAmount"), int(item, "totalAmount"), "{item}");
        let inclusive = item["priceIncludesTax"] == true;
        let reached = int(item, if inclusive { "totalAmount" } else { "netAmount" });
        let exempt = inclusive && sale["taxExempt"] == true;
        assert!(if exempt { reached <= ext } else { reached == ext }, "{reached} and {ext}: {item}");
        let saved: i64 = list(item, "specialDetails").iter().map(|saving| int(saving, "amount")).sum();
        assert_eq!(saved, int(item, "specialDiscount"), "{item}");
    }
    let paid: i64 = list(sale, "salePayments").iter().map(|payment| int(payment, "amount")).sum();
    assert_eq!(paid, int(sale, "totalAmount") + int(sale, "cashRounding"), "{sale}");
}

/// What is left of a line when all is taken off.
fn extended(item: &Json) -> i64 {
    int(item, "listAmount") - int(item, "specialDiscount") - int(item, "lineDiscount") - int(item, "cartDiscount")
}
