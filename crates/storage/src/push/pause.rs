//! Room for others between two pieces of long work.

/// Between two pieces of long work others get their turn on the thread.
#[derive(Default)]
pub(super) struct Pause(usize);

impl Pause {
    /// So many bytes that are read without a pause.
    const EACH: usize = 1 << 20;

    pub(super) async fn after(&mut self, bytes: usize) {
        self.0 += bytes;
        if self.0 > Self::EACH {
            self.0 = 0;
            tokio::task::yield_now().await;
        }
    }
}
