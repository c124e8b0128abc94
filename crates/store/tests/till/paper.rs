//! The papers of what a till did: each form and kind, of sales, refunds and payments on accounts.

use serde_json::{Value as Json, json};
use tillkeep_model::{JsonText, Money};
use tillkeep_storage::count::statements;
use tillkeep_storage::entity::{customer, register, sale, sale_item, store, tax_rate};
use tillkeep_storage::sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter};
use uuid::Uuid;

use crate::kit::{Person, Shop, cart, id, line};

/// Of a paper of `sold`, with this query.
fn path(sold: &Json, query: &str) -> String {
    format!("/pos/sales/{}/receipt{query}", sold["id"].as_str().expect("an id"))
}

async fn text(person: &Person, sold: &Json, query: &str) -> String {
    let (headers, bytes) = person.fetch(&path(sold, &format!("?format=text{query}"))).await;
    assert_eq!(headers["content-type"], "text/plain; charset=utf-8");
    String::from_utf8(bytes).expect("a text")
}

async fn receipt(person: &Person, sold: &Json, query: &str) -> Json {
    person.get(&path(sold, query)).await.ok(200)
}

async fn refused(person: &Person, sold: &Json, query: &str, field: &str) {
    person.get(&path(sold, query)).await.refused_at(422, "validation", field);
}

/// Changes what is stored of a sale, as another release or another document would have it.
async fn change(shop: &Shop, sold: &Json, change: impl FnOnce(&mut sale::Model)) {
    let tx = shop.store.test_db().begin().await.expect("a transaction");
    let key: Uuid = sold["id"].as_str().and_then(|id| id.parse().ok()).expect("an id");
    let mut row = sale::Entity::find_by_id(key).one(&tx).await.expect("a read").expect("a sale");
    change(&mut row);
    sale::Entity::update(row.into_active_model().reset_all()).exec(&tx).await.expect("an update");
    tx.commit().await.expect("a commit");
}

async fn change_lines(shop: &Shop, sold: &Json, change: impl Fn(&mut sale_item::Model)) {
    let tx = shop.store.test_db().begin().await.expect("a transaction");
    let key: Uuid = sold["id"].as_str().and_then(|id| id.parse().ok()).expect("an id");
    let lines = sale_item::Entity::find().filter(sale_item::Column::SaleId.eq(key)).all(&tx).await.expect("a read");
    for mut row in lines {
        change(&mut row);
        sale_item::Entity::update(row.into_active_model().reset_all()).exec(&tx).await.expect("an update");
    }
    tx.commit().await.expect("a commit");
}

/// Tea, a pound of bananas with a discount, paid with a note.
async fn sold(person: &Person) -> Json {
    let mut request = cart(
        json!([line("TEA", 2), line("BANANA", 0.5), {"productId": id("BREAD"), "quantity": 1, "note": "sliced"}]),
        json!([{"tenderId": id("CASH"), "tenderedAmount": 10_000}]),
    );
    request["lines"][1]["lineDiscount"] = json!({"type": "percent", "bps": 1000, "reason": "brown spots"});
    person.post("/pos/sales", request).await.ok(201)
}

#[tokio::test]
async fn the_receipt_of_a_sale_says_what_was_booked() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let sold = sold(&person).await;
    let paper = receipt(&person, &sold, "").await;
    let said = [&paper["kind"], &paper["document"], &paper["number"], &paper["barcode"], &paper["localTime"]];
    let number = &sold["receiptNumber"];
    assert_eq!(said[..4], [&json!("sale"), &json!("sale"), number, number]);
    assert!(said[4].as_str().is_some_and(|time| time.starts_with("2026-11-20T09:0")), "the clock of the shop: {paper}");
    let totals = &paper["totals"];
    assert_eq!((&totals["total"], &totals["change"]), (&sold["totalAmount"], &sold["changeAmount"]));
    // By hand: 2 x 19.99 and its tax of 8.875 %, half a kilogram at 5.99 less a tenth, bread at 2.50.
    let amounts =
        ["list", "saved", "subtotal", "taxAdded", "total", "due"].map(|name| totals[name].as_i64().expect(name));
    assert_eq!(amounts, [3998 + 300 + 250, 30, 4518, 355, 4873, 4873]);
    let bananas = &paper["lines"][1];
    assert_eq!(
        (&bananas["quantity"], &bananas["unit"], &bananas["price"]["amount"]),
        (&json!(0.5), &json!("kg"), &json!(270))
    );
    let saving = json!([{"text": "Discount 10 % (brown spots)", "amount": 30}]);
    assert_eq!(bananas["price"]["savings"], saving);
    assert_eq!(paper["lines"][2]["note"], "sliced");
    let tax = json!([{"mark": "A", "name": "NY", "ratePpm": 88_750, "included": false, "base": 3998, "tax": 355}]);
    assert_eq!((&paper["taxes"], &paper["lines"][0]["price"]["taxMark"]), (&tax, &json!("A")));
    assert_eq!((&paper["tenders"][0]["name"], &paper["tenders"][0]["tendered"]), (&json!("cash"), &json!(10_000)));
    assert_eq!(paper["copy"], Json::Null);
}

