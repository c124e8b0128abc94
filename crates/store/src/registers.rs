//! Tills: which terminal is which register. They belong to this store alone and do not travel.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tillkeep_http::describe::{Change, Draft, Listing, Lists, Write};
use tillkeep_http::documents::drawers::shown;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{self, Check, Fields, ListSpec};
use tillkeep_http::{Answer, Body, Caller, Created, Id, List};
use tillkeep_model::fields::register::PRINTER_WIDTHS;
use tillkeep_model::permission::Enrolling;
use tillkeep_model::permission::code::{PosSell, RegistersView, ReportsZReport, StoresEdit};
use tillkeep_model::state::SessionStatus;
use tillkeep_model::{ErrorCode, fields};
use tillkeep_storage::Tx;
use tillkeep_storage::entity::{register, register_session};
use tillkeep_storage::own_documents::UNKNOWN_TERMINAL;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::Store;
use crate::act::{Log, record_of_row};
use crate::devices::{self, Manager};
use crate::printers::Printer;
use crate::sessions::drawer::open_at;
use crate::sessions::view::knows;
use crate::state::{PrinterState, Routes};

const FIELDS: Fields = Fields::store(&fields::register::BOOK);

const LIST: ListSpec = ListSpec {
    search: &["code", "name", "terminalId"],
    filters: &["code", "terminalId"],
    sort: &["code", "name", "createdAt"],
};

/// The list of registers.
pub(crate) struct Registers;

impl Listing for Registers {
    type Row = register::Entity;
    const SPEC: ListSpec = LIST;
}

/// A register as it is written.
pub(crate) struct Till;

impl Write for Till {
    type Row = register::Entity;
    const FIELDS: Fields = FIELDS;
    type More = ();

    fn name() -> Cow<'static, str> {
        "Register".into()
    }
}

/// A new register.
pub(crate) struct NewTill;

impl Write for NewTill {
    type Row = register::Entity;
    const FIELDS: Fields = FIELDS;
    type More = Enrolment;

    fn name() -> Cow<'static, str> {
        "Register".into()
    }
}

/// That the till which a register is made for is enrolled with it.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Enrolment {
    /// Enrols a device with it; the answer has its key, which is shown this once.
    #[schema(nullable)]
    enroll: Option<bool>,
    /// What people know that device by; the name of the register when it is left out.
    #[schema(max_length = 100)]
    device_name: Option<String>,
}

/// A register that was made, and the device that was enrolled with it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MadeRegister {
    #[serde(flatten)]
    register: register::Model,
    #[serde(skip_serializing_if = "Option::is_none")]
    device_id: Option<Uuid>,
    /// To be sent as `Tillkeep-Device`.
    #[serde(skip_serializing_if = "Option::is_none")]
    device_key: Option<String>,
}

/// A register with its drawer.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RegisterWithSession {
    #[serde(flatten)]
    register: register::Model,
    open_session: Option<register_session::Model>,
    /// How its printer was when it was asked last; nothing for a register without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    printer_state: Option<PrinterState>,
}

pub(crate) async fn list(
    caller: Caller<Enrolling<(RegistersView, PosSell)>>,
    State(store): State<Arc<Store>>,
    Lists { query, .. }: Lists<Registers>,
) -> Result<List<RegisterWithSession>> {
    let knows = knows(&caller, &store).await?;
    let snapshot = caller.snapshot().await?;
    let page = resource::list(&snapshot, &LIST, &query, register::Entity::find()).await?;
    let ids: Vec<Uuid> = page.rows.iter().map(|register: &register::Model| register.id).collect();
    let mut open: HashMap<Uuid, register_session::Model> = register_session::Entity::find()
        .filter(register_session::Column::RegisterId.is_in(ids))
        .filter(register_session::Column::Status.ne(SessionStatus::Closed.word()))
        .all(&snapshot)
        .await?
        .into_iter()
        .map(|session| (session.register_id, shown(session, knows)))
        .collect();
    Ok(page.map(|register: register::Model| RegisterWithSession {
        open_session: open.remove(&register.id),
        printer_state: Printer::of(&register).map(|_| store.printers.state(register.id)),
        register,
    }))
}

record_of_row!(register, "a register");

