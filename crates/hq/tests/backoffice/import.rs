//! Products, customers and prices of stores as CSV files: what comes out is taken in, all of a file or nothing, and nothing is
//! written where nothing differs.

use std::fmt::Write;

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::{Cost, Money, ids};
use tillkeep_storage::count;
use tillkeep_storage::entity::{audit_log, customer, product, product_barcode, store_product};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder};
use uuid::Uuid;

use super::kit::{Kit, Person, column, id_of};

const HEADER: &str = "sku;name;departmentCode;taxGroupCode;price";
/// Names that a spreadsheet would take for formulas, or that look as if they had been kept from it.
const ODD: [&str; 9] =
    ["=1+1", "+49 30", "-5", "@home", "\tx", "\rx", "\u{ff1d}1", "'=quoted", "Tea;=1+1, \"green\"\r\n@now"];

fn table(rows: &[&str]) -> String {
    rows.iter().fold(format!("{HEADER}\r\n"), |text, row| text + row + "\r\n")
}

async fn products(kit: &Kit) -> Vec<product::Model> {
    let mut all = product::Entity::find().all(kit.hq.db().reader()).await.expect("products");
    all.sort_by(|one, other| one.sku.cmp(&other.sku));
    all
}

async fn customers(kit: &Kit) -> Vec<customer::Model> {
    let mut all = customer::Entity::find().all(kit.hq.db().reader()).await.expect("customers");
    all.sort_by(|one, other| one.customer_number.cmp(&other.customer_number));
    all
}

async fn prices(kit: &Kit) -> Vec<store_product::Model> {
    let all = store_product::Entity::find().order_by_asc(store_product::Column::Id);
    all.all(kit.hq.db().reader()).await.expect("prices")
}

async fn lines(kit: &Kit, action: &str) -> u64 {
    let those = audit_log::Entity::find().filter(audit_log::Column::Action.eq(action));
    those.count(kit.hq.db().reader()).await.expect("a count")
}

fn counts(report: &Json) -> [u64; 5] {
    ["rows", "created", "updated", "unchanged", "errorCount"].map(|key| report[key].as_u64().expect("a number"))
}

/// Line and column of each fault.
fn places(report: &Json) -> Vec<(u64, &str)> {
    let faults = report["errors"].as_array().expect("faults").iter();
    faults
        .map(|fault| (fault["line"].as_u64().expect("a line"), fault["column"].as_str().unwrap_or_default()))
        .collect()
}

async fn dry(kit: &Kit, who: &Person, path: &str, table: &str) -> Json {
    kit.import(who, &format!("{path}?dryRun=true"), table.to_owned()).await.data()
}

async fn file(kit: &Kit, who: &Person, path: &str) -> String {
    let got = kit.get(who, &format!("{path}?format=csv")).await;
    got.is(200);
    got.text
}

#[tokio::test]
async fn a_dry_run_tells_what_would_come_of_a_file_and_changes_nothing() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.product(&admin, "OLD", json!({"price": 500})).await;
    kit.product(&admin, "SAME", json!({"price": 700})).await;
    let text =
        table(&["new;New;GENERAL;NONE;19,99", "old;Product OLD;GENERAL;NONE;6.00", "SAME;Product SAME;GENERAL;NONE;7"]);
    let (before, heads) = (products(&kit).await, lines(&kit, "products.import").await);
    let report = dry(&kit, &admin, "/products/import", &text).await;
    assert_eq!((counts(&report), &report["dryRun"]), ([3, 1, 1, 1, 0], &json!(true)), "{report}");
    assert_eq!((products(&kit).await, lines(&kit, "products.import").await), (before.clone(), heads));

    let report = kit.import(&admin, "/products/import", text.clone()).await.data();
    assert_eq!((counts(&report), &report["dryRun"]), ([3, 1, 1, 1, 0], &json!(false)), "{report}");
    let after = products(&kit).await;
    let shown: Vec<(&str, i64)> = after.iter().map(|row| (row.sku.as_str(), row.price.0)).collect();
    assert_eq!(shown, [("SAME", 700), ("new", 1999), ("old", 600)], "the SKU is spelt as it was written last");
    assert_eq!(after[0], before[1], "what is the same keeps its version");
    assert!(after[1].sync_version > before[1].sync_version && after[2].sync_version > before[0].sync_version);
    assert_eq!((lines(&kit, "products.import").await, lines(&kit, "edit").await), (1, 1), "one act, and one new price");

    let again = kit.import(&admin, "/products/import", text).await.data();
    assert_eq!(counts(&again), [3, 0, 0, 3, 0]);
    assert_eq!(
        (products(&kit).await, lines(&kit, "products.import").await),
        (after, 1),
        "nothing new, nothing written"
    );
}

