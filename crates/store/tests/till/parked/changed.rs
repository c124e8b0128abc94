//! A cart is priced again when it is resumed, and what is other than before is said line by line.

use serde_json::{Value as Json, json};
use tillkeep_model::{Bps, Money};
use tillkeep_storage::entity::{customer, parked_cart, product_special};
use tillkeep_storage::sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel};

use super::{PARKED, changes_of, parked, resume, sale_of, to_park};
use crate::kit::{Person, Shop, id, line, rows};

/// A line with a name of the till's own.
fn named(name: &str, product: &str, quantity: i64) -> Json {
    let mut line = line(product, quantity);
    line["lineId"] = json!(name);
    line
}

async fn change_customer(shop: &Shop, change: impl FnOnce(&mut customer::Model)) {
    let tx = shop.store.test_db().begin().await.expect("a transaction");
    let row = customer::Entity::find_by_id(id("HQ-000001")).one(&tx).await.expect("a read");
    let mut row = row.expect("a customer");
    change(&mut row);
    customer::Entity::update(row.into_active_model().reset_all()).exec(&tx).await.expect("an update");
    tx.commit().await.expect("a commit");
}

/// The fields that changed of a line, or of the whole cart.
fn fields(resumed: &Json, line: Option<u64>) -> Vec<String> {
    changes_of(resumed, line).into_iter().map(|(field, ..)| field).collect()
}

/// Sells what was resumed for what its quote says.
async fn sold_as_quoted(person: &Person, resumed: &Json) {
    let mut sale = sale_of(resumed);
    sale["expectedTotal"] = resumed["quote"]["totalAmount"].clone();
    person.post("/pos/sales", sale).await.ok(201);
}

#[tokio::test]
async fn where_nothing_has_changed_nothing_is_said() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let cart = parked(&person).await;
    let resumed = resume(&person, &cart).await.ok(200);
    assert_eq!((&resumed["changes"], &resumed["removed"]), (&json!([]), &Json::Null));
    assert_eq!(resumed["quote"]["totalAmount"], cart["totalAtPark"]);
    sold_as_quoted(&person, &resumed).await;
}

#[tokio::test]
async fn another_price_is_said_of_its_line_and_of_the_whole() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let cart = person.post(PARKED, to_park(&json!([named("a", "REPAIR", 1), named("b", "TEA", 2)]))).await.ok(201);
    shop.change_product("REPAIR", |repair| repair.price = Money(2700)).await;
    let resumed = resume(&person, &cart).await.ok(200);
    let said = |field: &str, before: i64, after: i64| (field.to_owned(), json!(before), json!(after));
    assert_eq!(changes_of(&resumed, Some(1)), [said("unitPrice", 2500, 2700), said("totalAmount", 2500, 2700)]);
    assert!(changes_of(&resumed, Some(2)).is_empty(), "{resumed}");
    let before = cart["totalAtPark"].as_i64().expect("a total");
    assert_eq!(changes_of(&resumed, None), [said("totalAmount", before, before + 200)]);
    assert_eq!(resumed["changes"][0]["lineId"], "a");
    sold_as_quoted(&person, &resumed).await;
}

#[tokio::test]
async fn a_special_that_begins_and_another_tax_are_said() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let cart = person.post(PARKED, to_park(&json!([line("BREAD", 2), line("TEA", 1)]))).await.ok(201);
    shop.insert::<product_special::Entity>([product_special::Model {
        id: id("special WEEK"),
        code: "WEEK".into(),
        name: "Week of bread".into(),
        product_id: Some(id("BREAD")),
        kind: "percent_off".into(),
        percent_bps: Some(Bps(1000)),
        days_of_week: 127,
        is_active: true,
        created_at: rows::made(),
        updated_at: rows::made(),
        ..product_special::Model::default()
    }])
    .await;
    shop.tax("TEA", "FREE").await;
    let resumed = resume(&person, &cart).await.ok(200);
    assert_eq!(fields(&resumed, Some(1)), ["specialDiscount", "totalAmount"]);
    assert_eq!(changes_of(&resumed, Some(1))[0].2, 50);
    assert_eq!(fields(&resumed, Some(2)), ["taxAmount", "totalAmount"]);
    assert_eq!(changes_of(&resumed, Some(2))[0].2, 0);
    assert_eq!(fields(&resumed, None), ["taxAmount", "totalAmount"]);
    sold_as_quoted(&person, &resumed).await;
}

