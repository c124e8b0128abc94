//! The database: how it is set, whether it is whole, and of which release.

use std::sync::Arc;

use tillkeep_storage::doctor::{self, Damage, Embedded, Server};
use tillkeep_storage::upgrade::Release;
use tillkeep_storage::{Connection, Db};
use tokio::time::Instant;

use super::finding::{Checked, Finding, Unchecked, fault, hint, note, ok, warning};
use super::installation::{Database, Installation};

/// Connections of a running server that it may still have to make.
const SPARE: i64 = 3;

pub async fn set(at: Arc<Installation>) -> Checked {
    match &at.database {
        Database::Missing(path) => Ok(vec![hint(
            format!("there is none yet: {} is not there, and the first start makes it", path.display()),
            "where a server has run before, name its data directory with --data-dir",
        )]),
        Database::Unreadable(why) => Ok(vec![fault(
            format!("it cannot be opened: {why}"),
            match at.file() {
                Some(_) => {
                    "see that this user may read it, that its disk is there, or put back a backup (`tillkeep restore`)"
                }
                None => "set DATABASE_URL right, and see that PostgreSQL runs: `pg_isready -d` with that address",
            },
        )]),
        Database::Open { conn, .. } if at.file().is_some() => embedded(&at, conn).await,
        Database::Open { conn, .. } => server(&at, conn).await,
    }
}

async fn embedded(at: &Installation, conn: &Connection) -> Checked {
    let Embedded { version, journal } = doctor::embedded(conn).await?;
    if journal == "wal" {
        return Ok(vec![ok(format!(
            "SQLite {version}, journal wal; the server sets synchronous FULL and foreign keys on each connection"
        ))]);
    }
    let text = format!("SQLite {version} with the journal {journal}: another program has changed it");
    // A server sets it at its start, and would not start without.
    Ok(vec![if at.is_running() {
        fault(text, "stop what else uses the file, and restart the server, which sets it to wal")
    } else {
        hint(text, "the next start of the server sets it to wal")
    }])
}

async fn server(at: &Installation, conn: &Connection) -> Checked {
    let server = doctor::server(conn).await?;
    Ok(of_server(&server, i64::from(at.configuration.hq.database_connections), at.is_running()))
}

fn of_server(server: &Server, wanted: i64, is_running: bool) -> Vec<Finding> {
    let Server { version, connections, used, .. } = server;
    let mut found = Vec::new();
    if let Some(refusal) = &server.refusal {
        found.push(fault(refusal.clone(), "set it on in postgresql.conf, or use a newer PostgreSQL; then restart it"));
    }
    if server.is_standby {
        found.push(fault(
            "DATABASE_URL leads to a standby, which cannot be written",
            "name the primary, or all servers with ?target_session_attrs=read-write",
        ));
    }
    let left = (connections - used).max(0);
    let remedy = "raise max_connections in postgresql.conf, or set DATABASE_CONNECTIONS lower";
    if !is_running && left < wanted {
        found.push(fault(format!("{left} connections are left, and the server takes up to {wanted}"), remedy));
    } else if left < SPARE {
        found.push(warning(format!("{left} of {connections} connections are left"), remedy));
    }
    if found.is_empty() {
        found.push(ok(format!(
            "PostgreSQL {version}, fsync and full_page_writes on, {left} of {connections} connections left; the server sets \
             synchronous_commit on for each of its own"
        )));
    }
    if !server.checksums {
        found.push(note("data_checksums are off: a page that its disk changes is not noticed by PostgreSQL"));
    }
    found
}

/// How its schema stands to this program.
pub fn schema(at: &Installation) -> Checked {
    let Database::Open { release, .. } = &at.database else { return at.conn().map(|_| Vec::new()) };
    Ok(vec![of_release(release)])
}

fn of_release(release: &Release) -> Finding {
    match release {
        Release::New => note("it has none yet: the first start makes it"),
        Release::Same => ok("that of this program"),
        Release::Older(step) => hint(
            format!("of an older release, without {step}: the next start of this program upgrades it"),
            "make a backup before it: `tillkeep backup FILE --data-dir DIR`",
        ),
        Release::Newer(step, true) => {
            note(format!("of a newer release, with {step}, beside which this program works until it is replaced"))
        }
        Release::Newer(step, false) => fault(
            format!("of a newer release, with {step}: this program is too old for it and does not start"),
            "start the newer version, or restore the backup made before the upgrade",
        ),
    }
}

