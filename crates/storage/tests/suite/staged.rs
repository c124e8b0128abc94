//! Rule D2: of types with rows that make sense only together nothing is visible before all of it is here.

use sea_orm::ConnectionTrait;
use serde_json::{Value as Json, json};
use tillkeep_model::wire::PullAnswer;
use tillkeep_storage::registry::SyncType;
use tillkeep_storage::{DbErr, apply, registry, staged};
use uuid::Uuid;

use crate::kit::chain::id;
use crate::kit::{Hq, Shop, at, entity, fill, page_of};

fn taxes() -> Vec<&'static SyncType> {
    registry::together("tax_rates").iter().map(|name| entity(name)).collect()
}

/// A rate in its version.
fn rate(number: usize, version: i64) -> Json {
    let code = format!("R{number}");
    json!({"id": id(&code), "code": code, "name": format!("version {version}"), "syncVersion": version})
}

fn page(since: i64, has_more: bool, rows: &[Json]) -> PullAnswer {
    PullAnswer { since_version: since, has_more, ..page_of("tax_rates", rows) }
}

trait Staging {
    async fn stage(&self, answer: &PullAnswer);
    async fn stage_all(&self, hq: &Hq, name: &str, limit: u64);
    async fn show(&self) -> Result<Option<usize>, DbErr>;
    async fn aside(&self, name: &str) -> i64;
    async fn begin_reload(&self, name: &str);
}

impl Staging for Shop {
    async fn stage(&self, answer: &PullAnswer) {
        let tx = self.begin().await;
        let of = entity(&answer.entity_type);
        let page = apply::Page::read(of, answer.clone()).expect("rows");
        staged::page(&tx, of, page).await.expect("a page");
        tx.commit().await.expect("a commit");
    }

    /// Lays a type aside, page by page, to its end.
    async fn stage_all(&self, hq: &Hq, name: &str, limit: u64) {
        loop {
            let from = staged::cursor(self.db.reader(), entity(name)).await.expect("a cursor");
            let answer = hq.answer(name, self.id, from.version, limit).await;
            self.stage(&answer).await;
            if !answer.has_more {
                return;
            }
        }
    }

    async fn show(&self) -> Result<Option<usize>, DbErr> {
        let places = staged::places(self.db.reader(), &taxes()).await?;
        let tx = self.begin().await;
        let shown = staged::show(&tx, &places, self.id, at(0)).await?;
        tx.commit().await?;
        Ok(shown)
    }

    async fn aside(&self, name: &str) -> i64 {
        staged::count(self.db.reader(), entity(name)).await.expect("a count")
    }

    async fn begin_reload(&self, name: &str) {
        let tx = self.begin().await;
        apply::begin_reload(&tx, entity(name)).await.expect("a reload");
        tx.commit().await.expect("a commit");
    }
}

#[tokio::test]
async fn what_lies_aside_is_visible_at_once_and_as_headquarters_has_it() {
    let hq = Hq::sqlite().await;
    let (store, other) = (fill::id_of("stores", 0), fill::id_of("stores", 1));
    for name in ["stores", "tax_rates", "tax_groups", "tax_group_rates"] {
        fill::at_hq(&hq, name, 0..7, store, other).await;
    }
    let shop = Shop::open(store).await;
    for of in taxes() {
        shop.stage_all(&hq, of.name, 3).await;
        assert_eq!((shop.rows(of.name).await.len(), shop.aside(of.name).await), (0, 7), "{}", of.name);
        assert_eq!(shop.cursor(of.name).await, apply::Cursor::default(), "{}", of.name);
    }
    assert_eq!(shop.show().await.expect("all is here"), Some(21));
    for of in taxes() {
        let (mut here, mut there) = (shop.rows(of.name).await, hq.rows(of.name, store).await);
        here.sort_by_key(ToString::to_string);
        there.sort_by_key(ToString::to_string);
        assert_eq!(here, there, "{}", of.name);
        assert_eq!((shop.cursor(of.name).await.version, shop.aside(of.name).await), (7, 0), "{}", of.name);
    }
    // An end without news is nothing that could become visible.
    shop.stage_all(&hq, "tax_rates", 3).await;
    let places = staged::places(shop.db.reader(), &taxes()).await.expect("places");
    assert!(places.iter().all(|place| !place.is_staged && place.cursor.version == 7));
}

