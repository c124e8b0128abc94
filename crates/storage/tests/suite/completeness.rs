//! What is missing of a business day is named. `docs/sync.md`, rule U13.

use serde_json::{Value as Json, json};
use tillkeep_model::wire::LostNumbers;
use tillkeep_storage::completeness::{self, Day, Outbox, Range, Register, Reported, StoreContact, Verdict};
use tillkeep_storage::numbers::lost;
use tillkeep_storage::sea_orm::Value;
use tillkeep_storage::sync_log as log;
use tillkeep_storage::{DbErr, raw};
use uuid::Uuid;

use crate::kit::chain::{Chain, id};
use crate::kit::envelopes::{create_sale, envelope, push, refuse, take};
use crate::kit::{self, Hq, at};

const TODAY: &str = "2026-11-20";

/// A sale of one piece at 19.99 with this receipt number, in the session of this number.
fn sold(chain: &Chain, date: &str, session: i32, number: i64) -> Json {
    let mut sale = create_sale(&chain.first, id(&format!("sale {number} {session}")), &[(chain.tea, 1)]);
    sale["data"]["receiptNumber"] = json!(format!("S01-01-{number:06}"));
    sale["data"]["registerSessionId"] = json!(id(&format!("session {session}")));
    sale["data"]["businessDate"] = json!(date);
    sale
}

/// A session with its Z report, when it is closed: so many sales and their total.
fn session(chain: &Chain, day: &str, number: i32, z: Option<(i64, &str, &str)>) -> Json {
    let row = id(&format!("session {number}"));
    let mut data = json!({
        "id": row, "registerCode": "01", "sessionNumber": number, "status": "open", "businessDate": day,
        "createdAt": at(0), "openedAt": at(0),
    });
    if let Some((sales, first, last)) = z {
        data["status"] = json!("closed");
        data["firstReceiptNumber"] = json!(first);
        data["lastReceiptNumber"] = json!(last);
        data["totals"] = json!({"saleCount": sales, "refundCount": 0, "voidCount": 0, "netAmount": 1999 * sales,
                                "taxAmount": 0, "totalAmount": 1999 * sales, "openingFloat": 1});
    }
    envelope(&chain.first, "register_sessions", row, "update", &data, at(if z.is_some() { 50 } else { 0 }))
}

async fn days(hq: &Hq, chain: &Chain, dates: &[&str], pending: bool) -> Vec<Day> {
    let dates: Vec<String> = dates.iter().map(|date| (*date).to_owned()).collect();
    let snapshot = hq.db.snapshot().await.expect("a snapshot");
    let known = StoreContact { pending, first_seen: Some("2026-11-01"), last_seen: Some("2026-11-25") };
    completeness::days(&snapshot, chain.first.store_id, &dates, known).await.expect("the days")
}

async fn day(hq: &Hq, chain: &Chain) -> Day {
    days(hq, chain, &[TODAY], false).await.remove(0)
}

fn missing(day: &Day) -> Vec<(String, String, i64)> {
    let registers = day.registers.iter().flatten();
    let ranges = registers.flat_map(|register| &register.missing_receipts);
    ranges.map(|range| (range.from.clone(), range.to.clone(), range.count)).collect()
}

#[tokio::test]
async fn a_day_of_which_everything_came_is_complete() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let mut sent = vec![session(&chain, TODAY, 1, Some((3, "S01-01-000001", "S01-01-000003")))];
        sent.extend((1..=3).map(|number| sold(&chain, TODAY, 1, number)));
        assert_eq!(push(&hq, &chain.first, &sent).await.refused, 0);
        let day = day(&hq, &chain).await;
        assert_eq!((day.verdict, day.reasons.as_slice(), day.receipt_count), (Verdict::Complete, [].as_slice(), 3));
        let register = &day.registers.expect("registers")[0];
        assert_eq!(register.first_receipt_number.as_deref(), Some("S01-01-000001"));
        let figures = &register.sessions[0];
        assert_eq!((figures.received.sale_count, figures.z_report), (3, Some(figures.received)));
    }
}

