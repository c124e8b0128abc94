//! What is found by a few letters: receipts by the end of their numbers, other rows by what they are called.

use std::collections::BTreeSet;

use serde_json::json;
use tillkeep_model::ids;
use tillkeep_storage::entity::sale::{self, from_its_end};
use tillkeep_storage::entity::{customer, product, store};
use tillkeep_storage::raw::sea_orm::{EntityTrait, PaginatorTrait, QueryFilter, Value};
use tillkeep_storage::reports::found::{self, Called, MOST};
use tillkeep_storage::{Tx, raw, sought};
use uuid::Uuid;

use crate::kit::chain::{Chain, id};
use crate::kit::envelopes::{create_sale, push, take, void_sale};
use crate::kit::{self, Hq};

async fn numbers(hq: &Hq, stores: Option<&[Uuid]>, text: &str) -> Vec<String> {
    let stores: Option<BTreeSet<Uuid>> = stores.map(|stores| stores.iter().copied().collect());
    let rows = found::receipts(hq.db.reader(), stores.as_ref(), text).await.expect("a search");
    rows.into_iter().map(|row| row.receipt_number).collect()
}

/// Pushes a sale with this number.
async fn sold(hq: &Hq, chain: &Chain, store: &str, number: &str) -> Uuid {
    let sender = if store == "S01" { &chain.first } else { &chain.second };
    let sale = ids::named(number);
    let mut envelope = create_sale(sender, sale, &[(chain.tea, 1)]);
    envelope["data"]["receiptNumber"] = json!(number);
    take(hq, sender, &envelope).await;
    sale
}

#[tokio::test]
async fn a_receipt_is_found_by_the_end_of_its_number_in_any_case() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let first = sold(&hq, &chain, "S01", "S01-01-000123").await;
        sold(&hq, &chain, "S01", "S01-02B-001234").await;
        sold(&hq, &chain, "S02", "S02-01-000123").await;
        let row = hq.row::<sale::Entity>(first).await.expect("the sale");
        assert_eq!(row.receipt_end.as_deref(), Some("321000-10-10s"));
        let mut both = numbers(&hq, None, "123").await;
        both.sort();
        assert_eq!(both, ["S01-01-000123", "S02-01-000123"], "the end, not a part");
        assert_eq!(numbers(&hq, None, "s01-01-000123").await, ["S01-01-000123"]);
        assert_eq!(numbers(&hq, None, " 2b-001234 ").await, ["S01-02B-001234"]);
        for nothing in ["23", "", "0001", "S01-01-00012", "%23", "_23"] {
            assert_eq!(numbers(&hq, None, nothing).await, Vec::<String>::new(), "{nothing}");
        }
        assert_eq!(numbers(&hq, Some(&[chain.second.store_id]), "123").await, ["S02-01-000123"]);
        assert_eq!(numbers(&hq, Some(&[]), "123").await, Vec::<String>::new());
        // What comes of it later leaves its number alone.
        let mut void = void_sale(&chain.first, first, &[(chain.tea, 1)]);
        void["data"]["receiptNumber"] = json!("S01-01-000999");
        push(&hq, &chain.first, &[void]).await;
        assert_eq!(hq.row::<sale::Entity>(first).await.map(|row| row.receipt_end), Some(Some("321000-10-10s".into())));
    }
}

#[tokio::test]
async fn so_many_receipts_are_found_and_no_more() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        for register in 1..=i32::try_from(MOST).expect("few") + 2 {
            sold(&hq, &chain, "S01", &format!("S01-{register:02}-000777")).await;
        }
        assert_eq!(numbers(&hq, None, "777").await.len() as u64, MOST);
    }
}

#[tokio::test]
async fn ends_are_looked_up_along_their_index_however_few_stores_are_meant() {
    let hq = Hq::sqlite().await;
    for stores in ["TRUE", "COALESCE(s.store_id, s.store_id) IN ($3)"] {
        let sql = format!(
            "EXPLAIN QUERY PLAN SELECT s.id FROM sales s WHERE s.receipt_end >= $1 AND s.receipt_end < $2 AND {stores} \
             ORDER BY s.receipt_end LIMIT 5000"
        );
        let values: [Value; 3] = ["321".into(), "322".into(), Uuid::nil().into()];
        let wanted = if stores == "TRUE" { 2 } else { 3 };
        let rows = raw::query(hq.db.reader(), &sql, values.into_iter().take(wanted)).await.expect("a plan");
        let plan: Vec<String> = rows.iter().map(|row| row.try_get("", "detail").expect("a line")).collect();
        let plan = plan.join("\n");
        assert!(plan.contains("ix_sales_receipt_end_store_id") && !plan.contains("ORDER BY"), "{plan}");
    }
}

