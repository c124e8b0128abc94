//! Claims on what stores are about to give back: while headquarters is reachable nobody gives back more than was sold.
//! `docs/sync.md`, rule U17.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use tillkeep_model::wire::{ClaimAnswer, ClaimLine, ClaimRequest, GivenBack};
use tillkeep_model::{JsonText, Qty, ids};
use tillkeep_storage::entity::refund_claim;
use tillkeep_storage::envelope::Sender;
use tillkeep_storage::refunds::{Claimed, claims};
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_storage::{DbErr, db, push as pushing, refunds as refunds_at_hq};
use tokio::sync::Barrier;
use uuid::Uuid;

use crate::kit::chain::{Chain, id};
use crate::kit::envelopes::{create_sale, refunds, take, void_sale};
use crate::kit::{self, Hq, at};

/// The line at a place of the sale that `create` made.
fn line(create: &Json, place: usize) -> Uuid {
    create["data"]["saleItems"][place]["id"].as_str().expect("an id").parse().expect("an id")
}

fn asks(refund: Uuid, lines: &[(Uuid, i64)]) -> ClaimRequest {
    let lines = lines.iter().map(|(line, pieces)| ClaimLine { sale_item_id: *line, quantity: Qty::pieces(*pieces) });
    ClaimRequest { id: refund, lines: lines.collect() }
}

async fn try_to(hq: &Hq, store: &Sender, sale: Uuid, asked: &ClaimRequest) -> Result<Claimed, DbErr> {
    db::retry_serialization(|| async {
        let tx = hq.db.begin().await?;
        let claimed = refunds_at_hq::claim(&tx, store.store_id, sale, asked, at(0)).await?;
        tx.commit().await?;
        Ok(claimed)
    })
    .await
}

async fn claim(hq: &Hq, store: &Sender, sale: Uuid, asked: &ClaimRequest) -> Claimed {
    try_to(hq, store, sale, asked).await.expect("an answer")
}

async fn claimed(hq: &Hq, store: &Sender, sale: Uuid, asked: &ClaimRequest) -> ClaimAnswer {
    match claim(hq, store, sale, asked).await {
        Claimed::Kept(answer) => answer,
        other => panic!("{other:?}"),
    }
}

async fn over(hq: &Hq, store: &Sender, sale: Uuid, asked: &ClaimRequest) -> Vec<GivenBack> {
    match claim(hq, store, sale, asked).await {
        Claimed::Over(given) => given,
        other => panic!("{other:?}"),
    }
}

/// The ids of the claims that are open.
async fn open(hq: &Hq) -> Vec<Uuid> {
    let rows = refund_claim::Entity::find().all(hq.db.reader()).await.expect("the claims");
    let mut ids: Vec<Uuid> = rows.iter().map(|row| row.id).collect();
    ids.sort_unstable();
    ids
}

/// What was given back, in pieces, with the receipt of a document.
fn pieces(given: &[GivenBack]) -> Vec<(Uuid, Uuid, i64, bool, String)> {
    let short = |given: &GivenBack| {
        let is_document = given.receipt_number.is_some();
        (given.sale_item_id, given.refund_id, given.quantity.0 / 1000, is_document, given.store_code.clone())
    };
    given.iter().map(short).collect()
}

#[tokio::test]
async fn what_one_store_claims_another_one_does_not_get_until_it_lets_go_of_it() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let (first, second, sale) = (&chain.first, &chain.second, id("sale"));
        let create = create_sale(first, sale, &[(chain.tea, 3), (chain.rice, 1)]);
        take(&hq, first, &create).await;
        let (tea, rice) = (line(&create, 0), line(&create, 1));
        let answer = claimed(&hq, first, sale, &asks(id("one"), &[(tea, 2)])).await;
        assert_eq!((answer.known, answer.given_back), (true, vec![]));
        let left = over(&hq, second, sale, &asks(id("two"), &[(tea, 2), (rice, 1)])).await;
        assert_eq!(pieces(&left), [(tea, id("one"), 2, false, "S01".to_owned())]);
        assert_eq!(open(&hq).await, [id("one")], "nothing of what was refused is kept");
        let answer = claimed(&hq, second, sale, &asks(id("two"), &[(tea, 1), (rice, 1)])).await;
        assert_eq!(pieces(&answer.given_back), [(tea, id("one"), 2, false, "S01".to_owned())]);
        // The same once more, and another number of pieces under the same id: what was asked last counts.
        let answer = claimed(&hq, first, sale, &asks(id("one"), &[(tea, 2)])).await;
        assert_eq!(answer.given_back.len(), 2, "without what is claimed under that id: {answer:?}");
        over(&hq, first, sale, &asks(id("one"), &[(tea, 3)])).await;
        claimed(&hq, first, sale, &asks(id("one"), &[(tea, 1)])).await;
        claimed(&hq, second, sale, &asks(id("three"), &[(tea, 1)])).await;
        over(&hq, first, sale, &asks(id("four"), &[(tea, 1)])).await;
        for (store, refund) in [(second, "one"), (first, "one"), (first, "one")] {
            let tx = hq.db.begin().await.expect("a transaction");
            claims::release(&tx, store.store_id, id(refund)).await.expect("let go");
            tx.commit().await.expect("a commit");
        }
        let mut left = vec![id("two"), id("three")];
        left.sort_unstable();
        assert_eq!(open(&hq).await, left, "each store lets go of its own");
        claimed(&hq, first, sale, &asks(id("four"), &[(tea, 1)])).await;
    }
}

