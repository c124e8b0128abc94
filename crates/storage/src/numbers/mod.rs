//! The last number of each series that a store prints, in a file beside its database: a database that was restored goes on
//! above it. `docs/sync.md`, rule D14.

mod beside;
pub(crate) mod document_numbers;
mod file;
mod given;
pub mod high_water;
pub mod known_numbers;
pub mod lost;
mod one_series;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sea_orm::{ConnectionTrait, DbErr, RuntimeErr};
use tillkeep_model::Instant;
use tillkeep_model::wire::LostNumbers;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;
use uuid::Uuid;

pub use self::beside::{Apart, Beside, beside};
use self::file::{Content, NumbersFile};
use self::given::letter;
pub use self::given::{Given, SESSIONS_OF_A_LETTER, series_name};
pub use self::one_series::{Numbering, Series};
use crate::series::{OUTBOX, OUTBOX_TIME};
use crate::{Db, backup, series, settings};

/// Whether this database has had a file: one of the first release has not, and is not to miss it.
const KEPT: &str = "numbers_kept";
/// The letter of the present series.
const LETTER: &str = "numbers_letter";
/// The longest that a number waits for the first word of headquarters after a start: a little more than a request may be
/// silent, after which it is known that there is no line.
const PATIENCE: Duration = Duration::from_secs(25);

/// How sure a store is of its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Known,
    /// The server has just started: headquarters may know better, as after the whole directory was restored.
    Asking,
    /// The file is gone: no number is given before headquarters was asked.
    Unknown,
}

/// The series of a store, with their file.
pub struct Numbers {
    standing: watch::Sender<Standing>,
    shared: Arc<Shared>,
    /// Where the file is now that could not be read at the start.
    set_aside: Option<PathBuf>,
}

struct Shared {
    path: PathBuf,
    said: Mutex<Said>,
    file: Mutex<Option<NumbersFile>>,
    /// Who writes the file: the others wait for it without a thread of their own.
    writing: Semaphore,
}

/// What the file is to say.
struct Said {
    content: Content,
    /// Counts the changes of `content`, and up to which the file has them.
    revision: u64,
    written: u64,
}

/// The file does not have what it is to say: the database alone does, until the next write that goes well.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unwritten(std::io::Error);

/// No number can be given now: the file is gone, and headquarters was not asked yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown;

impl Numbers {
    /// Holds the database of `store` against the file at `path`. What the file has beyond the database is lost, and noted.
    pub async fn open(path: &Path, db: &Db, store: Uuid, now: Instant) -> Result<Self, DbErr> {
        file::directory(path).map_err(|error| failed(&error))?;
        let (found, set_aside) = look(path).map_err(|error| failed(&error))?;
        let tx = db.begin().await?;
        let mut content =
            Content { store, letter: settings::get(&tx, LETTER).await?.unwrap_or_default(), last: printed(&tx).await? };
        let is_missed = settings::get(&tx, KEPT).await?.is_some();
        let mut kept = None;
        if let Some((file, said)) = found {
            if said.store != store {
                let text =
                    format!("{} belongs to store {}; give each store a file of its own", path.display(), said.store);
                return Err(DbErr::Custom(text));
            }
            let mut gone = Vec::new();
            for (name, last) in said.last {
                let here = content.last.entry(name.clone()).or_default();
                if *here < last {
                    tracing::warn!(series = name, here, last, "the database was restored: numbers are lost");
                    series::raise(&tx, &name, last).await?;
                    gone.push(LostNumbers { series: name, from: *here + 1, to: last, noticed_at: now });
                    *here = last;
                }
            }
            lost::note(&tx, store, &gone).await?;
            if !gone.is_empty() {
                backup::mark_restored(&tx, now).await?;
            }
            content.letter = letter::later(content.letter, said.letter);
            settings::set(&tx, LETTER, &content.letter).await?;
            kept = Some(file);
        }
        let standing =
            if kept.is_none() && (is_missed || set_aside.is_some()) { Standing::Unknown } else { Standing::Known };
        let is_new = kept.is_none();
        let said = Mutex::new(Said { content, revision: 1, written: 0 });
        let shared =
            Arc::new(Shared { path: path.to_owned(), said, file: Mutex::new(kept), writing: Semaphore::new(1) });
        let numbers = Self { standing: watch::Sender::new(standing), shared, set_aside };
        if standing == Standing::Known {
            // Before the database says that there is one. One that cannot be made is a mistake of whoever named its place;
            // one that is there and fails keeps no till from selling.
            if let Err(Unwritten(error)) = numbers.write(1).await
                && is_new
            {
                return Err(failed(&error));
            }
            settings::set(&tx, KEPT, "yes").await?;
        } else {
            tracing::warn!(path = %path.display(), "the file of the last numbers is gone: asking headquarters for them");
        }
        tx.commit().await?;
        Ok(numbers)
    }

