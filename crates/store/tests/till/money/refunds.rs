//! Money back for lines of a sale: from the stored lines, to the cent, with goods, tenders and accounts.

use serde_json::{Value as Json, json};
use tillkeep_model::{Cost, Money, Qty, ids};
use tillkeep_storage::entity::{reason, sale, stock_movement, store_product};
use tillkeep_storage::sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel};
use tillkeep_storage::verify::{self, Options, Source};
use tillkeep_storage::{Side, accounts};
use tillkeep_store::sync::{Cycle, Sender};
use uuid::Uuid;

use super::{change_tender, document, path, queued};
use crate::kit::{Person, Reply, Shop, cart, id, line, rows};

pub const WHY: &str = "too small";

/// Of line `place` of a sale.
pub fn item(sale: &Json, place: usize, quantity: impl Into<Json>) -> Json {
    json!({"saleItemId": sale["saleItems"][place]["id"], "quantity": quantity.into()})
}

/// A refund of these items at terminal T1 by the tenders of its sale.
pub fn refund(items: Json) -> Json {
    let mut refund = json!({"id": Uuid::now_v7(), "terminalId": "T1", "reason": WHY});
    refund["items"] = items;
    refund
}

pub async fn give_back(person: &Person, sale: &Json, items: Json) -> Reply {
    person.post(&path(sale, "refunds"), refund(items)).await
}

/// The same by this tender alone.
pub fn by(tender: &str, items: Json) -> Json {
    let mut refund = refund(items);
    refund["payments"] = json!([{"tenderId": id(tender)}]);
    refund
}

/// `amounts` of a document or a line, by their keys.
#[track_caller]
fn has(row: &Json, amounts: &[(&str, i64)]) {
    for (key, amount) in amounts {
        assert_eq!(row[key], json!(amount), "{key} of {row}");
    }
}

async fn change_stock(shop: &Shop, product: &str, change: impl FnOnce(&mut store_product::Model)) {
    let tx = shop.store.test_db().begin().await.expect("a transaction");
    let key = ids::store_product(shop.store.id, id(product));
    let mut row = store_product::Entity::find_by_id(key).one(&tx).await.expect("a read").expect("a stock row");
    change(&mut row);
    store_product::Entity::update(row.into_active_model().reset_all()).exec(&tx).await.expect("an update");
    tx.commit().await.expect("a commit");
}

pub async fn read(person: &Person, sale: &Json) -> Json {
    person.get(&format!("/pos/sales/{}", sale["id"].as_str().expect("an id"))).await.ok(200)
}

async fn sells(person: &Person, lines: Json, payments: Json) -> Json {
    person.post("/pos/sales", cart(lines, payments)).await.ok(201)
}

#[tokio::test]
async fn vector_r02_each_of_two_discounted_units_comes_back_with_its_share() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let mut two = line("TEA", 2);
    two["lineDiscount"] = json!({"type": "percent", "bps": 1500, "reason": "a dent"});
    let sale = person.sell(json!([two])).await.ok(201);
    has(&sale, &[("lineDiscount", 600), ("netAmount", 3398), ("taxAmount", 302), ("totalAmount", 3700)]);
    for done in 1..=2 {
        let back = give_back(&person, &sale, json!([item(&sale, 0, 1)])).await.ok(201);
        let amounts = [
            ("listAmount", -1999),
            ("lineDiscount", -300),
            ("taxAmount", -151),
            ("totalAmount", -1850),
            ("netAmount", -1699),
            ("costAmount", -999),
        ];
        has(&back["saleItems"][0], &amounts);
        has(&back, &amounts);
        assert_eq!((&back["saleType"], &back["saleItems"][0]["quantity"]), (&json!("refund"), &json!(-1)));
        assert_eq!(back["salePayments"][0]["amount"], -1850);
        let original = read(&person, &sale).await;
        let status = if done == 1 { "partially_refunded" } else { "refunded" };
        assert_eq!((&original["status"], &original["refundedAmount"]), (&json!(status), &json!(1850 * done)));
        assert_eq!(original["saleItems"][0]["refundedQuantity"], done);
        assert_eq!(original["refunds"].as_array().map(Vec::len), usize::try_from(done).ok());
    }
    assert_eq!(queued(&shop, &sale["id"]).await, ["create", "update", "update"]);
}

