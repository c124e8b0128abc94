//! What headquarters and stores say to each other. Specification, sections 2.6, 4.3 and 6.

mod bounds;
mod handshake;
mod refunds;

use std::collections::BTreeMap;

use serde::de::DeserializeSeed;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

pub use handshake::{
    Acknowledged, AuditHead, ChainHead, HandshakeAnswer, HandshakeRequest, LostNumbers, Number, OutboxState, Outcome,
    PinKey, SentRange,
};
pub use refunds::{ClaimAnswer, ClaimLine, ClaimRequest, GivenBack, PaidBack, SaleAtHq};

use crate::Instant;
use crate::first_of::{First, FirstOf};

/// Value of the `Tillkeep-Protocol` header on every request and answer of the machine protocol.
pub const PROTOCOL: &str = "1";
/// Envelopes in one push request at the most; more is refused whole. Specification, section 8.
pub const MAX_ENVELOPES: usize = 1000;
/// Verdicts against an outbox entry before it is dead-lettered. Specification, section 8.
pub const MAX_ATTEMPTS: i32 = 10;
/// Rows of one limited pull at the most.
pub const MAX_PULL_LIMIT: u64 = 10_000;
/// Bytes of a push request at the most, after decompression.
pub const MAX_PUSH_BYTES: usize = 64 << 20;
/// Bytes of one envelope at the most: more than any document takes that a till may make.
pub const MAX_ENVELOPE_BYTES: usize = 2 << 20;

/// `POST /sync/push`. The envelopes stay raw, so that a malformed one is an error of that envelope alone, and where they
/// were read, so that a large body is in memory once.
#[derive(Deserialize, ToSchema)]
pub struct PushRequest<'a> {
    #[serde(borrow, deserialize_with = "first_envelopes")]
    #[schema(value_type = Vec<Envelope>)]
    pub envelopes: FirstOf<'a>,
    /// As in the handshake.
    #[serde(default)]
    pub instance: Option<Uuid>,
}

fn first_envelopes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<FirstOf<'de>, D::Error> {
    First { most: MAX_ENVELOPES }.deserialize(deserializer)
}

/// One change of one entity, as a store reports it. Specification, section 2.6; `seq`, `node_epoch` and
/// `changed` are an extension: the store's gapless outbox number, the identity of its database, and what it is about.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Envelope {
    pub store_id: Uuid,
    pub entity_type: String,
    pub entity_id: Uuid,
    pub action: String,
    #[schema(value_type = Object)]
    pub data: serde_json::Value,
    pub timestamp: Instant,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_epoch: Option<String>,
    /// Of a row that HQ has, only these columns are taken from `data`, which is the whole entity all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<Vec<String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PushStatus {
    Ok,
    Error,
    UnknownType,
}

/// The code of a result that is no verdict: HQ could not store this envelope now, and its store sends it again.
pub const TRY_LATER: &str = "try_later";

/// What became of an accepted envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Applied {
    Inserted,
    Updated,
    /// Too old, or a step back: taken note of, nothing changed.
    Skipped,
    /// The same envelope again.
    Duplicate,
}

/// The verdict on one envelope, in the order of the request.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PushResult {
    pub entity_type: String,
    pub entity_id: String,
    pub status: PushStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<Applied>,
}

#[derive(Serialize, Deserialize, ToSchema)]
pub struct PushAnswer {
    pub results: Vec<PushResult>,
}

/// `GET /sync/pull`: the rows above `since_version`, rising.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct PullAnswer {
    pub entity_type: String,
    pub since_version: i64,
    #[schema(value_type = Vec<Object>)]
    pub rows: Vec<Box<RawValue>>,
    /// The highest version among `rows`, or `since_version` when there are none.
    pub latest_version: i64,
    #[serde(default)]
    pub has_more: bool,
    #[serde(default)]
    pub epoch: String,
    /// The tag of the commit that `latest_version` is from; `since_tag` of the next pull.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<Uuid>,
    /// Rows that headquarters has of the type, in a page that is not the last one of a type that is equal for all stores;
    /// counted within the last minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<i64>,
    /// Rows between `since_version` and `latest_version` that headquarters has and cannot read: who reloads everything
    /// keeps what it has of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<Uuid>,
}

/// `GET /sync/own-documents`: documents of the asking store that HQ has, by rising id.
#[derive(Serialize, Deserialize, ToSchema)]
pub struct OwnDocumentsAnswer {
    pub entity_type: String,
    #[schema(value_type = Vec<Object>)]
    pub rows: Vec<Box<RawValue>>,
    /// The last id of this page, to go on from.
    pub last_id: Option<Uuid>,
    pub has_more: bool,
}

/// `GET /sync/versions`: the head of every type in the caller's scope.
#[derive(Serialize, Deserialize, ToSchema)]
pub struct VersionsAnswer {
    pub epoch: String,
    pub versions: BTreeMap<String, i64>,
    /// True when HQ has something to say that only a handshake carries.
    #[serde(default)]
    pub handshake: bool,
    /// Types of which the caller has a version with another tag than HQ's: HQ lost what the caller has. To be reloaded,
    /// after a handshake.
    #[serde(default)]
    pub resync: Vec<String>,
}

