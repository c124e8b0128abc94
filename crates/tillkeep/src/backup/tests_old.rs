use tillkeep_storage::settings;

use super::*;

const MARK: &str = "a mark";

async fn set_mark(db: &Db, mark: &str) {
    let tx = db.begin().await.expect("a transaction");
    settings::set(&tx, MARK, mark).await.expect("a setting");
    tx.commit().await.expect("a commit");
}

async fn open(data_dir: &Path) -> Db {
    Db::open_file(&data_dir.join(DATABASE), Side::Store).await.expect("the database")
}

/// The files of a directory with names that begin and end so.
fn named(dir: &Path, begin: &str, end: &str) -> Vec<PathBuf> {
    let names = fs::read_dir(dir).expect("the directory").map(|entry| entry.expect("an entry").path());
    let fits = |path: &PathBuf| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        name.starts_with(begin) && name.ends_with(end)
    };
    names.filter(fits).collect()
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the test looks at the file itself")]
async fn a_backup_is_restored_beside_a_log_that_was_left_over_as_it_was_made() {
    let dir = tempfile::tempdir().expect("a directory");
    let data_dir = dir.path().join("data");
    let file = dir.path().join("backup");
    fs::create_dir_all(&data_dir).expect("the data directory");
    let db = open(&data_dir).await;
    set_mark(&db, "in the backup").await;
    write(Backup { file: file.clone(), data_dir: data_dir.clone() }).await.expect("a backup");
    set_mark(&db, "later").await;
    // What a killed server leaves: its log has what came last.
    let log = fs::read(data_dir.join("tillkeep.db-wal")).expect("the log");
    db.close().await.expect("closed");
    fs::remove_file(data_dir.join(DATABASE)).expect("the database alone is removed");
    for name in ["tillkeep.db-wal", "tillkeep.db.restoring-wal"] {
        fs::write(data_dir.join(name), &log).expect("a log that is left over");
    }

    restore(Restore { file, data_dir: data_dir.clone(), replace: false }).await.expect("restored");
    let aside = named(&data_dir, "tillkeep.db.before-", "-wal");
    assert_eq!(aside.len(), 1, "the log is kept, whatever wrote it");
    assert_eq!(fs::read(&aside[0]).expect("the log"), log);
    assert_eq!(named(&data_dir, "tillkeep.db.restoring", ""), Vec::<PathBuf>::new());
    let db = open(&data_dir).await;
    let mark = settings::get(db.reader(), MARK).await.expect("a setting");
    assert_eq!(mark.as_deref(), Some("in the backup"));
    let check = tillkeep_storage::raw::query(db.reader(), "PRAGMA integrity_check", []).await.expect("a check");
    assert_eq!(check[0].try_get_by_index::<String>(0).expect("a verdict"), "ok");
    db.close().await.expect("closed");
}

#[tokio::test]
async fn a_key_that_a_backup_replaces_is_kept_beside_the_new_one() {
    let dir = tempfile::tempdir().expect("a directory");
    let data_dir = dir.path().join("data");
    let file = dir.path().join("backup");
    fs::create_dir_all(&data_dir).expect("the data directory");
    for name in KEYS {
        fs::write(data_dir.join(name), "of the backup").expect("a key");
    }
    open(&data_dir).await.close().await.expect("closed");
    write(Backup { file: file.clone(), data_dir: data_dir.clone() }).await.expect("a backup");
    fs::write(data_dir.join("token.key"), "made since").expect("a key");

    restore(Restore { file, data_dir: data_dir.clone(), replace: true }).await.expect("restored");
    for name in KEYS {
        assert_eq!(fs::read_to_string(data_dir.join(name)).expect("a key"), "of the backup");
    }
    let aside = named(&data_dir, "token.key.before-", "");
    assert_eq!(aside.len(), 1);
    assert_eq!(fs::read_to_string(&aside[0]).expect("the key"), "made since");
    assert_eq!(named(&data_dir, "pin.key.before-", ""), Vec::<PathBuf>::new(), "this one is the same");
}