#[tokio::test]
async fn vector_c02_cash_that_comes_back_is_rounded_as_cash_that_was_paid() {
    let shop = Shop::open_with(|own| own.cash_rounding_increment = 5).await;
    let person = shop.selling().await;
    let price = |price: i64| {
        let mut flowers = line("FLOWERS", 1);
        flowers["openPrice"] = json!(price);
        flowers
    };
    let sale = person.sell(json!([price(2176), price(2178)])).await.ok(201);
    for (place, paid, rounding) in [(0, -2175, 1), (1, -2180, -2)] {
        let back = give_back(&person, &sale, json!([item(&sale, place, 1)])).await.ok(201);
        assert_eq!((&back["salePayments"][0]["amount"], &back["cashRounding"]), (&json!(paid), &json!(rounding)));
    }
    // All of it in cash is what was paid, whatever coins there are by now.
    let sale = person.sell(json!([price(2176)])).await.ok(201);
    assert_eq!(sale["cashRounding"], -1);
    shop.change_store(|own| own.cash_rounding_increment = 10).await;
    let back = give_back(&person, &sale, json!([item(&sale, 0, 1)])).await.ok(201);
    assert_eq!((&back["salePayments"][0]["amount"], &back["cashRounding"]), (&json!(-2175), &json!(1)));
}

#[tokio::test]
async fn a_refund_has_the_snapshots_of_the_line_and_names_what_it_is_of() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    shop.insert::<reason::Entity>([reason::Model {
        id: id("refund reason"),
        kind: "refund".into(),
        code: "defective".into(),
        name: "Defective".into(),
        is_active: true,
        ..reason::Model::default()
    }])
    .await;
    let mut tea = line("TEA", 2);
    (tea["note"], tea["serial"]) = (json!("blue"), json!("SN-1"));
    let mut sold = cart(json!([tea, line("BREAD", 1)]), json!([{"tenderId": id("CASH")}]));
    (sold["customerId"], sold["salesRepId"]) = (json!(id("HQ-000001")), json!(id("rep")));
    let sale = person.post("/pos/sales", sold).await.ok(201);
    // What the product is by now says nothing of what was sold.
    shop.change_product("TEA", |product| {
        (product.name, product.track_stock, product.price) = ("other".to_owned(), false, Money(1));
        product.deleted_at = Some(rows::made());
    })
    .await;
    let mut asked = refund(json!([item(&sale, 0, 1)]));
    asked["items"][0]["reasonCode"] = json!("defective");
    asked["note"] = json!("a receipt of May");
    let back = person.post(&path(&sale, "refunds"), asked).await.ok(201);
    let (old, new) = (&sale["saleItems"][0], &back["saleItems"][0]);
    for key in [
        "productId",
        "sku",
        "productName",
        "barcode",
        "departmentId",
        "unitOfMeasure",
        "regularPrice",
        "unitPrice",
        "priceSource",
        "priceIncludesTax",
        "taxGroupId",
        "unitCost",
        "tracked",
        "note",
        "serial",
    ] {
        assert_eq!(new[key], old[key], "{key}");
    }
    assert_eq!(
        (&new["originalSaleItemId"], &new["returnReason"], &new["returnReasonCode"], &new["restock"]),
        (&old["id"], &json!("Defective"), &json!("defective"), &json!(true))
    );
    let (tax, whole) = (&new["taxDetails"][0], &old["taxDetails"][0]);
    assert_eq!((&tax["taxRateId"], &tax["ratePpm"]), (&whole["taxRateId"], &whole["ratePpm"]));
    assert_eq!((&tax["baseAmount"], &tax["taxAmount"]), (&json!(-1999), &new["taxAmount"]));
    assert_eq!(back["taxLines"][0]["name"], sale["taxLines"][0]["name"]);
    assert_eq!(back["taxLines"][0]["taxAmount"], back["taxAmount"]);
    for key in ["customerId", "customerName", "salesRepId", "taxExempt", "currencyCode", "taxRounding"] {
        assert_eq!(back[key], sale[key], "{key}");
    }
    assert_eq!(
        (&back["originalSaleId"], &back["originalReceiptNumber"], &back["note"]),
        (&sale["id"], &sale["receiptNumber"], &json!("a receipt of May"))
    );
    assert_eq!((&back["receiptNumber"], &back["checkedAtHq"]), (&json!("S01-01-000002"), &json!(false)));
    assert_eq!(back["warnings"], json!([]));
    assert_eq!(shop.level("TEA").await, Qty::pieces(9), "stock was kept of it when it was sold");
    let lines = shop.audited("sale.refund").await;
    assert_eq!((lines.len(), lines[0].user_id), (1, Some(person.user_id)));
    assert_eq!(queued(&shop, &back["id"]).await, ["create"]);
    let stored = read(&person, &back).await;
    let mut stored = stored.clone();
    stored.as_object_mut().expect("a sale").remove("refunds");
    assert_eq!(stored, document(&back));
}

