//! A store takes over the token that replaced its own, by itself, within the grace of that one: once, in a handshake that goes on
//! from where the store was. `docs/security.md`, "A rotated token".

use serde_json::json;
use tillkeep_http::error::Result;
use tillkeep_model::Instant;
use tillkeep_model::wire::HandshakeRequest;
use tillkeep_storage::{DbErr, Tx, audit};
use uuid::Uuid;

use super::continuity::Continuity;
use super::standing::{Grace, grace_to_change, keep_grace, sign};
use super::store_caller::StoreCaller;
use crate::Hq;

/// Whether headquarters knows the process that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Process {
    /// It presents the answer that it was given last.
    Known,
    /// It was given none yet, as after its start: its next handshake says more.
    New,
    /// Another one runs beside it, or its word comes late.
    Doubtful,
}

impl Process {
    /// After the process was heard.
    pub(super) fn judge(hq: &Hq, store_id: Uuid, request: &HandshakeRequest, late: bool) -> Self {
        let Some(instance) = request.instance else { return Self::Doubtful };
        if late || hq.copies.running_twice(store_id, hq.shared_now()).is_some() {
            return Self::Doubtful;
        }
        let expected = |nonce| hq.copies.with(store_id, |own| own.expects(instance, Some(nonce)));
        if request.nonce.is_some_and(expected) { Self::Known } else { Self::New }
    }
}

/// What a handshake shows of who asks, besides its ticket.
#[derive(Clone, Copy)]
pub(super) struct Proof {
    pub process: Process,
    /// It has the key of the store's PINs, over a line on which keys travel.
    pub key: bool,
}

/// Whose token was presented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presented {
    Successor,
    /// The one that was replaced; whether the store takes its successor.
    Replaced {
        asks: bool,
    },
}

/// What is shown by a ticket, a process and a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    All,
    /// All but the process, which is new.
    AllButProcess,
    Less,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Nothing,
    /// Nobody gets it any more.
    Ends,
    Waits,
    Gives,
    Refuses,
}

/// What follows when the handover is `over` or not, and another installation than before speaks, which `breaks` it.
const fn step(presented: Presented, over: bool, breaks: bool, shown: Shown) -> Step {
    match (presented, over, breaks) {
        (Presented::Successor, false, _) | (Presented::Replaced { asks: false }, false, true) => Step::Ends,
        (Presented::Successor | Presented::Replaced { asks: false }, _, _) => Step::Nothing,
        (Presented::Replaced { asks: true }, true, _) | (Presented::Replaced { asks: true }, _, true) => Step::Refuses,
        (Presented::Replaced { asks: true }, false, false) => match shown {
            Shown::All => Step::Gives,
            Shown::AllButProcess => Step::Waits,
            Shown::Less => Step::Nothing,
        },
    }
}

/// What comes of it, with the version of the successor.
pub(super) enum Handover {
    Nothing,
    Waits,
    Given {
        token: String,
        version: i32,
    },
    /// It is refused for the first time.
    Refused {
        version: i32,
    },
}

