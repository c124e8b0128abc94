//! What both servers promise to whoever calls them, route by route: the tests walk the route tables, so that a new route
//! is tried without a word here.

#![expect(clippy::disallowed_methods, reason = "tests put rows where they want them")]

mod kit;
#[path = "../../crates/storage/tests/kit/private_postgres.rs"]
#[expect(dead_code, reason = "every database is empty here")]
mod private_postgres;
#[path = "../../crates/storage/tests/kit/rows.rs"]
mod rows;

mod alerts;
mod asvs;
mod audited;
mod bench;
mod browsers;
mod costs;
mod docs;
mod drills;
mod elsewhere;
mod examples;
mod fields;
mod figures;
mod forgeries;
mod good_requests;
mod injections;
mod kinds;
mod limits;
mod machine;
mod matrix;
mod once;
mod openapi;
mod pages;
mod pattern;
mod pictures;
mod preview;
mod releases;
mod renumbered;
mod requests;
mod rooms;
mod scope;
mod sweep;
mod walks;
