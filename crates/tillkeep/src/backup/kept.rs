//! The backups of one server in a directory, by their names: which are there, and which are too many.
//!
//! A name says whose backup it is and when it was made: `store-S01-20261120T080001Z.tillkeep`. What has another name is
//! somebody else's, and is never touched. A backup of `PostgreSQL` is several files of one moment; it counts when the one is there that
//! is written last.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use chrono::NaiveDateTime;
use tillkeep_model::Instant;

use crate::sealed;

/// What a name ends with: a database on `SQLite` with its keys, a dump of `PostgreSQL`.
pub const DATABASE: &str = ".tillkeep";
pub const DUMP: &str = ".dump";
/// How the moment is written.
const MOMENT: &str = "%Y%m%dT%H%M%SZ";
/// What a file is called until it is whole.
const DRAFT: &str = ".part";

/// Where one server keeps its backups.
#[derive(Clone, Debug)]
pub struct Shelf {
    pub directory: PathBuf,
    /// What its names begin with: `hq`, or `store-` and the code.
    owner: String,
}

/// One backup: its files, and whether it is whole.
#[derive(Debug, Default, PartialEq, Eq)]
struct Backup {
    files: Vec<PathBuf>,
    is_whole: bool,
}

impl Shelf {
    /// Of headquarters, or of the store with this code.
    pub fn new(directory: PathBuf, store: Option<&str>) -> Self {
        let letter = |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' };
        let owner = match store {
            None => "hq".to_owned(),
            Some(code) => format!("store-{}", code.chars().map(letter).collect::<String>()),
        };
        Self { directory, owner }
    }

    /// The file of a backup that is made at `moment`, with this end of its name.
    pub fn file(&self, moment: Instant, end: &str) -> PathBuf {
        self.directory.join(format!("{}-{}{end}", self.owner, moment.utc().format(MOMENT)))
    }