/// `POST /sync/change-pin`: a store forwards what a user typed there.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ForwardedPin)]
pub struct PinChange {
    pub user_id: Uuid,
    pub current_pin: String,
    /// Without it the PIN stays, and headquarters keeps it in the present way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 4, max_length = 12, pattern = "^[0-9]+$")]
    pub new_pin: Option<String>,
}

/// `POST /sync/sign-in`: a user typed a PIN at a store that cannot verify it.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoreSignIn {
    /// The name that was typed; without one the PIN stands alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    pub pin: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal_id: Option<String>,
}

/// Who that is, with what verifies the same PIN at this store from now on, as a pull would have it.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoreSignedIn {
    pub user_id: Uuid,
    pub pin_hash: String,
    pub pin_lookup: String,
    /// Since when it is their PIN.
    pub pin_changed_at: Option<Instant>,
    /// For how many days the store keeps it.
    pub keep_days: i64,
}

/// Store to HQ on the socket. Specification, section 6.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum StoreMessage {
    Auth { sync_token: String },
    Heartbeat(Heartbeat),
}

impl StoreMessage {
    /// Reads a message, which is an object; serde alone would take a list for one.
    pub fn read(text: &str) -> serde_json::Result<Self> {
        let keys: serde_json::Map<_, _> = serde_json::from_str(text)?;
        serde_json::from_value(keys.into())
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Heartbeat {
    pub store_code: String,
    /// Seconds since the store server started.
    pub uptime: f64,
    pub timestamp: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outbox_pending: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dead_lettered: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oldest_pending_at: Option<Instant>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<Instant>,
    /// What is wrong with the store, as [`crate::Alarm::write`] writes it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub alarms: String,
}

/// HQ to store on the socket: data of this type changed, pull it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub enum HqMessage {
    #[serde(rename = "sync:notify", rename_all = "camelCase")]
    Notify {
        entity_type: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        latest_version: Option<i64>,
    },
    #[serde(other)]
    Unknown,
}

/// What a store could not store, as it says it with each `GET /sync/versions`: `products:the disk is full,tenders:…`.
pub mod unstored {
    use std::collections::BTreeMap;

    /// Letters of one reason at the most, and of all together: this is a part of a URL.
    const EACH: usize = 120;
    const ALL: usize = 1000;

    /// The types with their reasons, in one text. A comma ends a reason, so that none stands in it.
    pub fn write(types: &BTreeMap<String, String>) -> String {
        let room = (ALL / types.len().max(1)).min(EACH);
        let plain = |letter: char| match letter {
            ',' => ';',
            letter if letter.is_control() => ' ',
            letter => letter,
        };
        let items = types.iter().map(|(name, why)| {
            let why: String = why.chars().take(room).map(plain).collect();
            format!("{name}:{why}")
        });
        items.collect::<Vec<_>>().join(",")
    }

    /// The types with their reasons, as they were said; which types there are is the reader's to know.
    pub fn read(text: &str) -> impl Iterator<Item = (&str, &str)> {
        let items = text.split(',').filter(|item| !item.is_empty());
        items.map(|item| item.split_once(':').unwrap_or((item, "")))
    }
}

/// Why a store is not connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The connection broke, or nothing was heard for too long.
    NoLine,
    /// The store closed it.
    Stopped,
    /// Its token is not good any more, or it was taken out of use.
    Revoked,
    /// Another server of the same store connected.
    Replaced,
}

impl Ended {
    pub const ALL: [Self; 4] = [Self::NoLine, Self::Stopped, Self::Revoked, Self::Replaced];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoLine => "no_line",
            Self::Stopped => "stopped",
            Self::Revoked => "revoked",
            Self::Replaced => "replaced",
        }
    }

    /// The reason of this name, if there is one.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ended| ended.as_str() == name)
    }
}

/// Close codes of the socket.
pub mod close {
    pub const GOING_AWAY: u16 = 1001;
    pub const UNREADABLE: u16 = 1007;
    pub const BAD_TOKEN: u16 = 4401;
    pub const REVOKED: u16 = 4403;
    pub const AUTH_TIMEOUT: u16 = 4408;
    pub const REPLACED: u16 = 4409;
}

/// Turns the keys of a row from `snake_case` to camelCase, so that senders of either spelling are understood. Only
/// the row's own keys: what lies inside a JSON column is the text of another program.
pub fn normalise_keys(row: &mut serde_json::Map<String, serde_json::Value>) {
    if !row.keys().any(|key| key.contains('_')) {
        return;
    }
    *row = std::mem::take(row).into_iter().map(|(key, value)| (camel(&key), value)).collect();
}

/// `receiptNumber` of `receipt_number`.
pub fn camel(key: &str) -> String {
    let mut out = String::with_capacity(key.len());
    let mut upper = false;
    for letter in key.chars() {
        if letter == '_' && !out.is_empty() {
            upper = true;
        } else if upper {
            out.extend(letter.to_uppercase());
            upper = false;
        } else {
            out.push(letter);
        }
    }
    out
}

#[cfg(test)]
mod tests;
