//! Lists and rows in statements, however many there are: a text says `IN ($list)` or `VALUES $rows` where they belong, a
//! select of the ORM is given the column. It is run as often as it takes, since a statement takes only so many values. Without
//! one value nothing is run.
//!
//! `SQLite` has a place for each value, of a list as many as a power of two: it keeps what it has prepared, and few texts are to be
//! kept. `PostgreSQL` has one for each list and each column of rows, so that its text is the same however many there are.

use sea_orm::sea_query::{Expr, ExprTrait, SimpleExpr};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbBackend, DbErr, EntityTrait, QueryFilter, Select, TryGetableMany, Value,
};

use super::arrays::Array;
use crate::db::{Row, execute, placeholders, query, rows_per_statement};

/// Values of a list in one statement, and rows of one on `PostgreSQL`.
const LIST: usize = 5000;
/// Values of the longest list that `SQLite` keeps prepared, of which each connection has many.
const FILLED: usize = 2048;

/// The rows of `sql`, where `IN ($list)` has the values of `list`; `before` are `$1`, `$2`, … of each statement. In no order,
/// as the list may be cut anywhere.
pub(crate) async fn find_in<T: Into<Value>>(
    conn: &impl ConnectionTrait,
    sql: &str,
    before: &[Value],
    list: impl IntoIterator<Item = T>,
) -> Result<Vec<Row>, DbErr> {
    let mut found = Vec::new();
    for (sql, values) in statements_in(conn.get_database_backend(), sql, before, list)? {
        found.extend(query(conn, &sql, values).await?);
    }
    Ok(found)
}

/// Executes `sql` as [`find_in`] does; the number of rows it changed.
pub(crate) async fn execute_in<T: Into<Value>>(
    conn: &impl ConnectionTrait,
    sql: &str,
    before: &[Value],
    list: impl IntoIterator<Item = T>,
) -> Result<u64, DbErr> {
    let mut changed = 0;
    for (sql, values) in statements_in(conn.get_database_backend(), sql, before, list)? {
        changed += execute(conn, &sql, values).await?;
    }
    Ok(changed)
}

/// The rows of `sql`, where `$rows` becomes a table of values as in [`execute_rows`]. In no order, as the table may be cut anywhere.
/// Another table is put beside it by `CROSS JOIN … WHERE`: `SQLite` goes along the left side of that one first, while of a `JOIN`
/// without figures it takes all rows of a store for fewer than those that are looked for.
pub(crate) async fn find_by_rows<const COLUMNS: usize>(
    conn: &impl ConnectionTrait,
    sql: &str,
    before: &[Value],
    row: &str,
    rows: impl IntoIterator<Item = [Value; COLUMNS]>,
) -> Result<Vec<Row>, DbErr> {
    let mut found = Vec::new();
    for (sql, values) in statements_of_rows(conn.get_database_backend(), sql, before, row, rows)? {
        found.extend(query(conn, &sql, values).await?);
    }
    Ok(found)
}

/// Executes `sql`, where `VALUES $rows` has one `row` for each of `rows`, with its values in place of the `?` there; `before` are
/// `$1`, `$2`, … of each statement. As a table its columns are `column1`, `column2`, … The number of rows it changed.
pub(crate) async fn execute_rows<const COLUMNS: usize>(
    conn: &impl ConnectionTrait,
    sql: &str,
    before: &[Value],
    row: &str,
    rows: impl IntoIterator<Item = [Value; COLUMNS]>,
) -> Result<u64, DbErr> {
    let mut changed = 0;
    for (sql, values) in statements_of_rows(conn.get_database_backend(), sql, before, row, rows)? {
        changed += execute(conn, &sql, values).await?;
    }
    Ok(changed)
}

