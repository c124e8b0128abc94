//! What was given back of sales, at headquarters: it is what the refunds say, whichever document comes first and from whichever
//! store. `docs/sync.md`, rule U17.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use tillkeep_model::wire::Applied;
use tillkeep_model::{Instant, Money, Qty, ids};
use tillkeep_storage::entity::sale::OVER_REFUNDED;
use tillkeep_storage::entity::{sale, sale_item};
use tillkeep_storage::envelope::Sender;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use tillkeep_storage::verify::{self, Options, Source};
use tillkeep_storage::{Side, own_documents, push as pushing};
use tokio::sync::Barrier;
use uuid::Uuid;

use crate::kit::chain::{Chain, id};
use crate::kit::envelopes::{create_sale, envelope, push, refunds, take};
use crate::kit::{self, Hq, at, entity};

/// State, amount and quantities of the lines of a sale, and whether it is flagged.
async fn figures(hq: &Hq, sale: Uuid) -> (String, i64, Vec<i64>, bool) {
    let row = hq.row::<sale::Entity>(sale).await.expect("the sale");
    let lines = sale_item::Entity::find().filter(sale_item::Column::SaleId.eq(sale));
    let lines = lines.order_by_asc(sale_item::Column::LineNo).all(hq.db.reader()).await.expect("the lines");
    let over = row.flags.0.as_array().expect("flags").contains(&json!(OVER_REFUNDED));
    (row.status, row.refunded_amount.0, lines.iter().map(|line| line.refunded_quantity.0 / 1000).collect(), over)
}

fn said(status: &str, amount: i64, lines: &[i64], over: bool) -> (String, i64, Vec<i64>, bool) {
    (status.to_owned(), amount, lines.to_vec(), over)
}

/// The checker finds nothing in sales and their lines.
async fn sound(hq: &Hq) {
    hq.verify().await;
    let source = Source::new(hq.db.reader(), Side::Hq).await.expect("a source");
    let findings = verify::run(Some(&source), &[], &Options::default()).await.expect("a verdict");
    let of_sales = |table: &str| ["sales", "sale_items"].contains(&table);
    let found: Vec<_> =
        findings.iter().filter(|finding| finding.invariant == "I5" && of_sales(&finding.entity)).collect();
    assert!(found.is_empty(), "{found:#?}");
}

async fn warning(hq: &Hq, document: Uuid) -> Option<String> {
    hq.log().await.into_iter().rfind(|row| row.entity_id == document.to_string()).and_then(|row| row.warning)
}

/// Every order of `count` things.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for next in 0..count {
        let longer = |order: &Vec<usize>| {
            (0..=order.len())
                .map(|place| {
                    let mut longer = order.clone();
                    longer.insert(place, next);
                    longer
                })
                .collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

fn voided(create: &Json) -> Json {
    let mut void = create.clone();
    void["action"] = json!("void");
    void["timestamp"] = json!(at(90));
    void["data"]["status"] = json!("voided");
    void["data"]["salePayments"][0]["status"] = json!("voided");
    void
}

/// What the seller says after it gave two pieces back: absolute figures, as a headquarters before this one took them.
fn of_the_seller(create: &Json) -> Json {
    let mut update = create.clone();
    update["action"] = json!("update");
    update["timestamp"] = json!(at(30));
    update["data"]["status"] = json!("partially_refunded");
    update["data"]["refundedAmount"] = json!(3998);
    update["data"]["saleItems"][0]["refundedQuantity"] = json!(2);
    update
}

#[tokio::test]
async fn what_was_given_back_is_what_the_refunds_say_in_any_order_of_the_sale_its_update_and_two_refunds() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        for (number, order) in orders(4).into_iter().enumerate() {
            let name = |what: &str| id(&format!("{what} {number}"));
            let create = create_sale(&chain.first, name("sale"), &[(chain.tea, 3), (chain.rice, 1)]);
            let sent = [
                (&chain.first, create.clone()),
                (&chain.first, of_the_seller(&create)),
                (&chain.first, refunds(&chain.first, name("own"), &create, &[(0, 2)])),
                (&chain.second, refunds(&chain.second, name("elsewhere"), &create, &[(0, 1)])),
            ];
            for place in &order {
                take(&hq, sent[*place].0, &sent[*place].1).await;
            }
            let partly = said("partially_refunded", 3 * 1999, &[3, 0], false);
            assert_eq!(figures(&hq, name("sale")).await, partly, "{order:?}");
            take(&hq, &chain.second, &refunds(&chain.second, name("rest"), &create, &[(1, 1)])).await;
            assert_eq!(figures(&hq, name("sale")).await, said("refunded", 4 * 1999, &[3, 1], false), "{order:?}");
        }
        sound(&hq).await;
    }
}