    /// The server begins to ask headquarters: numbers wait for its first word, or for the news that there is none.
    pub fn ask(&self) {
        self.standing.send_if_modified(|standing| {
            let changes = *standing == Standing::Known;
            if changes {
                *standing = Standing::Asking;
            }
            changes
        });
    }

    /// Where the file is that could not be read at the start, if there was one.
    pub fn set_aside(&self) -> Option<&Path> {
        self.set_aside.as_deref()
    }

    /// Whether the file lacks something that it is to say.
    pub fn is_unwritten(&self) -> bool {
        let said = self.said();
        said.written < said.revision && !self.are_unknown()
    }

    /// Whether headquarters has to say which numbers it has.
    pub fn are_unknown(&self) -> bool {
        *self.standing.borrow() == Standing::Unknown
    }

    /// Waits until numbers may be given.
    pub async fn ready(&self) -> Result<Numbering, Unknown> {
        // Whoever hears so comes again in a moment: it is not known how long it takes.
        if self.are_unknown() {
            return Err(Unknown);
        }
        let mut standing = self.standing.subscribe();
        drop(timeout(PATIENCE, standing.wait_for(|standing| *standing == Standing::Known)).await);
        // On a line that is dead without saying so a till does not wait again for what only a restored directory needs.
        self.standing.send_if_modified(|standing| std::mem::replace(standing, Standing::Known) != Standing::Known);
        Ok(Numbering { letter: self.said().content.letter.clone() })
    }

    /// Writes numbers that were committed, before a caller gets them. Those that come together are one write.
    pub async fn keep(&self, taken: Vec<(String, i64)>) -> Result<(), Unwritten> {
        if taken.is_empty() {
            return Ok(());
        }
        let revision = self.raise(taken);
        self.write(revision).await
    }

    /// Headquarters was asked, and the database is above what it has. Numbers are given from here on, whether or not the file
    /// has them.
    pub async fn answered(&self, db: &Db) -> Result<Result<(), Unwritten>, DbErr> {
        let tx = db.begin().await?;
        let last = printed(&tx).await?;
        let changes = last.iter().any(|(name, last)| self.said().content.last.get(name) != Some(last));
        let mut written = Ok(());
        if changes || self.are_unknown() {
            let revision = self.raise(last);
            written = self.write(revision).await;
            settings::set(&tx, KEPT, "yes").await?;
            tx.commit().await?;
        }
        self.standing.send_replace(Standing::Known);
        Ok(written)
    }

    /// Headquarters could not be asked. Without the file it is unknown how far the present series were given: a letter
    /// begins new ones.
    pub async fn unanswered(&self, db: &Db) -> Result<Result<(), Unwritten>, DbErr> {
        let mut written = Ok(());
        if self.are_unknown() {
            let before = self.said().content.letter.clone();
            let letter = letter::next(&before);
            let tx = db.begin().await?;
            settings::set(&tx, LETTER, &letter).await?;
            settings::set(&tx, KEPT, "yes").await?;
            // Both know it before the first number of the new series.
            written = self.write(self.say_letter(letter.clone())).await;
            if let Err(error) = tx.commit().await {
                self.say_letter(before);
                return Err(error);
            }
            tracing::warn!(letter, "no file of the last numbers and no line: the series go on with a letter");
        }
        self.standing.send_replace(Standing::Known);
        Ok(written)
    }

