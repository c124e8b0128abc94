//! Stores that were there before typed prices had a limit get one.

use tillkeep_storage::migration::STEPS;
use tillkeep_storage::raw;

use super::TestDatabase;

#[tokio::test]
async fn a_store_that_is_there_gets_ten_thousand_units_of_its_currency_as_the_limit_of_typed_prices() {
    for place in TestDatabase::each().await {
        let before = STEPS.iter().position(|step| step.name == "0005_prices").expect("the step");
        place.run(&STEPS[..before]).await.expect("the steps before");
        place.fill(&STEPS[..before]).await;
        let tx = place.conn.begin_to_write().await.expect("a transaction");
        let sql = "UPDATE stores SET currency_exponent = \
                   CASE WHEN id = (SELECT id FROM stores ORDER BY id LIMIT 1) THEN 0 ELSE 3 END";
        raw::execute(&tx, sql, []).await.expect("an update");
        tx.commit().await.expect("a commit");
        place.run(STEPS).await.expect("the step");
        let sql = "SELECT currency_exponent, max_open_price FROM stores";
        let rows = raw::query(&place.conn, sql, []).await.expect("the stores");
        let mut seen = Vec::new();
        for row in rows {
            let exponent: i16 = row.try_get("", "currency_exponent").expect("decimals");
            let most: i64 = row.try_get("", "max_open_price").expect("a limit");
            assert_eq!(most, if exponent == 0 { 10_000 } else { 10_000_000 });
            seen.push(exponent);
        }
        assert!(seen.contains(&0), "{seen:?}");
    }
}
