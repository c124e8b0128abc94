//! The unit of systemd that runs the store, and what is asked of systemd.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use tokio::process::Command;

use super::machine::user;
use super::{CONFIG_DIR, Checked, DATA, Fault, UNIT_DIR, USER};
use crate::output::say;

/// The unit of all stores of a machine, as packages bring it.
const TEMPLATE: &str = include_str!("../../../../deploy/systemd/tillkeep-store@.service");
const TEMPLATE_NAME: &str = "tillkeep-store@.service";
/// The unit of headquarters, which packages alone bring.
const HEADQUARTERS: &str = "tillkeep-hq.service";
/// Where packages put units.
const PACKAGED: [&str; 2] = ["/lib/systemd/system", "/usr/lib/systemd/system"];
/// What the unit hides from the store (`ProtectHome`).
const HIDDEN: [&str; 3] = ["/root", "/home", "/run/user"];
/// Where packages put the program.
const PROGRAM: &str = "/usr/bin/tillkeep";

/// Whether this machine has the unit of headquarters.
pub fn has_headquarters() -> bool {
    PACKAGED.iter().chain([&UNIT_DIR]).any(|dir| Path::new(dir).join(HEADQUARTERS).exists())
}

/// The data directory that a unit gives its server, where it reads these settings: `name` is `hq` or `store-NAME`. Units in one
/// folder come before those in the next one, and that of one store before that of all.
pub fn data_dir_of(name: &str, settings: &Path) -> Option<PathBuf> {
    let dirs = [UNIT_DIR].into_iter().chain(PACKAGED).map(Path::new);
    data_dir_in(&dirs.collect::<Vec<_>>(), name, settings)
}

fn data_dir_in(dirs: &[&Path], name: &str, settings: &Path) -> Option<PathBuf> {
    let (units, instance) = match name.strip_prefix("store-") {
        Some(store) => (vec![unit(store), TEMPLATE_NAME.to_owned()], store),
        None if name == "hq" => (vec![HEADQUARTERS.to_owned()], ""),
        None => return None,
    };
    let mut files = units.iter().flat_map(|unit| dirs.iter().map(move |dir| dir.join(unit)));
    let text = files.find_map(|file| fs::read_to_string(file).ok())?;
    let of = |begin: &str| text.lines().filter_map(|line| line.strip_prefix(begin)).next_back();
    let read = words(of("EnvironmentFile=")?.trim_start_matches('-'), instance);
    if read.first().map(Path::new) != Some(settings) {
        return None;
    }
    let mut start = words(of("ExecStart=")?, instance).into_iter().skip_while(|word| word != "--data-dir");
    start.nth(1).map(PathBuf::from)
}

/// The words of a line of a unit, quoted or not, as its server gets them.
fn words(line: &str, instance: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), String::new(), false);
    for letter in line.chars().chain([' ']) {
        match letter {
            '"' => is_quoted = !is_quoted,
            ' ' | '\t' if !is_quoted => words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty())),
            _ => word.push(letter),
        }
    }
    let plain = |word: String| word.split("%%").map(|part| part.replace("%i", instance)).collect::<Vec<_>>().join("%");
    words.into_iter().map(plain).collect()
}

pub struct Service {
    name: String,
    user: String,
    /// The unit that is written; `None` where one is installed that fits.
    written: Option<(PathBuf, String)>,
}

impl Service {
    pub fn new(config_dir: &Path, unit_dir: &Path, user: &str, name: &str, data_dir: &Path) -> Result<Self> {
        let config_dir = std::path::absolute(config_dir)?;
        let own_data = Some(data_dir).filter(|dir| *dir != Path::new(DATA).join(format!("store-{name}")));
        let is_usual = config_dir == Path::new(CONFIG_DIR) && user == USER && own_data.is_none();
        let installed = PACKAGED.iter().map(Path::new).chain([unit_dir]).any(|dir| dir.join(TEMPLATE_NAME).exists());
        let written = if is_usual && installed {
            None
        } else {
            // That of one store says nothing of the others.
            let file = if is_usual { TEMPLATE_NAME.to_owned() } else { unit(name) };
            let program = std::env::current_exe().context("where this program is")?;
            let settings = Some(config_dir.join("tillkeep.toml")).filter(|file| file.exists());
            Some((unit_dir.join(file), text(&config_dir, settings.as_deref(), user, &program, own_data)))
        };
        Ok(Self { name: name.to_owned(), user: user.to_owned(), written })
    }