    fn say_letter(&self, letter: String) -> u64 {
        let mut said = self.said();
        said.content.letter = letter;
        said.revision += 1;
        said.revision
    }

    /// Sees that the file has every number that the database has given: a document that is answered once more may be one
    /// whose first answer failed before its number was in the file.
    pub async fn catch_up(&self, conn: &impl ConnectionTrait) -> Result<Result<(), Unwritten>, DbErr> {
        if self.are_unknown() {
            // A file that is made now would pass for the one that is gone.
            return Ok(Ok(()));
        }
        let last = printed(conn).await?;
        let is_behind = {
            let said = self.said();
            last.iter().any(|(name, last)| said.content.last.get(name) < Some(last))
        };
        let revision = if is_behind { self.raise(last) } else { self.said().revision };
        Ok(self.write(revision).await)
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        self.shared.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn raise(&self, last: impl IntoIterator<Item = (String, i64)>) -> u64 {
        let mut said = self.said();
        for (name, number) in last {
            let highest = said.content.last.entry(name).or_default();
            *highest = number.max(*highest);
        }
        said.revision += 1;
        said.revision
    }

    async fn write(&self, revision: u64) -> Result<(), Unwritten> {
        // It is never closed.
        let _turn = self.shared.writing.acquire().await;
        if self.said().written >= revision {
            return Ok(());
        }
        let shared = self.shared.clone();
        let written = tokio::task::spawn_blocking(move || shared.write(revision)).await;
        written.map_err(std::io::Error::other).flatten().map_err(Unwritten)
    }
}

/// The file at `path`, if there is one that can be read; one that cannot is set aside, and its place with it.
type Found = (Option<(NumbersFile, Content)>, Option<PathBuf>);

fn look(path: &Path) -> std::io::Result<Found> {
    match NumbersFile::open(path) {
        Ok(found) => Ok((found, None)),
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            let aside = file::set_aside(path)?;
            tracing::error!(%error, aside = %aside.display(), "the file of the last numbers cannot be read: it is set aside");
            Ok((None, Some(aside)))
        }
        Err(error) => Err(error),
    }
}

/// Has the file at `path` say that `series` was given up to `last`; one that is not there says nothing. No server may
/// have it open.
pub fn set(path: &Path, series: &str, last: i64) -> std::io::Result<()> {
    let Some((mut file, mut content)) = NumbersFile::open(path)? else { return Ok(()) };
    if ![OUTBOX, OUTBOX_TIME].contains(&series) {
        content.last.insert(series.to_owned(), last);
        file.write(&content)?;
    }
    Ok(())
}

impl Shared {
    /// Sees that the file has at least this revision: who waited for another's write finds its own done.
    fn write(&self, revision: u64) -> std::io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let (content, newest) = {
            let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
            if said.written >= revision {
                return Ok(());
            }
            (said.content.clone(), said.revision)
        };
        match &mut *file {
            Some(kept) => {
                // The file that is open may be of a disk that is gone: in its place there may be room for another one.
                if let Err(error) = kept.write(&content) {
                    // What was open may have lost its name by then.
                    *file = NumbersFile::make(&self.path, &content).ok();
                    if file.is_none() {
                        return Err(error);
                    }
                }
            }
            none => *none = Some(NumbersFile::make(&self.path, &content)?),
        }
        self.said.lock().unwrap_or_else(PoisonError::into_inner).written = newest;
        Ok(())
    }
}

/// A disk that fails is to a till what a database that fails is: it may come again.
fn failed(error: &std::io::Error) -> DbErr {
    DbErr::Conn(RuntimeErr::Internal(error.to_string()))
}

/// The series of numbers that people see.
async fn printed(conn: &impl ConnectionTrait) -> Result<BTreeMap<String, i64>, DbErr> {
    let mut all = series::all(conn).await?;
    all.retain(|name, _| ![OUTBOX, OUTBOX_TIME].contains(&name.as_str()));
    Ok(all)
}
