//! The back office on `PostgreSQL`.

#![expect(clippy::disallowed_methods, reason = "tests put rows where they want them")]

mod backoffice;
mod broken_off;
#[path = "../../storage/tests/kit/migrated.rs"]
mod migrated;
mod pairs;
#[path = "../../storage/tests/kit/private_postgres.rs"]
mod private_postgres;
mod several;

/// A database of its own for each headquarters.
pub struct Home {
    pub url: Option<String>,
    _database: private_postgres::Database,
}

impl Default for Home {
    fn default() -> Self {
        let database = migrated::migrated();
        Self { url: Some(database.url.clone()), _database: database }
    }
}