#[tokio::test]
async fn a_void_of_what_another_store_gave_back_is_taken_and_flagged_in_any_order() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        for (number, order) in orders(3).into_iter().enumerate() {
            let name = |what: &str| id(&format!("{what} {number}"));
            let create = create_sale(&chain.first, name("sale"), &[(chain.tea, 2)]);
            let back = refunds(&chain.second, name("back"), &create, &[(0, 2)]);
            let sent = [(&chain.first, create.clone()), (&chain.first, voided(&create)), (&chain.second, back)];
            for place in &order {
                take(&hq, sent[*place].0, &sent[*place].1).await;
            }
            assert_eq!(figures(&hq, name("sale")).await, said("voided", 2 * 1999, &[2], true), "{order:?}");
        }
        sound(&hq).await;
    }
}

#[tokio::test]
async fn what_two_stores_gave_back_without_a_line_is_taken_flagged_and_warned_of_until_one_of_them_takes_it_back() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let create = create_sale(&chain.first, id("sale"), &[(chain.tea, 2)]);
        take(&hq, &chain.first, &create).await;
        take(&hq, &chain.first, &refunds(&chain.first, id("own"), &create, &[(0, 2)])).await;
        assert_eq!(figures(&hq, id("sale")).await, said("refunded", 2 * 1999, &[2], false));
        assert_eq!(warning(&hq, id("own")).await, None);
        let again = refunds(&chain.second, id("again"), &create, &[(0, 1)]);
        assert_eq!(take(&hq, &chain.second, &again).await, Applied::Inserted);
        assert_eq!(figures(&hq, id("sale")).await, said("refunded", 3 * 1999, &[3], true));
        assert_eq!(warning(&hq, id("again")).await.as_deref(), Some(OVER_REFUNDED));
        sound(&hq).await;
        // An update of the sale keeps the flag, and says it.
        let mut noted = of_the_seller(&create);
        noted["data"]["voidReason"] = json!("a note");
        take(&hq, &chain.first, &noted).await;
        assert_eq!(figures(&hq, id("sale")).await, said("refunded", 3 * 1999, &[3], true));
        assert_eq!(warning(&hq, id("sale")).await.as_deref(), Some(OVER_REFUNDED));
        take(&hq, &chain.second, &voided(&again)).await;
        assert_eq!(figures(&hq, id("sale")).await, said("refunded", 2 * 1999, &[2], false));
        sound(&hq).await;
    }
}

#[tokio::test]
async fn a_store_that_lost_its_database_gets_back_what_was_given_back_elsewhere_and_the_flag_that_goes_with_it() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let create = create_sale(&chain.first, id("sale"), &[(chain.tea, 1)]);
        take(&hq, &chain.first, &create).await;
        take(&hq, &chain.second, &refunds(&chain.second, id("one"), &create, &[(0, 1)])).await;
        take(&hq, &chain.second, &refunds(&chain.second, id("two"), &create, &[(0, 1)])).await;
        let snapshot = hq.db.snapshot().await.expect("a snapshot");
        let since = Instant::from_millis(0);
        let page = own_documents::page(&snapshot, entity("sales"), chain.first.store_id, Uuid::nil(), since, 100).await;
        let rows = page.expect("a page").rows;
        assert_eq!(rows.len(), 1);
        let back = entity("sales").table.decode(&rows[0]).expect("a sale");
        assert_eq!(back.integer("refunded_amount"), Some(2 * 1999));
        assert_eq!(back.text("flags"), Some(json!([OVER_REFUNDED]).to_string()));
        assert_eq!(kit::parse(&rows[0])["saleItems"][0]["refundedQuantity"], json!(2));
    }
}

