//! The file of settings of one store: what is in it, whose it is, and when it may be replaced.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rustix::fs::{Access, access};
use tempfile::NamedTempFile;
use tillkeep_http::Secret;

use super::environment::{Entry, entries};
use super::machine::{self, first_there, group, is_root};
use super::{Checked, Fault};

/// The group of the store's user reads it, and nobody else but its owner.
const MODE: u32 = 0o640;
const FOLDER_MODE: u32 = 0o755;
const HEADING: &str = "# Written by tillkeep store install; settings are in docs/configuration.md.";
/// What this command writes, and what would speak against it.
const OWN: [&str; 7] =
    ["SYNC_TOKEN", "SYNC_TOKEN_FILE", "HQ_URL", "TILLKEEP_LISTEN", "DATA_DIR", "HQ_CA_FILE", "ALLOW_INSECURE_HQ"];

pub struct Settings {
    pub token: Secret,
    pub hq_url: String,
    pub listen: String,
    pub data_dir: PathBuf,
    pub ca_file: Option<PathBuf>,
    pub allow_insecure: bool,
}

/// What a file says that is there.
pub struct Kept {
    token: Secret,
    listen: String,
    /// Whether the store speaks TLS to its tills.
    pub has_certificate: bool,
    /// Lines that this command does not write, as they are.
    others: Vec<String>,
}

impl Kept {
    pub fn is_listening_on(&self, listen: &str) -> bool {
        self.listen == listen
    }

    fn parse(text: &str) -> Self {
        let (mut kept, mut others): (BTreeMap<String, String>, _) = (BTreeMap::new(), Vec::new());
        for Entry { text, set } in entries(text) {
            let is_own = set.as_ref().is_some_and(|(name, _)| OWN.contains(&name.as_str()));
            kept.extend(set);
            if !is_own && text != HEADING {
                others.push(text);
            }
        }
        let mut value = |name: &str| kept.remove(name).unwrap_or_default();
        Self {
            token: value("SYNC_TOKEN").into(),
            listen: value("TILLKEEP_LISTEN"),
            has_certificate: !value("TLS_CERT").is_empty(),
            others,
        }
    }
}

/// What is there; `None` where no store of this name was installed.
pub fn read(path: &Path) -> io::Result<Option<Kept>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(Kept::parse(&text))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether the file may be written, and replaced.
pub fn check(path: &Path, before: Result<&Option<Kept>, &io::Error>, wanted: &Settings, force: bool) -> Checked {
    let shown = path.display();
    let as_root = "run this as root (sudo), or name another directory with --config-dir";
    let before = before.map_err(|error| Fault::new(format!("{shown} cannot be read: {error}"), as_root))?;
    let folder = first_there(path.parent().unwrap_or(path));
    access(&folder, Access::WRITE_OK)
        .map_err(|error| Fault::new(format!("{} cannot be written: {error}", folder.display()), as_root))?;
    for (flag, value) in [("--data-dir", Some(&wanted.data_dir)), ("--ca", wanted.ca_file.as_ref())] {
        let Some(value) = value else { continue };
        if value.to_str().is_none_or(|text| text.contains(is_unsafe)) {
            let what = format!("{flag} {} has letters that files of settings do not take", value.display());
            return Err(Fault::new(what, "use a path of plain letters"));
        }
    }
    match before {
        None => Ok(format!("{shown} is new")),
        Some(kept) if kept.token == wanted.token => Ok(format!("{shown} has this token, and is written anew")),
        Some(_) if force => Ok(format!("{shown} has another token, which is replaced")),
        Some(_) => Err(Fault::new(
            format!("{shown} has another token: this store was installed before, or another one under this name"),
            "to replace the token say --force; for a second store on this machine give another --name",
        )),
    }
}

/// Writes the file whole, or not at all. What else was in it stays.
pub fn write(path: &Path, settings: &Settings, before: Option<&Kept>, user: &str) -> Result<()> {
    let others = before.map_or(&[][..], |kept| &kept.others);
    replace(path, &settings.text(others), user).with_context(|| path.display().to_string())
}

fn replace(path: &Path, text: &str, user: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    if !folder.is_dir() {
        fs::create_dir_all(folder)?;
        // What this process makes is for its owner alone; the store's user has to pass.
        fs::set_permissions(folder, Permissions::from_mode(FOLDER_MODE))?;
    }
    let mut draft = NamedTempFile::new_in(folder)?;
    draft.write_all(text.as_bytes())?;
    if is_root()
        // That of a user who is not there yet is the one that is called so.
        && let Some(group) = machine::user(user).map(|(_, group)| group).or_else(|| group(user))
    {
        fchown(draft.as_file(), Some(0), Some(group))?;
    }
    draft.as_file().set_permissions(Permissions::from_mode(MODE))?;
    draft.as_file().sync_all()?;
    draft.persist(path).map_err(|error| error.error)?;
    // Without it the old file may be back after a power cut.
    File::open(folder)?.sync_all()
}