#[tokio::test]
async fn more_rows_than_are_in_memory_at_a_time_become_visible_in_one_transaction() {
    const MANY: usize = 1203;
    let shop = Shop::open(id("S01")).await;
    let rows: Vec<Json> = (1..=MANY).map(|number| rate(number, i64::try_from(number).expect("few"))).collect();
    for (place, part) in rows.chunks(401).enumerate() {
        let since = i64::try_from(place * 401).expect("few");
        shop.stage(&page(since, since < 802, part)).await;
    }
    let tx = shop.begin().await;
    let refuses = format!(
        "CREATE TRIGGER refuses BEFORE INSERT ON tax_rates WHEN (SELECT COUNT(*) FROM tax_rates) = {} \
         BEGIN SELECT RAISE(ABORT, 'the disk is full'); END",
        MANY - 1
    );
    tx.execute_unprepared(&refuses).await.expect("a trigger");
    tx.commit().await.expect("a commit");
    let error = shop.show().await.expect_err("the last one has no room").to_string();
    assert!(error.contains("the disk is full"), "{error}");
    assert_eq!((shop.rows("tax_rates").await.len(), shop.aside("tax_rates").await), (0, 1203));
    shop.execute("DROP TRIGGER refuses", []).await;
    assert_eq!(shop.show().await.expect("there is room"), Some(MANY));
    assert_eq!((shop.rows("tax_rates").await.len(), shop.aside("tax_rates").await), (MANY, 0));
    assert_eq!(shop.cursor("tax_rates").await.version, 1203);
}

#[tokio::test]
async fn rows_that_change_again_and_again_take_the_room_of_one_each() {
    let shop = Shop::open(id("S01")).await;
    for version in 0..40 {
        shop.stage(&page(version, false, &[rate(1, version + 1)])).await;
        assert_eq!(shop.aside("tax_rates").await, 1);
    }
    assert_eq!(shop.show().await.expect("all is here"), Some(1));
    assert_eq!(shop.rows("tax_rates").await[0]["name"], "version 40");
}

#[tokio::test]
async fn a_reload_that_lies_aside_takes_away_what_is_gone_and_keeps_what_headquarters_cannot_read() {
    let shop = Shop::open(id("S01")).await;
    shop.apply(&page(0, false, &[rate(1, 1), rate(2, 2), rate(3, 3)])).await;
    shop.begin_reload("tax_rates").await;
    let unread = id("R2");
    shop.stage(&PullAnswer { left_out: vec![unread], latest_version: 2, ..page(0, true, &[]) }).await;
    shop.stage(&page(2, false, &[rate(4, 4)])).await;
    assert_eq!(shop.rows("tax_rates").await.len(), 3, "nothing goes before all is here");
    assert_eq!(shop.show().await.expect("all is here"), Some(1));
    let mut left: Vec<Uuid> =
        shop.rows("tax_rates").await.iter().filter_map(|row| row["id"].as_str()?.parse().ok()).collect();
    let mut expected = [unread, id("R4")];
    left.sort_unstable();
    expected.sort_unstable();
    assert_eq!(left, expected);
    assert!(!shop.cursor("tax_rates").await.reloading);
}

#[tokio::test]
async fn what_lies_aside_of_before_a_reload_is_forgotten_and_nothing_is_shown_until_the_reload_ends() {
    let shop = Shop::open(id("S01")).await;
    shop.stage(&page(0, false, &[rate(1, 1)])).await;
    let groups = json!({"id": id("G"), "code": "G", "name": "G", "syncVersion": 1});
    shop.stage(&page_of("tax_groups", &[groups])).await;
    let before = staged::places(shop.db.reader(), &taxes()).await.expect("places");
    shop.begin_reload("tax_rates").await;
    assert_eq!((shop.aside("tax_rates").await, shop.aside("tax_groups").await), (0, 1));
    // Whoever looked before the reload, and whoever looks in it.
    let tx = shop.begin().await;
    assert_eq!(staged::show(&tx, &before, shop.id, at(0)).await.expect("an answer"), None);
    drop(tx);
    assert_eq!(shop.show().await.expect("an answer"), None);
    assert_eq!(shop.rows("tax_groups").await.len(), 0);
    // A page of before does not pass for one of the reload.
    let late = apply::Page::read(entity("tax_rates"), page(1, false, &[rate(2, 2)])).expect("rows");
    let tx = shop.begin().await;
    staged::page(&tx, entity("tax_rates"), late).await.expect_err("it goes on from elsewhere");
    drop(tx);
    shop.stage(&page(0, false, &[rate(1, 1)])).await;
    assert_eq!(shop.show().await.expect("all is here"), Some(2));
}
