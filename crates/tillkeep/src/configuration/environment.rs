//! Settings that are in no file: of the environment of this program, or of the one that a server is started with.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};
use tillkeep_http::Secret;

/// What a unit sets for its server. Where it is known nothing counts that is set here: the server does not see it.
static OF_SERVER: OnceLock<BTreeMap<String, String>> = OnceLock::new();

/// From here on variables are those of a server that somebody looks at, and none of this program's own.
pub fn as_of_server(variables: BTreeMap<String, String>) -> Result<()> {
    OF_SERVER.set(variables).ok().context("the settings of one server are read already")
}

/// A variable that is set to something.
pub fn variable_of(name: &str) -> Result<Option<String>> {
    if let Some(variables) = OF_SERVER.get() {
        return Ok(variables.get(name).filter(|value| !value.trim().is_empty()).cloned());
    }
    match std::env::var(name) {
        Ok(value) if value.trim().is_empty() => Ok(None),
        Ok(value) => Ok(Some(value)),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => bail!("the environment variable {name} is not text"),
    }
}

/// A secret from `NAME`, or from the file that `NAME_FILE` names, so that it need not stand in a process list.
pub fn secret_of(name: &str) -> Result<Option<Secret>> {
    if let Some(value) = variable_of(name)? {
        return Ok(Some(value.trim().to_owned().into()));
    }
    let Some(path) = variable_of(&format!("{name}_FILE"))? else { return Ok(None) };
    let text = std::fs::read_to_string(&path).with_context(|| format!("{name}_FILE: {path}"))?;
    Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()).map(Secret::from))
}
