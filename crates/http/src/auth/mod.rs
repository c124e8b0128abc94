//! Who calls, and what they may. Specification, sections 4.1, 4.2 and 5; the same on both servers.

mod access;
mod address;
pub mod asked;
mod audited_tx;
mod by_pin;
mod caller;
pub mod device;
pub(crate) mod factor_uses;
pub mod first_pins;
pub mod found;
mod fresh;
pub mod housekeeping;
mod last_used;
pub mod new_pin;
pub mod people;
pub(crate) mod places;
mod sessions;
mod settings;
pub mod throttle;
pub(crate) mod verified;

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use ipnet::IpNet;
use serde_json::json;
use tillkeep_model::wire::{StoreSignIn, StoreSignedIn};
use tillkeep_model::{Alarm, ErrorCode, Instant};
use tillkeep_storage::attempts::Judge;
use tillkeep_storage::entity::user;
use tillkeep_storage::{Change, Db, DbErr, Tx, audit};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

pub use access::{Access, AccessCache, Assignment};
pub(crate) use access::{is_active, is_outlived};
pub use address::client_address;
use address::is_from_proxy;
pub use audited_tx::AuditedTx;
pub use by_pin::user_of_pin;
pub use caller::{Caller, bearer};
pub use device::{Device, Origin};
pub(crate) use factor_uses::FactorUses;
pub(crate) use fresh::fresh_until;
pub(crate) use sessions::State;
pub use sessions::{REPLACED, Replaced, Revocation, Sessions};
pub use settings::{PinLogin, SecondFactor, SignInSettings};

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::pins::{self, Pins};
use crate::refusals::{Counted, Refused};
use crate::running::Running;
use crate::tokens::Tokens;
use crate::turns::Turns;

/// Which server this is, for the rules that differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    Hq,
    /// A store: people sign in here for this store alone.
    Store(Uuid),
}

/// Everything that decides who may do what on one server.
pub struct Auth {
    pub(crate) db: Db,
    pub home: Home,
    pub tokens: Tokens,
    pub pins: Pins,
    pub clock: Clock,
    pub access: AccessCache,
    pub sessions: Sessions,
    /// Requests with a key that are being answered.
    pub running: Running,
    /// Files that are being taken.
    pub(crate) tables: Turns,
    /// Attempts to sign in that are not judged yet.
    pub(crate) under_way: throttle::UnderWay,
    refusals: Counted,
    /// Cancelled when balancers are to send nothing more to this server, which goes on answering for a while.
    pub leaving: CancellationToken,
    /// Digits of a new PIN at the least.
    pub pin_min_length: usize,
    /// The same of a user who may do more than work at a till.
    pub pin_min_length_beyond_a_till: usize,
    /// How long a PIN lasts that was made for a user and is not changed; `None` is for ever.
    pub(crate) first_pin_ms: Option<i64>,
    /// Whether a PIN alone is taken from enrolled tills only.
    pub enrolled_only: bool,
    /// Whom headquarters looks up by a PIN alone.
    pub pin_login_at_hq: PinLogin,
    /// Who shows a second factor; at a store no user.
    pub second_factor: SecondFactor,
    /// How browsers reach headquarters.
    pub public_url: Option<String>,
    pub(crate) factor_uses: Arc<FactorUses>,
    /// For how many days a store keeps what verifies a user of whom it asked headquarters.
    pub keep_verifier_days: i64,
    trusted_proxies: Vec<IpNet>,
    /// What the server does after a commit: HQ tells its stores of what changed.
    on_commit: OnceLock<OnCommit>,
    /// What the server does when sessions end: HQ tells its other servers.
    on_ended: OnceLock<OnEnded>,
    are_followed: OnceLock<AreFollowed>,
    /// At a store.
    headquarters: OnceLock<Arc<dyn Headquarters>>,
}

/// Headquarters, as a store reaches it for its people.
pub trait Headquarters: Send + Sync {
    /// Whether headquarters answered when it was last asked.
    fn is_there(&self) -> bool;
    /// When it answered last, since this server runs.
    fn heard_at(&self) -> Option<Instant>;
    /// Changes the PIN of a user who typed the present one; without a new one, only how headquarters keeps it.
    fn change_pin(&self, user_id: Uuid, current: String, new: Option<String>) -> Asking<'_>;
    /// The user whom this server does not know, as they are here, with what verifies the PIN from then on; `None` when
    /// headquarters does not say so, for whatever reason.
    fn sign_in(&self, asked: StoreSignIn) -> Knowing<'_>;
}

/// A question to headquarters who a user is.
pub type Knowing<'a> = Pin<Box<dyn Future<Output = Option<(user::Model, StoreSignedIn)>> + Send + 'a>>;

/// A question to headquarters that is being answered.
pub type Asking<'a> = Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>>;

