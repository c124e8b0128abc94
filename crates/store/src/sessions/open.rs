//! `POST /registers/{id}/open`.

use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::extract::OptionalBody;
use tillkeep_http::resource::Check;
use tillkeep_http::{Caller, Created, Id};
use tillkeep_model::permission::code::{PosSell, RegistersOpen};
use tillkeep_model::{ErrorCode, JsonText, Money};
use tillkeep_storage::entity::{register, register_session, user};
use tillkeep_storage::sea_orm::{EntityTrait, IntoActiveModel};
use tillkeep_storage::{audit, outbox};
use utoipa::ToSchema;
use uuid::Uuid;

use super::open_at;
use crate::approvals::{Granted, Scope, Wallet};
use crate::bounds::{self, PRICE_TEXT};
use crate::registers::refuse_elsewhere;
use crate::{Store, day};

/// Bytes of a list of coins and notes at the most.
const MAX_DENOMINATIONS: usize = 4000;

#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = SessionOpening)]
pub struct Opening {
    #[serde(rename = "openingFloat")]
    float: Option<Money>,
    denominations: Option<Json>,
    note: Option<String>,
    opened_for_user_id: Option<Uuid>,
    /// Tokens of `POST /pos/approvals`.
    #[serde(default)]
    approvals: Vec<String>,
}

impl Opening {
    fn check(&self) -> Result<()> {
        let listed = self.denominations.as_ref().is_none_or(|list| list.is_array() || list.is_object());
        let short = self.denominations.as_ref().is_none_or(|list| list.to_string().len() <= MAX_DENOMINATIONS);
        let mut check = Check::default();
        Wallet::check(&self.approvals, &mut check);
        check
            .that(self.float.is_none_or(bounds::is_price), "openingFloat", PRICE_TEXT)
            .that(listed && short, "denominations", "must be a list or an object of at most 4000 bytes")
            .optional(self.note.as_deref(), "note", 500)
            .finish()
    }
}

pub async fn open(
    caller: Caller<(RegistersOpen, PosSell)>,
    State(store): State<Arc<Store>>,
    Id(register_id): Id,
    OptionalBody(body): OptionalBody<Opening>,
) -> Result<Created<register_session::Model>> {
    body.check()?;
    let now = caller.now();
    let shop = store.shop().await?;
    let settings = shop.own()?;
    let opened_by = opened_for(&caller, body.opened_for_user_id).await?;
    let purse = Wallet::read(caller.db().reader(), &body.approvals).await?.judged(&caller, store.id).await?;
    store.may_number().await?;
    let tx = caller.db().begin().await?;
    let register = register::Entity::find_by_id(register_id).one(&tx).await?;
    let register = register.ok_or_else(|| Error::not_found("register"))?;
    if !register.is_active {
        return Err(Error::new(
            ErrorCode::Conflict,
            "this register is not active; set isActive with PATCH /registers/{id}",
        ));
    }
    refuse_elsewhere(&caller, &register)?;
    let default = register.default_float.unwrap_or(settings.default_float);
    let opening_float = body.float.unwrap_or(default);
    let other_float = opening_float != default && !caller.may(&["registers.open"]);
    let scope = Scope::Float { register_id, amount: opening_float };
    let granted = if other_float { purse.fill("registers.open", &scope).ok() } else { None };
    if other_float && granted.is_none() {
        let text = format!("the float is {}; another one needs registers.open or an approval of it", default.0);
        return Err(Error::new(ErrorCode::FloatNotDefault, text)
            .with("required", ["registers.open"])
            .with("approvable", true)
            .at("openingFloat"));
    }
    if let Some(session) = open_at(&tx, register.id).await? {
        let text = format!("session {} of this register is still open; close it first", session.session_number);
        return Err(Error::new(ErrorCode::SessionAlreadyOpen, text).with("sessionId", session.id));
    }
    let id = Uuid::now_v7();
    if let Some(granted) = granted {
        granted.spend(&tx, id, now).await?;
    }
    let (number, place) = store.numbers.series("session", &register.code).next(&tx, now).await?;
    let number = number.of_session();
    let session = register_session::Model {
        id,
        store_id: store.id,
        created_at: now,
        updated_at: now,
        register_id: register.id,
        register_code: register.code,
        session_number: i32::try_from(number).map_err(|error| Error::internal(error))?,
        status: "open".to_owned(),
        business_date: day::today(settings, now),
        opened_by,
        opened_at: now,
        opening_float,
        opening_denominations: body.denominations.map(JsonText),
        ..register_session::Model::default()
    };
    register_session::Entity::insert(session.clone().into_active_model()).exec_without_returning(&tx).await?;
    let entry = audit::Entry {
        entity_type: Some("register_sessions"),
        entity_id: Some(session.id.to_string()),
        approver_id: granted.map(Granted::approver_id),
        details: json!({"openingFloat": opening_float, "openedBy": opened_by, "note": body.note}),
        ..caller.audit("session.open")
    };
    audit::record(&tx, entry, now).await?;
    outbox::enqueue_at(&tx, place, &super::entry(&session, "create"), now).await?;
    store.commit(tx).await?;
    Ok(Created::new(session))
}

/// Whose drawer it is: the caller's, or somebody's for whom the caller may open it.
async fn opened_for(caller: &Caller<(RegistersOpen, PosSell)>, other: Option<Uuid>) -> Result<Uuid> {
    let Some(other) = other.filter(|other| *other != caller.user_id) else { return Ok(caller.user_id) };
    if !caller.may(&["registers.open"]) {
        // Not to be approved: whose drawer it is, is for somebody who holds the code to say at their own name.
        let text = "opening a drawer for somebody else needs registers.open";
        return Err(Error::new(ErrorCode::Forbidden, text).with("required", ["registers.open"]));
    }
    let user = user::Entity::find_by_id(other).one(caller.db().reader()).await?;
    if user.is_some_and(|user| user.is_active && user.deleted_at.is_none()) {
        return Ok(other);
    }
    Err(Error::field("openedForUserId", "is no active user of this store"))
}
