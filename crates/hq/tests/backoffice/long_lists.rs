//! Whatever the long lists of headquarters are asked for, with a hundred thousand rows in each table: the statements that the
//! program makes go along indexes, and put nothing large in order.

use std::fs;

use serde_json::Value as Json;
use tillkeep_hq::testing::Databases as _;
use tillkeep_storage::{Db, count};

use super::kit::{Kit, general, untaxed};
use super::large::{ROWS, Words, fill, id};
use super::reading::{Anyway, Asked, List, everything, faults, lists};

/// Kinds of ids.
const PRODUCT: u32 = 1;
const CUSTOMER: u32 = 2;
const LEVEL: u32 = 3;
const SALE: u32 = 4;
const PAYMENT: u32 = 5;
const DRAWER: u32 = 6;
const ADJUSTMENT: u32 = 7;
const ENTRY: u32 = 8;
const ALERT: u32 = 9;
const USER: u32 = 97;
const REGISTER: u32 = 98;
const STORE: u32 = 99;

const fn all(list: &'static str, about: &'static str, reason: &'static str) -> Anyway {
    Anyway { list, about, total_alone: false, reason }
}

const fn total(list: &'static str, about: &'static str, reason: &'static str) -> Anyway {
    Anyway { list, about, total_alone: true, reason }
}

const LATER: &str = "what changed since is asked for in the order of the changes, with sort=updatedAt";
const LOG: &str = "a push would pay for an index that each later state of a row moves, and no page asks for it";
const MOVED: &str = "each sold line that is pushed changes the level: a push would pay for an index of it";
const SETTING: &str = "of one store few levels are read; of all, a push would pay for what is seldom asked";

/// `products_and_customers_are_looked_for_in_an_index_of_what_they_are_looked_for_by` has the plan of `SQLite`.
const SOUGHT: &str =
    "any part of any word may be sought: all texts are gone along, of short rows in PostgreSQL beside the rest";

/// What is not worth an index. `docs/performance.md`, P10.
const ANYWAY: &[Anyway] = &[
    all("/products", "updatedSince", LATER),
    all("/customers", "updatedSince", LATER),
    all("/products", "search", SOUGHT),
    all("/customers", "search", SOUGHT),
    all("/store-prices", "search", SOUGHT),
    all("/inventory", "search", SOUGHT),
    all("/search", "q", SOUGHT),
    all("/sales", "updatedSince", LOG),
    all("/sales", "sums", "to add up all that is listed takes a look at each of it, and is asked for by itself"),
    all("/inventory/adjustments", "updatedSince", LOG),
    all("/register-sessions", "updatedSince", LOG),
    total("/register-sessions", "registerCode", "each store has a till of that number, and all of them are added up"),
    total("/register-sessions", "businessDateFrom", "to add up a long time takes a look at each of its drawers"),
    all("/reports/z", "*", "a drawer has one in a day, and whether it has is seen in its row"),
    all("/audit-log", "search", "a part of any text of the log"),
    all("/audit-log", "from", "the log is in the order of its time, and is gone along to there"),
    all("/audit-log", "to", "the log is in the order of its time, and is gone along from there"),
    all("/alerts", "search", "a part of any text of what was ever wrong"),
    total("/store-prices", "*", "the products that are deleted are left out, and the row of a price does not know"),
    all("/store-prices", "sort=price", SETTING),
    all("/store-prices", "sort=updatedAt", MOVED),
    all("/store-prices", "overriddenOnly", SETTING),
    all("/store-prices", "updatedSince", MOVED),
    total("/inventory", "*", "the products that are deleted are left out, and the row of a level does not know"),
    all("/inventory", "sort=storeId", "a page in the order of stores is read product by product"),
    all("/inventory", "sort=quantity", MOVED),
    all("/inventory", "sort=lastSoldAt", MOVED),
    all("/inventory", "sort=lastReceivedAt", MOVED),
    all("/inventory", "sort=updatedAt", MOVED),
    all("/inventory", "storeId", "by name: what one store has is put in the order of the products"),
    all("/inventory", "isStocked", SETTING),
    all("/inventory", "binLocation", SETTING),
    all("/inventory", "lowStock", MOVED),
    all("/inventory", "negative", MOVED),
    all("/inventory", "updatedSince", MOVED),
    all("/inventory", "includeDeleted", SETTING),
];

