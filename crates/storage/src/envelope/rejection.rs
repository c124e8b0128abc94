//! An envelope that was refused, as the log keeps it.

use tillkeep_model::Instant;
use tillkeep_model::wire::PushResult;

/// What the log keeps of an envelope that was refused.
#[derive(Clone, Debug)]
pub struct LoggedEnvelope {
    /// All of it, when it can be tried again.
    pub envelope: Option<String>,
    /// Else how it begins.
    pub beginning: Option<String>,
    pub length: usize,
}

impl LoggedEnvelope {
    pub(crate) fn bytes(&self) -> i64 {
        let text = self.envelope.as_ref().or(self.beginning.as_ref());
        i64::try_from(text.map_or(0, String::len)).unwrap_or(i64::MAX)
    }
}

/// An envelope that was refused before or instead of being applied.
#[derive(Clone, Debug)]
pub struct Rejection {
    pub result: PushResult,
    pub action: String,
    pub hash: String,
    pub kept: LoggedEnvelope,
    /// Its own time, where that could be read.
    pub envelope_at: Option<Instant>,
    pub seq: Option<i64>,
    pub node_epoch: Option<String>,
}

/// Text of a sender for a column of the log, which keeps neither a NUL nor what is too long for an index.
pub(crate) fn tidy(text: &str) -> String {
    text.chars().filter(|letter| *letter != '\0').take(100).collect()
}

/// Letters of an error that are kept and answered: what a user reads, however much of what it was sent it repeats.
const ERROR: usize = 400;

/// An error as it is kept and answered.
pub(crate) fn clip(error: &str) -> String {
    let mut letters = error.chars().filter(|letter| *letter != '\0');
    let mut text: String = letters.by_ref().take(ERROR).collect();
    if letters.next().is_some() {
        text.push('…');
    }
    text
}