impl Settings {
    /// As systemd reads it, and a shell.
    fn text(&self, others: &[String]) -> String {
        let mut lines = vec![
            HEADING.to_owned(),
            line("SYNC_TOKEN", self.token.expose()),
            line("HQ_URL", &self.hq_url),
            line("TILLKEEP_LISTEN", &self.listen),
            line("DATA_DIR", &self.data_dir.to_string_lossy()),
        ];
        lines.extend(self.ca_file.as_ref().map(|file| line("HQ_CA_FILE", &file.to_string_lossy())));
        if self.allow_insecure {
            lines.push(line("ALLOW_INSECURE_HQ", "1"));
        }
        lines.extend_from_slice(others);
        lines.join("\n") + "\n"
    }
}

fn line(name: &str, value: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._/:@+,-".contains(letter);
    if value.chars().all(is_plain) { format!("{name}={value}") } else { format!("{name}=\"{value}\"") }
}

/// What means something within quotes, to systemd or to a shell.
fn is_unsafe(letter: char) -> bool {
    letter.is_control() || matches!(letter, '"' | '\\' | '$' | '`')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::install::environment::variables;

    fn settings(token: &str, data_dir: &str) -> Settings {
        Settings {
            token: token.to_owned().into(),
            hq_url: "https://hq.example.com".to_owned(),
            listen: "0.0.0.0:8081".to_owned(),
            data_dir: data_dir.into(),
            ca_file: None,
            allow_insecure: false,
        }
    }

    #[test]
    fn what_is_written_is_read_again_and_is_for_owner_and_group_alone() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("etc/store-S01.env");
        assert!(read(&path).expect("nothing is there").is_none());
        write(&path, &settings("a.b.c", "/srv/a shop"), None, "nobody-of-this-name").expect("written");
        let text = fs::read_to_string(&path).expect("the file");
        assert!(text.contains("\nSYNC_TOKEN=a.b.c\n") && text.contains("\nDATA_DIR=\"/srv/a shop\"\n"), "{text}");
        let kept = read(&path).expect("readable").expect("there");
        assert!(kept.token.expose() == "a.b.c" && kept.is_listening_on("0.0.0.0:8081"));
        assert_eq!(fs::metadata(&path).expect("the file").permissions().mode() & 0o777, MODE);
        let all = variables(&path).expect("readable");
        let value = |name: &str| all.get(name).map(String::as_str);
        assert_eq!((value("SYNC_TOKEN"), value("DATA_DIR")), (Some("a.b.c"), Some("/srv/a shop")));
        assert_eq!(all.len(), 4, "{:?}", all.keys());
        let names = fs::read_dir(dir.path().join("etc")).expect("a folder").count();
        assert_eq!(names, 1, "no draft is left");
    }

    #[test]
    fn what_else_is_in_the_file_stays_when_it_is_written_again() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("store-S01.env");
        let others = "# ours\nTLS_CERT=/srv/a.pem\nTILLS_ENROLLED_ONLY=\\\n1\nPUBLIC_URL=\"a\nDATA_DIR=b\"\n";
        fs::write(&path, format!("{HEADING}\nSYNC_TOKEN=x.y.z\nSYNC_TOKEN_FILE=/x\nDATA_DIR=/old\n{others}"))
            .expect("a file");
        for _ in 0..2 {
            let kept = read(&path).expect("readable").expect("there");
            assert!(kept.has_certificate);
            write(&path, &settings("a.b.c", "/srv/a"), Some(&kept), "nobody-of-this-name").expect("written");
        }
        let text = fs::read_to_string(&path).expect("the file");
        assert_eq!(text, format!("{}{others}", settings("a.b.c", "/srv/a").text(&[])));
    }

    #[test]
    fn another_token_is_replaced_by_force_alone() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("store-S01.env");
        let kept = |token: &str| Ok(Some(Kept::parse(&format!("SYNC_TOKEN={token}"))));
        let (wanted, none) = (settings("a.b.c", "/srv/a"), Ok(None));
        let judged = |before: &io::Result<Option<Kept>>, force| check(&path, before.as_ref(), &wanted, force);
        assert!(judged(&none, false).is_ok() && judged(&kept("a.b.c"), false).is_ok());
        assert!(judged(&kept("x.y.z"), true).is_ok());
        let fault = judged(&kept("x.y.z"), false).expect_err("a fault");
        assert!(fault.remedy.contains("--force") && !fault.what.contains("x.y.z"), "{}", fault.what);
        for bad in ["/srv/$HOME", "/srv/\"x", "/srv/a\nSYNC_TOKEN=x"] {
            assert!(check(&path, none.as_ref(), &settings("a.b.c", bad), false).is_err(), "{bad}");
        }
    }
}
