//! HQ never refuses money: what a user should look at is stored and flagged. `docs/sync.md`, rule U9.

use serde_json::{Value as Json, json};
use tillkeep_storage::entity::{customer, register_session, sale};
use uuid::Uuid;

use crate::kit::chain::{Chain, id};
use crate::kit::envelopes::{adjustment, create_sale, customer as new_customer, envelope, push, take};
use crate::kit::{self, Hq, at};

async fn flags(hq: &Hq, sale: &str) -> Json {
    hq.row::<sale::Entity>(id(sale)).await.expect("the sale").flags.0
}

/// What the log says of the newest envelope.
async fn warning(hq: &Hq) -> Option<String> {
    hq.log().await.pop().expect("an entry").warning
}

fn sale(chain: &Chain, name: &str, more: &[(&str, Json)]) -> Json {
    let mut sale = create_sale(&chain.first, id(name), &[(chain.tea, 1)]);
    for (key, value) in more {
        sale["data"][*key] = value.clone();
    }
    sale
}

fn session(chain: &Chain, name: &str, number: i32, status: &str, receipts: Option<(&str, &str)>) -> Json {
    let data = json!({
        "id": id(name), "registerCode": "01", "sessionNumber": number, "status": status, "businessDate": "2026-11-20",
        "openedAt": at(0), "createdAt": at(0), "firstReceiptNumber": receipts.map(|(first, _)| first),
        "lastReceiptNumber": receipts.map(|(_, last)| last),
    });
    let seconds = if status == "closed" { 50 } else { 0 };
    envelope(&chain.first, "register_sessions", id(name), "update", &data, at(seconds))
}

#[tokio::test]
async fn of_the_flags_that_a_store_gives_a_sale_those_stay_that_only_a_store_can_know() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let said = json!(["clock_behind_register", "duplicate_receipt_number", "anything", 7]);
        take(&hq, &chain.first, &sale(&chain, "one", &[("flags", said)])).await;
        assert_eq!(flags(&hq, "one").await, json!(["clock_behind_register"]));
        assert_eq!(warning(&hq).await.as_deref(), Some("clock_behind_register"));
        for said in [json!([]), json!(null), json!("clock_behind_register"), json!({"clock_behind_register": 1})] {
            let name = said.to_string();
            take(&hq, &chain.first, &sale(&chain, &name, &[("flags", said)])).await;
            assert_eq!(flags(&hq, &name).await, json!([]), "{name}");
        }
    }
}

#[tokio::test]
async fn a_receipt_number_that_comes_twice_flags_both_sales_in_one_request_and_in_two() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let number = |number: &str| [("receiptNumber", json!(number))];
        take(&hq, &chain.first, &sale(&chain, "one", &number("S01-01-000007"))).await;
        assert_eq!(flags(&hq, "one").await, json!([]));
        take(&hq, &chain.first, &sale(&chain, "two", &number("S01-01-000007"))).await;
        for name in ["one", "two"] {
            assert_eq!(flags(&hq, name).await, json!(["duplicate_receipt_number"]), "{name}");
        }
        assert_eq!(warning(&hq).await.as_deref(), Some("duplicate_receipt_number"));
        let together =
            [sale(&chain, "three", &number("S01-01-000008")), sale(&chain, "four", &number("S01-01-000008"))];
        assert_eq!(push(&hq, &chain.first, &together).await.refused, 0);
        for name in ["three", "four"] {
            assert_eq!(flags(&hq, name).await, json!(["duplicate_receipt_number"]), "{name}");
        }
        // The same sale again, the number in another store, and no number at all are none of this.
        take(&hq, &chain.first, &sale(&chain, "five", &[("receiptNumber", json!(""))])).await;
        take(&hq, &chain.first, &sale(&chain, "six", &[("receiptNumber", json!(""))])).await;
        let mut other = create_sale(&chain.second, id("seven"), &[(chain.tea, 1)]);
        other["data"]["receiptNumber"] = json!("S01-01-000007");
        take(&hq, &chain.second, &other).await;
        for name in ["five", "six"] {
            assert_eq!(flags(&hq, name).await, json!([]), "{name}");
        }
        assert_eq!(flags(&hq, "seven").await, json!(["foreign_number"]));
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_session_number_that_comes_twice_flags_both_sessions() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        take(&hq, &chain.first, &session(&chain, "one", 4, "open", None)).await;
        take(&hq, &chain.first, &session(&chain, "other", 5, "open", None)).await;
        take(&hq, &chain.first, &session(&chain, "two", 4, "open", None)).await;
        for (name, expected) in [("one", 1), ("other", 0), ("two", 1)] {
            let row = hq.row::<register_session::Entity>(id(name)).await.expect("the session");
            let expected = &["duplicate_session_number"][..expected];
            assert_eq!(row.flags.0, json!(expected), "{name}");
        }
        assert_eq!(warning(&hq).await.as_deref(), Some("duplicate_session_number"));
    }
}

