//! Backups of an embedded database beside its running server, and databases that are restored. `docs/sync.md`, rule D8.

mod about;
pub mod export;
pub mod own_documents;
pub mod shared;

use std::path::Path;

use sea_orm::{ConnectionTrait, DbErr, Value};
use tillkeep_model::Instant;
use uuid::Uuid;

use crate::db::{execute, query};
use crate::{Connection, Db, Side, Tx, audit, factors, fault, print_jobs, settings, upgrade};

pub use about::{About, about, made_at};

/// A file of the data directory that the database is worth nothing without: its keys.
pub struct KeyFile {
    pub name: String,
    pub content: Vec<u8>,
}

/// What the store presents to HQ after it was restored: known to no server, so that HQ says what this database lacks.
const NO_TICKET: &str = "put back";

/// A table that every database of this program has.
const OF_EACH: &str = "sync_state";

/// Writes one moment of the `SQLite` database behind `conn` to a new file at `path`, with `kept` inside, while its server
/// goes on.
pub async fn write(conn: &Connection, path: &Path, kept: &[KeyFile], now: Instant) -> Result<(), DbErr> {
    let text = path.to_str().ok_or_else(|| DbErr::Custom(format!("{} is not UTF-8", path.display())))?;
    execute(conn, "VACUUM INTO $1", [text.into()]).await?;
    let copy = Db::open_alone(path)?;
    // Opening makes an empty database where the copy was taken away meanwhile.
    if !about::tables(&copy).await?.contains(OF_EACH) {
        return Err(DbErr::Custom(format!("{} was taken away while it was written", path.display())));
    }
    copy.execute_unprepared(
        "CREATE TABLE backup_info (made_at TEXT NOT NULL, version TEXT NOT NULL); \
         CREATE TABLE backup_files (name TEXT PRIMARY KEY, content BLOB NOT NULL)",
    )
    .await?;
    let values: [Value; 2] = [now.to_string().into(), env!("CARGO_PKG_VERSION").into()];
    execute(&copy, "INSERT INTO backup_info (made_at, version) VALUES ($1, $2)", values).await?;
    for KeyFile { name, content } in kept {
        let values: [Value; 2] = [name.as_str().into(), content.clone().into()];
        execute(&copy, "INSERT INTO backup_files (name, content) VALUES ($1, $2)", values).await?;
    }
    // One file without companions, which can be read from a medium that cannot be written.
    copy.execute_unprepared("PRAGMA journal_mode = DELETE").await?;
    copy.close().await?;
    fault::point("backup.copied")
}

/// What a backup is of.
pub struct Content {
    pub side: Side,
    pub made_at: String,
    /// Of the program that made it.
    pub version: String,
    pub kept: Vec<KeyFile>,
    pub about: About,
}

/// Looks into the backup at `path`; an error says what is wrong with it.
pub async fn read(path: &Path) -> Result<Content, DbErr> {
    let conn = Db::open_to_read(&Db::url_of_file(path)).await?;
    let tables = about::tables(&conn).await?;
    if !tables.contains("backup_info") || !tables.contains(OF_EACH) {
        return Err(DbErr::Custom(format!("{} is no backup of Tillkeep", path.display())));
    }
    let check = query(&conn, "PRAGMA integrity_check", []).await?;
    let verdict: String = check.first().map_or(Ok(String::new()), |row| row.try_get_by_index(0))?;
    if verdict != "ok" {
        return Err(DbErr::Custom(format!("{} is damaged: {verdict}", path.display())));
    }
    let info = query(&conn, "SELECT made_at, version FROM backup_info", []).await?;
    let said = |name| info.first().map_or(Ok(String::new()), |row| row.try_get("", name));
    let (made_at, version) = (said("made_at")?, said("version")?);
    let mut kept = Vec::new();
    for row in query(&conn, "SELECT name, content FROM backup_files", []).await? {
        kept.push(KeyFile { name: row.try_get("", "name")?, content: row.try_get("", "content")? });
    }
    let side = upgrade::side_of(&conn).await?.unwrap_or(Side::Hq);
    let about = about(&conn).await?;
    conn.close().await?;
    Ok(Content { side, made_at, version, kept, about })
}

/// Makes the copy of a backup at `path` a database again, under an identity of its own.
pub async fn revive(path: &Path, side: Side, now: Instant) -> Result<(), DbErr> {
    let conn = Db::open_alone(path)?;
    // The keys are not to lie about in the free pages of a database.
    conn.execute_unprepared("PRAGMA secure_delete = ON; DROP TABLE backup_files; DROP TABLE backup_info").await?;
    conn.close().await?;
    let db = Db::open_file(path, side).await?;
    take_new_identity(&db, now).await?;
    db.close().await
}

/// The database of a store is an older copy: what it makes from now on is not to be taken for what was made since under the
/// same numbers, and HQ is to say what it lacks. One that HQ has never answered has nothing to present.
pub(crate) async fn mark_restored(tx: &Tx, now: Instant) -> Result<(), DbErr> {
    settings::set(tx, settings::EPOCH, &Uuid::new_v4().to_string()).await?;
    print_jobs::doubt(tx, now).await?;
    if settings::get(tx, settings::TICKET).await?.is_some() {
        settings::set(tx, settings::TICKET, NO_TICKET).await?;
    }
    Ok(())
}

/// Lets everybody know that this database is not what it was: a new epoch, and no ticket that HQ knows.
pub async fn take_new_identity(db: &Db, now: Instant) -> Result<(), DbErr> {
    let tx = db.begin().await?;
    settings::set(&tx, settings::EPOCH, &Uuid::new_v4().to_string()).await?;
    if db.side() == Side::Store {
        settings::set(&tx, settings::TICKET, NO_TICKET).await?;
        print_jobs::doubt(&tx, now).await?;
    } else {
        factors::distrust_all(&tx, now).await?;
    }
    let entry = audit::Entry { action: "database.put_back", ..audit::Entry::default() };
    audit::record(&tx, entry, now).await?;
    tx.commit().await?;
    Ok(())
}
