//! Work that may block the thread it runs on.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Runs what may block this thread for a while, so that the tasks which wait for this thread go on elsewhere.
pub(super) fn blocking<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        // The writer's thread, or a runtime of one thread, which has nothing else to go on with.
        _ => work(),
    }
}