    pub fn unit(&self) -> String {
        unit(&self.name)
    }

    /// Whether systemd runs this machine.
    pub async fn is_there(&self) -> bool {
        asked(&["show", "--property=Version"]).await
    }

    /// Whether the store runs already.
    pub async fn is_active(&self) -> bool {
        asked(&["is-active", "--quiet", &self.unit()]).await
    }

    /// Whether the unit can run, and reach what it needs: `paths`.
    pub fn check(&self, no_start: bool, paths: &[&Path]) -> Checked {
        let program = std::env::current_exe().ok().filter(|_| self.written.is_some());
        let is_for_systemd = self.written.as_ref().is_none_or(|(path, _)| path.starts_with(UNIT_DIR));
        let needed = paths.iter().copied().chain(program.as_deref()).filter(|_| is_for_systemd);
        if let Some(path) = needed.into_iter().find(|path| HIDDEN.iter().any(|dir| path.starts_with(dir))) {
            return Err(Fault::new(
                format!("the unit does not let the store see {}", path.display()),
                "put it below /srv or /opt, the certificate of an authority beside the settings",
            ));
        }
        if user(&self.user).is_none() && !no_start {
            let name = &self.user;
            return Err(Fault::new(
                format!("there is no user {name}, as which the store runs"),
                format!(
                    "useradd --system --home-dir /var/lib/tillkeep --shell /usr/sbin/nologin {name}, or another --user"
                ),
            ));
        }
        Ok(match &self.written {
            None => format!("{} by the unit that is installed", self.unit()),
            Some((path, _)) => format!("{} by {}, which is written", self.unit(), path.display()),
        })
    }

    pub fn write(&self) -> Result<()> {
        let Some((path, text)) = &self.written else { return Ok(()) };
        let folder = path.parent().context("a folder")?;
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        fs::write(path, text).with_context(|| path.display().to_string())?;
        // systemd warns of units that others cannot read; it has no secret.
        fs::set_permissions(path, Permissions::from_mode(0o644))?;
        say!("{} is written.", path.display());
        Ok(())
    }

    /// Starts the store now and with the machine; once more where it `runs`, for what changed.
    pub async fn start(&self, runs: bool) -> Result<()> {
        let unit = self.unit();
        systemctl(&["daemon-reload"]).await?;
        if runs {
            systemctl(&["enable", &unit]).await?;
            return systemctl(&["restart", &unit]).await;
        }
        systemctl(&["enable", "--now", &unit]).await
    }
}

fn unit(name: &str) -> String {
    format!("tillkeep-store@{name}.service")
}

/// The unit, for this place of settings, with a file of them where there is one, for this user, program and place of data.
fn text(config_dir: &Path, settings: Option<&Path>, user: &str, program: &Path, data_dir: Option<&Path>) -> String {
    let named = settings.map(|file| format!(" --config {}", word(file))).unwrap_or_default();
    let mut text = TEMPLATE
        .replace(&format!(" --config {CONFIG_DIR}/tillkeep.toml"), &named)
        .replace(&format!("={CONFIG_DIR}/"), &format!("={}/", percent(config_dir)))
        .replace(&format!("={PROGRAM} "), &format!("={} ", word(program)));
    if user != USER {
        // The group is the one that the user has.
        text =
            text.replace(&format!("Group={USER}\n"), "").replace(&format!("User={USER}\n"), &format!("User={user}\n"));
    }
    let Some(dir) = data_dir else { return text };
    text.replace(&format!(" --data-dir {DATA}/store-%i"), &format!(" --data-dir {}", word(dir))).replace(
        "StateDirectory=tillkeep/store-%i\nStateDirectoryMode=0700\n",
        &format!("ReadWritePaths={}\n", word(dir)),
    )
}

/// As systemd takes a path: a percent sign means something there.
fn percent(path: &Path) -> String {
    path.display().to_string().replace('%', "%%")
}

/// The same as one word of a command.
fn word(path: &Path) -> String {
    let path = percent(path);
    if path.contains(char::is_whitespace) { format!("\"{path}\"") } else { path }
}

