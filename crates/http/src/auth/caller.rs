//! The caller of a request: token verified, session alive, permission held. The only way from a handler to the
//! database leads through it: to read by [`Caller::reader`] and [`Caller::snapshot`], to write by [`Caller::begin`].

use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use tillkeep_model::permission::Requirement;
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::{Connection, DbErr, Transaction, audit, idempotency};
use uuid::Uuid;

use super::{Access, AuditedTx, Auth, HasAuth, Home, device};
use crate::costs;
use crate::error::{Error, Result};
use crate::parameters;
use crate::refusals;
use crate::request::Guest;

/// A user who holds one of the codes of `P`.
pub struct Caller<P> {
    pub user_id: Uuid,
    pub session_id: Uuid,
    /// The store of the token, when the sign-in was for one.
    pub store_id: Option<Uuid>,
    pub terminal_id: Option<String>,
    /// The known place of a session of headquarters.
    pub(crate) place: Option<Uuid>,
    pub access: Arc<Access>,
    /// Whether the session began with a PIN and nothing else that the person has.
    pub(crate) by_pin_alone: bool,
    /// When the second factor of this session was shown last, as far as this server knows.
    pub factor_at: Option<Instant>,
    /// Where the request came from.
    pub address: IpAddr,
    auth: Arc<Auth>,
    requirement: PhantomData<fn() -> P>,
}

impl<P: Requirement> Caller<P> {
    /// For a single statement that needs no snapshot with others.
    pub fn reader(&self) -> &Connection {
        self.auth.db.reader()
    }

    /// Several reads of one moment.
    pub async fn snapshot(&self) -> Result<Transaction, DbErr> {
        self.auth.db.snapshot().await
    }

    /// Begins what the caller does.
    pub async fn begin(&self) -> Result<AuditedTx, DbErr> {
        Ok(AuditedTx::new(self.auth.db.begin().await?, self.auth.clone()))
    }

    /// As [`Caller::begin`], for what is noted beside the thing that was asked for: the key of the request does not go with
    /// it.
    pub async fn begin_aside(&self) -> Result<AuditedTx, DbErr> {
        Ok(AuditedTx::new(self.auth.db.begin_aside().await?, self.auth.clone()))
    }

    /// Writes the key of a request whose work went [aside](idempotency::aside), when all of it is there.
    pub async fn finish(&self) -> Result<(), DbErr> {
        idempotency::done(&self.auth.db).await
    }

    pub fn auth(&self) -> &Arc<Auth> {
        &self.auth
    }

    pub fn now(&self) -> tillkeep_model::Instant {
        self.auth.clock.now()
    }

    pub fn name(&self) -> &str {
        &self.access.user.display_name
    }

    /// Whoever holds `token` now: verified, the session alive, the permission held. Costs no query unless something of it
    /// changed.
    pub async fn from_token(auth: Arc<Auth>, token: &str, address: IpAddr) -> Result<Self> {
        let claims = auth.tokens.access(token, auth.clock.now()).ok_or_else(Error::unauthorized)?;
        let session = auth.sessions.get(&auth.db, claims.sid).await?;
        let session = session.filter(|session| !session.revoked && session.user_id == claims.user_id);
        let session = session.ok_or_else(Error::unauthorized)?;
        let access = auth.access_in(&session).await?.ok_or_else(Error::unauthorized)?;
        if access.ends(&session) {
            return Err(Error::unauthorized());
        }
        auth.sessions.used(claims.sid, auth.clock.now());
        let (watching, entry) = (
            auth.clone(),
            audit::Entry {
                user_id: Some(claims.user_id),
                terminal_id: claims.terminal_id.clone(),
                address: Some(address.to_string()),
                action: "refused",
                ..audit::Entry::default()
            },
        );
        refusals::watch(move |code, text| watching.note_refusal(code, text, entry));
        if auth.enrolled_only && !P::AT_STRANGE_DEVICES && !session.is_at_a_device() {
            return Err(device::unknown());
        }
        let required = P::any_of();
        // Without a line that is impossible: then the till goes on.
        if !P::BEFORE_PIN_CHANGE && auth.must_change_pin(&access) {
            let text = "this PIN was made for you by headquarters: choose your own first, in the browser at headquarters or here, with \
                        POST /api/v1/auth/change-pin {currentPin, newPin}";
            return Err(Error::new(ErrorCode::MustChangePin, text));
        }
        if !P::BEFORE_FACTOR && auth.lacks_factor(&access) {
            let text = "this account must have a second factor: set one up first, at headquarters on the page of your account or with \
                        POST /api/v1/auth/factors/totp";
            return Err(Error::new(ErrorCode::SecondFactorMissing, text));
        }
        if !access.may(&required, claims.store_id) {
            return Err(Error::forbidden(&required));
        }
        if P::FRESH {
            auth.require_fresh(claims.sid, session.factor_at).await?;
        }
        costs::show(access.may(&costs::CODES, claims.store_id));
        Ok(Self {
            user_id: claims.user_id,
            session_id: claims.sid,
            store_id: claims.store_id,
            terminal_id: claims.terminal_id,
            place: session.device_id.filter(|_| auth.home == Home::Hq),
            access,
            by_pin_alone: session.by_pin_alone,
            factor_at: session.factor_at,
            address,
            auth,
            requirement: PhantomData,
        })
    }

    /// Whether one of `required` is held where this token counts.
    pub fn may(&self, required: &[&str]) -> bool {
        self.access.may(required, self.store_id)
    }

    /// Refuses a route about one store to a caller who does not hold its permission there.
    pub fn at_store(&self, store_id: Uuid) -> Result<()> {
        let here = self.store_id.is_none_or(|own| own == store_id);
        if here && self.access.may(&P::any_of(), Some(store_id)) {
            return Ok(());
        }
        Err(Error::new(ErrorCode::Scope, "this is outside of the stores you may act in"))
    }

    /// Refuses what concerns all that this server is about (every store at headquarters, the one store at a store) to
    /// a caller who holds its permission in some stores only.
    pub fn everywhere(&self) -> Result<()> {
        match self.auth.home {
            Home::Store(own) => self.at_store(own),
            Home::Hq if self.stores().is_none() => Ok(()),
            Home::Hq => {
                Err(Error::new(ErrorCode::Scope, "this concerns every store, and you may act in some of them only"))
            }
        }
    }

    /// The stores where the permission of this route is held; `None` is all of them.
    pub fn stores(&self) -> Option<BTreeSet<Uuid>> {
        self.access.stores(&P::any_of(), self.store_id)
    }

    /// An audit entry of this caller.
    pub fn audit(&self, action: &'static str) -> audit::Entry {
        audit::Entry {
            user_id: Some(self.user_id),
            terminal_id: self.terminal_id.clone(),
            address: Some(self.address.to_string()),
            action,
            ..audit::Entry::default()
        }
    }
}

/// The bearer token of a request.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim()).filter(|token| !token.is_empty())
}

impl<S, P> FromRequestParts<S> for Caller<P>
where
    S: HasAuth,
    P: Requirement,
{
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let auth = state.auth().clone();
        let address = auth.client_address(parts);
        let token = bearer(&parts.headers).ok_or_else(Error::unauthorized)?;
        let caller = Self::from_token(auth, token, address).await?;
        Guest::is_known(&parts.extensions);
        parameters::check(parts)?;
        Ok(caller)
    }
}