type OnCommit = Box<dyn Fn(Option<&[Change]>) + Send + Sync>;
type AreFollowed = Box<dyn Fn() -> bool + Send + Sync>;
type OnEnded = Box<dyn Fn() + Send + Sync>;

/// The answer of a store without a line to what only headquarters can do.
pub fn hq_unreachable() -> Error {
    let text = "headquarters cannot be reached now; try again when there is a line";
    Error::new(ErrorCode::HqUnreachable, text).retry_after(30)
}

/// The state of a server that people sign in to.
pub trait HasAuth: Send + Sync {
    fn auth(&self) -> &Arc<Auth>;

    /// What is wrong with this server though it works.
    fn alarms(&self) -> Vec<Alarm> {
        Vec::new()
    }
}

impl<T: HasAuth> HasAuth for Arc<T> {
    fn auth(&self) -> &Arc<Auth> {
        (**self).auth()
    }

    fn alarms(&self) -> Vec<Alarm> {
        (**self).alarms()
    }
}

/// Hands [`Auth`] to the handlers that sign people in.
pub struct Gate(pub Arc<Auth>);

impl<S: HasAuth> FromRequestParts<S> for Gate {
    type Rejection = Infallible;

    async fn from_request_parts(_: &mut Parts, state: &S) -> std::result::Result<Self, Infallible> {
        Ok(Self(state.auth().clone()))
    }
}

/// The address a request comes from, as [`client_address`] finds it.
pub struct ClientAddress(pub IpAddr);

impl<S: HasAuth> FromRequestParts<S> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> std::result::Result<Self, Infallible> {
        Ok(Self(state.auth().client_address(parts)))
    }
}

impl Auth {
    pub fn new(db: Db, home: Home, tokens: Tokens, pins: Pins, clock: Clock, settings: &SignInSettings) -> Arc<Self> {
        Arc::new(Self {
            on_commit: OnceLock::new(),
            on_ended: OnceLock::new(),
            are_followed: OnceLock::new(),
            headquarters: OnceLock::new(),
            pin_min_length: settings.pin_min_length.clamp(pins::SHORTEST, pins::LONGEST),
            pin_min_length_beyond_a_till: settings
                .pin_min_length_beyond_a_till
                .clamp(settings.pin_min_length.clamp(pins::SHORTEST, pins::LONGEST), pins::LONGEST),
            first_pin_ms: (settings.first_pin_days > 0).then_some(i64::from(settings.first_pin_days) * 24 * 3_600_000),
            enrolled_only: settings.enrolled_only,
            pin_login_at_hq: settings.pin_login_at_hq,
            second_factor: if home == Home::Hq { settings.second_factor } else { SecondFactor::Off },
            public_url: settings.public_url.clone(),
            factor_uses: Arc::new(FactorUses::new(settings.factor_uses.clone())),
            keep_verifier_days: settings.keep_verifier_days,
            trusted_proxies: settings.trusted_proxies.clone(),
            sessions: Sessions::default(),
            running: Running::default(),
            tables: Turns::default(),
            access: AccessCache::default(),
            under_way: throttle::UnderWay::new(&db, settings.waits_for_others),
            refusals: Counted::default(),
            leaving: CancellationToken::new(),
            db,
            home,
            tokens,
            pins,
            clock,
        })
    }

    /// Where a request comes from, behind the proxies that this server trusts.
    pub fn client_address(&self, parts: &Parts) -> IpAddr {
        client_address(parts, &self.trusted_proxies)
    }

    /// Whether a request comes from one of the proxies that this server trusts.
    pub fn is_from_proxy(&self, parts: &Parts) -> bool {
        is_from_proxy(parts, &self.trusted_proxies)
    }

    /// The store a sign-in at this server counts in, when the caller names none.
    pub const fn home_store(&self) -> Option<Uuid> {
        match self.home {
            Home::Hq => None,
            Home::Store(id) => Some(id),
        }
    }

    /// Says once what follows a commit, with what changed of the synchronised types; `None` after one that was answered with an
    /// error and may be done all the same.
    pub fn when_committed(&self, announce: impl Fn(Option<&[Change]>) + Send + Sync + 'static) {
        if self.on_commit.set(Box::new(announce)).is_err() {
            tracing::error!("what follows a commit was said twice; the first one holds");
        }
    }

    /// Says once what follows the end of sessions.
    pub fn when_sessions_end(&self, tell: impl Fn() + Send + Sync + 'static) {
        if self.on_ended.set(Box::new(tell)).is_err() {
            tracing::error!("what follows the end of sessions was said twice; the first one holds");
        }
    }

    /// Says once how it is known that what other servers changed is known here.
    pub fn when_others_are_followed(&self, are: impl Fn() -> bool + Send + Sync + 'static) {
        if self.are_followed.set(Box::new(are)).is_err() {
            tracing::error!("how other servers are followed was said twice; the first one holds");
        }
    }