#[tokio::test]
async fn a_claim_goes_when_its_document_comes_and_is_not_kept_after_that() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let (first, second, sale) = (&chain.first, &chain.second, id("sale"));
        let create = create_sale(first, sale, &[(chain.tea, 2)]);
        take(&hq, first, &create).await;
        let tea = line(&create, 0);
        claimed(&hq, second, sale, &asks(id("back"), &[(tea, 1)])).await;
        // Other documents leave it where it is.
        take(&hq, first, &create_sale(first, id("other"), &[(chain.tea, 1)])).await;
        assert_eq!(open(&hq).await, [id("back")]);
        take(&hq, second, &refunds(second, id("back"), &create, &[(0, 1)])).await;
        assert_eq!(open(&hq).await, Vec::<Uuid>::new());
        let answer = claimed(&hq, second, sale, &asks(id("back"), &[(tea, 1)])).await;
        assert_eq!(pieces(&answer.given_back), [(tea, id("back"), 1, true, "S02".to_owned())]);
        assert_eq!(open(&hq).await, Vec::<Uuid>::new(), "the document is here");
        over(&hq, first, sale, &asks(id("own"), &[(tea, 2)])).await;
        claimed(&hq, first, sale, &asks(id("own"), &[(tea, 1)])).await;
    }
}

#[tokio::test]
async fn who_claims_is_told_to_which_tenders_the_refunds_gave_back() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let (first, second, sale) = (&chain.first, &chain.second, id("sale"));
        let create = create_sale(first, sale, &[(chain.tea, 2)]);
        take(&hq, first, &create).await;
        let mut back = refunds(second, id("back"), &create, &[(0, 1)]);
        // In coins of five: 20.00 are paid out for 19.99.
        back["data"]["cashRounding"] = json!(-1);
        let payment = &mut back["data"]["salePayments"][0];
        (payment["tenderKind"], payment["amount"]) = (json!("cash"), json!(-2000));
        let code = payment["tenderCode"].clone();
        take(&hq, second, &back).await;
        let answer = claimed(&hq, first, sale, &asks(id("own"), &[(line(&create, 0), 1)])).await;
        let told: Vec<(Uuid, Json, i64)> =
            answer.paid_back.iter().map(|paid| (paid.refund_id, json!(paid.tender_code), paid.amount.0)).collect();
        assert_eq!(told, [(id("back"), code, 1999)]);
    }
}

#[tokio::test]
async fn a_void_claims_all_of_the_sale_under_its_id_and_after_it_nothing_is_claimed() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let (first, second, sale) = (&chain.first, &chain.second, id("sale"));
        let create = create_sale(first, sale, &[(chain.tea, 2)]);
        let tea = line(&create, 0);
        // Before the sale is here: kept as it was asked, and headquarters says that it does not know it.
        let answer = claimed(&hq, first, sale, &asks(sale, &[(tea, 2)])).await;
        assert_eq!((answer.known, answer.given_back), (false, vec![]));
        take(&hq, first, &create).await;
        assert_eq!(open(&hq).await, [sale], "the sale is no void");
        over(&hq, second, sale, &asks(id("back"), &[(tea, 1)])).await;
        take(&hq, first, &void_sale(first, sale, &[(chain.tea, 2)])).await;
        assert_eq!(open(&hq).await, Vec::<Uuid>::new());
        let refused = claim(&hq, second, sale, &asks(id("back"), &[(tea, 1)])).await;
        assert!(matches!(refused, Claimed::Voided), "{refused:?}");
        let again = claimed(&hq, first, sale, &asks(sale, &[(tea, 2)])).await;
        assert!(again.known && open(&hq).await.is_empty(), "the void is here");
    }
}

