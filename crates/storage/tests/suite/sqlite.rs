//! What `SQLite` gives is what was asked for, or an error: never NULL instead of a value.

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, Value};
use tillkeep_model::{Instant, Money};
use tillkeep_storage::entity::{number_series, register_session};
use tillkeep_storage::raw::query;
use tillkeep_storage::{Db, DbErr};
use uuid::Uuid;

use crate::kit::chain::id;
use crate::kit::{Shop, at};

/// A store with one drawer that has values in its columns.
async fn shop() -> Shop {
    let shop = Shop::open(id("store")).await;
    let row = register_session::Model {
        id: id("drawer"),
        register_code: "01".to_owned(),
        session_number: 7,
        opening_float: Money(-70),
        running_total: Some(Money(5_000)),
        closed_by: Some(id("Ada")),
        closed_at: Some(at(7)),
        synced: true,
        ..register_session::Model::default()
    };
    shop.insert::<register_session::Entity>(row).await;
    shop
}

async fn value<T>(db: &Db, expression: &str) -> Result<T, DbErr>
where
    T: sea_orm::TryGetable + sea_orm::sea_query::ValueType,
{
    let rows = query(db.reader(), &format!("SELECT {expression} AS it FROM register_sessions"), []).await?;
    rows[0].try_get("", "it")
}

#[tokio::test]
async fn an_aggregate_has_the_type_that_is_asked_for_or_is_an_error() {
    let shop = shop().await;
    let db = &shop.db;
    assert_eq!(value::<Option<Instant>>(db, "MIN(closed_at)").await, Ok(Some(at(7))));
    assert_eq!(value::<Instant>(db, "MAX(closed_at)").await, Ok(at(7)));
    assert_eq!(value::<Option<Money>>(db, "SUM(opening_float)").await, Ok(Some(Money(-70))));
    assert_eq!(value::<i64>(db, "COUNT(*)").await, Ok(1));
    assert_eq!(value::<i32>(db, "COUNT(*)").await, Ok(1));
    assert_eq!(value::<Option<bool>>(db, "MAX(synced)").await, Ok(Some(true)));
    assert_eq!(value::<Uuid>(db, "MIN(id)").await, Ok(id("drawer")));
    assert_eq!(value::<Option<String>>(db, "MIN(register_code)").await, Ok(Some("01".to_owned())));
    for nothing in ["NULL", "MIN(CASE WHEN FALSE THEN closed_at END)"] {
        assert_eq!(value::<Option<Instant>>(db, nothing).await, Ok(None));
        assert_eq!(value::<Option<Uuid>>(db, nothing).await, Ok(None));
        assert_eq!(value::<Option<i32>>(db, nothing).await, Ok(None));
        assert_eq!(value::<Option<String>>(db, nothing).await, Ok(None));
        assert!(value::<i64>(db, nothing).await.is_err(), "nothing is no number");
    }
    // Each of these is what a field of another type would silently have read as nothing.
    assert!(value::<Option<Instant>>(db, "MIN(register_code)").await.is_err());
    assert!(value::<Option<i64>>(db, "MIN(register_code)").await.is_err());
    assert!(value::<Option<bool>>(db, "MAX(running_total)").await.is_err());
    assert!(value::<Option<i32>>(db, "4000000000").await.is_err());
    assert!(value::<Option<Uuid>>(db, "x'0102'").await.is_err());
    assert!(value::<Option<i64>>(db, "1.5").await.is_err());
    assert!(value::<Option<String>>(db, "CAST(x'ff' AS TEXT)").await.is_err());
    let rows = query(db.reader(), "SELECT 7 AS it", []).await.expect("a row");
    assert!(rows[0].try_get::<Option<i64>>("", "another").is_err(), "there is no such column");
}

#[tokio::test]
async fn a_value_that_does_not_fit_its_column_is_an_error_and_not_null() {
    // Nullable columns, which would take nothing without a word.
    for (column, wrong) in [
        ("closed_at", "'yesterday'"),
        ("closed_at", "7"),
        ("running_total", "'much'"),
        ("running_total", "1.5"),
        ("closed_by", "'a text'"),
        ("closed_by", "x'0102'"),
        ("close_note", "x'ff'"),
        ("close_note", "CAST(x'ff' AS TEXT)"),
        ("synced", "'yes'"),
    ] {
        let shop = shop().await;
        shop.execute(&format!("UPDATE register_sessions SET {column} = {wrong}"), []).await;
        let read = register_session::Entity::find_by_id(id("drawer")).one(shop.db.reader()).await;
        let error = read.expect_err(&format!("{column} = {wrong} was read")).to_string();
        assert!(error.contains(column), "{column}: {error}");
    }
}

#[tokio::test]
async fn an_expression_without_the_name_of_a_column_is_refused() {
    let shop = shop().await;
    let select = |name: &str| {
        register_session::Entity::find()
            .select_only()
            .column_as(register_session::Column::ClosedAt.min(), name)
            .into_tuple::<Option<Instant>>()
    };
    let error = select("oldest").one(shop.db.reader()).await.expect_err("its type is not known").to_string();
    assert!(error.contains("oldest"), "{error}");
    let named = select("closed_at").one(shop.db.reader()).await.expect("a read");
    assert_eq!(named, Some(Some(at(7))));
}

#[tokio::test]
async fn a_tuple_has_its_columns_in_the_order_in_which_they_are_named() {
    use register_session::Column;
    let shop = shop().await;
    let select = register_session::Entity::find().select_only().columns([
        Column::SessionNumber,
        Column::OpeningFloat,
        Column::Id,
    ]);
    let found: Option<(i32, Money, Uuid)> = select.into_tuple().one(shop.db.reader()).await.expect("a read");
    assert_eq!(found, Some((7, Money(-70), id("drawer"))));
}

#[tokio::test]
async fn values_are_bound_by_their_numbers() {
    let shop = shop().await;
    let values: [Value; 2] = ["first".into(), "second".into()];
    let rows = query(shop.db.reader(), "SELECT $2 AS two, $1 AS one, $2 AS again", values).await.expect("a row");
    let text = |name: &str| rows[0].try_get::<String>("", name).expect("a text");
    assert_eq!([text("one"), text("two"), text("again")], ["first", "second", "second"]);
    let missing = query(shop.db.reader(), "SELECT $1 AS one, $2 AS two", ["first".into()]).await;
    assert!(missing.expect_err("one value is missing").to_string().contains("parameter 2"));
}

#[tokio::test]
async fn a_statement_that_changes_nothing_is_said_to_change_nothing() {
    let shop = shop().await;
    let tx = shop.begin().await;
    let changed = |sql: &'static str| tillkeep_storage::raw::execute(&tx, sql, []);
    assert_eq!(changed("UPDATE register_sessions SET close_note = 'Ada'").await, Ok(1));
    assert_eq!(changed("SELECT * FROM register_sessions").await, Ok(0));
    assert_eq!(changed("UPDATE register_sessions SET close_note = 'Eve' WHERE FALSE").await, Ok(0));
    assert_eq!(changed("SAVEPOINT here").await, Ok(0));
    let none = number_series::Entity::delete_many().filter(number_series::Column::Name.eq("none")).exec(&tx).await;
    assert_eq!(none.expect("a statement").rows_affected, 0);
}