#[tokio::test]
async fn each_fault_of_a_file_is_told_by_its_line_and_column_and_nothing_of_the_file_is_written() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.product(&admin, "TAKEN", json!({"barcode": "012345678905", "plu": "4011"})).await;
    let header = format!("{HEADER};barcode;plu;isActive;quantityDecimals;minPrice;currencyCode;tags");
    let good = |sku: &str, price: &str, rest: &str| format!("{sku};Tea;GENERAL;NONE;{price};{rest}");
    let rows = [
        good("A", "19,99", ";;;;;;"),
        good("B", "1e3", ";;;;;;"),
        good("C", "19.999", ";;;;;;"),
        good("", "1", ";;;;;;"),
        "D;;NOWHERE;;1;;;;;;;".to_owned(),
        good("a", "1", ";;;;;;"),
        good("E", "1", "0012345678905;;;;;;"),
        good("F", "1", ";4011;;;;;"),
        good("G", "1", "5.01235E+12;;;;;;"),
        good("H", "1", ";;maybe;;;;"),
        good("I", "1", ";;;9;;;"),
        good("J", "1", ";;;;2;;"),
        good("K", "1", ";;;;;EUR;"),
        good("L", "1", "77;;;;;;"),
        good("M", "1", "77;;;;;;"),
        "N;short".to_owned(),
    ];
    let text = format!("{header}\n{}\n", rows.join("\n"));
    let expected = [
        (3, "price"),
        (4, "price"),
        (5, "sku"),
        (6, "departmentCode"),
        (7, "sku"),
        (8, "barcode"),
        (9, "plu"),
        (10, "barcode"),
        (11, "isActive"),
        (12, "quantityDecimals"),
        (13, "minPrice"),
        (14, "currencyCode"),
        (16, "barcode"),
        (17, ""),
    ];
    let before = products(&kit).await;
    let report = dry(&kit, &admin, "/products/import", &text).await;
    assert_eq!(places(&report), expected, "{report:#}");
    let refused = kit.import(&admin, "/products/import", text).await;
    refused.refused(422, "validation");
    refused.names("line 3, price");
    assert_eq!(refused.body["errorCount"], 14);
    assert_eq!(products(&kit).await, before, "A is right, and not there");
    let missing = dry(&kit, &admin, "/products/import", "sku\nX\n").await;
    let named: Vec<&str> = places(&missing).into_iter().map(|(_, column)| column).collect();
    assert_eq!(named, ["name", "departmentCode", "taxGroupCode", "price"]);
    kit.import(&admin, "/products/import", "sku,pirce\nX,1\n").await.names("line 1");
    kit.import(&admin, "/products/import", "").await.names("line 1");
    kit.import(&admin, "/products/import?dryrun=true", "sku\n").await.names("dryrun");
    kit.post(&admin, "/products/import", json!({})).await.refused(415, "unsupported_media_type");
}