#[tokio::test]
async fn a_paper_is_text_page_or_bytes_of_a_printer_and_is_counted_in_none_of_them() {
    let shop = Shop::that_rests().await;
    let person = shop.selling().await;
    let sold = sold(&person).await;
    let number = sold["receiptNumber"].as_str().expect("a number").to_owned();
    let before = shop.outbox().await.len();
    for (query, columns) in [("", 42), ("&width=32", 32), ("&width=48", 48)] {
        let paper = text(&person, &sold, query).await;
        for said in [number.as_str(), "TOTAL USD", "48.73", "51.27", "0.5 kg x 5.99/kg", "brown spots"] {
            // However its lines are broken.
            let words = paper.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains(said), "{said} in {paper}");
        }
        assert!(paper.lines().all(|line| line.chars().count() <= columns), "{paper}");
        assert_eq!(text(&person, &sold, query).await, paper, "the same whenever it is asked for");
    }
    for (query, width) in [("?format=html", "72mm"), ("?format=html&width=58", "48mm")] {
        let (headers, bytes) = person.fetch(&path(&sold, query)).await;
        let page = String::from_utf8(bytes).expect("a text");
        assert_eq!(headers["content-type"], "text/html; charset=utf-8");
        assert_eq!(headers["x-content-type-options"], "nosniff");
        assert_eq!(headers["cache-control"], "no-store");
        let policy = headers["content-security-policy"].to_str().expect("a policy");
        assert!(policy.contains("script-src 'none'") && policy.contains("style-src 'sha256-"), "{policy}");
        assert!(
            page.contains(&format!("body{{width:{width}")) && page.contains("<svg") && page.contains(&number),
            "{page}"
        );
    }
    let (headers, bytes) = person.fetch(&path(&sold, "?format=escpos&width=48")).await;
    assert_eq!(headers["content-type"], "application/octet-stream");
    assert!(bytes.starts_with(b"\x1b@"), "a printer begins anew");
    let has = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(has(&number) && has("48.73"));
    assert_eq!(shop.outbox().await.len(), before);
    let key: Uuid = sold["id"].as_str().and_then(|id| id.parse().ok()).expect("an id");
    let row = sale::Entity::find_by_id(key).one(shop.store.test_db().reader()).await.expect("a read");
    assert_eq!(row.expect("the sale").reprint_count, 0);
}

#[tokio::test]
async fn a_width_that_a_form_does_not_have_and_a_paper_of_nothing_are_refused() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let sold = sold(&person).await;
    for query in ["?width=42", "?format=text&width=80", "?format=html&width=42", "?format=escpos&width=40"] {
        refused(&person, &sold, query, "width").await;
    }
    refused(&person, &sold, "?format=pdf", "format").await;
    refused(&person, &sold, "?kind=menu", "kind").await;
    person.get(&path(&sold, "?copies=2")).await.refused_at(422, "unknown_parameter", "copies");
    person.get(&format!("/pos/sales/{}/receipt", Uuid::now_v7())).await.refused(404, "sale_not_found");
}

