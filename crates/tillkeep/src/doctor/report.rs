//! How findings are said: lines for people, one object for programs.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Serialize;
use tillkeep_storage::Side;

use super::finding::{Finding, Level};
use crate::output::say;

/// Where the installation is that was looked at.
pub struct Place {
    /// Unless it was not found out.
    pub data_dir: Option<PathBuf>,
    pub settings: Option<PathBuf>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    version: &'static str,
    /// `hq` or `store`.
    server: &'static str,
    data_dir: String,
    /// The file of variables of its unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    settings: Option<String>,
    level: Level,
    findings: &'a [Finding],
}

pub fn print(side: Side, place: &Place, findings: &[Finding], json: bool) -> Result<()> {
    let level = findings.iter().map(|finding| finding.level).max().unwrap_or(Level::Ok);
    let (server, name) = match side {
        Side::Hq => ("hq", "headquarters"),
        Side::Store => ("store", "a store"),
    };
    let version = env!("CARGO_PKG_VERSION");
    let [data_dir, settings] =
        [&place.data_dir, &place.settings].map(|path| Some(path.as_ref()?.display().to_string()));
    let data_dir = data_dir.unwrap_or_default();
    if json {
        let report = Report { version, server, data_dir, settings, level, findings };
        say!("{}", serde_json::to_string_pretty(&report).context("the report")?);
        return Ok(());
    }
    let of = if data_dir.is_empty() { String::new() } else { format!(": data in {data_dir}") };
    let by = settings.map(|path| format!(", settings in {path}")).unwrap_or_default();
    say!("Tillkeep {version}, {name}{of}{by}");
    for Finding { check, level, text, remedy } in findings {
        say!("{:<8} {check:<14} {text}", level.word());
        if let Some(remedy) = remedy {
            say!("{:<8} {:<14} -> {remedy}", "", "");
        }
    }
    let of_level = |level: Level| findings.iter().filter(|finding| finding.level == level).count();
    let counts = [Level::Fault, Level::Warning, Level::Hint, Level::Ok].map(|level| (level.word(), of_level(level)));
    let counts: Vec<String> = counts.into_iter().map(|(word, count)| format!("{word} {count}")).collect();
    say!("{}", counts.join(", "));
    Ok(())
}