impl Handover {
    /// Judges a handshake, and notes what was given, so that it is given once.
    pub(super) async fn settle(
        hq: &Hq,
        tx: &Tx,
        (caller, request): (&StoreCaller, &HandshakeRequest),
        continuity: &Continuity,
        (late, proof): (bool, Proof),
    ) -> Result<Self> {
        let (store_id, now) = (caller.id(), hq.clock.now());
        let Some(Grace { tv, until, handover: Some(mut handover) }) = grace_to_change(tx, store_id).await? else {
            return Ok(Self::Nothing);
        };
        let presented = match caller.token_version {
            version if version == handover.next => Presented::Successor,
            version if version == tv && now < until => Presented::Replaced { asks: request.takes_token },
            _ => return Ok(Self::Nothing),
        };
        if late {
            // It says what was so before, or its last answer was lost and the token with it: the next handshake shows which.
            let asks = matches!(presented, Presented::Replaced { asks: true }) && handover.refused_at.is_none();
            return Ok(if asks { Self::Waits } else { Self::Nothing });
        }
        let shown = match proof.process {
            Process::Known if proof.key && continuity.goes_on() => Shown::All,
            Process::New if proof.key && continuity.goes_on() => Shown::AllButProcess,
            _ => Shown::Less,
        };
        let (version, is_over) = (handover.next, handover.over_at.is_some());
        let step = step(presented, is_over, continuity.is_other_installation(), shown);
        let was_refused = handover.refused_at.is_some();
        let settled = match step {
            Step::Nothing => return Ok(Self::Nothing),
            Step::Waits => return Ok(Self::Waits),
            Step::Ends => Self::Nothing,
            Step::Gives => Self::Given { token: sign(hq, &caller.store, version, now)?, version },
            Step::Refuses if was_refused => return Ok(Self::Nothing),
            Step::Refuses => Self::Refused { version },
        };
        handover.over_at.get_or_insert(now);
        if step == Step::Refuses {
            handover.refused_at = Some(now);
        }
        keep_grace(tx, store_id, Grace { tv, until, handover: Some(handover) }).await?;
        Ok(settled)
    }

    /// The lines of the audit log; the last that is written.
    pub(super) async fn note(&self, tx: &Tx, caller: &StoreCaller, now: Instant) -> std::result::Result<(), DbErr> {
        let code = &caller.store.code;
        let (action, version) = match self {
            Self::Nothing | Self::Waits => return Ok(()),
            Self::Given { version, .. } => {
                tracing::info!(store = code, version, "this store takes over the sync token that replaced its own");
                ("store.token_given", version)
            }
            Self::Refused { version } => {
                tracing::error!(
                    store = code,
                    version,
                    "the sync token that replaced the one of this store was asked for once more than it is given, or by another \
                     installation: nothing is given; somebody may have a copy of the store"
                );
                ("store.token_asked_again", version)
            }
        };
        let entry = audit::Entry {
            action,
            entity_type: Some("stores"),
            entity_id: Some(caller.id().to_string()),
            details: json!({"by": "store", "tokenVersion": version}),
            ..audit::Entry::default()
        };
        audit::record(tx, entry, now).await
    }

    /// Whether the next handshake of this process may be given it.
    pub(super) const fn waits(&self) -> bool {
        matches!(self, Self::Waits)
    }

    /// What the store gets.
    pub(super) fn token(self) -> Option<String> {
        match self {
            Self::Given { token, .. } => Some(token),
            Self::Nothing | Self::Waits | Self::Refused { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKS: Presented = Presented::Replaced { asks: true };
    const SILENT: Presented = Presented::Replaced { asks: false };

    #[test]
    fn a_successor_is_given_once_and_only_to_who_shows_everything() {
        assert_eq!(step(ASKS, false, false, Shown::All), Step::Gives);
        assert_eq!(step(ASKS, false, false, Shown::AllButProcess), Step::Waits);
        assert_eq!(step(ASKS, false, false, Shown::Less), Step::Nothing, "whoever has the token alone");
        for shown in [Shown::All, Shown::AllButProcess, Shown::Less] {
            assert_eq!(step(ASKS, true, false, shown), Step::Refuses, "a second asking, {shown:?}");
            for over in [false, true] {
                assert_eq!(step(ASKS, over, true, shown), Step::Refuses, "another installation, {shown:?}");
            }
        }
    }

    #[test]
    fn who_comes_with_the_successor_or_as_another_installation_ends_the_handover() {
        for shown in [Shown::All, Shown::Less] {
            for breaks in [false, true] {
                assert_eq!(step(Presented::Successor, false, breaks, shown), Step::Ends);
                assert_eq!(step(Presented::Successor, true, breaks, shown), Step::Nothing);
                assert_eq!(step(SILENT, true, breaks, shown), Step::Nothing);
            }
            assert_eq!(step(SILENT, false, true, shown), Step::Ends, "a store of an earlier release");
            assert_eq!(step(SILENT, false, false, shown), Step::Nothing);
        }
    }
}