#[tokio::test]
async fn goods_that_go_back_to_the_shelf_come_at_what_they_cost_and_others_do_not_come() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    change_stock(&shop, "TEA", |row| row.average_cost = Some(Cost(Money(1200)))).await;
    let sale = person.sell(json!([line("TEA", 2)])).await.ok(201);
    assert_eq!(sale["saleItems"][0]["unitCost"], 1200);
    change_stock(&shop, "TEA", |row| row.average_cost = Some(Cost(Money(600)))).await;
    let mut broken = item(&sale, 0, 1);
    broken["restock"] = json!(false);
    let before = shop.count::<stock_movement::Entity>().await;
    let back = give_back(&person, &sale, json!([broken])).await.ok(201);
    assert_eq!(shop.count::<stock_movement::Entity>().await, before);
    assert_eq!((shop.level("TEA").await, &back["saleItems"][0]["averageCostAfter"]), (Qty::pieces(8), &Json::Null));
    has(&back["saleItems"][0], &[("costAmount", -1200), ("unitCost", 1200)]);

    let back = give_back(&person, &sale, json!([item(&sale, 0, 1)])).await.ok(201);
    // Eight at 6.00 and one at 12.00.
    has(&back["saleItems"][0], &[("costAmount", -1200), ("averageCostAfter", 667)]);
    let stock = shop.stock_row("TEA").await;
    assert_eq!((stock.quantity, stock.average_cost), (Qty::pieces(9), Some(Cost(Money(667)))));
}

#[tokio::test]
async fn what_was_sold_by_weight_by_a_label_and_as_a_charge_comes_back_as_it_was_sold() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    shop.change_product("TEA", |product| product.charge_product_id = Some(id("BREAD"))).await;
    let mut labelled = json!({"productId": id("BANANA"), "code": "2004011007414"});
    labelled["lineId"] = json!("label");
    let sale =
        sells(&person, json!([line("BANANA", 1.237), labelled, line("TEA", 2)]), json!([{"tenderId": id("CASH")}]))
            .await;
    let [weighed, label] = [0, 1].map(|place| sale["saleItems"][place]["quantity"].clone());
    assert_eq!((&weighed, &sale["saleItems"][1]["totalAmount"]), (&json!(1.237), &json!(741)));
    // A part of what was weighed, then the rest: together it is the line.
    let first = give_back(&person, &sale, json!([item(&sale, 0, 0.4)])).await.ok(201);
    let rest = give_back(&person, &sale, json!([item(&sale, 0, 0.837), item(&sale, 1, label)])).await.ok(201);
    let sum =
        first["totalAmount"].as_i64().zip(rest["saleItems"][0]["totalAmount"].as_i64()).map(|(one, two)| one + two);
    assert_eq!(sum, Some(-741));
    assert_eq!(rest["saleItems"][1]["totalAmount"], -741);
    // The deposit alone, and a product with its deposit.
    assert_eq!(sale["saleItems"][3]["chargeOf"], sale["saleItems"][2]["id"]);
    let alone = give_back(&person, &sale, json!([item(&sale, 3, 1)])).await.ok(201);
    assert_eq!(alone["saleItems"][0]["chargeOf"], Json::Null);
    let both = give_back(&person, &sale, json!([item(&sale, 2, 1), item(&sale, 3, 1)])).await.ok(201);
    assert_eq!(both["saleItems"][1]["chargeOf"], both["saleItems"][0]["id"]);
}

