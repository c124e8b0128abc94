//! Databases for the tests, and what every test asks of them.

pub mod chain;
pub mod envelopes;
pub mod fill;
pub mod migrated;
pub mod own_postgres;
pub mod private_postgres;
pub mod rows;
pub mod till;

use std::collections::BTreeMap;

use sea_orm::{ColumnTrait, DbErr, EntityTrait, IntoActiveModel, QueryFilter, Value};
use serde_json::Value as Json;
use tempfile::TempDir;
use tillkeep_model::wire::PullAnswer;
use tillkeep_model::{Instant, Qty};
use tillkeep_storage::entity::{stock_movement, store_product, sync_log, sync_status};
use tillkeep_storage::registry::{self, Scope, SyncType};
use tillkeep_storage::{Change, Db, Opening, Side, Synchronised, Tx, apply, pull, raw, sea_orm};
use uuid::Uuid;

/// A moment of the day on which every test happens.
pub fn at(seconds: i64) -> Instant {
    Instant::parse("2026-11-20T12:00:00Z").expect("an instant").plus_millis(seconds * 1000)
}

pub fn entity(name: &str) -> &'static SyncType {
    registry::find(name).unwrap_or_else(|| panic!("{name} is not in the registry"))
}

/// How a database of the private `PostgreSQL` is opened, which has nothing to keep. A dozen connections in each pool: eight
/// writers are to meet in the database, not before it.
pub const PRIVATE: Opening = Opening { connections: 48, accept_unsafe: true, ..Opening::USUAL };

/// Opens a database of the private `PostgreSQL`.
pub async fn open_private(url: &str) -> Result<Db, DbErr> {
    Db::open_with(url, Side::Hq, PRIVATE).await
}

enum Home {
    Directory(TempDir),
    Server(private_postgres::Database),
}

/// A headquarters database. The server or directory it lives in goes with it.
pub struct Hq {
    pub db: Db,
    pub name: &'static str,
    home: Home,
}

/// An empty headquarters database on each kind of server. The last line printed names the one that failed.
pub async fn both() -> impl Iterator<Item = Hq> {
    [Hq::sqlite().await, Hq::postgres().await].into_iter().inspect(|hq| eprintln!("on {}", hq.name))
}

