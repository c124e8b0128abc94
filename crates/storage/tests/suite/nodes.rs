//! What headquarters notes of its stores. `docs/sync.md`, rules D8 and U12; specification, section 2.7.

use serde_json::json;
use tillkeep_model::wire::{Acknowledged, Ended, OutboxState, Outcome};
use tillkeep_model::{Alarm, AlarmCode};
use tillkeep_storage::entity::{store_node, sync_status};
use tillkeep_storage::nodes::{Heard, Line, Said};
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_storage::sync_log::{self, Pulled};
use tillkeep_storage::{high_water, nodes, raw};

use crate::kit::chain::{Chain, id};
use crate::kit::envelopes::{create_sale, envelope, push, refuse};
use crate::kit::{self, at, fill};

#[tokio::test]
async fn what_was_heard_of_a_store_is_kept_each_part_by_itself() {
    for hq in kit::both().await {
        let known = fill::model::<store_node::Entity>(1);
        let (store, new) = (known.store_id, id("new"));
        let outbox = OutboxState { pending: 3, dead_lettered: 1, oldest: Some(at(400)) };
        let seen = |seconds| Heard { at: Some(at(seconds)), ..Heard::default() };
        let said = Said { outbox, alarms: vec![Alarm { code: AlarmCode::NumbersFile, since: at(450) }] };
        let waits = Heard { said: Some((at(501), said.clone())), ..seen(501) };
        let gone = Heard { connection: Some((at(502), Line::Ended(Ended::Stopped))), ..seen(502) };
        let here = Line::Open(Some(id("this server")));
        let back = Heard { connection: Some((at(503), here)), heartbeat: Some((at(503), 77)), ..seen(503) };
        let hear = async |heard: &[(_, Heard)]| {
            let tx = hq.db.begin().await.expect("a transaction");
            nodes::hear(&tx, id("this server"), heard).await.expect("a note");
            tx.commit().await.expect("a commit");
        };
        let row = async |store| nodes::find(hq.db.reader(), store).await.expect("a read").expect("a row");
        let tx = hq.db.begin().await.expect("a transaction");
        nodes::save(&tx, known.clone()).await.expect("a row");
        tx.commit().await.expect("a commit");

        hear(&[(store, waits.clone()), (new, seen(501))]).await;
        hear(&[(store, gone), (new, waits)]).await;
        let expected = store_node::Model {
            last_seen_at: Some(at(502)),
            outbox_pending: 3,
            dead_lettered: 1,
            oldest_pending_at: Some(at(400)),
            alarms: Alarm::write(&said.alarms),
            outbox_at: Some(at(501)),
            ended_because: Some("stopped".to_owned()),
            connection_at: Some(at(502)),
            connected_node: None,
            ..known.clone()
        };
        assert_eq!(row(store).await, expected);
        let made = row(new).await;
        assert_eq!((made.outbox_pending, made.last_seq, made.ticket.as_str()), (3, 0, ""));
        assert_eq!(Heard::new(&made).connection, None, "nothing was heard of it");

        // A handshake that read the row before does not put back what was heard since.
        let tx = hq.db.begin().await.expect("a transaction");
        nodes::save(&tx, store_node::Model { last_seq: 77, ..known }).await.expect("a row");
        tx.commit().await.expect("a commit");
        assert_eq!(row(store).await, store_node::Model { last_seq: 77, ..expected });

        hear(&[(store, back)]).await;
        let found = Heard::new(&row(store).await);
        assert_eq!((found.connection, found.heartbeat), (Some((at(503), here)), Some((at(503), 77))));
        assert_eq!(found.said, Some((at(501), said)));
        // Of what is known in two places the newer one counts, part by part.
        let here = Heard { said: Some((at(500), Said::default())), ..seen(600) };
        for both in [here.clone().newest(found.clone()), found.clone().newest(here)] {
            assert_eq!(both, Heard { at: Some(at(600)), ..found.clone() });
        }
    }
}

