//! How stores stand by their own word: what they could not store, that all is well, what waits, and why they are gone.

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::{Value as Json, json};
use tillkeep_hq::routes;
use tillkeep_model::Instant;
use tillkeep_model::wire::{Ended, OutboxState, close};
use tower::ServiceExt;
use uuid::Uuid;

use super::kit::{Kit, Person, column};

/// A headquarters with one store, as it speaks by hand.
struct Site {
    kit: Kit,
    admin: Person,
    store: Uuid,
    token: String,
    epoch: String,
}

async fn site() -> Site {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let token = kit.sync_token(store);
    let epoch = kit.hq.epoch.clone();
    Site { kit, admin, store, token, epoch }
}

impl Site {
    /// What headquarters has of each type.
    async fn heads(&self) -> Json {
        self.kit.ask(&self.token, "/versions").await["versions"].clone()
    }

    /// A cycle of a store that has all of it, but of products only up to `products`; `more` goes into its question.
    async fn cycle(&self, products: Option<i64>, more: &str) {
        let heads = self.heads().await;
        let heads = heads.as_object().expect("versions");
        let have = heads.iter().map(|(name, head)| {
            let head = head.as_i64().expect("a version");
            format!("{name}:{}", products.filter(|_| name == "products").unwrap_or(head))
        });
        let have = have.collect::<Vec<_>>().join(",");
        self.kit.ask(&self.token, &format!("/versions?epoch={}&have={have}{more}", self.epoch)).await;
    }

    async fn row(&self) -> Json {
        self.kit.get(&self.admin, "/sync/dashboard").await.data()["stores"][0].clone()
    }

    async fn summary(&self) -> Json {
        self.kit.get(&self.admin, "/sync/dashboard").await.data()["summary"].clone()
    }

    /// What is pulled of a type.
    async fn entity(&self, name: &str) -> Json {
        let row = self.row().await;
        let types = row["sync"].as_array().cloned().unwrap_or_default();
        let found = types.into_iter().find(|row| row["entityType"] == name && row["direction"] == "pull");
        found.unwrap_or_else(|| panic!("no {name} in {row}"))
    }

    /// Whether this is a moment after the clock was last moved.
    fn is_now(&self, at: &Json) -> bool {
        let at = at.as_str().and_then(Instant::parse);
        at.is_some_and(|at| self.kit.clock.now().millis_since(at) < 20_000)
    }
}

const FULL: &str = "&unstored=products:the+disk+is+full";

#[tokio::test]
async fn what_a_store_cannot_store_is_an_error_that_counts_no_rows_until_it_can() {
    let site = site().await;
    site.cycle(None, "").await;
    let had = site.heads().await["products"].as_i64().expect("a version");
    site.kit.product(&site.admin, "P1", json!({})).await;
    let pull = format!("/pull?entity_type=products&since_version={had}&limit=2000&epoch={}", site.epoch);
    for _ in 0..13 {
        site.kit.clock.advance(30_000);
        site.cycle(Some(had), FULL).await;
        site.kit.ask(&site.token, &pull).await;
        site.cycle(Some(had), FULL).await;
    }
    let products = site.entity("products").await;
    assert_eq!((&products["totalPulled"], &products["pendingCount"]), (&json!(0), &json!(1)), "{products}");
    assert_eq!(products["lastError"], "the disk is full");
    assert!(site.is_now(&products["lastErrorAt"]) && !site.is_now(&products["lastSuccessAt"]), "{products}");
    let row = site.row().await;
    assert_eq!((&row["lastError"], &row["unstored"]), (&json!("the disk is full"), &json!(["products"])));
    assert_eq!((&row["errorCount"], &site.summary().await["unstored"]), (&json!(1), &json!(1)));
    // The others have theirs.
    assert!(site.is_now(&site.entity("tenders").await["lastSuccessAt"]));

    // There is room again.
    site.kit.clock.advance(30_000);
    site.cycle(None, "").await;
    let products = site.entity("products").await;
    assert_eq!((&products["totalPulled"], &products["pendingCount"]), (&json!(1), &json!(0)), "{products}");
    assert!(site.is_now(&products["lastSuccessAt"]), "{products}");
    assert_eq!(products["lastError"], "the disk is full", "it stays to be read");
    assert_eq!(site.row().await["unstored"], json!([]));
    assert_eq!(site.summary().await["unstored"], 0);
}

