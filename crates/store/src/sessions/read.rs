//! Sessions as they are.

use std::sync::Arc;

use axum::extract::State;
use tillkeep_http::describe::{Listing, Lists, More};
use tillkeep_http::documents::drawers::{self, shown};
use tillkeep_http::documents::{business_dates, newest_first};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{self, ListSpec};
use tillkeep_http::{Answer, Caller, Id, List, Params};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::code::{PosSell, RegistersView, ReportsZReport};
use tillkeep_storage::entity::register_session;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use super::view::knows;
use crate::Store;
use crate::terminal::Terminal;

const LIST: ListSpec = ListSpec {
    search: &[],
    filters: &["registerId", "registerCode", "status", "businessDate"],
    sort: &["createdAt", "openedAt", "businessDate", "sessionNumber"],
};

/// The list of drawers.
pub(crate) struct Sessions;

impl Listing for Sessions {
    type Row = register_session::Entity;
    const SPEC: ListSpec = LIST;
    const MORE: &'static [(&'static str, More)] = drawers::MORE;
}

pub(crate) async fn list(
    caller: Caller<(RegistersView, ReportsZReport)>,
    State(store): State<Arc<Store>>,
    Lists { mut query, .. }: Lists<Sessions>,
) -> Result<List<register_session::Model>> {
    use register_session::Column;
    newest_first(&mut query);
    let own = register_session::Entity::find().filter(Column::StoreId.eq(store.id));
    let own = business_dates::<register_session::Entity>(&mut query, Column::BusinessDate, own)?;
    let knows = knows(&caller, &store).await?;
    let page: List<register_session::Model> = resource::list(caller.reader(), &LIST, &query, own).await?;
    Ok(page.map(|session| shown(session, knows)))
}

pub(crate) async fn get(
    caller: Caller<(RegistersView, ReportsZReport)>,
    State(store): State<Arc<Store>>,
    Id(id): Id,
) -> Result<Answer<register_session::Model>> {
    let session = register_session::Entity::find_by_id(id).one(caller.reader()).await?;
    let session = session.ok_or_else(|| Error::not_found("register session"))?;
    Ok(Answer(shown(session, knows(&caller, &store).await?)))
}

pub(crate) async fn current(
    caller: Caller<(PosSell, RegistersView)>,
    State(store): State<Arc<Store>>,
    Params(terminal): Params<Terminal>,
) -> Result<Answer<register_session::Model>> {
    let shop = store.shop().await?;
    let terminal = terminal.named_or_own(&caller)?;
    let session = shop.at_terminal(terminal).and_then(|register| shop.open_at(register.id));
    let session = session.ok_or_else(|| {
        let text = format!("no drawer is open at terminal {terminal}; open one with POST /registers/{{id}}/open");
        Error::new(ErrorCode::NoOpenSession, text)
    })?;
    Ok(Answer(shown(session.clone(), knows(&caller, &store).await?)))
}
