//! What this program writes is for its owner alone: files with mode 0600 in directories with 0700.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::Mode;

/// Everybody but the owner.
const OTHERS: u32 = 0o077;
/// What a server has to do with a file, as bits of its mode.
pub const READS: u32 = 0o4;
pub const WRITES: u32 = 0o6;
/// Files of a data directory that this program writes, whole names.
const NAMES: [&str; 7] = ["lock", "address", "server.log", "pin.new", "token.new", "sync.token", "sync.new"];
/// Beginnings of names: the file itself, its log, and what was moved aside.
const BEGINNINGS: [&str; 5] = ["tillkeep.db", "pin.key", "token.key", "numbers", "second-factor.uses"];

/// From here on no other user reads what this process makes, whoever makes it: the database's own library too.
pub fn keep_to_the_owner() {
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
}

/// Takes from a data directory, and from the files in it that are this program's own, what others may do with them: earlier
/// releases made them so. What cannot be mended is said and no reason not to start.
pub fn mend(data_dir: &Path) {
    close(data_dir);
    match fs::read_dir(data_dir) {
        Ok(entries) => {
            for entry in entries.flatten().filter(|entry| is_own(&entry.file_name().to_string_lossy())) {
                close(&entry.path());
            }
        }
        Err(error) => tracing::warn!(%error, path = %data_dir.display(), "who may read these files is not known"),
    }
}

/// The same for one file or directory, which need not be there.
pub fn close(path: &Path) {
    if let Err(error) = closed(path) {
        tracing::warn!(%error, path = %path.display(), "others may read this, which cannot be changed here");
    }
}

fn closed(path: &Path) -> io::Result<()> {
    let about = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        about => about?,
    };
    if !is_open(&about, rustix::process::geteuid().as_raw()) {
        return Ok(());
    }
    let mode = about.mode() & 0o7777;
    fs::set_permissions(path, Permissions::from_mode(mode & !OTHERS))?;
    let (from, to) = (format!("{mode:04o}"), format!("{:04o}", mode & !OTHERS));
    tracing::warn!(path = %path.display(), from, to, "others could read this, and cannot any more");
    Ok(())
}

/// Whether others have a part in a file or directory that belongs to `owner`. A link says nothing of what it
/// leads to, and what belongs to another user, as a mounted secret does, is theirs to decide.
fn is_open(about: &Metadata, owner: u32) -> bool {
    let ours = about.uid() == owner;
    // A directory for everybody's files, such as /tmp, stays one.
    let shared = about.is_dir() && about.mode() & 0o1000 != 0;
    ours && !shared && (about.is_file() || about.is_dir()) && about.mode() & OTHERS != 0
}

/// What others may read of a data directory of `owner` that this program wrote, the directory itself first, each with its mode.
pub fn open_to_others(data_dir: &Path, owner: u32) -> io::Result<Vec<(PathBuf, u32)>> {
    let mut open: Vec<_> = open_file(data_dir, owner)?.into_iter().collect();
    for entry in fs::read_dir(data_dir)? {
        let entry = entry?;
        if is_own(&entry.file_name().to_string_lossy()) {
            open.extend(open_file(&entry.path(), owner)?);
        }
    }
    Ok(open)
}

/// The same of one file, which need not be there.
pub fn open_file(path: &Path, owner: u32) -> io::Result<Option<(PathBuf, u32)>> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        about => {
            let about = about?;
            Ok(is_open(&about, owner).then(|| (path.to_owned(), about.mode() & 0o7777)))
        }
    }
}

/// Files of a data directory of `owner` that this program wrote as root, and that a server of `owner` cannot use.
pub fn of_root_alone(data_dir: &Path, owner: u32) -> io::Result<Vec<PathBuf>> {
    let mut alone = Vec::new();
    for entry in fs::read_dir(data_dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // A key may be mounted there by root for the server to read. Everything else it writes.
        let bits = if name.starts_with("pin.key") || name.starts_with("token.key") { READS } else { WRITES };
        // What a restore has moved aside no server opens.
        let is_used = is_own(&name) && !name.contains(".before-");
        if is_used && is_of_root_alone(&entry.path(), owner, bits)? {
            alone.push(entry.path());
        }
    }
    Ok(alone)
}

/// The same of one file, which need not be there, and what it leads to where it is a link.
pub fn is_of_root_alone(path: &Path, owner: u32, bits: u32) -> io::Result<bool> {
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        about => {
            let about = about?;
            Ok(is_roots([about.uid(), about.gid()], about.mode(), owner, bits))
        }
    }
}

