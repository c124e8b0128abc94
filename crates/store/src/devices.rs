//! Enrolled tills. Whoever runs the shop gives a device a key, which it keeps and sends with each PIN that is typed there; a
//! stolen one is revoked.

use std::sync::Arc;

use axum::extract::State;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde_json::{Value as Json, json};
use tillkeep_http::auth::device::{Enroller, key_hash};
use tillkeep_http::auth::{Revocation, Sessions};
use tillkeep_http::describe::{Listing, Lists};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{self, ListSpec};
use tillkeep_http::sent::Sent;
use tillkeep_http::{Body, Caller, Created, Id, List, NoContent, files, sent};
use tillkeep_model::Instant;
use tillkeep_model::fields::device::ENROLMENT;
use tillkeep_model::permission::Enrolling;
use tillkeep_storage::entity::device::{Column, Entity, Model};
use tillkeep_storage::entity::register;
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::Store;
use crate::act::{Acting, Log, Stopped};
use crate::state::Routes;

/// Who enrols and revokes: from a device that is not enrolled as well, or the first could not be enrolled.
pub(crate) type Manager = Caller<Enrolling<Enroller>>;

/// What a key begins with, so that one in the wrong place is known for what it is.
const PREFIX: &str = "dev_";

const LIST: ListSpec = ListSpec {
    search: &["name"],
    filters: &["registerId", "enrolledBy"],
    sort: &["createdAt", "name", "lastSeenAt", "revokedAt"],
};

/// The list of devices.
pub(crate) struct Devices;

impl Listing for Devices {
    type Row = Entity;
    const SPEC: ListSpec = LIST;
}

sent! {
    pub(crate) struct Enrolment as "Enrolment" by ENROLMENT {
        /// The till that it is.
        register_id: Uuid,
        /// What people know it by.
        name: String,
    }
}

/// A new device with its key, which is shown once.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Enrolled {
    id: Uuid,
    /// To be sent as `Tillkeep-Device`.
    device_key: String,
}

/// A device as it is listed.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Device {
    id: Uuid,
    register_id: Uuid,
    name: String,
    enrolled_by: Uuid,
    created_at: Instant,
    last_seen_at: Option<Instant>,
    /// Since when it is one no more.
    revoked_at: Option<Instant>,
}

pub(crate) async fn list(
    caller: Manager,
    State(_): State<Arc<Store>>,
    Lists { query, .. }: Lists<Devices>,
) -> Result<List<Device>> {
    let page = resource::list(caller.reader(), &LIST, &query, Entity::find()).await?;
    Ok(page.map(|row: Model| Device {
        id: row.id,
        register_id: row.register_id,
        name: row.name,
        enrolled_by: row.enrolled_by,
        created_at: row.created_at,
        last_seen_at: row.last_seen_at,
        revoked_at: row.revoked_at,
    }))
}

#[expect(clippy::disallowed_methods, reason = "devices stay at their store")]
pub(crate) async fn enrol(
    caller: Manager,
    State(store): State<Arc<Store>>,
    Body(body): Body<Enrolment>,
) -> Result<Created<Enrolled>> {
    body.check_fields(caller.now())?;
    let id = Uuid::now_v7();
    let act = store.act(&caller, "device.enrol").about("devices", &id);
    let (row, device_key) =
        New { id, register_id: body.register_id, name: &body.name, by: caller.user_id }.at(act.now());
    let enrolled = act.run(move |tx| {
        Box::pin(async move {
            if register::Entity::find_by_id(row.register_id).one(&**tx).await?.is_none() {
                return Err(Error::field("registerId", "is no register of this store; see GET /registers").into());
            }
            let details = audit_details(&row);
            Entity::insert(row.into_active_model()).exec_without_returning(&**tx).await?;
            Ok(((), Log::Line(details)))
        })
    });
    enrolled.await?;
    store.sync.tills_changed();
    Ok(Created::new(Enrolled { id, device_key }))
}

/// What the audit log says of an enrolment.
fn audit_details(row: &Model) -> Json {
    json!({"registerId": row.register_id, "name": row.name})
}

/// Enrols a device beside what else is done, with its own line in the audit log.
#[expect(clippy::disallowed_methods, reason = "devices stay at their store")]
pub(crate) async fn insert(tx: &mut Acting<'_>, row: Model) -> Result<(), Stopped> {
    let mut details = audit_details(&row);
    details["deviceId"] = json!(row.id);
    Entity::insert(row.into_active_model()).exec_without_returning(&**tx).await?;
    tx.note("device.enrol", None, details);
    Ok(())
}

/// A device about to be enrolled.
pub(crate) struct New<'a> {
    pub id: Uuid,
    pub register_id: Uuid,
    pub name: &'a str,
    /// Who enrols it.
    pub by: Uuid,
}

impl New<'_> {
    /// Its row, and its key, which is nowhere else.
    pub(crate) fn at(self, now: Instant) -> (Model, String) {
        let key = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(files::random::<32>()));
        let row = Model {
            id: self.id,
            created_at: now,
            updated_at: now,
            register_id: self.register_id,
            name: self.name.trim().to_owned(),
            key_hash: key_hash(&key),
            enrolled_by: self.by,
            ..Model::default()
        };
        (row, key)
    }
}

/// `DELETE /devices/{id}`: whoever is signed in there is signed out.
#[expect(clippy::disallowed_methods, reason = "devices stay at their store")]
pub(crate) async fn revoke(caller: Manager, State(store): State<Arc<Store>>, Id(id): Id) -> Result<NoContent> {
    let which = Revocation::AtDevice(id);
    let act = store.act(&caller, "device.revoke").about("devices", &id);
    let now = act.now();
    let revoked = act.run(move |tx| {
        Box::pin(async move {
            let revoked = Entity::update_many()
                .col_expr(Column::RevokedAt, Expr::value(now))
                .col_expr(Column::UpdatedAt, Expr::value(now))
                .filter(Column::Id.eq(id))
                .filter(Column::RevokedAt.is_null())
                .exec(&**tx)
                .await?;
            if revoked.rows_affected == 0 {
                return Err(Error::not_found("device").into());
            }
            Sessions::revoke(&**tx, which, "the device was revoked", now).await?;
            Ok(((), Log::Line(Json::Null)))
        })
    });
    revoked.await?;
    caller.auth().ended(which);
    store.sync.tills_changed();
    Ok(NoContent)
}

/// The routes of devices.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .get("/devices", list)
        .about("List enrolled tills, and those that were.")
        .post("/devices", enrol)
        .about("Enrol a device as a till: its key is shown this once.")
        .delete("/devices/{id}", revoke)
        .about("Revoke a device: its key is worth nothing from then on, and its sessions end.")
}