#[tokio::test]
async fn old_news_of_a_store_do_not_replace_newer_ones() {
    for hq in kit::both().await {
        let store = id("S01");
        let heard = |seconds, pending, ended| Heard {
            at: Some(at(seconds)),
            said: Some((at(seconds), OutboxState { pending, ..OutboxState::default() }.into())),
            connection: Some((at(seconds), ended)),
            heartbeat: None,
            process_at: None,
        };
        let hear = async |news: Heard| {
            let tx = hq.db.begin().await.expect("a transaction");
            nodes::hear(&tx, id("this server"), &[(store, news)]).await.expect("a note");
            tx.commit().await.expect("a commit");
            Heard::new(&nodes::find(hq.db.reader(), store).await.expect("a read").expect("a row"))
        };
        let newer = heard(700, 2, Line::Open(None));
        assert_eq!(hear(newer.clone()).await, newer);
        assert_eq!(
            hear(heard(699, 9, Line::Ended(Ended::Stopped))).await,
            newer,
            "another server writes what it knew before"
        );
        assert_eq!(hear(Heard::default()).await, newer, "nothing was heard");
        // Each part by itself.
        let said = Some((at(701), OutboxState { pending: 5, ..OutboxState::default() }.into()));
        let mixed = Heard { said: said.clone(), ..heard(600, 0, Line::Ended(Ended::Stopped)) };
        assert_eq!(hear(mixed).await, Heard { said, ..newer });
        let moved = heard(700, 2, Line::Open(Some(id("another server"))));
        let tx = hq.db.begin().await.expect("a transaction");
        nodes::hear(&tx, id("another server"), &[(id("S02"), moved.clone())]).await.expect("a note");
        // Its former socket, at this server, is found dead a while later.
        let dead = Heard { connection: Some((at(720), Line::Ended(Ended::NoLine))), ..Heard::default() };
        nodes::hear(&tx, id("this server"), &[(id("S02"), dead.clone())]).await.expect("a note");
        let held = Heard::new(&nodes::find(&tx, id("S02")).await.expect("a read").expect("a row"));
        assert_eq!(held.connection, moved.connection);
        nodes::hear(&tx, id("another server"), &[(id("S02"), dead.clone())]).await.expect("a note");
        let ended = Heard::new(&nodes::find(&tx, id("S02")).await.expect("a read").expect("a row"));
        assert_eq!(ended.connection, dead.connection, "the one that held it knows");
        tx.commit().await.expect("a commit");
        let same_moment = heard(701, 6, Line::Ended(Ended::NoLine));
        assert_eq!(hear(same_moment.clone()).await, same_moment, "of one moment the later word counts");
    }
}

#[tokio::test]
async fn the_high_water_is_the_highest_number_of_each_register_also_beyond_six_digits() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let mut envelopes = Vec::new();
        for (register, number) in
            [("01", "000009"), ("02", "999999"), ("02", "1000000"), ("02", "999998"), ("02A", "000004")]
        {
            let name = format!("{register} {number}");
            let mut sale = create_sale(&chain.first, id(&name), &[(chain.tea, 1)]);
            sale["data"]["registerCode"] = json!(register.trim_end_matches('A'));
            sale["data"]["receiptNumber"] = json!(format!("S01-{register}-{number}"));
            envelopes.push(sale);
        }
        for (register, number) in [("01", 3), ("01", 12), ("01", 200_002)] {
            let data = json!({"registerCode": register, "sessionNumber": number, "status": "open"});
            let session = id(&format!("session {number}"));
            envelopes.push(envelope(&chain.first, "register_sessions", session, "create", &data, at(0)));
        }
        for (envelope, seq) in envelopes.iter_mut().zip(40..) {
            envelope["seq"] = json!(seq);
            envelope["node_epoch"] = json!("this database");
        }
        assert_eq!(push(&hq, &chain.first, &envelopes).await.refused, 0);
        let found = high_water::of_store(hq.db.reader(), chain.first.store_id, "S01", "this database")
            .await
            .expect("the numbers");
        let time = at(0).millis();
        let expected = [
            ("outbox", 47),
            ("outbox_time", time),
            ("receipt:01", 9),
            ("receipt:02", 1_000_000),
            ("receipt:02A", 4),
            ("session:01", 12),
            ("session:01B", 2),
        ];
        assert_eq!(found, expected.map(|(name, number)| (name.to_owned(), number)).into());
        let other = high_water::of_store(hq.db.reader(), chain.first.store_id, "S01", "another database")
            .await
            .expect("numbers");
        assert!(!other.contains_key("outbox"), "each database counts its outbox for itself");
        assert!(high_water::of_store(hq.db.reader(), chain.second.store_id, "S02", "").await.expect("none").is_empty());
    }
}