#[tokio::test]
async fn lost_receipts_are_named_at_the_beginning_in_the_middle_and_at_the_end_of_a_day() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let yesterday = "2026-11-19";
        let mut sent = vec![
            session(&chain, yesterday, 1, Some((1, "S01-01-000001", "S01-01-000001"))),
            sold(&chain, yesterday, 1, 1),
            session(&chain, TODAY, 2, Some((7, "S01-01-000002", "S01-01-000009"))),
        ];
        sent.extend([3, 4, 7].map(|number| sold(&chain, TODAY, 2, number)));
        assert_eq!(push(&hq, &chain.first, &sent).await.refused, 0);
        let number = |number: i64| format!("S01-01-{number:06}");
        let expected = [(number(2), number(2), 1), (number(5), number(6), 2), (number(8), number(9), 2)];
        let day = day(&hq, &chain).await;
        assert_eq!(missing(&day), expected);
        assert_eq!((day.verdict, day.missing_receipt_count), (Verdict::Incomplete, 5));
        assert_eq!(day.reasons, ["receipts_missing", "totals_differ"]);
        let differs = day.registers.expect("registers")[0].sessions[0].difference.expect("a difference");
        assert_eq!((differs.sale_count, differs.total_amount.0), (-4, -4 * 1999));
        // The same over several days, and while the store still has something to send.
        let two = days(&hq, &chain, &[yesterday, TODAY], true).await;
        assert!(two.iter().all(|day| day.verdict == Verdict::Open), "it may be on its way");
        assert_eq!((missing(&two[0]), missing(&two[1]).len()), (Vec::new(), 3));
    }
}

#[tokio::test]
async fn a_receipt_that_another_day_has_is_not_missing() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let sent = [
            sold(&chain, TODAY, 1, 1),
            // A clock that was set back for a moment.
            sold(&chain, "2026-11-19", 1, 2),
            sold(&chain, TODAY, 1, 3),
        ];
        assert_eq!(push(&hq, &chain.first, &sent).await.refused, 0);
        assert_eq!(missing(&day(&hq, &chain).await), []);
    }
}

#[tokio::test]
async fn a_lost_session_an_unknown_one_and_a_number_that_came_twice_are_reported() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let sent = [
            session(&chain, "2026-11-18", 1, Some((0, "S01-01-000001", "S01-01-000001"))),
            session(&chain, TODAY, 4, None),
            sold(&chain, TODAY, 9, 1),
            sold(&chain, TODAY, 4, 1),
        ];
        assert_eq!(push(&hq, &chain.first, &sent).await.refused, 0);
        let day = day(&hq, &chain).await;
        assert_eq!(day.reasons, ["receipts_twice", "sessions_missing", "session_unknown", "session_open"]);
        assert_eq!(day.verdict, Verdict::Incomplete);
        let register = &day.registers.expect("registers")[0];
        assert_eq!(register.missing_sessions, [Range { from: 2, to: 3 }]);
        assert_eq!(register.receipts_twice, ["S01-01-000001"]);
    }
}

#[tokio::test]
async fn a_day_of_which_nothing_came_is_open_until_the_store_was_heard_of_after_it() {
    let hq = Hq::sqlite().await;
    let chain = Chain::found(&hq).await;
    let two = days(&hq, &chain, &["2026-11-24", "2026-11-25"], false).await;
    let verdicts: Vec<_> = two.iter().map(|day| (day.verdict, day.reasons.clone())).collect();
    let nothing = vec!["nothing_received"];
    assert_eq!(verdicts, [(Verdict::Complete, nothing.clone()), (Verdict::Open, nothing)]);
}

/// An envelope with its number in the outbox.
fn numbered(mut envelope: Json, seq: i64, epoch: &str) -> Json {
    envelope["seq"] = json!(seq);
    envelope["node_epoch"] = json!(epoch);
    envelope
}

async fn outbox(hq: &Hq, store: Uuid, reported: &Reported) -> Outbox {
    let snapshot = hq.db.snapshot().await.expect("a snapshot");
    completeness::outbox(&snapshot, store, reported).await.expect("the outbox")
}

