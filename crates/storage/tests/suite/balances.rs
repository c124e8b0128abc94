//! What customers owe after whatever was sold to them, voided, given back and paid: the sum of the payments on their accounts.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use tillkeep_model::Money;
use tillkeep_storage::Side;
use tillkeep_storage::entity::customer;
use tillkeep_storage::envelope::Sender;
use tillkeep_storage::verify::{self, Options, Source};

use crate::kit::chain::{Chain, id};
use crate::kit::envelopes::{create_sale, envelope, push, refunds};
use crate::kit::{self, Hq, at};

const CUSTOMERS: u64 = 7;
const SALES: u64 = 1000;
/// Envelopes of one push.
const TOGETHER: usize = 40;

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn up_to(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// What is sent, and by whom.
struct Sent {
    sender: Sender,
    envelope: Json,
}

fn customer_of(number: u64) -> String {
    format!("customer {number}")
}

/// Puts `amount` of a document on the account of a customer; the rest is paid in cash.
fn charge(document: &mut Json, customer: &str, amount: i64) {
    let data = &mut document["data"];
    data["customerId"] = json!(id(customer));
    let cash = data["salePayments"][0]["amount"].as_i64().expect("an amount") - amount;
    data["salePayments"][0]["amount"] = json!(cash);
    let payment = json!({
        "id": id(&format!("account of {}", data["id"])), "lineNo": 2, "tenderCode": "ACCT", "tenderKind": "on_account",
        "amount": amount, "status": "captured",
    });
    data["salePayments"].as_array_mut().expect("payments").push(payment);
}

fn voided(create: &Json) -> Json {
    let mut void = create.clone();
    void["action"] = json!("void");
    void["timestamp"] = json!(at(90));
    void["data"]["status"] = json!("voided");
    for payment in void["data"]["salePayments"].as_array_mut().expect("payments") {
        payment["status"] = json!("voided");
    }
    void
}

/// A customer pays what is owed, in cash.
fn settlement(sender: &Sender, name: &str, customer: &str, amount: i64) -> Json {
    let mut document = create_sale(sender, id(name), &[]);
    document["data"]["saleType"] = json!("settlement");
    charge(&mut document, customer, -amount);
    document
}

/// A thousand documents of two stores with what follows from them, and what each customer owes after all of them.
fn made(chain: &Chain) -> (Vec<Sent>, BTreeMap<String, i64>) {
    let mut dice = Dice(2026);
    let (mut sent, mut owed) = (Vec::new(), BTreeMap::<String, i64>::new());
    for number in 0..SALES {
        let sender = if dice.up_to(2) == 0 { &chain.first } else { &chain.second };
        let other = if dice.up_to(2) == 0 { &chain.first } else { &chain.second };
        let customer = customer_of(dice.up_to(CUSTOMERS));
        let mut add = |sender: &Sender, envelope: Json| sent.push(Sent { sender: sender.clone(), envelope });
        let account = owed.entry(customer.clone()).or_default();
        if dice.up_to(5) == 0 {
            let amount = 1 + i64::try_from(dice.up_to(3000)).expect("small");
            let paid = settlement(sender, &format!("settlement {number}"), &customer, amount);
            if dice.up_to(6) == 0 {
                add(sender, voided(&paid));
            } else {
                *account -= amount;
            }
            add(sender, paid);
            continue;
        }
        let mut sale = create_sale(sender, id(&format!("sale {number}")), &[(chain.tea, 2), (chain.rice, 1)]);
        let amount = i64::try_from(dice.up_to(3 * 1999 + 1)).expect("small");
        charge(&mut sale, &customer, amount);
        match dice.up_to(4) {
            0 => add(sender, voided(&sale)),
            1 | 2 => {
                *account += amount;
                for part in 0..=dice.up_to(2) {
                    let place = usize::try_from(part).expect("small");
                    let mut back = refunds(other, id(&format!("refund {number} {part}")), &sale, &[(place, 1)]);
                    let given = i64::try_from(dice.up_to(2000)).expect("small");
                    charge(&mut back, &customer, -given);
                    *account -= given;
                    add(other, back);
                }
            }
            _ => *account += amount,
        }
        add(sender, sale);
    }
    for place in (1..sent.len()).rev() {
        let with = usize::try_from(dice.up_to(u64::try_from(place).expect("small") + 1)).expect("small");
        sent.swap(place, with);
    }
    (sent, owed)
}

#[tokio::test]
async fn after_a_thousand_sales_voids_refunds_and_settlements_in_any_order_customers_owe_the_sum_of_the_payments() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let people = (0..CUSTOMERS).map(|number| customer::Model {
            id: id(&customer_of(number)),
            customer_number: format!("HQ-{number}"),
            is_active: true,
            synced: true,
            created_at: at(-60),
            updated_at: at(-60),
            ..customer::Model::default()
        });
        // One of them comes in the middle.
        let mut people: Vec<customer::Model> = people.collect();
        let late = people.pop().expect("a customer");
        hq.insert::<customer::Entity>(people).await;
        let (sent, owed) = made(&chain);
        let half = sent.len() / 2;
        push_all(&hq, &chain, &sent[..half]).await;
        let data =
            json!({"id": late.id, "customerNumber": late.customer_number, "firstName": "Late", "createdAt": at(0)});
        let came = envelope(&chain.first, "customers", late.id, "create", &data, at(0));
        assert_eq!(push(&hq, &chain.first, &[came]).await.refused, 0);
        push_all(&hq, &chain, &sent[half..]).await;
        // All of it once more, as after answers that were lost.
        push_all(&hq, &chain, &sent).await;
        for (name, owed) in owed {
            let row = hq.row::<customer::Entity>(id(&name)).await.expect("the customer");
            assert_eq!(row.account_balance, Money(owed), "{name}");
        }
        let source = Source::new(hq.db.reader(), Side::Hq).await.expect("a source");
        let findings = verify::run(Some(&source), &[], &Options::default()).await.expect("a verdict");
        let of = ["customers", "sales", "sale_items"];
        let is_of = |found: &&verify::Finding| found.invariant == "I5" && of.contains(&found.entity.as_str());
        let found: Vec<_> = findings.iter().filter(is_of).collect();
        assert!(found.is_empty(), "{found:#?}");
    }
}

async fn push_all(hq: &Hq, chain: &Chain, sent: &[Sent]) {
    for part in sent.chunks(TOGETHER) {
        for sender in [&chain.first, &chain.second] {
            let own = part.iter().filter(|sent| sent.sender.store_id == sender.store_id);
            let envelopes: Vec<Json> = own.map(|sent| sent.envelope.clone()).collect();
            let pushed = push(hq, sender, &envelopes).await;
            assert_eq!(pushed.refused, 0, "{:?}", pushed.results);
        }
    }
}