#[tokio::test]
async fn a_copy_is_marked_and_a_gift_receipt_has_no_amounts() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let sold = sold(&person).await;
    let copy = text(&person, &sold, "&kind=copy").await;
    assert!(copy.lines().any(|line| line.trim() == "COPY"), "{copy}");
    change(&shop, &sold, |sale| sale.reprint_count = 3).await;
    let copy = text(&person, &sold, "&kind=copy").await;
    assert!(copy.lines().any(|line| line.trim() == "COPY 3"), "{copy}");
    assert!(!text(&person, &sold, "").await.contains("COPY"));

    let gift = text(&person, &sold, "&kind=gift").await;
    for said in ["GIFT RECEIPT", "tea", "banana", sold["receiptNumber"].as_str().expect("a number")] {
        assert!(gift.contains(said), "{said} in {gift}");
    }
    for amount in ["19.99", "48.73", "5.99", "USD", "NY", "cash", "brown spots"] {
        assert!(!gift.contains(amount), "{amount} in {gift}");
    }
    let gift = receipt(&person, &sold, "?kind=gift").await;
    assert_eq!((&gift["totals"], &gift["taxes"], &gift["tenders"]), (&Json::Null, &json!([]), &json!([])));
    assert!(gift["lines"].as_array().expect("lines").iter().all(|line| line["price"].is_null()), "{gift}");
    let found =
        person.get(&format!("/pos/sales/by-receipt/{}", gift["barcode"].as_str().expect("a code"))).await.ok(200);
    assert_eq!(found["id"], sold["id"]);
}

#[tokio::test]
async fn an_invoice_names_who_was_typed_in_or_the_customer_and_is_refused_without_either() {
    let shop = Shop::that_rests().await;
    let person = shop.selling().await;
    let walked_in = sold(&person).await;
    refused(&person, &walked_in, "?kind=invoice", "kind").await;
    let buyer = format!("/pos/sales/{}/buyer", walked_in["id"].as_str().expect("an id"));
    for (field, body) in [
        ("name", json!({"name": " "})),
        ("name", json!({"name": "a".repeat(201)})),
        ("address", json!({"name": "Bo", "address": "a".repeat(401)})),
        ("taxNumber", json!({"name": "Bo", "taxNumber": "1".repeat(51)})),
    ] {
        person.post(&buyer, body).await.refused_at(422, "validation", field);
    }
    let before = shop.outbox().await.len();
    let typed = json!({"name": "Bo Builders Ltd", "address": "Dock 4\nNew York, NY 10001", "taxNumber": "12-345"});
    let named = person.post(&buyer, typed.clone()).await.ok(200);
    assert_eq!((&named["buyer"], &named["totalAmount"]), (&typed, &walked_in["totalAmount"]));
    person.post(&buyer, typed.clone()).await.ok(200);
    let sent = shop.outbox().await;
    assert_eq!(sent.len(), before + 1, "what is so already is not sent again");
    let entry = sent.last().expect("an entry");
    assert_eq!((entry.entity_type.as_str(), entry.action.as_str()), ("sales", "update"));
    let invoice = text(&person, &walked_in, "&kind=invoice").await;
    for said in ["INVOICE", "Bo Builders Ltd", "Dock 4", "New York, NY 10001", "12-345", "48.73"] {
        assert!(invoice.contains(said), "{said} in {invoice}");
    }
    assert!(!text(&person, &walked_in, "").await.contains("Bo Builders"), "it is named on an invoice alone");
    // Who was typed in wrongly is typed in again.
    person.post(&buyer, json!({"name": "Bo Builders Inc"})).await.ok(200);
    assert!(text(&person, &walked_in, "&kind=invoice").await.contains("Bo Builders Inc"));

    let mut request = cart(json!([line("TEA", 1)]), json!([{"tenderId": id("CASH")}]));
    request["customerId"] = json!(id("HQ-000001"));
    let known = person.post("/pos/sales", request).await.ok(201);
    let invoice = receipt(&person, &known, "?kind=invoice").await;
    assert_eq!(invoice["buyer"], json!({"name": "Ann Miller", "address": [], "taxNumber": null}));
    let tx = shop.store.test_db().begin().await.expect("a transaction");
    let row = customer::Entity::find_by_id(id("HQ-000001")).one(&tx).await.expect("a read").expect("a customer");
    let forgotten = customer::Model { first_name: None, last_name: None, company_name: None, ..row };
    customer::Entity::update(forgotten.into_active_model().reset_all()).exec(&tx).await.expect("an update");
    tx.commit().await.expect("a commit");
    refused(&person, &known, "?kind=invoice", "kind").await;
    let nothing = format!("/pos/sales/{}/buyer", Uuid::now_v7());
    person.post(&nothing, json!({"name": "Bo"})).await.refused(404, "sale_not_found");
}

