//! The key with which a store verifies PINs: to whom it is given, and over which line. `docs/security.md`, PINs.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use tillkeep_http::describe::Argument;
use tillkeep_http::error::Result;
use tillkeep_http::request::{Transport, is_forwarded, is_loopback};
use tillkeep_model::Instant;
use tillkeep_model::wire::{HandshakeRequest, PinKey};
use tillkeep_storage::entity::store_node;
use tillkeep_storage::{DbErr, Tx, pin_keys, staff};

use super::store_caller::StoreCaller;
use crate::Hq;

/// What is known of the line that a request came over.
pub(super) struct Line {
    /// TLS or loopback to the very store: a forwarded request is one of a proxy, and its line is not seen here.
    is_closed: bool,
}

impl Line {
    /// Whether keys may travel on it: only where no third party reads. A line through a proxy is only as good as what the operator
    /// says of it; with an https address, TLS ends there.
    pub(super) fn takes_keys(&self, hq: &Hq) -> bool {
        hq.is_behind_tls() || hq.allow_insecure || self.is_closed
    }
}

impl Argument for Line {}

impl<S: Send + Sync> FromRequestParts<S> for Line {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> std::result::Result<Self, Infallible> {
        let transport = Transport::from_request_parts(parts, state).await?;
        let is_closed = transport.tls || is_loopback(&parts.extensions);
        Ok(Self { is_closed: is_closed && !is_forwarded(&parts.headers) })
    }
}

/// What a store showed of its key, and what it gets.
pub(super) enum Shown {
    /// It has the present one, or there is none.
    Nothing { has_it: bool },
    /// It has had another form of it, or it never had one.
    Given { key: PinKey, has_had_it: bool },
    /// It was given out before, and whoever asks does not show to have had it.
    Withheld,
}

/// What a handshake shows of the store's key.
pub(super) async fn shown(
    hq: &Hq,
    caller: &StoreCaller,
    node: &store_node::Model,
    request: &HandshakeRequest,
) -> Result<Shown> {
    let (pins, id) = (&hq.auth.pins, request.pin_key_id.as_deref());
    let key = if request.own_pin_key {
        let former = pins.has_former() && staff::former_pins(hq.sync_db().reader()).await? > 0;
        pins.for_store(caller.id(), former, request.sign_in)
    } else {
        pins.for_former_store()
    };
    let Some(key) = key else { return Ok(Shown::Nothing { has_it: false }) };
    if id == Some(key.id.as_str()) {
        return Ok(Shown::Nothing { has_it: true });
    }
    let has_had_it = id.is_some_and(|id| pins.is_key_of(caller.id(), id));
    if has_had_it || pin_keys::is_given(node, caller.token_version) {
        return Ok(Shown::Given { key, has_had_it });
    }
    Ok(Shown::Withheld)
}

impl Shown {
    /// The store shows that it has its key.
    pub(super) const fn is_whole(&self) -> bool {
        matches!(self, Self::Nothing { has_it: true })
    }

    /// Notes it: a store that has its key is given it no more, and that it is asked for all the same is an alarm.
    pub(super) async fn note(&self, tx: &Tx, caller: &StoreCaller, now: Instant) -> std::result::Result<(), DbErr> {
        match self {
            Self::Nothing { has_it: true } | Self::Given { has_had_it: true, .. } => {
                pin_keys::confirmed(&**tx, caller.id(), caller.token_version).await
            }
            Self::Nothing { has_it: false } | Self::Given { has_had_it: false, .. } => Ok(()),
            Self::Withheld => {
                tracing::warn!(
                    store = caller.store.code,
                    "the key of this store's PINs was asked for again, and is withheld until an administrator allows it"
                );
                pin_keys::asked(&**tx, caller.id(), now).await
            }
        }
    }

    /// What is sent over `line`: keys only where no third party reads.
    pub(super) fn over(self, hq: &Hq, caller: &StoreCaller, line: &Line) -> Option<PinKey> {
        let Self::Given { key, .. } = self else { return None };
        if line.takes_keys(hq) {
            return Some(key);
        }
        tracing::warn!(
            store = caller.store.code,
            "the PIN key is not sent over an open line; no user can sign in at this store (see docs/configuration.md)"
        );
        None
    }
}
