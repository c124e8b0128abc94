//! `GET /alerts`: what is wrong, and what was.

use tillkeep_http::describe::{Listing, Lists};
use tillkeep_http::error::Result;
use tillkeep_http::resource::{self, ListSpec};
use tillkeep_http::{Caller, List};
use tillkeep_model::permission::code::StoresView;
use tillkeep_storage::entity::alert::{Column, Entity, Model};
use tillkeep_storage::sea_orm::EntityTrait;

use super::view::AlertView;
use crate::scope::{in_scope, named_store};

const LIST: ListSpec = ListSpec {
    search: &["subject", "text"],
    filters: &["state", "kind", "severity", "storeId"],
    sort: &["-at", "at", "since"],
};

/// The list of alerts.
pub(super) struct Alerts;

impl Listing for Alerts {
    type Row = Entity;
    const SPEC: ListSpec = LIST;
    const LONG: bool = true;
}

/// Who sees some stores only sees what is said of those.
pub(super) async fn list(caller: Caller<StoresView>, Lists { query, .. }: Lists<Alerts>) -> Result<List<AlertView>> {
    named_store(&caller, &query)?;
    let base = in_scope(&caller, Entity::find(), Column::StoreId);
    let page: List<Model> = resource::long_list(caller.reader(), &LIST, &query, base).await?;
    Ok(page.map(AlertView::from))
}