#[tokio::test]
async fn a_voided_sale_says_so_and_when() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let sold = sold(&person).await;
    let void = format!("/pos/sales/{}/void", sold["id"].as_str().expect("an id"));
    person.post(&void, json!({"terminalId": "T1", "reason": "rung up twice"})).await.ok(200);
    let paper = text(&person, &sold, "").await;
    assert!(paper.lines().any(|line| line.trim() == "VOIDED"), "{paper}");
    assert!(paper.contains("11/20/2026 9:0") && paper.contains("rung up twice"), "{paper}");
    assert!(paper.contains("48.73"), "what was booked stays readable: {paper}");
}

#[tokio::test]
async fn a_refund_names_its_original_with_its_reason_and_the_original_what_was_given_back() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let original = person.sell(json!([line("TEA", 1), line("BREAD", 1)])).await.ok(201);
    let items = json!([{"saleItemId": original["saleItems"][0]["id"], "quantity": 1, "reason": "stale"}]);
    let request = json!({"id": Uuid::now_v7(), "terminalId": "T1", "items": items});
    let refunds = format!("/pos/sales/{}/refunds", original["id"].as_str().expect("an id"));
    let refund = person.post(&refunds, request).await.ok(201);
    let paper = receipt(&person, &refund, "").await;
    assert_eq!((&paper["document"], &paper["original"]["number"]), (&json!("refund"), &original["receiptNumber"]));
    assert_eq!((&paper["original"]["reason"], &paper["lines"][0]["reason"]), (&json!("stale"), &Json::Null));
    // By hand: 19.99 and its tax of 8.875 %.
    let totals = ["subtotal", "taxAdded", "total"].map(|name| paper["totals"][name].as_i64());
    assert_eq!(totals, [Some(-1999), Some(-177), Some(-2176)]);
    assert_eq!((&paper["tenders"][0]["kind"], &paper["tenders"][0]["amount"]), (&json!("cash"), &json!(-2176)));
    let words = text(&person, &refund, "").await;
    for said in ["REFUND", "Refund of", "stale", "-21.76", "-19.99 A"] {
        assert!(words.contains(said), "{said} in {words}");
    }
    refused(&person, &refund, "?kind=gift", "kind").await;

    let copy = receipt(&person, &original, "?kind=copy").await;
    let back = json!([{"number": refund["receiptNumber"], "reason": null, "total": -2176}]);
    assert_eq!((&copy["refunds"], &copy["totals"]["total"]), (&back, &json!(2426)));
    let words = text(&person, &original, "&kind=copy").await;
    assert!(
        words.contains(&format!("Given back with {}", refund["receiptNumber"].as_str().expect("a number"))),
        "{words}"
    );
}

#[tokio::test]
async fn lines_of_a_refund_with_several_reasons_have_each_its_own() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let original = person.sell(json!([line("TEA", 1), line("BREAD", 1)])).await.ok(201);
    let item = |place: usize, why: &str| json!({"saleItemId": original["saleItems"][place]["id"], "quantity": 1, "reason": why});
    let request = json!({"id": Uuid::now_v7(), "terminalId": "T1", "items": [item(0, "stale"), item(1, "too dark")]});
    let refunds = format!("/pos/sales/{}/refunds", original["id"].as_str().expect("an id"));
    let refund = person.post(&refunds, request).await.ok(201);
    let paper = receipt(&person, &refund, "").await;
    assert_eq!(paper["original"]["reason"], Json::Null);
    assert_eq!([&paper["lines"][0]["reason"], &paper["lines"][1]["reason"]], [&json!("stale"), &json!("too dark")]);
}

