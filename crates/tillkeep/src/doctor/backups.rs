//! Whether somebody makes backups, as far as that can be seen.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use tillkeep_model::Instant;
use tillkeep_storage::Side;

use super::ages::{DAY, length};
use super::finding::{Finding, hint, ok, warning};
use super::installation::Installation;

/// Backups are made each night: one may fail.
const LATE_MS: i64 = 2 * DAY;

pub fn recent(at: &Installation) -> Vec<Finding> {
    let remedy = make(at);
    let Some(dir) = &at.backups else { return vec![unseen(at.is_backed_up_elsewhere, &remedy)] };
    let newest = match newest(dir) {
        Ok(newest) => newest,
        Err(error) if at.makes_backups && error.kind() == io::ErrorKind::NotFound => {
            let text = format!("there is none yet in {}: the server makes the first one when it is due", dir.display());
            return vec![hint(text, format!("{remedy} makes one now"))];
        }
        Err(error) => {
            let text = format!("{} cannot be read: {error}", dir.display());
            return vec![warning(text, "name the directory of backups with --backups")];
        }
    };
    vec![of_age(dir, newest, at.clock.now(), &remedy)]
}

/// Of an installation of whose backups nothing can be seen.
fn unseen(is_elsewhere: bool, make: &str) -> Finding {
    if is_elsewhere {
        let text = "somebody else makes them (backup.elsewhere), which cannot be seen from here";
        return hint(text, "--backups DIR here has their age looked at");
    }
    warning(
        "nobody makes backups, as far as can be seen: the server makes none, and no directory of them is named",
        format!(
            "BACKUP_EVERY=24h has the server make them; or {make} each night, and --backups DIR here has their age looked at; where \
             somebody else makes them, BACKUP_ELSEWHERE=true says so"
        ),
    )
}

fn make(at: &Installation) -> String {
    match (at.side, at.file()) {
        (Side::Hq, None) => "`pg_dump --format=custom`, with pin.key and token.key beside it,".to_owned(),
        _ => format!("`tillkeep backup FILE --data-dir {}`", at.data_dir.display()),
    }
}

/// The file that was written last.
fn newest(dir: &Path) -> io::Result<Option<(PathBuf, Instant)>> {
    let mut newest: Option<(PathBuf, Instant)> = None;
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let about = entry.metadata()?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // A name with a dot before it is one that is still being written; a key beside a dump is none.
        if !about.is_file() || name.starts_with('.') || name.contains(".key") {
            continue;
        }
        let written = moment(about.modified()?);
        if newest.as_ref().is_none_or(|(_, at)| *at < written) {
            newest = Some((entry.path(), written));
        }
    }
    Ok(newest)
}

fn moment(time: SystemTime) -> Instant {
    let millis = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    Instant::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}

fn of_age(dir: &Path, newest: Option<(PathBuf, Instant)>, now: Instant, make: &str) -> Finding {
    let remedy = format!("{make} into it, each night");
    let Some((file, written)) = newest else {
        return warning(format!("there is no backup in {}", dir.display()), remedy);
    };
    let age = now.millis_since(written).max(0);
    let text = format!("the newest is {}, {} old", file.display(), length(age));
    if age > LATE_MS { warning(text, remedy) } else { ok(text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Level;

    #[test]
    fn a_backup_is_late_after_two_days_and_what_is_being_written_is_none() {
        let dir = tempfile::tempdir().expect("a directory");
        assert_eq!(newest(dir.path()).expect("readable"), None);
        std::fs::write(dir.path().join(".hq.part"), "x").expect("a file");
        std::fs::create_dir(dir.path().join("older")).expect("a folder");
        assert_eq!(newest(dir.path()).expect("readable"), None);
        let file = dir.path().join("hq.tillkeep");
        std::fs::write(&file, "x").expect("a file");
        let (found, written) = newest(dir.path()).expect("readable").expect("a backup");
        assert_eq!(found, file);
        let level = |later: i64| {
            of_age(dir.path(), Some((file.clone(), written)), written.plus_millis(later), "make one").level
        };
        assert_eq!((level(0), level(2 * DAY), level(2 * DAY + 1)), (Level::Ok, Level::Ok, Level::Warning));
        assert_eq!(of_age(dir.path(), None, written, "make one").level, Level::Warning);
    }

    #[test]
    fn that_nobody_makes_backups_is_a_warning_until_somebody_is_said_to() {
        let warned = unseen(false, "`pg_dump`");
        let remedy = warned.remedy.expect("a remedy");
        assert_eq!(warned.level, Level::Warning);
        for word in ["`pg_dump`", "BACKUP_EVERY", "--backups", "BACKUP_ELSEWHERE"] {
            assert!(remedy.contains(word), "{remedy}");
        }
        assert_eq!(unseen(true, "`pg_dump`").level, Level::Hint);
    }
}
