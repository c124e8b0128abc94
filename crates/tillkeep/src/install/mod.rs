//! `tillkeep store install`: from the token of provisioning to a store that runs, and starts with its machine.
//!
//! All that can be known beforehand is looked at first, and every fault is named with its remedy; nothing is written while there is
//! one. What is written is one file of settings, which the unit of systemd reads.

mod environment;
mod headquarters;
mod machine;
mod service;
mod settings;
mod token;

use std::fmt::Display;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;

use crate::output::say;
use crate::signals::{stop_command_on_signal, until};
use crate::{certificate, configuration, run};
pub use environment::variables;
use service::Service;
pub use service::{data_dir_of, has_headquarters};
use settings::Settings;
use token::Token;

/// Where the packages of Tillkeep look.
pub const CONFIG_DIR: &str = "/etc/tillkeep";
const UNIT_DIR: &str = "/etc/systemd/system";
const USER: &str = "tillkeep";
/// Where the data of servers is, in a folder of its own each.
pub const DATA: &str = "/var/lib/tillkeep";
/// Letters of the name of an instance.
const LONGEST_NAME: usize = 64;

/// What a store is made from. The token is never among it: a list of processes would show it.
#[derive(Args)]
pub struct InstallArgs {
    /// The address of headquarters, such as `https://hq.example.com`.
    #[arg(long, value_name = "URL")]
    hq_url: String,
    /// The file that has the sync token; without it the token is read from the standard input.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// What this store is called on this machine; without it its code.
    #[arg(long, value_name = "NAME", alias = "code")]
    name: Option<String>,
    /// Where tills reach it.
    #[arg(long, value_name = "ADDR", default_value = "0.0.0.0:8081")]
    listen: String,
    /// Where database and keys live; without it `store-NAME` in `/var/lib/tillkeep`.
    #[arg(long = "data-dir", id = "dir", value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// A file with the certificate of the authority of headquarters, where that is one of its own.
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Takes plain HTTP beyond this machine, where the network is encrypted otherwise.
    #[arg(long)]
    allow_insecure: bool,
    /// Where the settings of stores are.
    #[arg(long, value_name = "DIR", default_value = CONFIG_DIR)]
    config_dir: PathBuf,
    /// Where a unit is written when none is installed.
    #[arg(long, value_name = "DIR", default_value = UNIT_DIR)]
    unit_dir: PathBuf,
    /// The user that the store runs as.
    #[arg(long, value_name = "USER", default_value = USER)]
    user: String,
    /// Replaces the token of another store, or another token of this one.
    #[arg(long)]
    force: bool,
    /// Writes the settings, and leaves the start to you.
    #[arg(long)]
    no_start: bool,
}

/// What is wrong, and what helps.
struct Fault {
    what: String,
    remedy: String,
}

impl Fault {
    fn new(what: impl Display, remedy: impl Display) -> Self {
        Self { what: what.to_string(), remedy: remedy.to_string() }
    }
}

/// What a check found out.
type Checked<T = String> = std::result::Result<T, Fault>;

/// The checks so far.
#[derive(Default)]
struct Checks {
    done: usize,
    faults: Vec<String>,
}

impl Checks {
    /// Says what was found, and keeps what is wrong for the end.
    fn note(&mut self, name: &str, checked: Checked) -> Result<()> {
        self.done += 1;
        match checked {
            Ok(found) => say!("{name:<14} {found}"),
            Err(Fault { what, remedy }) => {
                say!("{name:<14} FAULT: {what}");
                self.faults.push(format!("{name}: {what}\n  {remedy}"));
            }
        }
        Ok(())
    }

    fn end(self) -> Result<()> {
        if self.faults.is_empty() {
            return Ok(());
        }
        bail!(
            "{} of {} checks failed, and nothing was written.\n{}",
            self.faults.len(),
            self.done,
            self.faults.join("\n")
        )
    }
}

/// Installs a store. Whoever stops that at the prompt has the terminal as it was.
pub async fn run(args: &InstallArgs) -> Result<()> {
    let stop = stop_command_on_signal()?;
    until(&stop, "stopped; the same command begins again", install(args)).await
}

