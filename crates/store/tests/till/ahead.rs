//! The next page of a type is on its way while one is written. `docs/sync.md`, *A store's cycle*.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use serde_json::json;
use tillkeep_storage::apply::{self, Cursor};
use tillkeep_storage::entity::department;
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use tillkeep_storage::{Tx, fault, registry};
use tillkeep_store::Store;
use tillkeep_store::headquarters::{Loading, Reply, Request, Transport};
use tillkeep_store::sync::Cycle;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::kit::{Shop, id};

/// Departments at headquarters, each of them a page.
const PAGES: i64 = 3;

/// What happens while the departments come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Nothing,
    /// The first page cannot be written before the second one is asked for.
    WriterIsTaken,
    /// The same, and a reload begins then.
    ReloadBegins,
    /// The line breaks when the second page is asked for.
    SecondBreaks,
    /// The first page has a row that cannot be read.
    FirstIsUnreadable,
    /// The first page is not the one that was asked for.
    FirstDoesNotFit,
    /// Nothing can be written before the third page is asked for.
    TakenUntilTheThird,
    /// The same, and the second page is not the one that was asked for.
    SecondDoesNotFit,
    /// Each further page comes while the one before it is in its transaction, or not at all.
    InTheTransaction,
}

/// A question: after which version, what the store has, and how many rows at the most.
type Asked = (i64, i64, u64);

struct Paged {
    what: What,
    store: OnceLock<Arc<Store>>,
    asked: Mutex<Vec<Asked>>,
    /// How far the store shows its load to be, at each question.
    shown: Mutex<Vec<Option<Loading>>>,
    /// The only writer of the store's database.
    writer: Mutex<Option<Tx>>,
    /// A page is in its transaction.
    inside: Notify,
    /// Gets each page that came meanwhile.
    comes: Sender<()>,
    came: Mutex<Receiver<()>>,
}

impl Paged {
    fn new(what: What) -> Self {
        let (comes, came) = channel();
        Self {
            what,
            store: OnceLock::new(),
            asked: Mutex::default(),
            shown: Mutex::default(),
            writer: Mutex::default(),
            inside: Notify::new(),
            comes,
            came: Mutex::new(came),
        }
    }

    /// What this question is the moment for.
    async fn happen(&self, since: i64) -> Result<(), String> {
        let store = self.store.get().expect("a store");
        let shown = store.sync.line().loading.get("departments").copied();
        self.shown.lock().expect("not poisoned").push(shown);
        let is_first = self.asked.lock().expect("not poisoned").iter().filter(|asked| asked.0 == since).count() == 1;
        match (self.what, since) {
            (What::WriterIsTaken | What::ReloadBegins | What::TakenUntilTheThird | What::SecondDoesNotFit, 0)
                if is_first =>
            {
                let tx = store.test_db().begin().await.expect("a transaction");
                *self.writer.lock().expect("not poisoned") = Some(tx);
            }
            (What::WriterIsTaken, 1) | (What::TakenUntilTheThird | What::SecondDoesNotFit, 2) => {
                drop(self.writer.lock().expect("not poisoned").take());
            }
            (What::ReloadBegins, 1) if is_first => {
                let tx = self.writer.lock().expect("not poisoned").take().expect("a transaction");
                let departments = registry::find("departments").expect("a type");
                apply::begin_reload(&tx, departments).await.expect("a reload");
                tx.commit().await.expect("a commit");
            }
            (What::SecondBreaks, 1) if is_first => return Err("the line breaks".to_owned()),
            (What::InTheTransaction, 1..) => {
                self.inside.notified().await;
                self.comes.send(()).expect("a test listens");
            }
            _ => {}
        }
        Ok(())
    }

    fn page(&self, since: i64) -> serde_json::Value {
        let version = since + 1;
        let row = department::Model {
            id: id(&format!("page {version}")),
            code: format!("PAGE{version}"),
            name: "On its way".to_owned(),
            sync_version: version,
            is_active: true,
            ..department::Model::default()
        };
        let mut row = serde_json::to_value(row).expect("JSON");
        if self.what == What::FirstIsUnreadable && since == 0 {
            row["sortOrder"] = json!("many");
        }
        let fits = match self.what {
            What::FirstDoesNotFit => since > 0,
            What::SecondDoesNotFit => since != 1,
            _ => true,
        };
        json!({
            "entity_type": "departments", "since_version": if fits { since } else { PAGES }, "rows": [row], "latest_version": version,
            "has_more": version < PAGES, "epoch": "e", "total": 40,
        })
    }
}