#[tokio::test]
async fn money_goes_back_by_the_tenders_of_the_sale_the_last_one_first() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let paid = json!([{"tenderId": id("CARD"), "tenderedAmount": 1500}, {"tenderId": id("CASH")}]);
    let sale = sells(&person, json!([line("TEA", 1)]), paid).await;
    let refundable = person.get(&path(&sale, "refundable")).await.ok(200);
    let tender = |place: usize, key: &str| refundable["tenders"][place][key].clone();
    assert_eq!((tender(0, "tenderCode"), tender(0, "refundableAmount")), (json!("CARD"), json!(1500)));
    assert_eq!((tender(1, "tenderCode"), tender(1, "refundableAmount")), (json!("CASH"), json!(676)));
    let back = give_back(&person, &sale, json!([item(&sale, 0, 1)])).await.ok(201);
    let amounts: Vec<(&Json, &Json)> = back["salePayments"]
        .as_array()
        .expect("payments")
        .iter()
        .map(|payment| (&payment["tenderCode"], &payment["amount"]))
        .collect();
    assert!(
        amounts.contains(&(&json!("CASH"), &json!(-676))) && amounts.contains(&(&json!("CARD"), &json!(-1500))),
        "{amounts:?}"
    );

    // A card gets back what it paid and no more.
    let paid = json!([{"tenderId": id("CARD"), "tenderedAmount": 1000}, {"tenderId": id("CASH")}]);
    let sale = sells(&person, json!([line("TEA", 1)]), paid).await;
    let refusal = person.post(&path(&sale, "refunds"), by("CARD", json!([item(&sale, 0, 1)]))).await;
    refusal.refused_at(422, "tender_rule", "payments[0]");
    // Where the shop does not hold the tender to be the same, the rest may go elsewhere.
    let mut mixed = refund(json!([item(&sale, 0, 1)]));
    mixed["payments"] = json!([{"tenderId": id("CARD"), "amount": 900}, {"tenderId": id("CASH"), "amount": 1276}]);
    person.post(&path(&sale, "refunds"), mixed).await.ok(201);
}

#[tokio::test]
async fn a_check_that_was_too_much_gets_back_what_the_goods_cost() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let paid = json!([{"tenderId": id("CHECK"), "tenderedAmount": 5000}]);
    let sale = sells(&person, json!([line("TEA", 1)]), paid).await;
    let refundable = person.get(&path(&sale, "refundable")).await.ok(200);
    assert_eq!(refundable["tenders"].as_array().map(Vec::len), Some(1), "{refundable}");
    assert_eq!(refundable["tenders"][0]["refundableAmount"], 2176);
    let back = give_back(&person, &sale, json!([item(&sale, 0, 1)])).await.ok(201);
    assert_eq!(back["salePayments"][0]["amount"], -2176);
}

#[tokio::test]
async fn a_tender_that_is_gone_takes_nothing_back_and_another_one_does() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let sale = sells(&person, json!([line("TEA", 1)]), json!([{"tenderId": id("CARD")}])).await;
    change_tender(&shop, "CARD", |tender| tender.deleted_at = Some(rows::made())).await;
    let items = json!([item(&sale, 0, 1)]);
    let refundable = person.get(&path(&sale, "refundable")).await.ok(200);
    assert_eq!(
        (&refundable["tenders"][0]["isRefundable"], &refundable["tenders"][0]["refundableAmount"]),
        (&json!(false), &json!(0))
    );
    give_back(&person, &sale, items.clone()).await.refused_at(422, "tender_rule", "payments[0]");
    let refusal = person.post(&path(&sale, "refunds"), by("CARD", items.clone())).await;
    refusal.refused_at(422, "validation", "payments[0].tenderId");
    person.post(&path(&sale, "refunds"), by("CASH", items)).await.ok(201);
}

