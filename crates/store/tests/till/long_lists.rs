//! Whatever the long lists of a store are asked for, with a hundred thousand rows in each table.

use std::fs;

use serde_json::Value as Json;
use tillkeep_storage::count;

use crate::kit::{self, Shop};
use crate::large::{ROWS, Words, fill, id};
use crate::reading::{Anyway, Asked, List, everything, faults, lists};

/// Kinds of ids.
const SALE: u32 = 1;
const DRAWER: u32 = 2;
const ADJUSTMENT: u32 = 3;
const PRODUCT: u32 = 4;
const USER: u32 = 5;

const fn all(list: &'static str, about: &'static str, reason: &'static str) -> Anyway {
    Anyway { list, about, total_alone: false, reason }
}

const SORTED: &str =
    "a store has few of them beside a chain: one index has all that is asked, and what it finds is sorted";
const SINCE_ONE_DAY: &str = "it is asked for within a day, as the page of today does";
const EACH_SALE: &str = "each sale writes there, and its till would wait for the index";

/// What is not worth an index. `docs/performance.md`, P10.
const ANYWAY: &[Anyway] = &[
    all("/pos/sales", "sort=totalAmount", SORTED),
    all("/pos/sales", "updatedSince", SINCE_ONE_DAY),
    all("/customers/{id}/sales", "updatedSince", SINCE_ONE_DAY),
    all("/inventory/adjustments", "sort=businessDate", SORTED),
    all("/inventory/adjustments", "sort=quantityChange", SORTED),
    all("/inventory/adjustments", "updatedSince", SINCE_ONE_DAY),
    all("/audit-log", "search", "a part of any text of the log"),
    all("/audit-log", "approverId", EACH_SALE),
    all("/audit-log", "terminalId", EACH_SALE),
    all("/audit-log", "action", EACH_SALE),
    all("/audit-log", "entityType", EACH_SALE),
    all("/audit-log", "entityId", EACH_SALE),
    all("/audit-log", "priceOf", EACH_SALE),
    all("/audit-log", "from", "the log is in the order of its time, and is gone along to there"),
    all("/audit-log", "to", "the log is in the order of its time, and is gone along from there"),
];

/// Copies of what headquarters has: the first load of a new store would pay for each index of them, and tills keep what they sell.
const COPIES: [&str; 6] = ["/products", "/pos/products", "/customers", "/pos/customers", "/inventory", "/store-prices"];

/// Lists of what a store has thousands of at the most.
const SMALL: [&str; 17] = [
    "/departments",
    "/devices",
    "/pos/parked-carts",
    "/pos/prints",
    "/reasons",
    "/register-sessions",
    "/registers",
    "/reports/z",
    "/reports/zz",
    "/roles",
    "/sales-reps",
    "/specials",
    "/stores",
    "/tax-groups",
    "/tax-rates",
    "/tenders",
    "/users",
];

const SINCE: (&str, &str) = ("updatedSince", "2026-01-02T03:00:00Z");
const DELETED: (&str, &str) = ("includeDeleted", "true");
const FROM: (&str, &str) = ("businessDateFrom", "2025-06-01");
const TO: (&str, &str) = ("businessDateTo", "2025-01-20");