/// A store that cannot keep a new product, said `cycles` times; up to where it has products.
async fn unkept(site: &Site, cycles: usize) -> i64 {
    site.cycle(None, "").await;
    let had = site.heads().await["products"].as_i64().expect("a version");
    site.kit.product(&site.admin, &format!("P{had}"), json!({})).await;
    say(site, had, FULL, cycles).await;
    had
}

/// Says something of products in so many cycles; each is noted.
async fn say(site: &Site, had: i64, what: &str, cycles: usize) {
    for _ in 0..cycles {
        site.kit.clock.advance(30_000);
        site.cycle(Some(had), what).await;
        site.row().await;
    }
}

async fn errors(site: &Site, query: &str) -> Vec<Json> {
    let list = site.kit.get(&site.admin, &format!("/sync/errors{query}")).await.data();
    list.as_array().expect("a list").clone()
}

async fn shake(site: &Site, ticket: &Json) -> Json {
    let who = Person { id: Uuid::nil(), token: site.token.clone() };
    let request = json!({"nodeEpoch": "n1", "epoch": site.epoch, "ticket": ticket});
    let got = site.kit.post(&who, "/sync/handshake", request).await;
    got.is(200);
    got.body
}

#[tokio::test]
async fn a_type_that_a_store_cannot_keep_is_one_failed_entry_that_closes_when_it_can() {
    let site = site().await;
    let had = unkept(&site, 5).await;
    let failed = errors(&site, "").await;
    assert_eq!(failed.len(), 1, "not one a cycle: {failed:?}");
    let entry = &failed[0];
    assert_eq!(
        (&entry["direction"], &entry["entityType"], &entry["storeCode"]),
        (&json!("pull"), &json!("products"), &json!("S01"))
    );
    assert_eq!(
        (&entry["error"], &entry["code"], &entry["envelope"]),
        (&json!("the disk is full"), &json!("not_stored"), &Json::Null)
    );
    assert_eq!(entry["retryCount"], 5, "as often as the store tried");
    let row = site.row().await;
    assert_eq!((&row["errorCount"], &site.summary().await["failed"]), (&json!(1), &json!(1)));
    // It is of no document: whether those are complete, and how many came, is the same without it.
    let complete =
        site.kit.get(&site.admin, &format!("/sync/completeness?storeId={}&date=2026-11-20", site.store)).await;
    assert_eq!(complete.data()["outbox"]["refused"], 0);

    // Another reason is the same trouble, another type is not.
    say(&site, had, "&unstored=products:a+row+could+not+be+read,tenders:full", 1).await;
    let two = errors(&site, "?sort=first_seen_at").await;
    let listed: Vec<_> = two.iter().map(|entry| (entry["entityType"].clone(), entry["error"].clone())).collect();
    assert_eq!(
        listed,
        [("products", "a row could not be read"), ("tenders", "full")].map(|(one, two)| (json!(one), json!(two)))
    );

    site.kit.clock.advance(30_000);
    site.cycle(None, "").await;
    assert_eq!((&site.row().await["errorCount"], errors(&site, "").await.len()), (&json!(0), 0));
    let closed = errors(&site, "?status=resolved").await;
    assert_eq!(closed.len(), 2);
    assert!(closed.iter().all(|entry| entry["note"] == "the store has this type again"), "{closed:?}");
    // The next trouble is another entry.
    unkept(&site, 2).await;
    assert_eq!((&site.row().await["errorCount"], errors(&site, "").await.len()), (&json!(1), 1));
}

#[tokio::test]
async fn a_type_that_cannot_be_kept_and_that_was_resolved_stays_hidden_until_it_was_kept_in_between() {
    let site = site().await;
    let had = unkept(&site, 2).await;
    let entry = errors(&site, "").await.remove(0);
    let path = entry["id"].as_str().expect("an id").to_owned();
    let another = site.kit.post(&site.admin, &format!("/sync/errors/{path}/renumber"), json!({})).await;
    assert_eq!((another.status, another.body["code"].as_str()), (409, Some("not_a_number")));
    site.kit.post(&site.admin, &format!("/sync/resolve/{path}"), json!({"note": "known"})).await.is(200);
    say(&site, had, FULL, 3).await;
    assert_eq!((&site.row().await["errorCount"], errors(&site, "").await.len()), (&json!(0), 0));
    assert_eq!(site.row().await["unstored"], json!(["products"]), "that is how it stands all the same");
    site.kit.clock.advance(30_000);
    site.cycle(None, "").await;
    site.row().await;
    unkept(&site, 1).await;
    assert_eq!((&site.row().await["errorCount"], errors(&site, "").await.len()), (&json!(1), 1));
}