#[tokio::test]
async fn numbers_of_the_outbox_without_an_account_are_named_and_refused_ones_are_accounted_for() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        for seq in [1, 2, 5, 6] {
            take(&hq, &chain.first, &numbered(sold(&chain, TODAY, 1, seq), seq, "a")).await;
        }
        // A duplicate and a refusal say that the entry arrived.
        take(&hq, &chain.first, &numbered(sold(&chain, TODAY, 1, 6), 6, "a")).await;
        let mut bad = numbered(sold(&chain, TODAY, 1, 7), 7, "a");
        bad["data"]["totalAmount"] = json!("x");
        refuse(&hq, &chain.first, &bad).await;
        take(&hq, &chain.first, &numbered(sold(&chain, TODAY, 1, 8), 8, "a")).await;
        let reported = Reported { node_epoch: "a".to_owned(), last_seq: 10, ..Reported::default() };
        let state = outbox(&hq, chain.first.store_id, &reported).await;
        assert_eq!(state.epochs[0].missing, [Range { from: 3, to: 4 }, Range { from: 9, to: 10 }]);
        assert_eq!((state.verdict, state.refused), (Verdict::Incomplete, 1));
        assert_eq!(state.reasons, ["entries_missing", "entries_refused"]);
        // What the store says it still has is not lost.
        let state = outbox(&hq, chain.first.store_id, &Reported { pending: 2, ..reported.clone() }).await;
        assert_eq!((state.epochs[0].missing.len(), state.verdict), (1, Verdict::Open));
        // Restored from a copy: it goes on counting under another name. Reinstalled: it counts from 1.
        take(&hq, &chain.first, &numbered(sold(&chain, TODAY, 1, 20), 6, "b")).await;
        take(&hq, &chain.first, &numbered(sold(&chain, TODAY, 1, 21), 1, "c")).await;
        let state = outbox(&hq, chain.first.store_id, &Reported::default()).await;
        let gaps: Vec<_> = state.epochs.iter().map(|epoch| epoch.missing.len()).collect();
        assert_eq!(gaps, [1, 0, 0]);
        assert!(outbox(&hq, chain.second.store_id, &Reported::default()).await.epochs.is_empty());
        assert!(hq.log().await.iter().any(|row| row.status == log::FAILED));
    }
}

#[tokio::test]
async fn a_number_that_no_outbox_gives_is_refused_by_its_name_and_counts_nowhere() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        for (sale, seq) in [(1, i64::MIN), (2, 0), (3, (1 << 53) + 1), (4, i64::MAX)] {
            let envelope = numbered(sold(&chain, TODAY, 1, sale), seq, "a");
            assert_eq!(refuse(&hq, &chain.first, &envelope).await, "malformed");
        }
        for row in hq.log().await {
            assert!(row.error.is_some_and(|error| error.starts_with("seq: ")), "it says which field");
            assert_eq!(row.seq, None);
        }
        take(&hq, &chain.first, &numbered(sold(&chain, TODAY, 1, 5), 1, "a")).await;
        let state = outbox(&hq, chain.first.store_id, &Reported::default()).await;
        assert_eq!((state.epochs[0].highest_seq, state.epochs[0].missing.len()), (1, 0));
    }
}

#[tokio::test]
async fn a_day_of_amounts_that_no_sum_holds_is_reported_all_the_same() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let mut closed = session(&chain, TODAY, 1, Some((2, "S01-01-000001", "S01-01-000002")));
        closed["data"]["totals"]["totalAmount"] = json!(i64::MIN);
        closed["data"]["totals"]["saleCount"] = json!(i64::MIN);
        let mut sent = vec![closed, sold(&chain, TODAY, 1, 1), sold(&chain, TODAY, 1, 2)];
        for sale in &mut sent[1..] {
            sale["data"]["totalAmount"] = json!(i64::MAX);
        }
        assert_eq!(push(&hq, &chain.first, &sent).await.refused, 0);
        let day = day(&hq, &chain).await;
        assert_eq!(day.verdict, Verdict::Incomplete);
        let session = &day.registers.expect("registers")[0].sessions[0];
        assert_eq!((session.received.sale_count, session.received.net_amount.0), (2, 2 * 1999));
        assert_eq!(session.received.total_amount.0, i64::MAX);
        let differs = session.difference.expect("a difference");
        assert_eq!((differs.sale_count, differs.total_amount.0), (i64::MAX, i64::MAX));
    }
}

#[tokio::test]
async fn a_day_may_have_more_registers_than_a_statement_has_terms() {
    // SQLite's limit, 500, is the lower one.
    let hq = Hq::sqlite().await;
    let chain = Chain::found(&hq).await;
    let registers = 1..=501;
    let sent: Vec<Json> = registers
        .flat_map(|number| {
            let code = format!("{number:03}");
            let mut sale = sold(&chain, TODAY, number, i64::from(number));
            sale["data"]["receiptNumber"] = json!(format!("S01-{code}-000001"));
            let mut session = session(&chain, TODAY, number, None);
            for envelope in [&mut sale, &mut session] {
                envelope["data"]["registerCode"] = json!(code);
            }
            session["data"]["sessionNumber"] = json!(1);
            [session, sale]
        })
        .collect();
    assert_eq!(push(&hq, &chain.first, &sent).await.refused, 0);
    let day = day(&hq, &chain).await;
    assert_eq!((day.registers.expect("registers").len(), day.missing_receipt_count), (501, 0));
}

