//! Who may read the files of a server, and whether its keys are there.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use tillkeep_http::auth::SignInSettings;
use tillkeep_http::tokens::keys;
use tillkeep_storage::Side;
use tillkeep_storage::upgrade::Release;

use super::finding::{Checked, Finding, Unchecked, fault, hint, ok, warning};
use super::installation::{Database, Installation};
use crate::{configuration, modes};

/// Files that are named at the most.
const MOST: usize = 8;
/// Whoever reads one of these has what the server keeps from everybody.
const SECRET: [&str; 4] = ["tillkeep.db", "pin.key", "token.key", "sync.token"];

pub fn modes(at: &Installation) -> Checked {
    if !at.data_dir.is_dir() {
        return Err(Unchecked::Because(format!("{} is not there", at.data_dir.display())));
    }
    // Root looks for the user that the server runs as.
    let owner = std::fs::metadata(&at.data_dir)?.uid();
    let mut open = modes::open_to_others(&at.data_dir, owner)?;
    let mut apart: Vec<PathBuf> = vec![at.tls().1.to_owned()];
    apart.extend(sign_in(at).and_then(|settings| settings.pin_key_file));
    if at.side == Side::Store {
        apart.push(at.numbers_file());
    }
    for path in apart.iter().filter(|path| path.parent() != Some(&*at.data_dir)) {
        open.extend(modes::open_file(path, owner)?);
    }
    let secret = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        apart.iter().any(|other| other == path) || SECRET.iter().any(|begin| name.starts_with(begin))
    };
    let mut found: Vec<Finding> = open.iter().map(|(path, mode)| of_mode(path, *mode, secret(path))).collect();
    found.extend(of_root_alone(at, owner, &apart)?.iter().map(|path| of_root(path, &at.data_dir)));
    found.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    found.truncate(MOST);
    if found.is_empty() {
        found.push(ok("the files of the server are its own"));
    }
    Ok(found)
}

/// What whoever ran a command as root has left: the server does not start with it, though root reads all of it.
fn of_root_alone(at: &Installation, owner: u32, apart: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let mut alone = modes::of_root_alone(&at.data_dir, owner)?;
    let numbers = at.numbers_file();
    for path in apart.iter().map(PathBuf::as_path).chain([at.tls().0]) {
        let bits = if *path == numbers { modes::WRITES } else { modes::READS };
        if path.parent() != Some(&*at.data_dir) && modes::is_of_root_alone(path, owner, bits)? {
            alone.push(path.to_owned());
        }
    }
    Ok(alone)
}

fn of_root(path: &Path, data_dir: &Path) -> Finding {
    let (name, dir) = (path.display(), data_dir.display());
    fault(
        format!(
            "{name} is root's alone: the server, which runs as the owner of {dir}, cannot use it and does not start"
        ),
        format!("chown --reference={dir} {name}"),
    )
}

fn of_mode(path: &Path, mode: u32, is_secret: bool) -> Finding {
    let (name, closed) = (path.display(), if path.is_dir() { "0700" } else { "0600" });
    let text = format!("{name} has mode {mode:04o}: others can read it");
    let remedy = format!("chmod {closed} {name}");
    if is_secret { fault(text, remedy) } else { warning(text, remedy) }
}

fn sign_in(at: &Installation) -> Option<SignInSettings> {
    match at.side {
        Side::Hq => configuration::sign_in_at_hq(&at.configuration.hq).ok(),
        Side::Store => configuration::sign_in_at_store(&at.configuration.store).ok(),
    }
}

pub fn keys(at: &Installation) -> Checked {
    let Some(settings) = sign_in(at) else {
        return Err(Unchecked::Because("the keys that the environment names cannot be read".to_owned()));
    };
    // A database that no server has made anything in has no keys yet.
    let was_started = matches!(&at.database, Database::Open { release, .. } if *release != Release::New);
    let mut found = Vec::new();
    let (people, sync) = (!settings.keys.people.is_empty(), !settings.keys.sync.is_empty());
    let file = at.data_dir.join("token.key");
    match keys::list(&file) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if was_started && !(people && (sync || at.side == Side::Store)) {
                found.push(no_token_key(at.side, &file));
            }
        }
        Err(error) => found.push(unreadable(&file, &error.to_string())),
    }
    let file = settings.pin_key(&at.data_dir);
    match File::open(&file) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => match at.side {
            Side::Hq if was_started => found.push(fault(
                format!("{} is not there: without it no PIN can be verified", file.display()),
                "put it back from a backup before the next start, which would make another one",
            )),
            Side::Store if was_started => found.push(hint(
                format!("{} is not there: this store has no PIN key from headquarters yet", file.display()),
                "it comes with the first handshake; until then nobody signs in here without a line",
            )),
            _ => {}
        },
        Err(error) => found.push(unreadable(&file, &error.to_string())),
    }
    if found.is_empty() {
        found.push(ok(if was_started { "there, and can be read" } else { "none yet: the first start makes them" }));
    }
    Ok(found)
}

fn no_token_key(side: Side, file: &Path) -> Finding {
    let text = format!("{} is not there", file.display());
    match side {
        Side::Hq => fault(
            format!("{text}: no sync token of a store is good without it"),
            "put it back from a backup before the next start, which would make another one; else provision every store anew",
        ),
        Side::Store => warning(
            format!("{text}: the next start makes another one, and everybody has to sign in again"),
            "put it back from a backup, or leave it so",
        ),
    }
}

fn unreadable(file: &Path, error: &str) -> Finding {
    fault(
        format!("{} cannot be read: {error}", file.display()),
        "run this as the user of the server; if that is so, put the file back from a backup",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Level;

    #[test]
    fn a_key_that_others_read_is_a_fault_with_the_command_that_closes_it() {
        let found = of_mode(Path::new("/data/pin.key"), 0o644, true);
        assert_eq!((found.level, found.remedy.as_deref()), (Level::Fault, Some("chmod 0600 /data/pin.key")));
        assert!(found.text.contains("0644"), "{}", found.text);
        assert_eq!(of_mode(Path::new("/data/lock"), 0o644, false).level, Level::Warning);
        let dir = tempfile::tempdir().expect("a directory");
        let remedy = of_mode(dir.path(), 0o755, false).remedy.expect("a command");
        assert!(remedy.starts_with("chmod 0700 "), "{remedy}");
    }

    #[test]
    fn a_file_that_is_roots_alone_is_a_fault_with_the_command_that_gives_it_away() {
        let found = of_root(Path::new("/data/hq/pin.key"), Path::new("/data/hq"));
        let remedy = Some("chown --reference=/data/hq /data/hq/pin.key");
        assert_eq!((found.level, found.remedy.as_deref()), (Level::Fault, remedy));
    }
}
