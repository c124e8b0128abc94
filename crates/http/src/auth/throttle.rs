//! An attempt to sign in, counted as a wrong one before its PIN is looked at. The rules are data, in
//! [`tillkeep_storage::attempts`].

use std::net::IpAddr;
use std::time::{Duration, Instant as Moment};

use serde_json::json;
use tillkeep_model::permission::Requirement;
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::attempts::{self, Bucket, Decision, Judge, Kind, Look, Taken};
use tillkeep_storage::{Db, DbErr, Tx, audit};
use tokio::sync::{Notify, Semaphore};
use tokio::time::timeout;
use uuid::Uuid;

use super::address::origin;
use super::{Auth, Caller, Device, Home, Origin};
use crate::error::{Error, Result};
use crate::pins::Hashed;

/// A place where a user signed in before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KnownPlace {
    pub id: Uuid,
    /// Its user; where a PIN alone is typed, who answers for them.
    pub user_id: Uuid,
}

/// Who claims to be a user, as far as that is known before the PIN is.
#[derive(Clone, Debug)]
pub struct Claimant {
    pub address: IpAddr,
    /// The enrolled till where it is typed.
    pub device: Option<Device>,
    /// At headquarters: of the key that a browser showed, and what is known of it.
    pub(crate) browser: Option<String>,
    pub(crate) known: Option<KnownPlace>,
    /// Of a user who is signed in.
    session: Option<Uuid>,
    /// At headquarters: whether a user signed in from this address before.
    pub(crate) is_known_address: bool,
    pub store_id: Option<Uuid>,
    pub terminal_id: Option<String>,
}

impl Claimant {
    /// A stranger at `from` who is not signed in.
    pub fn at(from: Origin, store_id: Option<Uuid>, terminal_id: Option<String>) -> Self {
        Self { device: from.device, browser: from.browser, store_id, terminal_id, ..Self::from_address(from.address) }
    }

    /// A person at a store, which passes on what they typed.
    pub fn through(store_id: Uuid, address: IpAddr) -> Self {
        Self { store_id: Some(store_id), ..Self::from_address(address) }
    }

    fn from_address(address: IpAddr) -> Self {
        Self {
            address,
            device: None,
            browser: None,
            known: None,
            session: None,
            is_known_address: false,
            store_id: None,
            terminal_id: None,
        }
    }

    /// A user who is signed in.
    pub fn new<P: Requirement>(caller: &Caller<P>) -> Self {
        let (store_id, terminal_id) = (caller.store_id, caller.terminal_id.clone());
        let known = caller.place.map(|id| KnownPlace { id, user_id: caller.user_id });
        Self { known, session: Some(caller.session_id), store_id, terminal_id, ..Self::from_address(caller.address) }
    }

    /// What is counted by itself: an enrolled till, a known browser or a session.
    fn by_itself(&self) -> Option<Uuid> {
        let till = self.device.as_ref().map(|device| device.id);
        till.or(self.known.map(|place| place.id)).or(self.session)
    }

    /// That, else the address.
    fn origin(&self) -> String {
        self.by_itself().map_or_else(|| origin(self.address), |id| id.to_string())
    }