#[tokio::test]
async fn a_file_of_products_that_comes_out_is_taken_in_and_changes_nothing() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let deposit = id_of(&kit.product(&admin, "DEP", json!({"productType": "deposit", "price": 25})).await);
    for (number, name) in ODD.iter().enumerate() {
        kit.product(&admin, &format!("P{number}"), json!({"name": name, "description": name, "brand": ""})).await;
    }
    kit.product(
        &admin,
        "ALL",
        json!({
            "barcode": "012345678905", "barcodes": ["ABC", "x|y"], "tags": ["a", "b c"], "cost": 5, "minPrice": 7,
            "packs": [{"code": "CASE", "quantity": 6, "price": 5400}, {"code": "TRAY", "quantity": 24}],
            "maxDiscountBps": 1250, "ageRestriction": 18, "reorderPoint": 1.5, "chargeProductId": deposit, "plu": "4011",
        }),
    )
    .await;
    let (before, text) = (products(&kit).await, file(&kit, &admin, "/products").await);
    let report = kit.import(&admin, "/products/import", text.clone()).await.data();
    assert_eq!(counts(&report), [11, 0, 0, 11, 0], "{report}");
    assert_eq!(products(&kit).await, before);

    // The same file makes the same products where there are none.
    let other = Kit::new().await;
    let there = other.admin().await;
    let report = other.import(&there, "/products/import", text.clone()).await.data();
    assert_eq!(counts(&report), [11, 11, 0, 0, 0], "{report}");
    assert_eq!(file(&other, &there, "/products").await, text);
    let names: Vec<String> = products(&other).await.into_iter().map(|row| row.name).collect();
    assert!(ODD.iter().all(|odd| names.iter().any(|name| name == odd)), "{names:?}");
    let codes = product_barcode::Entity::find().all(other.hq.db().reader()).await.expect("codes");
    let mut codes: Vec<String> = codes.into_iter().map(|row| row.code).collect();
    codes.sort_unstable();
    assert_eq!(codes, ["012345678905", "ABC", "CASE", "TRAY", "x|y"]);
    assert_eq!(lines(&kit, "products.export").await, 1);
    kit.get(&admin, "/products?format=csv&includeDeleted=true").await.names("includeDeleted");
}

#[tokio::test]
async fn a_new_price_and_cost_in_a_file_reach_the_stores_as_by_hand() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    let product = id_of(&kit.product(&admin, "P1", json!({"price": 1000})).await);
    kit.put(&admin, &format!("/store-prices/{one}/{product}"), json!({"price": 900})).await.is(200);
    kit.put(&admin, &format!("/store-prices/{two}/{product}"), json!({"binLocation": "A"})).await.is(200);
    let row = async |store| kit.row::<store_product::Entity>(ids::store_product(store, product)).await;
    let before = [row(one).await, row(two).await];
    kit.import(&admin, "/products/import", "sku,price\nP1,11.00\n").await.is(200);
    let after = [row(one).await, row(two).await];
    assert_eq!(after[0], before[0], "its own price, and nothing new for it");
    assert_eq!((after[1].price, after[1].sync_version > before[1].sync_version), (Money(1100), true));
    kit.import(&admin, "/products/import", "sku,cost\nP1,6.00\n").await.is(200);
    assert_eq!([row(one).await.cost, row(two).await.cost], [Cost(Money(600)); 2]);
    let log = kit.get(&admin, &format!("/audit-log?priceOf={product}&action=edit")).await.data();
    assert_eq!((&log[0]["details"]["from"]["price"], &log[0]["details"]["to"]["price"]), (&json!(1000), &json!(1100)));
    assert_eq!(column(&log, "action").len(), 1);
}

/// What the log has of a row, the newest first.
async fn history(kit: &Kit, who: &Person, id: Uuid) -> Vec<(Json, Json)> {
    let log = kit.get(who, "/audit-log?pageSize=100").await.data();
    let lines = log.as_array().expect("lines").iter().filter(|line| line["entityId"] == json!(id.to_string()));
    lines.map(|line| (json!([line["action"], line["entityType"]]), line["details"].clone())).collect()
}

