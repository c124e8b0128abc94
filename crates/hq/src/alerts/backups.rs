//! The backups of this server, as they lie in their directory.

use std::path::Path;
use std::time::UNIX_EPOCH;

use tillkeep_model::Instant;

/// When the newest file in `directory` was written; nothing without one.
pub(super) fn newest_backup(directory: &Path) -> Option<Instant> {
    let entries = std::fs::read_dir(directory).ok()?;
    let written = |entry: std::fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // A name with a dot before it is one that is still being written; a key beside a dump is none.
        if name.starts_with('.') || name.contains(".key") {
            return None;
        }
        let about = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
        let since = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        i64::try_from(since.as_millis()).ok().map(Instant::from_millis)
    };
    entries.filter_map(Result::ok).filter_map(written).max()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_newest_backup_is_the_file_that_was_written_last() {
        let dir = tempfile::tempdir().expect("a directory");
        let backups = dir.path().join("backups");
        assert_eq!(newest_backup(&backups), None, "there is no folder");
        fs::create_dir_all(backups.join("a folder")).expect("a folder");
        assert_eq!(newest_backup(&backups), None, "a folder is none");
        for (name, seconds) in [
            ("old.db", 1_000),
            ("new.db", 3_000),
            ("middle.db", 2_000),
            (".draft.db", 4_000),
            ("new.pin.key.age", 5_000),
        ] {
            let file = File::create(backups.join(name)).expect("a file");
            file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).expect("a time");
        }
        assert_eq!(newest_backup(&backups), Some(Instant::from_millis(3_000_000)));
    }
}