/// Whether its pages and references are whole.
pub async fn whole(at: Arc<Installation>) -> Checked {
    let conn = at.conn()?;
    if at.file().is_none() {
        return Err(Unchecked::Because("PostgreSQL looks after its pages itself".to_owned()));
    }
    let begun = Instant::now();
    match doctor::damage(conn).await {
        Ok(damage) => Ok(of_damage(&damage)),
        Err(_) if begun.elapsed() >= Db::DIAGNOSED_WITHIN => Ok(vec![hint(
            format!("not looked at to the end: that takes more than {} s", Db::DIAGNOSED_WITHIN.as_secs()),
            "`tillkeep backup FILE --data-dir DIR` reads all of it",
        )]),
        Err(error) => Ok(vec![fault(format!("a page cannot be read: {error}"), DAMAGED)]),
    }
}

const DAMAGED: &str =
    "stop the server, keep the directory as it is, look at its disk, and put back a backup (`tillkeep restore`)";

fn of_damage(Damage { pages, dangling }: &Damage) -> Vec<Finding> {
    let mut found: Vec<Finding> = pages.iter().map(|page| fault(format!("damaged: {page}"), DAMAGED)).collect();
    if *dangling > 0 {
        found.push(fault(
            format!("{dangling} rows name a row that is not there"),
            "`tillkeep verify` says what else does not hold; report it, and keep the database as it is",
        ));
    }
    if found.is_empty() {
        found.push(ok("every page and every reference is whole"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Level;

    fn worst(found: &[Finding]) -> Level {
        found.iter().map(|finding| finding.level).max().expect("a finding")
    }

    #[test]
    fn a_server_that_forgets_or_has_no_connection_left_is_a_fault_before_headquarters_starts() {
        let sound =
            Server { version: 17, refusal: None, checksums: true, is_standby: false, connections: 97, used: 10 };
        assert_eq!(worst(&of_server(&sound, 24, false)), Level::Ok);
        assert_eq!(worst(&of_server(&Server { checksums: false, ..sound.clone() }, 24, true)), Level::Hint);
        let full = Server { used: 90, ..sound.clone() };
        assert_eq!(worst(&of_server(&full, 24, false)), Level::Fault);
        assert_eq!(worst(&of_server(&full, 24, true)), Level::Ok, "it has its own");
        assert_eq!(worst(&of_server(&Server { used: 99, ..sound.clone() }, 24, true)), Level::Warning);
        assert_eq!(worst(&of_server(&Server { is_standby: true, ..sound.clone() }, 24, true)), Level::Fault);
        let forgets = Server { refusal: Some("PostgreSQL has fsync off".to_owned()), ..sound };
        assert_eq!(worst(&of_server(&forgets, 24, true)), Level::Fault);
    }

    #[test]
    fn a_newer_schema_is_a_fault_unless_it_lets_this_program_go_on() {
        let level = |release| of_release(&release).level;
        assert_eq!(level(Release::Same), Level::Ok);
        assert_eq!(level(Release::New), Level::Hint);
        assert_eq!(level(Release::Older("0008_lists")), Level::Hint);
        assert_eq!(level(Release::Newer("9999".to_owned(), true)), Level::Hint);
        assert_eq!(level(Release::Newer("9999".to_owned(), false)), Level::Fault);
    }

    #[test]
    fn damage_is_a_fault_in_the_words_of_the_library() {
        assert_eq!(worst(&of_damage(&Damage::default())), Level::Ok);
        let found = of_damage(&Damage { pages: vec!["Page 7: never used".to_owned()], dangling: 2 });
        assert_eq!(found.iter().map(|finding| finding.level).collect::<Vec<_>>(), [Level::Fault, Level::Fault]);
        assert!(found[0].text.contains("Page 7") && found[1].text.contains('2'));
    }
}