/// The plan of the query for gaps: an index answers it alone.
#[tokio::test]
async fn the_gaps_of_an_outbox_are_read_from_an_index() -> Result<(), DbErr> {
    let hq = Hq::sqlite().await;
    let sql = "EXPLAIN QUERY PLAN SELECT DISTINCT node_epoch, seq FROM sync_log \
               WHERE store_id = $1 AND seq IS NOT NULL AND node_epoch IS NOT NULL";
    let plan = raw::query(hq.db.reader(), sql, [Value::from(id("S01"))]).await?;
    let plan: Vec<String> = plan.iter().map(|row| row.try_get("", "detail")).collect::<Result<_, _>>()?;
    assert!(plan.iter().any(|line| line.contains("COVERING INDEX")), "{plan:?}");
    Ok(())
}

#[tokio::test]
async fn what_went_with_a_store_s_database_is_named_as_lost_and_a_letter_begins_a_series_of_its_own() {
    let lost = |series: &str, from, to| LostNumbers { series: series.into(), from, to, noticed_at: at(0) };
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let mut sent = vec![
            session(&chain, TODAY, 1, Some((3, "S01-01-000001", "S01-01-000007"))),
            session(&chain, TODAY, 4, Some((2, "S01-01-000008", "S01-01A-000002"))),
            session(&chain, TODAY, 100_002, Some((1, "S01-01A-000004", "S01-01A-000004"))),
        ];
        sent.extend([1, 2, 7].map(|number| sold(&chain, TODAY, 1, number)));
        sent.push(sold(&chain, TODAY, 4, 8));
        for (session, number) in [(4, 2), (100_002, 4)] {
            let mut sale = sold(&chain, TODAY, session, 1000 + number);
            sale["data"]["receiptNumber"] = json!(format!("S01-01A-{number:06}"));
            sent.push(sale);
        }
        assert_eq!(push(&hq, &chain.first, &sent).await.refused, 0);
        let tx = hq.db.begin().await.expect("a transaction");
        let known =
            [lost("receipt:01", 4, 5), lost("session:01", 2, 2), lost("receipt:01A", 3, 3), lost("customer", 1, 9)];
        lost::note(&tx, chain.first.store_id, &known).await.expect("noted");
        tx.commit().await.expect("a commit");

        let day = day(&hq, &chain).await;
        let number = |text: &str| text.to_owned();
        let one = |text: &str| (number(text), number(text), 1);
        assert_eq!(missing(&day), [one("S01-01-000003"), one("S01-01-000006"), one("S01-01A-000001")]);
        assert_eq!(day.missing_receipt_count, 3);
        let registers = day.registers.expect("registers");
        let codes: Vec<&str> = registers.iter().map(|register| register.register_code.as_str()).collect();
        assert_eq!(codes, ["01", "01A"]);
        let shown = |register: &Register| -> Vec<(String, String)> {
            register.lost_receipts.iter().map(|range| (range.from.clone(), range.to.clone())).collect()
        };
        assert_eq!(shown(&registers[0]), [(number("S01-01-000004"), number("S01-01-000005"))]);
        assert_eq!(shown(&registers[1]), [(number("S01-01A-000003"), number("S01-01A-000003"))]);
        let range = |from, to| Range { from, to };
        assert_eq!(registers[0].missing_sessions, [range(3, 3), range(100_001, 100_001)]);
        assert_eq!(registers[0].lost_sessions, [range(2, 2)]);
        assert!(day.reasons.contains(&"receipts_lost") && day.reasons.contains(&"sessions_lost"), "{:?}", day.reasons);
        assert!(!day.reasons.contains(&"receipts_twice"), "{:?}", day.reasons);
    }
}

/// As [`session`], closed by this release with 5.00 put in, in these reports of several drawers.
fn second(chain: &Chain, day: &str, number: i32, zz: (Option<i32>, Option<i32>)) -> Json {
    let mut sent = session(chain, day, number, Some((0, "", "")));
    let data = &mut sent["data"];
    data["firstReceiptNumber"] = Json::Null;
    data["lastReceiptNumber"] = Json::Null;
    data["cashMovements"] = json!([
        {"id": id("in"), "type": "paid_in", "amount": 700, "at": at(1)},
        {"id": id("out"), "type": "paid_out", "amount": 200, "at": at(2)},
        {"id": id("none"), "type": "no_sale", "amount": 0, "at": at(3)},
    ]);
    data["totals"]["version"] = json!(2);
    data["totals"]["cash"] = json!({"paidIn": 700, "paidOut": 200});
    (data["zzNumber"], data["storeZzNumber"]) = (json!(zz.0), json!(zz.1));
    sent
}