/// Whether root alone may do with a file of this user and group what `bits` say, where it is to be done by `owner`. Another group
/// than root's is taken for one that the owner is in.
fn is_roots([user, group]: [u32; 2], mode: u32, owner: u32, bits: u32) -> bool {
    let may = |mode: u32| mode & bits == bits;
    let of_group = group != 0 && may(mode >> 3);
    owner != 0 && user == 0 && !may(mode) && !of_group
}

fn is_own(name: &str) -> bool {
    let begins = |own: &str| name.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-']));
    NAMES.contains(&name) || BEGINNINGS.iter().any(|own| begins(own))
}

/// Copies a file to one that only its owner reads, whoever may read the first.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = File::open(from)?;
    let mut copy = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(to)?;
    io::copy(&mut source, &mut copy)?;
    copy.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_its_own_is_taken_from_others() {
        for name in
            ["tillkeep.db", "tillkeep.db-wal", "tillkeep.db.before-1", "pin.key", "numbers.new", "lock", "address"]
        {
            assert!(is_own(name), "{name}");
        }
        for name in ["notes.txt", "tillkeep.dbx", "pin.keys", "numbersheet", "backup", "pin"] {
            assert!(!is_own(name), "{name}");
        }
        let dir = tempfile::tempdir().expect("a directory");
        let data = dir.path().join("data");
        fs::create_dir(&data).expect("a directory");
        let mode = |path: &Path| fs::metadata(path).expect("it is there").mode() & 0o7777;
        let open = |path: &Path, mode| {
            fs::set_permissions(path, Permissions::from_mode(mode)).expect("a mode");
        };
        for name in ["pin.key", "notes.txt"] {
            fs::write(data.join(name), "x").expect("a file");
            open(&data.join(name), 0o644);
        }
        open(&data, 0o755);
        let owner = rustix::process::geteuid().as_raw();
        assert_eq!(
            open_to_others(&data, owner).expect("readable"),
            [(data.clone(), 0o755), (data.join("pin.key"), 0o644)]
        );
        std::os::unix::fs::symlink(data.join("notes.txt"), data.join("token.key")).expect("a link");
        mend(&data);
        let found = ["pin.key", "notes.txt"].map(|name| mode(&data.join(name)));
        assert_eq!((mode(&data), found), (0o700, [0o600, 0o644]));
        assert_eq!(open_to_others(&data, owner).expect("readable"), []);
        open(dir.path(), 0o1777);
        mend(dir.path());
        assert_eq!(mode(dir.path()), 0o1777, "a place for everybody");
    }

    #[test]
    fn a_file_of_root_is_the_servers_where_its_group_or_everybody_may_use_it() {
        let (root, server, its_group) = (0, 998, 997);
        for (who, mode, owner, bits, is_roots_alone) in [
            ([root, root], 0o600, server, READS, true),
            ([root, root], 0o640, server, READS, true),
            ([root, its_group], 0o600, server, READS, true),
            ([root, its_group], 0o640, server, READS, false),
            ([root, root], 0o644, server, READS, false),
            // A database that can be read alone starts no server.
            ([root, root], 0o644, server, WRITES, true),
            ([root, its_group], 0o640, server, WRITES, true),
            ([root, its_group], 0o660, server, WRITES, false),
            // Its own, whatever the mode; and a server of root.
            ([server, its_group], 0o600, server, WRITES, false),
            ([root, root], 0o600, root, WRITES, false),
        ] {
            assert_eq!(is_roots(who, mode, owner, bits), is_roots_alone, "{who:?} {mode:o} {owner} {bits:o}");
        }
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join("pin.key"), "x").expect("a file");
        let owner = rustix::process::geteuid().as_raw();
        assert_eq!(of_root_alone(dir.path(), owner).expect("readable"), Vec::<PathBuf>::new());
        assert!(!is_of_root_alone(&dir.path().join("none"), owner, READS).expect("not there"));
    }

    #[test]
    fn a_copy_is_its_owners_whoever_may_read_the_first() {
        let dir = tempfile::tempdir().expect("a directory");
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        fs::write(&from, "x").expect("a file");
        fs::set_permissions(&from, Permissions::from_mode(0o644)).expect("a mode");
        copy(&from, &to).expect("a copy");
        assert_eq!(fs::metadata(&to).expect("the copy").mode() & 0o777, 0o600);
    }
}
