//! The checker of what must always hold: it finds nothing in sound databases, and each planted damage.

mod damages;
mod missed;
mod pages;
mod scene;

use serde_json::json;
use tillkeep_model::{Instant, JsonText, Money};
use tillkeep_storage::entity::{register_session, sync_log};
use tillkeep_storage::sea_orm::{EntityTrait, IntoActiveModel};
use tillkeep_storage::sync_log::kept;
use tillkeep_storage::verify::{self, Options, Source};
use tillkeep_storage::{Side, audit, raw};

use self::scene::{Scene, after, open_drawer, resolution, scene, sell, send};
use crate::kit::chain::{Chain, id, sender};
use crate::kit::envelopes::{create_sale, sale, take};
use crate::kit::{Hq, at, both};

#[tokio::test]
async fn the_checker_finds_nothing_in_sound_databases() {
    for hq in both().await {
        let scene = scene(hq).await;
        assert_eq!(after(&scene, Side::Hq, &[]).await, []);
    }
}

#[tokio::test]
async fn what_was_pruned_from_the_log_is_judged_as_what_is_in_it() {
    for hq in both().await {
        let scene = scene(hq).await;
        let pruned = kept::prune(&scene.hq.db, scene.shop.id, Instant::default(), at(1000)).await.expect("a batch");
        assert!(pruned.rows >= 5, "{pruned:?}");
        assert_eq!(after(&scene, Side::Hq, &[]).await, []);
        for (damage, invariant, table) in [
            ("DELETE FROM sync_log_kept WHERE seq = 2", "I9", "sync_outbox_sent"),
            ("UPDATE sync_log_nodes SET node_epoch = 'another'", "I9", "sync_outbox_sent"),
            ("UPDATE sync_log_kept SET applied = 2 WHERE seq = 2", "I2", "sync_log"),
            ("UPDATE sync_log_kept SET seq = 2", "I2", "sync_log"),
        ] {
            let findings = after(&scene, Side::Hq, &[damage]).await;
            let found = findings.iter().any(|finding| finding.invariant == invariant && finding.entity == table);
            assert!(found, "{damage} is no finding of {invariant} in {table}: {findings:#?}");
        }
    }
}

#[tokio::test]
async fn a_sale_that_is_kept_under_another_id_is_the_one_that_its_store_has() {
    for hq in both().await {
        let scene = scene(hq).await;
        let (tea, third) = (id("product:TEA"), id("sale 3"));
        let chain = Chain { first: sender("S01"), second: sender("S02"), tea, rice: id("product:RICE") };
        take(&scene.hq, &chain.second, &create_sale(&chain.second, third, &[(tea, 1)])).await;
        let mut data = sale(&chain.first, third, &[(tea, 1)]);
        data["receiptNumber"] = "S01-01-000003".into();
        sell(&scene.shop, third, &data, tea, 1).await;
        send(&scene.hq, &scene.shop, &chain).await;
        let of_sales = |findings: Vec<verify::Finding>| -> Vec<String> {
            let of_it = findings.into_iter().filter(|finding| matches!(finding.invariant, "I2" | "I3" | "I4"));
            of_it.map(|finding| finding.to_string()).collect()
        };
        assert_eq!(of_sales(after(&scene, Side::Hq, &[]).await), Vec::<String>::new());
        let found = of_sales(after(&scene, Side::Hq, &["UPDATE sales SET note = 'changed'"]).await);
        assert!(found.iter().any(|text| text.contains(&third.to_string())), "{found:?}");
        let found = of_sales(after(&scene, Side::Hq, &["UPDATE sale_items SET quantity = quantity + 1"]).await);
        let differ = found.iter().filter(|text| text.starts_with("I2 ")).count();
        assert_eq!(differ, 3, "{found:?}");
    }
}

