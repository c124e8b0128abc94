//! Two stores give back of one sale at once. With a line headquarters keeps them apart, by what each claims before; without one what
//! came back too often is taken, and flagged with every receipt. `docs/sync.md`, rule U17.

use futures_util::future::join_all;
use serde_json::{Value, json};
use tillkeep_model::Money;
use tillkeep_storage::verify::Acknowledged;
use uuid::Uuid;

use crate::kit::{Client, Fault, Reply, TestCluster, TestStore, eventually, id};

const CLIENTS: usize = 16;
const SOLD: i64 = 10;
/// A headquarters that does not answer within two seconds is none: on a busy machine that is another test than this.
const TRIES: usize = 5;

struct Two {
    // Before the chain: the checker looks at both at the end of a store.
    seller: TestStore,
    other: TestStore,
    chain: TestCluster,
    /// Behind an open drawer in each.
    tills: [Client; 2],
    product: String,
}

/// What came of many who wanted a piece back.
#[derive(Default)]
struct Came {
    given: Vec<Value>,
    refused: usize,
    /// Of those that were given, which headquarters was not asked about.
    unchecked: usize,
}

impl Two {
    async fn new() -> Self {
        let mut chain = TestCluster::new().await;
        let product = chain.product("A1", 1000).await;
        let (seller, other) = (chain.store().await, chain.store().await);
        let tills = [seller.open_till().await, other.open_till().await];
        for (site, till) in [&seller, &other].into_iter().zip(&tills) {
            site.knows(till, &product, None).await;
        }
        Self { seller, other, chain, tills, product }
    }

    /// A sale of the first store that headquarters has.
    async fn sold(&self) -> Value {
        let sale = self.seller.sell(&self.tills[0], &self.product, SOLD).await;
        let path = format!("/sales/{}", id(&sale));
        eventually("headquarters has the sale", async || {
            self.chain.admin.get(&path).await.status.is_success().then_some(())
        })
        .await;
        sale
    }

    /// Asks for one piece of `sale` back, and once more as long as nobody can say whether it came.
    async fn give_back(&self, store: usize, sale: &Value) -> Reply {
        let (till, site) = (&self.tills[store], [&self.seller, &self.other][store]);
        let body = json!({
            "id": Uuid::now_v7(), "terminalId": site.terminal, "reason": "Too many",
            "items": [{"saleItemId": sale["saleItems"][0]["id"], "quantity": 1}],
        });
        let path = format!("/pos/sales/{}/refunds", id(sale));
        eventually("it can be said whether it came", async || {
            let reply = till.post(&path, body.clone()).await;
            (reply.status != 503).then_some(reply)
        })
        .await
    }

    /// Sixteen clients, every second one in the other store, want a piece back at once.
    async fn all_want_one(&self, sale: &Value) -> Came {
        let mut came = Came::default();
        for reply in join_all((0..CLIENTS).map(|client| self.give_back(client % 2, sale))).await {
            if reply.status == 409 {
                assert_eq!(reply.refused(409), "over_refund");
                came.refused += 1;
            } else {
                let refund = reply.data();
                came.unchecked += usize::from(refund["checkedAtHq"] != true);
                came.given.push(refund);
            }
        }
        came
    }

    async fn settled(&self, documents: &[&Value]) {
        let acknowledged = |document: &&Value| Acknowledged {
            store: document["storeId"].as_str().and_then(|id| id.parse().ok()).expect("a store"),
            sale: id(document).parse().expect("id"),
            receipt: document["receiptNumber"].as_str().expect("receipt").to_owned(),
            total: Money(document["totalAmount"].as_i64().expect("total")),
        };
        let sold: Vec<Acknowledged> = documents.iter().map(acknowledged).collect();
        self.chain.settled(&[&self.seller, &self.other], &sold).await;
    }

    /// As headquarters has it.
    async fn at_hq(&self, sale: &Value) -> Value {
        self.chain.admin.get(&format!("/sales/{}", id(sale))).await.data()
    }
}

