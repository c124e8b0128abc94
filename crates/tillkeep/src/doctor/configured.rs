//! Whether a server could start with this configuration.

use std::path::Path;

use anyhow::Error;
use tillkeep_storage::Side;

use super::finding::{BESIDE, Finding, SETTINGS, fault, ok, warning};
use super::installation::Installation;
use crate::{configuration, run};

pub fn sound(at: &Installation) -> Vec<Finding> {
    let mut found = match at.side {
        Side::Hq => of_headquarters(at),
        Side::Store => of_store(at),
    };
    if found.is_empty() {
        found.push(ok("sound"));
    }
    found
}

fn of_headquarters(at: &Installation) -> Vec<Finding> {
    let hq = &at.configuration.hq;
    let tried = [
        configuration::database(hq),
        configuration::broker(hq).map(drop),
        configuration::sign_in_at_hq(hq).map(drop),
        configuration::opening(hq).map(drop),
    ];
    let mut found: Vec<Finding> = tried.into_iter().filter_map(Result::err).map(|error| wrong(at, &error)).collect();
    if configuration::opening(hq).is_ok_and(|opening| opening.accept_unsafe) {
        found.push(warning(
            "TILLKEEP_ACCEPT_UNSAFE_DATABASE=1: the server runs on a PostgreSQL that forgets answered sales in a crash",
            "take TILLKEEP_ACCEPT_UNSAFE_DATABASE out of the environment; it is for tests",
        ));
    }
    found
}

fn of_store(at: &Installation) -> Vec<Finding> {
    let store = &at.configuration.store;
    let mut found: Vec<Finding> =
        configuration::sign_in_at_store(store).err().iter().map(|error| wrong(at, error)).collect();
    if store.hq_url.is_empty() {
        found.push(missing(at, "HQ_URL", "the address of headquarters, such as https://hq.example.com"));
    } else if let Err(error) = run::check_hq_url(&store.hq_url, store.allow_insecure) {
        found.push(wrong(at, &error));
    }
    found
}

/// What a server cannot start without. One that runs has it from an environment that is not the one here; a unit may add to its files.
pub fn missing(at: &Installation, name: &str, what: &str) -> Finding {
    let remedy = format!("{name}=… {what}");
    if let Some(path) = &at.settings {
        return warning(
            format!("{name} is not set in {}, and is not looked at", path.display()),
            format!("{BESIDE}: {remedy}"),
        );
    }
    if at.is_running() {
        return warning(
            format!("{name} is not set here, and is not looked at: the server that runs has it from elsewhere"),
            format!("{SETTINGS}: {remedy}"),
        );
    }
    fault(format!("{name} is not set: the server does not start without it"), remedy)
}

/// What helps where a setting is wrong, by the file of variables that was read.
pub fn remedy(settings: Option<&Path>) -> String {
    match settings {
        None => "set it right; `tillkeep config check` says whether it is".to_owned(),
        Some(path) => format!(
            "set it right in {} or in the file of configuration (tillkeep.toml beside it, unless --config names one); then \
             run this again",
            path.display()
        ),
    }
}

fn wrong(at: &Installation, error: &Error) -> Finding {
    fault(format!("{error:#}"), remedy(at.settings.as_deref()))
}
