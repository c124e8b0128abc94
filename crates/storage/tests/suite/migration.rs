//! Steps of the schema on filled databases, at both servers and on both databases. How a release is upgraded as a whole is
//! in `tests/cluster/upgrade.rs`.

mod dates;
mod flags;
mod open_prices;
mod receipts;
mod refunds;

use std::collections::BTreeSet;

use sea_orm::sea_query::{Alias, Expr, ExprTrait, Query};
use sea_orm::{ConnectionTrait, DbBackend};
use serde_json::Value as Json;
use tempfile::TempDir;
use tillkeep_storage::migration::{self, Change, Key, NewTable, On, STEPS, Schema, Step};
use tillkeep_storage::verify::Source;
use tillkeep_storage::{Db, DbErr, Side, raw, upgrade, versions};

use crate::kit::rows::{self, Rows};
use crate::kit::{self, fill, private_postgres};

/// Steps as later releases may have them: everything that a step can do.
const LATER: &[Step] = &[
    Step {
        name: "9001_adds",
        changes: &[
            Change::CreateTable(NewTable {
                name: "tiers",
                on: On::Both,
                columns: "id uuid!, deleted_at ts?, sync_version big, code text, store_id uuid? >stores",
                natural_keys: &["code, store_id?"],
                indexes: &["store_id WHERE deleted_at IS NULL"],
                ..NewTable::EMPTY
            }),
            Change::CreateTable(NewTable {
                name: "acts",
                columns: "id uuid!, what text",
                append_only: true,
                ..NewTable::EMPTY
            }),
            Change::AddColumns("customers", "tier text=standard, points big=0, vip bool=false, tier_id uuid? >tiers"),
            Change::AddColumns("registers", "label text?"),
            Change::AddColumns("sync_marks", "reason text=none"),
            Change::AddIndex("customers", Key::Plain("tier, last_name")),
            Change::AddIndex("customers", Key::Plain("tier_id")),
            Change::AddIndex("products", Key::Natural("brand")),
            Change::Fill("customers", || {
                let mut update = Query::update();
                update.table(Alias::new("customers")).value(Alias::new("tier"), "gold");
                update.value(Alias::new("sync_version"), versions::UNSTAMPED);
                update.and_where(Expr::col(Alias::new("last_name")).like("%1")).to_owned()
            }),
        ],
        beside: None,
    },
    Step {
        name: "9002_drops",
        changes: &[
            Change::DropIndex("products", Key::Natural("brand")),
            Change::DropIndex("customers", Key::Plain("email")),
            Change::DropColumns("customers", "tier_id, vip, notes"),
            Change::DropColumns("sales", "note"),
            // With the index of both.
            Change::DropColumns("product_specials", "product_id, department_id"),
            Change::DropTable("acts"),
            Change::DropTable("account_charges"),
            Change::DropTable("sync_marks"),
        ],
        beside: None,
    },
];

fn all() -> Vec<Step> {
    [STEPS, LATER].concat()
}

/// A database of one server, without any table at first.
struct TestDatabase {
    side: Side,
    url: String,
    conn: tillkeep_storage::Connection,
    _home: (Option<TempDir>, Option<private_postgres::Database>),
}