#[tokio::test]
async fn whoever_tries_again_what_a_store_cannot_keep_has_it_load_the_type_again() {
    let site = site().await;
    let mut ticket = shake(&site, &Json::Null).await["ticket"].clone();
    for all in [false, true] {
        let had = unkept(&site, 2).await;
        let entry = errors(&site, "").await.remove(0);
        let asks = async || site.kit.ask(&site.token, "/versions").await["handshake"].clone();
        assert_eq!(asks().await, false);
        if all {
            let done = site.kit.post(&site.admin, "/sync/retry-all", json!({"storeId": site.store})).await.data();
            assert_eq!(done, json!({"attempted": 1, "retried": 1, "failed": 0, "next": null}));
        } else {
            let path = format!("/sync/retry/{}", entry["id"].as_str().expect("an id"));
            let done = site.kit.post(&site.admin, &path, json!({})).await.data();
            assert_eq!((&done["status"], &done["error"]), (&json!("retried"), &Json::Null));
        }
        assert_eq!(errors(&site, "").await.len(), 0);
        // As long as the store was not notified, it says what it said before; and the word that asked for the handshake
        // is as old.
        say(&site, had, FULL, 1).await;
        assert_eq!((asks().await, errors(&site, "").await.len()), (json!(true), 0));
        site.cycle(Some(had), FULL).await;
        site.kit.clock.advance(10);
        let answer = shake(&site, &ticket).await;
        site.row().await;
        assert_eq!((&answer["resync"], errors(&site, "").await.len()), (&json!(["products"]), 0));
        // An answer that was lost is given once more, one that arrived is not.
        let again = shake(&site, &ticket).await;
        assert_eq!(again["resync"], json!(["products"]));
        let after = shake(&site, &again["ticket"]).await;
        assert_eq!((&after["resync"], asks().await), (&json!([]), json!(false)));
        ticket = after["ticket"].clone();
        // It fails again: that is another entry.
        say(&site, 0, FULL, 1).await;
        assert_eq!((&site.row().await["errorCount"], errors(&site, "").await.len()), (&json!(1), 1));
        site.kit.clock.advance(30_000);
        site.cycle(None, "").await;
        assert_eq!((&site.row().await["errorCount"], errors(&site, "").await.len()), (&json!(0), 0));
    }
}

#[tokio::test]
async fn a_store_that_speaks_the_specification_alone_has_what_it_asks_beyond() {
    let site = site().await;
    for sku in ["P1", "P2", "P3"] {
        site.kit.product(&site.admin, sku, json!({})).await;
    }
    let pull = async |since: i64| {
        let path = format!("/pull?entity_type=products&since_version={since}");
        site.kit.ask(&site.token, &path).await["latest_version"].as_i64().expect("a version")
    };
    let mut latest = 0;
    for _ in 0..3 {
        // Its answers were lost.
        latest = pull(0).await;
    }
    assert_eq!(site.entity("products").await["totalPulled"], 0);
    site.kit.clock.advance(30_000);
    assert_eq!(pull(latest).await, latest);
    let products = site.entity("products").await;
    assert!(products["totalPulled"] == 3 && site.is_now(&products["lastSuccessAt"]), "{products}");
    site.kit.clock.advance(30_000);
    pull(latest).await;
    let products = site.entity("products").await;
    assert!(products["totalPulled"] == 3 && site.is_now(&products["lastSuccessAt"]), "{products}");
}

