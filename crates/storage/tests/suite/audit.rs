//! The audit log: append-only, and one byte changed is seen.

use sea_orm::ConnectionTrait;
use serde_json::json;
use tillkeep_storage::audit::heads::OfHq;
use tillkeep_storage::audit::{self, Broken, Head, heads};

use crate::kit::chain::id;
use crate::kit::{Hq, Shop, at, both};

async fn filled(rows: i64) -> Vec<Hq> {
    let databases: Vec<Hq> = both().await.collect();
    for hq in &databases {
        for number in 0..rows {
            let tx = hq.db.begin().await.expect("a transaction");
            let details = json!({"number": number, "text": "ø \u{0001} \"quoted\""});
            let entry = audit::Entry { action: "login", details, ..audit::Entry::default() };
            audit::record(&tx, entry, at(number)).await.expect("a row");
            tx.commit().await.expect("a commit");
        }
    }
    databases
}

/// What a person does who has the database and no scruples.
async fn tamper(hq: &Hq, statement: &str) {
    let drop = if hq.name == "SQLite" {
        "DROP TRIGGER audit_log_refuses_UPDATE; DROP TRIGGER audit_log_refuses_DELETE"
    } else {
        "DROP TRIGGER audit_log_is_append_only ON audit_log"
    };
    let tx = hq.db.begin().await.expect("a transaction");
    tx.execute_unprepared(drop).await.expect("the guard is gone");
    tx.execute_unprepared(statement).await.expect("tampered");
    tx.commit().await.expect("a commit");
}

async fn verified(hq: &Hq, known: Option<&Head>) -> Result<Head, Broken> {
    audit::verify(hq.db.reader(), known).await.expect("the log is readable")
}

#[tokio::test]
async fn an_untouched_log_verifies_to_its_last_row() {
    for hq in filled(20).await {
        let head = verified(&hq, None).await.expect("unbroken");
        assert_eq!(head.seq, 20, "on {}", hq.name);
        assert_eq!(verified(&hq, Some(&head)).await, Ok(head));
    }
}

#[tokio::test]
async fn the_database_itself_refuses_to_change_the_log() {
    for hq in filled(2).await {
        for statement in ["UPDATE audit_log SET action = 'logout'", "DELETE FROM audit_log"] {
            let tx = hq.db.begin().await.expect("a transaction");
            let refusal = tx.execute_unprepared(statement).await.expect_err("refused").to_string();
            assert!(refusal.contains("append-only"), "on {}: {refusal}", hq.name);
        }
        assert_eq!(verified(&hq, None).await.expect("unbroken").seq, 2);
    }
}

#[tokio::test]
async fn one_changed_byte_names_its_row() {
    let statements = [
        ("UPDATE audit_log SET action = 'logim' WHERE seq = 7", Broken::Changed(7)),
        ("UPDATE audit_log SET details = '{\"number\":0}' WHERE seq = 3", Broken::Changed(3)),
        ("UPDATE audit_log SET user_id = NULL, terminal_id = 'T9' WHERE seq = 10", Broken::Changed(10)),
        ("UPDATE audit_log SET hash = previous_hash WHERE seq = 5", Broken::Changed(5)),
        ("UPDATE audit_log SET previous_hash = hash WHERE seq = 5", Broken::NotChained(5)),
        ("DELETE FROM audit_log WHERE seq = 4", Broken::Missing(4, 5)),
        ("DELETE FROM audit_log WHERE seq = 1", Broken::Missing(1, 2)),
    ];
    for (statement, expected) in statements {
        for hq in filled(10).await {
            tamper(&hq, statement).await;
            assert_eq!(verified(&hq, None).await, Err(expected.clone()), "{statement} on {}", hq.name);
        }
    }
}

#[tokio::test]
async fn a_log_that_was_cut_off_is_known_by_a_head_noted_before() {
    for hq in filled(10).await {
        let head = verified(&hq, None).await.expect("unbroken");
        tamper(&hq, "DELETE FROM audit_log WHERE seq > 8").await;
        assert_eq!(verified(&hq, None).await.expect("a shorter chain is a chain").seq, 8);
        assert_eq!(verified(&hq, Some(&head)).await, Err(Broken::HeadLost(10)));
    }
}

#[tokio::test]
async fn the_end_of_a_log_is_kept_for_each_day_and_a_shorter_one_changes_nothing() {
    for hq in both().await {
        let (store, day) = (id("S01"), 24 * 3600);
        let heard = async |seq: i64, hash: &str, epoch: &str, seconds: i64| {
            let tx = hq.db.begin().await.expect("a transaction");
            let head = Head { seq, hash: hash.to_owned() };
            heads::note(&tx, store, epoch, &head, at(seconds)).await.expect("a row");
            tx.commit().await.expect("a commit");
        };
        let kept = async |epoch| {
            let kept = heads::of_database(hq.db.reader(), store, epoch).await.expect("the rows");
            kept.into_iter().map(|(seq, hash)| format!("{seq} {hash}")).collect::<Vec<_>>()
        };
        heard(5, "five", "first", 0).await;
        heard(9, "nine", "first", 60).await;
        // Late, or cut off.
        heard(7, "seven", "first", 120).await;
        heard(9, "another nine", "first", 180).await;
        assert_eq!(kept("first").await, ["9 nine"], "on {}", hq.name);
        heard(12, "twelve", "first", day).await;
        heard(3, "three", "second", day).await;
        assert_eq!(kept("first").await, ["9 nine", "12 twelve"], "the end of the day before stays");
        assert_eq!(kept("second").await, ["3 three"], "another database has another log");
        let tx = hq.db.begin().await.expect("a transaction");
        heads::forget(&tx, store).await.expect("nothing is left");
        tx.commit().await.expect("a commit");
        assert_eq!(kept("first").await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_store_keeps_the_longest_end_that_one_headquarters_gave_it() {
    let shop = Shop::open(id("S01")).await;
    for (epoch, seq, goes_on, kept) in [
        ("first", 5, true, ("first", 5)),
        ("first", 4, true, ("first", 5)),
        ("first", 8, true, ("first", 8)),
        // It was put back to a copy, and is found out.
        ("first", 6, false, ("first", 6)),
        ("second", 2, true, ("second", 2)),
    ] {
        let tx = shop.begin().await;
        let said = OfHq { epoch: epoch.to_owned(), head: Head { seq, hash: seq.to_string() }, at: at(0) };
        heads::keep(&tx, &said, goes_on).await.expect("a setting");
        tx.commit().await.expect("a commit");
        let has = heads::kept(shop.db.reader()).await.expect("a setting").expect("a head");
        assert_eq!((has.epoch.as_str(), has.head.seq), kept);
    }
}