const LISTS: &[List] = &[
    List {
        path: "/pos/sales",
        samples: &[
            ("search", "00012"),
            ("receiptNumber", "S-000084"),
            ("businessDate", "2025-02-01"),
            ("registerSessionId", "{drawer}"),
            ("sessionId", "{drawer}"),
            ("customerId", "{customer}"),
            ("status", "voided"),
            ("saleType", "refund"),
            ("cashierUserId", "{user}"),
            FROM,
            TO,
            DELETED,
            SINCE,
        ],
    },
    List {
        path: "/customers/{id}/sales",
        samples: &[
            ("storeId", "{store}"),
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
        path: "/inventory/adjustments",
        samples: &[
            ("reason", "waste"),
            ("productId", "{product}"),
            ("userId", "{user}"),
            ("businessDate", "2025-02-01"),
            ("from", "2025-06-01"),
            ("to", "2025-01-20"),
            FROM,
            TO,
            DELETED,
            SINCE,
        ],
    },
    List {
        path: "/audit-log",
        samples: &[
            ("search", "sale"),
            ("userId", "{user}"),
            ("approverId", "{user}"),
            ("terminalId", "T1"),
            ("action", "sale.create"),
            ("entityType", "sales"),
            ("entityId", "000500"),
            ("from", "2026-01-01T20:00:00Z"),
            ("to", "2026-01-01T03:00:00Z"),
            ("priceOf", "{product}"),
            DELETED,
        ],
    },
];

fn named(text: &str, shop: &Shop) -> String {
    text.replace("{store}", &shop.store.id.to_string())
        .replace("{drawer}", &id(DRAWER, 5).to_string())
        .replace("{user}", &id(USER, 3).to_string())
        .replace("{product}", &id(PRODUCT, 7).to_string())
        .replace("{customer}", &kit::id("HQ-000001").to_string())
        .replace("{id}", &kit::id("HQ-000001").to_string())
}

async fn fill_all(shop: &Shop) {
    let db = shop.store.test_db();
    let words = Words::of(db);
    let own = format!("X'{}'", shop.store.id.simple());
    let customer = format!("X'{}'", kit::id("HQ-000001").simple());
    let (at, digits) = (words.at("n.i"), words.digits("n.i"));
    let sales = [
        ("id", words.id(SALE, "n.i")),
        ("store_id", own.clone()),
        ("created_at", at.clone()),
        ("updated_at", at.clone()),
        ("completed_at", at.clone()),
        ("register_session_id", words.id(DRAWER, "n.i / 50 + 1")),
        ("receipt_number", format!("'S-' || {digits}")),
        ("sale_type", "CASE WHEN n.i % 40 = 7 THEN 'refund' ELSE 'sale' END".to_owned()),
        ("status", "CASE WHEN n.i % 90 = 7 THEN 'voided' ELSE 'completed' END".to_owned()),
        ("business_date", words.day("n.i / 300")),
        ("cashier_user_id", words.id(USER, "n.i % 60 + 1")),
        ("customer_id", format!("CASE WHEN n.i % 1000 = 7 THEN {customer} END")),
        ("currency_code", "'USD'".to_owned()),
        ("total_amount", "n.i * 7919 % 20011".to_owned()),
    ];
    fill(db, "sales", ROWS, &sales).await;
    let adjustments = [
        ("id", words.id(ADJUSTMENT, "n.i")),
        ("store_id", own),
        ("created_at", at.clone()),
        ("updated_at", at.clone()),
        ("occurred_at", at.clone()),
        ("product_id", words.id(PRODUCT, "n.i % 5000 + 1")),
        ("reason", "CASE WHEN n.i % 3 = 0 THEN 'waste' ELSE 'count' END".to_owned()),
        ("quantity_change", "n.i % 77 - 30".to_owned()),
        ("user_id", words.id(USER, "n.i % 60 + 1")),
        ("business_date", words.day("n.i / 60")),
    ];
    fill(db, "inventory_adjustments", ROWS, &adjustments).await;
    let log = [
        ("seq", "n.i + 1000".to_owned()),
        ("at", at),
        ("user_id", words.id(USER, "n.i % 60 + 1")),
        ("terminal_id", "'T1'".to_owned()),
        ("action", "'sale.create'".to_owned()),
        ("entity_type", "'sales'".to_owned()),
        ("entity_id", digits),
    ];
    fill(db, "audit_log", ROWS, &log).await;
}

#[tokio::test]
async fn no_order_and_no_filter_of_a_long_list_of_a_store_reads_or_sorts_more_the_more_rows_there_are() {
    let shop = Shop::that_rests().await;
    let person = shop.sign_in("administrator").await;
    fill_all(&shop).await;
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/generated/openapi-store.json");
    let description: Json = serde_json::from_str(&fs::read_to_string(path).expect("the description")).expect("JSON");
    for path in lists(&description) {
        let path = path.as_str();
        let is_known = LISTS.iter().any(|list| list.path == path) || COPIES.contains(&path) || SMALL.contains(&path);
        assert!(is_known, "{path} is a list: is it a long one?");
    }
    let (mut found, mut was_asked) = (Vec::new(), Vec::new());
    for list in LISTS {
        for (query, about) in everything(list, &description) {
            count::heard();
            let reply = person.get(&named(&format!("{}{query}", list.path), &shop)).await;
            assert_eq!(reply.status, 200, "{}{query}: {}", list.path, reply.body);
            let total = reply.body["pagination"]["total"].as_u64().expect("a total");
            let asked = Asked { query: &query, about: &about };
            found.extend(faults(shop.store.test_db(), list.path, &asked, total, ANYWAY).await);
            was_asked.push((list.path, about));
        }
    }
    assert!(found.is_empty(), "{} statements:\n{}", found.len(), found.join("\n\n"));
    for Anyway { list, about, reason, .. } in ANYWAY {
        assert!(was_asked.iter().any(|(path, of)| path == list && of == about), "{list} offers no {about}: {reason}");
    }
}