#[tokio::test]
async fn two_stores_that_claim_under_one_id_each_have_a_claim_until_their_own_document_comes() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let (first, second, sale) = (&chain.first, &chain.second, id("sale"));
        let create = create_sale(first, sale, &[(chain.tea, 3)]);
        take(&hq, first, &create).await;
        let tea = line(&create, 0);
        claimed(&hq, first, sale, &asks(id("back"), &[(tea, 1)])).await;
        claimed(&hq, second, sale, &asks(id("back"), &[(tea, 1)])).await;
        claimed(&hq, second, sale, &asks(id("back"), &[(tea, 2)])).await;
        over(&hq, first, sale, &asks(id("back"), &[(tea, 2)])).await;
        let theirs = ids::elsewhere(second.store_id, id("back"));
        let mut both = vec![id("back"), theirs];
        both.sort_unstable();
        assert_eq!(open(&hq).await, both);
        take(&hq, second, &refunds(second, id("back"), &create, &[(0, 2)])).await;
        assert_eq!(open(&hq).await, [id("back")]);
        claimed(&hq, second, sale, &asks(id("more"), &[])).await;
        let tx = hq.db.begin().await.expect("a transaction");
        claims::release(&tx, first.store_id, id("back")).await.expect("let go");
        tx.commit().await.expect("a commit");
        assert_eq!(open(&hq).await, Vec::<Uuid>::new(), "of nothing there is no claim");
        over(&hq, first, sale, &asks(id("rest"), &[(tea, 2)])).await;
    }
}

