//! Sales on account: up to the limit of the customer, and no value is taken without a record of it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value as Json, json};
use tillkeep_model::Money;
use tillkeep_model::wire::MAX_ATTEMPTS;
use tillkeep_storage::entity::{audit_log, customer, outbox as outbox_entry, sale, tender};
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_storage::{accounts, outbox};
use tillkeep_store::headquarters::{Reply, Request, Transport};
use tillkeep_store::sync::{Cycle, Sender};

use crate::kit::{Person, Shop, cart, id, line, people, rows};

const BEYOND: &str = "pos.discount.override_max";

/// A shop with an open drawer, a cashier at it, and a customer with a limit of 10.00.
pub async fn scene() -> (Shop, Person) {
    let shop = Shop::open().await;
    shop.selling().await;
    let cashier = shop.sign_in("cashier").await;
    shop.insert::<customer::Entity>([customer::Model { credit_limit: Money(1000), ..rows::customer("HQ-000010") }])
        .await;
    (shop, cashier)
}

/// `pieces` of bread at 2.50 for that customer, on account.
pub fn bread(pieces: i64) -> Json {
    let mut sale = cart(json!([line("BREAD", pieces)]), json!([{"tenderId": id("ACCOUNT")}]));
    sale["customerId"] = json!(id("HQ-000010"));
    sale
}

pub async fn used(shop: &Shop) -> i64 {
    let account = accounts::at_store(shop.store.test_db().reader(), id("HQ-000010")).await.expect("a read");
    account.expect("the customer").used.0
}

#[tokio::test]
async fn no_tender_without_a_record_of_its_values_pays_for_a_sale_whatever_was_pulled() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    shop.insert::<tender::Entity>([rows::tender("GIFT", "gift_card"), rows::tender("CREDIT", "store_credit")]).await;
    for code in ["GIFT", "CREDIT"] {
        let request = cart(json!([line("TEA", 1)]), json!([{"tenderId": id(code), "reference": "4711"}]));
        for path in ["/pos/sales", "/pos/quote"] {
            let refusal = person.post(path, request.clone()).await.refused(422, "tender_rule");
            let text = refusal["error"].as_str().expect("a text");
            assert!(text.contains("choose another tender") && text.contains(code), "{text}");
            assert_eq!(refusal["details"][0]["field"], "payments[0]");
        }
    }
    assert_eq!(shop.count::<sale::Entity>().await, 0);
    let offered = person.get("/pos/bootstrap").await.ok(200)["tenders"].clone();
    let kinds: Vec<&Json> = offered.as_array().expect("tenders").iter().map(|tender| &tender["kind"]).collect();
    assert!(!kinds.contains(&&json!("gift_card")) && !kinds.contains(&&json!("store_credit")), "{kinds:?}");
}

