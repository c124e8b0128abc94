//! The replica of the test store: what headquarters would have sent.

use tillkeep_model::{Cost, Instant, JsonText, Money, Ppm, Qty, ids};
use tillkeep_storage::barcodes::normal;
use tillkeep_storage::entity::{
    customer, department, product, product_barcode, register, sales_rep, store, store_product, tax_group,
    tax_group_rate, tax_rate, tender,
};
use tillkeep_storage::registry::fold;
use uuid::Uuid;

use super::{Shop, id, people};

pub fn made() -> Instant {
    Instant::parse("2026-01-01T00:00:00Z").expect("an instant")
}

pub fn store() -> store::Model {
    store::Model {
        id: id("S01"),
        code: "S01".into(),
        name: "First Street".into(),
        country_code: "US".into(),
        timezone: "America/New_York".into(),
        currency_code: "USD".into(),
        currency_exponent: 2,
        locale: "en-US".into(),
        is_active: true,
        tax_rounding: "line".into(),
        cash_rounding_increment: 1,
        cash_rounding_mode: "nearest".into(),
        business_day_start: "04:00".into(),
        max_session_hours: 30,
        allow_negative_stock: true,
        blind_close: true,
        cash_variance_limit: Money(500),
        default_float: Money(20_000),
        scale_barcode_rules: JsonText(serde_json::json!([
            {"prefix": "21", "value": "weight", "pluDigits": 5, "valueDigits": 5, "valueDecimals": 3},
            {"prefix": "20", "value": "price", "pluDigits": 5, "valueDigits": 5, "valueDecimals": 2},
        ])),
        created_at: made(),
        updated_at: made(),
        ..store::Model::default()
    }
}

/// A product of tax group `group`.
pub fn product(sku: &str, price: i64, group: &str) -> product::Model {
    product::Model {
        id: id(sku),
        sku: sku.into(),
        sku_folded: fold(sku),
        name: sku.to_lowercase(),
        department_id: id("department"),
        tax_group_id: id(group),
        product_type: "standard".into(),
        unit_of_measure: "ea".into(),
        price: Money(price),
        cost: Cost(Money(price / 2)),
        track_stock: true,
        is_returnable: true,
        allow_discount: true,
        is_active: true,
        created_at: made(),
        updated_at: made(),
        ..product::Model::default()
    }
}

/// This store's row of a product, with ten units on hand.
pub fn stock_row(product: &product::Model) -> store_product::Model {
    store_product::Model {
        id: ids::store_product(id("S01"), product.id),
        store_id: id("S01"),
        product_id: product.id,
        price: product.price,
        cost: product.cost,
        is_stocked: true,
        quantity: Qty::pieces(10),
        created_at: made(),
        updated_at: made(),
        ..store_product::Model::default()
    }
}

pub fn tender(code: &str, kind: &str) -> tender::Model {
    tender::Model {
        id: id(code),
        code: code.into(),
        name: code.to_lowercase(),
        kind: kind.into(),
        allows_change: kind == "cash",
        is_refundable: true,
        is_voidable: true,
        is_active: true,
        created_at: made(),
        updated_at: made(),
        ..tender::Model::default()
    }
}

pub fn register(code: &str, terminal: &str) -> register::Model {
    register::Model {
        id: id(&format!("register {code}")),
        code: code.into(),
        name: format!("Till {code}"),
        terminal_id: terminal.into(),
        is_active: true,
        created_at: made(),
        updated_at: made(),
        ..register::Model::default()
    }
}

pub fn customer(number: &str) -> customer::Model {
    customer::Model {
        id: id(number),
        customer_number: number.into(),
        first_name: Some("Ann".into()),
        last_name: Some("Miller".into()),
        phone: Some("(555) 123-4567".into()),
        phone_digits: Some("5551234567".into()),
        email: Some("ann@example.com".into()),
        email_folded: Some("ann@example.com".into()),
        credit_limit: Money(5000),
        is_active: true,
        synced: true,
        created_at: made(),
        updated_at: made(),
        ..customer::Model::default()
    }
}

pub fn group(code: &str, mode: &str) -> tax_group::Model {
    tax_group::Model {
        id: id(code),
        code: code.into(),
        name: code.into(),
        price_mode: mode.into(),
        is_active: true,
        created_at: made(),
        updated_at: made(),
        ..tax_group::Model::default()
    }
}

pub fn rate(code: &str, ppm: i32) -> tax_rate::Model {
    tax_rate::Model {
        id: id(code),
        code: code.into(),
        name: code.into(),
        rate_ppm: Ppm(ppm),
        is_active: true,
        created_at: made(),
        updated_at: made(),
        ..tax_rate::Model::default()
    }
}

pub fn link(group: &str, rate: &str, sequence: i32, compound: bool, store: Option<Uuid>) -> tax_group_rate::Model {
    tax_group_rate::Model {
        id: id(&format!("{group} {rate} {store:?}")),
        tax_group_id: id(group),
        tax_rate_id: id(rate),
        store_id: store,
        sequence,
        is_compound: compound,
        created_at: made(),
        updated_at: made(),
        ..tax_group_rate::Model::default()
    }
}

