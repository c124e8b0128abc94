//! The second factors of whoever asks.

use serde::Serialize;
use serde_json::json;
use tillkeep_model::permission::{Fresh, SignedInAnyFactor};
use tillkeep_model::{ErrorCode, Instant, fields};
use tillkeep_storage::db::{Turn, take_turn};
use tillkeep_storage::entity::user;
use tillkeep_storage::factors::{self, Factor};
use tillkeep_storage::sea_orm::{ColumnTrait, DbErr, EntityTrait, QueryFilter, QuerySelect};
use tillkeep_storage::{Tx, audit};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{passkeys, recovery};
use crate::answer::{Answer, NoContent};
use crate::auth::{Caller, SecondFactor, found, fresh_until};
use crate::error::{Error, Result};
use crate::extract::Id;

/// Whoever changes their own factors.
pub(super) type Own = Caller<Fresh<SignedInAnyFactor>>;

/// Second factors of a user, and what is asked of them.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct OwnFactors {
    setting: SecondFactor,
    /// Whether the caller must have one.
    required: bool,
    /// Until when the session is good for what wants the second factor to have been shown lately.
    fresh_until: Option<Instant>,
    factors: Vec<FactorView>,
    recovery_codes_left: u64,
    passkeys: Passkeys,
}

/// Whether browsers can use passkeys here.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PasskeysUsable)]
struct Passkeys {
    usable: bool,
    /// Why not, for people.
    reason: Option<&'static str>,
}

/// One second factor.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SecondFactorView)]
pub(super) struct FactorView {
    id: Uuid,
    /// `passkey` or `totp`.
    kind: String,
    name: String,
    created_at: Instant,
    last_used_at: Option<Instant>,
}

impl From<Factor> for FactorView {
    fn from(row: Factor) -> Self {
        let Factor { id, kind, name, created_at, last_used_at, .. } = row;
        Self { id, kind, name, created_at, last_used_at }
    }
}

/// Recovery codes, shown this once.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewCodes {
    recovery_codes: Vec<String>,
}

/// `GET /auth/factors`
pub(super) async fn list(caller: Caller<SignedInAnyFactor>) -> Result<Answer<OwnFactors>> {
    let auth = caller.auth();
    let conn = caller.snapshot().await?;
    let held = factors::of(&conn, caller.user_id).await?;
    let why_not = passkeys::unusable(auth);
    Ok(Answer(OwnFactors {
        setting: auth.second_factor,
        required: auth.must_have_factor(&caller.access),
        fresh_until: caller.factor_at.map(fresh_until),
        factors: held.into_iter().map(FactorView::from).collect(),
        recovery_codes_left: factors::codes_left(&conn, caller.user_id).await?,
        passkeys: Passkeys { usable: why_not.is_none(), reason: why_not },
    }))
}

/// Locks the row of whoever changes their factors, one after the other, and has every server read anew what they hold.
pub(super) async fn touch(tx: &mut Tx, user_id: Uuid) -> Result<(), DbErr> {
    user::Entity::find_by_id(user_id).lock_exclusive().one(&*tx).await?;
    tx.update::<user::Entity>(|people| people.filter(user::Column::Id.eq(user_id))).await?;
    Ok(())
}

/// An entry about the factors of the caller.
pub(super) fn entry(caller: &Own, action: &'static str, details: serde_json::Value) -> audit::Entry {
    audit::Entry {
        entity_type: Some(fields::user::BOOK.table),
        entity_id: Some(caller.user_id.to_string()),
        details,
        ..caller.audit(action)
    }
}

/// `DELETE /auth/factors/{id}`
pub(super) async fn remove(caller: Own, Id(id): Id) -> Result<NoContent> {
    let mut act = caller.begin().await?;
    take_turn(&**act, Turn::Pin).await?;
    touch(&mut act, caller.user_id).await?;
    let removed = factors::remove(&act, caller.user_id, id).await?;
    let removed = removed.ok_or_else(|| Error::not_found("second factor"))?;
    if found::is_known(&act, caller.user_id).await? && !factors::has(&**act, caller.user_id).await? {
        let text = "another person knows your PIN, and your second factor alone keeps them out: change the PIN first, with POST \
                    /api/v1/auth/change-pin";
        return Err(Error::new(ErrorCode::Conflict, text));
    }
    let details = json!({"factorId": id, "kind": removed.kind, "name": removed.name});
    act.done(entry(&caller, "factor.remove", details)).await?;
    Ok(NoContent)
}

/// `POST /auth/factors/recovery-codes`
pub(super) async fn new_codes(caller: Own) -> Result<Answer<NewCodes>> {
    let mut act = caller.begin().await?;
    touch(&mut act, caller.user_id).await?;
    if !factors::has(&**act, caller.user_id).await? {
        return Err(Error::not_found("second factor"));
    }
    let (recovery_codes, hashes) = recovery::made(caller.auth(), caller.user_id)?;
    factors::replace_codes(&act, caller.user_id, hashes, caller.now()).await?;
    act.done(entry(&caller, "factor.codes", json!({"number": recovery_codes.len()}))).await?;
    Ok(Answer(NewCodes { recovery_codes }))
}
