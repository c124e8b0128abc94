use tillkeep_storage::{Db, settings};

use super::*;
use crate::backup::write::{self, Server};

const MARK: &str = "a mark";

async fn set_mark(db: &Db, mark: &str) {
    let tx = db.begin().await.expect("a transaction");
    settings::set(&tx, MARK, mark).await.expect("a setting");
    tx.commit().await.expect("a commit");
}

async fn open(data_dir: &Path) -> Db {
    Db::open_file(&data_dir.join(DATABASE), Side::Store).await.expect("the database")
}

async fn back_up(data_dir: &Path, file: &Path, recipient: Option<&str>) {
    let server = Server { database: data_dir.join(DATABASE), data_dir: data_dir.to_owned() };
    let recipient = recipient.map(|key| key.parse().expect("a recipient"));
    write::write(&server, file, recipient.as_ref(), Clock::default().now()).await.expect("a backup");
}

fn into(data_dir: &Path, file: &Path) -> Restore {
    Restore { file: file.to_owned(), data_dir: data_dir.to_owned(), replace: false, identity: None }
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
    back_up(&data_dir, &file, None).await;
    set_mark(&db, "later").await;
    // What a killed server leaves: its log has what came last.
    let log = fs::read(data_dir.join("tillkeep.db-wal")).expect("the log");
    db.close().await.expect("closed");
    fs::remove_file(data_dir.join(DATABASE)).expect("the database alone is removed");
    for name in ["tillkeep.db-wal", "tillkeep.db.restoring-wal"] {
        fs::write(data_dir.join(name), &log).expect("a log that is left over");
    }

    restore(into(&data_dir, &file)).await.expect("restored");
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
    back_up(&data_dir, &file, None).await;
    fs::write(data_dir.join("token.key"), "made since").expect("a key");

    restore(Restore { replace: true, ..into(&data_dir, &file) }).await.expect("restored");
    for name in KEYS {
        assert_eq!(fs::read_to_string(data_dir.join(name)).expect("a key"), "of the backup");
    }
    let aside = named(&data_dir, "token.key.before-", "");
    assert_eq!(aside.len(), 1);
    assert_eq!(fs::read_to_string(&aside[0]).expect("the key"), "made since");
    assert_eq!(named(&data_dir, "pin.key.before-", ""), Vec::<PathBuf>::new(), "this one is the same");
}

const IDENTITY: &str = "AGE-SECRET-KEY-1A8ZPPZ4H8YHQXWMHMZH4H3PFJZX5YJFUXMMVSUNQS0HG4ZTYTA5Q25VXSQ";
const RECIPIENT: &str = "age1nl8awhtw734fu8gwury92hzr239ccfrecmhjm0xxkx8zg5cgfs6qy74yks";

#[tokio::test]
async fn an_encrypted_backup_is_restored_with_its_identity_alone_and_leaves_nothing_in_the_open() {
    let dir = tempfile::tempdir().expect("a directory");
    let (data_dir, again) = (dir.path().join("data"), dir.path().join("again"));
    let (file, identity) = (dir.path().join("backup.age"), dir.path().join("identity"));
    fs::create_dir_all(&data_dir).expect("the data directory");
    fs::write(data_dir.join("token.key"), "the key of the tokens").expect("a key");
    let db = open(&data_dir).await;
    set_mark(&db, "in the backup").await;
    back_up(&data_dir, &file, Some(RECIPIENT)).await;
    db.close().await.expect("closed");
    let bytes = fs::read(&file).expect("the backup");
    for open in ["SQLite format", "the key of the tokens", "in the backup"] {
        assert!(!bytes.windows(open.len()).any(|part| part == open.as_bytes()), "{open}");
    }
    assert_eq!(named(&data_dir, "tillkeep.db.backup", ""), Vec::<PathBuf>::new(), "the open copy is gone");

    let refused = restore(into(&again, &file)).await.expect_err("refused").to_string();
    assert!(refused.contains("--identity"), "{refused}");
    fs::write(&identity, "AGE-SECRET-KEY-1").expect("a file");
    let with_identity = || Restore { identity: Some(identity.clone()), ..into(&again, &file) };
    assert!(restore(with_identity()).await.is_err());
    assert!(!again.exists(), "nothing was made");
    fs::write(&identity, IDENTITY).expect("a file");
    // The last byte alone: it is found when the file was read to its end.
    let mut damaged = bytes.clone();
    *damaged.last_mut().expect("a byte") ^= 1;
    fs::write(&file, &damaged).expect("a file");
    let refused = format!("{:#}", restore(with_identity()).await.expect_err("refused"));
    assert!(refused.contains("damaged or cut off"), "{refused}");
    assert_eq!(named(&again, "tillkeep.db", ""), Vec::<PathBuf>::new());
    fs::write(&file, &bytes).expect("a file");

    restore(with_identity()).await.expect("restored");
    assert_eq!(fs::read_to_string(again.join("token.key")).expect("a key"), "the key of the tokens");
    let db = open(&again).await;
    assert_eq!(settings::get(db.reader(), MARK).await.expect("a setting").as_deref(), Some("in the backup"));
    db.close().await.expect("closed");
}
