//! The store decides whether a line moved stock and what the average cost is. `docs/sync.md`, rule U10.

use serde_json::value::RawValue;
use serde_json::{Value as Json, json};
use tillkeep_model::Instant;
use tillkeep_model::{Cost, Money, Qty};
use tillkeep_storage::document::movement::{Kind, Movement};
use tillkeep_storage::entity::product;
use tillkeep_storage::stock;
use tillkeep_storage::{outbox, own_documents};
use uuid::Uuid;

use crate::kit::chain::{Chain, id};
use crate::kit::envelopes::{adjustment, create_sale, envelope, push, sale, take, void_sale};
use crate::kit::{Hq, Shop, at, both, entity};

async fn keep_stock(hq: &Hq, product: Uuid, track_stock: bool) {
    hq.edit::<product::Entity>(product, |row| row.track_stock = track_stock).await;
}

async fn level(hq: &Hq, chain: &Chain, product: Uuid) -> (Qty, Option<Money>) {
    let row = hq.stock(chain.first.store_id, product).await;
    row.map(|row| (row.quantity, row.average_cost.map(|cost| cost.0))).unwrap_or_default()
}

/// A sale of one piece of tea, with a line that says whether stock of it was kept.
fn sold(chain: &Chain, name: &str, tracked: impl Into<Json>) -> Json {
    let mut sale = create_sale(&chain.first, id(name), &[(chain.tea, 1)]);
    sale["data"]["saleItems"][0]["tracked"] = tracked.into();
    sale
}