#[async_trait::async_trait]
impl Transport for Paged {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let body = match path {
            "/handshake" => json!({
                "epoch": "e", "ticket": "t", "ticketKnown": true, "serverVersion": "", "versions": {},
                "clock": "2026-11-20T14:00:00.000Z",
            }),
            "/versions" => json!({"epoch": "e", "versions": {"departments": PAGES}}),
            _ => {
                let number = |name: &str| {
                    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
                    pairs.find(|(key, _)| *key == name).and_then(|(_, value)| value.parse::<i64>().ok())
                };
                let since = number("since_version").expect("a cursor");
                let limit = number("limit").and_then(|limit| u64::try_from(limit).ok()).expect("a limit");
                let asked = (since, number("has_version").unwrap_or(since), limit);
                self.asked.lock().expect("not poisoned").push(asked);
                self.happen(since).await?;
                self.page(since)
            }
        };
        Ok(Reply { from_hq: true, status: 200, retry_after: None, body: body.to_string().into() })
    }
}

/// A store and its headquarters, after one cycle.
struct After {
    shop: Shop,
    hq: Arc<Paged>,
    cycle: Cycle,
}

impl After {
    async fn a_cycle(what: What) -> Self {
        let mut after = Self::nothing(what).await;
        after.next().await;
        after
    }

    async fn nothing(what: What) -> Self {
        let hq = Arc::new(Paged::new(what));
        let shop = Shop::with_line(hq.clone()).await;
        assert!(hq.store.set(shop.store.clone()).is_ok());
        Self { shop, hq, cycle: Cycle::default() }
    }

    /// Puts the cursor after the first page, in the middle of a load or not.
    async fn goes_on_after_the_first(&self, reloading: bool) {
        let departments = registry::find("departments").expect("a type");
        let tx = self.shop.store.test_db().begin().await.expect("a transaction");
        if reloading {
            apply::begin_reload(&tx, departments).await.expect("a reload");
            let rows = department::Entity::update_many().filter(department::Column::Code.eq("PAGE1"));
            rows.col_expr(department::Column::SyncVersion, Expr::value(1)).exec(&tx).await.expect("a row");
        }
        apply::set_cursor(&tx, departments, Cursor { reloading, ..at(1) }, None).await.expect("a cursor");
        tx.commit().await.expect("a commit");
    }

    /// How far the load was shown to be at each question.
    fn shown(&self) -> Vec<Option<Loading>> {
        self.hq.shown.lock().expect("not poisoned").clone()
    }

    async fn next(&mut self) {
        let step = self.cycle.step(&self.shop.store);
        timeout(Duration::from_secs(90), step).await.expect("a page waits for the next one and the next one for it");
    }

    fn asked(&self) -> Vec<Asked> {
        self.hq.asked.lock().expect("not poisoned").clone()
    }

    /// The pages that are here, the cursor, and whether all is well.
    async fn has(&self) -> (Vec<i64>, Cursor, bool) {
        let db = self.shop.store.test_db();
        let rows = department::Entity::find().filter(department::Column::Code.starts_with("PAGE"));
        let rows = rows.order_by_asc(department::Column::Code).all(db.reader()).await.expect("rows");
        let cursors = apply::cursors(db.reader()).await.expect("cursors");
        let line = self.shop.store.sync.line();
        let is_well = line.unstored.is_empty() && line.last_error.is_none();
        let pages = rows.iter().map(|row| row.sync_version).collect();
        (pages, cursors.get("departments").copied().unwrap_or_default(), is_well)
    }
}

const fn at(version: i64) -> Cursor {
    Cursor { version, reloading: false, tag: None }
}

#[tokio::test]
async fn one_page_is_fetched_while_one_is_written_and_headquarters_knows_what_is_here() {
    let after = After::a_cycle(What::WriterIsTaken).await;
    assert_eq!(after.asked(), [(0, 0, 500), (1, 0, 500), (2, 1, 500)]);
    assert_eq!(after.has().await, (vec![1, 2, 3], at(3), true));
}

#[tokio::test]
async fn what_was_fetched_before_a_reload_began_is_thrown_away_and_all_of_it_is_asked_for_again() {
    let after = After::a_cycle(What::ReloadBegins).await;
    // The page on its way to the database and the one after it are both of before.
    assert_eq!(after.asked(), [(0, 0, 500), (1, 0, 500), (0, 0, 500), (1, 0, 500), (2, 1, 500)]);
    assert_eq!(after.has().await, (vec![1, 2, 3], at(3), true));
}

#[tokio::test]
async fn a_page_is_kept_though_the_next_one_does_not_come_and_that_one_is_asked_for_in_half_its_size() {
    let mut after = After::a_cycle(What::SecondBreaks).await;
    assert_eq!(after.asked(), [(0, 0, 500), (1, 0, 500)]);
    assert_eq!(after.has().await, (vec![1], at(1), false));
    after.next().await;
    assert_eq!(after.asked()[2..], [(1, 1, 250), (2, 1, 250)]);
    assert_eq!(after.has().await, (vec![1, 2, 3], at(3), true));
}

