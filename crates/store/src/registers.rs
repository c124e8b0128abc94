//! Tills: which terminal is which register. They belong to this store alone and do not travel.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use tillkeep_http::auth::device::wrong_terminal;
use tillkeep_http::describe::{Change, Draft, Listing, Lists, Write};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{self, Fields, ListSpec};
use tillkeep_http::{Answer, Body, Caller, Created, Id, List};
use tillkeep_model::permission::Requirement;
use tillkeep_model::permission::code::{PosSell, RegistersView, ReportsZReport, StoresEdit};
use tillkeep_model::{ErrorCode, fields};
use tillkeep_storage::entity::{register, register_session};
use tillkeep_storage::own_documents::UNKNOWN_TERMINAL;
use tillkeep_storage::sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter};
use tillkeep_storage::{Tx, audit};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::routes::Routes;
use crate::{Store, sessions};

const FIELDS: Fields = Fields::store(&fields::register::BOOK);

const LIST: ListSpec = ListSpec {
    search: &["code", "name", "terminal_id"],
    filters: &["code", "terminalId"],
    sort: &["code", "name", "createdAt"],
};

/// The terminal a question is about.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Terminal {
    terminal_id: Option<String>,
}

impl Terminal {
    /// As named, else the one the caller signed in at.
    pub fn of<'a, P: Requirement>(&'a self, caller: &'a Caller<P>) -> Result<&'a str> {
        let terminal = self.terminal_id.as_deref().or(caller.terminal_id.as_deref());
        terminal.ok_or_else(|| Error::field("terminalId", "is required; name the till"))
    }
}

/// The code with which somebody acts at other tills than their own.
const ELSEWHERE: [&str; 1] = ["registers.open"];

/// The terminal where the caller does something: the one they signed in at, which a terminal that they name must be. A
/// sign-in without one may name one with `registers.open`.
pub fn acting_at<'a, P: Requirement>(caller: &'a Caller<P>, named: Option<&'a str>) -> Result<Option<&'a str>> {
    match (caller.terminal_id.as_deref(), named) {
        (own, None) => Ok(own),
        (Some(own), Some(named)) if own == named => Ok(Some(own)),
        (Some(_), Some(_)) => Err(wrong_terminal("you signed in at another till; act there, or sign in at this one")),
        (None, Some(named)) if caller.may(&ELSEWHERE) => Ok(Some(named)),
        (None, Some(_)) => Err(wrong_terminal("sign in at this till with POST /api/v1/auth/pin-login to act there")
            .with("required", ELSEWHERE)),
    }
}

/// Refuses to act at the drawer of a till where the caller did not sign in, without `registers.open`.
pub fn refuse_elsewhere<P: Requirement>(caller: &Caller<P>, register: &register::Model) -> Result<()> {
    if caller.terminal_id.as_deref() == Some(&register.terminal_id) || caller.may(&ELSEWHERE) {
        return Ok(());
    }
    let text = "the drawer of another till than the one you signed in at needs registers.open";
    Err(wrong_terminal(text).with("required", ELSEWHERE))
}

/// The list of registers.
pub struct Registers;

impl Listing for Registers {
    type Row = register::Entity;
    const SPEC: ListSpec = LIST;
}

/// A register as it is written.
pub struct Till;

impl Write for Till {
    type Row = register::Entity;
    const FIELDS: Fields = FIELDS;
    type More = ();

    fn name() -> Cow<'static, str> {
        "Register".into()
    }
}

/// A register with its drawer.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RegisterWithSession {
    #[serde(flatten)]
    register: register::Model,
    open_session: Option<register_session::Model>,
}

pub async fn list(
    caller: Caller<(RegistersView, PosSell)>,
    State(store): State<Arc<Store>>,
    Lists { query, .. }: Lists<Registers>,
) -> Result<List<RegisterWithSession>> {
    let knows = sessions::knows(&caller, &store).await?;
    let snapshot = caller.db().snapshot().await?;
    let page = resource::list(&snapshot, &LIST, &query, register::Entity::find()).await?;
    let ids: Vec<Uuid> = page.rows.iter().map(|register: &register::Model| register.id).collect();
    let mut open: HashMap<Uuid, register_session::Model> = register_session::Entity::find()
        .filter(register_session::Column::RegisterId.is_in(ids))
        .filter(register_session::Column::Status.ne("closed"))
        .all(&snapshot)
        .await?
        .into_iter()
        .map(|session| (session.register_id, sessions::shown(session, knows)))
        .collect();
    let with_session =
        |register: register::Model| RegisterWithSession { open_session: open.remove(&register.id), register };
    Ok(page.map(with_session))
}

