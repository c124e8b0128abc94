//! The words of the log, and how its statements begin.

pub const SUCCESS: &str = "success";
pub const FAILED: &str = "failed";
pub const SKIPPED: &str = "skipped";
pub const RESOLVED: &str = "resolved";
pub const RETRIED: &str = "retried";
/// The type that everything is counted under which is none of the registry's.
pub const UNKNOWN: &str = "unknown";
/// The direction of what stores send.
pub const PUSH: &str = "push";
/// The direction of what stores fetch.
pub const PULL: &str = "pull";

/// What is noted of an envelope that came again after a user had settled it.
pub(super) const SETTLED_BEFORE: &str = "a user had settled this envelope before it came again";

/// How the note begins of an envelope of which nothing was taken; a macro, as statements that are constants name it too.
macro_rules! nothing_taken {
    () => {
        "nothing of it was taken"
    };
}
pub(crate) use nothing_taken;

/// What is noted of an envelope that was looked at column by column, and of which nothing was taken.
pub(super) const NOTHING_NEW: &str =
    concat!(nothing_taken!(), ": headquarters has the same, or it is not the store's to say");

/// How the counters are written.
pub(super) const STATUS_INSERT: &str = "INSERT INTO sync_status (store_id, entity_type, direction, last_success_at, \
     last_error_at, last_error, pending_count, pending_bytes, total_pushed, total_pulled, last_since_version)";
