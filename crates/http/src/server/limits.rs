//! How long the other side may take, and how many of them there may be.

use std::time::Duration;

use crate::request::Patience;

/// The patience of one server. The times are fixed in production; tests shorten them.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Open connections at the most; the next one waits to be accepted.
    pub connections: usize,
    /// Open connections of one address at the most (IPv6: of one /64); the next one is closed. 0 is no cap.
    pub per_address: usize,
    /// Whether the cap for one address holds for this machine too, where a proxy speaks for everybody.
    pub loopback_counts: bool,
    /// For a TLS handshake.
    pub handshake: Duration,
    /// From the connection or the first byte of a request to the end of its headers.
    pub header: Duration,
    /// Between two requests. Longer than the minute for which stores keep an idle connection, so that it is they who
    /// close it and no request meets a closing door.
    pub idle: Duration,
    /// For a request with its body, until its answer begins.
    pub request: Duration,
    /// Between two pieces of a body or of an answer, and how long either may be slower than `rate`.
    pub stall: Duration,
    /// Bytes a second that whoever sends a body or takes an answer must manage.
    pub rate: u64,
}

/// File handles that a server needs besides its connections.
const OTHER_FILES: usize = 192;

impl Default for Limits {
    fn default() -> Self {
        let Patience { request, stall, rate } = Patience::default();
        Self {
            connections: 8192,
            per_address: 512,
            loopback_counts: false,
            handshake: Duration::from_secs(10),
            header: Duration::from_secs(10),
            idle: Duration::from_secs(75),
            request,
            stall,
            rate,
        }
    }
}

impl Limits {
    /// For a listener that few ask, beside the one of the server.
    #[must_use]
    pub fn few() -> Self {
        Self { connections: 64, ..Self::default() }
    }

    /// No more connections than there are file handles for them.
    #[must_use]
    pub fn within_file_limit(mut self) -> Self {
        if let Some(files) = file_limit() {
            let possible = files.saturating_sub(OTHER_FILES).max(1);
            if possible < self.connections {
                let wanted = self.connections;
                tracing::warn!(wanted, possible, "the limit of open files allows fewer connections; see ulimit -n");
                self.connections = possible;
            }
        }
        self
    }
}

/// The soft limit of open files, where the system tells it.
fn file_limit() -> Option<usize> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}