    /// The bucket of an enrolled till, else that of its address by the kind `unknown`.
    fn bucket(&self, unknown: Kind) -> Bucket {
        let kind = if self.device.is_some() { Kind::Device } else { unknown };
        Bucket { store_id: self.store_id, ..Bucket::new(kind, self.origin()) }
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

/// What another server judges is looked for this often.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// Attempts that wait at once. A flood gets its refusals at once, and costs no more than these.
const WAITING: usize = 32;

/// The attempts at this server that are not judged yet, and those that wait for them.
pub struct UnderWay {
    judge: Judge,
    judged: Notify,
    places: Semaphore,
    longest_wait: Duration,
}

impl UnderWay {
    pub fn new(db: &Db, longest_wait: Duration) -> Self {
        Self { judge: Judge::new(db), judged: Notify::new(), places: Semaphore::new(WAITING), longest_wait }
    }

    /// The run of this server.
    pub const fn judge(&self) -> Judge {
        self.judge
    }
}

/// An attempt that may look at its PIN. It counts as a wrong one until it is settled.
#[must_use = "an attempt that is not settled stays a wrong one"]
pub struct Attempt {
    /// Of several steps that are judged together, each.
    taken: Vec<Taken>,
    /// What was left counted as a wrong one before, though its PIN was right.
    earlier: Option<Taken>,
}

/// The buckets of a PIN alone. At headquarters whichever store is named makes no difference, and all places where no
/// user signed in before have one more together. The browsers of one person are one: else each would be a new start.
pub fn pin_buckets(auth: &Auth, claimant: &Claimant) -> Vec<Bucket> {
    if let Home::Store(_) = auth.home {
        return vec![claimant.bucket(Kind::UnknownDevices)];
    }
    if let Some(KnownPlace { user_id, .. }) = claimant.known {
        return vec![Bucket { user_id: Some(user_id), ..Bucket::new(Kind::Headquarters, user_id.to_string()) }];
    }
    let here = Bucket::new(Kind::Headquarters, origin(claimant.address));
    if claimant.is_known_address { vec![here] } else { vec![here, Bucket::new(Kind::HeadquartersAnywhere, "")] }
}

/// The buckets of a username, whether a user has it or not: what was typed is not kept. An enrolled till, a browser in
/// which its owner signed in before, and whoever is signed in, are stopped by their own guesses alone.
pub fn account_buckets(auth: &Auth, folded: &str, user_id: Option<Uuid>, claimant: &Claimant) -> Result<Vec<Bucket>> {
    let name = auth.pins.keyed(folded)?;
    let here = Bucket { user_id, ..Bucket::new(Kind::Account, format!("{name} {}", claimant.origin())) };
    let anywhere = Bucket { user_id, ..Bucket::new(Kind::AccountAnywhere, name) };
    Ok(if claimant.by_itself().is_some() { vec![here] } else { vec![here, anywhere] })
}

/// The buckets of PINs that a user proposes, for whom another one may answer. "Not allowed" for a PIN that is not weak
/// means that another user has it, so that the answers to many would name them all.
pub fn proposal_buckets(user_id: Uuid, counts_for: Uuid) -> [Bucket; 3] {
    [(Kind::Proposal, user_id), (Kind::ProposalRefused, counts_for), (Kind::ProposalAccepted, counts_for)]
        .map(|(kind, id)| Bucket { user_id: Some(id), ..Bucket::new(kind, id.to_string()) })
}

/// The bucket of codes of a second factor: one for each known browser of the person, which whoever knows the PIN must not be able to
/// stop, and one for all the rest. A right code alone ends its waits, whatever else of the person is right.
pub(crate) fn factor_bucket(user_id: Uuid, claimant: &Claimant) -> Bucket {
    let known = claimant.known.filter(|place| place.user_id == user_id);
    let subject = known.map_or_else(|| user_id.to_string(), |place| format!("{user_id} {}", place.id));
    Bucket { user_id: Some(user_id), ..Bucket::new(Kind::SecondFactor, subject) }
}

/// The bucket of passkeys that are shown for one challenge, which is there only after a right PIN.
pub(crate) fn challenge_bucket(user_id: Uuid, challenge: Uuid) -> Bucket {
    Bucket { user_id: Some(user_id), ..Bucket::new(Kind::SecondFactor, format!("challenge-{challenge}")) }
}

/// The bucket of locks that a user lifts.
pub fn unlock_bucket(user_id: Uuid) -> Bucket {
    Bucket { user_id: Some(user_id), ..Bucket::new(Kind::Unlock, user_id.to_string()) }
}

/// The buckets of a sign-in with a name.
pub fn login_buckets(auth: &Auth, folded: &str, user_id: Option<Uuid>, claimant: &Claimant) -> Result<Vec<Bucket>> {
    let mut buckets = account_buckets(auth, folded, user_id, claimant)?;
    if claimant.known.is_none() && claimant.session.is_none() {
        buckets.push(claimant.bucket(Kind::LoginAddress));
    }
    Ok(buckets)
}

/// Counts an attempt, or refuses it with 429 when one of its buckets is blocked. Where what blocks it is not judged yet, as of
/// several people who type their PINs at one moment, it waits for that.
pub async fn take(auth: &Auth, buckets: &[Bucket], claimant: &Claimant) -> Result<Attempt> {
    // Without the secrets no PIN can be looked at, and no attempts are wasted.
    auth.pins.require_key()?;
    let begun = Moment::now();
    let mut place = None;
    loop {
        // From before the look: what is judged meanwhile is not missed.
        let judged = auth.under_way.judged.notified();
        if let Some(attempt) = look(auth, buckets, claimant).await? {
            return Ok(attempt);
        }
        if place.is_none() {
            place = auth.under_way.places.try_acquire().ok();
        }
        let left = auth.under_way.longest_wait.checked_sub(begun.elapsed()).filter(|_| place.is_some());
        let left = left.ok_or_else(too_many_at_once)?;
        // Other servers say nothing here.
        drop(timeout(left.min(LOOK_AGAIN), judged).await);
    }
}

/// The attempt, when it was let in; `None` while others are under way before it.
async fn look(auth: &Auth, buckets: &[Bucket], claimant: &Claimant) -> Result<Option<Attempt>> {
    let now = auth.clock.now();
    match attempts::look(auth.db.reader(), buckets, auth.under_way.judge, now).await? {
        Look::Unclear => {}
        Look::UnderWay => return Ok(None),
        Look::Blocked(until) => return Err(too_many(until, now)),
    }
    let tx = auth.db.begin_aside().await?;
    let decision = attempts::take(&tx, buckets, auth.under_way.judge, now).await?;
    if let Decision::Wait(refusal) = &decision {
        let mut new = refusal.new.iter();
        if let Some(first) = new.next() {
            // One entry for each trouble, not for each refusal: what a stranger sends must not fill the log.
            let mut entry = claimant.audit("login.blocked", first.user_id);
            let kinds: Vec<&str> = refusal.new.iter().map(|bucket| bucket.kind.as_str()).collect();
            entry.details["blocked"] = json!(kinds);
            entry.details["until"] = json!(refusal.until);
            audit::record(&tx, entry, now).await?;
        }
    }
    tx.commit().await?;
    match decision {
        Decision::Go(taken) => Ok(Some(Attempt { taken: vec![taken], earlier: None })),
        Decision::UnderWay => Ok(None),
        Decision::Wait(refusal) => Err(too_many(refusal.until, now)),
    }
}

/// The verdict on an attempt was committed: whoever waits for it looks again.
pub fn judged(auth: &Auth) {
    auth.under_way.judged.notify_waiters();
}

/// Others were under way for all of the time that one waits for them.
fn too_many_at_once() -> Error {
    let text = "others are signing in here at this moment; try again in a second";
    Error::new(ErrorCode::TooManyAttempts, text).retry_after(1)
}

fn too_many(until: Instant, now: Instant) -> Error {
    let seconds = attempts::seconds(until, now);
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
    pub async fn hash(self, auth: &Auth, pin: &str) -> Result<(Self, Hashed)> {
        let hashed = auth.pins.hash(pin).await;
        self.unless_failed(auth, hashed).await
    }

    /// A PIN that was proposed was accepted or not, in the transaction of what follows from that: it counts for good.
    pub async fn proposed(&self, tx: &Tx, accepted: bool, now: Instant) -> Result<(), DbErr> {
        attempts::hold(tx, &self.taken).await?;
        for taken in &self.taken {
            attempts::proposed(tx, taken, accepted, now).await?;
        }
        Ok(())
    }

    /// One attempt of two steps, which end together.
    pub(crate) fn and(mut self, step: Self) -> Self {
        self.taken.extend(step.taken);
        self.earlier = self.earlier.or(step.earlier);
        self
    }

    /// With what was left counted as a wrong one before.
    pub(crate) fn after(mut self, earlier: Option<Taken>) -> Self {
        self.earlier = earlier;
        self
    }

    /// What is to be taken back when a later attempt succeeds.
    pub(crate) fn kept(&self) -> Option<String> {
        self.taken.first().and_then(|taken| serde_json::to_string(taken).ok())
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
        attempts::hold(&tx, &self.taken).await?;
        for taken in &self.taken {
            attempts::withdrawn(&tx, taken, now).await?;
        }
        tx.commit().await?;
        judged(auth);
        Ok(())
    }

    /// The PIN was wrong, with `entry` in the audit log.
    pub async fn failed(self, auth: &Auth, entry: audit::Entry) -> Result<()> {
        let now = auth.clock.now();
        let tx = auth.db.begin_aside().await?;
        self.wrong(&tx, now).await?;
        audit::record(&tx, entry, now).await?;
        tx.commit().await?;
        judged(auth);
        Ok(())
    }

    /// It stays counted as a wrong one, in the transaction of what follows from that.
    pub(crate) async fn wrong(&self, tx: &Tx, now: Instant) -> Result<(), DbErr> {
        attempts::hold(tx, &self.taken).await?;
        for taken in &self.taken {
            attempts::failed(tx, taken, now).await?;
        }
        Ok(())
    }

    /// The PIN was right, but what follows from that was not done: where another request with the same key was first, no wrong
    /// attempt is left behind.
    pub(crate) async fn right_all_the_same<T>(&self, auth: &Auth, error: Error) -> Result<T> {
        if error.code() == ErrorCode::InProgress {
            let tx = auth.db.begin_aside().await?;
            self.succeeded(&tx, auth.clock.now()).await?;
            tx.commit().await?;
            judged(auth);
        }
        Err(error)
    }

    /// The PIN was right, in the transaction of what follows from that.
    pub async fn succeeded(&self, tx: &Tx, now: Instant) -> Result<(), DbErr> {
        match (self.taken.as_slice(), &self.earlier) {
            ([only], None) => attempts::succeeded(tx, only, now).await,
            (taken, earlier) => attempts::succeeded_after(tx, taken, earlier.as_ref(), now).await,
        }
    }
}