#[tokio::test]
async fn what_a_file_changes_has_the_history_that_the_same_edits_one_by_one_have() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let mut goods = Vec::new();
    for sku in ["HAND", "FILE"] {
        goods.push(id_of(&kit.product(&admin, sku, json!({"name": "Tea", "price": 1000})).await));
    }
    let change = json!({"name": "Green tea", "brand": "Lung Ching", "cost": 400});
    kit.patch(&admin, &format!("/products/{}", goods[0]), change).await.is(200);
    let text = "sku,name,brand,cost,price\nFILE,Green tea,Lung Ching,4.00,10.00\n";
    kit.import(&admin, "/products/import", text).await.is(200);
    let [by_hand, by_file] = [history(&kit, &admin, goods[0]).await, history(&kit, &admin, goods[1]).await];
    assert_eq!((by_hand.len(), &by_hand[0]), (2, &by_file[0]), "an edit and the making of it");
    assert_eq!(by_file[0].1["to"]["brand"], "Lung Ching");

    let mut rows = Vec::new();
    for (product, by_file) in goods.iter().zip([false, true]) {
        if by_file {
            let text = "storeCode,sku,price,binLocation\nS01,FILE,9.00,A\n";
            kit.import(&admin, "/store-prices/import", text).await.is(200);
            kit.import(&admin, "/store-prices/import", "storeCode,sku,binLocation\nS01,FILE,B\n").await.is(200);
        } else {
            let path = format!("/store-prices/{store}/{product}");
            kit.put(&admin, &path, json!({"price": 900, "binLocation": "A"})).await.is(200);
            kit.put(&admin, &path, json!({"binLocation": "B"})).await.is(200);
        }
        let mut lines = history(&kit, &admin, ids::store_product(store, *product)).await;
        for (_, details) in &mut lines {
            assert_eq!(details["productId"], json!(product));
            details["productId"] = Json::Null;
        }
        rows.push(lines);
    }
    assert_eq!((rows[0].len(), &rows[0]), (2, &rows[1]));

    let mut people = Vec::new();
    for _ in 0..2 {
        people.push(kit.post(&admin, "/customers", json!({"lastName": "Lee", "city": "Bonn"})).await.data());
    }
    let path = format!("/customers/{}", id_of(&people[0]));
    kit.patch(&admin, &path, json!({"lastName": "Lee-Kim", "city": null, "creditLimit": 500})).await.is(200);
    let number = people[1]["customerNumber"].as_str().expect("a number");
    let text = format!("customerNumber,lastName,city,creditLimit\n{number},Lee-Kim,,5\n,Somebody,,\n");
    kit.import(&admin, "/customers/import", text).await.is(200);
    let [by_hand, by_file] =
        [history(&kit, &admin, id_of(&people[0])).await, history(&kit, &admin, id_of(&people[1])).await];
    assert_eq!((by_hand.len(), by_hand), (2, by_file));

    let somebody = customers(&kit).await.into_iter().find(|row| row.last_name.as_deref() == Some("Somebody"));
    let made = history(&kit, &admin, somebody.expect("who was made").id).await;
    assert_eq!((made.len(), &made[0].0), (1, &json!(["create", "customers"])));
    assert_eq!(made[0].1["lastName"], "Somebody");
    assert_eq!(lines(&kit, "customers.import").await, 1, "and one line for the file");
}

#[tokio::test]
async fn what_is_sold_with_others_may_stand_below_them_in_a_file() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let text = "sku,name,departmentCode,taxGroupCode,price,productType,chargeSku\n\
                COLA,Cola,GENERAL,NONE,1.00,,dep\nDEP,Deposit,GENERAL,NONE,0.25,deposit,\nBAD,Bad,GENERAL,NONE,1,,COLA\n";
    let report = dry(&kit, &admin, "/products/import", text).await;
    assert_eq!((counts(&report), places(&report)), ([3, 2, 0, 0, 1], vec![(4, "chargeSku")]), "{report}");
    let text = text.replace("BAD,Bad,GENERAL,NONE,1,,COLA\n", "");
    kit.import(&admin, "/products/import", text).await.is(200);
    let made = products(&kit).await;
    assert_eq!((made[0].sku.as_str(), made[0].charge_product_id), ("COLA", Some(made[1].id)));
}

