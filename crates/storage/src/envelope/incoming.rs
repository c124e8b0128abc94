//! Reading envelopes: each by itself, so that a malformed one is an error of that one alone.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use tillkeep_model::wire::{MAX_ENVELOPE_BYTES, PushResult, PushStatus, TRY_LATER, camel};
use tillkeep_model::{ByName, FirstOf, Instant, ids};
use uuid::Uuid;

use super::keys::{Keys, plain};
use super::limits::{self, TOO_LARGE};
use super::members::Shape;
use super::rejection::{LoggedEnvelope, Rejection, clip, tidy};
use super::sender::Sender;
use super::verdict::Verdict;
use super::weight;
use crate::document::{Beyond, Pushed};
use crate::registry::{self, Child, SyncType};
use crate::rows::{Row, SyncTable};

/// The highest number of an outbox: what a JSON number carries exactly, and far from where counting on would overflow.
const MAX_SEQ: i64 = 1 << 53;

/// Bytes that are kept of what can never be taken: enough to see what it is.
const BEGINNING: usize = 16 << 10;

/// The codes of refusals of what was not read, or not further than to whom it belongs; as a list in SQL.
pub(crate) const UNREAD: &str = "'malformed', 'unknown_type', 'store_mismatch'";

/// An envelope that could be read. What is long in it stays where the request has it.
pub struct Incoming<'a> {
    /// Its place in the request.
    pub index: usize,
    pub entity: &'static SyncType,
    pub pushed: &'static Pushed,
    pub id: Uuid,
    pub action: String,
    pub timestamp: Instant,
    pub seq: Option<i64>,
    pub node_epoch: Option<String>,
    /// The columns that are to be taken of a row that HQ has; all of them without.
    changed: Option<Vec<String>>,
    /// Of entity, action, timestamp and data: the same envelope again has the same hash.
    pub hash: String,
    /// The whole envelope as it came.
    raw: &'a str,
    pub(crate) data: &'a str,
    /// What was read of it before its turn.
    ahead: Mutex<Option<Ahead>>,
}

/// What was read of an envelope, and about how much memory it takes.
struct Ahead {
    read: Result<Decoded, Verdict>,
    weight: usize,
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
    #[serde(default)]
    changed: Option<Vec<String>>,
}

/// What can be said of an envelope that cannot be read.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Glimpse<'a> {
    entity_type: Maybe<'a>,
    entity_id: Maybe<'a>,
    action: Maybe<'a>,
    timestamp: Maybe<'a>,
    seq: Maybe<'a>,
    node_epoch: Maybe<'a>,
}

type Maybe<'a> = Option<&'a RawValue>;

/// A line with the keys that were sent of it.
type Line = (Box<dyn Row>, Keys);

/// A row and its children, without what cannot be read of them.
pub(crate) type Readable = (Box<dyn Row>, Vec<Vec<Box<dyn Row>>>);

/// A row with the rows that came inside it, children by the registry's order.
pub(crate) struct Decoded {
    pub row: Box<dyn Row>,
    pub keys: Keys,
    pub children: Vec<Vec<Line>>,
    /// The keys of the children of which not all were kept.
    pub cut: Vec<&'static str>,
}

impl Decoded {
    /// About what it takes in memory, read of `json`.
    fn weight(&self, json: &str) -> usize {
        let (mut rows, mut keys, mut fixed) = (0, 0, 0);
        let mut weigh = |row: &dyn Row, named: &Keys| {
            rows += 1;
            keys += named.columns().count();
            fixed += size_of_val(row) + size_of::<Line>();
        };
        weigh(&*self.row, &self.keys);
        self.children.iter().flatten().for_each(|(line, keys)| weigh(&**line, keys));
        weight::of(json, rows, keys) + fixed
    }

    /// Headquarters keeps the document under another id than was sent; its lines belong to it.
    pub(crate) fn keep_as(&mut self, entity: &SyncType, id: Uuid) {
        self.row.set("id", id.into());
        for (child, lines) in entity.children.iter().zip(&mut self.children) {
            for (line, _) in lines {
                line.set(child.parent, id.into());
            }
        }
    }
}

