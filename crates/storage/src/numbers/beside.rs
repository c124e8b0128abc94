//! The file of the last numbers beside its database, for one who only looks.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use sea_orm::{ConnectionTrait, DbErr};
use uuid::Uuid;

use super::file::{Content, NumbersFile};
use super::{KEPT, printed};
use crate::settings;

/// A server that runs has written a number within this.
const WRITTEN_WITHIN: Duration = Duration::from_millis(500);

/// How the file stands to the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Beside {
    /// There was never a file: the next start makes one.
    New,
    /// There was one, and it is gone.
    Gone,
    /// It cannot be read, for this reason.
    Unreadable(String),
    /// It is the file of another store.
    OfAnother(Uuid),
    Kept {
        /// A series that the file has further than the database: that one was put back.
        ahead: Option<Apart>,
        /// A series that the file has not as far as the database.
        behind: Option<Apart>,
    },
}

/// A series, and how far either has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Apart {
    pub series: String,
    pub file: i64,
    pub database: i64,
}

/// Holds the file at `path` against the database of `store`. A number is in the database before it is in the file, so that the
/// file is looked at first and last: what a running server is just writing is not apart.
pub async fn beside(conn: &impl ConnectionTrait, path: &Path, store: Uuid) -> Result<Beside, DbErr> {
    let Content { store: owner, last: before, .. } = match NumbersFile::look(path) {
        Ok(Some(content)) => content,
        Ok(None) => {
            let is_missed = settings::get(conn, KEPT).await?.is_some();
            return Ok(if is_missed { Beside::Gone } else { Beside::New });
        }
        Err(error) => return Ok(Beside::Unreadable(error.to_string())),
    };
    if owner != store {
        return Ok(Beside::OfAnother(owner));
    }
    let here = printed(conn).await?;
    let mut behind = less(&before, &here);
    if behind.is_some() {
        tokio::time::sleep(WRITTEN_WITHIN).await;
        behind = match NumbersFile::look(path) {
            Ok(Some(after)) => less(&after.last, &here),
            _ => behind,
        };
    }
    let ahead =
        less(&here, &before).map(|Apart { series, file, database }| Apart { series, file: database, database: file });
    Ok(Beside::Kept { ahead, behind })
}

/// The first series of which `file` has less than `database`.
fn less(file: &BTreeMap<String, i64>, database: &BTreeMap<String, i64>) -> Option<Apart> {
    database.iter().find_map(|(series, database)| {
        let file = file.get(series).copied().unwrap_or_default();
        (file < *database).then(|| Apart { series: series.clone(), file, database: *database })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_that_one_of_the_two_does_not_have_counts_as_none_given() {
        let of = |last: i64| BTreeMap::from([("receipt:01".to_owned(), last)]);
        assert_eq!(less(&of(7), &of(7)), None);
        assert_eq!(less(&of(8), &of(7)), None);
        assert_eq!(less(&of(8), &BTreeMap::new()), None);
        let apart = |file| Some(Apart { series: "receipt:01".to_owned(), file, database: 7 });
        assert_eq!(less(&of(6), &of(7)), apart(6));
        assert_eq!(less(&BTreeMap::new(), &of(7)), apart(0));
    }
}
