//! A document that came before what it names is flagged until that comes, whatever it is. `docs/sync.md`, rule U9.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::Path;

use sea_orm::ConnectionTrait;
use serde_json::{Value as Json, json};
use tillkeep_model::wire::camel;
use tillkeep_storage::document::{Awaited, Reference};
use tillkeep_storage::entity::{customer, product};
use tillkeep_storage::envelope::Sender;
use tillkeep_storage::raw;
use tillkeep_storage::registry::{self, SyncType};
use uuid::Uuid;

use crate::kit::chain::{self, Chain, id};
use crate::kit::envelopes::{create_sale, customer as new_customer, envelope, fresh, take};
use crate::kit::{self, Hq, at};

/// What each type that stores push awaits, with the flag that its documents have until then.
fn pairs() -> impl Iterator<Item = (&'static SyncType, &'static Awaited, &'static str)> {
    let of = |(entity, pushed): (&'static SyncType, &'static tillkeep_storage::document::Pushed)| {
        pushed.awaited.iter().filter_map(move |awaited| Some((entity, awaited, awaited.names.unknown()?)))
    };
    registry::pushed().flat_map(of)
}

/// A new document as its store sends it, with another row that it names.
fn naming(chain: &Chain, entity: &SyncType, name: &str, awaited: &Awaited, named: Uuid) -> Json {
    let mut data = fresh(chain, entity, id(name));
    let row = match awaited.lines {
        None => &mut data,
        Some(place) => &mut data[entity.children[place].key][0],
    };
    row[camel(awaited.column)] = json!(named);
    envelope(&chain.first, entity.name, id(name), "create", &data, at(0))
}

fn drawer(sender: &Sender, id: Uuid) -> Json {
    let data = json!({"id": id, "registerCode": "01", "sessionNumber": 1, "status": "open", "businessDate": "2026-11-20",
                      "openedAt": at(0), "createdAt": at(0)});
    envelope(sender, "register_sessions", id, "create", &data, at(0))
}

async fn made(hq: &Hq, id: Uuid) {
    let sku = id.to_string();
    hq.insert::<product::Entity>([product::Model { id, ..chain::product(&sku, 500) }]).await;
}

/// The row `id` comes to headquarters.
async fn comes(hq: &Hq, chain: &Chain, names: Reference, id: Uuid) {
    match names {
        Reference::Product => made(hq, id).await,
        Reference::Customer => {
            take(hq, &chain.first, &new_customer(&chain.first, id, &format!("S01-{id}"))).await;
        }
        Reference::Session => {
            take(hq, &chain.first, &drawer(&chain.first, id)).await;
        }
        Reference::Sale | Reference::SaleItem => panic!("say here how a row of {} comes", names.table()),
    }
}

async fn flags(hq: &Hq, entity: &SyncType, name: &str) -> Json {
    let snapshot = hq.db.snapshot().await.expect("a snapshot");
    let rows = entity.table.having(&snapshot, "id", &[id(name)], false).await.expect("the rows");
    serde_json::from_str(&rows[0].text("flags").expect("flags")).expect("a list")
}

#[tokio::test]
async fn a_document_that_came_before_what_it_names_loses_its_flag_when_that_comes() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        for (entity, awaited, flag) in pairs() {
            let name = format!("{} {}", entity.name, awaited.column);
            let (named, other) = (id(&format!("{name}, named")), id(&format!("{name}, another")));
            let early = naming(&chain, entity, &name, awaited, named);
            take(&hq, &chain.first, &early).await;
            assert_eq!(flags(&hq, entity, &name).await, json!([flag]), "{name}");
            comes(&hq, &chain, awaited.names, other).await;
            assert_eq!(flags(&hq, entity, &name).await, json!([flag]), "{name}, which waits for another one");
            comes(&hq, &chain, awaited.names, named).await;
            assert_eq!(flags(&hq, entity, &name).await, json!([]), "{name}");
            hq.verify().await;
        }
    }
}

/// Waits until `count` transactions stand behind others, or the last of them is over without having stood there.
async fn waiting(hq: &Hq, count: i64, is_over: &Cell<bool>) {
    let sql = "SELECT COUNT(*) AS n FROM pg_locks WHERE NOT granted \
               AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    while !is_over.get() {
        let rows = raw::query(hq.db.reader(), sql, []).await.expect("the locks");
        if rows[0].try_get::<i64>("", "n").expect("a count") >= count {
            return;
        }
    }
}

