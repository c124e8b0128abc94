//! The sync token that this store took over from headquarters, in place of the one that it was started with. `docs/security.md`, "A
//! rotated token".

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use tillkeep_http::tokens::read_sync_token;
use tillkeep_http::{Secret, files};

const FILE: &str = "sync.token";

/// What this store speaks with: the token that it is `given`, or the later one that it took over since that was made.
pub fn newest(data_dir: &Path, given: &Secret) -> Secret {
    let kept = match read(data_dir) {
        Ok(Some(kept)) => kept,
        Ok(None) => return given.clone(),
        Err(error) => {
            tracing::error!(%error, file = FILE, "the sync token that this store took over cannot be read: it goes on with SYNC_TOKEN");
            return given.clone();
        }
    };
    if !outlasts(&kept, given) {
        return given.clone();
    }
    tracing::info!(file = FILE, "SYNC_TOKEN was replaced: this store goes on with the token that it took over");
    kept
}

/// Whether `next` is a later token of the same store.
pub(crate) fn replaces(next: &Secret, before: &Secret) -> bool {
    let (Some(next), Some(before)) = (read_sync_token(next.expose()), read_sync_token(before.expose())) else {
        return false;
    };
    next.store_id.is_some() && next.store_id == before.store_id && next.tv > before.tv
}

/// Whether a token that was taken over counts beside the one that is given: what a person brings later counts, also when headquarters
/// was restored since and counts from an earlier version.
fn outlasts(kept: &Secret, given: &Secret) -> bool {
    let made = |token: &Secret| read_sync_token(token.expose()).map(|claims| claims.iat);
    replaces(kept, given) && made(kept) >= made(given)
}

/// Has it on disk for the next start.
pub(crate) fn keep(data_dir: &Path, token: &Secret) -> io::Result<()> {
    if read(data_dir).is_ok_and(|kept| kept.as_ref() == Some(token)) {
        return Ok(());
    }
    files::write_secret(&data_dir.join(FILE), format!("{}\n", token.expose()).as_bytes())
}

fn read(data_dir: &Path) -> io::Result<Option<Secret>> {
    match fs::read_to_string(data_dir.join(FILE)) {
        Ok(text) => Ok(Some(text.trim().to_owned().into())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::*;

    fn token(store: u8, tv: i32, name: &str) -> Secret {
        token_of(store, tv, 0, name)
    }

    fn token_of(store: u8, tv: i32, made: i64, name: &str) -> Secret {
        let id = format!("0190a1b2-0000-7000-8000-00000000000{store}");
        let claims =
            format!(r#"{{"storeId":"{id}","storeCode":"S0{store}","type":"store_sync","tv":{tv},"iat":{made}}}"#);
        format!("e30.{}.{name}", URL_SAFE_NO_PAD.encode(claims)).into()
    }

    #[test]
    fn what_was_taken_over_counts_until_a_token_that_is_as_late_is_given() {
        let dir = tempfile::tempdir().expect("a directory");
        let (first, second) = (token(1, 1, "a"), token(1, 2, "b"));
        assert!(newest(dir.path(), &first) == first, "nothing was taken over");
        keep(dir.path(), &second).expect("kept");
        assert!(newest(dir.path(), &first) == second);
        // What a person brings is newer, or as new, and counts.
        for given in [token(1, 2, "c"), token(1, 3, "d"), token(2, 1, "e"), "no token".to_owned().into()] {
            assert!(newest(dir.path(), &given) == given, "{}", given.expose());
        }
        // Headquarters was restored, and counts from an earlier version.
        let later = token_of(1, 1, 1, "later");
        assert!(newest(dir.path(), &later) == later, "a person brought it after the other one was made");
        let mode = fs::metadata(dir.path().join(FILE)).expect("the file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        for broken in ["", "hunter2", "e30.e30.x"] {
            fs::write(dir.path().join(FILE), broken).expect("written");
            assert!(newest(dir.path(), &first) == first, "{broken}");
        }
    }

    #[test]
    fn only_a_later_token_of_the_same_store_replaces_one() {
        let now = token(1, 2, "a");
        assert!(replaces(&token(1, 3, "b"), &now));
        for other in [token(1, 2, "b"), token(1, 1, "b"), token(2, 3, "b"), "x".to_owned().into()] {
            assert!(!replaces(&other, &now), "{}", other.expose());
        }
    }
}
