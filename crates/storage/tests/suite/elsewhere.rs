//! Ids that another store, or another document, has used before: what came in is kept all the same. `docs/sync.md`, rule U9.

use serde_json::{Value as Json, json};
use tillkeep_model::wire::{Applied, PushStatus};
use tillkeep_model::{Instant, Qty, ids};
use tillkeep_storage::entity::{inventory_adjustment, register_session, sale, sale_item, sale_payment};
use tillkeep_storage::envelope::Sender;
use tillkeep_storage::kept_ids::ID_USED_ELSEWHERE;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use tillkeep_storage::{own_documents, registry};
use uuid::Uuid;

use crate::kit::chain::{Chain, id};
use crate::kit::envelopes::{adjustment, create_sale, envelope, push, refuse, take, void_sale};
use crate::kit::{self, Hq, at, entity};

async fn sold(hq: &Hq, id: Uuid) -> sale::Model {
    hq.row::<sale::Entity>(id).await.expect("the sale")
}

async fn level(hq: &Hq, sender: &Sender, product: Uuid) -> Qty {
    hq.stock(sender.store_id, product).await.expect("the stock").quantity
}

/// The documents that `sender` gets back.
async fn own(hq: &Hq, sender: &Sender, name: &str) -> Vec<Json> {
    let snapshot = hq.db.snapshot().await.expect("a snapshot");
    let since = Instant::from_millis(0);
    let page = own_documents::page(&snapshot, entity(name), sender.store_id, Uuid::nil(), since, 100).await;
    page.expect("a page").rows.iter().map(|row| kit::parse(row)).collect()
}

