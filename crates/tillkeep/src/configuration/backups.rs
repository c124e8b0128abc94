//! Backups that a server makes by itself.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Serialize};

use crate::sealed::Recipient;

/// Unless it is said otherwise, on `SQLite`. A dump of `PostgreSQL` takes programs that need not be there.
const USUAL: Duration = Duration::from_hours(24);
/// The shortest and the longest time between two backups.
const SHORTEST: Duration = Duration::from_mins(1);
const LONGEST: Duration = Duration::from_hours(24 * 366);
/// Backups that are kept at the most.
const MOST: usize = 10_000;

/// As the file says it.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Backups {
    pub every: Option<String>,
    pub keep: usize,
    pub directory: PathBuf,
    pub recipient: String,
    /// Somebody else makes them: that the server makes none is as it should be.
    pub elsewhere: bool,
}

/// What a server does about backups.
#[derive(Clone, Debug)]
pub struct Plan {
    pub every: Duration,
    pub keep: usize,
    pub directory: PathBuf,
    pub recipient: Option<Recipient>,
}

impl Backups {
    /// What a server of this `section` does with its data in `data_dir`; `None` when it makes no backups.
    pub fn plan(&self, section: &str, data_dir: &Path, is_embedded: bool) -> Result<Option<Plan>> {
        let key = |name: &str| format!("{section}.backup.{name} (BACKUP_{})", name.to_ascii_uppercase());
        let every = match &self.every {
            None => is_embedded.then_some(USUAL),
            Some(text) => length(text).with_context(|| key("every"))?,
        };
        if !(1..=MOST).contains(&self.keep) {
            bail!("{} must be between 1 and {MOST}", key("keep"));
        }
        let recipient = match self.recipient.as_str() {
            "" => None,
            text => Some(text.parse().map_err(|wrong: String| anyhow!(wrong)).with_context(|| key("recipient"))?),
        };
        let set = !self.directory.as_os_str().is_empty();
        let directory = if set { self.directory.clone() } else { data_dir.join("backups") };
        Ok(every.map(|every| Plan { every, keep: self.keep, directory, recipient }))
    }
}

/// `30m`, `24h` or `7d`; `None` for `off` and for nothing.
fn length(text: &str) -> Result<Option<Duration>> {
    if text.is_empty() || text == "off" {
        return Ok(None);
    }
    let no_length = || anyhow!("{text:?} is no time between two backups; write 30m, 24h, 7d, or off for none");
    let (number, seconds) = [("m", 60), ("h", 3600), ("d", 24 * 3600)]
        .iter()
        .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, *seconds)))
        .ok_or_else(no_length)?;
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(no_length());
    }
    let number: u64 = number.parse().map_err(|_| no_length())?;
    let length = Duration::from_secs(number.saturating_mul(seconds));
    if !(SHORTEST..=LONGEST).contains(&length) {
        bail!("{text} is out of reach: a minute (1m) at the least, 366d at the most, or off for none");
    }
    Ok(Some(length))
}

#[cfg(test)]
mod tests {
    use config::{Config, File, FileFormat};

    use super::*;

    fn planned(text: &str, is_embedded: bool) -> Result<Option<Plan>, String> {
        let read = Config::builder().add_source(File::from_str(text, FileFormat::Toml)).build().expect("a table");
        let backups: Backups = read.try_deserialize().expect("backups");
        backups.plan("store", Path::new("/data"), is_embedded).map_err(|error| format!("{error:#}"))
    }

    const REST: &str = "keep = 7\ndirectory = ''\nrecipient = ''\nelsewhere = false\n";

    #[test]
    fn a_file_is_backed_up_once_a_day_and_a_postgresql_when_it_is_said() {
        let plan = planned(REST, true).expect("sound").expect("a plan");
        assert_eq!((plan.every, plan.keep), (Duration::from_hours(24), 7));
        assert_eq!(plan.directory, Path::new("/data/backups"));
        assert!(plan.recipient.is_none());
        assert!(planned(REST, false).expect("sound").is_none());
        let said = planned(&format!("{REST}every = '12h'"), false).expect("sound").expect("a plan");
        assert_eq!(said.every, Duration::from_hours(12));
    }

    #[test]
    fn a_time_is_minutes_hours_or_days_and_what_is_none_is_refused_by_its_key() {
        for (text, seconds) in [("1m", 60), ("24h", 86_400), ("7d", 604_800)] {
            let plan = planned(&format!("{REST}every = '{text}'"), true).expect("sound").expect("a plan");
            assert_eq!(plan.every.as_secs(), seconds, "{text}");
        }
        for text in ["", "off"] {
            assert!(planned(&format!("{REST}every = '{text}'"), true).expect("sound").is_none(), "{text}");
        }
        for text in ["24", "h", "1.5h", "0h", "-1h", "+1h", "1 h", "99999999999999999999d", "367d", "1w", "30s"] {
            let said = planned(&format!("{REST}every = '{text}'"), true).expect_err(text);
            assert!(said.contains("store.backup.every (BACKUP_EVERY)") && said.contains("off"), "{said}");
        }
    }

    #[test]
    fn a_recipient_that_is_none_and_a_count_that_keeps_nothing_are_refused_by_their_keys() {
        let said =
            planned("keep = 7\ndirectory = ''\nrecipient = 'age1x'\nelsewhere = false", true).expect_err("refused");
        assert!(said.contains("store.backup.recipient (BACKUP_RECIPIENT)") && said.contains("age-keygen"), "{said}");
        let said = planned("keep = 0\ndirectory = ''\nrecipient = ''\nelsewhere = false", true).expect_err("refused");
        assert!(said.contains("store.backup.keep (BACKUP_KEEP)"), "{said}");
    }
}