#[tokio::test]
async fn what_a_seller_of_an_older_release_said_of_refunds_that_never_came_is_no_finding() {
    for hq in both().await {
        let scene = scene(hq).await;
        let second = sender("S02");
        take(&scene.hq, &second, &create_sale(&second, id("of before"), &[(id("product:TEA"), 3)])).await;
        let said = [
            "UPDATE sale_items SET refunded_quantity = 4000 \
             WHERE NOT EXISTS (SELECT 1 FROM chain_entries e WHERE e.sale_id = sale_items.sale_id)",
            "UPDATE sales SET status = 'partially_refunded', refunded_amount = 1999 \
             WHERE NOT EXISTS (SELECT 1 FROM chain_entries e WHERE e.sale_id = sales.id)",
        ];
        let found = after(&scene, Side::Hq, &said).await;
        let of_sales = |finding: &&verify::Finding| ["sales", "sale_items"].contains(&finding.entity.as_str());
        assert_eq!(found.iter().filter(of_sales).collect::<Vec<_>>(), Vec::<&verify::Finding>::new());
    }
}

#[tokio::test]
async fn what_is_under_way_is_no_finding_until_everything_is_settled() {
    let scene = scene(Hq::sqlite().await).await;
    let tea = id("product:TEA");
    let data = {
        let mut data = sale(&crate::kit::chain::sender("S01"), id("sale 3"), &[(tea, 1)]);
        data["receiptNumber"] = "S01-01-000003".into();
        data["registerCode"] = "01".into();
        data["registerSessionId"] = json!(id("another drawer"));
        data
    };
    open_drawer(&scene.shop, "another drawer", 2).await;
    sell(&scene.shop, id("sale 3"), &data, tea, 1).await;
    scene.hq.edit::<tillkeep_storage::entity::product::Entity>(tea, |row| row.name = "green tea".into()).await;
    let look = async |settled| {
        let hq = Source::new(scene.hq.db.reader(), Side::Hq).await.expect("a source");
        let shop = Source::new(scene.shop.db.reader(), Side::Store).await.expect("a source");
        let options = Options { settled, ..Options::default() };
        let findings = verify::run(Some(&hq), &[shop], &options).await.expect("a verdict");
        findings.into_iter().map(|finding| finding.invariant).collect::<Vec<_>>()
    };
    assert_eq!(look(false).await, Vec::<&str>::new());
    let settled = look(true).await;
    for invariant in ["I4", "I7", "I8", "I10"] {
        assert!(settled.contains(&invariant), "{invariant}: {settled:?}");
    }
}

/// Of how many documents the checker says that they have no entry, where one has none and `due` is what the store noted.
async fn without_entry(scene: &Scene, due: &str) -> usize {
    let due = format!("INSERT INTO sync_state (key, value) VALUES ('own_documents_due', '{due}')");
    let findings = after(scene, Side::Store, &[&due, "DELETE FROM sync_outbox_sent WHERE seq = 2"]).await;
    findings.iter().filter(|finding| finding.text.starts_with("has no entry in the outbox")).count()
}

#[tokio::test]
async fn documents_that_came_back_need_no_entry_and_those_made_since_do() {
    let scene = scene(Hq::sqlite().await).await;
    assert_eq!(without_entry(&scene, "yes").await, 0, "they are coming");
    assert_eq!(without_entry(&scene, &at(1).to_string()).await, 0, "the sale was made before they were here");
    assert_eq!(without_entry(&scene, &at(0).to_string()).await, 1, "the sale was made when they were here");
    assert_eq!(without_entry(&scene, "no").await, 1, "nothing ever came back");
}

