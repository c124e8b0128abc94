//! Reading envelopes: each by itself, so that a malformed one is an error of that one alone.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use tillkeep_model::wire::{self, PushResult, PushStatus};
use tillkeep_model::{ByName, Instant, ids};
use uuid::Uuid;

use super::{Sender, Verdict};
use crate::registry::{self, Row, SyncType};
use crate::sync_log::{Rejection, clip, tidy};

/// The highest number of an outbox: what a JSON number carries exactly, and far from where counting on would overflow.
const MAX_SEQ: i64 = 1 << 53;

/// An envelope that could be read.
pub struct Incoming {
    /// Its place in the request.
    pub index: usize,
    pub entity: &'static SyncType,
    pub id: Uuid,
    pub action: String,
    pub timestamp: Instant,
    pub seq: Option<i64>,
    pub node_epoch: Option<String>,
    /// Of entity, action, timestamp and data: the same envelope again has the same hash.
    pub hash: String,
    /// The whole envelope as it came.
    pub raw: String,
    data: String,
}

#[derive(Deserialize)]
struct Wire<'a> {
    store_id: Uuid,
    entity_type: String,
    entity_id: Uuid,
    action: String,
    #[serde(borrow)]
    data: &'a RawValue,
    timestamp: Instant,
    #[serde(default)]
    seq: Option<i64>,
    #[serde(default)]
    node_epoch: Option<String>,
}

/// What can be told of an envelope that cannot be read.
#[derive(Default, Deserialize)]
struct Glimpse {
    #[serde(default)]
    entity_type: serde_json::Value,
    #[serde(default)]
    entity_id: serde_json::Value,
    #[serde(default)]
    action: serde_json::Value,
    #[serde(default)]
    timestamp: serde_json::Value,
    #[serde(default)]
    seq: serde_json::Value,
    #[serde(default)]
    node_epoch: serde_json::Value,
}

/// A row with the rows that came inside it, children by the registry's order.
pub struct Decoded {
    pub row: Box<dyn Row>,
    pub keys: Keys,
    pub children: Vec<Vec<(Box<dyn Row>, Keys)>>,
}

/// The keys that were sent: an older store knows fewer columns, and those it does not send keep their values.
pub struct Keys(HashSet<String>);

impl Keys {
    fn of(row: &HashMap<String, &RawValue>) -> Self {
        Self(row.keys().map(|key| Self::plain(key)).collect())
    }

    pub fn name(&self, column: &str) -> bool {
        self.0.contains(&Self::plain(column))
    }

    /// How many of them `known` (in this module's spelling) does not have.
    pub fn others(&self, known: &HashSet<String>) -> usize {
        self.0.iter().filter(|key| !known.contains(*key)).count()
    }

    /// The same for a column and its key in either spelling.
    pub fn plain(name: &str) -> String {
        name.chars().filter(|letter| *letter != '_').map(|letter| letter.to_ascii_lowercase()).collect()
    }
}

