//! An attempt to sign in, counted as a wrong one before its PIN is looked at. The rules are data, in
//! [`tillkeep_storage::attempts`].

use std::net::IpAddr;

use serde_json::json;
use tillkeep_model::permission::Requirement;
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::attempts::{self, Bucket, Decision, Kind, Taken};
use tillkeep_storage::entity::register;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
use tillkeep_storage::{DbErr, Tx, audit};
use uuid::Uuid;

use super::address::origin;
use super::{Auth, Caller, Home};
use crate::error::{Error, Result};
use crate::pins::Hashed;

/// Who tries, as far as it is known before the PIN is.
#[derive(Clone, Debug)]
pub struct Trying {
    pub address: IpAddr,
    pub store_id: Option<Uuid>,
    pub terminal_id: Option<String>,
}

impl Trying {
    /// Somebody who is signed in.
    pub fn of<P: Requirement>(caller: &Caller<P>) -> Self {
        Self { address: caller.address, store_id: caller.store_id, terminal_id: caller.terminal_id.clone() }
    }

    /// An audit entry about them.
    pub fn audit(&self, action: &'static str, user_id: Option<Uuid>) -> audit::Entry {
        audit::Entry {
            user_id,
            terminal_id: self.terminal_id.clone(),
            address: Some(self.address.to_string()),
            action,
            details: json!({"storeId": self.store_id}),
            ..audit::Entry::default()
        }
    }
}

/// An attempt that may look at its PIN. It counts as a wrong one until it is settled.
#[must_use = "an attempt that is not settled stays a wrong one"]
pub struct Attempt(Taken);

/// The buckets of a sign-in with a PIN alone. Headquarters knows no registers: there the tills of a store share one.
pub async fn terminal_buckets(auth: &Auth, store_id: Uuid, trying: &Trying) -> Result<Vec<Bucket>> {
    let mut buckets =
        vec![Bucket::new(Kind::Store, "").at(store_id), Bucket::new(Kind::PinAddress, origin(trying.address))];
    if let Some(terminal) = &trying.terminal_id {
        // Headquarters has no table of registers: there every terminal is an unknown one.
        let registered = register::Entity::find().filter(register::Column::TerminalId.eq(terminal.as_str()));
        let known = auth.home != Home::Hq && registered.count(auth.db.reader()).await? > 0;
        let bucket = if known {
            Bucket::new(Kind::Terminal, terminal.as_str())
        } else {
            // A guesser who makes up terminals gets no more tries than one of them has.
            Bucket::new(Kind::UnknownTerminals, "")
        };
        buckets.push(bucket.at(store_id));
    }
    Ok(buckets)
}

/// The bucket of a username, whether somebody has it or not. What was typed is not kept.
pub fn account_bucket(auth: &Auth, folded: &str, user_id: Option<Uuid>) -> Result<Bucket> {
    Ok(Bucket { user_id, ..Bucket::new(Kind::Account, auth.pins.keyed(folded)?) })
}

/// The bucket of PINs that somebody proposes. "Not allowed" for a PIN that is not weak means that somebody has it, so
/// that the answers to many would name them all.
pub fn proposal_bucket(user_id: Uuid) -> Bucket {
    Bucket { user_id: Some(user_id), ..Bucket::new(Kind::Proposal, user_id.to_string()) }
}

/// The buckets of a sign-in with a name.
pub fn login_buckets(auth: &Auth, folded: &str, user_id: Option<Uuid>, trying: &Trying) -> Result<Vec<Bucket>> {
    let address = Bucket::new(Kind::LoginAddress, origin(trying.address));
    Ok(vec![account_bucket(auth, folded, user_id)?, address])
}

/// Counts an attempt, or refuses it with 429 when one of its buckets is blocked.
pub async fn take(auth: &Auth, buckets: &[Bucket], trying: &Trying) -> Result<Attempt> {
    // Without the secrets no PIN can be looked at, and nobody's attempts are wasted.
    auth.pins.require_key()?;
    let now = auth.clock.now();
    if let Some(until) = attempts::known_block(auth.db.reader(), buckets, now).await? {
        return Err(too_many(until, now));
    }
    let tx = auth.db.begin_aside().await?;
    match attempts::take(&tx, buckets, now).await? {
        Decision::Go(taken) => {
            tx.commit().await?;
            Ok(Attempt(taken))
        }
        Decision::Wait(refusal) => {
            let mut new = refusal.new.iter();
            if let Some(first) = new.next() {
                // One entry for each trouble, not for each refusal: what a stranger sends must not fill the log.
                let mut entry = trying.audit("login.blocked", first.user_id);
                let kinds: Vec<&str> = refusal.new.iter().map(|bucket| bucket.kind.as_str()).collect();
                entry.details["blocked"] = json!(kinds);
                entry.details["until"] = json!(refusal.until);
                audit::record(&tx, entry, now).await?;
                tx.commit().await?;
            }
            Err(too_many(refusal.until, now))
        }
    }
}

fn too_many(until: Instant, now: Instant) -> Error {
    let seconds = u64::try_from(until.millis_since(now)).unwrap_or_default().div_ceil(1000);
    let text = format!("too many wrong attempts; try again in {seconds} s, or ask a manager to unlock it");
    Error::new(ErrorCode::TooManyAttempts, text).retry_after(seconds)
}

impl Attempt {
    /// Whether `pin` is the one in `hash`, as [`crate::pins::Pins::verify`]; an attempt whose PIN could not be looked at
    /// counts no more.
    pub async fn verify(self, auth: &Auth, pin: &str, hash: Option<String>) -> Result<(Self, bool)> {
        let verified = auth.pins.verify(pin, hash).await;
        self.unless_failed(auth, verified).await
    }

    /// The hashes of a PIN that was proposed; an attempt at which none were made counts no more.
    pub async fn hash(self, auth: &Auth, pin: &str) -> Result<Hashed> {
        let hashed = auth.pins.hash(pin).await;
        self.unless_failed(auth, hashed).await.map(|(_, hashed)| hashed)
    }

    /// Goes on with `result`, or takes the attempt back and fails.
    pub async fn unless_failed<T>(self, auth: &Auth, result: Result<T>) -> Result<(Self, T)> {
        match result {
            Ok(value) => Ok((self, value)),
            Err(error) => {
                self.withdraw(auth).await?;
                Err(error)
            }
        }
    }

    /// Nothing was learned of the PIN after all: the attempt counts no more.
    pub async fn withdraw(self, auth: &Auth) -> Result<()> {
        let now = auth.clock.now();
        let tx = auth.db.begin_aside().await?;
        attempts::withdrawn(&tx, &self.0, now).await?;
        tx.commit().await?;
        Ok(())
    }

    /// The PIN was right, in the transaction of what follows from that.
    pub async fn succeeded(&self, tx: &Tx, now: Instant) -> Result<(), DbErr> {
        attempts::succeeded(tx, &self.0, now).await
    }
}