#[test]
fn a_number_from_its_end_is_that_of_the_step_that_added_the_column() {
    assert_eq!(from_its_end("S01-01A-000042"), "240000-a10-10s");
    assert_eq!(from_its_end("\u{c4}B"), "b\u{c4}", "the databases know the small letters of ASCII alone");
    assert_eq!(from_its_end(""), "");
}

async fn customers(hq: &Hq, text: &str) -> Vec<String> {
    use customer::Column;
    let looked_into = [Column::CustomerNumber, Column::LastName, Column::Email];
    let called: Called<'_, customer::Entity> = Called {
        id: Column::Id,
        code: Column::CustomerNumber,
        name: Column::LastName,
        looked_into: &looked_into,
        deleted: Column::DeletedAt,
    };
    let rows = found::newest_rows(hq.db.reader(), &called, text).await.expect("a search");
    rows.into_iter().map(|row| row.customer_number).collect()
}

#[tokio::test]
async fn other_rows_are_found_by_their_code_first_and_then_by_a_part_of_what_they_are_called() {
    for hq in kit::both().await {
        let named = |number: &str, name: &str| customer::Model {
            id: id(number),
            customer_number: number.to_owned(),
            last_name: Some(name.to_owned()),
            ..customer::Model::default()
        };
        let gone = customer::Model { deleted_at: Some(kit::at(0)), ..named("C-9", "\u{d6}zil") };
        let all = [named("C-1", "\u{d6}ZIL"), named("C-2", "Aziz"), named("C-10", "Ozil"), named("AZI", "Zoe"), gone];
        hq.insert::<customer::Entity>(all).await;
        assert_eq!(customers(&hq, "azi").await, ["AZI", "C-2"], "a code comes first");
        assert_eq!(customers(&hq, "\u{f6}zil").await, ["C-1"], "in any case, and none that was deleted");
        assert_eq!(customers(&hq, "c-1").await, ["C-1", "C-10"]);
        assert_eq!(customers(&hq, "%").await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn rows_are_found_among_those_that_may_be_seen() {
    for hq in kit::both().await {
        use store::Column;
        let chain = Chain::found(&hq).await;
        let looked_into = [Column::Code, Column::Name];
        let called: Called<'_, store::Entity> = Called {
            id: Column::Id,
            code: Column::Code,
            name: Column::Name,
            looked_into: &looked_into,
            deleted: Column::DeletedAt,
        };
        let all = found::rows(hq.db.reader(), store::Entity::find(), &called, "s0").await.expect("a search");
        assert_eq!(all.len(), 2);
        let seen = store::Entity::find_by_id(chain.second.store_id);
        let seen = found::rows(hq.db.reader(), seen, &called, "s0").await.expect("a search");
        assert_eq!(seen.into_iter().map(|row| row.code).collect::<Vec<_>>(), ["S02"]);
        let products: Called<'_, product::Entity> = Called {
            id: product::Column::Id,
            code: product::Column::Sku,
            name: product::Column::Name,
            looked_into: &[product::Column::Name],
            deleted: product::Column::DeletedAt,
        };
        let tea = found::newest_rows(hq.db.reader(), &products, "tea").await.expect("a search");
        assert_eq!(tea.into_iter().map(|row| row.id).collect::<Vec<_>>(), [chain.tea]);
    }
}

#[tokio::test]
async fn a_commit_writes_what_its_rows_are_looked_for_by_whoever_changed_them() {
    for hq in kit::both().await {
        let ann = customer::Model {
            id: id("ann"),
            customer_number: "C-1".to_owned(),
            last_name: Some("\u{d6}ZIL".to_owned()),
            search_text: Some("of another".to_owned()),
            ..customer::Model::default()
        };
        hq.insert::<customer::Entity>([ann]).await;
        let text = async || hq.row::<customer::Entity>(id("ann")).await.and_then(|row| row.search_text);
        assert_eq!(text().await.as_deref(), Some("c-1\n\u{f6}zil"));
        hq.edit::<customer::Entity>(id("ann"), |row| row.phone = Some("555 01".to_owned())).await;
        assert_eq!(text().await.as_deref(), Some("c-1\n\u{f6}zil\n555 01"));
        let customers = sought::of("customers").expect("looked for");
        let found = async |text: &str| {
            let select = customer::Entity::find().filter(customers.contains(text));
            select.count(hq.db.reader()).await.expect("a count")
        };
        for (text, count) in [("C-1", 1), ("\u{d6}zi", 1), ("%", 0), ("5_5", 0), ("\\", 0), ("other", 0)] {
            assert_eq!(found(text).await, count, "{text}");
        }
        assert!(customers.answers(hq.db.reader(), "zil").await.expect("a look"));
        assert!(!customers.answers(hq.db.reader(), "1\n\u{f6}").await.expect("a look"), "it is in no column");
    }
}

#[tokio::test]
async fn texts_that_are_written_ahead_are_in_the_transaction_and_left_by_its_commit() {
    for hq in kit::both().await {
        let mut tx = hq.db.begin().await.expect("a transaction");
        let row = customer::Model { id: id("ann"), customer_number: "C-1".to_owned(), ..customer::Model::default() };
        tx.insert::<customer::Entity>(row).await.expect("a row");
        let text = async |conn: &Tx| {
            let found = customer::Entity::find_by_id(id("ann")).one(conn).await.expect("a read");
            found.expect("the row").search_text
        };
        assert_eq!(text(&tx).await, None);
        tx.write_texts().await.expect("texts");
        assert_eq!(text(&tx).await.as_deref(), Some("c-1"));
        tx.commit().await.expect("a commit");
        let kept = hq.row::<customer::Entity>(id("ann")).await.expect("the row");
        assert_eq!(kept.search_text.as_deref(), Some("c-1"));
        assert!(kept.sync_version > 0, "{}", kept.sync_version);
    }
}

#[tokio::test]
async fn rows_without_such_a_text_are_given_one_a_part_at_a_time() {
    for hq in kit::both().await {
        let row = |number: u32| customer::Model {
            id: id(&number.to_string()),
            customer_number: format!("C-{number}"),
            ..customer::Model::default()
        };
        hq.insert::<customer::Entity>((0..501).map(row)).await;
        let tx = hq.db.begin().await.expect("a transaction");
        raw::execute(&tx, "UPDATE customers SET search_text = NULL", []).await.expect("an update");
        tx.commit().await.expect("a commit");
        let customers = sought::of("customers").expect("looked for");
        let (mut after, mut parts) = (Some(Uuid::nil()), 0);
        while let Some(last) = after {
            assert!(parts < 2 && !customers.answers(hq.db.reader(), "c").await.expect("a look"));
            after = customers.fill(&hq.db, last).await.expect("a part");
            parts += u32::from(after.is_some());
            if parts == 2 {
                break;
            }
        }
        assert!(customers.answers(hq.db.reader(), "c").await.expect("a look"));
        let last = after.expect("the last row");
        assert_eq!(customers.fill(&hq.db, last).await.expect("nothing"), None);
        let select = customer::Entity::find().filter(customers.contains("C-49"));
        assert_eq!(select.count(hq.db.reader()).await.expect("a count"), 11);
    }
}

#[tokio::test]
async fn the_movements_of_a_store_are_read_along_an_index_page_by_page() {
    let hq = Hq::sqlite().await;
    let sql = "EXPLAIN QUERY PLAN SELECT id, source_id, product_id, quantity_change FROM stock_movements \
               WHERE store_id = $1 AND (product_id, id) > ($2, $3) ORDER BY product_id, id LIMIT 2000";
    let values: [Value; 3] = [Uuid::nil(), Uuid::nil(), Uuid::nil()].map(Into::into);
    let rows = raw::query(hq.db.reader(), sql, values).await.expect("a plan");
    let plan: Vec<String> = rows.iter().map(|row| row.try_get("", "detail").expect("a line")).collect();
    let plan = plan.join("\n");
    assert!(plan.contains("ix_stock_movements_store_id_product_id_id") && !plan.contains("ORDER BY"), "{plan}");
}
