//! One program at a time in a data directory: the next one is refused with the name of the first.
//!
//! The operating system keeps the lock for as long as the process lives: a kill -9 leaves nothing to clean up. What is
//! written in the file is for the message alone.

use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use tillkeep_http::Clock;
use tillkeep_model::Instant;

use crate::modes;

const FILE: &str = "lock";

/// Held from before anything in the directory is opened until everything is closed.
#[must_use = "dropped, it lets others in"]
pub struct Lock {
    file: File,
    who: &'static str,
    since: Instant,
}

impl Lock {
    /// Makes the directory when it is missing, and takes it for `who`, such as "a store server".
    pub fn take(data_dir: &Path, who: &'static str) -> Result<Self> {
        let named = || data_dir.display().to_string();
        std::fs::create_dir_all(data_dir).with_context(|| format!("the data directory {} cannot be made", named()))?;
        let path = data_dir.join(FILE);
        let open = File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = open.with_context(|| path.display().to_string())?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!(
                "the data directory {} is in use by {}; stop it first, or name another directory with --data-dir",
                named(),
                holder(&mut file)
            ),
            Err(TryLockError::Error(error)) => {
                let text = format!("{} cannot be locked; keep the data directory on a local disk", path.display());
                return Err(error).context(text);
            }
        }
        modes::mend(data_dir);
        let mut lock = Self { file, who, since: Clock::default().now() };
        lock.write("");
        Ok(lock)
    }

    /// Notes where the server that has the directory is found.
    pub fn listens_on(&mut self, url: &str) {
        self.write(&format!(", on {url}"));
    }

    /// A note that cannot be written, as on a full disk, is no reason not to start: the lock holds without it.
    fn write(&mut self, place: &str) {
        let note = format!("{} (process {}, since {}{place})\n", self.who, std::process::id(), self.since);
        let file = &mut self.file;
        let written = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(note.as_bytes()));
        if let Err(error) = written {
            tracing::warn!(%error, "who has the data directory could not be noted in it");
        }
    }
}

/// What whoever has a directory has said, for one who does not want it.
pub struct Holder {
    /// As it stands in the file.
    pub note: String,
    /// Where a server of it listens.
    pub url: Option<String>,
}

impl Holder {
    /// Who has the directory now, if anybody does.
    pub fn of(data_dir: &Path) -> std::io::Result<Option<Self>> {
        let mut file = match File::open(data_dir.join(FILE)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        // Let go with the file, in the same moment.
        match file.try_lock_shared() {
            Ok(()) => return Ok(None),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let note = holder(&mut file);
        let url = note.rsplit_once(", on ").map(|(_, url)| url.trim_end_matches(')').to_owned());
        Ok(Some(Self { note, url }))
    }
}

/// Who has the directory, as far as they have said so already.
fn holder(file: &mut File) -> String {
    let mut note = String::new();
    match file.read_to_string(&mut note) {
        Ok(_) if !note.trim().is_empty() => note.trim().to_owned(),
        _ => "another program that is just starting".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_free_again_when_its_holder_is_gone_whatever_the_file_says() {
        let dir = tempfile::tempdir().expect("a directory");
        let data_dir = dir.path().join("data");
        let mut first = Lock::take(&data_dir, "a store server").expect("the lock");
        first.listens_on("http://127.0.0.1:8081");
        let refusal = Lock::take(&data_dir, "headquarters").err().expect("refused").to_string();
        let own = format!("a store server (process {}, since ", std::process::id());
        assert!(refusal.contains(&own) && refusal.contains(", on http://127.0.0.1:8081);"), "{refusal}");
        let seen = Holder::of(&data_dir).expect("readable").expect("somebody has it");
        assert!(seen.note.contains(&own), "{}", seen.note);
        assert_eq!(seen.url.as_deref(), Some("http://127.0.0.1:8081"));
        drop(first);
        assert!(Holder::of(&data_dir).expect("readable").is_none(), "nobody has it, whatever the file says");
        assert!(Holder::of(&dir.path().join("nothing")).expect("readable").is_none());
        let _next = Lock::take(&data_dir, "headquarters").expect("the lock");
        let refusal = Lock::take(&data_dir, "a store server").err().expect("refused").to_string();
        assert!(refusal.contains("in use by headquarters (process"), "{refusal}");
    }
}
