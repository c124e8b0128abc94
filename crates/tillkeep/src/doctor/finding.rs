//! What a check finds, and what of it must not be shown.

use std::path::PathBuf;

use anyhow::Result;
use serde::Serialize;
use tillkeep_storage::db::in_words;

use crate::configuration::{among_parameters, before_hosts, secret_of, variable_of};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Ok,
    /// Nothing needs anybody now.
    Hint,
    /// Somebody has to look at it; the server goes on.
    Warning,
    /// The server does not start, does not do its work, or may lose something.
    Fault,
}

impl Level {
    /// What the program ends with when this is the worst.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Ok | Self::Hint => 0,
            Self::Warning => 1,
            Self::Fault => 2,
        }
    }

    pub const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Hint => "hint",
            Self::Warning => "warning",
            Self::Fault => "fault",
        }
    }
}

/// What is so, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Which check says so.
    pub check: &'static str,
    pub level: Level,
    pub text: String,
    /// A command or a setting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

pub fn ok(text: impl Into<String>) -> Finding {
    Finding { check: "", level: Level::Ok, text: text.into(), remedy: None }
}

/// Of something that is left as it is.
pub fn note(text: impl Into<String>) -> Finding {
    Finding { level: Level::Hint, ..ok(text) }
}

pub fn hint(text: impl Into<String>, remedy: impl Into<String>) -> Finding {
    Finding { remedy: Some(remedy.into()), ..note(text) }
}

pub fn warning(text: impl Into<String>, remedy: impl Into<String>) -> Finding {
    Finding { level: Level::Warning, ..hint(text, remedy) }
}

pub fn fault(text: impl Into<String>, remedy: impl Into<String>) -> Finding {
    Finding { level: Level::Fault, ..hint(text, remedy) }
}

impl Finding {
    pub fn hide(&mut self, secrets: &Secrets) {
        self.text = secrets.hidden(&in_words(&self.text));
        self.remedy = self.remedy.take().map(|text| secrets.hidden(&text));
    }
}

/// What a check comes to.
pub type Checked = std::result::Result<Vec<Finding>, Unchecked>;

/// Why a check found nothing out.
#[derive(Debug)]
pub enum Unchecked {
    /// What it would look at is not there, which another check says.
    Because(String),
    /// A setting of the server that is not known here.
    Unset {
        name: &'static str,
        /// The file of settings that was read.
        settings: Option<PathBuf>,
    },
    Failed(String),
}

/// How the settings of a server become known to whoever looks at it.
pub const SETTINGS: &str =
    "name the store with --name, or the file of its settings with --settings; or set here what the server has";
/// The same, of settings that a file has.
pub const BESIDE: &str =
    "set it there, unless the unit has it from elsewhere (`systemctl edit`, a credential), which is not read here";

impl<E: std::error::Error> From<E> for Unchecked {
    fn from(error: E) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<Unchecked> for Finding {
    fn from(unchecked: Unchecked) -> Self {
        match unchecked {
            Unchecked::Because(why) => note(format!("not checked: {why}")),
            Unchecked::Unset { name, settings: None } => {
                warning(format!("not checked: {name} is not set here"), SETTINGS)
            }
            Unchecked::Unset { name, settings: Some(path) } => {
                warning(format!("not checked: {name} is not set in {}", path.display()), BESIDE)
            }
            Unchecked::Failed(why) => warning(
                format!("could not be checked: {why}"),
                "run it as the user of the server, who may read all of it; if that is so, report it",
            ),
        }
    }
}

/// Texts that no finding may have, whatever an error says.
#[derive(Clone, Default)]
pub struct Secrets(Vec<String>);

/// A shorter text would be found in words.
const SHORTEST: usize = 4;

impl Secrets {
    /// Those that the environment names, whether the configuration is sound or not.
    pub fn of_environment() -> Self {
        let mut secrets = Self::default();
        let mut add = |secret: Result<Option<String>>| secrets.add(&secret.ok().flatten().unwrap_or_default());
        for name in ["SYNC_TOKEN", "TILLKEEP_JWT_KEY", "TILLKEEP_SYNC_KEY"] {
            add(secret_of(name).map(|secret| secret.map(|secret| secret.expose().to_owned())));
        }
        for name in ["DATABASE_URL", "DATABASE_READ_URL", "NATS_URL"] {
            secrets.add_url(&variable_of(name).ok().flatten().unwrap_or_default());
        }
        secrets
    }

    pub fn add(&mut self, secret: &str) {
        if secret.len() >= SHORTEST {
            self.0.push(secret.to_owned());
        }
    }

    /// What stands before the hosts of an address and is no name, and a password among its parameters.
    pub fn add_url(&mut self, url: &str) {
        for secret in before_hosts(url).into_iter().chain(among_parameters(url)) {
            self.add(secret);
        }
    }

    fn hidden(&self, text: &str) -> String {
        // The longest first: a part of it would leave the rest.
        let mut secrets: Vec<&String> = self.0.iter().collect();
        secrets.sort_unstable_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.into_iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "***"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_level_is_what_the_program_ends_with() {
        assert!(Level::Ok < Level::Hint && Level::Hint < Level::Warning && Level::Warning < Level::Fault);
        let codes = [Level::Ok, Level::Hint, Level::Warning, Level::Fault].map(Level::exit_code);
        assert_eq!(codes, [0, 0, 1, 2]);
    }

    #[test]
    fn no_password_and_no_token_is_in_what_is_said() {
        let mut secrets = Secrets::default();
        for url in [
            "postgres://till:hunter2@db:5432/chain?sslmode=require",
            "postgres://till:hun@ter3@one,two/chain",
            "postgres://till@db/chain?password=hunter4&sslmode=require",
            "nats://till:hunter5@a:4222,nats://token-hunter6@b:4222",
            "sqlite:///var/lib/tillkeep/tillkeep.db",
        ] {
            secrets.add_url(url);
        }
        secrets.add("e30.hunter7.x");
        secrets.add("db");
        let mut said = fault(
            "hunter2 hun@ter3 hunter4 hunter5 token-hunter6 e30.hunter7.x at db as till of /var/lib/tillkeep",
            "psql postgres://till:hunter2@db",
        );
        said.hide(&secrets);
        assert_eq!(said.text, "*** *** *** *** *** *** at db as till of /var/lib/tillkeep");
        assert_eq!(said.remedy.as_deref(), Some("psql postgres://till:***@db"));
    }

    #[test]
    fn a_check_that_cannot_be_made_says_why_and_is_no_fault() {
        let because: Finding = Unchecked::Because("there is no database".to_owned()).into();
        assert_eq!((because.level, &*because.text), (Level::Hint, "not checked: there is no database"));
        for (settings, remedy) in [(None, SETTINGS), (Some("/etc/tillkeep/store-s01.env"), BESIDE)] {
            let unset: Finding = Unchecked::Unset { name: "HQ_URL", settings: settings.map(PathBuf::from) }.into();
            assert_eq!(
                (unset.level, unset.remedy.as_deref()),
                (Level::Warning, Some(remedy)),
                "nobody knows how it is"
            );
            assert!(settings.is_none_or(|path| unset.text.contains(path)), "{}", unset.text);
        }
        assert!(!BESIDE.contains("--name"), "it was named");
        let failed: Finding = Unchecked::from(std::io::Error::other("no disk")).into();
        assert!(failed.level == Level::Warning && failed.text.contains("no disk") && failed.remedy.is_some());
    }
}