#[tokio::test]
async fn each_question_of_a_quiet_store_is_a_success_of_every_type() {
    let site = site().await;
    site.cycle(None, "&pending=0&dead=0").await;
    for _ in 0..4 {
        site.kit.clock.advance(30_000);
        site.cycle(None, "&pending=0&dead=0").await;
        let row = site.row().await;
        assert!(site.is_now(&row["lastSuccessAt"]), "{row}");
        let pulled = tillkeep_storage::registry::pulled().count();
        let types = row["sync"].as_array().expect("types");
        assert_eq!(types.len(), pulled);
        assert!(types.iter().all(|one| site.is_now(&one["lastSuccessAt"])), "{row}");
    }
    // One that is behind has no success of what it lacks.
    site.kit.clock.advance(30_000);
    let had = site.heads().await["products"].as_i64().expect("a version");
    site.kit.product(&site.admin, "P1", json!({})).await;
    site.cycle(Some(had), "").await;
    assert!(!site.is_now(&site.entity("products").await["lastSuccessAt"]));
    assert!(site.is_now(&site.entity("tenders").await["lastSuccessAt"]));
}

#[tokio::test]
async fn what_waits_in_a_store_is_known_from_whatever_said_so_last() {
    let mut site = site().await;
    let shown = async |site: &Site| {
        let row = site.row().await;
        (row["outboxPending"].clone(), row["deadLettered"].clone(), row["oldestPendingAt"].clone())
    };
    let oldest = site.kit.clock.now();
    site.cycle(None, &format!("&pending=4&dead=1&oldest={oldest}")).await;
    assert_eq!(shown(&site).await, (json!(4), json!(1), json!(oldest)));
    let shake = async |site: &Site, pending: i64| {
        let who = Person { id: Uuid::nil(), token: site.token.clone() };
        let outbox = json!({"pending": pending, "deadLettered": 0, "oldest": null});
        site.kit.post(&who, "/sync/handshake", json!({"nodeEpoch": "n1", "outbox": outbox})).await.is(200);
    };
    site.kit.clock.advance(1000);
    shake(&site, 3).await;
    assert_eq!(shown(&site).await, (json!(3), json!(0), Json::Null));
    site.kit.clock.advance(1000);
    let beat = OutboxState { pending: 2, dead_lettered: 0, oldest: Some(oldest) };
    site.kit.hq.tracker.reported(site.store, beat, site.kit.clock.now());
    assert_eq!(shown(&site).await, (json!(2), json!(0), json!(oldest)));
    // What cannot be read, and a store that says nothing of it, change nothing and lose no cycle.
    for said in ["&pending=many", "&pending=-1", ""] {
        site.cycle(None, said).await;
        assert_eq!(shown(&site).await.0, 2, "{said}");
    }
    site.cycle(None, "&pending=1&dead=x&oldest=yesterday&unstored=spaceships:x,,products").await;
    assert_eq!(shown(&site).await, (json!(1), json!(0), Json::Null));
    assert_eq!(site.row().await["unstored"], json!(["products"]), "without a reason too");
    let stored = site.kit.get(&site.admin, &format!("/stores/{}", site.store)).await.data();
    assert_eq!((&stored["sync"]["outboxPending"], &stored["sync"]["pendingCount"]), (&json!(1), &json!(0)));
    // The database knows it as well.
    site.kit.restart().await;
    assert_eq!(shown(&site).await, (json!(1), json!(0), Json::Null));
}

#[tokio::test]
async fn what_a_store_says_is_wrong_with_it_is_shown_until_it_says_so_no_more() {
    let mut site = site().await;
    let since = site.kit.clock.now();
    let (file, till) = (json!({"code": "numbers_file", "since": since}), json!({"code": "till_ahead", "since": since}));
    site.cycle(None, &format!("&pending=0&dead=0&alarms=till_ahead:{since},numbers_file:{since},of_a_newer_one:x"))
        .await;
    assert_eq!(site.row().await["alarms"], json!([file, till]));
    assert_eq!(site.summary().await["alarmed"], 1);
    // The database knows it as well, for another server and after a restart.
    site.kit.restart().await;
    assert_eq!(site.row().await["alarms"], json!([file, till]));
    let request = Request::get("/metrics").body(Body::empty()).expect("a request");
    let page = routes::metrics(site.kit.hq.clone()).oneshot(request).await.expect("an answer");
    let page = page.into_body().collect().await.expect("a body").to_bytes();
    let text = String::from_utf8_lossy(&page);
    let alarm = |code: &str| format!("tillkeep_store_alarms{{store=\"S01\",alarm=\"{code}\"}} 1");
    assert!(text.contains(&alarm("numbers_file")) && text.contains(&alarm("till_ahead")), "{text}");
    site.kit.clock.advance(1000);
    let who = Person { id: Uuid::nil(), token: site.token.clone() };
    let said = json!({"nodeEpoch": "n1", "signIn": true, "alarms": format!("till_ahead:{since}")});
    site.kit.post(&who, "/sync/handshake", said).await.is(200);
    assert_eq!(site.row().await["alarms"], json!([till]));
    site.kit.clock.advance(1000);
    site.cycle(None, "&pending=0&dead=0").await;
    assert_eq!((&site.row().await["alarms"], &site.summary().await["alarmed"]), (&json!([]), &json!(0)));
}