#[tokio::test]
async fn a_product_that_is_made_in_the_moment_of_its_sale_leaves_no_flag_whichever_comes_first() {
    for hq in kit::both().await {
        if hq.db.is_embedded() {
            // Writers follow one another.
            continue;
        }
        let chain = Chain::found(&hq).await;
        let sales = kit::entity("sales");
        let late = |name: &str| create_sale(&chain.first, id(name), &[(id(&format!("{name} sells")), 1)]);
        // The sale is judged and not committed.
        let held = hq.db.begin().await.expect("a transaction");
        held.execute_unprepared("LOCK TABLE sync_log IN ACCESS EXCLUSIVE MODE").await.expect("a lock");
        let (sale, is_over) = (late("first"), Cell::new(false));
        let product = async {
            waiting(&hq, 1, &is_over).await;
            made(&hq, id("first sells")).await;
            is_over.set(true);
        };
        let release = async {
            waiting(&hq, 2, &is_over).await;
            drop(held);
        };
        tokio::join!(take(&hq, &chain.first, &sale), product, release);
        assert_eq!(flags(&hq, sales, "first").await, json!([]));
        // The product is made and not committed.
        let mut making = hq.db.begin().await.expect("a transaction");
        let row = product::Model { id: id("second sells"), ..chain::product("second", 500) };
        making.insert::<product::Entity>(row).await.expect("a product");
        let (sale, is_over) = (late("second"), Cell::new(false));
        let taken = async {
            take(&hq, &chain.first, &sale).await;
            is_over.set(true);
        };
        let commit = async {
            waiting(&hq, 1, &is_over).await;
            making.commit().await.expect("a commit");
        };
        tokio::join!(taken, commit);
        assert_eq!(flags(&hq, sales, "second").await, json!([]));
        hq.verify().await;
    }
}

#[test]
fn every_unknown_flag_of_the_docs_is_of_something_that_is_awaited() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/domain.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let named: BTreeSet<&str> = page.split('`').filter(|word| word.starts_with("unknown_")).collect();
    let given: BTreeSet<&str> = pairs().map(|(_, _, flag)| flag).collect();
    assert_eq!(named, given);
}

#[tokio::test]
async fn a_sale_of_two_unknown_products_is_flagged_until_both_are_known_and_what_else_is_wrong_stays() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let sales = kit::entity("sales");
        let mut sale = create_sale(&chain.first, id("sale"), &[(id("one"), 1), (chain.tea, 1), (id("other"), 1)]);
        sale["data"]["customerId"] = json!(id("ada"));
        sale["data"]["taxAmount"] = json!(1);
        take(&hq, &chain.first, &sale).await;
        let sums = ["net_and_tax_are_not_total", "lines_tax_mismatch"];
        let all = json!([sums[0], sums[1], "unknown_product", "unknown_customer"]);
        assert_eq!(flags(&hq, sales, "sale").await, all);
        made(&hq, id("one")).await;
        assert_eq!(flags(&hq, sales, "sale").await, all, "the other one is missing");
        made(&hq, id("other")).await;
        assert_eq!(flags(&hq, sales, "sale").await, json!([sums[0], sums[1], "unknown_customer"]));
        // Made at headquarters, as what it lost may be.
        let ada = customer::Model { id: id("ada"), customer_number: "HQ-1".to_owned(), ..customer::Model::default() };
        hq.insert::<customer::Entity>([ada]).await;
        assert_eq!(flags(&hq, sales, "sale").await, json!(sums));
    }
}

#[tokio::test]
async fn the_drawer_of_another_store_with_the_same_id_is_not_the_one_that_a_sale_waits_for() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let sales = kit::entity("sales");
        let mut sale = create_sale(&chain.first, id("sale"), &[(chain.tea, 1)]);
        sale["data"]["registerSessionId"] = json!(id("drawer"));
        take(&hq, &chain.first, &sale).await;
        take(&hq, &chain.second, &drawer(&chain.second, id("drawer"))).await;
        assert_eq!(flags(&hq, sales, "sale").await, json!(["unknown_session"]));
        take(&hq, &chain.first, &drawer(&chain.first, id("drawer"))).await;
        assert_eq!(flags(&hq, sales, "sale").await, json!([]));
        hq.verify().await;
    }
}