#[tokio::test]
async fn both_halves_of_an_exchange_name_each_other() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let original = person.sell(json!([line("BREAD", 4)])).await.ok(201);
    let item = json!({"saleItemId": original["saleItems"][0]["id"], "quantity": 1, "reason": "too hard"});
    let request = json!({
        "terminalId": "T1",
        "refund": {"id": Uuid::now_v7(), "saleId": original["id"], "items": [item]},
        "sale": {"id": Uuid::now_v7(), "lines": [line("TEA", 1)]},
        "payments": [{"tenderId": id("CASH")}],
    });
    let done = person.post("/pos/exchanges", request).await.ok(201);
    let (back, new) = (&done["refund"], &done["sale"]);
    let paper = receipt(&person, new, "").await;
    assert_eq!(paper["otherHalf"], json!({"document": "refund", "number": back["receiptNumber"], "total": -250}));
    let paid: Vec<(&Json, &Json)> =
        paper["tenders"].as_array().expect("tenders").iter().map(|paid| (&paid["kind"], &paid["amount"])).collect();
    assert!(
        paid.contains(&(&json!("exchange"), &json!(250))) && paid.contains(&(&json!("cash"), &json!(1926))),
        "{paid:?}"
    );
    let paper = receipt(&person, back, "").await;
    assert_eq!(paper["otherHalf"], json!({"document": "sale", "number": new["receiptNumber"], "total": 2176}));
    assert!(text(&person, new, "").await.contains("Given back in exchange"));
    assert!(text(&person, back, "").await.contains("Exchanged for"));
}

#[tokio::test]
async fn a_payment_on_an_account_says_what_was_paid_on_it() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let mut owes = cart(json!([line("BREAD", 4)]), json!([{"tenderId": id("ACCOUNT")}]));
    owes["customerId"] = json!(id("HQ-000001"));
    person.post("/pos/sales", owes).await.ok(201);
    let request = json!({
        "id": Uuid::now_v7(), "terminalId": "T1", "customerId": id("HQ-000001"), "settlement": {"amount": 400},
        "payments": [{"tenderId": id("CASH"), "tenderedAmount": 500}],
    });
    let paid = person.post("/pos/sales", request).await.ok(201);
    let paper = receipt(&person, &paid, "").await;
    assert_eq!(
        (&paper["document"], &paper["lines"], &paper["totals"]["settled"]),
        (&json!("settlement"), &json!([]), &json!(400))
    );
    assert_eq!((paper["tenders"].as_array().map(Vec::len), &paper["totals"]["change"]), (Some(1), &json!(100)));
    let words = text(&person, &paid, "").await;
    for said in ["PAYMENT ON ACCOUNT", "Paid on the account USD", "4.00", "Ann Miller", "Change"] {
        assert!(words.contains(said), "{said} in {words}");
    }
    for kind in ["gift", "invoice"] {
        refused(&person, &paid, &format!("?kind={kind}"), "kind").await;
    }
    let buyer = format!("/pos/sales/{}/buyer", paid["id"].as_str().expect("an id"));
    person.post(&buyer, json!({"name": "Bo"})).await.refused(422, "validation");
}

#[tokio::test]
async fn a_sale_of_an_earlier_release_has_a_paper_without_the_words_of_its_specials() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let old = person.sell(json!([line("BREAD", 2)])).await.ok(201);
    change_lines(&shop, &old, |item| {
        (item.special_discount, item.special_details) = (Money(100), JsonText::empty_list());
        item.tax_details = JsonText::empty_list();
    })
    .await;
    let paper = receipt(&person, &old, "").await;
    let savings = &paper["lines"][0]["price"]["savings"];
    assert_eq!(savings, &json!([{"text": "Special offer", "amount": 100}]));
    assert!(text(&person, &old, "").await.contains("Special offer"));
}

#[tokio::test]
async fn an_exempt_buyer_sees_the_taxes_that_were_not_charged() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let mut request = cart(json!([line("TEA", 1), line("T06", 1)]), json!([{"tenderId": id("CARD")}]));
    request["customerId"] = json!(id("HQ-000002"));
    let sold = person.post("/pos/sales", request).await.ok(201);
    let paper = receipt(&person, &sold, "").await;
    assert_eq!(paper["totals"]["taxExempt"], true);
    // Of the second price 5.99 are taxes, which the school does not pay.
    let totals = ["subtotal", "taxAdded", "total"].map(|name| paper["totals"][name].as_i64());
    assert_eq!(totals, [Some(1999 + 4598), Some(-599), Some(5998)]);
    let taxes = paper["taxes"].as_array().expect("taxes");
    assert!(taxes.iter().all(|tax| tax["tax"] == 0), "{taxes:?}");
    assert_eq!(taxes.iter().map(|tax| tax["included"] == true).filter(|included| *included).count(), 2, "{taxes:?}");
    let words = text(&person, &sold, "").await;
    assert!(words.contains("Exempt from tax") && words.contains("Taxes not charged"), "{words}");
}

