//! Releases: this program's, the running server's, headquarters' and the stores'.

use std::cmp::Ordering;
use std::sync::Arc;

use tillkeep_storage::{Side, doctor};

use super::asking;
use super::finding::{Checked, Finding, Unchecked, hint, ok, warning};
use super::installation::Installation;

const OWN: &str = env!("CARGO_PKG_VERSION");
/// Stores that are named at the most.
const MOST: usize = 10;

pub async fn together(at: Arc<Installation>) -> Checked {
    let mut found: Vec<Finding> = running(&at).await.into_iter().collect();
    match at.side {
        Side::Hq => found.extend(of_stores(&at).await),
        Side::Store => found.extend(of_headquarters(&at).await),
    }
    if found.is_empty() {
        found.push(ok(format!("{OWN}, and nothing that it works with is of another release")));
    }
    Ok(found)
}

/// The server that runs, when it is not this program.
async fn running(at: &Installation) -> Option<Finding> {
    let client = asking::client_of_this_machine().ok()?;
    let runs = asking::ask(&client, at.url_that_answers()?, "/health", &at.clock).await.ok()?.version()?;
    (runs != OWN).then(|| {
        warning(
            format!("the server that runs is of release {runs}, and this program of {OWN}"),
            "restart the server with this program, or look at it with its own",
        )
    })
}

async fn of_headquarters(at: &Installation) -> Option<Finding> {
    let Ok(Ok(heard)) = at.headquarters().await else {
        return Some(Unchecked::Because("headquarters does not say of which release it is".to_owned()).into());
    };
    let theirs = heard.version()?;
    match compared(OWN, &theirs)? {
        Ordering::Equal => None,
        Ordering::Less => {
            Some(hint(format!("this store is of release {OWN}, and headquarters of {theirs}"), "upgrade this store"))
        }
        Ordering::Greater => Some(hint(
            format!(
                "this store is of release {OWN}, and headquarters of {theirs} still: what only {OWN} knows stays here"
            ),
            "upgrade headquarters",
        )),
    }
}

async fn of_stores(at: &Installation) -> Vec<Finding> {
    let seen = match at.tables() {
        Ok(conn) => doctor::seen(conn).await.map_err(Unchecked::from),
        Err(unchecked) => Err(unchecked),
    };
    match seen {
        Ok(stores) => behind(stores.iter().map(|store| (&*store.code, &*store.version))).into_iter().collect(),
        Err(unchecked) => vec![unchecked.into()],
    }
}

/// Which stores are of an earlier release than this program.
fn behind<'a>(stores: impl Iterator<Item = (&'a str, &'a str)>) -> Option<Finding> {
    let older = |version: &str| compared(version, OWN) == Some(Ordering::Less);
    let older: Vec<&str> = stores.filter(|(_, version)| older(version)).map(|(code, _)| code).collect();
    if older.is_empty() {
        return None;
    }
    let which = named(&older, MOST);
    Some(hint(format!("{} stores are of an earlier release than {OWN}: {which}", older.len()), "upgrade them"))
}

/// Some of these names, and how many there are more.
pub fn named(names: &[&str], most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let first = names.iter().take(most).copied().collect::<Vec<_>>().join(", ");
    if more == 0 { first } else { format!("{first} and {more} more") }
}

/// How two releases stand to each other; `None` when one of them is none.
fn compared(one: &str, other: &str) -> Option<Ordering> {
    /// What comes before a release, as `-dev`, is less than it.
    fn parts(version: &str) -> Option<([u64; 3], bool, &str)> {
        let (numbers, before) = version.split_once('-').map_or((version, ""), |(numbers, before)| (numbers, before));
        let mut parts = numbers.split('.').map(|part| part.parse().ok());
        let numbers = [parts.next()??, parts.next()??, parts.next()??];
        parts.next().is_none().then_some((numbers, before.is_empty(), before))
    }
    Some(parts(one)?.cmp(&parts(other)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_have_an_order_and_what_is_none_has_no_place_in_it() {
        for (one, other, order) in [
            ("0.1.0", "0.2.0", Some(Ordering::Less)),
            ("0.10.0", "0.9.9", Some(Ordering::Greater)),
            ("0.2.0-dev", "0.2.0", Some(Ordering::Less)),
            ("0.2.0", "0.2.0", Some(Ordering::Equal)),
            ("", "0.2.0", None),
            ("0.2", "0.2.0", None),
            ("0.2.0.1", "0.2.0", None),
        ] {
            assert_eq!(compared(one, other), order, "{one} {other}");
        }
    }

    #[test]
    fn stores_of_an_earlier_release_are_named() {
        assert!(behind([("S01", OWN), ("S02", "9.0.0"), ("S03", "")].into_iter()).is_none());
        let found = behind([("S01", "0.1.0"), ("S02", OWN)].into_iter()).expect("a finding");
        assert!(found.text.starts_with("1 stores") && found.text.ends_with(": S01"), "{}", found.text);
        assert_eq!(named(&["a", "b", "c"], 2), "a, b and 1 more");
    }
}