#[tokio::test]
async fn reports_of_drawers_that_are_older_than_what_came_back_are_not_missed() {
    for hq in both().await {
        let scene = scene(hq).await;
        let numbers = ["UPDATE register_sessions SET zz_number = 7, store_zz_number = 4", "DELETE FROM zz_reports"];
        let missed = async |due: &str| {
            let due = format!("INSERT INTO sync_state (key, value) VALUES ('own_documents_due', '{due}')");
            let findings = after(&scene, Side::Store, &[&due, numbers[0], numbers[1]]).await;
            let of_drawers =
                |finding: &&verify::Finding| finding.invariant == "I6" && finding.entity == "register_sessions";
            findings.iter().filter(of_drawers).count()
        };
        assert_eq!(missed("yes").await, 0, "they are coming");
        assert_eq!(missed(&at(20).to_string()).await, 0, "those of the last months came back");
        assert_eq!(missed("no").await, 6 + 3, "nothing was ever lost");
    }
}

#[tokio::test]
async fn amounts_that_no_sum_holds_stop_no_check() {
    for hq in both().await {
        let scene = scene(hq).await;
        let huge = [
            "UPDATE sale_items SET net_amount = 9223372036854775807",
            "UPDATE sale_payments SET amount = 9223372036854775807",
            "UPDATE register_sessions SET counted_cash = 9223372036854775807, expected_cash = -9223372036854775807",
        ];
        let found = after(&scene, Side::Hq, &huge).await;
        let of_drawer = |text: &str| {
            found.iter().any(|finding| finding.entity == "register_sessions" && finding.text.contains(text))
        };
        assert!(of_drawer("totals.departments") && of_drawer("totals.tenders"), "{found:#?}");
        assert!(of_drawer("what was counted less what was expected"), "{found:#?}");
    }
}

#[tokio::test]
async fn a_movement_that_came_back_after_the_close_is_no_lie_of_the_report() {
    for hq in both().await {
        let scene = scene(hq).await;
        let broken = async |beside: &str| {
            let moved = format!(
                "UPDATE register_sessions SET no_sale_count = 2, flags = '[\"late_movement\"]', cash_movements = \
                 REPLACE(cash_movements, '[{{', '[{{\"id\":\"{}\",\"type\":\"drop\",\"amount\":700{beside}}},\
                 {{\"id\":\"{}\",\"type\":\"no_sale\",\"amount\":0{beside}}},{{')",
                id("late drop"),
                id("late opening")
            );
            let found = after(&scene, Side::Hq, &[&moved]).await;
            found.iter().filter(|finding| finding.invariant == "I5").count()
        };
        assert_eq!(broken(",\"late\":true").await, 0);
        assert!(broken("").await > 0, "what was known at the close is in the report");
    }
}

#[tokio::test]
async fn what_a_user_resolved_is_missed_neither_in_the_stock_nor_in_the_report_of_its_drawer() {
    for hq in both().await {
        let scene = scene(hq).await;
        // The second sale, as if headquarters had refused it ten times and ann had resolved it then.
        let sale = scene.sold[1].sale;
        let envelope = json!({"data": {"id": sale, "registerSessionId": id("drawer")}}).to_string();
        let row = scene.hq.log().await.into_iter().find(|row| row.entity_id == sale.to_string()).expect("the sale");
        let tx = scene.hq.db.begin().await.expect("a transaction");
        for sql in [
            "UPDATE store_product_dynamic SET quantity = quantity - (SELECT CAST(SUM(quantity_change) AS BIGINT) \
             FROM stock_movements WHERE source_id = $1) \
             WHERE product_id = (SELECT product_id FROM stock_movements WHERE source_id = $1)",
            "DELETE FROM stock_movements WHERE source_id = $1",
            "DELETE FROM sale_payments WHERE sale_id = $1",
            "DELETE FROM sale_items WHERE sale_id = $1",
            "UPDATE sale_chains SET number = 1, \
             hash = (SELECT hash FROM chain_entries WHERE number = 1 AND sale_id <> $1), \
             running_total = (SELECT running_total FROM chain_entries WHERE number = 1 AND sale_id <> $1)",
            "DELETE FROM chain_entries WHERE sale_id = $1",
            "DELETE FROM sales WHERE id = $1",
        ] {
            raw::execute(&tx, sql, [sale.into()]).await.expect("a statement");
        }
        let sql = "UPDATE sync_log SET status = 'resolved', resolved_by = $1, envelope = $2 WHERE id = $3";
        raw::execute(&tx, sql, [id("ann").into(), envelope.into(), row.id.into()]).await.expect("a statement");
        audit::record(&tx, resolution(row.id), at(300)).await.expect("an audit row");
        tx.commit().await.expect("a commit");
        assert_eq!(after(&scene, Side::Hq, &[]).await, []);

        // Whatever else is wrong with that product is found all the same.
        let doubled = [
            "UPDATE stock_movements SET quantity_change = quantity_change * 2",
            "UPDATE store_product_dynamic SET quantity = quantity * 2",
        ];
        let findings = after(&scene, Side::Hq, &doubled).await;
        assert!(findings.iter().any(|finding| finding.invariant == "I4"), "{findings:#?}");
    }
}