pub async fn create(
    caller: Caller<(StoresEdit, ReportsZReport)>,
    Body(Draft { keys: body, .. }): Body<Draft<Till>>,
) -> Result<Created<register::Model>> {
    let mut row: register::Model = resource::draft(FIELDS, body.clone(), caller.now())?;
    (row.created_at, row.updated_at) = (caller.now(), caller.now());
    let tx = caller.db().begin().await?;
    if let Some(stored) = register::Entity::find_by_id(row.id).one(&tx).await? {
        if resource::same(&stored, &body) {
            return Ok(Created { data: stored, new: false });
        }
        return Err(Error::new(ErrorCode::IdReused, "this id belongs to a register with other content").at("id"));
    }
    check_unique(&tx, &row).await?;
    register::Entity::insert(row.clone().into_active_model()).exec_without_returning(&tx).await?;
    record(&tx, &caller, "register.create", row.id, json!(body)).await?;
    tx.commit().await?;
    Ok(Created::new(row))
}

pub async fn edit(
    caller: Caller<(StoresEdit, ReportsZReport)>,
    Id(id): Id,
    Body(Change { keys: body, .. }): Body<Change<Till>>,
) -> Result<Answer<register::Model>> {
    let tx = caller.db().begin().await?;
    let old = register::Entity::find_by_id(id).one(&tx).await?.ok_or_else(|| Error::not_found("register"))?;
    let mut new = resource::changed(FIELDS, &old, &body, caller.now())?;
    // A till that came back from headquarters has its drawer open and no terminal: it must be given one.
    let given = new.terminal_id != old.terminal_id && !old.terminal_id.starts_with(UNKNOWN_TERMINAL);
    let moved = given || (old.is_active && !new.is_active);
    if moved && sessions::open_at(&tx, id).await?.is_some() {
        let text = "the drawer of this register is open; close it before the till is moved or switched off";
        return Err(Error::new(ErrorCode::SessionOpen, text));
    }
    if new == old {
        return Ok(Answer(old));
    }
    check_unique(&tx, &new).await?;
    new.updated_at = caller.now();
    register::Entity::update(new.clone().into_active_model().reset_all()).exec(&tx).await?;
    record(&tx, &caller, "register.edit", id, json!(body)).await?;
    tx.commit().await?;
    Ok(Answer(new))
}

async fn check_unique(tx: &Tx, row: &register::Model) -> Result<()> {
    if resource::taken::<register::Entity>(tx, row.id, "code", row.code.as_str()).await? {
        return Err(Error::new(ErrorCode::DuplicateCode, "another register has this code; take a free one").at("code"));
    }
    if resource::taken::<register::Entity>(tx, row.id, "terminalId", row.terminal_id.as_str()).await? {
        let text = "another register has this terminal; free it there first";
        return Err(Error::new(ErrorCode::Duplicate, text).at("terminalId"));
    }
    Ok(())
}

async fn record<P: Requirement>(
    tx: &Tx,
    caller: &Caller<P>,
    action: &'static str,
    id: Uuid,
    details: Json,
) -> Result<()> {
    let entry = audit::Entry {
        entity_type: Some("registers"),
        entity_id: Some(id.to_string()),
        details,
        ..caller.audit(action)
    };
    audit::record(tx, entry, caller.now()).await?;
    Ok(())
}

/// The routes of registers.
pub fn routes(routes: Routes) -> Routes {
    use ErrorCode::{DuplicateCode, IdReused, SessionOpen};
    routes
        .get("/registers", list)
        .about("List registers with their open drawers.")
        .post("/registers", create)
        .about("Make a register.")
        .fails(&[IdReused, DuplicateCode])
        .patch("/registers/{id}", edit)
        .about("Change a register.")
        .fails(&[SessionOpen, DuplicateCode])
}