#[tokio::test]
async fn an_entry_that_waits_for_over_five_minutes_with_a_line_is_an_alarm() {
    let site = site().await;
    let made: Instant = site.kit.clock.now();
    let said = format!("&pending=1&dead=0&oldest={made}");
    let connection = site.kit.hq.hub.connect(site.store, "S01", made, close::REPLACED);
    let shown = async || (site.row().await["outboxStuck"].clone(), site.summary().await["outboxStuck"].clone());
    let waiting = || site.kit.hq.tracker.waiting(&site.kit.hq.hub.stores(), site.kit.clock.now());
    site.kit.clock.advance(280_000);
    site.cycle(None, &said).await;
    assert_eq!(shown().await, (json!(false), json!(0)));
    site.kit.clock.advance(21_000);
    assert_eq!(shown().await, (json!(true), json!(1)), "whether or not it says so again");
    assert!(waiting().stuck == 1 && (301_000..330_000).contains(&waiting().oldest_ms), "{:?}", waiting());
    let request = Request::get("/metrics").body(Body::empty()).expect("a request");
    let page = routes::metrics(site.kit.hq.clone()).oneshot(request).await.expect("an answer");
    let page = page.into_body().collect().await.expect("a body").to_bytes();
    let page = String::from_utf8_lossy(&page);
    assert!(page.contains("tillkeep_stores_outbox_stuck 1\n"), "{page}");
    assert!(page.contains("tillkeep_oldest_pending_seconds 3"), "{page}");
    // Without a line it waits, and its outbox needs no look.
    site.kit.hq.hub.disconnect(&connection);
    assert_eq!(shown().await, (json!(false), json!(0)));
    assert_eq!(waiting().stuck, 0);
    site.kit.hq.hub.connect(site.store, "S01", site.kit.clock.now(), close::REPLACED);
    site.cycle(None, "&pending=0&dead=0").await;
    assert_eq!(shown().await, (json!(false), json!(0)));
}

#[tokio::test]
async fn why_a_store_is_gone_and_when_it_was_last_heard_outlives_headquarters() {
    let mut site = site().await;
    let shown = async |site: &Site| {
        let row = site.row().await;
        assert_eq!(row["connection"]["lastHeartbeatAt"], Json::Null);
        (row["endedBecause"].clone(), row["lastHeardAt"].clone())
    };
    assert_eq!(shown(&site).await, (Json::Null, Json::Null), "it was never there");
    for because in Ended::ALL {
        let connect = || {
            let connection = site.kit.hq.hub.connect(site.store, "S01", site.kit.clock.now(), close::REPLACED);
            site.kit.hq.tracker.connected(&connection, site.kit.hq.nodes.id);
            connection
        };
        let older = connect();
        site.kit.clock.advance(1000);
        let connection = connect();
        site.kit.hq.tracker.ended(&older, Some(Ended::Replaced), site.kit.clock.now());
        let heard = site.kit.clock.now();
        site.kit.hq.tracker.seen(site.store, heard);
        assert_eq!(site.row().await["endedBecause"], Json::Null, "a newer connection is there");
        site.kit.clock.advance(8000);
        site.kit.hq.tracker.ended(&connection, Some(because), site.kit.clock.now());
        site.kit.hq.hub.disconnect(&connection);
        let expected = (json!(because.as_str()), json!(heard));
        assert_eq!(shown(&site).await, expected);
        site.kit.restart().await;
        assert_eq!(shown(&site).await, expected, "after a restart");
    }
    // Headquarters itself goes: nothing is noted. Whoever does not come back has no line.
    let connection = site.kit.hq.hub.connect(site.store, "S01", site.kit.clock.now(), close::REPLACED);
    site.kit.hq.tracker.connected(&connection, site.kit.hq.nodes.id);
    let heard = site.kit.clock.now();
    site.kit.hq.tracker.seen(site.store, heard);
    site.kit.hq.tracker.ended(&connection, None, site.kit.clock.now());
    tillkeep_hq::sync::rounds::flush(&site.kit.hq).await.expect("written");
    site.kit.restart().await;
    site.kit.clock.advance(20_000);
    assert_eq!(shown(&site).await, (Json::Null, json!(heard)));
    site.kit.clock.advance(20_000);
    assert_eq!(shown(&site).await, (json!("no_line"), json!(heard)));
}

