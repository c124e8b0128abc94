//! Attacks that succeeded once, or nearly did: each against real servers, with the bound that holds now as its assertion.
//! What takes longer than a minute runs by `make attacks`. `docs/security.md` has the table.

#![expect(clippy::disallowed_methods, reason = "tests look into databases")]

#[path = "../cluster/home.rs"]
#[expect(dead_code, reason = "some of it serves the tests of the cluster alone")]
mod home;
#[path = "../releases/kept.rs"]
#[expect(dead_code, reason = "recordings are for tests/contract")]
mod kept;
#[path = "../cluster/kit/mod.rs"]
#[expect(dead_code, unused_imports, reason = "some of it serves the tests of the cluster alone")]
mod kit;
#[path = "../../crates/storage/tests/kit/rows.rs"]
#[expect(dead_code, reason = "rows are written and not read here")]
mod rows;

mod pushes;
mod strangers;

use home::Home;

mod device;
mod devices;
mod found_pins;
mod headquarters_pins;
mod pins;
mod rights;
mod second_factor;
mod token;
