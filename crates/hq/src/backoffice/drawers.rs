//! The drawers of every store, as they were pushed; nothing here writes.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use tillkeep_http::describe::{Listing, Lists, More};
use tillkeep_http::documents::{business_dates, drawers};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{self, ListSpec};
use tillkeep_http::{Answer, Caller, Id, List};
use tillkeep_model::permission::code::RegistersView;
use tillkeep_storage::Connection;
use tillkeep_storage::entity::register_session::{Column, Entity, Model};
use tillkeep_storage::entity::{store, unapplied_document, user};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use tillkeep_storage::sync_log::unapplied;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::Hq;
use crate::replica::Figures;
use crate::scope::{in_scope, named_store};
use crate::state::Routes;

/// What may be asked of the list.
pub(crate) const LIST: ListSpec = ListSpec {
    search: &[],
    filters: &["storeId", "registerId", "registerCode", "status", "businessDate"],
    sort: &["businessDate", "openedAt", "createdAt", "sessionNumber"],
};

/// The list of drawers.
pub(crate) struct Drawers;

impl Listing for Drawers {
    type Row = Entity;
    const SPEC: ListSpec = LIST;
    const MORE: &'static [(&'static str, More)] = drawers::MORE;
}

/// A drawer with the names of its store and of the people who opened and closed it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DrawerOfStore)]
pub(crate) struct Drawer {
    store_code: String,
    opened_by_name: Option<String>,
    closed_by_name: Option<String>,
    /// Its sales that headquarters refused and that were resolved without applying them: its figures contain them, and
    /// they are at their store alone.
    not_at_headquarters: Vec<Unapplied>,
    #[serde(flatten)]
    session: Model,
}

/// A sale that headquarters does not have.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UnappliedSale)]
pub(crate) struct Unapplied {
    id: Uuid,
    /// Null when not even that could be read.
    receipt_number: Option<String>,
}

/// `GET /register-sessions`: the newest first.
pub(crate) async fn list(
    caller: Caller<RegistersView>,
    State(hq): State<Arc<Hq>>,
    Lists { mut query, .. }: Lists<Drawers>,
) -> Result<Figures<List<Drawer>>> {
    named_store(&caller, &query)?;
    query.entry("sort".to_owned()).or_insert_with(|| "-businessDate,-openedAt".to_owned());
    let select = in_scope(&caller, Entity::find(), Column::StoreId);
    let select = business_dates::<Entity>(&mut query, Column::BusinessDate, select)?;
    hq.figures(|conn| {
        let (caller, query, select) = (&caller, &query, select.clone());
        async move {
            let List { rows, total, paging } = resource::list(&conn, &LIST, query, select).await?;
            Ok(List { rows: named(caller, &conn, rows).await?, total, paging })
        }
    })
    .await
}

/// `GET /register-sessions/{id}`
pub(crate) async fn get(caller: Caller<RegistersView>, Id(id): Id) -> Result<Answer<Drawer>> {
    let conn = caller.reader();
    let found = in_scope(&caller, Entity::find_by_id(id), Column::StoreId).one(conn).await?;
    let drawer = named(&caller, conn, found.into_iter().collect()).await?.pop();
    drawer.map(Answer).ok_or_else(|| Error::not_found("register session"))
}

/// The drawers with their names, each as the caller may see it in that store.
async fn named(caller: &Caller<RegistersView>, conn: &Connection, rows: Vec<Model>) -> Result<Vec<Drawer>> {
    let stores: BTreeSet<Uuid> = rows.iter().map(|row| row.store_id).collect();
    let stores = store::Entity::find().filter(store::Column::Id.is_in(stores)).all(conn).await?;
    let stores: HashMap<Uuid, store::Model> = stores.into_iter().map(|store| (store.id, store)).collect();
    let people: BTreeSet<Uuid> = rows.iter().flat_map(|row| [Some(row.opened_by), row.closed_by]).flatten().collect();
    let people: Vec<(Uuid, String)> = user::Entity::find()
        .select_only()
        .columns([user::Column::Id, user::Column::DisplayName])
        .filter(user::Column::Id.is_in(people))
        .into_tuple()
        .all(conn)
        .await?;
    let people: HashMap<Uuid, String> = people.into_iter().collect();
    let mut unapplied = unapplied::of_sessions(conn, rows.iter().map(|row| row.id)).await?;
    let shown = |row: Model| {
        let store = stores.get(&row.store_id);
        let blind = store.is_none_or(|store| store.blind_close);
        let knows = !blind || caller.access.may(drawers::MAY_CLOSE, Some(row.store_id));
        let unapplied = unapplied.remove(&row.id).unwrap_or_default().into_iter();
        let named = |sale: unapplied_document::Model| Unapplied { id: sale.entity_id, receipt_number: sale.number };
        Drawer {
            not_at_headquarters: unapplied.map(named).collect(),
            store_code: store.map(|store| store.code.clone()).unwrap_or_default(),
            opened_by_name: people.get(&row.opened_by).cloned(),
            closed_by_name: row.closed_by.and_then(|id| people.get(&id).cloned()),
            session: drawers::shown(row, knows),
        }
    };
    Ok(rows.into_iter().map(shown).collect())
}

/// The routes of drawers.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .get("/register-sessions", list)
        .about("List the drawers of all stores, open and closed.")
        .get("/register-sessions/{id}", get)
        .about("One drawer with its counts, cash movements and totals.")
}