impl TestDatabase {
    fn embedded(side: Side) -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        let path = directory.path().join("empty.db");
        let conn = Db::open_alone(&path).expect("a new database");
        Self { side, url: Db::url_of_file(&path), conn, _home: (Some(directory), None) }
    }

    async fn postgres() -> Self {
        let database = private_postgres::Database::create();
        let conn = Db::open_to_read(&database.url).await.expect("a new database");
        Self { side: Side::Hq, url: database.url.clone(), conn, _home: (None, Some(database)) }
    }

    /// Headquarters on either database, and a store.
    async fn each() -> impl Iterator<Item = Self> {
        let places = [Self::embedded(Side::Hq), Self::postgres().await, Self::embedded(Side::Store)];
        places.into_iter().inspect(|place| eprintln!("on {:?} {:?}", place.side, place.backend()))
    }

    fn backend(&self) -> DbBackend {
        self.conn.get_database_backend()
    }

    async fn run(&self, steps: &[Step]) -> Result<(), DbErr> {
        upgrade::run(&self.conn, self.side, steps).await
    }

    async fn rows(&self, steps: &[Step]) -> Rows {
        rows::read(&self.conn, &Schema::after(steps), self.side).await
    }

    /// Everything that the database says of its schema, one line for each fact, whichever statements made it.
    async fn facts(&self) -> BTreeSet<String> {
        // A dropped column leaves a gap in the numbers of PostgreSQL.
        let postgres = "SELECT table_name || '.' || ROW_NUMBER() OVER (PARTITION BY table_name ORDER BY ordinal_position) || \
                        ' ' || column_name || ' ' || data_type || ' ' || is_nullable || ' ' || COALESCE(column_default, '') || ' ' || COALESCE(collation_name, '') AS s \
                        FROM information_schema.columns WHERE table_schema = 'public' UNION ALL \
                        SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' UNION ALL \
                        SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) \
                        FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n' UNION ALL \
                        SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal UNION ALL \
                        SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace";
        let sqlite = "SELECT m.name || '.' || c.cid || ' ' || c.name || ' ' || c.type || ' ' || c.\"notnull\" || ' ' || \
                      COALESCE(c.dflt_value, '') || ' ' || c.pk AS s FROM sqlite_schema m \
                      JOIN pragma_table_info(m.name) c WHERE m.type = 'table' UNION ALL \
                      SELECT m.name || ' ' || f.\"from\" || ' ' || f.\"table\" || ' ' || f.on_delete \
                      FROM sqlite_schema m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table' UNION ALL \
                      SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND type <> 'table'";
        let sql = if self.backend() == DbBackend::Postgres { postgres } else { sqlite };
        let rows = raw::query(&self.conn, sql, []).await.expect("the schema");
        let texts = rows.iter().map(|row| row.try_get::<String>("", "s").expect("a text"));
        texts.filter(|text| !text.contains("schema_steps")).collect()
    }

    /// Rows in every table that `steps` have made.
    async fn fill(&self, steps: &[Step]) -> Rows {
        let schema = Schema::after(steps);
        let mut all = Rows::new();
        for table in schema.tables().iter().filter(|table| table.is_on(self.side)) {
            let rows = (1..=30).map(|n| fill::plain(table, n)).collect();
            all.insert(table.name.to_owned(), rows);
        }
        rows::write(&self.conn, &schema, &all).await;
        let written = self.rows(steps).await;
        assert!(written.values().all(|rows| rows.len() == 30));
        written
    }
}