async fn asked(words: &[&str]) -> bool {
    let mut command = Command::new("systemctl");
    let command = command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().await.is_ok_and(|status| status.success())
}

async fn systemctl(words: &[&str]) -> Result<()> {
    let shown = words.join(" ");
    let command = Command::new("systemctl").args(words).stdin(Stdio::null()).output().await;
    let output = command.with_context(|| format!("systemctl {shown}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("the settings are written, but systemctl {shown} failed: {}; mend that and say it again", said.trim());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line of a unit that begins so.
    fn line<'a>(unit: &'a str, begin: &str) -> Option<&'a str> {
        unit.lines().find(|line| line.starts_with(begin))
    }

    #[test]
    fn the_unit_of_packages_is_written_where_all_is_as_packages_have_it() {
        let settings = Path::new("/etc/tillkeep/tillkeep.toml");
        let usual = text(Path::new(CONFIG_DIR), Some(settings), USER, Path::new(PROGRAM), None);
        assert_eq!(usual, TEMPLATE);
        let without = text(Path::new(CONFIG_DIR), None, USER, Path::new(PROGRAM), None);
        let start = "ExecStart=/usr/bin/tillkeep store --data-dir /var/lib/tillkeep/store-%i";
        assert_eq!(
            line(&without, "ExecStart="),
            Some(start),
            "a file of settings that is not there keeps no store from starting"
        );
    }

    #[test]
    fn the_unit_has_the_settings_user_program_and_data_that_are_wanted() {
        let data = Some(Path::new("/srv/a till 5%"));
        let other = text(Path::new("/srv/etc"), None, "till", Path::new("/opt/tillkeep"), data);
        assert_eq!(line(&other, "EnvironmentFile="), Some("EnvironmentFile=/srv/etc/store-%i.env"));
        assert_eq!((line(&other, "User="), line(&other, "Group=")), (Some("User=till"), None));
        let start = "ExecStart=/opt/tillkeep store --data-dir \"/srv/a till 5%%\"";
        assert_eq!(line(&other, "ExecStart="), Some(start));
        assert_eq!(line(&other, "ReadWritePaths="), Some("ReadWritePaths=\"/srv/a till 5%%\""));
        assert_eq!(line(&other, "StateDirectory"), None);
        assert_eq!(line(&other, "AssertPathExists="), Some("AssertPathExists=/srv/etc/store-%i.env"));
    }
    #[test]
    fn the_data_directory_is_the_one_that_the_unit_of_these_settings_names() {
        let place = tempfile::tempdir().expect("a directory");
        let [own, packaged] = ["own", "packaged"].map(|name| place.path().join(name));
        let dirs = [own.as_path(), packaged.as_path()];
        let of = |name: &str, settings: &str| data_dir_in(&dirs, name, Path::new(settings));
        assert_eq!(of("hq", "/etc/tillkeep/hq.env"), None, "there is no unit");
        for dir in dirs {
            fs::create_dir(dir).expect("a folder");
        }
        let hq = include_str!("../../../../deploy/systemd/tillkeep-hq.service");
        fs::write(packaged.join(HEADQUARTERS), hq).expect("a unit");
        fs::write(packaged.join(TEMPLATE_NAME), TEMPLATE).expect("a unit");
        assert_eq!(of("hq", "/etc/tillkeep/hq.env"), Some("/var/lib/tillkeep/hq".into()));
        assert_eq!(of("store-s01", "/etc/tillkeep/store-s01.env"), Some("/var/lib/tillkeep/store-s01".into()));
        for (name, other) in [("store-s01", "/srv/etc/store-s01.env"), ("hq", "/srv/hq.env"), ("mine", "/srv/mine.env")]
        {
            assert_eq!(of(name, other), None, "{other}");
        }
        let data = Some(Path::new("/srv/a till 5%"));
        let elsewhere = text(Path::new("/srv/e%"), None, USER, Path::new(PROGRAM), data);
        fs::write(own.join(unit("s01")), elsewhere).expect("a unit");
        assert_eq!(of("store-s01", "/srv/e%/store-s01.env").as_deref(), data);
        assert_eq!(of("store-s01", "/etc/tillkeep/store-s01.env"), None, "another unit runs this store");
        assert_eq!(of("store-s02", "/etc/tillkeep/store-s02.env"), Some("/var/lib/tillkeep/store-s02".into()));
    }
}