#[tokio::test]
async fn a_sale_on_account_has_a_customer_and_stays_within_the_limit() {
    let (shop, cashier) = scene().await;
    let mut flowers = line("FLOWERS", 1);
    flowers["openPrice"] = json!(999_000);
    let mut much = cart(json!([flowers]), json!([{"tenderId": id("ACCOUNT")}]));
    much["customerId"] = json!(id("HQ-000010"));
    let reply = cashier.post("/pos/sales", much.clone()).await;
    assert_eq!(
        (&reply.body["required"], &reply.body["approvable"], &reply.body["available"]),
        (&json!([BEYOND]), &json!(true), &json!(1000)),
        "{}",
        reply.body
    );
    reply.refused_at(403, "credit_limit_exceeded", "payments[0].tenderedAmount");
    assert_eq!(cashier.post("/pos/quote", much).await.ok(200)["requiredPermissions"], json!([BEYOND]));
    assert_eq!((shop.count::<sale::Entity>().await, used(&shop).await), (0, 0));

    let mut anonymous = bread(1);
    anonymous["customerId"] = Json::Null;
    cashier.post("/pos/sales", anonymous.clone()).await.refused(422, "tender_rule");
    // Whatever headquarters has set of the tender.
    shop.insert::<tender::Entity>([rows::tender("ACCOUNT2", "on_account")]).await;
    anonymous["payments"] = json!([{"tenderId": id("ACCOUNT2")}]);
    cashier.post("/pos/sales", anonymous).await.refused(422, "tender_rule");

    assert_eq!(cashier.post("/pos/quote", bread(4)).await.ok(200)["requiredPermissions"], json!([]));
    let last = bread(3);
    let sold = cashier.post("/pos/sales", last.clone()).await.ok(201);
    assert_eq!(cashier.post("/pos/sales", last).await.ok(200), sold, "sent again it is charged once");
    assert_eq!(used(&shop).await, 750);
    let refusal = cashier.post("/pos/sales", bread(2)).await.refused(403, "credit_limit_exceeded");
    assert_eq!(refusal["available"], 250);
    let mut parts = bread(2);
    parts["payments"] = json!([{"tenderId": id("ACCOUNT"), "tenderedAmount": 250}, {"tenderId": id("CASH")}]);
    cashier.post("/pos/sales", parts).await.ok(201);
    assert_eq!(used(&shop).await, 1000);
    cashier.post("/pos/sales", bread(1)).await.refused(403, "credit_limit_exceeded");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_tills_at_once_do_not_pass_a_limit_together() {
    let (shop, cashier) = scene().await;
    let mut sent = tokio::task::JoinSet::new();
    for _ in 0..15 {
        let cashier = cashier.clone();
        sent.spawn(async move { cashier.post("/pos/sales", bread(1)).await.status });
    }
    let mut by_status: BTreeMap<u16, usize> = BTreeMap::new();
    while let Some(status) = sent.join_next().await {
        *by_status.entry(status.expect("an answer")).or_default() += 1;
    }
    assert_eq!(by_status, BTreeMap::from([(201, 4), (403, 11)]));
    assert_eq!(used(&shop).await, 1000);
}

#[tokio::test]
async fn beyond_the_limit_a_manager_approves_and_the_audit_log_says_who() {
    let (shop, cashier) = scene().await;
    let request = bread(5);
    let mut asked = request.clone();
    asked.as_object_mut().expect("an object").remove("payments");
    let hash = cashier.post("/pos/quote", asked).await.ok(200)["cartHash"].clone();
    let (manager, pin) = people::person(&shop, "store_manager").await;
    let approved = async |context: Json| {
        let body = json!({"permission": BEYOND, "pin": pin, "reason": "pays on Monday", "context": context});
        cashier.post("/pos/approvals", body).await.ok(201)["token"].clone()
    };
    let of_the_price = approved(json!({"cartHash": hash})).await;
    let of_less = approved(json!({"cartHash": hash, "onAccountAmount": 1249})).await;
    let token = approved(json!({"cartHash": hash, "onAccountAmount": 1250})).await;
    let mut with_others = request.clone();
    with_others["approvals"] = json!([of_the_price, of_less]);
    let refused = cashier.post("/pos/sales", with_others).await;
    assert_eq!(refused.body["onAccountAmount"], 1250, "{}", refused.body);
    refused.refused(403, "credit_limit_exceeded");
    let with = |mut request: Json| {
        request["approvals"] = json!([token]);
        request
    };
    cashier.post("/pos/sales", with(bread(6))).await.refused(403, "credit_limit_exceeded");
    let sold = cashier.post("/pos/sales", with(request)).await.ok(201);
    assert_eq!(
        (&sold["approvals"][0]["permission"], sold["approvals"].as_array().map(Vec::len)),
        (&json!(BEYOND), Some(1))
    );
    cashier.post("/pos/sales", with(bread(5))).await.refused(403, "credit_limit_exceeded");
    // No customer is paid for owing more, whatever the tender says.
    let generous = tender::Model { allows_change: true, ..rows::tender("ACCOUNT2", "on_account") };
    shop.insert::<tender::Entity>([generous]).await;
    let mut too_much = bread(1);
    too_much["payments"] = json!([{"tenderId": id("ACCOUNT2"), "tenderedAmount": 100_000}]);
    shop.sign_in("administrator").await.post("/pos/sales", too_much).await.refused(422, "tender_rule");
    // Who holds the code needs no approver.
    shop.sign_in("administrator").await.post("/pos/sales", bread(1)).await.ok(201);
    assert_eq!(used(&shop).await, 1500);
    let rows = audit_log::Entity::find().all(shop.store.test_db().reader()).await.expect("the audit log");
    let noted: Vec<_> =
        rows.iter().filter(|row| row.action == "sale.credit_override").map(|row| row.approver_id).collect();
    assert_eq!(noted, [Some(manager), None]);
}

/// A headquarters that raises the balance of the one customer with each push, and may lose its answer.
#[derive(Default)]
pub struct Ledger {
    balance: AtomicI64,
    version: AtomicI64,
    loses: AtomicBool,
    /// What it says to a claim: a status and a body. Without that it is of an older release.
    pub claims: Mutex<Option<(u16, Json)>>,
    /// The claims that it was asked for and those that were given up, by their paths.
    pub claimed: Mutex<Vec<String>>,
    /// What it has settled.
    settled: Mutex<Json>,
}

#[async_trait::async_trait]
impl Transport for Ledger {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        let version = self.version.load(Ordering::SeqCst);
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let body = match path {
            "/handshake" => json!({
                "epoch": "e", "ticket": "t", "ticketKnown": true, "serverVersion": "", "versions": {},
                "clock": "2026-11-20T14:00:00.000Z",
                "acknowledged": self.settled.lock().expect("not poisoned").as_array().cloned().unwrap_or_default(),
            }),
            "/versions" => json!({"epoch": "e", "versions": {"customers": version}}),
            "/pull" => {
                let since = query.split('&').find_map(|pair| pair.strip_prefix("since_version="));
                let since: i64 = since.and_then(|since| since.parse().ok()).expect("a cursor");
                let mut row = json!(customer::Model {
                    credit_limit: Money(1000),
                    account_balance: Money(self.balance.load(Ordering::SeqCst)),
                    ..rows::customer("HQ-000010")
                });
                row["syncVersion"] = json!(version);
                let rows = if version > since { vec![row] } else { Vec::new() };
                json!({
                    "entity_type": "customers", "rows": rows, "since_version": since, "latest_version": version,
                    "has_more": false,
                })
            }
            "/push" => {
                let sent: Json = serde_json::from_slice(&request.json.unwrap_or_default()).unwrap_or_default();
                let sent = sent["envelopes"].as_array().cloned().unwrap_or_default();
                for sent in sent.iter().filter(|sent| sent["entity_type"] == "sales") {
                    // Each of the two once, however often it comes.
                    let more = match (sent["action"].as_str(), self.balance.load(Ordering::SeqCst)) {
                        (Some("create"), 0) => 500,
                        (Some("void"), 500) => -500,
                        _ => continue,
                    };
                    self.balance.fetch_add(more, Ordering::SeqCst);
                    self.version.fetch_add(1, Ordering::SeqCst);
                }
                if self.loses.load(Ordering::SeqCst) {
                    return Err("the answer is lost".to_owned());
                }
                let taken = |sent: &Json| json!({"entity_type": sent["entity_type"], "entity_id": sent["entity_id"], "status": "ok"});
                json!({"results": sent.iter().map(taken).collect::<Vec<_>>()})
            }
            claim if claim.contains("/claims") => {
                self.claimed.lock().expect("not poisoned").push(claim.to_owned());
                let answer = self.claims.lock().expect("not poisoned").clone();
                let (status, body) = answer.unwrap_or((404, json!({"success": false, "code": "not_found"})));
                return Ok(Reply { status, from_hq: true, retry_after: None, body: body.to_string().into() });
            }
            other => return Err(format!("no test asks for {other}")),
        };
        Ok(Reply { status: 200, from_hq: true, retry_after: None, body: body.to_string().into() })
    }
}

