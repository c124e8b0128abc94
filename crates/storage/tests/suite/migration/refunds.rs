//! What was given back of sales follows from the refunds that a database of an older release has. `docs/sync.md`, rule U17.

use serde_json::{Value as Json, json};
use tillkeep_storage::migration::STEPS;
use tillkeep_storage::{Side, raw};

use super::TestDatabase;
use crate::kit::fill::id_of;

/// State, amount, quantity and flags of what was given back of the sale number `n`.
async fn figures(place: &TestDatabase, n: i64) -> (String, i64, i64, Json) {
    let sql = "SELECT s.status, s.refunded_amount, i.refunded_quantity, s.flags FROM sales s \
               JOIN sale_items i ON i.sale_id = s.id WHERE s.id = $1";
    let rows = raw::query(&place.conn, sql, [id_of("sales", n).into()]).await.expect("the rows");
    let text = |name: &str| rows[0].try_get::<String>("", name).expect("a text");
    let number = |name: &str| rows[0].try_get::<i64>("", name).expect("a number");
    let flags = serde_json::from_str(&text("flags")).expect("a list");
    (text("status"), number("refunded_amount"), number("refunded_quantity"), flags)
}

#[tokio::test]
async fn what_was_given_back_before_the_upgrade_follows_from_the_refunds_that_are_there() {
    for place in TestDatabase::each().await {
        let before = STEPS.iter().position(|step| step.name == "0006_refunds").expect("the step");
        place.run(&STEPS[..before]).await.expect("the steps of the release before");
        place.fill(&STEPS[..before]).await;
        let tx = place.conn.begin_to_write().await.expect("a transaction");
        // What the seller said: of the first one nothing, of the others that some of it came back.
        for (n, status, amount, flags) in [
            (1, "completed", 0_i64, "[\"payments_mismatch\"]"),
            (4, "refunded", 700, "[]"),
            (5, "partially_refunded", 100, "[]"),
        ] {
            let sql =
                "UPDATE sales SET sale_type = 'sale', status = $2, refunded_amount = $3, flags = $4 WHERE id = $1";
            let values = [id_of("sales", n).into(), status.into(), amount.into(), flags.into()];
            raw::execute(&tx, sql, values).await.expect("an update");
            let sql = "UPDATE sale_items SET quantity = 3000, refunded_quantity = $2 WHERE sale_id = $1";
            raw::execute(&tx, sql, [id_of("sales", n).into(), amount.into()]).await.expect("an update");
        }
        // Two refunds of the first one, and one of the fifth that was voided.
        for (n, of, status, amount) in
            [(2, 1, "completed", -500_i64), (3, 1, "completed", -400), (6, 5, "voided", -100)]
        {
            let sql = "UPDATE sales SET sale_type = 'refund', status = $2, original_sale_id = $3, total_amount = $4 \
                       WHERE id = $1";
            let values = [id_of("sales", n).into(), status.into(), id_of("sales", of).into(), amount.into()];
            raw::execute(&tx, sql, values).await.expect("an update");
            let sql = "UPDATE sale_items SET quantity = -2000, original_sale_item_id = $2 WHERE sale_id = $1";
            let values = [id_of("sales", n).into(), id_of("sale_items", of).into()];
            raw::execute(&tx, sql, values).await.expect("an update");
        }
        tx.commit().await.expect("a commit");
        let said = [figures(&place, 1).await, figures(&place, 5).await];
        place.run(STEPS).await.expect("the step");
        // Of this one no refund is here.
        assert_eq!(figures(&place, 4).await, ("refunded".to_owned(), 700, 700, json!([])));
        if place.side == Side::Store {
            assert_eq!([figures(&place, 1).await, figures(&place, 5).await], said, "a store reckons nothing");
            continue;
        }
        let over = json!(["over_refunded", "payments_mismatch"]);
        assert_eq!(figures(&place, 1).await, ("refunded".to_owned(), 900, 4000, over));
        assert_eq!(figures(&place, 5).await, ("completed".to_owned(), 0, 0, json!([])));
    }
}

#[tokio::test]
async fn what_a_customer_paid_of_what_is_owed_is_no_sale_that_lacks_its_lines() {
    for place in TestDatabase::each().await {
        let before = STEPS.iter().position(|step| step.name == "0006_refunds").expect("the step");
        place.run(&STEPS[..before]).await.expect("the steps of the release before");
        place.fill(&STEPS[..before]).await;
        let settlement = |flags| ("settlement", flags);
        let said = [
            settlement(json!(["no_lines"])),
            settlement(json!(["no_lines", "closed_day"])),
            settlement(json!(["payments_mismatch", "no_lines", "closed_day"])),
            settlement(json!(["closed_day", "no_lines"])),
            ("sale", json!(["no_lines"])),
        ];
        let tx = place.conn.begin_to_write().await.expect("a transaction");
        for (n, (sale_type, flags)) in (1..).zip(&said) {
            let sql = "UPDATE sales SET sale_type = $2, flags = $3 WHERE id = $1";
            let values = [id_of("sales", n).into(), (*sale_type).into(), flags.to_string().into()];
            raw::execute(&tx, sql, values).await.expect("an update");
        }
        tx.commit().await.expect("a commit");
        place.run(STEPS).await.expect("the step");
        let mut flags = Vec::new();
        for n in 1..=5 {
            flags.push(figures(&place, n).await.3);
        }
        if place.side == Side::Store {
            assert_eq!(flags, said.map(|(_, flags)| flags), "a store flags nothing of it");
            continue;
        }
        let mismatch = json!(["payments_mismatch", "closed_day"]);
        assert_eq!(flags, [json!([]), json!(["closed_day"]), mismatch, json!(["closed_day"]), json!(["no_lines"])]);
    }
}