/// `select` for each part of `list`, of the rows with one of it in `column`. The parts are in the order of the list.
pub(crate) fn selects_in<E: EntityTrait, T: Into<Value>>(
    backend: DbBackend,
    select: &Select<E>,
    column: E::Column,
    list: impl IntoIterator<Item = T>,
) -> Result<Vec<Select<E>>, DbErr> {
    let list: Vec<Value> = list.into_iter().map(Into::into).collect();
    list.chunks(LIST)
        .map(|chunk| Ok(select.clone().filter(one_of(backend, Expr::col(column.as_column_ref()), chunk)?)))
        .collect()
}

/// `column` has one of these values, of which a statement of the ORM takes so many at once.
pub(crate) fn one_of(backend: DbBackend, column: impl ExprTrait, values: &[Value]) -> Result<SimpleExpr, DbErr> {
    Ok(match backend {
        DbBackend::Postgres => column.in_subquery(Array::new(values)?.rows()),
        _ => column.is_in(padded(values).cloned()),
    })
}

/// The rows of [`selects_in`].
pub(crate) async fn select_in<E: EntityTrait, T: Into<Value>>(
    conn: &impl ConnectionTrait,
    select: Select<E>,
    column: E::Column,
    list: impl IntoIterator<Item = T>,
) -> Result<Vec<E::Model>, DbErr> {
    let mut found = Vec::new();
    for select in selects_in(conn.get_database_backend(), &select, column, list)? {
        found.extend(select.all(conn).await?);
    }
    Ok(found)
}

/// The values of [`selects_in`], of a select that names its columns.
pub(crate) async fn tuples_in<R: TryGetableMany, E: EntityTrait, T: Into<Value>>(
    conn: &impl ConnectionTrait,
    select: Select<E>,
    column: E::Column,
    list: impl IntoIterator<Item = T>,
) -> Result<Vec<R>, DbErr> {
    let mut found = Vec::new();
    for select in selects_in(conn.get_database_backend(), &select, column, list)? {
        found.extend(select.into_tuple::<R>().all(conn).await?);
    }
    Ok(found)
}

/// `values` and the last of them again, up to one of the few numbers of places that kept texts have: what is in a list twice is in it.
fn padded(values: &[Value]) -> impl Iterator<Item = &Value> {
    let places = if values.len() > FILLED { values.len() } else { values.len().next_power_of_two() };
    values.iter().chain(values.last().into_iter().cycle()).take(places)
}

type Statements = Result<Vec<(String, Vec<Value>)>, DbErr>;

fn statements_in<T: Into<Value>>(
    backend: DbBackend,
    sql: &str,
    before: &[Value],
    list: impl IntoIterator<Item = T>,
) -> Statements {
    let list: Vec<Value> = list.into_iter().map(Into::into).collect();
    let statement = |chunk: &[Value]| {
        let place = before.len() + 1;
        if backend == DbBackend::Postgres {
            let array = Array::new(chunk)?;
            // As `Array::rows`.
            let sql = sql.replace("$list", &format!("SELECT UNNEST({})", array.cast(place)));
            return Ok((sql, before.iter().cloned().chain([array.value()]).collect()));
        }
        let values: Vec<Value> = before.iter().chain(padded(chunk)).cloned().collect();
        let sql = sql.replace("$list", &placeholders(place, values.len() - before.len()));
        Ok((sql, values))
    };
    list.chunks(LIST).map(statement).collect()
}

fn statements_of_rows<const COLUMNS: usize>(
    backend: DbBackend,
    sql: &str,
    before: &[Value],
    row: &str,
    rows: impl IntoIterator<Item = [Value; COLUMNS]>,
) -> Statements {
    debug_assert_eq!(row.matches('?').count(), COLUMNS, "places and values of a row: {row}");
    let rows: Vec<[Value; COLUMNS]> = rows.into_iter().collect();
    if backend == DbBackend::Postgres {
        return rows.chunks(LIST).map(|chunk| of_arrays(sql, before, row, chunk)).collect();
    }
    let statement = |chunk: &[[Value; COLUMNS]]| {
        let mut place = before.len();
        let rows: Vec<String> = chunk.iter().map(|_| numbered(row, &mut place)).collect();
        let values = before.iter().chain(chunk.iter().flatten()).cloned();
        Ok((sql.replace("$rows", &rows.join(", ")), values.collect()))
    };
    rows.chunks(rows_per_statement(COLUMNS)).map(statement).collect()
}