const SINCE: (&str, &str) = ("updatedSince", "2026-01-02T03:00:00Z");
const DELETED: (&str, &str) = ("includeDeleted", "true");
const OF_STORE: (&str, &str) = ("storeId", "{store}");
const FROM: (&str, &str) = ("businessDateFrom", "2025-06-01");
const TO: (&str, &str) = ("businessDateTo", "2025-01-20");

const LISTS: &[List] = &[
    List {
        path: "/products",
        samples: &[
            ("search", "product"),
            ("active", "false"),
            ("departmentId", "{department}"),
            ("taxGroupId", "{taxGroup}"),
            ("defaultSupplierId", "{user}"),
            DELETED,
            SINCE,
        ],
    },
    List {
        path: "/customers",
        samples: &[
            ("search", "c0001"),
            ("active", "false"),
            ("customerNumber", "C000005"),
            ("email", "m000005@example.com"),
            ("originStoreId", "{store}"),
            ("taxExempt", "true"),
            DELETED,
            SINCE,
        ],
    },
    List {
        path: "/sales",
        samples: &[
            OF_STORE,
            ("registerCode", "01"),
            ("receiptNumber", "S-000084"),
            ("customerId", "{customer}"),
            ("cashierUserId", "{user}"),
            ("status", "voided"),
            ("saleType", "refund"),
            FROM,
            TO,
            ("tenderCode", "CARD"),
            ("flagged", "true"),
            ("sums", "true"),
            DELETED,
            SINCE,
        ],
    },
    List {
        path: "/customers/{id}/sales",
        samples: &[
            OF_STORE,
            ("receiptNumber", "S-000084"),
            ("status", "voided"),
            ("saleType", "refund"),
            FROM,
            TO,
            DELETED,
            SINCE,
        ],
    },
    List {
        path: "/store-prices",
        samples: &[
            OF_STORE,
            ("productId", "{product}"),
            ("overriddenOnly", "true"),
            ("search", "00012"),
            DELETED,
            SINCE,
        ],
    },
    List {
        path: "/inventory",
        samples: &[
            OF_STORE,
            ("productId", "{product}"),
            ("isStocked", "false"),
            ("binLocation", "B77"),
            ("lowStock", "true"),
            ("negative", "true"),
            ("departmentId", "{department}"),
            ("search", "00012"),
            DELETED,
            SINCE,
        ],
    },
    List {
        path: "/inventory/adjustments",
        samples: &[
            OF_STORE,
            ("reason", "waste"),
            ("productId", "{product}"),
            ("userId", "{user}"),
            ("businessDate", "2025-02-01"),
            ("from", "2027-01-01"),
            ("to", "2025-01-20"),
            ("businessDateFrom", "2027-01-01"),
            TO,
            DELETED,
            SINCE,
        ],
    },
    List {
        path: "/register-sessions",
        samples: &[
            OF_STORE,
            ("registerId", "{register}"),
            ("registerCode", "01"),
            ("status", "open"),
            ("businessDate", "2025-02-01"),
            ("businessDateFrom", "2027-01-01"),
            TO,
            DELETED,
            SINCE,
        ],
    },
    List {
        path: "/audit-log",
        samples: &[
            ("search", "product"),
            ("userId", "{user}"),
            ("approverId", "{user}"),
            ("terminalId", "T-000005"),
            ("action", "product.update"),
            ("entityType", "products"),
            ("entityId", "000500"),
            ("from", "2026-01-01T20:00:00Z"),
            ("to", "2026-01-01T03:00:00Z"),
            ("priceOf", "{product}"),
            DELETED,
        ],
    },
    List {
        path: "/sync/errors",
        samples: &[
            ("search", "abc"),
            OF_STORE,
            ("entityType", "customers"),
            ("status", "resolved"),
            ("warning", "true"),
            ("settled", "true&warning=true"),
            ("since", "2026-01-01T20:00:00Z"),
            DELETED,
        ],
    },
    List {
        path: "/reports/z",
        samples: &[
            OF_STORE,
            ("registerId", "{register}"),
            ("registerCode", "01"),
            ("zzNumber", "3"),
            ("storeZzNumber", "3"),
            ("forced", "true"),
            FROM,
            TO,
            DELETED,
            SINCE,
        ],
    },
    List {
        path: "/alerts",
        samples: &[
            ("search", "abc"),
            ("state", "firing"),
            ("kind", "store_silent"),
            ("severity", "error"),
            OF_STORE,
            DELETED,
        ],
    },
];

