//! The settings of a server that systemd runs. Its unit reads them; the environment of whoever looks at the server has none of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tillkeep_storage::Side;

use super::DoctorArgs;
use crate::configuration::{as_of_server, variable_of};
use crate::install::{CONFIG_DIR, DATA, has_headquarters, variables};

/// Beside the files of variables: every other setting.
const CONFIGURATION: &str = "tillkeep.toml";
const OF_HEADQUARTERS: &str = "hq.env";
const VARIABLE_OF_DATA: &str = "DATA_DIR";

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
    let settings = match &args.settings {
        Some(path) => std::path::absolute(path).with_context(|| format!("--settings {}", path.display()))?,
        None if side == Side::Hq && is_of_package(args, configuration)? => Path::new(CONFIG_DIR).join(OF_HEADQUARTERS),
        None => return Ok(Unit::default()),
    };
    // The unit of headquarters starts without such a file. One that was named has to be there.
    let settings = Some(settings).filter(|path| args.settings.is_some() || path.exists());
    let variables = match &settings {
        None => BTreeMap::new(),
        Some(path) => variables(path).with_context(|| {
            format!("the settings in {} cannot be read; run this as root (sudo), or name another file", path.display())
        })?,
    };
    let unit = of_files(side, settings, variables.get(VARIABLE_OF_DATA).map(PathBuf::from));
    as_of_server(variables)?;
    Ok(unit)
}

/// Whether nothing here speaks of another headquarters than the one that a package has installed.
fn is_of_package(args: &DoctorArgs, configuration: Option<&Path>) -> Result<bool> {
    let is_elsewhere = args.data_dir.as_ref().is_some_and(|dir| *dir != Path::new(DATA).join("hq"));
    let is_said = variable_of(VARIABLE_OF_DATA)?.is_some() || variable_of("DATABASE_URL")?.is_some();
    Ok(!is_elsewhere && !is_said && configuration.is_none() && has_headquarters())
}

fn of_files(side: Side, settings: Option<PathBuf>, data_dir: Option<PathBuf>) -> Unit {
    let folder = settings.as_deref().and_then(Path::parent).unwrap_or(Path::new(CONFIG_DIR));
    let configuration = Some(folder.join(CONFIGURATION)).filter(|file| file.exists());
    // As the units of packages say it, unless the file does.
    let usual = || {
        let Some(path) = &settings else { return Some(Path::new(DATA).join("hq")) };
        let name = path.file_name()?.to_str()?.strip_suffix(".env")?;
        let is_usual = match side {
            Side::Hq => name == "hq",
            Side::Store => name.starts_with("store-"),
        };
        is_usual.then(|| Path::new(DATA).join(name))
    };
    let data_dir = data_dir.or_else(usual);
    Unit { settings, configuration, data_dir }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_settings_leads_to_the_configuration_beside_it_and_to_the_data() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = |name: &str| Some(dir.path().join(name));
        let data = |side, name: &str| of_files(side, file(name), None).data_dir;
        assert_eq!(data(Side::Store, "store-s01.env"), Some(PathBuf::from("/var/lib/tillkeep/store-s01")));
        assert_eq!(data(Side::Hq, "hq.env"), Some(PathBuf::from("/var/lib/tillkeep/hq")));
        assert_eq!((data(Side::Store, "mine.env"), data(Side::Hq, "mine.env")), (None, None));
        let said = of_files(Side::Store, file("store-s01.env"), Some("/srv/a".into()));
        assert_eq!((said.data_dir, said.configuration), (Some(PathBuf::from("/srv/a")), None));
        std::fs::write(dir.path().join(CONFIGURATION), "").expect("a file");
        assert_eq!(of_files(Side::Store, file("store-s01.env"), None).configuration, file(CONFIGURATION));
    }
}
