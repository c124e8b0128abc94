//! Drawers that are moved, counted and closed while tills sell, and days of stores that die all the time: what their databases say
//! is added up by statements of these tests, not by those of the program.
//!
//! A [`till`] does one act after the other and keeps what it was answered; [`kept`] reads what a database has; [`identities`] adds
//! it up. [`closes`] and [`day`] are the proofs: short ones in every run, long ones by `make drawer-closes` and `make drawer-day`.

mod act;
mod closes;
mod day;
mod identities;
mod journal;
mod kept;
mod reports;
mod till;