#[tokio::test]
async fn many_products_are_taken_in_few_statements() {
    let (kit, rows) = (Kit::new().await, if cfg!(debug_assertions) { 5_000_usize } else { 50_000 });
    let admin = kit.admin().await;
    let text = (0..rows).fold(format!("{HEADER};barcode\n"), |mut text, number| {
        let _ = writeln!(text, "P{number:05};Product {number};GENERAL;NONE;1,{:02};code-{number}", number % 100);
        text
    });
    let statements = async |text: String| {
        let before = count::statements();
        let report = kit.import(&admin, "/products/import", text).await.data();
        (counts(&report), usize::try_from(count::statements() - before).expect("a number"))
    };
    let (made, cost) = statements(text.clone()).await;
    let rows_u64 = rows as u64;
    assert_eq!(made, [rows_u64, rows_u64, 0, 0, 0]);
    // SQLite is handed one row after the other by one statement, and each counts.
    let each = if kit.settings.database_url.is_some() { 0 } else { 2 * rows };
    assert!(cost < each + rows / 20, "{cost} statements for {rows} rows");
    let (same, cost) = statements(text).await;
    assert_eq!(same, [rows_u64, 0, 0, rows_u64, 0]);
    assert!(cost < rows / 20, "{cost} statements for {rows} rows that are there");
    let versions: Vec<i64> = products(&kit).await.iter().map(|row| row.sync_version).collect();
    assert_eq!((versions.iter().min(), versions.iter().max()), (Some(&1), Some(&i64::try_from(rows).expect("few"))));
}

#[tokio::test]
async fn who_may_not_change_products_makes_them_by_a_file_and_changes_none() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    kit.product(&admin, "P1", json!({"price": 100})).await;
    kit.role(&admin, "maker", &["products.create", "products.view"]).await;
    let maker = kit.person("mia", &[("maker", None)]).await;
    let local = kit.person("tom", &[("maker", Some(store))]).await;
    let cashier = kit.person("ann", &[("cashier", None)]).await;
    let new = table(&["N;New;GENERAL;NONE;1"]);
    kit.import(&cashier, "/products/import", new.clone()).await.refused(403, "forbidden");
    kit.import(&local, "/products/import", new.clone()).await.refused(403, "scope");
    kit.import(&maker, "/products/import", new).await.is(200);
    for path in ["/products/import", "/products/import?dryRun=true"] {
        let refused = kit.import(&maker, path, "sku,price\nP1,2.00\n").await;
        refused.refused(403, "forbidden");
        assert_eq!(refused.body["required"], json!(["products.edit"]));
    }
    assert_eq!(counts(&kit.import(&maker, "/products/import", "sku,price\nP1,1.00\n").await.data()), [1, 0, 0, 1, 0]);
}

fn customers_file(rows: &[&str]) -> String {
    rows.iter().fold("customerNumber,lastName,email,phone,creditLimit\n".to_owned(), |text, row| text + row + "\n")
}

#[tokio::test]
async fn customers_are_made_with_numbers_and_known_by_them() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let known = kit.post(&admin, "/customers", json!({"lastName": "Lee", "email": "Lee@example.com"})).await.data();
    let number = known["customerNumber"].as_str().expect("a number").to_owned();
    let text = customers_file(&[
        ",=1+1,,+49 30 1,12.50",
        ",Kim,kim@example.com,,",
        &format!("{number},Lee-Kim,Lee@example.com,,5"),
        "HQ-999999,Nobody,,,",
        ",Twin,lee@EXAMPLE.com,,",
        ",Other,,0049301,",
        ",Again,,+49301,",
        ",,no@example.com,,",
    ]);
    let report = dry(&kit, &admin, "/customers/import", &text).await;
    assert_eq!(places(&report), [(5, "customerNumber"), (6, "email"), (8, "phone"), (9, "lastName")], "{report:#}");
    let good = customers_file(&[
        ",=1+1,,+49 30 1,12.50",
        ",Kim,kim@example.com,,",
        &format!("{number},Lee-Kim,Lee@example.com,,5"),
    ]);
    let report = kit.import(&admin, "/customers/import", good).await.data();
    assert_eq!(counts(&report), [3, 2, 1, 0, 0]);
    let all = customers(&kit).await;
    let shown: Vec<_> =
        all.iter().map(|row| (row.customer_number.as_str(), row.last_name.as_deref(), row.credit_limit.0)).collect();
    assert_eq!(
        shown,
        [(number.as_str(), Some("Lee-Kim"), 500), ("HQ-000002", Some("=1+1"), 1250), ("HQ-000003", Some("Kim"), 0)]
    );
    let text = file(&kit, &admin, "/customers").await;
    let report = kit.import(&admin, "/customers/import", text).await.data();
    assert_eq!((counts(&report), customers(&kit).await), ([3, 0, 0, 3, 0], all));
    let twin = customers_file(&[",Twin,kim@example.com,,"]);
    kit.import(&admin, "/customers/import", twin.clone()).await.names("line 2, email");
    kit.import(&admin, "/customers/import?allowDuplicate=true", twin).await.is(200);
}

