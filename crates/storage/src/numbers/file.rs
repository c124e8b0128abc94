//! The file: two places that are written in turn, each with its own checksum, so that one of them is whole whenever the
//! machine dies. It has its full size from the beginning: an overwrite needs no room on a full disk.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::fault;

/// Bytes of one of the two places: room for a thousand series.
const PLACE: usize = 32 << 10;

/// What the file says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Content {
    pub store: Uuid,
    /// What the present series have after their names, see [`super::letter`].
    #[serde(default)]
    pub letter: String,
    pub last: BTreeMap<String, i64>,
}

/// The file at its place, and which of its two places is next.
pub(super) struct NumbersFile {
    file: File,
    path: PathBuf,
    turn: u64,
}

impl NumbersFile {
    /// The file at `path` with its newest content; `None` when there is none. What is there and says nothing is
    /// [`ErrorKind::InvalidData`].
    pub(super) fn open(path: &Path) -> Result<Option<(Self, Content)>> {
        let opened = OpenOptions::new().read(true).write(true).open(path).or_else(|error| match error.kind() {
            // That it can only be read is an alarm, as when that happens later.
            ErrorKind::ReadOnlyFilesystem => OpenOptions::new().read(true).open(path),
            _ => Err(error),
        });
        let mut file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(about(path, &error)),
        };
        let mut bytes = Vec::new();
        if let Err(error) = file.read_to_end(&mut bytes) {
            return Err(about(path, &Error::new(ErrorKind::InvalidData, error)));
        }
        let Some((turn, content)) = newest(&bytes) else {
            let text = "it has nothing that can be read; move it away, and the store asks headquarters for its numbers";
            return Err(about(path, &Error::new(ErrorKind::InvalidData, text)));
        };
        Ok(Some((Self { file, path: path.to_owned(), turn: turn + 1 }, content)))
    }

    /// The newest content of the file at `path`, as it is: nothing but reading is asked of it.
    pub(super) fn look(path: &Path) -> Result<Option<Content>> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(about(path, &error)),
        };
        match newest(&bytes) {
            Some((_, content)) => Ok(Some(content)),
            None => Err(about(path, &Error::new(ErrorKind::InvalidData, "it has nothing that can be read"))),
        }
    }

    /// A new file with `content`, on disk with its name.
    pub(super) fn make(path: &Path, content: &Content) -> Result<Self> {
        let made = || {
            // Under its name only when it is whole: a file that says nothing would be refused.
            let draft = path.with_extension("new");
            let file =
                OpenOptions::new().write(true).read(true).create(true).truncate(true).mode(0o600).open(&draft)?;
            file.write_all_at(&vec![b' '; 2 * PLACE], 0)?;
            let mut kept = Self { file, path: path.to_owned(), turn: 0 };
            kept.write(content)?;
            std::fs::rename(&draft, path)?;
            File::open(directory(path)?)?.sync_all()?;
            Ok(kept)
        };
        made().map_err(|error| about(path, &error))
    }

    /// Writes `content` to the place that has its turn, and to the disk.
    pub(super) fn write(&mut self, content: &Content) -> Result<()> {
        let json = serde_json::to_string(content)?;
        let place = format!("{} {} {} {json}", sum(self.turn, &json), self.turn, json.len());
        if place.len() > PLACE {
            return Err(about(&self.path, &Error::other("it has no room for so many series")));
        }
        fault::point("numbers.write").map_err(|error| about(&self.path, &Error::other(error)))?;
        let at = if self.turn.is_multiple_of(2) { 0 } else { PLACE };
        let written = self.file.write_all_at(place.as_bytes(), at as u64).and_then(|()| self.file.sync_data());
        written.map_err(|error| about(&self.path, &error))?;
        self.turn += 1;
        Ok(())
    }
}

/// The directory of the file at `path`, or that it is not there: an empty one in its place would be taken for a lost file.
pub(super) fn directory(path: &Path) -> Result<&Path> {
    let named = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if named.is_dir() {
        return Ok(named);
    }
    let text = format!(
        "{} is not there, the directory of the file of the last numbers; mount or make it, or name another place with \
         numbers_file",
        named.display()
    );
    Err(Error::new(ErrorKind::NotFound, text))
}

/// Gives the file at `path`, which says nothing, a name that no other one has.
pub(super) fn set_aside(path: &Path) -> Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut names = (1..).map(|turn: u32| path.with_file_name(format!("{name}.unreadable-{turn}")));
    let aside = names.find(|aside| !aside.exists()).unwrap_or_default();
    std::fs::rename(path, &aside).map_err(|error| about(path, &error))?;
    Ok(aside)
}

fn about(path: &Path, error: &Error) -> Error {
    Error::new(error.kind(), format!("{}, the file of the last numbers: {error}", path.display()))
}

fn sum(turn: u64, json: &str) -> String {
    hex::encode(Sha256::digest(format!("{turn} {json}")))
}

fn newest(bytes: &[u8]) -> Option<(u64, Content)> {
    bytes.chunks(PLACE).filter_map(read).max_by_key(|(turn, _)| *turn)
}

/// What a place says, when it is whole. What an older and longer content left behind it is not looked at.
fn read(place: &[u8]) -> Option<(u64, Content)> {
    let words: Vec<&[u8]> = place.splitn(4, |byte| *byte == b' ').collect();
    let [own, turn, length, rest] = words.as_slice() else { return None };
    let number = |bytes: &[u8]| std::str::from_utf8(bytes).ok()?.parse::<u64>().ok();
    let (turn, length) = (number(turn)?, number(length)?);
    let json = std::str::from_utf8(rest.get(..usize::try_from(length).ok()?)?).ok()?;
    if sum(turn, json).as_bytes() != *own {
        return None;
    }
    Some((turn, serde_json::from_str(json).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(last: i64) -> Content {
        Content { last: BTreeMap::from([("receipt:01".to_owned(), last)]), ..Content::default() }
    }

    fn last(path: &Path) -> i64 {
        NumbersFile::open(path).expect("read").expect("a file").1.last["receipt:01"]
    }

    #[test]
    fn a_write_that_is_torn_anywhere_leaves_the_one_before() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("numbers");
        assert!(NumbersFile::open(&path).expect("no error").is_none());
        let mut kept = NumbersFile::make(&path, &content(1_000_000)).expect("made");
        for number in [7, 8, 9] {
            kept.write(&content(number)).expect("written");
            assert_eq!(last(&path), number, "also when it is shorter than what was there");
        }
        let whole = std::fs::read(&path).expect("the file");
        kept.write(&content(10)).expect("written");
        let after = std::fs::read(&path).expect("the file");
        let differing: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] != after[*at]).collect();
        for cut in differing.iter().copied().take(20).chain(differing.last().copied()) {
            let torn = [&after[..cut], &whole[cut..]].concat();
            std::fs::write(&path, &torn).expect("torn");
            assert_eq!(last(&path), 9, "torn at {cut}");
        }
        std::fs::write(&path, "nothing").expect("broken");
        let error = NumbersFile::open(&path).err().expect("refused").to_string();
        assert!(error.contains("move it away"), "{error}");
    }
}