pub(crate) fn read<'a>(index: usize, raw: &'a str, sender: &Sender) -> Result<Incoming<'a>, Box<Rejection>> {
    let refuse = |status, code, error: &str| Err(reject(raw, status, code, error));
    // Only what cannot be read is read once more, for the name of the field.
    let read = Wire::deserialize(ByName(&mut serde_json::Deserializer::from_str(raw)));
    let named = |_| serde_path_to_error::deserialize(ByName(&mut serde_json::Deserializer::from_str(raw)));
    let wire: Wire = match read.or_else(named) {
        Ok(wire) => wire,
        Err(error) => {
            let path = error.path().to_string();
            let text = if path == "." { error.inner().to_string() } else { format!("{path}: {}", error.inner()) };
            return refuse(PushStatus::Error, "malformed", &text);
        }
    };
    if wire.seq.is_some_and(|seq| !is_number(seq)) {
        let text = format!("seq: must be a whole number from 1 to {MAX_SEQ}");
        return refuse(PushStatus::Error, "malformed", &text);
    }
    let found = registry::find(&wire.entity_type).and_then(|entity| Some((entity, entity.push?)));
    let Some((entity, pushed)) = found else {
        let text = format!("{:?} is not a type that stores push", clip(&wire.entity_type));
        return refuse(PushStatus::UnknownType, "unknown_type", &text);
    };
    if wire.store_id != sender.store_id {
        let text = format!("store_id {} is not the store of the sync token", wire.store_id);
        return refuse(PushStatus::Error, "store_mismatch", &text);
    }
    if raw.len() > MAX_ENVELOPE_BYTES {
        return refuse(PushStatus::Error, TOO_LARGE, &too_large(entity, pushed, wire.data.get(), raw.len()));
    }
    let mut hash = Sha256::new();
    for part in [entity.name, &wire.entity_id.to_string(), &wire.action, &wire.timestamp.to_string(), wire.data.get()] {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    Ok(Incoming {
        index,
        entity,
        pushed,
        id: wire.entity_id,
        action: wire.action,
        timestamp: wire.timestamp,
        seq: wire.seq,
        node_epoch: wire.node_epoch,
        changed: wire.changed,
        hash: hex::encode(hash.finalize()),
        raw,
        data: wire.data.get(),
        ahead: Mutex::new(None),
    })
}

/// What is said of an envelope that is larger than any document: its largest field, and what it may have.
fn too_large(entity: &SyncType, pushed: &Pushed, data: &str, length: usize) -> String {
    let shape = Shape::new(entity, pushed);
    let members = shape.read(data).ok();
    let (name, size) = members.and_then(|members| members.largest(&shape)).unwrap_or(("data", length));
    format!("data.{name}: takes {size} bytes, and the whole envelope may have {MAX_ENVELOPE_BYTES}; shorten it")
}

/// Whether an entry of an outbox may have this number: they count from 1.
fn is_number(seq: i64) -> bool {
    (1..=MAX_SEQ).contains(&seq)
}

/// What the sender wrote is kept and answered only as far as a user reads it; the envelope is kept whole, unless it is
/// larger than any that could be taken.
fn reject(raw: &str, status: PushStatus, code: &str, error: &str) -> Box<Rejection> {
    let glimpse: Glimpse = serde_json::from_str(raw).unwrap_or_default();
    let text = |value: Maybe| value.and_then(|value| serde_json::from_str::<String>(value.get()).ok());
    let short = |value: Maybe| text(value).map_or_else(String::new, |text| tidy(&text));
    let id = short(glimpse.entity_id);
    let seq: Option<i64> = glimpse.seq.and_then(|seq| serde_json::from_str(seq.get()).ok());
    Box::new(Rejection {
        result: PushResult {
            entity_type: short(glimpse.entity_type),
            entity_id: id.parse().map_or(id, |id: Uuid| id.to_string()),
            status,
            code: Some(code.to_owned()),
            error: Some(clip(error)),
            applied: None,
        },
        action: short(glimpse.action),
        hash: hex::encode(Sha256::digest(raw.as_bytes())),
        kept: kept(raw, status == PushStatus::UnknownType),
        envelope_at: text(glimpse.timestamp).as_deref().and_then(Instant::parse),
        seq: seq.filter(|seq| is_number(*seq)),
        node_epoch: text(glimpse.node_epoch),
    })
}

