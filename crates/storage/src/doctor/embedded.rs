//! A file of `SQLite`.

use sea_orm::{ConnectionTrait, DbErr};

use crate::db::query;

/// What is named of the damage of a file at the most.
const MOST: i64 = 5;

/// How the file is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Embedded {
    /// Of the library in this program.
    pub version: String,
    /// `wal`, unless another program has changed it.
    pub journal: String,
}

pub async fn embedded(conn: &impl ConnectionTrait) -> Result<Embedded, DbErr> {
    let rows = query(conn, "SELECT sqlite_version(), journal_mode FROM pragma_journal_mode", []).await?;
    let row = rows.first().ok_or_else(|| DbErr::Custom("SQLite does not say how it is set".to_owned()))?;
    Ok(Embedded { version: row.try_get_by_index(0)?, journal: row.try_get_by_index(1)? })
}

/// What is wrong with the file itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// In the words of the library; some of them when there are many.
    pub pages: Vec<String>,
    /// Rows that name a row which is not there.
    pub dangling: i64,
}

/// Looks through every page, and for the row behind each reference. Takes as long as it takes to read the file.
pub async fn damage(conn: &impl ConnectionTrait) -> Result<Damage, DbErr> {
    let mut pages = Vec::new();
    for row in query(conn, &format!("PRAGMA quick_check({MOST})"), []).await? {
        let said: String = row.try_get_by_index(0)?;
        if said != "ok" {
            pages.push(said);
        }
    }
    let rows = query(conn, "SELECT COUNT(*) AS n FROM pragma_foreign_key_check", []).await?;
    let dangling = rows.first().map_or(Ok(0), |row| row.try_get("", "n"))?;
    Ok(Damage { pages, dangling })
}