fn names(lines: &BTreeSet<String>) -> String {
    lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn a_filled_database_of_the_first_release_becomes_what_a_fresh_one_is() {
    for (place, fresh) in TestDatabase::each().await.zip(TestDatabase::each().await) {
        place.run(&STEPS[..1]).await.expect("the first step");
        let before = place.fill(&STEPS[..1]).await;
        place.run(&all()).await.expect("all steps");
        fresh.run(&all()).await.expect("all steps");
        assert_eq!(names(&place.facts().await), names(&fresh.facts().await));
        let after = place.rows(&all()).await;
        for (table, rows) in &before {
            // A counter is added for the rows that the fill raises.
            let Some(now) = after.get(table).filter(|_| table != "sync_counters") else { continue };
            assert_eq!(rows.len(), now.len(), "{table}");
            for (was, is) in rows.iter().zip(now) {
                for (column, value) in was {
                    let filled = table == "customers" && column == "sync_version";
                    assert!(filled || is.get(column).is_none_or(|now| now == value), "{table}.{column}: {is:?}");
                }
            }
        }
        for row in &after["customers"] {
            let gold = row["last_name"].as_str().expect("a name").ends_with('1');
            assert_eq!(row["tier"], if gold { "gold" } else { "standard" });
            assert_eq!(row["points"], 0);
        }
    }
}

#[tokio::test]
async fn what_steps_leave_is_what_they_add_up_to() {
    for (place, whole) in TestDatabase::each().await.zip(TestDatabase::each().await) {
        place.run(&all()).await.expect("all steps");
        for statement in Schema::after(&all()).statements(whole.side, whole.backend()) {
            whole.conn.execute_raw(statement).await.expect("a statement");
        }
        // What is added comes last in a table, as in the sum.
        assert_eq!(names(&place.facts().await), names(&whole.facts().await));
    }
}

#[tokio::test]
async fn rows_that_a_step_fills_travel_to_the_stores_once_more() {
    for place in [TestDatabase::embedded(Side::Hq), TestDatabase::postgres().await] {
        place.run(STEPS).await.expect("the steps");
        place.fill(STEPS).await;
        place.run(&all()).await.expect("all steps");
        let rows = place.rows(&all()).await;
        let raised: Vec<i64> = rows["customers"].iter().filter(|row| row["tier"] == "gold").map(version).collect();
        let versions: BTreeSet<i64> = raised.iter().copied().collect();
        assert_eq!(versions, (1..=3).collect(), "1, 11 and 21, each with a version of its own");
        let head = rows["sync_counters"].iter().find(|row| row["entity_type"] == "customers").expect("a counter");
        assert_eq!(head["value"], 3);
    }
}

#[tokio::test]
async fn copies_of_prices_that_the_first_release_left_wrong_are_mended_and_travel() {
    for place in TestDatabase::each().await {
        place.run(&STEPS[..1]).await.expect("the first step");
        place.fill(&STEPS[..1]).await;
        // Rows with one number have one price.
        let listed = "UPDATE store_product_dynamic SET product_id = \
                      (SELECT p.id FROM products p WHERE p.price = store_product_dynamic.price)";
        let wrong =
            "UPDATE store_product_dynamic SET price = price + 1000, has_price_override = (reorder_point % 2 = 0)";
        for sql in [listed, wrong] {
            place.conn.execute_unprepared(sql).await.expect("a statement");
        }
        let before = place.rows(&STEPS[..1]).await;
        place.run(STEPS).await.expect("all steps");
        let after = place.rows(STEPS).await;
        let (mut mended, mut own) = (0, 0);
        for (was, is) in before["store_product_dynamic"].iter().zip(&after["store_product_dynamic"]) {
            let product =
                after["products"].iter().find(|product| product["id"] == is["product_id"]).expect("it is there");
            if was["has_price_override"] == true {
                assert_eq!((&is["price"], version(is)), (&was["price"], version(was)), "its own price");
                own += 1;
            } else {
                assert_eq!(is["price"], product["price"]);
                assert!(place.side == Side::Store || version(is) != version(was), "its store learns of it");
                mended += 1;
            }
        }
        assert!(mended > 0 && own > 0, "{mended} and {own}");
    }
}

#[tokio::test]
async fn what_the_first_release_blocked_after_wrong_pins_is_free_but_for_what_is_still_counted_so() {
    for place in TestDatabase::each().await {
        place.run(&STEPS[..1]).await.expect("the first step");
        place.fill(&STEPS[..1]).await;
        let kinds = "UPDATE pin_attempts SET kind = CASE WHEN wrong_today % 3 = 0 THEN 'unknown_terminals' \
                     WHEN wrong_today % 3 = 1 THEN 'account' ELSE 'proposal' END";
        place.conn.execute_unprepared(kinds).await.expect("a statement");
        let before = place.rows(&STEPS[..1]).await;
        place.run(STEPS).await.expect("all steps");
        let after = place.rows(STEPS).await;
        let (mut freed, mut kept) = (0, 0);
        for (was, is) in before["pin_attempts"].iter().zip(&after["pin_attempts"]) {
            assert_ne!(was["blocked_until"], Json::Null);
            if was["kind"] == "proposal" {
                assert_eq!(is["blocked_until"], was["blocked_until"]);
                kept += 1;
            } else {
                assert_eq!(is["blocked_until"], Json::Null);
                freed += 1;
            }
        }
        assert!(freed > 0 && kept > 0, "{freed} and {kept}");
    }
}

fn version(row: &serde_json::Map<String, Json>) -> i64 {
    row["sync_version"].as_i64().expect("a version")
}

#[tokio::test]
async fn a_step_that_breaks_off_in_the_middle_leaves_nothing_and_is_made_at_the_next_start() {
    /// As the first of [`LATER`], and then a table that is not there.
    const BROKEN: &[Change] =
        &[LATER[0].changes[0], LATER[0].changes[2], LATER[0].changes[8], Change::DropTable("acts")];
    for place in TestDatabase::each().await {
        place.run(STEPS).await.expect("the steps");
        place.fill(STEPS).await;
        let (facts, rows) = (place.facts().await, place.rows(STEPS).await);
        let broken = [STEPS, &[Step { changes: BROKEN, ..LATER[0] }]].concat();
        let error = place.run(&broken).await.expect_err("no such table");
        assert!(error.to_string().contains("acts"), "{error}");
        assert_eq!(names(&place.facts().await), names(&facts), "nothing of it is there");
        assert_eq!(place.rows(STEPS).await, rows);
        place.run(&all()).await.expect("all steps");
        assert!(place.facts().await.len() > facts.len());
    }
}

#[tokio::test]
async fn servers_that_start_at_once_make_each_step_once() {
    for place in TestDatabase::each().await {
        if place.conn.get_database_backend() == DbBackend::Postgres {
            // Whoever waits sees the step that it waited for, whatever a transaction sees by default in that database.
            let name = raw::query(&place.conn, "SELECT current_database() AS name", []).await.expect("a name");
            let name: String = name[0].try_get("", "name").expect("a name");
            let sql = format!("ALTER DATABASE \"{name}\" SET default_transaction_isolation = 'repeatable read'");
            place.conn.execute_unprepared(&sql).await.expect("a setting");
        }
        let opening =
            |url: String, side: Side| tokio::spawn(async move { Db::open_with(&url, side, kit::PRIVATE).await });
        let starts: Vec<_> = (0..4).map(|_| opening(place.url.clone(), place.side)).collect();
        for start in starts {
            start.await.expect("no panic").expect("it opens").close().await.expect("a close");
        }
        let made = raw::query(&place.conn, "SELECT name FROM schema_steps", []).await.expect("the steps");
        assert_eq!(made.len(), STEPS.len());
    }
}

#[tokio::test]
async fn a_step_that_fills_lines_without_their_documents_is_refused_since_no_store_would_hear_of_it() {
    const FILLS: Step = Step {
        name: "9001_fills_lines",
        changes: &[Change::Fill("transfer_items", || {
            let mut update = Query::update();
            update.table(Alias::new("transfer_items")).value(Alias::new("line_no"), 1).to_owned()
        })],
        beside: None,
    };
    for place in TestDatabase::each().await.filter(|place| place.side == Side::Hq) {
        let steps: Vec<Step> = STEPS.iter().copied().chain([FILLS]).collect();
        let text = place.run(&steps).await.expect_err("a refusal").to_string();
        assert!(text.contains("transfer_items travels inside of another type"), "{text}");
    }
}

#[tokio::test]
async fn a_database_of_a_newer_release_is_refused_and_says_what_to_do() {
    for place in TestDatabase::each().await {
        place.run(&all()).await.expect("all steps");
        let facts = place.facts().await;
        let refusals = [
            Db::open_with(&place.url, place.side, kit::PRIVATE).await.err(),
            Source::open(&place.url, place.side).await.err(),
        ];
        for error in refusals {
            let text = error.expect("a refusal").to_string();
            assert!(text.contains("9001_adds") && text.contains("start the newer version"), "{text}");
        }
        assert_eq!(place.facts().await, facts, "and is left as it is");
    }
}

#[tokio::test]
async fn a_headquarters_works_beside_the_next_release_on_postgresql_and_refuses_the_one_after_that() {
    let last = STEPS[STEPS.len() - 1].name;
    let next = Step { beside: Some(last), ..LATER[0] };
    let after = Step { beside: Some(next.name), ..LATER[1] };
    let with = |more: &[Step]| [STEPS, more].concat();
    for place in TestDatabase::each().await {
        let shared = place.backend() == DbBackend::Postgres;
        place.run(&with(&[next])).await.expect("the next release");
        let facts = place.facts().await;
        let opened = Db::open_with(&place.url, place.side, kit::PRIVATE).await;
        assert_eq!(opened.is_ok(), shared, "{:?}", opened.err());
        assert_eq!(place.facts().await, facts, "and leaves it as it is");
        place.run(&with(&[next, after])).await.expect("the release after that");
        assert_eq!(place.run(&with(&[next])).await.is_ok(), shared);
        let text = place.run(STEPS).await.expect_err("a refusal").to_string();
        assert!(text.contains("9002_drops") || !shared, "{text}");
        assert!(text.contains("start the newer version"), "{text}");
    }
    // One without all of its own steps is of another history.
    let place = TestDatabase::postgres().await;
    place.run(&with(&[next])).await.expect("the next release");
    raw::execute(&place.conn, "DELETE FROM schema_steps WHERE name = $1", [last.into()]).await.expect("a delete");
    let text = place.run(STEPS).await.expect_err("a refusal").to_string();
    assert!(text.contains("9001_adds"), "{text}");
}

/// What the tables after `steps` ask of whoever knows only those after the first `known` of them.
fn asked_of_older(steps: &[Step], known: usize) -> Vec<String> {
    let (before, after) = (Schema::after(&steps[..known]), Schema::after(steps));
    let mut asked = Vec::new();
    for (table, now) in before.tables().iter().filter_map(|table| Some((table, after.table(table.name)?))) {
        let new = now.columns().filter(|column| table.columns().all(|known| known.name != column.name));
        let needed = new.filter(|column| !column.nullable && column.default.is_none());
        asked.extend(needed.map(|column| format!("{}.{}", table.name, column.name)));
        let kept = |name: &str| table.indexes(Side::Hq).any(|known| known.name == name);
        let unique = now.indexes(Side::Hq).filter(|index| index.unique && !kept(&index.name));
        asked.extend(unique.map(|index| index.name.clone()));
    }
    asked
}

#[test]
fn a_step_beside_which_others_go_on_asks_nothing_of_them() {
    for (position, step) in STEPS.iter().enumerate() {
        let Some(beside) = step.beside else { continue };
        let known = STEPS.iter().position(|step| step.name == beside).expect("a step");
        assert_eq!(asked_of_older(&STEPS[..=position], known + 1), [""; 0], "{}", step.name);
    }
    // They write a brand twice, and no code.
    let asks = Step { name: "9003_asks", changes: &[Change::AddColumns("customers", "code text")], beside: None };
    let steps = [STEPS, &LATER[..1], &[asks]].concat();
    let asked = asked_of_older(&steps, STEPS.len());
    assert_eq!(asked, ["ix_products_brand", "customers.code"]);
}

#[tokio::test]
async fn a_mere_look_at_a_database_of_an_older_release_asks_to_start_its_server_first() {
    for place in TestDatabase::each().await {
        place.run(STEPS).await.expect("the steps");
        let last = STEPS[STEPS.len() - 1].name;
        raw::execute(&place.conn, "DELETE FROM schema_steps WHERE name = $1", [last.into()]).await.expect("a delete");
        let text = Source::open(&place.url, place.side).await.err().expect("a refusal").to_string();
        assert!(text.contains(last) && text.contains("start its server"), "{text}");
    }
}

#[tokio::test]
async fn a_table_that_only_grows_refuses_changes_after_every_step() {
    for place in TestDatabase::each().await {
        place.run(&all()[..=STEPS.len()]).await.expect("the steps and the first of the later ones");
        for table in ["audit_log", "acts"] {
            let row = fill::plain(Schema::after(&all()[..=STEPS.len()]).table(table).expect("the table"), 1);
            let only = Rows::from([(table.to_owned(), vec![row])]);
            rows::write(&place.conn, &Schema::after(&all()[..=STEPS.len()]), &only).await;
            for sql in [
                format!("DELETE FROM {table}"),
                format!("UPDATE {table} SET {} = NULL", if table == "acts" { "what" } else { "user_id" }),
            ] {
                let error = raw::execute(&place.conn, &sql, []).await.expect_err("append-only");
                assert!(error.to_string().contains("append-only"), "{error}");
            }
        }
    }
}

#[test]
fn every_index_has_a_name_of_its_own_that_no_database_cuts() {
    for side in [Side::Hq, Side::Store] {
        let mut seen = BTreeSet::new();
        for index in migration::tables().filter(|table| table.is_on(side)).flat_map(|table| table.indexes(side)) {
            assert!(index.name.len() <= 63, "PostgreSQL cuts {}", index.name);
            assert!(seen.insert(&index.name), "{} twice", index.name);
        }
    }
}

#[test]
fn the_steps_are_numbered_in_the_order_in_which_they_are_made() {
    for (place, step) in STEPS.iter().enumerate() {
        assert!(step.name.starts_with(&format!("{:04}_", place + 1)), "{}", step.name);
    }
}

/// A column with a default has it in the entity too: what an older server sends lacks the key.
#[test]
fn a_row_that_lacks_a_key_has_the_default_of_its_column() {
    use tillkeep_storage::registry;
    for table in migration::tables() {
        let with_default = table.columns().filter_map(|column| Some((column, column.default?)));
        for (column, default) in with_default {
            let Some(entity) = registry::find(table.name) else { continue };
            let plain = entity.table.decode("{}").expect("a row without any key");
            let json: Json = serde_json::from_str(&plain.to_json().expect("JSON")).expect("JSON");
            let value = &json[tillkeep_model::wire::camel(column.name)];
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            assert_eq!(text, default, "{}.{}: the entity needs #[serde(default = …)]", table.name, column.name);
        }
    }
}