#[tokio::test]
async fn a_store_that_is_shut_out_while_it_is_away_is_shown_as_that() {
    let site = site().await;
    for (path, body) in
        [("deactivate", json!({"force": true})), ("revoke-token", Json::Null), ("provision", json!({"rotate": true}))]
    {
        let id = site.kit.store(&path[..2].to_uppercase()).await;
        let one = format!("/stores/{id}");
        site.kit.post(&site.admin, &format!("{one}/provision"), json!({})).await.is(200);
        let connection = site.kit.hq.hub.connect(id, "S", site.kit.clock.now(), close::REPLACED);
        site.kit.hq.tracker.connected(&connection, site.kit.hq.nodes.id);
        site.kit.clock.advance(1000);
        site.kit.hq.tracker.ended(&connection, Some(Ended::NoLine), site.kit.clock.now());
        site.kit.hq.hub.disconnect(&connection);
        let shown = async || {
            let list = site.kit.get(&site.admin, "/sync/dashboard").await.data()["stores"].clone();
            let rows = list.as_array().into_iter().flatten();
            let row = rows.clone().find(|row| row["storeId"] == json!(id));
            row.unwrap_or_else(|| panic!("no {id} in {list}"))["endedBecause"].clone()
        };
        assert_eq!(shown().await, "no_line");
        site.kit.clock.advance(1000);
        let got = site.kit.post(&site.admin, &format!("{one}/{path}"), body).await;
        assert!(got.status < 300, "{}", got.text);
        assert_eq!(shown().await, "revoked", "{path}");
        // Until it is there again.
        let connection = site.kit.hq.hub.connect(id, "S", site.kit.clock.now(), close::REPLACED);
        site.kit.hq.tracker.connected(&connection, site.kit.hq.nodes.id);
        assert_eq!(shown().await, Json::Null, "{path}");
    }
}

#[tokio::test]
async fn what_a_store_cannot_store_is_no_failed_entry_and_holds_nothing_up() {
    let site = site().await;
    site.cycle(None, FULL).await;
    // Nothing of it waits to be settled: the list of failed entries has none, and the store may be taken out of use.
    assert_eq!(site.kit.get(&site.admin, "/sync/errors").await.data(), json!([]));
    let list = site.kit.get(&site.admin, "/sync/dashboard?sort=-lastErrorAt").await.data();
    assert_eq!(column(&list["stores"], "storeCode"), ["S01"]);
    site.kit.post(&site.admin, &format!("/stores/{}/deactivate", site.store), json!({})).await.is(200);
}

#[tokio::test]
async fn what_a_store_cannot_store_says_nothing_without_what_it_has_and_is_refused_by_name() {
    let site = site().await;
    let machine = Person { id: Uuid::nil(), token: site.token.clone() };
    for query in [FULL.trim_start_matches('&').to_owned(), format!("epoch={}{FULL}", site.epoch)] {
        let got = site.kit.get(&machine, &format!("/sync/versions?{query}")).await;
        got.refused(400, "bad_request");
        got.names("unstored");
    }
    assert_eq!(site.row().await["unstored"], json!([]));
    // A store of any release says what it has, be it nothing.
    site.kit.ask(&site.token, &format!("/versions?epoch={}&have={FULL}", site.epoch)).await;
    assert_eq!(site.row().await["unstored"], json!(["products"]));
}