/// An envelope as the log keeps it: whole where another try may take it, as after an upgrade that knows its type. What
/// cannot be read is kept as far as it tells what it is.
fn kept(raw: &str, can_be_taken: bool) -> LoggedEnvelope {
    let whole = raw.len() <= BEGINNING || (can_be_taken && raw.len() <= MAX_ENVELOPE_BYTES);
    let beginning = || raw[..raw.floor_char_boundary(BEGINNING)].to_owned();
    LoggedEnvelope { envelope: whole.then(|| raw.to_owned()), beginning: (!whole).then(beginning), length: raw.len() }
}

impl Incoming<'_> {
    /// The database of its store that it is from, and its number there.
    pub(crate) fn entry(&self) -> Option<(String, i64)> {
        self.node_epoch.as_deref().map(tidy).zip(self.seq)
    }

    /// The answer to this envelope.
    pub(crate) fn result(&self, verdict: &Verdict) -> PushResult {
        let (status, code, error, applied) = match verdict {
            Verdict::Taken { applied, .. } => (PushStatus::Ok, None, None, Some(*applied)),
            Verdict::Refused { code, error } => {
                (PushStatus::Error, Some((*code).to_owned()), Some(error.clone()), None)
            }
            Verdict::Later(why) => return self.later(why),
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

    /// The answer when the database failed on this envelope: no verdict, so that its store counts no attempt (rule U2).
    pub(crate) fn later(&self, why: &str) -> PushResult {
        PushResult {
            entity_type: self.entity.name.to_owned(),
            entity_id: self.id.to_string(),
            status: PushStatus::Error,
            code: Some(TRY_LATER.to_owned()),
            error: Some(format!("headquarters could not store this now, send it again: {why}")),
            applied: None,
        }
    }

    /// As the log keeps it beside a warning: what a user who looks at it reads.
    pub(crate) fn looked_at(&self) -> LoggedEnvelope {
        kept(self.raw, false)
    }

    pub fn rejection(&self, verdict: &Verdict) -> Rejection {
        Rejection {
            result: self.result(verdict),
            action: self.action.clone(),
            hash: self.hash.clone(),
            kept: kept(self.raw, true),
            envelope_at: Some(self.timestamp),
            seq: self.seq,
            node_epoch: self.node_epoch.clone(),
        }
    }

    /// Reads it now, for [`Incoming::decode`]: nobody waits for the database meanwhile. About what it takes in memory then.
    pub(crate) fn decode_ahead(&self, shape: &Shape) -> usize {
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || {
            let read = self.decode_now(shape);
            let weight = read.as_ref().map_or(0, |decoded| decoded.weight(self.data));
            Ahead { read, weight }
        };
        ahead.get_or_insert_with(read).weight
    }

    /// Lets go of what was read ahead and never used.
    pub(crate) fn forget(&self) {
        *self.ahead.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The row and its children, with the ids they must have. The error names the field.
    pub(crate) fn decode(&self, shape: &Shape) -> Result<Decoded, Verdict> {
        let ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner).take();
        ahead.map_or_else(|| self.decode_now(shape), |ahead| ahead.read)
    }

    fn decode_now(&self, shape: &Shape) -> Result<Decoded, Verdict> {
        let bad = |error: String| Verdict::refused("bad_data", format!("data.{error}"));
        let members = shape.read(self.data).map_err(|error| Verdict::refused("bad_data", format!("data {error}")))?;
        let (mut row, keys) = shape.row(&members).map_err(bad)?;
        if row.uuid("id").is_some_and(|id| !id.is_nil() && id != self.id) {
            return Err(Verdict::refused("id_mismatch", "data.id is not the entity_id of the envelope"));
        }
        row.set("id", self.id.into());
        let (mut children, mut cut) = (Vec::new(), Vec::new());
        for (child, lines) in self.entity.children.iter().zip(&shape.lines) {
            let list = members.get(shape, child.key).map(|list| FirstOf::read(list, child.most));
            let list = list.transpose().map_err(|error| bad(format!("{}: {error}", child.key)))?.unwrap_or_default();
            if list.is_cut() {
                if self.pushed.beyond == Beyond::Refuse {
                    return Err(limits::too_many(child, list.count));
                }
                cut.push(child.key);
            }
            children.push(self.lines(child, lines, &list.first)?);
        }
        self.refuse_nul(&*row, &children)?;
        Ok(Decoded { row, keys, children, cut })
    }

    /// The row and its children without what cannot be read of them; nothing when it is no object.
    pub(crate) fn as_far_as_it_can_be_read(&self, shape: &Shape) -> Option<Readable> {
        let members = shape.read(self.data).ok()?;
        let row = shape.readable(&members)?;
        let lines = |(child, of_line): (&Child, &Shape)| {
            let list =
                members.get(shape, child.key).and_then(|list| FirstOf::read(list, child.most).ok()).unwrap_or_default();
            let read = |raw: &&RawValue| of_line.readable(&of_line.read(raw.get()).ok()?);
            list.first.iter().filter_map(read).collect()
        };
        Some((row, self.entity.children.iter().zip(&shape.lines).map(lines).collect()))
    }

    /// One of the two databases has no NUL in a text: what it would refuse is refused before it is asked.
    fn refuse_nul(&self, row: &dyn Row, children: &[Vec<Line>]) -> Result<(), Verdict> {
        // As JSON writes it. There is hardly ever one.
        if !self.data.contains("\\u0000") {
            return Ok(());
        }
        let in_row = |table: &dyn SyncTable, row: &dyn Row| {
            let has_nul = |column: &&str| row.text(column).is_some_and(|text| text.contains('\0'));
            table.columns().into_iter().find(has_nul).map(camel)
        };
        let in_lines = |(child, lines): (&Child, &Vec<Line>)| {
            let mut lines = lines.iter().enumerate();
            lines.find_map(|(place, (line, _))| {
                Some(format!("{}[{place}].{}", child.key, in_row(child.table, &**line)?))
            })
        };
        let found = in_row(self.entity.table, row);
        match found.or_else(|| self.entity.children.iter().zip(children).find_map(in_lines)) {
            Some(field) => {
                Err(Verdict::refused("bad_data", format!("data.{field}: must not contain the NUL character")))
            }
            None => Ok(()),
        }
    }

    /// Whether it says which columns it is about.
    pub(crate) const fn names_columns(&self) -> bool {
        self.changed.is_some()
    }

    /// Whether it says to be about `column`; `None` when it says nothing of that.
    pub(crate) fn names(&self, column: &str) -> Option<bool> {
        let changed = self.changed.as_ref()?;
        Some(changed.iter().any(|name| plain(name) == plain(column)))
    }

    /// Leaves of what was sent what the envelope says to be about, for a row that HQ has.
    pub(crate) fn narrow(&self, decoded: &mut Decoded) {
        let Some(changed) = &self.changed else { return };
        decoded.keys.keep(changed);
        for (child, lines) in self.entity.children.iter().zip(&mut decoded.children) {
            if !decoded.keys.name(child.key) {
                lines.clear();
            }
        }
    }

    fn lines(&self, child: &Child, shape: &Shape, list: &[&RawValue]) -> Result<Vec<Line>, Verdict> {
        let mut rows = Vec::with_capacity(list.len());
        let mut named = HashSet::with_capacity(list.len());
        for (position, raw) in list.iter().enumerate() {
            let bad = |error: String| Verdict::refused("bad_data", format!("data.{}[{position}]{error}", child.key));
            let members = shape.read(raw.get()).map_err(|error| bad(format!(" {error}")))?;
            let (mut row, keys) = shape.row(&members).map_err(|error| bad(format!(".{error}")))?;
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
            rows.push((row, keys));
        }
        Ok(rows)
    }
}
