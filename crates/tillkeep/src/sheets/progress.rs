//! How far a file is, for who watches: on a terminal, and nowhere else.

use std::io::{IsTerminal, Write, stderr};

/// Bytes after which it is said again.
const STEP: u64 = 256 << 10;
const TO_THE_BEGINNING: &str = "\r\x1b[2K";

pub struct Progress {
    doing: &'static str,
    whole: Option<u64>,
    done: u64,
    said: u64,
    is_watched: bool,
}

impl Progress {
    /// Of what has so many bytes, where that is known.
    pub fn of(doing: &'static str, whole: Option<u64>) -> Self {
        Self { doing, whole, done: 0, said: 0, is_watched: stderr().is_terminal() }
    }

    /// So many bytes more.
    pub fn add(&mut self, bytes: usize) {
        self.done += bytes as u64;
        if self.is_watched && self.done - self.said >= STEP {
            self.said = self.done;
            let of = self.whole.map(|whole| format!(" of {}", whole >> 10)).unwrap_or_default();
            write(&format!("{TO_THE_BEGINNING}{} {}{of} KiB", self.doing, self.done >> 10));
        }
    }

    /// The bytes so far.
    pub const fn done(&self) -> u64 {
        self.done
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.said > 0 {
            write(TO_THE_BEGINNING);
        }
    }
}

/// A terminal that has gone misses nothing.
fn write(text: &str) {
    let mut terminal = stderr().lock();
    let written = terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush());
    if let Err(error) = written {
        tracing::debug!(%error, "progress is not shown");
    }
}