#[tokio::test]
async fn nothing_is_claimed_of_a_refund_nor_of_a_line_that_the_sale_does_not_have() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let first = &chain.first;
        let create = create_sale(first, id("sale"), &[(chain.tea, 2)]);
        take(&hq, first, &create).await;
        let back = refunds(first, id("back"), &create, &[(0, 1)]);
        take(&hq, first, &back).await;
        let refused = claim(&hq, first, id("back"), &asks(id("more"), &[(line(&back, 0), 1)])).await;
        assert!(matches!(refused, Claimed::NotASale), "{refused:?}");
        over(&hq, first, id("sale"), &asks(id("more"), &[(line(&back, 0), 1)])).await;
        assert_eq!(open(&hq).await, Vec::<Uuid>::new());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixteen_claims_of_two_stores_at_once_never_get_more_than_was_sold() {
    for hq in kit::both().await {
        let hq = Arc::new(hq);
        let chain = Chain::found(&hq).await;
        for round in 0..5 {
            let sale = id(&format!("sale {round}"));
            let create = create_sale(&chain.first, sale, &[(chain.tea, 5)]);
            take(&hq, &chain.first, &create).await;
            let (tea, start) = (line(&create, 0), Arc::new(Barrier::new(16)));
            let tries: Vec<_> = (0..16)
                .map(|number| {
                    let sender = if number % 2 == 0 { chain.first.clone() } else { chain.second.clone() };
                    let asked = asks(id(&format!("back {round} {number}")), &[(tea, 1)]);
                    let (hq, start) = (hq.clone(), start.clone());
                    tokio::spawn(async move {
                        start.wait().await;
                        try_to(&hq, &sender, sale, &asked).await.expect("an answer")
                    })
                })
                .collect();
            let mut kept = 0;
            for answer in tries {
                match answer.await.expect("a claim") {
                    Claimed::Kept(_) => kept += 1,
                    Claimed::Over(given) => assert_eq!(given.len(), 5, "{given:?}"),
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!((kept, open(&hq).await.len()), (5, 5 * (round + 1)), "round {round}");
        }
    }
}

#[tokio::test]
async fn a_store_holds_no_more_than_so_many_claims_and_others_go_on() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let (first, second, sale) = (&chain.first, &chain.second, id("sale"));
        let create = create_sale(first, sale, &[(chain.tea, 9)]);
        take(&hq, first, &create).await;
        let row = |number: i64| refund_claim::Model {
            id: id(&format!("held {number}")),
            sale_id: id(&format!("of {number}")),
            store_id: first.store_id,
            created_at: at(0),
            lines: JsonText::new(&Vec::<ClaimLine>::new()),
        };
        hq.insert::<refund_claim::Entity>((0..claims::MOST_OPEN).map(row)).await;
        let one = asks(id("one"), &[(line(&create, 0), 1)]);
        let refused = claim(&hq, first, sale, &one).await;
        assert!(matches!(refused, Claimed::TooMany), "{refused:?}");
        claimed(&hq, second, sale, &asks(id("other"), &[(line(&create, 0), 1)])).await;
        // One that is there is asked for again as before.
        claimed(&hq, first, sale, &asks(id("held 0"), &[(line(&create, 0), 1)])).await;
        let tx = hq.db.begin().await.expect("a transaction");
        assert!(claims::drop_one(&*tx, id("held 1")).await.expect("an answer"));
        tx.commit().await.expect("a commit");
        claimed(&hq, first, sale, &one).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_claim_that_comes_beside_its_document_does_not_outlast_it() {
    for hq in kit::both().await {
        let hq = Arc::new(hq);
        let chain = Chain::found(&hq).await;
        for round in 0..20 {
            let (sale, refund) = (id(&format!("sale {round}")), id(&format!("back {round}")));
            let create = create_sale(&chain.first, sale, &[(chain.tea, 2)]);
            // Every other time the sale comes after both.
            if round % 2 == 0 {
                take(&hq, &chain.first, &create).await;
            }
            let asked = asks(refund, &[(line(&create, 0), 1)]);
            let raw = refunds(&chain.second, refund, &create, &[(0, 1)]).to_string();
            let (sender, start) = (chain.second.clone(), Arc::new(Barrier::new(2)));
            let (other, there) = (hq.clone(), start.clone());
            let push = tokio::spawn(async move {
                there.wait().await;
                let pushed = pushing::push(&other.db, &sender, &[raw.as_str()], at(100)).await.expect("an answer");
                assert_eq!(pushed.refused, 0, "{:?}", pushed.results);
            });
            start.wait().await;
            let answer = claimed(&hq, &chain.second, sale, &asked).await;
            assert_eq!(answer.known, round % 2 == 0);
            push.await.expect("a push");
            assert_eq!(open(&hq).await, Vec::<Uuid>::new(), "round {round}");
        }
    }
}

#[tokio::test]
async fn each_store_names_sales_lines_and_refunds_as_it_knows_them() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let (first, second, used) = (&chain.first, &chain.second, id("used"));
        take(&hq, second, &create_sale(second, used, &[(chain.tea, 9)])).await;
        let create = create_sale(first, used, &[(chain.tea, 3)]);
        let tea = line(&create, 0);
        // One before the sale came, which is kept under another id than its store's.
        claimed(&hq, first, used, &asks(id("early"), &[(tea, 1)])).await;
        take(&hq, first, &create).await;
        let kept = ids::elsewhere(first.store_id, used);
        let theirs = ids::elsewhere(kept, tea);
        over(&hq, second, kept, &asks(id("all"), &[(theirs, 3)])).await;
        claimed(&hq, first, used, &asks(id("own"), &[(tea, 1)])).await;
        over(&hq, first, used, &asks(id("more"), &[(tea, 3)])).await;
        // Another store has it from headquarters.
        claimed(&hq, second, kept, &asks(id("elsewhere"), &[(theirs, 1)])).await;
        over(&hq, second, kept, &asks(id("too much"), &[(theirs, 2)])).await;
        take(&hq, first, &refunds(first, id("own"), &create, &[(0, 1)])).await;
        let conn = hq.db.snapshot().await.expect("a snapshot");
        let mine = refunds_at_hq::by_id(&conn, first.store_id, used).await.expect("a read").expect("the sale");
        assert_eq!((&mine.sale["id"], &mine.sale["saleItems"][0]["id"]), (&json!(used), &json!(tea)));
        assert_eq!((mine.store_id, mine.store_code.as_str()), (first.store_id, "S01"));
        assert!(mine.given_back.iter().all(|given| given.sale_item_id == tea), "{mine:?}");
        let number = create["data"]["receiptNumber"].as_str().expect("a number");
        let there = refunds_at_hq::by_number(&conn, second.store_id, "S01", number).await.expect("a read");
        let there = there.expect("the sale");
        assert_eq!((&there.sale["id"], &there.sale["saleItems"][0]["id"]), (&json!(kept), &json!(theirs)));
        assert!(there.given_back.iter().any(|given| given.receipt_number.is_some() && given.refund_id == id("own")));
        assert_eq!(
            refunds_at_hq::by_number(&conn, second.store_id, "S02", "none").await.expect("a read").map(|_| ()),
            None
        );
    }
}
