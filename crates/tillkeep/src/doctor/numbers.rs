//! The file of a store's last numbers, beside its database.

use std::path::Path;
use std::sync::Arc;

use tillkeep_storage::numbers::{Apart, Beside, beside};
use tillkeep_storage::settings;

use super::finding::{Checked, Finding, Unchecked, fault, hint, note, ok, warning};
use super::installation::Installation;

pub async fn kept(at: Arc<Installation>) -> Checked {
    let conn = at.tables()?;
    let store = settings::get(conn, "store_id").await?.and_then(|id| id.parse().ok());
    let Some(store) = store else {
        return Err(Unchecked::Because("no store has this database yet".to_owned()));
    };
    let path = at.numbers_file();
    Ok(of_file(&path, beside(conn, &path, store).await?, at.is_running()))
}

fn of_file(path: &Path, beside: Beside, is_running: bool) -> Vec<Finding> {
    let name = path.display();
    match beside {
        Beside::New => vec![note(format!("{name} is not there yet: the next start makes it"))],
        Beside::Gone if is_running => vec![warning(
            format!("{name} is gone: what the server writes now is in no file that has a name"),
            "restart the server while it has a line to headquarters, which tells it its numbers; put no older file in this place",
        )],
        Beside::Gone => vec![warning(
            format!(
                "{name} is gone: without a line to headquarters the next start goes on in other series, with a letter"
            ),
            "start the server with a line to headquarters, which tells it its numbers; or set NUMBERS_FILE to where the file is; \
             put no older one in this place",
        )],
        Beside::Unreadable(error) => vec![fault(
            error,
            format!(
                "see that the server may read {name} and that its disk is well; a file that says nothing is set aside at the next start"
            ),
        )],
        Beside::OfAnother(owner) => vec![fault(
            format!("{name} belongs to store {owner}: the server does not start with it"),
            "give each store a file of its own with NUMBERS_FILE",
        )],
        Beside::Kept { ahead: None, behind: None } => vec![ok(format!("{name} and the database have the same"))],
        Beside::Kept { ahead, behind } => {
            let ahead = ahead.map(|apart| put_back(&apart));
            ahead.into_iter().chain(behind.map(|apart| unwritten(path, &apart, is_running))).collect()
        }
    }
}

fn put_back(Apart { series, file, database }: &Apart) -> Finding {
    warning(
        format!("the database was put back: {series} is at {database}, and was given up to {file}"),
        "start the server: it goes on above, names the numbers between as lost and fetches from headquarters what it lacks",
    )
}

fn unwritten(path: &Path, Apart { series, file, database }: &Apart, is_running: bool) -> Finding {
    let text = format!("{} has {series} up to {file}, and the database up to {database}", path.display());
    if is_running {
        return warning(
            text,
            "the server cannot write it: see its disk and its rights; put no database back meanwhile",
        );
    }
    hint(text, "the next start writes it again")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Level;

    #[test]
    fn what_is_wrong_with_the_file_has_its_level_and_its_remedy() {
        let apart = || Some(Apart { series: "receipt:01".to_owned(), file: 9, database: 7 });
        for (beside, is_running, level, word) in [
            (Beside::New, false, Level::Hint, "the next start makes it"),
            (Beside::Gone, false, Level::Warning, "is gone"),
            (Beside::Gone, true, Level::Warning, "is gone"),
            (Beside::Unreadable("it has nothing".to_owned()), false, Level::Fault, "it has nothing"),
            (Beside::OfAnother(uuid::Uuid::nil()), false, Level::Fault, "belongs to store"),
            (Beside::Kept { ahead: None, behind: None }, true, Level::Ok, "the same"),
            (Beside::Kept { ahead: apart(), behind: None }, false, Level::Warning, "receipt:01 is at 7"),
            (Beside::Kept { ahead: None, behind: apart() }, false, Level::Hint, "receipt:01 up to 9"),
            (Beside::Kept { ahead: None, behind: apart() }, true, Level::Warning, "receipt:01 up to 9"),
        ] {
            let found = of_file(Path::new("/data/numbers"), beside, is_running);
            assert_eq!((found.len(), found[0].level), (1, level), "{found:?}");
            assert!(found[0].text.contains(word), "{found:?}");
        }
    }
}
