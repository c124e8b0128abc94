//! How a sync token stands with its store: the version that the store has now is good, and the one before for as long as
//! whoever replaced it wanted it.

use serde::{Deserialize, Serialize};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::tokens::{STORE_SYNC, SyncClaims};
use tillkeep_model::Instant;
use tillkeep_storage::entity::store::Model;
use tillkeep_storage::{Connection, Db, Tx, settings};
use uuid::Uuid;

use crate::Hq;

/// A replaced token version that still works.
#[derive(Serialize, Deserialize)]
pub(crate) struct Grace {
    pub tv: i32,
    pub until: Instant,
    /// How its successor gets to the store; `None` where nobody but a person brings it: it was taken back, or an earlier release
    /// replaced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handover: Option<Handover>,
}

/// The successor of a token, which a store takes over by itself. `docs/security.md`, "A rotated token".
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Handover {
    /// The version of the successor.
    pub next: i32,
    /// Since when it is given to nobody any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_at: Option<Instant>,
    /// When it was first asked for after that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_at: Option<Instant>,
}

impl Handover {
    pub(crate) const fn of_version(next: i32) -> Self {
        Self { next, over_at: None, refused_at: None }
    }
}

const GRACE: &str = "token_grace:";

fn grace_key(store_id: Uuid) -> String {
    format!("{GRACE}{store_id}")
}

/// How a sync token stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The present one.
    Good,
    /// The one before, within its grace.
    Until(Instant),
    Refused,
}

/// How a sync token of version `tv` stands with `store`.
pub async fn standing(db: &Db, store: &Model, tv: i32, now: Instant) -> Result<Standing> {
    if tv == store.sync_token_version {
        return Ok(Standing::Good);
    }
    let kept = settings::get(db.reader(), &grace_key(store.id)).await?;
    let grace: Option<Grace> = kept.and_then(|text| serde_json::from_str(&text).ok());
    let grace = grace.filter(|grace| grace.tv == tv && now < grace.until);
    Ok(grace.map_or(Standing::Refused, |grace| Standing::Until(grace.until)))
}

/// Whether a sync token of version `tv` is good for `store`: it is the present one, or the one before within its grace.
pub async fn token_version_ok(db: &Db, store: &Model, tv: i32, now: Instant) -> Result<bool> {
    Ok(standing(db, store, tv, now).await? != Standing::Refused)
}

/// Notes the version that was replaced.
pub(crate) async fn keep_grace(tx: &Tx, store_id: Uuid, grace: Grace) -> Result<()> {
    settings::set(tx, &grace_key(store_id), &serde_json::to_string(&grace)?).await?;
    Ok(())
}

/// What was noted of the version that was replaced last; no other transaction changes it before this one ends.
pub(super) async fn grace_to_change(tx: &Tx, store_id: Uuid) -> Result<Option<Grace>> {
    let key = grace_key(store_id);
    // Nearly every store has none, and gets no row for it.
    if settings::get(tx, &key).await?.is_none() {
        return Ok(None);
    }
    let kept = settings::get_to_change(tx, &key, String::new).await?;
    Ok(serde_json::from_str(&kept).ok())
}

/// The stores whose token was replaced, and was asked for once more than it is given, with the time.
pub(crate) async fn refused_handovers(conn: &Connection) -> Result<Vec<(Uuid, Instant)>> {
    let graces = graces(conn).await?.into_iter();
    Ok(graces.filter_map(|(store, grace)| Some((store, grace.handover?.refused_at?))).collect())
}

/// The stores that may still take over the successor of their token.
pub(super) async fn open_handovers(conn: &Connection, now: Instant) -> Result<Vec<Uuid>> {
    let is_open =
        |grace: &Grace| now < grace.until && grace.handover.as_ref().is_some_and(|handover| handover.over_at.is_none());
    let graces = graces(conn).await?.into_iter();
    Ok(graces.filter(|(_, grace)| is_open(grace)).map(|(store, _)| store).collect())
}

/// What was noted of all replaced tokens, by store.
async fn graces(conn: &Connection) -> Result<Vec<(Uuid, Grace)>> {
    let kept = settings::beginning_with(conn, GRACE).await?;
    let read = |(key, text): &(String, String)| {
        Some((key.strip_prefix(GRACE)?.parse().ok()?, serde_json::from_str(text).ok()?))
    };
    Ok(kept.iter().filter_map(read).collect())
}

/// A sync token of version `tv` for `store`.
pub(crate) fn sign(hq: &Hq, store: &Model, tv: i32, now: Instant) -> Result<String> {
    let claims = SyncClaims {
        store_id: Some(store.id),
        store_code: store.code.clone(),
        kind: STORE_SYNC.to_owned(),
        tv,
        iat: now.millis() / 1000,
        jti: Some(Uuid::now_v7()),
    };
    hq.auth.tokens.sign_sync(&claims).ok_or_else(|| Error::internal("a sync token could not be signed"))
}