/// A later drawer of the same register, closed over nothing but with this grand total.
async fn later_drawer(hq: &Hq, number: i32, running_total: i64) {
    let drawer = register_session::Model {
        id: id(&format!("drawer {number}")),
        store_id: id("S01"),
        register_code: "01".into(),
        session_number: number,
        status: "closed".into(),
        business_date: "2026-11-21".into(),
        created_at: at(20),
        updated_at: at(20),
        expected_cash: Some(Money(0)),
        sale_count: Some(0),
        running_total: Some(Money(running_total)),
        totals: Some(JsonText(json!({
            "saleCount": 0, "refundCount": 0, "voidCount": 0, "netAmount": 0, "taxAmount": 0, "totalAmount": 0,
            "cashRounding": 0, "taxes": [], "tenders": [],
        }))),
        ..Default::default()
    };
    let tx = hq.db.begin().await.expect("a transaction");
    register_session::Entity::insert_many([drawer.into_active_model()])
        .exec_without_returning(&tx)
        .await
        .expect("a row");
    tx.commit().await.expect("a commit");
}

#[tokio::test]
async fn the_grand_total_of_a_drawer_may_count_one_before_it_that_a_user_resolved() {
    for hq in both().await {
        let scene = scene(hq).await;
        let grand_totals = async || {
            let source = Source::new(scene.hq.db.reader(), Side::Hq).await.expect("a source");
            let options = Options { settled: true, ..Options::default() };
            let findings = verify::run(Some(&source), &[], &options).await.expect("a verdict");
            findings
                .into_iter()
                .filter(|finding| finding.text.contains("grand total"))
                .map(|finding| finding.id)
                .collect::<Vec<_>>()
        };
        assert_eq!(grand_totals().await, Vec::<String>::new());
        // The second drawer took 1000, and headquarters has refused it ten times.
        later_drawer(&scene.hq, 3, 3 * 1999 + 1000).await;
        assert_eq!(grand_totals().await, [id("drawer 3").to_string()], "no user has settled it");
        let data = json!({"id": id("drawer 2"), "registerCode": "01", "sessionNumber": 2});
        let resolved = sync_log::Model {
            id: id("second drawer"),
            store_id: id("S01"),
            direction: "push".into(),
            entity_type: "register_sessions".into(),
            entity_id: id("drawer 2").to_string(),
            action: "update".into(),
            status: "resolved".into(),
            hash: "second drawer".into(),
            envelope: Some(json!({"data": data}).to_string()),
            resolved_by: Some(id("ann")),
            resolved_at: Some(at(0)),
            ..Default::default()
        };
        scene.hq.insert::<sync_log::Entity>([resolved]).await;
        assert_eq!(grand_totals().await, Vec::<String>::new());
        // From there on each is the one before and its own again.
        later_drawer(&scene.hq, 4, 3 * 1999 + 1000).await;
        assert_eq!(grand_totals().await, Vec::<String>::new());
        later_drawer(&scene.hq, 5, 3 * 1999 + 1001).await;
        assert_eq!(grand_totals().await, [id("drawer 5").to_string()]);
    }
}
