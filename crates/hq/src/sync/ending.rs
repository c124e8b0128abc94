//! How the connection of a store ends, and what is said of it afterwards.

use tillkeep_model::Instant;
use tillkeep_model::wire::{Ended, close};

/// Silence after which a store has no line. Specification, section 8.
const SILENT_FOR_MS: i64 = 40_000;

/// What ended a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Headquarters closes it with this code.
    Closed(u16),
    /// No pong came for too long.
    Silent,
    /// The line is gone.
    Broken,
    /// The store closed it.
    Left,
}

impl End {
    /// The code for the other side, if it may still be there.
    pub(super) const fn code(self) -> Option<u16> {
        match self {
            Self::Closed(code) => Some(code),
            Self::Silent => Some(close::GOING_AWAY),
            Self::Broken | Self::Left => None,
        }
    }

    /// What is said of the store from then on; nothing when it is headquarters that goes away, or has a newer socket of it.
    pub(super) const fn because(self) -> Option<Ended> {
        match self {
            Self::Closed(close::GOING_AWAY | close::REPLACED) => None,
            Self::Closed(close::REVOKED) => Some(Ended::Revoked),
            Self::Left => Some(Ended::Stopped),
            Self::Closed(_) | Self::Silent | Self::Broken => Some(Ended::NoLine),
        }
    }
}

/// Why a store is not connected: what was noted when its connection ended. When headquarters was away itself nothing was,
/// and a store that is silent for as long as a connection may be has no line.
pub(super) fn ended_because(
    connected: bool,
    noted: Option<Ended>,
    last_heard_at: Option<Instant>,
    now: Instant,
) -> Option<Ended> {
    if connected {
        return None;
    }
    let is_silent = last_heard_at.is_some_and(|at| now.millis_since(at) >= SILENT_FOR_MS);
    noted.or_else(|| is_silent.then_some(Ended::NoLine))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_of_a_socket_has_its_reason() {
        for (end, code, because) in [
            (End::Closed(close::REVOKED), Some(4403), Some(Ended::Revoked)),
            (End::Closed(close::REPLACED), Some(4409), None),
            (End::Closed(close::GOING_AWAY), Some(1001), None),
            (End::Closed(close::UNREADABLE), Some(1007), Some(Ended::NoLine)),
            (End::Silent, Some(1001), Some(Ended::NoLine)),
            (End::Broken, None, Some(Ended::NoLine)),
            (End::Left, None, Some(Ended::Stopped)),
        ] {
            assert_eq!((end.code(), end.because()), (code, because), "{end:?}");
        }
    }

    #[test]
    fn a_store_that_is_not_connected_has_the_reason_that_was_noted_or_no_line_once_it_is_silent() {
        let heard = |seconds: i64| Some(Instant::default().plus_millis(-seconds * 1000));
        for (connected, noted, last_heard_at, expected) in [
            (true, None, heard(0), None),
            (true, Some(Ended::NoLine), heard(90), None),
            (false, Some(Ended::Stopped), heard(1), Some(Ended::Stopped)),
            (false, Some(Ended::Revoked), heard(9000), Some(Ended::Revoked)),
            // It never had a socket, or headquarters was restarted a moment ago.
            (false, None, heard(39), None),
            (false, None, heard(40), Some(Ended::NoLine)),
            // It was never there.
            (false, None, None, None),
        ] {
            let found = ended_because(connected, noted, last_heard_at, Instant::default());
            assert_eq!(found, expected, "{connected} {noted:?} {last_heard_at:?}");
        }
    }
}