async fn install(args: &InstallArgs) -> Result<()> {
    let token = token::read(args.token_file.as_deref()).await?;
    let name = name(args.name.as_deref(), &token)?;
    configuration::address_to_listen_on(&args.listen).map_err(|error| error.context("--listen"))?;
    let hq_url = run::check_hq_url(&args.hq_url, args.allow_insecure)
        .map_err(|error| error.context("--hq-url (--allow-insecure takes plain HTTP)"))?;
    let data_dir = args.data_dir.clone().unwrap_or_else(|| Path::new(DATA).join(format!("store-{name}")));
    let data_dir = std::path::absolute(data_dir)?;
    let service = Service::new(&args.config_dir, &args.unit_dir, &args.user, &name, &data_dir)?;
    let wanted = Settings {
        token: token.text.clone(),
        hq_url,
        listen: args.listen.clone(),
        data_dir,
        ca_file: args.ca.as_deref().map(std::path::absolute).transpose()?,
        allow_insecure: args.allow_insecure,
    };
    let path = settings_of(&std::path::absolute(&args.config_dir)?, &name);
    let has_systemd = service.is_there().await;
    let runs = has_systemd && service.is_active().await;

    let mut checks = Checks::default();
    let before = settings::read(&path);
    let kept = before.as_ref().ok().and_then(Option::as_ref);
    let is_ours = runs && kept.is_some_and(|kept| kept.is_listening_on(&wanted.listen));
    checks.note("settings", settings::check(&path, before.as_ref(), &wanted, args.force))?;
    checks.note("data", machine::data(&wanted.data_dir, token.store_id).await)?;
    checks.note("disk", machine::disk(&wanted.data_dir))?;
    checks.note("port", machine::port(&wanted.listen, is_ours).await)?;
    if has_systemd {
        let paths: Vec<&Path> = [Some(&*wanted.data_dir), wanted.ca_file.as_deref()].into_iter().flatten().collect();
        checks.note("service", service.check(args.no_start, &paths))?;
    }
    headquarters::check(&mut checks, &wanted, &token).await?;
    checks.end()?;

    settings::write(&path, &wanted, kept, &args.user)?;
    say!("{} is written.", path.display());
    if !has_systemd {
        say!(
            "This machine has no systemd. Start the store with\n  sh -c 'set -a; . {}; exec tillkeep store'",
            path.display()
        );
        return Ok(());
    }
    machine::own(&wanted.data_dir, &args.user)?;
    service.write()?;
    if args.no_start {
        say!("Start it with\n  systemctl daemon-reload && systemctl enable --now {}", service.unit());
        return Ok(());
    }
    service.start(runs).await?;
    let is_tls = kept.is_some_and(|kept| kept.has_certificate);
    let url = machine::ready(&wanted.listen, is_tls, &service.unit()).await?;
    goodbye(&url, &wanted, &args.user, &diagnosis(&path, &name, &args.user))
}

/// The file of settings of the store that this machine calls so.
pub fn settings_of(config_dir: &Path, name: &str) -> PathBuf {
    config_dir.join(format!("store-{name}.env"))
}

/// The command that looks at this store with what its unit gives it, as its user: what that cannot read is found.
fn diagnosis(path: &Path, name: &str, user: &str) -> String {
    if path == settings_of(Path::new(CONFIG_DIR), name) {
        return format!("sudo -u {user} tillkeep doctor store --name {name}");
    }
    format!("sudo -u {user} tillkeep doctor store --settings {}", path.display())
}

/// Where the tills go, and what is left to do.
fn goodbye(url: &str, store: &Settings, user: &str, diagnosis: &str) -> Result<()> {
    let port = store.listen.rsplit(':').next().unwrap_or_default();
    let scheme = url.split(':').next().unwrap_or_default();
    let address = certificate::addresses().first().map(|address| format!("{scheme}://{address}:{port}"));
    let beyond = ["0.0.0.0:", "[::]:"].iter().any(|any| store.listen.starts_with(any));
    let url = address.filter(|_| beyond).unwrap_or_else(|| url.to_owned());
    say!("The store runs. Its pages are at {url}/store, its till at {url}/till.");
    say!("Next:");
    say!("  1. Sign in at {url}/store, make a register for each till, and enrol the tills.");
    say!("  2. For cameras and a till that is there without the server:");
    say!("     sudo -u {user} tillkeep store certificate --data-dir {}", store.data_dir.display());
    say!("  3. Whether all is well, now and whenever something is not:");
    say!("     {diagnosis}");
    if !beyond {
        say!(
            "  4. Tills on other machines reach it when it listens on 0.0.0.0: install again with --listen 0.0.0.0:{port}"
        );
    }
    Ok(())
}

/// The name of the instance: what the file of settings and the unit are called by.
fn name(given: Option<&str>, token: &Token) -> Result<String> {
    let name = given.unwrap_or(&token.store_code);
    let is_good = name.len() <= LONGEST_NAME
        && name.starts_with(|letter: char| letter.is_ascii_alphanumeric())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
    if !is_good {
        bail!("{name:?} cannot be the name of a service; give one of letters, digits, '.', '_' and '-' with --name");
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn who_looks_at_a_store_names_it_or_where_else_its_settings_are() {
        let of = |dir: &str| diagnosis(&settings_of(Path::new(dir), "s01"), "s01", "till");
        assert_eq!(of(CONFIG_DIR), "sudo -u till tillkeep doctor store --name s01");
        assert_eq!(of("/srv/etc"), "sudo -u till tillkeep doctor store --settings /srv/etc/store-s01.env");
    }

    #[test]
    fn the_name_of_an_instance_is_one_that_files_and_units_can_have() {
        let token = |code: &str| Token {
            text: tillkeep_http::Secret::default(),
            store_id: Uuid::from_u128(1),
            store_code: code.to_owned(),
        };
        assert_eq!(name(None, &token("S01")).expect("a name"), "S01");
        assert_eq!(name(Some("front-2"), &token("Köln 1")).expect("a name"), "front-2");
        for bad in ["", "Köln", "a/b", "../x", "-x", "a b", "a@b", &"x".repeat(65)] {
            assert!(name(None, &token(bad)).is_err(), "{bad}");
        }
    }
}