#[tokio::test]
async fn prices_of_stores_come_and_go_by_a_file() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    let product = id_of(&kit.product(&admin, "P1", json!({"price": 1000, "minPrice": 500})).await);
    kit.product(&admin, "P2", json!({"price": 1000})).await;
    kit.put(&admin, &format!("/store-prices/{one}/{product}"), json!({"price": 900})).await.is(200);
    let text = "storeCode;sku;price;binLocation\nS01;p1;;\nS02;P1;8,50;A-7\nS02;P2;;\n";
    let report = kit.import(&admin, "/store-prices/import", text).await.data();
    assert_eq!(counts(&report), [3, 1, 1, 1, 0], "{report}");
    let row = async |store| kit.row::<store_product::Entity>(ids::store_product(store, product)).await;
    let [first, second] = [row(one).await, row(two).await];
    assert_eq!((first.price, first.has_price_override), (Money(1000), false), "the price of the chain again");
    assert_eq!(
        (second.price, second.has_price_override, second.bin_location.as_deref()),
        (Money(850), true, Some("A-7"))
    );
    let (before, out) = (prices(&kit).await, file(&kit, &admin, "/store-prices").await);
    let report = kit.import(&admin, "/store-prices/import", out.clone()).await.data();
    assert_eq!((counts(&report), prices(&kit).await), ([2, 0, 0, 2, 0], before), "{out}");

    let bad = "storeCode;sku;price\nS09;P1;1\nS01;P9;1\nS01;P1;4.99\nS02;P1;9\nS02;p1;9\n";
    let report = dry(&kit, &admin, "/store-prices/import", bad).await;
    assert_eq!(places(&report), [(2, "storeCode"), (3, "sku"), (4, "price"), (6, "sku")], "{report:#}");
    kit.role(&admin, "pricer", &["store_prices.manage", "store_prices.view"]).await;
    let local = kit.person("tom", &[("pricer", Some(one))]).await;
    let text = "storeCode,sku,price\nS01,P1,9.50\nS02,P1,9.50\n";
    let report = dry(&kit, &local, "/store-prices/import", text).await;
    assert_eq!(places(&report), [(3, "storeCode")]);
    kit.import(&local, "/store-prices/import", "storeCode,sku,price\nS01,P1,9.50\n").await.is(200);
    assert_eq!(row(one).await.price, Money(950));
}

#[tokio::test]
async fn amounts_have_the_decimals_of_the_currency() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.patch(&admin, "/chain", json!({"currencyCode": "KWD"})).await.is(200);
    kit.import(&admin, "/products/import", table(&["P1;Tea;GENERAL;NONE;1,234"])).await.is(200);
    assert_eq!(products(&kit).await[0].price, Money(1234));
    assert!(file(&kit, &admin, "/products").await.contains(",KWD,1.234,"));
    let refused = kit.import(&admin, "/products/import", table(&["P2;Tea;GENERAL;NONE;1,2345"])).await;
    refused.names("line 2, price");
}

#[tokio::test]
async fn a_file_beyond_what_one_takes_is_refused_and_a_large_one_is_not() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    // Larger than any other body may be: 2 MiB of lines that say nothing.
    let mut large = table(&["P1;Tea;GENERAL;NONE;1"]);
    large.push_str(&";;;;\r\n".repeat((2 << 20) / 6));
    assert_eq!(counts(&kit.import(&admin, "/products/import", large).await.data()), [1, 1, 0, 0, 0]);
    let beyond = vec![b';'; (64 << 20) + 1];
    kit.import(&admin, "/products/import", beyond).await.refused(413, "payload_too_large");
}