/// Lists of what a chain has thousands of at the most.
const SMALL: [&str; 13] = [
    "/departments",
    "/reasons",
    "/refund-claims",
    "/roles",
    "/sales-reps",
    "/specials",
    "/stores",
    "/suppliers",
    "/sync/dashboard",
    "/tax-groups",
    "/tax-rates",
    "/tenders",
    "/users",
];

/// Puts the ids of rows in the place of their names.
fn named(text: &str) -> String {
    text.replace("{store}", &id(STORE, 5).to_string())
        .replace("{user}", &id(USER, 3).to_string())
        .replace("{register}", &id(REGISTER, 3).to_string())
        .replace("{product}", &id(PRODUCT, 7).to_string())
        .replace("{customer}", &id(CUSTOMER, 4).to_string())
        .replace("{id}", &id(CUSTOMER, 4).to_string())
        .replace("{department}", &general().to_string())
        .replace("{taxGroup}", &untaxed().to_string())
}

type Columns = Vec<(&'static str, String)>;

/// An id of one of the first so many of a kind.
fn one_of(words: Words, kind: u32, count: u32) -> String {
    words.id(kind, &format!("n.i % {count} + 1"))
}

/// `then` in one row of so many.
fn rare(every: u32, then: &str, otherwise: &str) -> String {
    format!("CASE WHEN n.i % {every} = 7 THEN {then} ELSE {otherwise} END")
}

/// The same of the last ones alone.
fn newest(then: &str, otherwise: &str) -> String {
    format!("CASE WHEN n.i > {} THEN '{then}' ELSE '{otherwise}' END", ROWS - 60)
}

fn text(sql: &str) -> String {
    sql.to_owned()
}

/// The columns that a row of any table has.
fn row(words: Words, kind: u32) -> Columns {
    let at = words.at("n.i");
    vec![("id", words.id(kind, "n.i")), ("created_at", at.clone()), ("updated_at", at)]
}

async fn fill_with(db: &Db, table: &str, begin: Columns, more: Columns) {
    fill(db, table, ROWS, &[begin, more].concat()).await;
}

async fn goods(db: &Db, words: Words) {
    let digits = words.digits("n.i");
    let products = vec![
        ("sync_version", text("n.i + 1000")),
        ("sku", format!("'SKU-' || {digits}")),
        ("sku_folded", format!("'sku-' || {digits}")),
        ("name", format!("'Product ' || {}", words.digits("n.i * 7919 % 100003"))),
        ("search_text", format!("'sku-' || {digits} || ' product'")),
        ("department_id", text("(SELECT id FROM departments WHERE code = 'GENERAL')")),
        ("tax_group_id", text("(SELECT id FROM tax_groups WHERE code = 'NONE')")),
        ("price", text("n.i % 5000")),
        ("is_active", text("(n.i % 10 <> 0)")),
    ];
    fill_with(db, "products", row(words, PRODUCT), products).await;
    let levels = vec![
        ("sync_version", text("n.i + 1000")),
        ("store_id", one_of(words, STORE, 20)),
        ("product_id", words.id(PRODUCT, "n.i / 20 + 1")),
        ("price", text("n.i % 5000")),
        ("has_price_override", text("(n.i % 50 = 0)")),
        ("quantity", text("n.i % 300 - 5")),
        ("reorder_point", text("n.i % 7")),
        ("is_stocked", text("(n.i % 20 <> 3)")),
        ("bin_location", rare(900, "'B77'", "'B78'")),
        ("last_sold_at", words.at("n.i")),
    ];
    fill_with(db, "store_product_dynamic", row(words, LEVEL), levels).await;
    let adjustments = vec![
        ("store_id", one_of(words, STORE, 20)),
        ("product_id", words.id(PRODUCT, "n.i % 5000 + 1")),
        ("reason", text("CASE WHEN n.i % 3 = 0 THEN 'waste' ELSE 'count' END")),
        ("quantity_change", text("n.i % 77 - 30")),
        ("user_id", one_of(words, USER, 60)),
        ("business_date", words.day("n.i / 60")),
        ("occurred_at", words.at("n.i")),
    ];
    fill_with(db, "inventory_adjustments", row(words, ADJUSTMENT), adjustments).await;
}

async fn customers(db: &Db, words: Words) {
    let digits = words.digits("n.i");
    let customers = vec![
        ("sync_version", text("n.i + 1000")),
        ("customer_number", format!("'C' || {digits}")),
        ("first_name", format!("'F' || {}", words.digits("n.i % 500"))),
        ("last_name", rare(3, "NULL", &format!("'L' || {}", words.digits("n.i % 5000")))),
        ("email", format!("'m' || {digits} || '@example.com'")),
        ("search_text", format!("'c' || {digits}")),
        ("origin_store_id", one_of(words, STORE, 20)),
        ("tax_exempt", text("(n.i % 100 = 0)")),
        ("is_active", text("(n.i % 100 <> 1)")),
    ];
    fill_with(db, "customers", row(words, CUSTOMER), customers).await;
}

async fn sales(db: &Db, words: Words) {
    let digits = words.digits("n.i");
    let sales = vec![
        ("store_id", one_of(words, STORE, 20)),
        ("register_id", one_of(words, REGISTER, 60)),
        ("register_code", text("CASE WHEN n.i % 3 = 0 THEN '01' ELSE '02' END")),
        ("register_session_id", words.id(DRAWER, "n.i / 50 + 1")),
        ("receipt_number", format!("'S-' || {digits}")),
        ("receipt_end", digits),
        ("sale_type", rare(40, "'refund'", "'sale'")),
        ("status", rare(90, "'voided'", "'completed'")),
        ("business_date", words.day("n.i / 300")),
        ("completed_at", words.at("n.i")),
        ("cashier_user_id", one_of(words, USER, 60)),
        ("customer_id", one_of(words, CUSTOMER, 3000)),
        ("currency_code", text("'USD'")),
        ("total_amount", text("n.i * 7919 % 20011")),
        ("flags", rare(200, "'[\"past_date\"]'", "'[]'")),
    ];
    fill_with(db, "sales", row(words, SALE), sales).await;
    let payments = vec![
        ("id", words.id(PAYMENT, "n.i")),
        ("sale_id", words.id(SALE, "n.i")),
        ("tender_code", text("CASE WHEN n.i % 2 = 0 THEN 'CARD' ELSE 'CASH' END")),
    ];
    fill_with(db, "sale_payments", payments, Vec::new()).await;
    let drawers = vec![
        ("store_id", one_of(words, STORE, 20)),
        ("register_id", one_of(words, REGISTER, 60)),
        ("register_code", text("CASE WHEN n.i % 3 = 0 THEN '01' ELSE '02' END")),
        ("session_number", text("n.i / 60 + 1")),
        ("status", newest("open", "closed")),
        ("business_date", words.day("n.i / 60")),
        ("opened_at", words.at("n.i")),
        ("closed_at", words.at("n.i")),
    ];
    fill_with(db, "register_sessions", row(words, DRAWER), drawers).await;
}

async fn logs(db: &Db, words: Words) {
    let (at, digits) = (words.at("n.i"), words.digits("n.i"));
    let log = vec![
        ("seq", text("n.i + 1000")),
        ("at", at.clone()),
        ("user_id", one_of(words, USER, 60)),
        ("approver_id", rare(300, &one_of(words, USER, 60), "NULL")),
        ("terminal_id", format!("'T-' || {}", words.digits("n.i % 60"))),
        ("action", rare(100, "'product.update'", "'session.open'")),
        ("entity_type", rare(100, "'products'", "'sessions'")),
        ("entity_id", digits.clone()),
    ];
    fill_with(db, "audit_log", log, Vec::new()).await;
    let entries = vec![
        ("id", words.id(ENTRY, "n.i")),
        ("store_id", one_of(words, STORE, 20)),
        ("direction", text("'push'")),
        ("entity_type", rare(30, "'customers'", "'sales'")),
        ("entity_id", digits.clone()),
        ("status", rare(100, "'failed'", &rare(90, "'resolved'", "'success'"))),
        ("warning", rare(200, "'something'", "NULL")),
        ("hash", digits),
        ("first_seen_at", at.clone()),
        ("last_seen_at", at.clone()),
    ];
    fill_with(db, "sync_log", entries, Vec::new()).await;
    let alerts = vec![
        ("id", words.id(ALERT, "n.i")),
        ("kind", rare(10, "'store_silent'", "'clock_off'")),
        ("store_id", one_of(words, STORE, 20)),
        ("severity", rare(10, "'error'", "'warning'")),
        ("state", newest("firing", "ended")),
        ("since", at.clone()),
        ("at", at),
    ];
    fill_with(db, "alerts", alerts, Vec::new()).await;
}

#[tokio::test]
async fn no_order_and_no_filter_of_a_long_list_reads_or_sorts_more_the_more_rows_there_are() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (db, words) = (kit.hq.db(), Words::of(kit.hq.db()));
    goods(db, words).await;
    customers(db, words).await;
    sales(db, words).await;
    logs(db, words).await;
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/generated/openapi-hq.json");
    let description: Json = serde_json::from_str(&fs::read_to_string(path).expect("the description")).expect("JSON");
    for path in lists(&description) {
        let is_known = LISTS.iter().any(|list| list.path == path) || SMALL.contains(&path.as_str());
        assert!(is_known, "{path} is a list: is it a long one?");
    }
    let (mut found, mut was_asked) = (Vec::new(), Vec::new());
    for list in LISTS {
        let mut all = everything(list, &description);
        if ["/products", "/customers"].contains(&list.path) {
            all.push(("?updatedSince=2026-01-02T03:00:00Z&sort=updatedAt".to_owned(), "sort=updatedAt".to_owned()));
        }
        for (query, about) in all {
            count::heard();
            let got = kit.get(&admin, &named(&format!("{}{query}", list.path))).await;
            assert_eq!(got.status, 200, "{}{query}: {}", list.path, got.text);
            let total = got.body["pagination"]["total"].as_u64().expect("a total");
            let asked = Asked { query: &query, about: &about };
            found.extend(faults(db, list.path, &asked, total, ANYWAY).await);
            was_asked.push((list.path, about));
        }
    }
    for text in ["00012", "c0001"] {
        count::heard();
        kit.get(&admin, &format!("/search?q={text}")).await.data();
        found.extend(faults(db, "/search", &Asked { query: text, about: "q" }, 0, ANYWAY).await);
        was_asked.push(("/search", "q".to_owned()));
    }
    assert!(found.is_empty(), "{} statements:\n{}", found.len(), found.join("\n\n"));
    for Anyway { list, about, reason, .. } in ANYWAY {
        let is_asked = was_asked.iter().any(|(path, of)| path == list && (of == about || *about == "*"));
        assert!(is_asked, "{list} offers no {about}: {reason}");
    }
}
