//! Tables with many rows, written within the database.

use tillkeep_storage::raw::sea_orm::{ConnectionTrait, DbBackend};
use tillkeep_storage::{Db, migration, raw};
use uuid::Uuid;

/// Rows of a large table.
pub const ROWS: u32 = 100_000;
/// Expressions in the words of one of the databases.
#[derive(Clone, Copy)]
pub struct Words {
    pub is_postgres: bool,
}

impl Words {
    pub fn of(db: &Db) -> Self {
        Self { is_postgres: db.reader().get_database_backend() == DbBackend::Postgres }
    }

    /// The id of the row with this number of a kind.
    pub fn id(self, kind: u32, number: &str) -> String {
        if self.is_postgres {
            format!("(lpad(to_hex({kind}), 8, '0') || lpad(to_hex({number}), 24, '0'))::uuid")
        } else {
            format!("CAST(unhex(printf('%08x%024x', {kind}, {number})) AS BLOB)")
        }
    }

    /// So many seconds after the first day of 2026.
    pub fn at(self, seconds: &str) -> String {
        if self.is_postgres {
            format!("(timestamptz '2026-01-01 00:00:00+00' + ({seconds}) * interval '1 second')")
        } else {
            format!("strftime('%Y-%m-%dT%H:%M:%f+00:00', '2026-01-01', printf('+%d seconds', {seconds}))")
        }
    }

    /// So many days after the first one of 2025.
    pub fn day(self, days: &str) -> String {
        if self.is_postgres {
            format!("to_char(date '2025-01-01' + ({days})::int, 'YYYY-MM-DD')")
        } else {
            format!("date('2025-01-01', printf('+%d days', {days}))")
        }
    }

    /// A number as six digits.
    pub fn digits(self, number: &str) -> String {
        if self.is_postgres {
            format!("lpad(CAST({number} AS text), 6, '0')")
        } else {
            format!("printf('%06d', {number})")
        }
    }

    /// A value of a column that no test looks at.
    fn any(self, kind: &str) -> String {
        match kind {
            "uuid" => self.id(0, "0"),
            "ts" => self.at("0"),
            "bool" => "false".to_owned(),
            // A list too, where the text is one.
            "text" | "json" => "'[]'".to_owned(),
            _ => "0".to_owned(),
        }
    }
}

/// The id of the row with this number of a kind, as [`Words::id`] has it.
pub fn id(kind: u32, number: u32) -> Uuid {
    Uuid::from_u128((u128::from(kind) << 96) | u128::from(number))
}

/// Writes so many rows into a table; `but` has the columns that differ, as expressions of the number `n.i`, from 1 on.
pub async fn fill(db: &Db, table: &str, rows: u32, but: &[(&str, String)]) {
    let words = Words::of(db);
    let made = migration::tables().find(|made| made.name == table).expect("a table");
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for column in made.columns() {
        let value = but.iter().find(|(name, _)| *name == column.name).map(|(_, value)| value.clone());
        let unsaid = || if column.nullable { "NULL".to_owned() } else { words.any(column.kind) };
        columns.push(column.name);
        values.push(value.unwrap_or_else(unsaid));
    }
    for (name, _) in but {
        assert!(columns.contains(name), "{table} has no {name}");
    }
    let tx = db.begin().await.expect("a transaction");
    // All at once at the end an index is made in a third of the time.
    let kept = if words.is_postgres {
        "SELECT CAST(indexname AS text) AS name, indexdef AS made FROM pg_indexes WHERE schemaname = current_schema() \
         AND tablename = $1 AND indexname LIKE 'ix\\_%' ORDER BY indexname"
    } else {
        "SELECT name, sql AS made FROM sqlite_master WHERE type = 'index' AND tbl_name = $1 AND sql IS NOT NULL \
         ORDER BY rowid"
    };
    let kept = raw::query(&tx, kept, [table.into()]).await.expect("indexes");
    let text = |row: &raw::Row, column: &str| row.try_get::<String>("", column).expect("a text");
    for index in &kept {
        raw::execute(&tx, &format!("DROP INDEX \"{}\"", text(index, "name")), []).await.expect("dropped");
    }
    let sql = format!(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) \
         INSERT INTO {table} (\"{}\") SELECT {} FROM n",
        columns.join("\", \""),
        values.join(", ")
    );
    raw::execute(&tx, &sql, []).await.expect(table);
    for index in &kept {
        raw::execute(&tx, &text(index, "made"), []).await.expect("made again");
    }
    tx.commit().await.expect("a commit");
    if words.is_postgres {
        // The figures that it plans by, and what it need not look at in a table.
        raw::execute(db.reader(), &format!("VACUUM ANALYZE {table}"), []).await.expect("figures");
    }
}