    /// What a user holds now: from memory, unless another server may have changed it unnoticed.
    pub async fn access_of(&self, user_id: Uuid) -> std::result::Result<Option<Arc<Access>>, DbErr> {
        if self.are_followed.get().is_some_and(|are_followed| !are_followed()) {
            self.invalidate();
        }
        self.access.get(&self.db, user_id).await
    }

    /// As [`Auth::access_of`], for whoever has this session: read again where what is in memory would end it and is older, and
    /// no more than the session opens.
    pub async fn access_in(&self, session: &State) -> std::result::Result<Option<Arc<Access>>, DbErr> {
        let access = self.access_of(session.user_id).await?;
        let access = if access.as_deref().is_none_or(|access| !access.is_older_than(session)) {
            access
        } else {
            self.access.get_unless(&self.db, session.user_id, |kept| kept.is_older_than(session)).await?
        };
        Ok(access.map(|access| self.opened_by(session, access)))
    }

    /// The end of sessions that was committed is in force: here on the next request, at other servers as soon as they hear.
    pub fn ended(&self, which: Revocation) {
        self.sessions.ended(which);
        if let Some(tell) = self.on_ended.get() {
            tell();
        }
    }

    /// Says once how a store reaches headquarters.
    pub fn reaches(&self, headquarters: Arc<dyn Headquarters>) {
        if self.headquarters.set(headquarters).is_err() {
            tracing::error!("how headquarters is reached was said twice; the first way holds");
        }
    }

    /// Headquarters, for what only it can do; 503 where there is no way to it.
    pub fn headquarters(&self) -> Result<&Arc<dyn Headquarters>> {
        self.headquarters.get().ok_or_else(hq_unreachable)
    }

    /// Whether a user has to change their PIN before anything else: where they can, which is at headquarters, and at a
    /// store with a line for whoever holds no more than runs one.
    pub fn must_change_pin(&self, access: &Access) -> bool {
        let is_there = || self.headquarters.get().is_some_and(|headquarters| headquarters.is_there());
        let can = self.home == Home::Hq || (!access.holds_beyond_a_store() && is_there());
        access.user.must_change_pin && can
    }

    /// Commits, and makes what changed of the synchronised types known, here and to whoever pulls it.
    pub async fn commit(&self, tx: Tx) -> std::result::Result<(), DbErr> {
        let committed = tx.commit().await;
        if let Some(announce) = self.on_commit.get() {
            announce(committed.as_deref().ok());
        }
        committed.map(drop)
    }

    /// Appends `entry` to the audit log beside the request that is answered, and without its key.
    pub(crate) async fn note(&self, entry: audit::Entry) -> std::result::Result<(), DbErr> {
        let tx = self.db.begin_aside().await?;
        audit::record(&tx, entry, self.clock.now()).await?;
        tx.commit().await.map(drop)
    }

    /// Puts a caller who asked for more than they have into the audit log, beside the answer: each is counted, and
    /// noted once a minute.
    pub(crate) fn note_refusal(self: Arc<Self>, code: ErrorCode, text: &str, entry: audit::Entry) {
        let Some(person) = entry.user_id else { return };
        let refused = Refused { code, text: text.to_owned(), entry, count: 1 };
        if let Some(due) = self.refusals.add(person, refused, self.clock.now()) {
            tokio::spawn(async move { self.note_refused(due).await });
        }
    }

    /// Notes the refusals that wait for it, as many as there are of a person in one line; all of them when the server `stops`.
    pub async fn note_refusals(&self, stops: bool) {
        for due in self.refusals.due(self.clock.now(), stops) {
            self.note_refused(due).await;
        }
    }

    async fn note_refused(&self, refused: Refused) {
        let Refused { code, text, mut entry, count } = refused;
        entry.details = json!({"code": code.as_str(), "refusal": text, "count": count});
        if let Err(error) = self.note(entry).await {
            tracing::warn!(%error, count, "refusals could not be noted in the audit log");
        }
    }

    /// How long a session lasts after its sign-in, however often it is refreshed. A store that has not heard headquarters for a
    /// week may not know who was sent home since.
    pub fn longest_session_ms(&self) -> i64 {
        const DAY: i64 = 24 * 3600 * 1000;
        let heard = self.headquarters.get().and_then(|headquarters| headquarters.heard_at());
        let lately = heard.is_some_and(|at| self.clock.now().millis_since(at) < 7 * DAY);
        if self.home == Home::Hq || lately { 30 * DAY } else { 7 * DAY }
    }

    /// The run of this server, as the attempts that it judges name it.
    pub const fn judge(&self) -> Judge {
        self.under_way.judge()
    }

    /// Forgets what is cached of people and permissions: to be called after a change of either was committed.
    pub fn invalidate(&self) {
        self.access.clear();
    }
}