pub(crate) async fn create(
    caller: Manager,
    State(store): State<Arc<Store>>,
    Body(draft): Body<Draft<NewTill>>,
) -> Result<Created<MadeRegister>> {
    let (body, Enrolment { enroll, device_name }) = draft.parted()?;
    let enrols = enroll.unwrap_or_default();
    if let Some(name) = &device_name {
        Check::default().text(name, "deviceName", 100).finish()?;
        if !enrols {
            return Err(Error::field("deviceName", "goes with enroll: true, which enrols a device with the register"));
        }
    }
    let mut row: register::Model = resource::draft(FIELDS, body.clone(), caller.now())?;
    check_printer(&row)?;
    let act = store.act(&caller, "register.create").creates(row.id, |stored| resource::same(stored, &body));
    let alone = |register| MadeRegister { register, device_id: None, device_key: None };
    if let Some(stored) = act.stored(caller.reader()).await? {
        return Ok(Created { data: alone(stored), new: false });
    }
    (row.created_at, row.updated_at) = (act.now(), act.now());
    let name = device_name.as_deref().unwrap_or(&row.name);
    let device = devices::New { id: Uuid::now_v7(), register_id: row.id, name, by: caller.user_id };
    let (device_id, (device, key)) = (device.id, device.at(act.now()));
    let details = json!(body);
    let work = act.run(move |tx| {
        Box::pin(async move {
            check_unique(tx, &row).await?;
            tx.insert(&row).await?;
            if enrols {
                devices::insert(tx, device).await?;
            }
            Ok((row, Log::Line(details)))
        })
    });
    let Created { data: register, new } = work.await?;
    store.sync.tills_changed();
    store.printers.changed(register.id);
    // Whoever came second at once has enrolled nothing.
    let made = (enrols && new).then_some((device_id, key));
    let (device_id, device_key) = made.unzip();
    Ok(Created { data: MadeRegister { register, device_id, device_key }, new })
}

pub(crate) async fn edit(
    caller: Caller<(StoresEdit, ReportsZReport)>,
    State(store): State<Arc<Store>>,
    Id(id): Id,
    Body(Change { keys: body, .. }): Body<Change<Till>>,
) -> Result<Answer<register::Model>> {
    let act = store.act(&caller, "register.edit").about("registers", &id);
    let now = act.now();
    let work = act.run(move |tx| {
        Box::pin(async move {
            let old = register::Entity::find_by_id(id).one(&**tx).await?;
            let old = old.ok_or_else(|| Error::not_found("register"))?;
            let mut new = resource::changed(FIELDS, &old, &body, now)?;
            // A till that came back from headquarters has its drawer open and no terminal: it must be given one.
            let given = new.terminal_id != old.terminal_id && !old.terminal_id.starts_with(UNKNOWN_TERMINAL);
            let moved = given || (old.is_active && !new.is_active);
            if moved && open_at(&**tx, id).await?.is_some() {
                let text = "the drawer of this register is open; close it before the till is moved or switched off";
                return Err(Error::new(ErrorCode::SessionOpen, text).into());
            }
            let has_another_printer = new.printer != old.printer;
            if new == old {
                return Ok(((old, false), Log::Unchanged));
            }
            if has_another_printer {
                check_printer(&new)?;
            }
            check_unique(tx, &new).await?;
            new.updated_at = now;
            tx.update(&new).await?;
            Ok(((new, has_another_printer), Log::Line(json!(body))))
        })
    });
    let (register, has_another_printer) = work.await?;
    store.sync.tills_changed();
    if has_another_printer {
        store.printers.changed(id);
    }
    Ok(Answer(register))
}

/// What the book cannot say of a printer: which widths there are.
fn check_printer(row: &register::Model) -> Result<()> {
    let Some(printer) = Printer::of(row) else { return Ok(()) };
    let is_known = PRINTER_WIDTHS.contains(&i64::from(printer.width));
    let text = "must be 32, 42 or 48: the letters that a line of its paper has";
    Check::default().that(is_known, "printer.width", text).finish()
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

/// The routes of registers.
pub(crate) fn routes(routes: Routes) -> Routes {
    use ErrorCode::{DuplicateCode, IdReused, SessionOpen};
    routes
        .get("/registers", list)
        .about("List registers with their open drawers.")
        .post("/registers", create)
        .about("Make a register, and enrol its till with it when that is asked for: the key is shown this once.")
        .fails(&[IdReused, DuplicateCode])
        .patch("/registers/{id}", edit)
        .about("Change some fields of a register.")
        .fails(&[SessionOpen, DuplicateCode])
}