/// `sql` with a select of arrays in place of its rows.
fn of_arrays<const COLUMNS: usize>(
    sql: &str,
    before: &[Value],
    row: &str,
    rows: &[[Value; COLUMNS]],
) -> Result<(String, Vec<Value>), DbErr> {
    let mut values = before.to_vec();
    let (mut arrays, mut names) = (Vec::with_capacity(COLUMNS), Vec::with_capacity(COLUMNS));
    for column in 0..COLUMNS {
        let array = Array::new(rows.iter().map(|row| &row[column]))?;
        arrays.push(array.cast(values.len() + 1));
        names.push(format!("c{column}"));
        values.push(array.value());
    }
    let mut next = names.iter();
    let shown: Vec<String> = cells(row)
        .into_iter()
        .enumerate()
        .map(|(place, cell)| {
            let cell: String = cell
                .split_inclusive('?')
                .map(|part| {
                    part.strip_suffix('?').map_or_else(
                        || part.to_owned(),
                        |part| format!("{part}g.{}", next.next().map_or("", String::as_str)),
                    )
                })
                .collect();
            format!("{cell} AS column{}", place + 1)
        })
        .collect();
    let select = format!("SELECT {} FROM UNNEST({}) AS g ({})", shown.join(", "), arrays.join(", "), names.join(", "));
    Ok((sql.replace("VALUES $rows", &select), values))
}

/// What stands between the commas of a row.
fn cells(row: &str) -> Vec<&str> {
    let row = row.trim();
    let inner = row.strip_prefix('(').and_then(|row| row.strip_suffix(')')).unwrap_or(row);
    let (mut depth, mut begun, mut cells) = (0, 0, Vec::new());
    for (place, letter) in inner.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                cells.push(inner[begun..place].trim());
                begun = place + 1;
            }
            _ => {}
        }
    }
    cells.push(inner[begun..].trim());
    cells
}