/// A shop at such a headquarters, with a sale of 5.00 on the account.
pub async fn ledger(loses: bool) -> (Shop, Arc<Ledger>) {
    let hq = Arc::new(Ledger { loses: loses.into(), ..Ledger::default() });
    let shop = Shop::with_line(hq.clone()).await;
    shop.insert::<customer::Entity>([customer::Model { credit_limit: Money(1000), ..rows::customer("HQ-000010") }])
        .await;
    shop.selling().await.post("/pos/sales", bread(2)).await.ok(201);
    assert_eq!(used(&shop).await, 500);
    (shop, hq)
}

#[tokio::test]
async fn a_sale_that_was_sent_counts_until_the_balance_that_has_it_is_here_and_then_once() {
    let (shop, hq) = ledger(false).await;
    Sender::default().step(&shop.store).await;
    assert!(shop.outbox().await.is_empty(), "headquarters has it");
    assert_eq!(used(&shop).await, 500, "its balance has not come yet");
    Cycle::default().step(&shop.store).await;
    assert_eq!((hq.balance.load(Ordering::SeqCst), used(&shop).await), (500, 500));
}

#[tokio::test]
async fn an_answer_that_was_lost_counts_a_sale_twice_for_a_moment_and_not_for_good() {
    let (shop, hq) = ledger(true).await;
    let (mut sender, mut cycle) = (Sender::default(), Cycle::default());
    sender.step(&shop.store).await;
    cycle.step(&shop.store).await;
    assert_eq!(used(&shop).await, 1000, "more than there is, and never less");
    hq.loses.store(false, Ordering::SeqCst);
    sender.step(&shop.store).await;
    cycle.step(&shop.store).await;
    assert_eq!(used(&shop).await, 500, "though no customer has moved since");
}

