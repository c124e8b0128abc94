//! What products and customers are looked for by, as one text of small letters in each row: `?search=` at headquarters goes along
//! an index of these texts, and reads no row but those that it shows. A commit writes those of its rows, whoever changed them.
//! Stores have none, and look into the columns.

use sea_orm::sea_query::{Alias, Expr, ExprTrait};
use sea_orm::{Condition, ConnectionTrait, DbErr};
use uuid::Uuid;

use crate::Db;
use crate::db::{Row, query};
use crate::many::execute_rows;
use crate::registry::SyncType;
use crate::search::{small, with};
use crate::versions::UNSTAMPED;

/// The column of the texts. A row that another program wrote may have none until [`Sought::fill`] has seen it.
const COLUMN: &str = "search_text";
/// Stands between the texts of two columns, so that nothing is found across them.
const BETWEEN: &str = "\n";
/// Bytes of a text at the most, since an entry of an index of `PostgreSQL` has room for 2700. Columns that are as long as they may
/// be have more in letters of two or three bytes; what is behind is not found.
const LONGEST: usize = 2000;
/// Rows that are filled at once.
const AT_ONCE: usize = 500;

/// What the rows of a table are looked for by.
pub struct Sought {
    pub table: &'static str,
    /// Columns with text in them.
    pub columns: &'static [&'static str],
}

/// The tables with such a text.
pub static ALL: [Sought; 2] = [
    Sought { table: "products", columns: &["sku", "name", "barcode", "short_name", "plu", "barcodes"] },
    Sought {
        table: "customers",
        columns: &["customer_number", "first_name", "last_name", "company_name", "email", "phone", "phone_digits"],
    },
];

/// What the rows of `table` are looked for by, if they have such a text.
pub fn of(table: &str) -> Option<&'static Sought> {
    ALL.iter().find(|sought| sought.table == table)
}

/// Writes the texts of the rows of `entity` that have no version yet, which are those of this transaction.
pub(crate) async fn write(conn: &impl ConnectionTrait, entity: &SyncType) -> Result<(), DbErr> {
    let Some(sought) = of(entity.name) else { return Ok(()) };
    let sql = format!("SELECT {} FROM {} WHERE sync_version = {UNSTAMPED}", sought.read(), sought.table);
    let rows = query(conn, &sql, []).await?;
    sought.note(conn, &rows, "").await
}

impl Sought {
    /// Whether a search for `text` can go by the texts: each row has one.
    pub async fn answers(&self, conn: &impl ConnectionTrait, text: &str) -> Result<bool, DbErr> {
        if text.contains(BETWEEN) {
            return Ok(false);
        }
        let sql = format!("SELECT id FROM {} WHERE {COLUMN} IS NULL LIMIT 1", self.table);
        Ok(query(conn, &sql, []).await?.is_empty())
    }

    /// The rows with `text` in one of the columns, in any case.
    pub fn contains(&self, text: &str) -> Condition {
        let column = Expr::col((Alias::new(self.table), Alias::new(COLUMN)));
        let small: String = small(text).collect();
        Condition::all().add(column.like(with(&small)))
    }

    /// Writes the texts of some rows behind the id `after` that have none; the last of them, while there are any.
    pub async fn fill(&self, db: &Db, after: Uuid) -> Result<Option<Uuid>, DbErr> {
        let sql = format!(
            "SELECT {} FROM {} WHERE {COLUMN} IS NULL AND id > $1 ORDER BY id LIMIT {AT_ONCE}",
            self.read(),
            self.table
        );
        // Most often there is nothing to do, and nobody has to wait for that.
        if query(db.reader(), &sql, [after.into()]).await?.is_empty() {
            return Ok(None);
        }
        let tx = db.begin_aside().await?;
        let rows = query(&tx, &sql, [after.into()]).await?;
        // What somebody else changed meanwhile has its text.
        self.note(&tx, &rows, &format!("AND {}.{COLUMN} IS NULL", self.table)).await?;
        tx.commit().await?;
        rows.last().map(|row| row.try_get("", "id")).transpose()
    }

    /// What is read of a row to make its text.
    pub(crate) fn read(&self) -> String {
        format!("id, {}, {COLUMN}", self.columns.join(", "))
    }

    /// The text that a row has, and the one that its columns give.
    pub(crate) fn texts(&self, row: &Row) -> (Option<String>, String) {
        // What cannot be read is no reason to refuse a commit, and is not found.
        let text = |column: &str| row.try_get::<Option<String>>("", column).unwrap_or_default();
        // Of a list its values, and no brackets.
        let values = |text: String| {
            if text.starts_with('[') {
                serde_json::from_str::<Vec<String>>(&text).map(|list| list.join(BETWEEN)).unwrap_or(text)
            } else {
                text
            }
        };
        (text(COLUMN), folded(self.columns.iter().filter_map(|column| text(column)).map(values)))
    }

    async fn note(&self, conn: &impl ConnectionTrait, rows: &[Row], guard: &str) -> Result<(), DbErr> {
        let mut outdated = Vec::new();
        for row in rows {
            let (kept, text) = self.texts(row);
            if kept.as_ref() != Some(&text) {
                outdated.push([row.try_get::<Uuid>("", "id")?.into(), text.into()]);
            }
        }
        let table = self.table;
        let sql = format!(
            "UPDATE {table} SET {COLUMN} = t.column2 FROM (VALUES $rows) AS t WHERE {table}.id = t.column1 {guard}"
        );
        execute_rows(conn, &sql, &[], "(?, ?)", outdated).await?;
        Ok(())
    }
}

fn folded(parts: impl Iterator<Item = String>) -> String {
    let mut text = String::new();
    for part in parts.filter(|part| !part.is_empty()) {
        let between = if text.is_empty() { "" } else { BETWEEN };
        for letter in between.chars().chain(small(&part)) {
            if text.len() + letter.len_utf8() > LONGEST {
                return text;
            }
            text.push(letter);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migration;

    #[test]
    fn a_row_is_looked_for_by_small_letters_in_any_script_and_never_across_two_columns() {
        let parts = ["TEA-1", "", "\u{c4}PFEL \u{39f}\u{394}\u{39f}\u{3a3}", "4006381"].map(str::to_owned);
        assert_eq!(folded(parts.into_iter()), "tea-1\n\u{e4}pfel \u{3bf}\u{3b4}\u{3bf}\u{3c3}\n4006381");
        assert_eq!(folded(std::iter::empty()), "");
        let long = folded(["\u{e9}".repeat(LONGEST), "x".to_owned()].into_iter());
        assert_eq!((long.len(), long.chars().all(|letter| letter == '\u{e9}')), (LONGEST, true));
    }

    #[test]
    fn each_column_that_is_looked_into_is_a_text_of_its_table() {
        for sought in &ALL {
            let table = migration::tables().find(|table| table.name == sought.table).expect("a table");
            for name in sought.columns.iter().chain([&COLUMN]) {
                let is_text = |kind| matches!(kind, "text" | "json");
                assert!(table.columns().any(|column| column.name == *name && is_text(column.kind)), "{name}");
            }
        }
    }
}
