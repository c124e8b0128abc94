//! Named places where a test makes this program fail or die, and faults that are planted on purpose so that the checker
//! can be seen to catch them. Both exist with the feature `failpoints` only; a release has none of it.
//!
//! A test names a place in the environment of a server: `FAILPOINTS=outbox.confirm=3*off->1*return(kill)` lets three
//! passes go and kills the process at the fourth; `return(error)` makes the place fail like the database. The grammar is
//! that of the `fail` crate.

use sea_orm::DbErr;

/// Every place, with what is lost or doubled there when the program around it is wrong.
pub const PLACES: &[(&str, &str)] = &[
    ("migration.step", "a part of a step of the schema is made, not committed"),
    ("tx.begin", "before a write begins"),
    ("tx.stamp", "a transaction is written, its versions are not given yet"),
    ("tx.commit", "everything is written, nothing is committed"),
    ("tx.committed", "committed, and nobody was told yet"),
    ("outbox.enqueue", "the document is written, its entry is not"),
    ("outbox.confirm", "HQ took entries, the store has not noted it"),
    ("outbox.confirmed", "the entries are moved, not committed"),
    ("outbox.refuse", "HQ refused an entry, the attempt is not counted"),
    ("outbox.resend", "sent entries are put back, not committed"),
    ("sender.send", "a batch is read, nothing is sent"),
    ("sender.answered", "HQ answered a batch, nothing is settled"),
    ("cycle.handshake", "HQ answered a handshake, nothing is kept"),
    ("cycle.remembered", "a handshake is kept, nothing is pulled"),
    ("apply.page", "a page arrived, nothing of it is written"),
    ("apply.rows", "the rows of a page are written, the cursor is not moved"),
    ("apply.cursor", "rows and cursor are written, not committed"),
    ("apply.begin_reload", "a reload is about to mark what HQ must send again"),
    ("apply.end_reload", "the last page of a reload is in, what HQ lacks is still there"),
    ("pull.page", "HQ is about to read a page"),
    ("push.read", "HQ has read a request, nothing is applied"),
    ("push.rows", "the rows of a type are written, their effects are not"),
    ("push.effects", "rows and effects are written, the log is not"),
    ("push.log", "a batch is logged, not committed"),
    ("push.applied", "a batch is committed, the answer is not sent"),
    ("push.refusals", "refusals are about to be logged"),
    ("handshake.record", "HQ is about to note an installation"),
    ("handshake.recorded", "HQ has noted an installation, the store does not know"),
    ("sale.written", "a sale is written, its entry is not"),
    ("sale.committed", "a sale is on disk, the till has no answer"),
    ("session.closed", "a drawer is closed, not committed"),
    ("tracker.flush", "HQ is about to write what stores pulled"),
    ("backup.copied", "a backup is written, not moved to its place"),
];

/// Fails or dies here when a test says so.
#[cfg(feature = "failpoints")]
pub fn point(name: &'static str) -> Result<(), DbErr> {
    debug_assert!(PLACES.iter().any(|(place, _)| *place == name), "{name} is not in the list of places");
    fail::fail_point!(name, |action| act(name, action.as_deref().unwrap_or("error")));
    Ok(())
}

#[cfg(feature = "failpoints")]
fn act(name: &str, action: &str) -> Result<(), DbErr> {
    if action == "kill" {
        // As kill -9: no destructor runs and nothing is flushed.
        std::process::abort();
    }
    Err(DbErr::Conn(sea_orm::RuntimeErr::Internal(format!("a test makes {name} fail"))))
}

/// Fails or dies here when a test says so: not in this build.
#[cfg(not(feature = "failpoints"))]
#[inline(always)]
#[expect(clippy::inline_always, reason = "nothing may be left of it")]
pub const fn point(_: &'static str) -> Result<(), DbErr> {
    Ok(())
}

/// Whether a test has planted the fault called `name`.
#[cfg(feature = "failpoints")]
pub fn planted(name: &str) -> bool {
    fail::eval(name, |_| ()).is_some()
}

/// Whether a test has planted the fault called `name`: not in this build.
#[cfg(not(feature = "failpoints"))]
#[inline(always)]
#[expect(clippy::inline_always, reason = "nothing may be left of it")]
pub const fn planted(_: &str) -> bool {
    false
}

/// Reads `FAILPOINTS`; the caller keeps what this returns for as long as the program runs.
#[cfg(feature = "failpoints")]
pub fn from_environment() -> fail::FailScenario<'static> {
    fail::FailScenario::setup()
}

/// What is kept of no faults.
#[cfg(not(feature = "failpoints"))]
pub struct NoFaults;

/// Reads `FAILPOINTS`: not in this build.
#[cfg(not(feature = "failpoints"))]
pub const fn from_environment() -> NoFaults {
    NoFaults
}

/// Sets what happens at a place or plants a fault, for tests within one process.
///
/// # Panics
/// When `actions` cannot be read.
#[cfg(feature = "failpoints")]
pub fn set(name: &str, actions: &str) {
    fail::cfg(name, actions).unwrap_or_else(|error| panic!("{name}={actions}: {error}"));
}
