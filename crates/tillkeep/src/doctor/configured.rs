//! Whether a server could start with this configuration.

use anyhow::Error;
use tillkeep_storage::Side;

use super::finding::{Finding, SETTINGS, fault, ok, warning};
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
    let mut found: Vec<Finding> = tried.into_iter().filter_map(Result::err).map(|error| wrong(&error)).collect();
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
    let mut found: Vec<Finding> = configuration::sign_in_at_store(store).err().iter().map(wrong).collect();
    if store.hq_url.is_empty() {
        found.push(missing(at, "HQ_URL", "the address of headquarters, such as https://hq.example.com"));
    } else if let Err(error) = run::check_hq_url(&store.hq_url, store.allow_insecure) {
        found.push(wrong(&error));
    }
    found
}

/// What a server cannot start without. One that runs has it from an environment that is not the one here.
pub fn missing(at: &Installation, name: &str, what: &str) -> Finding {
    let remedy = format!("{name}=… {what}");
    if at.is_running() {
        return warning(
            format!("{name} is not set here, and is not looked at: the server that runs has it from elsewhere"),
            format!("{SETTINGS}: {remedy}"),
        );
    }
    fault(format!("{name} is not set: the server does not start without it"), remedy)
}

fn wrong(error: &Error) -> Finding {
    fault(format!("{error:#}"), "set it right; `tillkeep config check` says whether it is")
}