#[tokio::test]
async fn an_unknown_product_is_on_the_row_as_it_is_in_the_log() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let unknown = create_sale(&chain.first, id("sale"), &[(chain.tea, 1), (id("no product"), 1)]);
        take(&hq, &chain.first, &unknown).await;
        assert_eq!(flags(&hq, "sale").await, json!(["unknown_product"]));
        assert_eq!(warning(&hq).await.as_deref(), Some("unknown_product"));
        take(&hq, &chain.first, &adjustment(&chain.first, id("found"), id("no product"), "found", 1, None)).await;
        assert_eq!(warning(&hq).await.as_deref(), Some("unknown_product"));
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_sale_to_a_deleted_customer_is_flagged_and_one_to_an_unknown_only_until_the_customer_comes() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        take(&hq, &chain.first, &new_customer(&chain.first, id("gone"), "S01-1")).await;
        hq.edit::<customer::Entity>(id("gone"), |row| row.deleted_at = Some(at(1))).await;
        take(&hq, &chain.first, &sale(&chain, "a", &[("customerId", json!(id("gone")))])).await;
        assert_eq!(flags(&hq, "a").await, json!(["deleted_customer"]));
        take(&hq, &chain.first, &sale(&chain, "b", &[("customerId", json!(id("late"))), ("taxAmount", json!(1))]))
            .await;
        let sums = ["net_and_tax_are_not_total", "lines_tax_mismatch"];
        assert_eq!(flags(&hq, "b").await, json!([sums[0], sums[1], "unknown_customer"]));
        take(&hq, &chain.first, &new_customer(&chain.first, id("late"), "S01-2")).await;
        assert_eq!(flags(&hq, "b").await, json!(sums), "what does not add up stays");
        assert_eq!(flags(&hq, "a").await, json!(["deleted_customer"]));
    }
}

#[tokio::test]
async fn a_sale_of_an_unknown_session_is_flagged_until_the_session_comes() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let here = [("registerSessionId", json!(id("session")))];
        take(&hq, &chain.first, &sale(&chain, "early", &here)).await;
        assert_eq!(flags(&hq, "early").await, json!(["unknown_session"]));
        take(&hq, &chain.first, &session(&chain, "session", 1, "open", None)).await;
        assert_eq!(flags(&hq, "early").await, json!([]));
        take(&hq, &chain.first, &sale(&chain, "later", &here)).await;
        assert_eq!(flags(&hq, "later").await, json!([]));
    }
}

#[tokio::test]
async fn a_sale_that_the_z_report_does_not_count_is_of_a_closed_day_and_one_that_it_counts_is_not() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let receipts = Some(("S01-01-000001", "S01-01-000003"));
        take(&hq, &chain.first, &session(&chain, "session", 1, "closed", receipts)).await;
        let of = |name: &str, receipt: &str| {
            sale(&chain, name, &[("registerSessionId", json!(id("session"))), ("receiptNumber", json!(receipt))])
        };
        // The close overtook this one: it is in the report.
        take(&hq, &chain.first, &of("counted", "S01-01-000003")).await;
        assert_eq!(flags(&hq, "counted").await, json!([]));
        take(&hq, &chain.first, &of("after", "S01-01-000004")).await;
        assert_eq!(flags(&hq, "after").await, json!(["closed_day"]));
        assert_eq!(warning(&hq).await.as_deref(), Some("closed_day"));
        take(&hq, &chain.first, &session(&chain, "empty", 2, "closed", None)).await;
        let mut none = of("none", "S01-01-000005");
        none["data"]["registerSessionId"] = json!(id("empty"));
        take(&hq, &chain.first, &none).await;
        assert_eq!(flags(&hq, "none").await, json!(["closed_day"]));
    }
}

