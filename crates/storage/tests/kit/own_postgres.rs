//! A `PostgreSQL` server of one test's own, which it may stop and start. It keeps what it has committed, as one in
//! service does.

use std::path::PathBuf;

use super::private_postgres::{OWNER, make, pg_ctl, start, watch};

pub struct Server {
    pub url: String,
    pub(super) directory: PathBuf,
    pub(super) port: u16,
}

impl Server {
    /// A server with an empty database.
    ///
    /// # Panics
    /// When `PostgreSQL` is not installed or does not start.
    pub fn new() -> Self {
        let (directory, port) = make("");
        watch(&directory, &directory.join("running"));
        Self { url: format!("postgres://{OWNER}@127.0.0.1:{port}/{OWNER}"), directory, port }
    }

    /// Ends it as a crash would: every connection breaks off at once, and the next start recovers.
    pub fn crash(&self) {
        let stopped = pg_ctl(&self.directory.join("data")).args(["-m", "immediate", "stop"]).status();
        assert!(stopped.is_ok_and(|status| status.success()), "PostgreSQL does not stop");
    }

    /// Starts it again where it was.
    pub fn start(&self) {
        assert!(start(&self.directory, self.port, ""), "PostgreSQL does not start again");
    }
}