#[tokio::test]
async fn what_was_settled_is_acknowledged_once() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let store = chain.first.store_id;
        for seq in [5, 6] {
            let mut bad = envelope(&chain.first, "sales", id(&seq.to_string()), "create", &json!([]), at(0));
            bad["seq"] = json!(seq);
            bad["node_epoch"] = json!("this database");
            refuse(&hq, &chain.first, &bad).await;
        }
        let answered = async |ticket: &str| {
            let tx = hq.db.begin().await.expect("a transaction");
            let answered = nodes::to_acknowledge(&tx, store, ticket).await.expect("a note");
            tx.commit().await.expect("a commit");
            answered.into_iter().map(|settled| settled.acknowledged).collect::<Vec<_>>()
        };
        let came_back = async |ticket: &str| {
            let tx = hq.db.begin().await.expect("a transaction");
            nodes::acknowledged(&tx, store, ticket).await.expect("a note");
            tx.commit().await.expect("a commit");
        };
        assert!(answered("first").await.is_empty());
        // The times are those of a clock that was put right in between.
        let settle = async |status: &str, seconds, seq: i64| {
            let sql = "UPDATE sync_log SET status = $1, to_acknowledge = TRUE, resolved_at = $2, resolved_by = store_id WHERE seq = $3";
            let tx = hq.db.begin().await.expect("a transaction");
            raw::execute(&tx, sql, [status.into(), at(seconds).into(), seq.into()]).await.expect("an update");
            tx.commit().await.expect("a commit");
        };
        settle(sync_log::RETRIED, 20, 5).await;
        let of = |seq: i64, outcome| Acknowledged {
            seq,
            outcome,
            // Another database of the store has other entries under the same numbers.
            node_epoch: Some("this database".to_owned()),
            entity_id: id(&seq.to_string()).to_string(),
            at_headquarters: (outcome == Outcome::Resolved).then_some(false),
            charged: false,
        };
        assert_eq!(answered("second").await, [of(5, Outcome::Ok)]);
        settle(sync_log::RESOLVED, 10, 6).await;
        came_back("second").await;
        assert_eq!(
            answered("third").await,
            [of(6, Outcome::Resolved)],
            "what came after the answer was not said with it"
        );
        // That answer is lost.
        assert_eq!(answered("fourth").await, [of(6, Outcome::Resolved)]);
        came_back("third").await;
        assert_eq!(answered("fifth").await.len(), 1, "said with a ticket that has not come back");
        came_back("fifth").await;
        assert!(answered("sixth").await.is_empty());
    }
}

#[tokio::test]
async fn a_number_that_was_given_to_two_entries_shows_that_a_store_was_restored() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let store = chain.first.store_id;
        let twice = async |from, to| {
            nodes::numbers_twice(hq.db.reader(), store, "this database", from, to).await.expect("a read")
        };
        let sale = |name: &str, seq: i64| {
            let mut sale = create_sale(&chain.first, id(name), &[(chain.tea, 1)]);
            sale["data"]["receiptNumber"] = json!(format!("S01-01-{name}"));
            sale["seq"] = json!(seq);
            sale["node_epoch"] = json!("this database");
            sale
        };
        let (one, two) = (sale("000001", 1), sale("000002", 2));
        push(&hq, &chain.first, &[one.clone(), two]).await;
        assert!(!push(&hq, &chain.first, &[one]).await.handshake, "the same entry may arrive twice");
        assert!(!twice(1, 2).await);
        assert!(push(&hq, &chain.first, &[sale("000003", 2), sale("000004", 3)]).await.handshake);
        assert!(twice(1, 2).await && !twice(3, 9).await);
    }
}

#[tokio::test]
async fn pulls_are_counted_in_place() {
    for hq in kit::both().await {
        let store = id("S01");
        let note = async |pulled: &[((_, &'static str), Pulled)], quiet: &[(_, _)]| {
            let tx = hq.db.begin().await.expect("a transaction");
            sync_log::record_pulls(&tx, pulled).await.expect("a note");
            sync_log::record_quiet(&tx, quiet).await.expect("a note");
            tx.commit().await.expect("a commit");
        };
        let row = async |name| {
            let key = (store, name, sync_log::PULL.to_owned());
            sync_status::Entity::find_by_id(key).one(hq.db.reader()).await.expect("the status").expect("a row")
        };
        let products = || "products".to_owned();
        let pulled = |rows, since, seconds| Pulled { rows, since, success_at: Some(at(seconds)), ..Pulled::default() };
        note(&[((store, "products"), pulled(3, 7, 1)), ((id("S02"), "products"), pulled(1, 0, 1))], &[]).await;
        note(&[((store, "products"), pulled(2, 9, 2)), ((store, "tenders"), pulled(1, 1, 2))], &[]).await;
        let found = row(products()).await;
        assert_eq!((found.total_pulled, found.last_since_version, found.last_success_at), (5, 9, Some(at(2))));
        assert_eq!((found.total_pushed, found.pending_count, found.last_error), (0, 0, None));

        // What cannot be stored is an error, and no success; what came before stays as it is.
        let error = Some((at(3), "the disk is full".to_owned()));
        note(&[((store, "products"), Pulled { since: 9, error, pending: 4, ..Pulled::default() })], &[]).await;
        let found = row(products()).await;
        assert_eq!((found.total_pulled, found.pending_count, found.last_success_at), (5, 4, Some(at(2))));
        assert_eq!((found.last_error_at, found.last_error.as_deref()), (Some(at(3)), Some("the disk is full")));

        // A quiet cycle is a success of each type of its store, and of no other store.
        note(&[], &[(store, at(9)), (id("stranger"), at(9))]).await;
        for name in [products(), "tenders".to_owned()] {
            let found = row(name).await;
            assert_eq!((found.last_success_at, found.pending_count), (Some(at(9)), 0));
        }
        assert_eq!(row(products()).await.last_error_at, Some(at(3)), "it is still known that there was one");
        let key = (id("S02"), products(), sync_log::PULL.to_owned());
        let other = sync_status::Entity::find_by_id(key).one(hq.db.reader()).await.expect("a read").expect("a row");
        assert_eq!(other.last_success_at, Some(at(1)));
    }
}