#[tokio::test]
async fn a_line_moves_stock_as_its_store_had_it_and_not_as_headquarters_has_it_now() {
    for hq in both().await {
        let chain = Chain::found(&hq).await;
        keep_stock(&hq, chain.tea, false).await;
        take(&hq, &chain.first, &sold(&chain, "tracked", true)).await;
        assert_eq!(level(&hq, &chain, chain.tea).await.0, Qty::pieces(-1), "it left the shelf of a store that counts");
        take(&hq, &chain.first, &adjustment(&chain.first, id("found"), chain.tea, "found", 5, None)).await;
        assert_eq!(level(&hq, &chain, chain.tea).await.0, Qty::pieces(4), "a store adjusts only what it counts");
        take(&hq, &chain.first, &sold(&chain, "says nothing", Json::Null)).await;
        assert_eq!(level(&hq, &chain, chain.tea).await.0, Qty::pieces(4), "headquarters counts none of it");
        keep_stock(&hq, chain.tea, true).await;
        take(&hq, &chain.first, &sold(&chain, "untracked", false)).await;
        assert_eq!(level(&hq, &chain, chain.tea).await.0, Qty::pieces(4), "it was not counted");
        take(&hq, &chain.first, &create_sale(&chain.first, id("older"), &[(chain.tea, 1)])).await;
        assert_eq!(level(&hq, &chain, chain.tea).await.0, Qty::pieces(3), "as headquarters has it");
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_void_moves_back_what_the_sale_moved_though_tracking_was_switched_in_between() {
    for hq in both().await {
        let chain = Chain::found(&hq).await;
        let voided = |name: &str, tracked: Json| {
            let mut void = void_sale(&chain.first, id(name), &[(chain.tea, 1)]);
            void["data"]["saleItems"][0]["tracked"] = tracked;
            void
        };
        // The second one is of a store that says nothing: what headquarters has moved counts.
        for (name, tracked) in [("says so", json!(true)), ("says nothing", Json::Null)] {
            keep_stock(&hq, chain.tea, true).await;
            take(&hq, &chain.first, &sold(&chain, name, tracked.clone())).await;
            assert_eq!(level(&hq, &chain, chain.tea).await.0, Qty::pieces(-1));
            keep_stock(&hq, chain.tea, false).await;
            take(&hq, &chain.first, &voided(name, tracked)).await;
            assert_eq!(level(&hq, &chain, chain.tea).await.0, Qty::ZERO, "{name}");
        }
        take(&hq, &chain.first, &sold(&chain, "untracked", false)).await;
        keep_stock(&hq, chain.tea, true).await;
        take(&hq, &chain.first, &voided("untracked", json!(false))).await;
        assert_eq!(level(&hq, &chain, chain.tea).await.0, Qty::ZERO);
        hq.verify().await;
    }
}

/// What a store did to its stock of tea: pieces, their cost when they came in, and the average afterwards.
#[derive(Clone, Copy)]
enum Effect {
    Received(i64, i64),
    Returned(i64, i64),
    Sold(i64),
    Damaged(i64),
}

/// The envelopes of a store that did this, one after the other, with the figures that it reckons; the level in the end.
fn history(chain: &Chain, name: &str, node: &str, effects: &[Effect]) -> (Vec<Json>, (Qty, Option<Money>)) {
    let (mut pieces, mut average) = (0_i64, None::<i64>);
    let mut envelopes = Vec::new();
    for (place, effect) in effects.iter().enumerate() {
        let id = id(&format!("{name} {place}"));
        let (change, cost) = match *effect {
            Effect::Received(pieces, cost) | Effect::Returned(pieces, cost) => (pieces, Some(cost)),
            Effect::Sold(pieces) | Effect::Damaged(pieces) => (-pieces, None),
        };
        if let Some(cost) = cost {
            let whole = pieces * average.unwrap_or_default() + change * cost;
            // Half away from zero; nothing here is negative.
            let mean = (2 * whole + pieces + change) / (2 * (pieces + change)).max(1);
            average = Some(if pieces > 0 && average.is_some() { mean } else { cost });
        }
        pieces += change;
        let mut envelope = match *effect {
            Effect::Received(..) => adjustment(&chain.first, id, chain.tea, "received", change, cost),
            Effect::Damaged(_) => adjustment(&chain.first, id, chain.tea, "damaged", change, None),
            Effect::Sold(_) => create_sale(&chain.first, id, &[(chain.tea, -change)]),
            Effect::Returned(..) => {
                let mut data = sale(&chain.first, id, &[(chain.tea, -change)]);
                data["saleType"] = "refund".into();
                data["saleItems"][0]["unitCost"] = json!(cost);
                data["saleItems"][0]["averageCostAfter"] = json!(average);
                envelope(&chain.first, "sales", id, "create", &data, at(0))
            }
        };
        if envelope["entity_type"] == "inventory_adjustments" {
            envelope["data"]["averageCostAfter"] = json!(average);
        } else {
            envelope["data"]["saleItems"][0]["tracked"] = json!(true);
        }
        envelope["seq"] = json!(place + 1);
        envelope["node_epoch"] = json!(node);
        envelopes.push(envelope);
    }
    (envelopes, (Qty::pieces(pieces), average.map(Money)))
}

const DAY: &[Effect] = &[
    Effect::Received(10, 500),
    Effect::Sold(4),
    Effect::Received(3, 733),
    Effect::Returned(2, 500),
    Effect::Damaged(1),
    Effect::Sold(12),
    Effect::Received(7, 610),
    Effect::Returned(1, 571),
    Effect::Received(2, 999),
    Effect::Sold(1),
];

#[tokio::test]
async fn receipts_refunds_and_sales_in_any_order_and_repeated_end_with_the_average_of_the_store() {
    for hq in both().await {
        let chain = Chain::found(&hq).await;
        for seed in 0..12_u64 {
            let name = format!("round {seed}");
            let (mut envelopes, wanted) = history(&chain, &name, &name, DAY);
            // A deck that is shuffled by its seed, and some of it twice.
            let mut state = seed;
            let mut draw = |below: usize| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                usize::try_from(state >> 33).expect("a number") % below
            };
            for place in (1..envelopes.len()).rev() {
                envelopes.swap(place, draw(place + 1));
            }
            let again = envelopes[draw(envelopes.len())].clone();
            envelopes.insert(draw(envelopes.len()), again);
            let before = level(&hq, &chain, chain.tea).await.0;
            for batch in envelopes.chunks(1 + draw(envelopes.len())) {
                assert_eq!(push(&hq, &chain.first, batch).await.refused, 0);
            }
            let (quantity, average) = level(&hq, &chain, chain.tea).await;
            assert_eq!((quantity - before, average), wanted, "{name}");
        }
        hq.verify().await;
    }
}

#[tokio::test]
async fn of_two_databases_of_a_store_the_one_that_was_met_later_says_what_the_average_is() {
    for hq in both().await {
        let chain = Chain::found(&hq).await;
        let (first, _) = history(&chain, "first", "node 1", &DAY[..5]);
        // It was set back to a copy, and counts on from there under another name.
        let (second, wanted) = history(&chain, "second", "node 2", &DAY[2..4]);
        push(&hq, &chain.first, &first[..4]).await;
        push(&hq, &chain.first, &second).await;
        push(&hq, &chain.first, &first[4..]).await;
        assert_eq!(level(&hq, &chain, chain.tea).await.1, wanted.1);
        hq.verify().await;
    }
}

#[tokio::test]
async fn what_a_store_says_nothing_of_headquarters_reckons_as_before() {
    for hq in both().await {
        let chain = Chain::found(&hq).await;
        let (mut envelopes, wanted) = history(&chain, "older", "node", DAY);
        for envelope in &mut envelopes {
            let data = envelope["data"].as_object_mut().expect("an object");
            data.remove("averageCostAfter");
            for line in data.get_mut("saleItems").and_then(Json::as_array_mut).into_iter().flatten() {
                line.as_object_mut().expect("a line").remove("averageCostAfter");
            }
            take(&hq, &chain.first, envelope).await;
        }
        assert_eq!(level(&hq, &chain, chain.tea).await, wanted);
        hq.verify().await;
    }
}

/// Everything that headquarters has of a store comes back to it, in pages.
async fn give_back(hq: &Hq, shop: &Shop) {
    for name in own_documents::TYPES.iter() {
        let mut after = Uuid::nil();
        loop {
            let snapshot = hq.db.snapshot().await.expect("a snapshot");
            let page = own_documents::page(&snapshot, entity(name), shop.id, after, Instant::from_millis(0), 3).await;
            let page = page.expect("a page");
            let rows: Vec<_> = page.rows.into_iter().map(|row| RawValue::from_string(row).expect("JSON")).collect();
            let mut tx = shop.begin().await;
            own_documents::take(&mut tx, entity(name), shop.id, &rows, at(0)).await.expect("a page that is taken");
            tx.commit().await.expect("a commit");
            let Some(last) = page.last_id.filter(|_| page.has_more) else { break };
            after = last;
        }
    }
}

/// Rice that came in at a cost, and of which headquarters does not know yet.
async fn receive_rice(shop: &Shop, chain: &Chain) {
    let receipt = adjustment(&chain.first, id("rice"), chain.rice, "received", 4, Some(700));
    let mut tx = shop.begin().await;
    let movement = Movement {
        kind: Kind::Adjustment,
        product_id: chain.rice,
        change: Qty::pieces(4),
        source_id: id("rice"),
        line_id: id("rice"),
        business_date: "2026-11-20".to_owned(),
        at: at(0),
        received: true,
        unit_cost: Some(Money(700)),
        tracked: None,
        average_after: None,
    };
    stock::apply(&mut tx, shop.id, vec![movement], at(0)).await.expect("a movement");
    let entry = outbox::Entry {
        entity_type: "inventory_adjustments",
        entity_id: id("rice"),
        action: "create",
        data: &receipt["data"],
        created_at: at(0),
        depends_on: None,
    };
    outbox::enqueue(&tx, &entry, at(0)).await.expect("an entry");
    tx.commit().await.expect("a commit");
}

#[tokio::test]
async fn a_store_that_lost_its_database_gets_the_stock_and_the_average_costs_that_it_had() {
    for hq in both().await {
        let chain = Chain::found(&hq).await;
        let (envelopes, wanted) = history(&chain, "day", "node", DAY);
        push(&hq, &chain.first, &envelopes).await;
        let mut rice = adjustment(&chain.first, id("older rice"), chain.rice, "received", 2, Some(500));
        rice["data"]["averageCostAfter"] = json!(500);
        push(&hq, &chain.first, &[rice, sold(&chain, "untracked", false)]).await;
        let shop = Shop::open(chain.first.store_id).await;
        shop.pull_everything(&hq, 100).await;
        // What it sells and gets before anything is back.
        receive_rice(&shop, &chain).await;
        give_back(&hq, &shop).await;
        let tea = shop.stock(chain.tea).await;
        assert_eq!(
            (tea.quantity, tea.average_cost.map(|cost| cost.0)),
            wanted,
            "of a sale of what was not counted nothing moved"
        );
        let rice = shop.stock(chain.rice).await;
        assert_eq!(
            (rice.quantity, rice.average_cost),
            (Qty::pieces(6), Some(Cost(Money(700)))),
            "its own newest figure"
        );
        give_back(&hq, &shop).await;
        let tea = shop.stock(chain.tea).await;
        assert_eq!((tea.quantity, tea.average_cost.map(|cost| cost.0)), wanted, "however often it comes");
    }
}
