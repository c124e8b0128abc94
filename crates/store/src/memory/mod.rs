//! What this store reads over and over and changes seldom, kept in memory: its settings, taxes, tenders, tills and open
//! drawers, and the products that are sold. `docs/sync.md`, "What a store keeps in memory".
//!
//! All of it belongs to one version of the database ([`tillkeep_storage::memory`]). A commit that writes one of these
//! tables raises the version, and whoever asks then begins with nothing. What was read from an older database can only
//! reach the memory of its own version, which no request asks any more. Specials have a version of their own, so that who
//! edits one drops no product.
//!
//! What is not in memory is read with a connection of its own. Who asks holds none meanwhile: those who wait for one answer
//! could have all of them.

mod cache;
mod products;
mod shop;
mod sold;
mod specials;

pub(crate) use cache::{Memory, SpecialsCache, VersionCache};
pub(crate) use shop::Shop;
pub(crate) use sold::{Found, Sold};
pub(crate) use specials::Specials;
