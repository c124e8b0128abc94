//! What was stored with dates that cannot be is mended by a step. `docs/sync.md`, rule U7.

use tillkeep_model::Instant;
use tillkeep_storage::migration::STEPS;
use tillkeep_storage::{Side, raw};

use super::TestDatabase;

#[tokio::test]
async fn what_was_stored_with_a_date_of_the_future_is_as_old_as_headquarters_has_known_it() {
    let never = Instant::parse("9999-12-31T00:00:00Z").expect("an instant");
    let heard = Instant::parse("2026-11-20T12:00:00Z").expect("an instant");
    for place in TestDatabase::each().await {
        let before = STEPS.iter().position(|step| step.name == "0003_edges").expect("the step");
        place.run(&STEPS[..before]).await.expect("the steps of the release before");
        place.fill(&STEPS[..before]).await;
        let tx = place.conn.begin_to_write().await.expect("a transaction");
        let dated = ["customers SET created_at = $1, updated_at = $1", "store_product_dynamic SET last_sold_at = $1"];
        if place.side == Side::Hq {
            for sql in [
                "sync_log SET envelope_at = $1, first_seen_at = $2",
                "sync_log_kept SET envelope_at = $1, first_seen_at = $2",
                "sync_log_nodes SET envelope_until = $1, kept_until = $2",
            ] {
                raw::execute(&tx, &format!("UPDATE {sql}"), [never.into(), heard.into()]).await.expect("an update");
            }
        }
        for sql in dated {
            raw::execute(&tx, &format!("UPDATE {sql}"), [never.into()]).await.expect("an update");
        }
        tx.commit().await.expect("a commit");
        place.run(STEPS).await.expect("the step");
        let times = async |sql: &str| {
            let rows = raw::query(&place.conn, sql, []).await.expect("the rows");
            assert_eq!(rows.len(), 30, "{sql}");
            let time = |row: &raw::Row, name: &str| row.try_get::<Option<Instant>>("", name).expect("a time");
            rows.iter().map(|row| (time(row, "one"), time(row, "other"))).collect::<Vec<_>>()
        };
        if place.side == Side::Store {
            // Its rows come with their new versions; its own clock may be any.
            let kept = times("SELECT created_at AS one, updated_at AS other FROM customers").await;
            assert!(kept.iter().all(|row| *row == (Some(never), Some(never))));
            continue;
        }
        for sql in [
            "SELECT created_at AS one, updated_at AS other FROM customers",
            "SELECT last_sold_at AS one, last_sold_at AS other FROM store_product_dynamic",
        ] {
            for (one, other) in times(sql).await {
                let latest = Some(never.plus_millis(-86_400_000));
                assert!(one < latest && other < latest, "{sql}: {one:?} {other:?}");
            }
        }
        for sql in [
            "SELECT envelope_at AS one, said_at AS other FROM sync_log",
            "SELECT envelope_at AS one, said_at AS other FROM sync_log_kept",
        ] {
            assert!(times(sql).await.iter().all(|row| *row == (Some(heard), Some(never))), "{sql}");
        }
        let nodes = times("SELECT envelope_until AS one, kept_until AS other FROM sync_log_nodes").await;
        assert!(nodes.iter().all(|row| *row == (Some(heard), Some(heard))));
        let unstamped = raw::query(&place.conn, "SELECT id FROM customers WHERE sync_version <= 0", []).await;
        assert_eq!(unstamped.expect("the rows").len(), 0, "stores pull them");
    }
}