impl Hq {
    pub async fn sqlite() -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        let db = Db::open_file(&directory.path().join("hq.db"), Side::Hq).await.expect("a new database");
        Self { db, name: "SQLite", home: Home::Directory(directory) }
    }

    pub async fn postgres() -> Self {
        Self::postgres_in(migrated::migrated()).await
    }

    /// As [`Hq::postgres`], in a database made with these arguments of `createdb`.
    pub async fn postgres_as(arguments: &[&str]) -> Self {
        Self::postgres_in(private_postgres::Database::create_as(arguments)).await
    }

    async fn postgres_in(database: private_postgres::Database) -> Self {
        let db = open_private(&database.url).await.expect("a new database");
        Self { db, name: "PostgreSQL", home: Home::Server(database) }
    }

    /// What opens this database once more.
    pub fn url(&self) -> String {
        match &self.home {
            Home::Directory(directory) => format!("sqlite://{}", directory.path().join("hq.db").display()),
            Home::Server(database) => database.url.clone(),
        }
    }

    pub async fn insert<E: Synchronised>(&self, rows: impl IntoIterator<Item = E::Model>) -> Vec<Change> {
        let mut tx = self.db.begin().await.expect("a transaction");
        let rows: Vec<E::Model> = rows.into_iter().collect();
        if registry::find(E::default().table_name()).is_some_and(SyncType::is_pulled) {
            tx.insert_all::<E>(rows).await.expect("an insert");
        } else {
            // What only headquarters has.
            let rows = rows.into_iter().map(IntoActiveModel::into_active_model);
            E::insert_many(rows).exec_without_returning(&tx).await.expect("an insert");
        }
        tx.commit().await.expect("a commit")
    }

    /// Changes one row as an editor at headquarters would.
    pub async fn edit<E: Synchronised>(&self, id: Uuid, change: impl FnOnce(&mut E::Model)) -> Vec<Change> {
        let mut tx = self.db.begin().await.expect("a transaction");
        let mut row = E::find().filter(column::<E>("id").eq(id)).one(&tx).await.expect("a read").expect("the row");
        change(&mut row);
        tx.write::<E>(row).await.expect("an update");
        tx.commit().await.expect("a commit")
    }

    /// What `store` gets from a pull.
    pub async fn answer(&self, name: &str, store: Uuid, since: i64, limit: u64) -> PullAnswer {
        let snapshot = self.db.snapshot().await.expect("a snapshot");
        let page = pull::page(&snapshot, entity(name), store, since, limit, &|_| {}).await.expect("a page");
        let raw = |text| serde_json::value::RawValue::from_string(text).expect("JSON");
        PullAnswer {
            entity_type: name.to_owned(),
            since_version: since,
            rows: page.rows.into_iter().map(raw).collect(),
            latest_version: page.latest,
            has_more: page.has_more,
            epoch: String::new(),
            tag: None,
            total: None,
            left_out: page.left_out.iter().filter_map(|row| row.id).collect(),
        }
    }

    /// Every row of `name` that concerns `store`, as it travels.
    pub async fn rows(&self, name: &str, store: Uuid) -> Vec<Json> {
        let (mut rows, mut since) = (Vec::new(), 0);
        loop {
            let answer = self.answer(name, store, since, 10_000).await;
            rows.extend(answer.rows.iter().map(|row| parse(row.get())));
            since = answer.latest_version;
            if !answer.has_more {
                return rows;
            }
        }
    }

    pub async fn row<E>(&self, id: Uuid) -> Option<E::Model>
    where
        E: EntityTrait,
    {
        E::find().filter(column::<E>("id").eq(id)).one(self.db.reader()).await.expect("a read")
    }

    pub async fn stock(&self, store: Uuid, product: Uuid) -> Option<store_product::Model> {
        stock(&self.db, store, product).await
    }

    pub async fn log(&self) -> Vec<sync_log::Model> {
        use sea_orm::QueryOrder;
        let select = sync_log::Entity::find().order_by_asc(sync_log::Column::Id);
        select.all(self.db.reader()).await.expect("the log")
    }

    pub async fn status(&self, store: Uuid, name: &str) -> Option<sync_status::Model> {
        let key = (store, name.to_owned(), "push".to_owned());
        sync_status::Entity::find_by_id(key).one(self.db.reader()).await.expect("the status")
    }

    /// What must hold after whatever happened: every version given and none twice, no counter behind its rows, every
    /// level the sum of its movements.
    pub async fn verify(&self) {
        let heads = tillkeep_storage::versions::heads(self.db.reader()).await.expect("the heads");
        for entity in registry::pulled().filter(|entity| !entity.replace_all) {
            let scope = if entity.scope == Scope::Store { "store_id" } else { "id" };
            let sql = format!("SELECT sync_version, {scope} AS scope FROM {}", entity.name);
            let mut seen = std::collections::BTreeSet::new();
            for row in raw::query(self.db.reader(), &sql, []).await.expect("the versions") {
                let version: i64 = row.try_get("", "sync_version").expect("a version");
                let scope: Uuid = row.try_get("", "scope").expect("a scope");
                let scope = registry::counter_scope(entity, scope);
                let head = heads.get(&(entity.name.to_owned(), scope)).copied().unwrap_or_default();
                assert!((1..=head).contains(&version), "{}: version {version}, head {head}", entity.name);
                assert!(seen.insert((scope, version)), "{}: version {version} was given twice", entity.name);
            }
        }
        let mut sums: BTreeMap<(Uuid, Uuid), Qty> = BTreeMap::new();
        for row in stock_movement::Entity::find().all(self.db.reader()).await.expect("the movements") {
            *sums.entry((row.store_id, row.product_id)).or_default() += row.quantity_change;
        }
        let rows = store_product::Entity::find().all(self.db.reader()).await.expect("the levels");
        let levels: BTreeMap<_, _> = rows.iter().map(|row| ((row.store_id, row.product_id), row.quantity)).collect();
        for (place, sum) in sums {
            assert_eq!(levels.get(&place), Some(&sum), "the level of {place:?} is not the sum of its movements");
        }
    }
}

/// What stores hear of `changes`.
pub fn notifications(changes: &[Change]) -> Vec<(&'static str, Option<Uuid>, i64)> {
    changes.iter().map(|change| (change.entity_type, change.store, change.version)).collect()
}

pub async fn stock(db: &Db, store: Uuid, product: Uuid) -> Option<store_product::Model> {
    let select = store_product::Entity::find()
        .filter(store_product::Column::StoreId.eq(store))
        .filter(store_product::Column::ProductId.eq(product));
    select.one(db.reader()).await.expect("a read")
}

pub fn column<E: EntityTrait>(name: &str) -> E::Column {
    name.parse().unwrap_or_else(|_| panic!("{} has no column {name}", E::default().table_name()))
}

pub fn parse(text: &str) -> Json {
    serde_json::from_str(text).expect("JSON")
}