    /// The moment in a name of this server's, and what stands behind it.
    fn moment<'a>(&self, name: &'a str) -> Option<(Instant, &'a str)> {
        let rest = name.strip_prefix(&self.owner)?.strip_prefix('-')?;
        let (moment, end) = rest.split_at_checked(rest.find('Z')? + 1)?;
        let read = NaiveDateTime::parse_from_str(moment, MOMENT).ok()?.and_utc();
        (end.starts_with('.') && read.format(MOMENT).to_string() == moment).then(|| (read.into(), end))
    }

    /// What is here of this server, by its moment. A directory that is not there is empty.
    fn all(&self) -> io::Result<BTreeMap<Instant, Backup>> {
        let mut all: BTreeMap<Instant, Backup> = BTreeMap::new();
        for path in self.paths()? {
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            let Some((moment, end)) = self.moment(name) else { continue };
            let backup = all.entry(moment).or_default();
            backup.is_whole |= [DATABASE, DUMP].contains(&end.strip_suffix(sealed::END).unwrap_or(end));
            backup.files.push(path);
        }
        Ok(all)
    }

    fn paths(&self) -> io::Result<Vec<PathBuf>> {
        match fs::read_dir(&self.directory) {
            Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path())).collect(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// When the newest whole backup was made. One of the future says only that a clock was wrong.
    pub fn newest(&self, now: Instant) -> io::Result<Option<Instant>> {
        let all = self.all()?;
        Ok(all.into_iter().rev().find(|(moment, backup)| *moment <= now && backup.is_whole).map(|(moment, _)| moment))
    }

    /// Removes what is older than the newest `keep` whole backups; how many that was. Those of the future stay until it is there.
    pub fn keep(&self, keep: usize, now: Instant) -> io::Result<usize> {
        let mut all = self.all()?;
        all.retain(|moment, _| *moment <= now);
        let whole = all.iter().rev().filter(|(_, backup)| backup.is_whole).map(|(moment, _)| *moment);
        // What is not whole of an earlier moment is what a killed server left.
        let Some(oldest) = whole.take(keep.max(1)).last() else { return Ok(0) };
        let mut removed = 0;
        for backup in all.range(..oldest).map(|(_, backup)| backup) {
            for file in &backup.files {
                fs::remove_file(file)?;
            }
            removed += usize::from(backup.is_whole);
        }
        Ok(removed)
    }

    /// Removes what was being written when a server was killed.
    pub fn sweep(&self) -> io::Result<()> {
        for path in self.paths()? {
            let name = path.file_name().and_then(|name| name.to_str());
            let own = name.and_then(|name| self.moment(name.strip_prefix('.')?));
            // SQLite has files beside the one that it writes.
            if own.is_some_and(|(_, end)| end.contains(DRAFT)) {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }
}

/// What `file` is called until it is whole: in the same directory, and hidden.
pub fn draft_of(file: &Path) -> Option<PathBuf> {
    let name = file.file_name()?.to_string_lossy();
    Some(file.with_file_name(format!(".{name}{DRAFT}")))
}

/// Puts what is written to its place, where it is after a power cut too.
pub fn publish(draft: &Path, file: &Path) -> io::Result<()> {
    File::open(draft)?.sync_all()?;
    fs::rename(draft, file)?;
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(directory)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hour: u32) -> Instant {
        Instant::parse(&format!("2026-11-20T{hour:02}:00:00Z")).expect("a moment")
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().expect("a name")).collect();
        names.sort();
        names
    }

    #[test]
    fn the_newest_are_kept_and_what_has_another_name_is_not_touched() {
        let dir = tempfile::tempdir().expect("a directory");
        let shelf = Shelf::new(dir.path().to_owned(), Some("S01"));
        for hour in 1..=4 {
            fs::write(shelf.file(at(hour), DATABASE), "x").expect("a file");
        }
        let foreign = [
            "store-S01-20261120T000000Z",
            "store-S01-20261120T0000Z.tillkeep",
            "store-S01-2-20261120T000000Z.tillkeep",
            "store-S02-20261120T000000Z.tillkeep",
            "hq-20261120T000000Z.tillkeep",
            "before-upgrade.tillkeep",
            "store-S01-20261320T000000Z.tillkeep",
        ];
        for name in foreign {
            fs::write(dir.path().join(name), "x").expect("a file");
        }
        assert_eq!(shelf.newest(at(9)).expect("read"), Some(at(4)));
        assert_eq!(shelf.keep(2, at(9)).expect("kept"), 2);
        let mut left: Vec<String> = foreign.map(str::to_owned).to_vec();
        left.extend([
            "store-S01-20261120T030000Z.tillkeep".to_owned(),
            "store-S01-20261120T040000Z.tillkeep".to_owned(),
        ]);
        left.sort();
        assert_eq!(names(dir.path()), left);
        assert_eq!(shelf.keep(2, at(9)).expect("kept"), 0);
    }

    #[test]
    fn a_backup_of_the_future_neither_counts_nor_goes_nor_has_others_go() {
        let dir = tempfile::tempdir().expect("a directory");
        let shelf = Shelf::new(dir.path().to_owned(), None);
        for hour in [1, 2, 7, 8] {
            fs::write(shelf.file(at(hour), ".tillkeep.age"), "x").expect("a file");
        }
        assert_eq!(shelf.newest(at(5)).expect("read"), Some(at(2)));
        assert_eq!(shelf.keep(1, at(5)).expect("kept"), 1);
        let hours = [2, 7, 8].map(|hour| format!("hq-20261120T0{hour}0000Z.tillkeep.age"));
        assert_eq!(names(dir.path()), hours);
    }

    #[test]
    fn a_dump_counts_with_the_file_that_is_written_last_and_goes_with_its_keys() {
        let dir = tempfile::tempdir().expect("a directory");
        let shelf = Shelf::new(dir.path().to_owned(), None);
        for (hour, end) in [(1, ".pin.key"), (1, DUMP), (2, ".pin.key"), (3, ".pin.key"), (3, DUMP), (4, ".pin.key")] {
            fs::write(shelf.file(at(hour), end), "x").expect("a file");
        }
        assert_eq!(shelf.newest(at(9)).expect("read"), Some(at(3)));
        assert_eq!(shelf.keep(1, at(9)).expect("kept"), 1);
        let left = ["3", "3", "4"].iter().zip([DUMP, ".pin.key", ".pin.key"]);
        let left: Vec<String> = left.map(|(hour, end)| format!("hq-20261120T0{hour}0000Z{end}")).collect();
        assert_eq!(names(dir.path()), left);
    }

    #[test]
    fn what_a_killed_server_was_writing_is_swept_away_and_nothing_else() {
        let dir = tempfile::tempdir().expect("a directory");
        let shelf = Shelf::new(dir.path().join("backups"), None);
        shelf.sweep().expect("there is nothing yet");
        assert_eq!(shelf.newest(at(9)).expect("read"), None);
        fs::create_dir(&shelf.directory).expect("a directory");
        let file = shelf.file(at(1), DATABASE);
        let draft = draft_of(&file).expect("a name");
        assert_eq!(draft.parent(), file.parent(), "a rename within one file system");
        for path in [
            &draft,
            &shelf.directory.join(".other.part"),
            &shelf.directory.join(".store-S01-20261120T010000Z.tillkeep.part"),
        ] {
            fs::write(path, "x").expect("a file");
        }
        assert_eq!(shelf.newest(at(9)).expect("read"), None, "half a backup is none");
        shelf.sweep().expect("swept");
        assert_eq!(names(&shelf.directory), [".other.part", ".store-S01-20261120T010000Z.tillkeep.part"]);
        fs::write(&draft, "x").expect("a file");
        publish(&draft, &file).expect("published");
        assert_eq!(names(&shelf.directory).last().map(String::as_str), Some("hq-20261120T010000Z.tillkeep"));
    }
}