/// `row` with the next places of a statement instead of its `?`.
fn numbered(row: &str, place: &mut usize) -> String {
    let mut text = String::with_capacity(2 * row.len());
    for letter in row.chars() {
        text.push(if letter == '?' { '$' } else { letter });
        if letter == '?' {
            *place += 1;
            text.push_str(&place.to_string());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_cut_where_a_statement_would_have_too_many_values() {
        let sql = "DELETE FROM t WHERE s = $1 AND id IN ($list)";
        let all = || 0..i64::try_from(LIST).expect("small") + 2;
        let cut = statements_in(DbBackend::Sqlite, sql, &[7.into()], all()).expect("statements");
        assert_eq!(cut.len(), 2);
        assert_eq!(cut[1].0, "DELETE FROM t WHERE s = $1 AND id IN ($2, $3)");
        let last = i64::try_from(LIST).expect("small");
        assert_eq!(cut[1].1, [Value::from(7), last.into(), (last + 1).into()]);
        let cut = statements_in(DbBackend::Postgres, sql, &[7.into()], all()).expect("statements");
        assert_eq!(cut.len(), 2);
        assert_eq!(cut[0].0, "DELETE FROM t WHERE s = $1 AND id IN (SELECT UNNEST(CAST($2 AS bigint[])))");
        assert_eq!(cut[1].0, cut[0].0, "one text however many there are");
        assert_eq!(cut[1].1, [Value::from(7), "{5000,5001}".into()]);
        for backend in [DbBackend::Sqlite, DbBackend::Postgres] {
            let none = statements_in::<i64>(backend, sql, &[7.into()], []).expect("statements");
            assert!(none.is_empty(), "an empty list is no statement");
        }
    }

    #[test]
    fn lists_of_any_length_have_few_texts_and_the_values_that_they_were_given() {
        let sql = "SELECT 1 FROM t WHERE id IN ($list)";
        let of = |count: i64| statements_in(DbBackend::Sqlite, sql, &[], 0..count).expect("statements");
        assert_eq!(
            of(3),
            [("SELECT 1 FROM t WHERE id IN ($1, $2, $3, $4)".to_owned(), [0_i64, 1, 2, 2].map(Value::from).to_vec())]
        );
        let all: Vec<Value> = (0..i64::try_from(LIST).expect("small")).map(Value::from).collect();
        let mut places = std::collections::BTreeSet::new();
        for count in (1..=FILLED).step_by(17).chain([2, 4, 7, 16, FILLED - 1, FILLED]) {
            let padded: Vec<&Value> = padded(&all[..count]).collect();
            assert!(padded[..count].iter().copied().eq(&all[..count]), "{count}");
            assert!(padded[count..].iter().all(|more| *more == &all[count - 1]), "{count}");
            places.insert(padded.len());
        }
        assert!(places.len() == 12 && places.last() == Some(&FILLED), "{places:?}");
        assert_eq!(padded(&all[..=FILLED]).count(), FILLED + 1, "what is prepared each time need not be one of few");
        assert_eq!(padded(&[]).count(), 0, "of nothing there is nothing to repeat");
    }

    #[test]
    fn the_values_of_rows_are_numbered_from_the_first_place_of_each_statement() {
        let rows = || (0..501).map(|row| [Value::from(row), Value::from(-row)]);
        let of = |backend| {
            statements_of_rows(backend, "INSERT INTO t VALUES $rows", &["x".into()], "($1, ?, 0, ?)", rows())
                .expect("statements")
        };
        let cut = of(DbBackend::Sqlite);
        assert_eq!(cut.len(), 2);
        assert!(cut[0].0.starts_with("INSERT INTO t VALUES ($1, $2, 0, $3), ($1, $4, 0, $5), "), "{}", cut[0].0);
        assert_eq!(cut[1].0, "INSERT INTO t VALUES ($1, $2, 0, $3)");
        assert_eq!(cut[1].1, [Value::from("x"), 500.into(), (-500).into()]);
        let [(sql, values)] = &of(DbBackend::Postgres)[..] else { panic!("one statement") };
        let select = "SELECT $1 AS column1, g.c0 AS column2, 0 AS column3, g.c1 AS column4 \
                      FROM UNNEST(CAST($2 AS integer[]), CAST($3 AS integer[])) AS g (c0, c1)";
        assert_eq!(*sql, format!("INSERT INTO t {select}"));
        assert_eq!(values.len(), 3);
    }

    #[test]
    fn a_cell_of_a_row_is_what_stands_between_commas_that_are_not_within_it() {
        let row = "(CAST(? AS TEXT), COALESCE(?, 0), NULL)";
        assert_eq!(cells(row), ["CAST(? AS TEXT)", "COALESCE(?, 0)", "NULL"]);
        assert_eq!(cells(" ((? + 1) * 2, (?)) "), ["(? + 1) * 2", "(?)"], "one bracket is the row's");
        let rows = [["a".into(), Value::from(1)]];
        let (sql, _) =
            of_arrays("WITH r (a, b, c) AS (VALUES $rows) SELECT 1 FROM r", &[], row, &rows).expect("a statement");
        assert_eq!(
            sql,
            "WITH r (a, b, c) AS (SELECT CAST(g.c0 AS TEXT) AS column1, COALESCE(g.c1, 0) AS column2, NULL AS column3 \
             FROM UNNEST(CAST($1 AS text[]), CAST($2 AS integer[])) AS g (c0, c1)) SELECT 1 FROM r"
        );
    }
}