pub(super) fn read(index: usize, raw: &RawValue, sender: &Sender) -> Result<Incoming, Box<Rejection>> {
    let deserializer = &mut serde_json::Deserializer::from_str(raw.get());
    let wire: Wire = serde_path_to_error::deserialize(ByName(deserializer)).map_err(|error| {
        let glimpse: Glimpse = serde_json::from_str(raw.get()).unwrap_or_default();
        let path = error.path().to_string();
        let text = if path == "." { error.inner().to_string() } else { format!("{path}: {}", error.inner()) };
        reject(raw, &glimpse, PushStatus::Error, "malformed", &text)
    })?;
    let glimpse = Glimpse {
        entity_type: wire.entity_type.clone().into(),
        entity_id: wire.entity_id.to_string().into(),
        action: wire.action.clone().into(),
        timestamp: wire.timestamp.to_string().into(),
        seq: wire.seq.into(),
        node_epoch: wire.node_epoch.clone().into(),
    };
    if wire.seq.is_some_and(|seq| !is_number(seq)) {
        let text = format!("seq: must be a whole number from 1 to {MAX_SEQ}");
        return Err(reject(raw, &glimpse, PushStatus::Error, "malformed", &text));
    }
    let Some(entity) = registry::find(&wire.entity_type).filter(|entity| entity.is_pushed()) else {
        let text = format!("{:?} is not a type that stores push", wire.entity_type);
        return Err(reject(raw, &glimpse, PushStatus::UnknownType, "unknown_type", &text));
    };
    if wire.store_id != sender.store_id {
        let text = format!("store_id {} is not the store of the sync token", wire.store_id);
        return Err(reject(raw, &glimpse, PushStatus::Error, "store_mismatch", &text));
    }
    let mut hash = Sha256::new();
    for part in [entity.name, &wire.entity_id.to_string(), &wire.action, &wire.timestamp.to_string(), wire.data.get()] {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    Ok(Incoming {
        index,
        entity,
        id: wire.entity_id,
        action: wire.action,
        timestamp: wire.timestamp,
        seq: wire.seq,
        node_epoch: wire.node_epoch,
        hash: hex::encode(hash.finalize()),
        raw: raw.get().to_owned(),
        data: wire.data.get().to_owned(),
    })
}

/// Whether an entry of an outbox may have this number: they count from 1.
fn is_number(seq: i64) -> bool {
    (1..=MAX_SEQ).contains(&seq)
}

/// What the sender wrote is kept and answered only as far as somebody reads it; the envelope is kept whole.
fn reject(raw: &RawValue, glimpse: &Glimpse, status: PushStatus, code: &str, error: &str) -> Box<Rejection> {
    let text = |value: &serde_json::Value| value.as_str().map_or_else(String::new, tidy);
    Box::new(Rejection {
        result: PushResult {
            entity_type: text(&glimpse.entity_type),
            entity_id: text(&glimpse.entity_id),
            status,
            code: Some(code.to_owned()),
            error: Some(clip(error)),
            applied: None,
        },
        action: text(&glimpse.action),
        hash: hex::encode(Sha256::digest(raw.get().as_bytes())),
        envelope: raw.get().to_owned(),
        envelope_at: glimpse.timestamp.as_str().and_then(Instant::parse),
        seq: glimpse.seq.as_i64().filter(|seq| is_number(*seq)),
        node_epoch: glimpse.node_epoch.as_str().map(str::to_owned),
    })
}

impl Incoming {
    /// The answer to this envelope.
    pub(super) fn result(&self, verdict: &Verdict) -> PushResult {
        let (status, code, error, applied) = match verdict {
            Verdict::Taken { applied, .. } => (PushStatus::Ok, None, None, Some(*applied)),
            Verdict::Refused { code, error } => {
                (PushStatus::Error, Some((*code).to_owned()), Some(error.clone()), None)
            }
        };
        PushResult {
            entity_type: self.entity.name.to_owned(),
            entity_id: self.id.to_string(),
            status,
            code,
            error,
            applied,
        }
    }

    pub fn rejection(&self, verdict: &Verdict) -> Rejection {
        Rejection {
            result: self.result(verdict),
            action: self.action.clone(),
            hash: self.hash.clone(),
            envelope: self.raw.clone(),
            envelope_at: Some(self.timestamp),
            seq: self.seq,
            node_epoch: self.node_epoch.clone(),
        }
    }

    /// The row and its children, with the ids they must have. The error names the field.
    pub(super) fn decode(&self) -> Result<Decoded, Verdict> {
        let bad = |error: String| Verdict::refused("bad_data", format!("data.{error}"));
        let shallow = |text: &str| -> Result<Option<String>, Verdict> {
            let keys: HashMap<String, &RawValue> =
                serde_json::from_str(text).map_err(|error| bad(format!(" must be an object: {error}")))?;
            if !keys.keys().any(|key| key.contains('_')) {
                return Ok(None);
            }
            let mut map = serde_json::from_str(text).map_err(|error: serde_json::Error| bad(error.to_string()))?;
            wire::normalise_keys(&mut map);
            Ok(Some(serde_json::Value::Object(map).to_string()))
        };
        let normalised = shallow(&self.data)?;
        let text = normalised.as_deref().unwrap_or(&self.data);
        let mut row = self.entity.table.decode(text).map_err(bad)?;
        if row.uuid("id").is_some_and(|id| !id.is_nil() && id != self.id) {
            return Err(Verdict::refused("id_mismatch", "data.id is not the entity_id of the envelope"));
        }
        row.set("id", self.id.into());
        let keys: HashMap<String, &RawValue> = serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
        let mut children = Vec::new();
        if !self.entity.children.is_empty() {
            for child in self.entity.children {
                let list: Vec<&RawValue> = match keys.get(child.key) {
                    Some(list) => serde_json::from_str::<Option<_>>(list.get())
                        .map_err(|error| bad(format!("{}: {error}", child.key)))?
                        .unwrap_or_default(),
                    None => Vec::new(),
                };
                let mut rows = Vec::with_capacity(list.len());
                let mut named = HashSet::with_capacity(list.len());
                for (position, raw) in list.into_iter().enumerate() {
                    let normalised = shallow(raw.get())?;
                    let text = normalised.as_deref().unwrap_or(raw.get());
                    let mut row =
                        child.table.decode(text).map_err(|error| bad(format!("{}[{position}].{error}", child.key)))?;
                    let mut line_no = row.integer("line_no").unwrap_or_default();
                    if line_no == 0 {
                        line_no = i64::try_from(position).unwrap_or_default() + 1;
                        row.set("line_no", i32::try_from(line_no).unwrap_or_default().into());
                    }
                    if row.uuid("id").is_none_or(|id| id.is_nil()) {
                        let line_no = i32::try_from(line_no).unwrap_or_default();
                        row.set("id", ids::line(self.id, child.kind, line_no).into());
                    }
                    // Two lines with one id are two lines all the same: the second one is named by its place.
                    if !named.insert(row.uuid("id")) {
                        row.set("id", ids::named(&format!("{}:{}:#{position}", child.kind, self.id)).into());
                    }
                    row.set(child.parent, self.id.into());
                    let keys: HashMap<String, &RawValue> =
                        serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
                    rows.push((row, Keys::of(&keys)));
                }
                children.push(rows);
            }
        }
        Ok(Decoded { row, keys: Keys::of(&keys), children })
    }
}
