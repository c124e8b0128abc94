//! The back office on the embedded database.

mod backoffice;
mod broker;

/// Where a headquarters keeps its data besides its directory.
#[derive(Default)]
pub struct Home {
    pub url: Option<String>,
}