#[tokio::test]
async fn a_sale_under_an_id_that_another_store_has_used_is_kept_with_its_lines_payments_and_goods() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let used = id("used");
        take(&hq, &chain.second, &create_sale(&chain.second, used, &[(chain.tea, 1)])).await;
        let theirs = sold(&hq, used).await;
        let mine = create_sale(&chain.first, used, &[(chain.tea, 2), (chain.rice, 3)]);
        let pushed = push(&hq, &chain.first, std::slice::from_ref(&mine)).await;
        let result = &pushed.results[0];
        assert_eq!((result.status, result.applied), (PushStatus::Ok, Some(Applied::Inserted)));
        assert_eq!(result.entity_id, used.to_string(), "the store knows it by the id that it sent");
        let kept = ids::elsewhere(chain.first.store_id, used);
        let row = sold(&hq, kept).await;
        assert_eq!((row.store_id, row.flags.0), (chain.first.store_id, json!([ID_USED_ELSEWHERE])));
        let items = sale_item::Entity::find().filter(sale_item::Column::SaleId.eq(kept)).all(hq.db.reader()).await;
        assert_eq!(items.expect("the lines").len(), 2);
        let paid = sale_payment::Entity::find().filter(sale_payment::Column::SaleId.eq(kept)).all(hq.db.reader());
        assert_eq!(paid.await.expect("the payments").len(), 1);
        assert_eq!(level(&hq, &chain.first, chain.tea).await, Qty::pieces(-2));
        assert_eq!(level(&hq, &chain.first, chain.rice).await, Qty::pieces(-3));
        assert_eq!(hq.log().await.last().and_then(|row| row.warning.clone()).as_deref(), Some(ID_USED_ELSEWHERE));

        // The same again, and what comes of it later.
        assert_eq!(take(&hq, &chain.first, &mine).await, Applied::Duplicate);
        let void = void_sale(&chain.first, used, &[(chain.tea, 2), (chain.rice, 3)]);
        assert_eq!(take(&hq, &chain.first, &void).await, Applied::Updated);
        let row = sold(&hq, kept).await;
        assert_eq!((row.status.as_str(), row.flags.0), ("voided", json!([ID_USED_ELSEWHERE])));
        assert_eq!(level(&hq, &chain.first, chain.tea).await, Qty::ZERO);
        assert_eq!(level(&hq, &chain.first, chain.rice).await, Qty::ZERO);
        assert_eq!(sold(&hq, used).await, theirs, "nothing of the other store's has moved");
        assert_eq!(level(&hq, &chain.second, chain.tea).await, Qty::pieces(-1));

        // Its store gets it back as it knows it.
        let back = own(&hq, &chain.first, "sales").await;
        assert_eq!(back.len(), 1);
        assert_eq!(back[0]["id"], json!(used));
        for key in ["saleItems", "salePayments"] {
            let lines = |sale: &Json| -> Vec<(Json, Json)> {
                let lines = sale[key].as_array().expect("lines");
                lines.iter().map(|line| (line["id"].clone(), line["amount"].clone())).collect()
            };
            assert_eq!(lines(&back[0]), lines(&mine["data"]), "{key}");
            assert!(back[0][key].as_array().expect("lines").iter().all(|line| line["saleId"] == json!(used)));
        }
        assert_eq!(own(&hq, &chain.second, "sales").await[0]["id"], json!(used));
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_drawer_and_an_adjustment_under_ids_that_another_store_has_used_are_kept_and_an_order_is_refused() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        for sender in [&chain.second, &chain.first] {
            take(&hq, sender, &adjustment(sender, id("used"), chain.tea, "found", 4, None)).await;
        }
        let kept = ids::elsewhere(chain.first.store_id, id("used"));
        let row = hq.row::<inventory_adjustment::Entity>(kept).await.expect("the adjustment");
        assert_eq!((row.store_id, row.flags.0), (chain.first.store_id, json!([ID_USED_ELSEWHERE])));
        assert_eq!(level(&hq, &chain.first, chain.tea).await, Qty::pieces(4));
        assert_eq!(level(&hq, &chain.second, chain.tea).await, Qty::pieces(4));
        // What is neither money nor goods stays with whom it belongs to.
        hq.insert::<tillkeep_storage::entity::supplier::Entity>([crate::kit::chain::supplier()]).await;
        let order = |sender: &Sender| {
            let data = json!({"id": id("order"), "poNumber": format!("{}-PO-1", sender.store_code),
                              "supplierId": id("supplier"), "status": "draft", "createdAt": at(0)});
            envelope(sender, "purchase_orders", id("order"), "create", &data, at(0))
        };
        take(&hq, &chain.second, &order(&chain.second)).await;
        assert_eq!(refuse(&hq, &chain.first, &order(&chain.first)).await, "store_mismatch");
        hq.verify().await;
    }
}

fn drawer(sender: &Sender, status: &str, seconds: i64) -> Json {
    let data = json!({"id": id("drawer"), "registerCode": "01", "sessionNumber": 1, "status": status,
                      "businessDate": "2026-11-20", "createdAt": at(0), "openedAt": at(0)});
    envelope(sender, "register_sessions", id("drawer"), "update", &data, at(seconds))
}

#[tokio::test]
async fn sales_are_of_the_drawer_that_their_store_means_whichever_comes_first() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        take(&hq, &chain.second, &drawer(&chain.second, "open", 0)).await;
        let sale = |name: &str| {
            let mut sale = create_sale(&chain.first, id(name), &[(chain.tea, 1)]);
            sale["data"]["registerSessionId"] = json!(id("drawer"));
            sale
        };
        take(&hq, &chain.first, &sale("before")).await;
        assert_eq!(sold(&hq, id("before")).await.flags.0, json!(["unknown_session"]), "the drawer is another store's");
        take(&hq, &chain.first, &drawer(&chain.first, "open", 0)).await;
        take(&hq, &chain.first, &sale("after")).await;
        let kept = ids::elsewhere(chain.first.store_id, id("drawer"));
        for name in ["before", "after"] {
            let row = sold(&hq, id(name)).await;
            assert_eq!((row.register_session_id, row.flags.0), (kept, json!([])), "{name}");
        }
        take(&hq, &chain.first, &drawer(&chain.first, "closed", 9)).await;
        let theirs = hq.row::<register_session::Entity>(id("drawer")).await.expect("their drawer");
        let mine = hq.row::<register_session::Entity>(kept).await.expect("the drawer");
        assert_eq!((theirs.status.as_str(), mine.status.as_str()), ("open", "closed"));
        assert_eq!(own(&hq, &chain.first, "register_sessions").await[0]["id"], json!(id("drawer")));
        for back in own(&hq, &chain.first, "sales").await {
            assert_eq!(back["registerSessionId"], json!(id("drawer")));
        }
        hq.verify().await;
    }
}