#[tokio::test]
async fn refunds_follow_a_sale_that_is_kept_under_another_id_and_leave_the_other_store_s_alone() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let used = id("used");
        let (first, second) = (&chain.first, &chain.second);
        take(&hq, second, &create_sale(second, used, &[(chain.tea, 5)])).await;
        let theirs = figures(&hq, used).await;
        let mine = create_sale(first, used, &[(chain.tea, 3)]);
        // One before the sale that it means, when the id is known of the other store's alone; and one after it.
        take(&hq, first, &refunds(first, id("before"), &mine, &[(0, 1)])).await;
        take(&hq, first, &mine).await;
        let kept = ids::elsewhere(first.store_id, used);
        assert_eq!(figures(&hq, kept).await, said("partially_refunded", 1999, &[1], false));
        assert_eq!(figures(&hq, used).await, theirs);
        take(&hq, first, &refunds(first, id("after"), &mine, &[(0, 2)])).await;
        assert_eq!(figures(&hq, kept).await, said("refunded", 3 * 1999, &[3], false));
        assert_eq!(figures(&hq, used).await, theirs);
        sound(&hq).await;
    }
}

#[tokio::test]
async fn a_refund_that_names_no_line_gives_money_back_and_nothing_of_a_line() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let create = create_sale(&chain.first, id("sale"), &[(chain.tea, 1)]);
        take(&hq, &chain.first, &create).await;
        let mut back = refunds(&chain.second, id("back"), &create, &[(0, 1)]);
        back["data"]["saleItems"][0]["originalSaleItemId"] = json!(null);
        take(&hq, &chain.second, &back).await;
        assert_eq!(figures(&hq, id("sale")).await, said("partially_refunded", 1999, &[0], false));
        // One that names no sale concerns none.
        back["entity_id"] = json!(id("unlinked"));
        back["data"]["id"] = json!(id("unlinked"));
        back["data"]["originalSaleId"] = json!(null);
        back["data"]["saleItems"][0]["id"] = json!(id("a line"));
        back["data"]["salePayments"][0]["id"] = json!(id("a payment"));
        take(&hq, &chain.second, &back).await;
        assert_eq!(figures(&hq, id("sale")).await, said("partially_refunded", 1999, &[0], false));
        sound(&hq).await;
    }
}

