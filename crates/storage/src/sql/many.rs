//! Lists and rows in statements, however many there are: a text says `$list` or `$rows` where they belong, a select of the
//! ORM is given the column. It is run as often as it takes, since a statement takes only so many values. Without one
//! value nothing is run.

use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, Select, TryGetableMany, Value};

use crate::db::{Row, execute, placeholders, query, rows_per_statement};

/// Values of a list in one statement.
const LIST: usize = 5000;

/// The rows of `sql`, where `$list` becomes the values of `list`; `before` are `$1`, `$2`, … of each statement. In no order,
/// as the list may be cut anywhere.
pub(crate) async fn find_in<T: Into<Value>>(
    conn: &impl ConnectionTrait,
    sql: &str,
    before: &[Value],
    list: impl IntoIterator<Item = T>,
) -> Result<Vec<Row>, DbErr> {
    let mut found = Vec::new();
    for (sql, values) in statements_in(sql, before, list) {
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
    for (sql, values) in statements_in(sql, before, list) {
        changed += execute(conn, &sql, values).await?;
    }
    Ok(changed)
}

/// The rows of `sql`, where `$rows` becomes a table of values as in [`execute_rows`]. In no order, as the table may be cut anywhere.
pub(crate) async fn find_by_rows<const COLUMNS: usize>(
    conn: &impl ConnectionTrait,
    sql: &str,
    before: &[Value],
    row: &str,
    rows: impl IntoIterator<Item = [Value; COLUMNS]>,
) -> Result<Vec<Row>, DbErr> {
    let mut found = Vec::new();
    for (sql, values) in statements_of_rows(sql, before, row, rows) {
        found.extend(query(conn, &sql, values).await?);
    }
    Ok(found)
}

/// Executes `sql`, where `$rows` becomes one `row` for each of `rows`, with its values in place of the `?` there; `before` are
/// `$1`, `$2`, … of each statement. The number of rows it changed.
pub(crate) async fn execute_rows<const COLUMNS: usize>(
    conn: &impl ConnectionTrait,
    sql: &str,
    before: &[Value],
    row: &str,
    rows: impl IntoIterator<Item = [Value; COLUMNS]>,
) -> Result<u64, DbErr> {
    let mut changed = 0;
    for (sql, values) in statements_of_rows(sql, before, row, rows) {
        changed += execute(conn, &sql, values).await?;
    }
    Ok(changed)
}

/// `select` for each part of `list`, of the rows with one of it in `column`. The parts are in the order of the list.
pub(crate) fn selects_in<E: EntityTrait, T: Into<Value>>(
    select: &Select<E>,
    column: E::Column,
    list: impl IntoIterator<Item = T>,
) -> Vec<Select<E>> {
    let list: Vec<Value> = list.into_iter().map(Into::into).collect();
    list.chunks(LIST).map(|chunk| select.clone().filter(column.is_in(chunk.iter().cloned()))).collect()
}

/// The rows of [`selects_in`].
pub(crate) async fn select_in<E: EntityTrait, T: Into<Value>>(
    conn: &impl ConnectionTrait,
    select: Select<E>,
    column: E::Column,
    list: impl IntoIterator<Item = T>,
) -> Result<Vec<E::Model>, DbErr> {
    let mut found = Vec::new();
    for select in selects_in(&select, column, list) {
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
    for select in selects_in(&select, column, list) {
        found.extend(select.into_tuple::<R>().all(conn).await?);
    }
    Ok(found)
}

fn statements_in<T: Into<Value>>(
    sql: &str,
    before: &[Value],
    list: impl IntoIterator<Item = T>,
) -> Vec<(String, Vec<Value>)> {
    let list: Vec<Value> = list.into_iter().map(Into::into).collect();
    list.chunks(LIST)
        .map(|chunk| {
            let sql = sql.replace("$list", &placeholders(before.len() + 1, chunk.len()));
            (sql, before.iter().chain(chunk).cloned().collect())
        })
        .collect()
}

fn statements_of_rows<const COLUMNS: usize>(
    sql: &str,
    before: &[Value],
    row: &str,
    rows: impl IntoIterator<Item = [Value; COLUMNS]>,
) -> Vec<(String, Vec<Value>)> {
    debug_assert_eq!(row.matches('?').count(), COLUMNS, "places and values of a row: {row}");
    let rows: Vec<[Value; COLUMNS]> = rows.into_iter().collect();
    rows.chunks(rows_per_statement(COLUMNS))
        .map(|chunk| {
            let mut place = before.len();
            let rows: Vec<String> = chunk.iter().map(|_| numbered(row, &mut place)).collect();
            let values = before.iter().chain(chunk.iter().flatten()).cloned();
            (sql.replace("$rows", &rows.join(", ")), values.collect())
        })
        .collect()
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
        let cut = statements_in(sql, &[7.into()], 0..i64::try_from(LIST).expect("small") + 2);
        assert_eq!(cut.len(), 2);
        assert_eq!(cut[1].0, "DELETE FROM t WHERE s = $1 AND id IN ($2, $3)");
        let last = i64::try_from(LIST).expect("small");
        assert_eq!(cut[1].1, [Value::from(7), last.into(), (last + 1).into()]);
        assert!(statements_in::<i64>(sql, &[7.into()], []).is_empty(), "an empty list is no statement");
    }

    #[test]
    fn the_values_of_rows_are_numbered_from_the_first_place_of_each_statement() {
        let rows = (0..501).map(|row| [Value::from(row), Value::from(-row)]);
        let cut = statements_of_rows("INSERT INTO t VALUES $rows", &["x".into()], "($1, ?, 0, ?)", rows);
        assert_eq!(cut.len(), 2);
        assert!(cut[0].0.starts_with("INSERT INTO t VALUES ($1, $2, 0, $3), ($1, $4, 0, $5), "), "{}", cut[0].0);
        assert_eq!(cut[1].0, "INSERT INTO t VALUES ($1, $2, 0, $3)");
        assert_eq!(cut[1].1, [Value::from("x"), 500.into(), (-500).into()]);
    }
}
