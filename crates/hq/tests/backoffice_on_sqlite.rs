//! The back office on the embedded database.

#![expect(clippy::disallowed_methods, reason = "tests put rows where they want them")]

mod backoffice;
mod broker;

/// Where a headquarters keeps its data besides its directory.
#[derive(Default)]
pub struct Home {
    pub url: Option<String>,
}