#[tokio::test]
async fn a_page_after_one_that_cannot_be_kept_is_thrown_away() {
    let mut after = After::a_cycle(What::FirstDoesNotFit).await;
    after.next().await;
    assert_eq!(after.asked(), [(0, 0, 500), (1, 0, 500), (0, 0, 500), (1, 0, 500)]);
    assert_eq!(after.has().await, (vec![], at(0), false));
}

#[tokio::test]
async fn after_a_page_that_cannot_be_read_none_is_asked_for() {
    let mut after = After::a_cycle(What::FirstIsUnreadable).await;
    after.next().await;
    assert_eq!(after.asked(), [(0, 0, 500), (0, 0, 500)]);
    assert_eq!(after.has().await, (vec![], at(0), false));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_page_arrives_while_one_is_in_its_transaction() {
    let mut after = After::nothing(What::InTheTransaction).await;
    let (hq, passed, came) = (after.hq.clone(), AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
    let counted = came.clone();
    fault::call("apply.rows", move || {
        hq.inside.notify_one();
        let is_last = passed.fetch_add(1, Ordering::SeqCst) + 1 == 3;
        // The thread that writes stands still here.
        if !is_last && hq.came.lock().expect("not poisoned").recv_timeout(Duration::from_secs(30)).is_ok() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    after.next().await;
    assert_eq!((came.load(Ordering::SeqCst), after.has().await), (2, (vec![1, 2, 3], at(3), true)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_of_a_first_load_are_asked_for_while_those_before_them_wait_to_be_written() {
    let after = After::a_cycle(What::TakenUntilTheThird).await;
    assert_eq!(after.asked(), [(0, 0, 500), (1, 0, 500), (2, 0, 500)]);
    assert_eq!(after.has().await, (vec![1, 2, 3], at(3), true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_pages_that_are_written_together_those_before_one_that_cannot_be_stored_are_kept() {
    let after = After::a_cycle(What::SecondDoesNotFit).await;
    assert_eq!(after.has().await, (vec![1], at(1), false));
    assert_eq!(after.asked()[..3], [(0, 0, 500), (1, 0, 500), (2, 0, 500)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_came_of_a_first_load_before_the_line_broke_is_here() {
    let mut after = After::a_cycle(What::SecondBreaks).await;
    assert_eq!(after.has().await, (vec![1], at(1), false));
    after.next().await;
    assert_eq!(after.has().await, (vec![1, 2, 3], at(3), true));
}

/// So many rows are here of those that headquarters has.
const fn of_forty(rows: i64) -> Loading {
    Loading { rows, total: Some(40) }
}

#[tokio::test]
async fn while_more_pages_come_a_store_shows_how_many_rows_are_here_of_how_many() {
    let after = After::a_cycle(What::WriterIsTaken).await;
    // The departments that this store had before are not among them.
    assert_eq!(after.shown(), [None, Some(of_forty(0)), Some(of_forty(1))]);
    assert!(after.shop.store.sync.line().loading.is_empty());
}

#[tokio::test]
async fn a_load_that_broke_off_is_shown_as_far_as_it_came_and_goes_on_from_there() {
    let mut after = After::a_cycle(What::SecondBreaks).await;
    assert_eq!(after.shop.store.sync.line().loading.get("departments").copied(), Some(of_forty(1)));
    after.next().await;
    assert_eq!(after.shown(), [None, Some(of_forty(0)), Some(of_forty(1)), Some(of_forty(1))]);
    assert!(after.shop.store.sync.line().loading.is_empty());
}

#[tokio::test]
async fn rows_that_have_only_changed_are_no_load() {
    let mut after = After::nothing(What::Nothing).await;
    after.goes_on_after_the_first(false).await;
    after.next().await;
    assert_eq!((after.shown(), after.has().await), (vec![None, None], (vec![2, 3], at(3), true)));
}

#[tokio::test]
async fn a_reload_that_goes_on_shows_the_rows_that_it_has_seen_again() {
    let mut after = After::a_cycle(What::Nothing).await;
    after.goes_on_after_the_first(true).await;
    after.next().await;
    assert_eq!(after.shown()[3..], [None, Some(of_forty(1))]);
    assert_eq!(after.has().await, (vec![1, 2, 3], at(3), true));
}

#[tokio::test]
async fn what_cannot_be_stored_is_shown_with_its_reason_and_as_no_load() {
    let after = After::a_cycle(What::FirstDoesNotFit).await;
    let line = after.shop.store.sync.line();
    assert!(line.loading.is_empty() && line.unstored.contains_key("departments"), "{line:?}");
}