/// The database of one store.
pub struct Shop {
    pub db: Db,
    pub id: Uuid,
    directory: TempDir,
}

impl Shop {
    pub async fn open(id: Uuid) -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        let db = Db::open_file(&directory.path().join("store.db"), Side::Store).await.expect("a new database");
        Self { db, id, directory }
    }

    pub fn url(&self) -> String {
        format!("sqlite://{}", self.directory.path().join("store.db").display())
    }

    pub async fn begin(&self) -> Tx {
        self.db.begin().await.expect("a transaction")
    }

    pub async fn apply(&self, answer: &PullAnswer) -> usize {
        let tx = self.begin().await;
        let entity = entity(&answer.entity_type);
        let page = apply::Page::read(entity, answer.clone()).expect("rows");
        let count = apply::page(&tx, entity, self.id, page, at(0)).await.expect("a page");
        tx.commit().await.expect("a commit");
        count
    }

    pub async fn cursor(&self, name: &str) -> apply::Cursor {
        let cursors = apply::cursors(self.db.reader()).await.expect("the cursors");
        cursors.get(name).copied().unwrap_or_default()
    }

    /// Pulls one type to its end; the number of pages.
    pub async fn pull(&self, hq: &Hq, name: &str, limit: u64) -> usize {
        let mut pages = 0;
        loop {
            let answer = hq.answer(name, self.id, self.cursor(name).await.version, limit).await;
            self.apply(&answer).await;
            pages += 1;
            if !answer.has_more {
                return pages;
            }
        }
    }

    pub async fn pull_everything(&self, hq: &Hq, limit: u64) {
        for entity in registry::pulled() {
            self.pull(hq, entity.name, limit).await;
        }
    }

    pub async fn reload(&self, hq: &Hq, name: &str) {
        let tx = self.begin().await;
        apply::begin_reload(&tx, entity(name)).await.expect("a reload");
        tx.commit().await.expect("a commit");
        self.pull(hq, name, 2).await;
    }

    /// Applies rows that were written by hand.
    pub async fn receive(&self, name: &str, rows: &[Json]) -> usize {
        self.apply(&page_of(name, rows)).await
    }

    pub async fn insert<E>(&self, row: E::Model)
    where
        E: EntityTrait,
        E::Model: IntoActiveModel<E::ActiveModel>,
    {
        let tx = self.begin().await;
        E::insert_many([row.into_active_model()]).exec_without_returning(&tx).await.expect("an insert");
        tx.commit().await.expect("a commit");
    }

    pub async fn row<E>(&self, id: Uuid) -> Option<E::Model>
    where
        E: EntityTrait,
    {
        E::find().filter(column::<E>("id").eq(id)).one(self.db.reader()).await.expect("a read")
    }

    pub async fn stock(&self, product: Uuid) -> store_product::Model {
        stock(&self.db, self.id, product).await.expect("the store's row of the product")
    }

    pub async fn execute(&self, sql: &str, values: impl IntoIterator<Item = Value>) {
        let tx = self.begin().await;
        raw::execute(&tx, sql, values).await.expect("a statement");
        tx.commit().await.expect("a commit");
    }

    /// Every row of `name` as it would travel.
    pub async fn rows(&self, name: &str) -> Vec<Json> {
        let entity = entity(name);
        let snapshot = self.db.snapshot().await.expect("a snapshot");
        let mut out = Vec::new();
        for row in entity.table.all(&snapshot).await.expect("the rows") {
            let mut json = parse(&row.to_json().expect("JSON"));
            for child in entity.children {
                let id = row.uuid("id").expect("an id");
                let mut lines = child.table.having(&snapshot, child.parent, &[id], false).await.expect("the lines");
                lines.sort_by_key(|line| line.integer("line_no"));
                let texts = lines.iter().map(|line| parse(&line.to_json().expect("JSON")));
                json[child.key] = texts.collect();
            }
            out.push(json);
        }
        out
    }
}

/// A page as HQ would answer it, with its rows written by hand.
pub fn page_of(name: &str, rows: &[Json]) -> PullAnswer {
    let raw = |row: &Json| serde_json::value::RawValue::from_string(row.to_string()).expect("JSON");
    let version = |row: &Json| row["syncVersion"].as_i64().or(row["sync_version"].as_i64());
    PullAnswer {
        entity_type: name.to_owned(),
        since_version: 0,
        rows: rows.iter().map(raw).collect(),
        latest_version: rows.iter().filter_map(version).max().unwrap_or_default(),
        has_more: false,
        epoch: String::new(),
        tag: None,
        total: None,
        left_out: Vec::new(),
    }
}