/// Pushes `envelope` as soon as everybody is there.
async fn race(hq: Arc<Hq>, sender: Sender, start: Arc<Barrier>, envelope: Json) {
    let raw = envelope.to_string();
    start.wait().await;
    let pushed = pushing::push(&hq.db, &sender, &[raw.as_str()], at(100)).await.expect("an answer to the push");
    assert_eq!(pushed.refused, 0, "{:?}", pushed.results);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn refunds_that_come_at_once_with_each_other_and_with_their_sale_all_count() {
    for hq in kit::both().await {
        let hq = Arc::new(hq);
        let chain = Chain::found(&hq).await;
        for round in 0..12 {
            let name = |what: &str| id(&format!("{what} {round}"));
            let create = create_sale(&chain.first, name("sale"), &[(chain.tea, 8)]);
            let mut sent: Vec<(Sender, Json)> = Vec::new();
            for number in 0..6 {
                let sender = if number % 2 == 0 { &chain.first } else { &chain.second };
                let back = refunds(sender, name(&format!("back {number}")), &create, &[(0, 1)]);
                sent.push((sender.clone(), back));
            }
            if round % 2 == 0 {
                take(&hq, &chain.first, &create).await;
            } else {
                sent.push((chain.first.clone(), create));
            }
            let start = Arc::new(Barrier::new(sent.len()));
            let pushes: Vec<_> = sent
                .into_iter()
                .map(|(sender, envelope)| tokio::spawn(race(hq.clone(), sender, start.clone(), envelope)))
                .collect();
            for push in pushes {
                push.await.expect("a push");
            }
            let expected = said("partially_refunded", 6 * 1999, &[6], false);
            assert_eq!(figures(&hq, name("sale")).await, expected, "round {round}");
        }
        sound(&hq).await;
    }
}

#[tokio::test]
async fn a_state_that_only_a_newer_program_knows_stays() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let mut create = create_sale(&chain.first, id("sale"), &[(chain.tea, 2)]);
        create["data"]["status"] = json!("archived");
        take(&hq, &chain.first, &create).await;
        take(&hq, &chain.second, &refunds(&chain.second, id("back"), &create, &[(0, 1)])).await;
        assert_eq!(figures(&hq, id("sale")).await, said("archived", 1999, &[1], false));
        let row = hq.row::<sale::Entity>(id("back")).await.expect("the refund");
        assert_eq!((row.total_amount, row.original_sale_id), (Money(-1999), Some(id("sale"))));
    }
}

#[tokio::test]
async fn a_batch_with_a_sale_and_its_refunds_comes_to_the_same() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let create = create_sale(&chain.first, id("sale"), &[(chain.tea, 2)]);
        let back = |name: &str| refunds(&chain.first, id(name), &create, &[(0, 1)]);
        let drawer = json!({"id": id("drawer"), "registerCode": "01", "status": "open", "createdAt": at(0)});
        let drawer = envelope(&chain.first, "register_sessions", id("drawer"), "create", &drawer, at(0));
        let pushed = push(&hq, &chain.first, &[back("one"), create.clone(), drawer, back("two")]).await;
        assert_eq!(pushed.refused, 0, "{:?}", pushed.results);
        assert_eq!(figures(&hq, id("sale")).await, said("refunded", 2 * 1999, &[2], false));
        let stock = hq.stock(chain.first.store_id, chain.tea).await.expect("the stock");
        assert_eq!(stock.quantity, Qty::ZERO);
        sound(&hq).await;
    }
}

#[tokio::test]
async fn what_the_seller_says_of_refunds_is_neither_flagged_nor_counted_as_left_aside() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let create = create_sale(&chain.first, id("sale"), &[(chain.tea, 3)]);
        take(&hq, &chain.first, &create).await;
        for (seconds, changed) in [(30, None), (40, Some(json!(["status", "refundedAmount", "saleItems"])))] {
            let mut update = of_the_seller(&create);
            update["timestamp"] = json!(at(seconds));
            if let Some(changed) = changed {
                update["changed"] = changed;
            }
            let pushed = push(&hq, &chain.first, &[update]).await;
            assert_eq!((pushed.refused, pushed.ignored.get("sales")), (0, None));
            assert_eq!(pushed.results[0].applied, Some(Applied::Duplicate), "headquarters has all that counts");
        }
        let row = hq.row::<sale::Entity>(id("sale")).await.expect("the sale");
        assert_eq!((row.flags.0, row.status.as_str()), (json!([]), "completed"));
        // Nor of a sale that is new here.
        take(&hq, &chain.first, &of_the_seller(&create_sale(&chain.first, id("new"), &[(chain.tea, 3)]))).await;
        assert_eq!(figures(&hq, id("new")).await, said("completed", 0, &[0], false));
        let row = hq.row::<sale::Entity>(id("new")).await.expect("the sale");
        assert_eq!(row.flags.0, json!([]));
    }
}