#[tokio::test]
async fn what_was_owed_is_owed_no_more() {
    let (shop, cashier) = crate::accounts::scene().await;
    let manager = shop.sign_in("store_manager").await;
    let sale = cashier.post("/pos/sales", crate::accounts::bread(2)).await.ok(201);
    assert_eq!(crate::accounts::used(&shop).await, 500);
    let back = give_back(&manager, &sale, json!([item(&sale, 0, 1)])).await.ok(201);
    assert_eq!(
        (&back["salePayments"][0]["tenderKind"], &back["salePayments"][0]["amount"]),
        (&json!("on_account"), &json!(-250))
    );
    assert_eq!(crate::accounts::used(&shop).await, 250);
    let account = accounts::at_store(shop.store.test_db().reader(), id("HQ-000010")).await.expect("a read");
    assert_eq!(account.expect("the customer").available(), Money(750));
}

#[tokio::test]
async fn what_came_back_of_a_sale_does_not_count_that_sale_twice() {
    for pulled_first in [false, true] {
        let (shop, _hq) = crate::accounts::ledger(false).await;
        let person = shop.sign_in("administrator").await;
        let (mut sender, mut cycle) = (Sender::default(), Cycle::default());
        sender.step(&shop.store).await;
        if pulled_first {
            cycle.step(&shop.store).await;
        }
        let sales = sale::Entity::find().all(shop.store.test_db().reader()).await.expect("the sales");
        let sale = person.get(&format!("/pos/sales/{}", sales[0].id)).await.ok(200);
        give_back(&person, &sale, json!([item(&sale, 0, 1)])).await.ok(201);
        assert_eq!(crate::accounts::used(&shop).await, 250, "{pulled_first}");
        // The balance has the sale. What came back of it waits to be sent, and is no news of what was owed.
        cycle.step(&shop.store).await;
        assert_eq!(crate::accounts::used(&shop).await, 250, "{pulled_first}");
        let store = Source::new(shop.store.test_db().reader(), Side::Store).await.expect("a source");
        let findings = verify::run(None, &[store], &Options::default()).await.expect("a verdict");
        assert!(findings.iter().all(|finding| finding.entity != "account_charges"), "{findings:#?}");
    }
}

#[tokio::test]
async fn who_paid_no_taxes_gets_none_back() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let mut sold = cart(json!([line("T06", 2)]), json!([{"tenderId": id("CASH")}]));
    sold["customerId"] = json!(id("HQ-000002"));
    let sale = person.post("/pos/sales", sold).await.ok(201);
    assert_eq!((&sale["taxExempt"], &sale["taxAmount"]), (&json!(true), &json!(0)));
    let parts = [
        give_back(&person, &sale, json!([item(&sale, 0, 1)])).await.ok(201),
        give_back(&person, &sale, json!([item(&sale, 0, 1)])).await.ok(201),
    ];
    let total: i64 = parts.iter().filter_map(|part| part["totalAmount"].as_i64()).sum();
    assert_eq!(json!(-total), sale["totalAmount"]);
    assert!(parts.iter().all(|part| part["taxAmount"] == 0 && part["taxExempt"] == true));
}

#[tokio::test]
async fn parts_of_any_size_add_up_to_their_line_in_every_amount() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let mut seven = line("T04", 7);
    seven["lineDiscount"] = json!({"type": "amount", "amount": 333, "reason": "a dent"});
    let mut sold = cart(json!([seven, line("BREAD", 3)]), json!([{"tenderId": id("CARD")}]));
    sold["cartDiscount"] = json!({"type": "amount", "amount": 1001, "reason": "a complaint"});
    let sale = person.post("/pos/sales", sold).await.ok(201);
    let line = &sale["saleItems"][0];
    let mut sums = std::collections::BTreeMap::new();
    let keys = ["listAmount", "lineDiscount", "cartDiscount", "netAmount", "taxAmount", "totalAmount", "costAmount"];
    for quantity in [2, 1, 3, 1] {
        let back = give_back(&person, &sale, json!([item(&sale, 0, quantity)])).await.ok(201);
        let part = &back["saleItems"][0];
        for key in keys {
            *sums.entry(key.to_owned()).or_insert(0) -= part[key].as_i64().expect(key);
        }
        for rate in 0..2 {
            let key = format!("rate {rate}");
            *sums.entry(key).or_insert(0) -= part["taxDetails"][rate]["taxAmount"].as_i64().expect("a tax");
        }
    }
    for key in keys {
        assert_eq!(json!(sums[key]), line[key], "{key}");
    }
    for rate in 0..2 {
        assert_eq!(json!(sums[&format!("rate {rate}")]), line["taxDetails"][rate]["taxAmount"], "{rate}");
    }
}