#[tokio::test]
async fn movements_that_a_report_counts_and_headquarters_lacks_are_named() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        assert_eq!(push(&hq, &chain.first, &[second(&chain, TODAY, 1, (None, None))]).await.refused, 0);
        let whole = day(&hq, &chain).await;
        assert_eq!((whole.verdict, whole.reasons.as_slice()), (Verdict::Complete, [].as_slice()));
        let cash = whole.registers.expect("registers")[0].sessions[0].cash.expect("movements");
        assert_eq!((cash.received.0, cash.z_report.0, cash.difference.0), (500, 500, 0));
        let mut lacks = second(&chain, TODAY, 2, (None, None));
        lacks["data"]["cashMovements"] = json!([]);
        assert_eq!(push(&hq, &chain.first, &[lacks]).await.refused, 0);
        let day = day(&hq, &chain).await;
        assert_eq!((day.verdict, day.reasons.as_slice()), (Verdict::Incomplete, ["cash_differs"].as_slice()));
        let cash = day.registers.expect("registers")[0].sessions[1].cash.expect("movements");
        assert_eq!((cash.received.0, cash.difference.0), (0, -500));
    }
}

#[tokio::test]
async fn a_movement_that_came_back_after_the_close_makes_no_day_incomplete() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let closed = second(&chain, TODAY, 1, (None, None));
        let mut open = closed.clone();
        (open["data"]["status"], open["data"]["totals"], open["timestamp"]) =
            (json!("open"), Json::Null, json!(at(10)));
        let lost = json!({"id": id("lost"), "type": "drop", "amount": 900, "at": at(4)});
        open["data"]["cashMovements"].as_array_mut().expect("movements").push(lost);
        for sent in [open, closed] {
            assert_eq!(push(&hq, &chain.first, &[sent]).await.refused, 0);
        }
        let day = day(&hq, &chain).await;
        assert_eq!((day.verdict, day.reasons.as_slice()), (Verdict::Complete, [].as_slice()));
        let cash = day.registers.expect("registers")[0].sessions[0].cash.expect("movements");
        assert_eq!((cash.received.0, cash.z_report.0, cash.difference.0), (500, 500, 0));
    }
}

#[tokio::test]
async fn a_drawer_of_an_earlier_release_has_no_movements_to_compare() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let mut sent = session(&chain, TODAY, 1, Some((0, "", "")));
        (sent["data"]["firstReceiptNumber"], sent["data"]["lastReceiptNumber"]) = (Json::Null, Json::Null);
        assert_eq!(push(&hq, &chain.first, &[sent]).await.refused, 0);
        let day = day(&hq, &chain).await;
        assert_eq!((day.verdict, day.registers.expect("registers")[0].sessions[0].cash), (Verdict::Complete, None));
    }
}

#[tokio::test]
async fn a_report_of_several_drawers_that_none_names_is_missing_and_one_that_comes_again_is_there_twice() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let (before, yesterday) = ("2026-11-18", "2026-11-19");
        let sent = [
            second(&chain, before, 1, (Some(1), Some(1))),
            second(&chain, before, 2, (Some(1), Some(1))),
            second(&chain, yesterday, 3, (Some(2), Some(1))),
            second(&chain, TODAY, 4, (Some(2), Some(3))),
            second(&chain, TODAY, 5, (Some(5), Some(3))),
            second(&chain, TODAY, 6, (Some(4), None)),
        ];
        assert_eq!(push(&hq, &chain.first, &sent).await.refused, 0);
        let three = days(&hq, &chain, &[before, yesterday, TODAY], false).await;
        let one = days(&hq, &chain, &[TODAY], false).await;
        assert!(three[..2].iter().all(|day| day.verdict == Verdict::Complete), "{three:#?}");
        for day in [&three[2], &one[0]] {
            assert_eq!(day.reasons, ["zz_missing", "zz_twice"]);
            assert_eq!(day.missing_store_zz, [Range { from: 2, to: 2 }]);
            let register = &day.registers.as_ref().expect("registers")[0];
            assert_eq!((&register.missing_zz, &register.zz_twice), (&vec![Range { from: 3, to: 3 }], &vec![4]));
        }
    }
}
