//! The unit of systemd that runs the store, and what is asked of systemd.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use tokio::process::Command;

use super::machine::user;
use super::{CONFIG_DIR, Checked, Fault, USER};
use crate::output::say;

/// The unit of all stores of a machine, as packages bring it.
const TEMPLATE: &str = include_str!("../../../../deploy/systemd/tillkeep-store@.service");
const TEMPLATE_NAME: &str = "tillkeep-store@.service";
/// Where packages put units.
const PACKAGED: [&str; 2] = ["/lib/systemd/system", "/usr/lib/systemd/system"];
/// Where packages put the program.
const PROGRAM: &str = "/usr/bin/tillkeep";

pub struct Service {
    name: String,
    user: String,
    /// The unit that is written; `None` where one is installed that fits.
    written: Option<(PathBuf, String)>,
}

impl Service {
    pub fn new(config_dir: &Path, unit_dir: &Path, user: &str, name: &str) -> Result<Self> {
        let config_dir = std::path::absolute(config_dir)?;
        let is_usual = config_dir == Path::new(CONFIG_DIR) && user == USER;
        let installed = PACKAGED.iter().map(Path::new).chain([unit_dir]).any(|dir| dir.join(TEMPLATE_NAME).exists());
        let written = if is_usual && installed {
            None
        } else {
            // That of one store says nothing of the others.
            let file = if is_usual { TEMPLATE_NAME.to_owned() } else { unit(name) };
            let program = std::env::current_exe().context("where this program is")?;
            Some((unit_dir.join(file), text(&config_dir, user, &program)))
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

    /// Whether the unit can run.
    pub fn check(&self, no_start: bool) -> Checked {
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

/// The unit, for this place of settings, user and program.
fn text(config_dir: &Path, user: &str, program: &Path) -> String {
    TEMPLATE
        .replace(&format!("={CONFIG_DIR}/"), &format!("={}/", config_dir.display()))
        .replace(&format!("User={USER}\n"), &format!("User={user}\n"))
        .replace(&format!("={PROGRAM} "), &format!("={} ", program.display()))
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

    #[test]
    fn the_unit_reads_the_settings_of_its_store_as_the_user_and_by_the_program_that_are_wanted() {
        let usual = text(Path::new(CONFIG_DIR), USER, Path::new(PROGRAM));
        assert_eq!(usual, TEMPLATE);
        let other = text(Path::new("/srv/etc"), "till", Path::new("/opt/tillkeep"));
        let lines: Vec<&str> = other.lines().collect();
        for line in ["EnvironmentFile=/srv/etc/store-%i.env", "User=till", "ExecStart=/opt/tillkeep store"] {
            assert!(lines.contains(&line), "{line} is not in {other}");
        }
    }
}
