//! Receipts from before headquarters found them by the end of their numbers.

use tillkeep_storage::entity::sale::from_its_end;
use tillkeep_storage::migration::STEPS;
use tillkeep_storage::{Side, raw};

use super::TestDatabase;
use crate::kit::fill::id_of;

#[tokio::test]
async fn receipts_that_are_there_are_found_by_the_end_of_their_numbers() {
    for place in TestDatabase::each().await {
        let before = STEPS.iter().position(|step| step.name == "0007_drawers").expect("the step");
        place.run(&STEPS[..before]).await.expect("the steps of the release before");
        place.fill(&STEPS[..before]).await;
        let longest = format!("S01-{}", "9".repeat(46));
        let numbers = ["S01-01-000123", "s02-07B-1", "", "\u{c4}-1", longest.as_str()];
        let tx = place.conn.begin_to_write().await.expect("a transaction");
        for (n, number) in (1..).zip(numbers) {
            let sql = "UPDATE sales SET receipt_number = $2 WHERE id = $1";
            raw::execute(&tx, sql, [id_of("sales", n).into(), number.into()]).await.expect("an update");
        }
        tx.commit().await.expect("a commit");
        place.run(STEPS).await.expect("the step");
        for (n, number) in (1..).zip(numbers) {
            let sql = "SELECT receipt_end FROM sales WHERE id = $1";
            let rows = raw::query(&place.conn, sql, [id_of("sales", n).into()]).await.expect("the row");
            let kept: Option<String> = rows[0].try_get("", "receipt_end").expect("a text");
            let expected = (place.side == Side::Hq).then(|| from_its_end(number));
            assert_eq!(kept, expected, "{number} at {:?}", place.side);
        }
    }
}