#[tokio::test]
async fn what_may_come_back_is_shown_before_it_is_promised() {
    let shop = Shop::open_with(|own| own.refund_window_days = Some(14)).await;
    let person = shop.selling().await;
    let sale = person.sell(json!([line("TEA", 3), line("BREAD", 1)])).await.ok(201);
    give_back(&person, &sale, json!([item(&sale, 0, 1)])).await.ok(201);
    shop.change_product("BREAD", |product| product.is_returnable = false).await;
    let shown = person.get(&path(&sale, "refundable")).await.ok(200);
    let tea = &shown["lines"][0];
    assert_eq!(
        (&tea["soldQuantity"], &tea["refundedQuantity"], &tea["refundableQuantity"], &tea["isReturnable"]),
        (&json!(3), &json!(1), &json!(2), &json!(true))
    );
    let whole = tea["refundableAmount"].as_i64().expect("an amount");
    assert_eq!(shown["lines"][1]["isReturnable"], false);
    assert_eq!((&shown["checkedAtHq"], &shown["warnings"]), (&json!(false), &json!([])));
    assert_eq!((&shown["windowEndsAt"], &shown["sale"]["id"]), (&json!("2026-12-04"), &sale["id"]));
    // It comes back as it was shown.
    let one = give_back(&person, &sale, json!([item(&sale, 0, 1)])).await.ok(201);
    assert_eq!(json!(-one["totalAmount"].as_i64().expect("an amount")), tea["unitRefund"]);
    let rest = give_back(&person, &sale, json!([item(&sale, 0, 1)])).await.ok(201);
    let both = [&one, &rest].map(|back| back["totalAmount"].as_i64().expect("an amount")).iter().sum::<i64>();
    assert_eq!(-both, whole);
    assert_eq!(shown["refundableAmount"], json!(whole + 250));
}

#[tokio::test]
async fn a_sale_says_its_refunds_by_its_id_and_by_its_receipt() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let sale = person.sell(json!([line("TEA", 2)])).await.ok(201);
    assert_eq!(read(&person, &sale).await["refunds"], json!([]));
    let back = give_back(&person, &sale, json!([item(&sale, 0, 1)])).await.ok(201);
    let by_receipt = person.get("/pos/sales/by-receipt/S01-01-000001").await.ok(200);
    for shown in [read(&person, &sale).await, by_receipt] {
        let refund = &shown["refunds"][0];
        for key in ["id", "receiptNumber", "totalAmount", "completedAt"] {
            assert_eq!(refund[key], back[key], "{key}");
        }
        assert_eq!(refund["storeCode"], Json::Null);
    }
}

#[tokio::test]
async fn a_sale_that_headquarters_will_never_have_comes_back_with_a_warning() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let sale = person.sell(json!([line("TEA", 1)])).await.ok(201);
    shop.run("UPDATE sales SET flags = '[\"not_at_headquarters\"]'").await;
    let shown = person.get(&path(&sale, "refundable")).await.ok(200);
    assert_eq!(shown["warnings"][0]["code"], "not_at_headquarters");
    let back = give_back(&person, &sale, json!([item(&sale, 0, 1)])).await.ok(201);
    assert_eq!(back["warnings"][0]["code"], "not_at_headquarters");
    assert_eq!(back["flags"], json!(["original_not_at_headquarters"]));
}
