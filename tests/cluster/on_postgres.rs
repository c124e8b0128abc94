//! The tests of `main.rs` that have to do with the database of headquarters, with that database on `PostgreSQL`; and what
//! `PostgreSQL` alone can do to it.

#![expect(clippy::disallowed_methods, reason = "tests look into databases")]

mod authority;
mod haproxy;
#[path = "../releases/kept.rs"]
#[expect(dead_code, reason = "recordings are for tests/contract")]
mod kept;
#[expect(dead_code, reason = "some of it serves the tests of the line and the socket alone")]
mod kit;
mod lossy_postgres;
#[path = "../../crates/storage/tests/kit/migrated.rs"]
mod migrated;
#[path = "../../crates/hq/tests/backoffice/nats_server.rs"]
mod nats_server;
#[path = "../../crates/storage/tests/kit/own_postgres.rs"]
mod own_postgres;
#[path = "../../crates/storage/tests/kit/private_postgres.rs"]
mod private_postgres;
#[path = "../../crates/storage/tests/kit/rows.rs"]
#[expect(dead_code, reason = "rows are written and not read here")]
mod rows;
#[path = "doctor/said.rs"]
mod said;
#[path = "../../crates/storage/tests/kit/standby.rs"]
mod standby;

mod approvals;
mod back;
mod balancer;
mod chaos;
mod database_tls;
#[path = "doctor/on_postgres.rs"]
mod doctor;
mod down;
mod dumps;
mod effects;
mod export;
mod failover;
mod faults;
mod fleet;
mod leave;
mod nodes;
mod outage;
mod protocol;
mod pruning;
mod refunds;
mod replica;
mod restart;
mod rolling;
mod several;
mod starting;
mod upgrade;
mod walks;

use lossy_postgres::LossyDatabase;
use private_postgres::Database;

/// A database of its own for each headquarters.
pub struct Home(Database);

impl Home {
    /// For a server of this release.
    pub fn make() -> Self {
        Self(migrated::migrated())
    }

    /// For a server of any release.
    pub fn empty() -> Self {
        Self(Database::create())
    }

    /// What the environment of a headquarters says of it.
    pub fn environment(&self) -> [(&str, &str); 2] {
        // The private server has nothing to keep.
        [("DATABASE_URL", &self.0.url), ("TILLKEEP_ACCEPT_UNSAFE_DATABASE", "1")]
    }
}
