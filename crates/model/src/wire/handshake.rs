//! What store and headquarters say when they shake hands. `docs/sync.md`, rule D8.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::{Instant, Money};

/// `POST /sync/handshake`.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each says one thing that the store can or does")]
pub struct HandshakeRequest {
    #[serde(default)]
    pub epoch: Option<String>,
    #[serde(default)]
    pub ticket: Option<String>,
    pub node_epoch: String,
    #[serde(default)]
    pub last_seq: i64,
    /// What the store has sent, as far as it still has it, one range for each database it has had.
    #[serde(default)]
    pub sent: Vec<SentRange>,
    /// How far each type was pulled.
    #[serde(default)]
    pub cursors: BTreeMap<String, i64>,
    #[serde(default)]
    pub store_version: String,
    #[serde(default)]
    pub clock: Option<Instant>,
    /// A hash of the columns of each pulled type, so that a column new to the store is noticed.
    #[serde(default)]
    pub fingerprints: BTreeMap<String, String>,
    #[serde(default)]
    pub outbox: OutboxState,
    /// What is wrong with it, as [`crate::Alarm::write`] writes it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub alarms: String,
    /// The oldest of its dead letters, [`Number::MOST`] at the most.
    #[serde(default)]
    pub dead: Vec<Number>,
    #[serde(default)]
    pub pin_key_id: Option<String>,
    /// The store takes a PIN key of its own; one of release 0.1.0 knows that of the whole chain alone.
    #[serde(default)]
    pub own_pin_key: bool,
    /// The store asks headquarters of whom it cannot verify itself, and makes look-ups with a salt of its own; one of an older
    /// release does neither.
    #[serde(default)]
    pub sign_in: bool,
    /// Numbers that the store has given, of documents that went with its database.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<LostNumbers>,
    /// Random for each start of the store's server: what runs beside it is another copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<Uuid>,
    /// That of the last answer to this process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<Uuid>,
    /// A user decided here that this process is the store, and the other one is not.
    #[serde(default)]
    pub take_over: bool,
    /// The end of the store's audit log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<AuditHead>,
    /// The last number of each series of the store's documents (`receipt:02`, `session:02`, `customer`): of two copies the one
    /// with the newer documents goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<BTreeMap<String, i64>>,
    /// Milliseconds between two questions of a quiet store: how long it may be unheard and not be silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_ms: Option<i64>,
    /// How many of its registers have no enrolled till.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unenrolled: Option<i64>,
    /// The store takes the token that replaced its own out of the answer.
    #[serde(default)]
    pub takes_token: bool,
}

/// The end of an audit log: its last row, and what that hashes to. Written down elsewhere, it shows later that nothing was cut off.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditHead {
    pub seq: i64,
    pub hash: String,
}

/// Numbers of one series (`receipt:02`, `session:02`, `customer`), both ends included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LostNumbers {
    pub series: String,
    pub from: i64,
    pub to: i64,
    /// When the store noticed it, by its clock.
    pub noticed_at: Instant,
}

/// The number of an entry of an outbox, with the database that gave it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OutboxNumber)]
pub struct Number {
    pub seq: i64,
    pub node_epoch: String,
}

impl Number {
    /// As many are named in one handshake.
    pub const MOST: usize = 500;
}

/// The first and the last number of what was sent under one node epoch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SentRange {
    pub node_epoch: String,
    pub first: i64,
    pub last: i64,
    /// How many of the last [`SentRange::RECENT`] numbers up to `last` were sent.
    pub recent: i64,
    /// The first one that the store still has whole; of those before it, it has the number, and its document.
    #[serde(default)]
    pub whole_from: Option<i64>,
}

impl SentRange {
    pub const RECENT: i64 = 1000;
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct OutboxState {
    pub pending: i64,
    pub dead_lettered: i64,
    pub oldest: Option<Instant>,
}

#[derive(Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HandshakeAnswer {
    pub epoch: String,
    pub ticket: String,
    /// False when the ticket that was presented is none of those given out since the last one that came back, or HQ lacks
    /// what the store has sent or pulled: one of the two was restored or cloned.
    pub ticket_known: bool,
    /// For the next requests of the asking process, which shows by it that it had this answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<Uuid>,
    pub server_version: String,
    pub clock: Instant,
    pub versions: BTreeMap<String, i64>,
    /// Milliseconds over which a store spreads its pull after a notification.
    #[serde(default)]
    pub notify_delay_ms: u64,
    /// The highest numbers HQ has seen of this store, by series (`receipt:02`, `session:02`).
    #[serde(default)]
    pub high_water: BTreeMap<String, i64>,
    /// Types with other columns at HQ: to be reloaded.
    #[serde(default)]
    pub resync: Vec<String>,
    /// This store was restored to an older copy: it fetches its own documents, which `GET /sync/own-documents` has.
    #[serde(default)]
    pub put_back: bool,
    /// The store is to send again what it has sent from this number on, before it reloads.
    #[serde(default)]
    pub resend_from: Option<i64>,
    /// The databases that HQ has heard this store speak from, with the highest number of each: an installation that has
    /// not made them lacks documents of its own, which `GET /sync/own-documents` has.
    #[serde(default)]
    pub node_epochs: BTreeMap<String, i64>,
    #[serde(default)]
    pub acknowledged: Vec<Acknowledged>,
    /// Of the dead letters that were named, the numbers of those of which HQ has no refusal: they are sent again.
    #[serde(default)]
    pub never_refused: Vec<i64>,
    /// Up to which number of each database HQ has had everything for 90 days, by its own clock.
    #[serde(default)]
    pub long_kept: Vec<Number>,
    /// What PINs are verified with, only over TLS or loopback and only when the store has other secrets.
    #[serde(default)]
    pub pin_key: Option<PinKey>,
    /// The end of headquarters' audit log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<AuditHead>,
    /// For how many days the store keeps what verifies a user of whom it asked; 0 where it asks of none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_verifier_days: Option<i64>,
    /// The newest entries that headquarters has of the chains of this store's documents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chain_heads: Vec<ChainHead>,
    /// The token that replaced the one that was presented, given once to a store that takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_token: Option<String>,
}

/// The newest entry of a chain of documents. `docs/chain.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChainHead {
    pub chain_id: Uuid,
    /// Without the letter of its series.
    pub register_code: String,
    pub number: i64,
    pub hash: String,
    pub running_total: Money,
    /// When its document was made.
    pub at: Instant,
}

/// A dead letter that a user settled at HQ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Acknowledged {
    pub seq: i64,
    pub outcome: Outcome,
    /// Another database of the same store has other entries under the same numbers.
    #[serde(default)]
    pub node_epoch: Option<String>,
    #[serde(default)]
    pub entity_id: String,
    /// Of a document that a user resolved: whether headquarters has it all the same.
    #[serde(default)]
    pub at_headquarters: Option<bool>,
    /// What it put on the account of its customer is in the balance of headquarters.
    #[serde(default)]
    pub charged: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Ok,
    Resolved,
}

/// The secrets that a store verifies PINs with; never in a database. Base64.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct PinKey {
    pub id: String,
    /// The key that the whole chain had in release 0.1.0; empty when no PIN is from then any more.
    pub key: String,
    /// The look-up salt of the chain.
    pub salt: String,
    /// The key of this store alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<String>,
    /// The look-up salt of this store alone, over that of the chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_salt: Option<String>,
}

impl std::fmt::Debug for PinKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PinKey").field("id", &self.id).finish_non_exhaustive()
    }
}