#[tokio::test]
async fn five_hundred_lines_have_a_paper_that_is_read_in_a_few_statements() {
    let shop = Shop::that_rests().await;
    let person = shop.selling().await;
    let short = person.sell(json!([line("REPAIR", 2)])).await.ok(201);
    let lines: Vec<Json> = (0..500).map(|_| line("REPAIR", 2)).collect();
    let sold = person.sell(json!(lines)).await.ok(201);
    let mut costs = Vec::new();
    for sold in [&short, &short, &sold] {
        let before = statements();
        text(&person, sold, "").await;
        costs.push(statements() - before);
    }
    assert_eq!(costs[1], costs[2], "no line has a statement of its own");
    let paper = text(&person, &sold, "&width=32").await;
    assert_eq!(paper.matches("2 x 25.00").count(), 500);
    assert!(paper.contains("25,000.00"), "{paper}");
}

#[tokio::test]
async fn a_paper_has_the_language_and_the_decimals_of_its_store() {
    type Settings = fn(&mut store::Model);
    let german: Settings = |own| own.locale = "de-AT".into();
    let kuwaiti: Settings = |own| {
        (own.locale, own.currency_code, own.currency_exponent) = ("ar-KW".into(), "KWD".into(), 3);
    };
    let senegalese: Settings = |own| {
        (own.locale, own.currency_code, own.currency_exponent) = ("fr-SN".into(), "XOF".into(), 0);
    };
    for (settings, said) in [
        (german, ["SUMME USD", "48,73", "Rückgeld", "20.11.2026"]),
        (kuwaiti, ["TOTAL KWD", "4.873", "Change", "2026-11-20"]),
        (senegalese, ["TOTAL XOF", "4 873", "Monnaie rendue", "20/11/2026"]),
    ] {
        let shop = Shop::open_with(settings).await;
        let person = shop.selling().await;
        let paper = text(&person, &sold(&person).await, "").await;
        assert!(said.iter().all(|said| paper.contains(said)), "{said:?} in {paper}");
    }
}

#[tokio::test]
async fn a_rate_has_the_letter_that_it_was_given_and_others_the_next_free_one() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let tx = shop.store.test_db().begin().await.expect("a transaction");
    let mut row = tax_rate::Entity::find_by_id(id("GST")).one(&tx).await.expect("a read").expect("a rate");
    row.receipt_label = Some("A".into());
    tax_rate::Entity::update(row.into_active_model().reset_all()).exec(&tx).await.expect("an update");
    tx.commit().await.expect("a commit");
    let sold = person.sell(json!([line("T04", 1), line("TEA", 1), line("BREAD", 1)])).await.ok(201);
    let paper = receipt(&person, &sold, "").await;
    let of = |place: usize| paper["lines"][place]["price"]["taxMark"].as_str().expect("letters").to_owned();
    let marks = [of(0), of(1), of(2)];
    assert!(marks[0].contains('A') && marks[0].len() == 2, "{marks:?}");
    assert_eq!((marks[1].len(), marks[1] == "A", marks[2].as_str()), (1, false, ""));
    assert_eq!(paper["taxes"].as_array().map(Vec::len), Some(3));
}

#[tokio::test]
async fn the_bytes_are_for_the_printer_of_the_register_that_sold() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let sold = sold(&person).await;
    let tx = shop.store.test_db().begin().await.expect("a transaction");
    let mut row = register::Entity::find_by_id(id("register 01")).one(&tx).await.expect("a read").expect("a register");
    row.printer =
        Some(JsonText(json!({"address": "10.0.0.9:9100", "width": 32, "codePage": "PC858", "opensDrawer": true})));
    register::Entity::update(row.into_active_model().reset_all()).exec(&tx).await.expect("an update");
    tx.commit().await.expect("a commit");
    let (_, narrow) = person.fetch(&path(&sold, "?format=escpos")).await;
    let (_, asked) = person.fetch(&path(&sold, "?format=escpos&width=32")).await;
    let (_, wide) = person.fetch(&path(&sold, "?format=escpos&width=48")).await;
    assert_eq!(narrow, asked);
    assert_ne!(narrow, wide);
    let opens = |bytes: &[u8]| bytes.windows(2).any(|part| part == b"\x1bp");
    assert!(!opens(&narrow), "a paper that is only looked at opens no drawer");
}