#[tokio::test]
async fn a_resolved_sale_is_marked_at_its_store_and_stays_on_the_account() {
    for charged in [false, true] {
        let (shop, hq) = ledger(false).await;
        let of_sale = |entry: &outbox_entry::Model| entry.entity_type == "sales";
        let entry = shop.outbox().await.into_iter().find(of_sale).expect("the sale");
        let tx = shop.store.test_db().begin().await.expect("a transaction");
        for attempts in 0..MAX_ATTEMPTS {
            let entry = outbox_entry::Model { attempts, ..entry.clone() };
            outbox::refuse(&tx, &entry, "refused", shop.clock.now()).await.expect("a refusal");
        }
        tx.commit().await.expect("a commit");
        let mut settlement = json!({"seq": entry.seq, "outcome": "resolved", "nodeEpoch": entry.node_epoch, "entityId": entry.entity_id});
        if charged {
            // What headquarters of this release says beyond; it has put the sale on the account.
            (settlement["atHeadquarters"], settlement["charged"]) = (json!(false), json!(true));
            hq.balance.store(500, Ordering::SeqCst);
            hq.version.store(1, Ordering::SeqCst);
        }
        *hq.settled.lock().expect("not poisoned") = json!([settlement]);
        let (mut cycle, flags) = (Cycle::default(), async || {
            let sales = sale::Entity::find().all(shop.store.test_db().reader()).await.expect("the sales");
            sales.into_iter().find(|sale| sale.id == entry.entity_id).expect("the sale").flags.0
        });
        for _ in 0..3 {
            cycle.step(&shop.store).await;
            assert_eq!((used(&shop).await, flags().await), (500, json!(["not_at_headquarters"])), "{charged}");
        }
        assert!(!shop.outbox().await.iter().any(of_sale), "it is not tried again");
        // A later envelope of it was taken.
        hq.settled.lock().expect("not poisoned").take();
        let tx = shop.store.test_db().begin().await.expect("a transaction");
        outbox::applied(&tx, &[&entry]).await.expect("a change");
        tx.commit().await.expect("a commit");
        hq.balance.store(500, Ordering::SeqCst);
        hq.version.store(2, Ordering::SeqCst);
        cycle.step(&shop.store).await;
        assert_eq!((used(&shop).await, flags().await), (500, json!([])), "{charged}");
    }
}
