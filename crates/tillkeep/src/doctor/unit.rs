//! The settings of a server that systemd runs. Its unit reads them; the environment of whoever looks at the server has none of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tillkeep_storage::Side;

use super::DoctorArgs;
use crate::configuration::{as_of_server, variable_of};
use crate::install::{CONFIG_DIR, DATA, data_dir_of, has_headquarters, variables};

/// Beside the files of variables: every other setting.
const CONFIGURATION: &str = "tillkeep.toml";
const OF_HEADQUARTERS: &str = "hq.env";
const VARIABLE_OF_DATA: &str = "DATA_DIR";
/// What helps where the files of a unit cannot be read.
pub const READERS: &str = "run this as the user of the server (`sudo -u tillkeep`) or as root, or name another file";

/// Where a server has its settings, and its data.
#[derive(Debug, Default)]
pub struct Unit {
    /// The file of variables, where there is one.
    pub settings: Option<PathBuf>,
    /// The file of configuration, where there is one.
    pub configuration: Option<PathBuf>,
    pub data_dir: Option<PathBuf>,
}

/// The unit that is meant, whose variables count from here on in place of those of this program; nothing where none is meant: then the
/// server has the environment that is here.
pub fn taken(side: Side, args: &DoctorArgs, configuration: Option<&Path>) -> Result<Unit> {
    let path = match &args.settings {
        Some(path) => std::path::absolute(path).with_context(|| format!("--settings {}", path.display()))?,
        None if side == Side::Hq && is_of_package(args, configuration)? => Path::new(CONFIG_DIR).join(OF_HEADQUARTERS),
        None => return Ok(Unit::default()),
    };
    let unread = || format!("the settings in {} cannot be read", path.display());
    // The unit of headquarters starts without such a file. One that was named has to be there.
    let is_there = args.settings.is_some() || path.try_exists().with_context(unread)?;
    let variables = if is_there { variables(&path).with_context(unread)? } else { BTreeMap::new() };
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let of_unit = data_dir_of(name, &path);
    let unit = of_files(side, &path, of_unit, variables.get(VARIABLE_OF_DATA).map(PathBuf::from));
    as_of_server(variables)?;
    Ok(Unit { settings: is_there.then_some(path), ..unit })
}

/// Whether nothing here speaks of another headquarters than the one that a package has installed.
fn is_of_package(args: &DoctorArgs, configuration: Option<&Path>) -> Result<bool> {
    let is_elsewhere = args.data_dir.as_ref().is_some_and(|dir| *dir != Path::new(DATA).join("hq"));
    let is_said = variable_of(VARIABLE_OF_DATA)?.is_some() || variable_of("DATABASE_URL")?.is_some();
    Ok(!is_elsewhere && !is_said && configuration.is_none() && has_headquarters())
}

/// What lies beside the file at `path`, and where its server has its data: a flag of the unit counts before a variable.
fn of_files(side: Side, path: &Path, of_unit: Option<PathBuf>, variable: Option<PathBuf>) -> Unit {
    let beside = path.with_file_name(CONFIGURATION);
    // As the units of packages say it.
    let usual = || {
        let name = path.file_name()?.to_str()?.strip_suffix(".env")?;
        let is_usual = match side {
            Side::Hq => name == "hq",
            Side::Store => name.starts_with("store-"),
        };
        is_usual.then(|| Path::new(DATA).join(name))
    };
    let data_dir = of_unit.or(variable).or_else(usual);
    Unit { settings: None, configuration: Some(beside).filter(|file| file.exists()), data_dir }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_settings_leads_to_the_configuration_beside_it_and_to_the_data() {
        let dir = tempfile::tempdir().expect("a directory");
        let of = |side, name: &str, unit: Option<&str>, variable: Option<&str>| {
            of_files(side, &dir.path().join(name), unit.map(PathBuf::from), variable.map(PathBuf::from))
        };
        let data = |side, name: &str| of(side, name, None, None).data_dir;
        assert_eq!(data(Side::Store, "store-s01.env"), Some(PathBuf::from("/var/lib/tillkeep/store-s01")));
        assert_eq!(data(Side::Hq, "hq.env"), Some(PathBuf::from("/var/lib/tillkeep/hq")));
        assert_eq!((data(Side::Store, "mine.env"), data(Side::Hq, "mine.env")), (None, None));
        let said = of(Side::Store, "store-s01.env", None, Some("/srv/a"));
        assert_eq!((said.data_dir, said.configuration), (Some(PathBuf::from("/srv/a")), None));
        for (side, name) in [(Side::Hq, "hq.env"), (Side::Store, "store-s01.env")] {
            let flag = of(side, name, Some("/srv/flag"), Some("/srv/variable")).data_dir;
            assert_eq!(flag, Some(PathBuf::from("/srv/flag")), "the server goes by the flag of its unit");
        }
        std::fs::write(dir.path().join(CONFIGURATION), "").expect("a file");
        let beside = of(Side::Store, "store-s01.env", None, None).configuration;
        assert_eq!(beside, Some(dir.path().join(CONFIGURATION)));
    }
}