fn receipts(refunds: &Value) -> Vec<String> {
    let mut receipts: Vec<String> = refunds
        .as_array()
        .expect("refunds")
        .iter()
        .map(|refund| refund["receiptNumber"].as_str().expect("a number").to_owned())
        .collect();
    receipts.sort();
    receipts
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_line_two_stores_never_give_back_more_of_a_line_than_was_sold() {
    let two = Two::new().await;
    for _ in 0..TRIES {
        let sale = two.sold().await;
        let came = two.all_want_one(&sale).await;
        if came.unchecked > 0 {
            continue;
        }
        assert_eq!((came.given.len(), came.refused), (10, 6), "ten were sold, and sixteen wanted one back");
        two.settled(&came.given.iter().chain([&sale]).collect::<Vec<_>>()).await;
        let there = two.at_hq(&sale).await;
        assert_eq!((&there["status"], &there["saleItems"][0]["refundedQuantity"]), (&json!("refunded"), &json!(10)));
        assert_eq!(there["refundedAmount"], sale["totalAmount"], "ten parts are the whole");
        assert_eq!(there["flags"], json!([]));
        assert_eq!(receipts(&there["refunds"]), receipts(&json!(came.given)));
        return;
    }
    panic!("headquarters never answered in time");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_line_what_came_back_too_often_is_taken_and_flagged_with_every_receipt() {
    let two = Two::new().await;
    let sale = two.sold().await;
    two.seller.proxy.set(Fault::Down);
    let came = two.all_want_one(&sale).await;
    assert_eq!((came.given.len(), came.refused), (CLIENTS, 0), "no store can know of the other one's");
    let unsure = came.given.iter().filter(|refund| refund["storeId"] == two.seller.id.as_str());
    assert!(unsure.clone().all(|refund| refund["checkedAtHq"] == false), "who has no line says so");
    assert_eq!(unsure.count(), CLIENTS / 2);
    two.seller.proxy.set(Fault::None);
    two.settled(&came.given.iter().chain([&sale]).collect::<Vec<_>>()).await;
    let there = two.at_hq(&sale).await;
    assert_eq!((&there["status"], &there["saleItems"][0]["refundedQuantity"]), (&json!("refunded"), &json!(16)));
    assert_eq!(there["flags"], json!(["over_refunded"]));
    assert_eq!(receipts(&there["refunds"]), receipts(&json!(came.given)));
    for store in 0..2 {
        // The line may just have come back.
        eventually("nothing more is given back", async || {
            let reply = two.give_back(store, &sale).await;
            (reply.status == 409).then(|| assert_eq!(reply.refused(409), "over_refund"))
        })
        .await;
    }
    two.settled(&[&sale]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_without_a_line_gives_nothing_back_of_what_another_one_sold() {
    let two = Two::new().await;
    let sale = two.sold().await;
    two.other.proxy.set(Fault::Down);
    let body = json!({
        "id": Uuid::now_v7(), "terminalId": two.other.terminal, "reason": "Too many",
        "items": [{"saleItemId": sale["saleItems"][0]["id"], "quantity": 1}],
    });
    let path = format!("/pos/sales/{}/refunds", id(&sale));
    let reply = two.tills[1].post(&path, body.clone()).await;
    assert_eq!(reply.refused(503), "hq_unreachable");
    two.other.proxy.set(Fault::None);
    let refund = eventually("there is a line again", async || {
        let reply = two.tills[1].post(&path, body.clone()).await;
        (reply.status != 503).then(|| reply.data())
    })
    .await;
    assert_eq!((&refund["checkedAtHq"], &refund["originalSaleId"]), (&json!(true), &sale["id"]));
    two.settled(&[&sale, &refund]).await;
    assert_eq!(two.at_hq(&sale).await["status"], "partially_refunded");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_is_undone_in_one_store_or_given_back_in_another_and_never_both() {
    let two = Two::new().await;
    let mut seen = 0;
    for _ in 0..2 * TRIES {
        let sale = two.sold().await;
        let void = json!({"terminalId": two.seller.terminal, "reason": "Typed twice"});
        let path = format!("/pos/sales/{}/void", id(&sale));
        let (void, refund) = tokio::join!(two.tills[0].post(&path, void), two.give_back(1, &sale));
        if void.status.is_success() && void.body["data"]["checkedAtHq"] != true {
            continue;
        }
        seen += 1;
        if void.status.is_success() {
            let code = refund.refused(409);
            assert!(["sale_voided", "over_refund"].contains(&code), "{code}");
            assert_eq!(refund.body["data"], Value::Null);
            two.settled(&[&sale]).await;
            assert_eq!(two.at_hq(&sale).await["status"], "voided");
        } else {
            assert_eq!(void.refused(409), "has_refunds");
            let refund = refund.data();
            two.settled(&[&sale, &refund]).await;
            assert_eq!(two.at_hq(&sale).await["status"], "partially_refunded");
        }
        assert_eq!(two.at_hq(&sale).await["flags"], json!([]));
    }
    assert!(seen > 0, "headquarters never answered in time");
}
