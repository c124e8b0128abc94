//! Named places where a test makes this program fail or die. They are in debug builds, which is what tests run; a release
//! has none of it.
//!
//! A test names a place in the environment of a server: `FAILPOINTS=outbox.confirm=3*off->1*return(kill)` lets three
//! passes go and kills the process at the fourth; `return(error)` makes the place fail like the database. The grammar is
//! that of the `fail` crate.

use sea_orm::DbErr;

/// Whether tests can make this build fail. Where it is false, nothing of what asks for it is left in the program:
/// `make build` looks.
pub const POSSIBLE: bool = cfg!(debug_assertions);

/// Every place, with what is lost or doubled there when the program around it is wrong.
pub const PLACES: &[(&str, &str)] = &[
    ("migration.step", "a part of a step of the schema is made, not committed"),
    ("tx.begin", "before a write begins"),
    ("tx.stamp", "a transaction is written, its versions are not given yet"),
    ("tx.commit", "everything is written, nothing is committed"),
    ("tx.committed", "committed, and no caller was answered yet"),
    ("group.filled", "several transactions are written, their one commit is not made"),
    ("group.committed", "the one commit of several transactions is on disk, none of them is answered"),
    ("outbox.enqueue", "the document is written, its entry is not"),
    ("outbox.confirm", "HQ took entries, the store has not noted it"),
    ("outbox.confirmed", "the entries are moved, not committed"),
    ("outbox.refuse", "HQ refused an entry, the attempt is not counted"),
    ("outbox.resend", "sent entries are in the outbox again, not committed"),
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
    ("prune.kept", "successes are in the narrow table and in the log, not committed"),
    ("handshake.record", "HQ is about to note an installation"),
    ("handshake.recorded", "HQ has noted an installation, the store does not know"),
    ("numbers.write", "numbers are committed, their file does not have them"),
    ("sale.written", "a sale is written, its entry is not"),
    ("sale.committed", "a sale is on disk, the till has no answer"),
    ("void.written", "a void is written, its entry is not"),
    ("void.committed", "a void is on disk, the till has no answer"),
    ("refund.claimed", "headquarters holds what is to be given back, the store has written nothing"),
    ("refund.written", "a refund is written, its entry is not"),
    ("refund.committed", "a refund is on disk, the till has no answer"),
    ("exchange.written", "both halves of an exchange are written, their entries are not"),
    ("exchange.committed", "an exchange is on disk, the till has no answer"),
    ("parked.written", "a cart is parked, not committed"),
    ("parked.resumed", "a parked cart has the id of its sale, not committed"),
    ("print.marked", "a paper is marked as under way, nothing is sent to the printer"),
    ("print.sent", "the printer has a paper, the store has not noted it"),
    ("movement.written", "cash moved in a drawer, not committed"),
    ("movement.committed", "cash moved on disk, the till has no answer"),
    ("count.written", "a drawer is counted or sells on, not committed"),
    ("session.closed", "a drawer is closed, not committed"),
    ("session.forced", "a drawer is closed without a count, not committed"),
    ("reassign.written", "a drawer is another user's, not committed"),
    ("safe.written", "a movement of the safe is written, not committed"),
    ("tracker.flush", "HQ is about to write what stores pulled"),
    ("export.written", "the files of a month are written, not moved to their place"),
    ("backup.copied", "a backup is written, not moved to its place"),
];

/// Fails or dies here when a test says so.
#[inline]
pub fn point(name: &'static str) -> Result<(), DbErr> {
    if POSSIBLE {
        debug_assert!(PLACES.iter().any(|(place, _)| *place == name), "{name} is not in the list of places");
        fail::fail_point!(name, |action| act(name, action.as_deref().unwrap_or("error")));
    }
    Ok(())
}

fn act(name: &str, action: &str) -> Result<(), DbErr> {
    if action == "kill" {
        // As kill -9: no destructor runs and nothing is flushed.
        std::process::abort();
    }
    Err(DbErr::Conn(sea_orm::RuntimeErr::Internal(format!("a test makes {name} fail"))))
}

/// Reads `FAILPOINTS`; the caller keeps what this returns for as long as the program runs.
pub fn from_environment() -> Option<fail::FailScenario<'static>> {
    POSSIBLE.then(fail::FailScenario::setup)
}

/// Sets what happens at a place, for tests within one process.
///
/// # Panics
/// When `actions` cannot be read.
pub fn set(name: &str, actions: &str) {
    fail::cfg(name, actions).unwrap_or_else(|error| panic!("{name}={actions}: {error}"));
}

/// Calls `what` whenever a thread comes by a place, for tests within one process; it waits for the call.
///
/// # Panics
/// When a test does so already.
pub fn call(name: &str, what: impl Fn() + Send + Sync + 'static) {
    fail::cfg_callback(name, what).unwrap_or_else(|error| panic!("{name}: {error}"));
}