#[tokio::test]
async fn lines_alone_under_ids_that_another_document_has_are_all_kept_and_come_back_as_they_were_sent() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        take(&hq, &chain.second, &create_sale(&chain.second, id("theirs"), &[(chain.tea, 1), (chain.rice, 1)])).await;
        let theirs = create_sale(&chain.second, id("theirs"), &[(chain.tea, 1), (chain.rice, 1)]);
        let mut mine = create_sale(&chain.first, id("mine"), &[(chain.tea, 5), (chain.rice, 6)]);
        for key in ["saleItems", "salePayments"] {
            for place in 0..mine["data"][key].as_array().expect("lines").len() {
                mine["data"][key][place]["id"] = theirs["data"][key][place]["id"].clone();
                // A sender that numbers all its lines alike.
                mine["data"][key][place]["lineNo"] = json!(1);
            }
        }
        assert_eq!(take(&hq, &chain.first, &mine).await, Applied::Inserted);
        assert_eq!(sold(&hq, id("mine")).await.flags.0, json!([ID_USED_ELSEWHERE]));
        assert_eq!(level(&hq, &chain.first, chain.tea).await, Qty::pieces(-5));
        assert_eq!(level(&hq, &chain.first, chain.rice).await, Qty::pieces(-6));
        let mut again = mine.clone();
        (again["action"], again["timestamp"]) = (json!("update"), json!(at(9)));
        assert_eq!(take(&hq, &chain.first, &again).await, Applied::Duplicate);
        let back = own(&hq, &chain.first, "sales").await.remove(0);
        for key in ["saleItems", "salePayments"] {
            let ids = |sale: &Json| -> std::collections::BTreeSet<String> {
                sale[key].as_array().expect("lines").iter().map(|line| line["id"].to_string()).collect()
            };
            assert_eq!(ids(&back), ids(&mine["data"]), "{key}");
        }
        hq.verify().await;
    }
}

#[tokio::test]
async fn two_stores_that_use_one_id_at_once_lose_nothing() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        for round in 0..20 {
            let used = id(&format!("round {round}"));
            let (one, other) = (
                [create_sale(&chain.first, used, &[(chain.tea, 1)])],
                [create_sale(&chain.second, used, &[(chain.tea, 1)])],
            );
            let (one, other) = tokio::join!(push(&hq, &chain.first, &one), push(&hq, &chain.second, &other));
            assert_eq!((one.refused, other.refused), (0, 0));
            let pieces = Qty::pieces(-1 - round);
            assert_eq!(level(&hq, &chain.first, chain.tea).await, pieces, "round {round}");
            assert_eq!(level(&hq, &chain.second, chain.tea).await, pieces, "round {round}");
        }
        let sales = sale::Entity::find().all(hq.db.reader()).await.expect("the sales");
        assert_eq!(sales.len(), 40);
        let items = sale_item::Entity::find().all(hq.db.reader()).await.expect("the lines");
        assert_eq!(items.len(), 40);
        hq.verify().await;
    }
}

#[test]
fn whatever_is_money_or_goods_is_kept_whatever_its_id() {
    use tillkeep_storage::document::{Beyond, UsedId};
    for (entity, pushed) in registry::pushed() {
        let money = pushed.beyond == Beyond::Cut;
        assert_eq!(pushed.used_id == UsedId::Another, money, "{}", entity.name);
    }
}