#[tokio::test]
async fn a_product_that_is_gone_is_named_and_its_cart_given_all_the_same() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let lines = json!([named("a", "TEA", 1), named("b", "BREAD", 1), named("c", "REPAIR", 1), named("d", "LOCAL", 1)]);
    let cart = person.post(PARKED, to_park(&lines.clone())).await.ok(201);
    shop.change_product("BREAD", |bread| bread.is_active = false).await;
    shop.change_product("LOCAL", |local| local.deleted_at = Some(rows::made())).await;
    let resumed = resume(&person, &cart).await.ok(200);
    assert_eq!(resumed["cart"]["lines"], lines, "the cart is whole");
    let all = resumed["changes"].as_array().expect("changes");
    let gone: Vec<_> = all.iter().filter(|change| change["gone"] == "product_inactive").collect();
    let named: Vec<_> = gone.iter().map(|change| (&change["lineNo"], &change["lineId"])).collect();
    assert_eq!(named, [(&json!(2), &json!("b")), (&json!(4), &json!("d"))]);
    assert!(gone[0]["message"].as_str().is_some_and(|text| text.contains("bread")), "{}", gone[0]);
    let quoted: Vec<_> =
        resumed["quote"]["lines"].as_array().expect("lines").iter().map(|line| &line["lineId"]).collect();
    assert_eq!(quoted, [&json!("a"), &json!("c")]);
    assert_eq!(fields(&resumed, Some(1)), Vec::<String>::new(), "a line keeps its place");

    // As it stands it is refused as ever; without them it is sold for what was said.
    person.post("/pos/sales", sale_of(&resumed)).await.refused(409, "product_inactive");
    let mut left = resumed.clone();
    left["cart"]["lines"] = json!([lines[0], lines[2]]);
    sold_as_quoted(&person, &left).await;
}

#[tokio::test]
async fn a_cart_of_which_everything_is_gone_is_given_for_nothing() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let mut asked = to_park(&json!([line("REPAIR", 1)]));
    asked["cart"]["cartDiscount"] = json!({"type": "percent", "bps": 500, "reason": "a dent"});
    let cart = person.post(PARKED, asked).await.ok(201);
    shop.change_product("REPAIR", |repair| repair.is_active = false).await;
    let resumed = resume(&person, &cart).await.ok(200);
    assert_eq!((&resumed["quote"]["totalAmount"], &resumed["quote"]["lines"]), (&json!(0), &json!([])));
    assert_eq!(resumed["changes"][0]["gone"], "product_inactive");
}

#[tokio::test]
async fn a_discount_that_is_refused_now_is_said_and_not_reckoned() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let off = json!({"type": "percent", "bps": 1000, "reason": "a dent"});
    let mut repair = named("a", "REPAIR", 1);
    repair["lineDiscount"] = off.clone();
    let cart = person.post(PARKED, to_park(&json!([repair]))).await.ok(201);
    assert_eq!(cart["totalAtPark"], 2250);
    shop.change_product("REPAIR", |repair| repair.allow_discount = false).await;
    let resumed = resume(&person, &cart).await.ok(200);
    let refused = &resumed["changes"][0];
    assert_eq!(
        (&refused["lineNo"], &refused["lineId"], &refused["field"], &refused["before"], &refused["after"]),
        (&json!(1), &json!("a"), &json!("lineDiscount"), &off, &Json::Null)
    );
    assert!(refused["message"].is_string(), "{refused}");
    assert_eq!(resumed["quote"]["totalAmount"], 2500);
    assert_eq!(resumed["cart"]["lines"][0]["lineDiscount"], off, "the cart is whole");
}

#[tokio::test]
async fn a_customer_who_is_gone_and_a_limit_that_is_lower_are_said() {
    let shop = Shop::open_with(|own| own.max_line_discount_bps = Bps(2000)).await;
    let person = shop.selling().await;
    let mut asked = to_park(&json!([line("REPAIR", 1)]));
    asked["cart"]["customerId"] = json!(id("HQ-000001"));
    asked["cart"]["lines"][0]["lineDiscount"] = json!({"type": "percent", "bps": 1000, "reason": "a dent"});
    let cart = person.post(PARKED, asked).await.ok(201);
    change_customer(&shop, |customer| customer.is_active = false).await;
    shop.change_store(|store| store.max_line_discount_bps = Bps(500)).await;
    let resumed = resume(&person, &cart).await.ok(200);
    assert_eq!(resumed["quote"]["customerId"], Json::Null);
    let whole = changes_of(&resumed, None);
    assert_eq!(whole, [("customerId".to_owned(), json!(id("HQ-000001")), Json::Null)]);
    let needs = changes_of(&resumed, Some(1));
    assert_eq!(needs.len(), 1, "{needs:?}");
    let (field, before, after) = &needs[0];
    assert_eq!((field.as_str(), before), ("needs", &json!(["line_discount"])));
    assert!(after.as_array().is_some_and(|deeds| deeds.contains(&json!("beyond_limit"))), "{after}");
}

#[tokio::test]
async fn while_the_store_knows_too_little_to_price_it_the_cart_stays_with_its_till() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let cart = parked(&person).await;
    shop.tax("TEA", "a group that has not come yet").await;
    resume(&person, &cart).await.refused(503, "store_not_ready");
    shop.tax("TEA", "EXCLUSIVE").await;
    let resumed = resume(&person, &cart).await.ok(200);
    sold_as_quoted(&person, &resumed).await;
    assert_eq!(shop.count::<parked_cart::Entity>().await, 1);
}