/// Everything that the tests sell, and whom they sell to.
pub async fn fill(shop: &Shop, own: store::Model) {
    shop.insert::<store::Entity>([own]).await;
    shop.insert::<department::Entity>([department::Model {
        id: id("department"),
        code: "GROC".into(),
        name: "Grocery".into(),
        is_active: true,
        ..department::Model::default()
    }])
    .await;
    Box::pin(taxes(shop)).await;
    shop.insert::<tender::Entity>([
        tender("CASH", "cash"),
        tender("CARD", "card"),
        tender::Model { allows_change: true, ..tender("CHECK", "check") },
        tender::Model { requires_customer: true, ..tender("ACCOUNT", "on_account") },
        tender("EXCHANGE", "exchange"),
    ])
    .await;
    Box::pin(products(shop)).await;
    shop.insert::<register::Entity>([register("01", "T1")]).await;
    shop.insert::<customer::Entity>([
        customer("HQ-000001"),
        customer::Model {
            tax_exempt: true,
            company_name: Some("City School".into()),
            first_name: None,
            last_name: None,
            phone: None,
            phone_digits: None,
            email: None,
            ..customer("HQ-000002")
        },
    ])
    .await;
    shop.insert::<sales_rep::Entity>([sales_rep::Model {
        id: id("rep"),
        code: "R1".into(),
        name: "Rita".into(),
        is_active: true,
        ..sales_rep::Model::default()
    }])
    .await;
    people::roles(shop).await;
}

pub fn tax_rates() -> Vec<tax_rate::Model> {
    vec![rate("NY", 88_750), rate("GST", 50_000), rate("QST", 99_750), rate("QSTC", 95_000)]
}

pub fn tax_groups() -> Vec<tax_group::Model> {
    vec![
        group("EXCLUSIVE", "exclusive"),
        group("QUEBEC", "exclusive"),
        group("COMPOUND", "inclusive"),
        group("FREE", "store_default"),
        group("LOCAL", "store_default"),
    ]
}

pub fn tax_links() -> Vec<tax_group_rate::Model> {
    let elsewhere = Some(id("S02"));
    vec![
        link("EXCLUSIVE", "NY", 1, false, None),
        // Another store's rows change nothing here.
        link("EXCLUSIVE", "GST", 1, false, elsewhere),
        link("QUEBEC", "QST", 2, false, None),
        link("QUEBEC", "GST", 1, false, None),
        link("COMPOUND", "QSTC", 2, true, None),
        link("COMPOUND", "GST", 1, false, None),
        // Here this group is taxed otherwise than everywhere.
        link("LOCAL", "NY", 1, false, None),
        link("LOCAL", "GST", 1, false, Some(id("S01"))),
    ]
}

async fn taxes(shop: &Shop) {
    shop.insert::<tax_rate::Entity>(tax_rates()).await;
    shop.insert::<tax_group::Entity>(tax_groups()).await;
    shop.insert::<tax_group_rate::Entity>(tax_links()).await;
}

async fn products(shop: &Shop) {
    let plain = vec![
        product::Model { barcode: Some("5012345678900".into()), ..product("TEA", 1999, "EXCLUSIVE") },
        product("T04", 10_000, "QUEBEC"),
        product("T06", 4598, "COMPOUND"),
        product("LOCAL", 10_000, "LOCAL"),
        product::Model {
            barcode: Some("012345678905".into()),
            barcodes: JsonText(serde_json::json!(["ALT-1"])),
            ..product("BREAD", 300, "FREE")
        },
        product::Model {
            plu: Some("4011".into()),
            unit_of_measure: "kg".into(),
            quantity_decimals: 3,
            is_weighed: true,
            ..product("BANANA", 599, "FREE")
        },
        product::Model { age_restriction: Some(21), ..product("WINE", 1500, "FREE") },
        product::Model { is_open_price: true, ..product("FLOWERS", 0, "FREE") },
        product::Model { is_active: false, barcode: Some("4000000000006".into()), ..product("OLD", 100, "FREE") },
        product::Model { deleted_at: Some(made()), ..product("GONE", 100, "FREE") },
        product::Model { track_stock: false, ..product("REPAIR", 2500, "FREE") },
        product("EARLY", 100, "a group that has not come yet"),
    ];
    shop.insert::<store_product::Entity>(plain.iter().map(|product| {
        let row = stock_row(product);
        // Bread has a price of its own here.
        if product.sku == "BREAD" {
            return store_product::Model { price: Money(250), has_price_override: true, ..row };
        }
        row
    }))
    .await;
    let codes = plain.iter().filter_map(|product| Some((product.barcode.clone()?, product.id)));
    let codes = codes.chain([("ALT-1".to_owned(), id("BREAD"))]);
    let codes = codes.map(|(code, product_id)| product_barcode::Model { normal: normal(&code), code, product_id });
    shop.insert::<product_barcode::Entity>(codes.collect::<Vec<_>>()).await;
    shop.insert::<product::Entity>(plain).await;
}