#[tokio::test]
async fn a_date_more_than_two_days_ahead_is_flagged() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let (near, far) = (at(86_400), at(3 * 86_400));
        take(&hq, &chain.first, &sale(&chain, "near", &[("completedAt", json!(near))])).await;
        assert_eq!(flags(&hq, "near").await, json!([]));
        take(&hq, &chain.first, &sale(&chain, "far", &[("completedAt", json!(far))])).await;
        assert_eq!(flags(&hq, "far").await, json!(["future_date"]));
        take(&hq, &chain.first, &sale(&chain, "day", &[("businessDate", json!("2027-01-01"))])).await;
        assert_eq!(flags(&hq, "day").await, json!(["future_date"]));
    }
}

#[tokio::test]
async fn what_a_document_was_sent_without_is_named_and_nothing_is_of_1970() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let mut bare = sale(&chain, "bare", &[]);
        for key in ["status", "businessDate", "createdAt", "startedAt", "completedAt"] {
            bare["data"].as_object_mut().expect("a sale").remove(key);
        }
        take(&hq, &chain.first, &bare).await;
        assert_eq!(flags(&hq, "bare").await, json!(["missing:status", "missing:businessDate"]));
        let stored = hq.row::<sale::Entity>(id("bare")).await.expect("the sale");
        assert_eq!([stored.created_at, stored.started_at, stored.completed_at], [at(0); 3]);
        let drawer =
            json!({"id": id("drawer"), "registerCode": "01", "sessionNumber": 1, "businessDate": "2026-11-20"});
        let opened = envelope(&chain.first, "register_sessions", id("drawer"), "create", &drawer, at(5));
        take(&hq, &chain.first, &opened).await;
        assert_eq!(warning(&hq).await.as_deref(), Some("missing:status"));
        let drawer = hq.row::<register_session::Entity>(id("drawer")).await.expect("the drawer");
        assert_eq!((drawer.opened_at, drawer.closed_at), (at(5), None));
        let closing =
            json!({"id": id("drawer"), "status": "closed", "openedAt": "1970-01-01T00:00:00Z", "closedAt": at(9)});
        let closed = envelope(&chain.first, "register_sessions", id("drawer"), "update", &closing, at(9));
        take(&hq, &chain.first, &closed).await;
        let drawer = hq.row::<register_session::Entity>(id("drawer")).await.expect("the drawer");
        assert_eq!((drawer.opened_at, drawer.closed_at), (at(5), Some(at(9))));
        let status = json!({"id": id("bare"), "status": "completed"});
        take(&hq, &chain.first, &envelope(&chain.first, "sales", id("bare"), "update", &status, at(9))).await;
        assert_eq!(flags(&hq, "bare").await, json!(["missing:businessDate"]));
    }
}

#[tokio::test]
async fn flags_are_judged_again_when_the_sale_comes_again() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let unknown = Uuid::from_u128(7);
        take(&hq, &chain.first, &create_sale(&chain.first, id("sale"), &[(unknown, 1)])).await;
        assert_eq!(flags(&hq, "sale").await, json!(["unknown_product"]));
        let mut product = crate::kit::chain::product("LATE", 1);
        product.id = unknown;
        hq.insert::<tillkeep_storage::entity::product::Entity>([product]).await;
        let data = json!({"id": id("sale"), "refundedAmount": 1});
        take(&hq, &chain.first, &envelope(&chain.first, "sales", id("sale"), "update", &data, at(9))).await;
        assert_eq!(flags(&hq, "sale").await, json!([]));
    }
}
