//! What weakens the accounts of a chain now: one file a kind.

mod first_pin_expired;
mod no_second_factor;
mod pin_ended;
mod registers_without_till;
mod token_asked_again;

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use tillkeep_http::auth::people::visible;
use tillkeep_http::error::Result;
use tillkeep_http::{Answer, Caller};
use tillkeep_model::Instant;
use tillkeep_model::permission::code::UsersView;
use tillkeep_storage::entity::user;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::Hq;

/// One thing that an administrator should look at.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SecurityNotice)]
pub(crate) struct Notice {
    /// Such as `no_second_factor`.
    kind: &'static str,
    /// Since when, or when it was found out.
    at: Instant,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
    users: Vec<OfUser>,
    stores: Vec<OfStore>,
    /// For people.
    text: String,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NoticedUser)]
pub(crate) struct OfUser {
    id: Uuid,
    username: String,
    display_name: String,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = NoticedStore)]
pub(crate) struct OfStore {
    id: Uuid,
    code: String,
}

/// Whom the list is for.
pub(crate) struct Asked<'a> {
    pub(crate) hq: &'a Hq,
    pub(crate) caller: &'a Caller<UsersView>,
}

type Found<'a> = Pin<Box<dyn Future<Output = Result<Vec<Notice>>> + Send + 'a>>;

/// Every kind, in the order in which they are shown.
const KINDS: &[for<'a> fn(&'a Asked<'a>) -> Found<'a>] = &[
    |asked| Box::pin(token_asked_again::find(asked)),
    |asked| Box::pin(no_second_factor::find(asked)),
    |asked| Box::pin(pin_ended::find(asked)),
    |asked| Box::pin(first_pin_expired::find(asked)),
    |asked| Box::pin(registers_without_till::find(asked)),
];

impl Asked<'_> {
    /// Those of `ids` that are active and whom the caller may see, by their names.
    pub(crate) async fn people(&self, ids: impl IntoIterator<Item = Uuid>) -> Result<Vec<OfUser>> {
        let ids: BTreeSet<Uuid> = ids.into_iter().collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let alive = user::Entity::find()
            .filter(user::Column::Id.is_in(ids))
            .filter(user::Column::DeletedAt.is_null())
            .filter(user::Column::IsActive.eq(true))
            .order_by_asc(user::Column::Username);
        let found = visible(self.caller, alive).all(self.caller.reader()).await?;
        let shown = |row: user::Model| OfUser { id: row.id, username: row.username, display_name: row.display_name };
        Ok(found.into_iter().map(shown).collect())
    }
}

/// `GET /security/notices`
pub(crate) async fn list(caller: Caller<UsersView>, State(hq): State<Arc<Hq>>) -> Result<Answer<Vec<Notice>>> {
    let asked = Asked { hq: &hq, caller: &caller };
    let mut all = Vec::new();
    for find in KINDS {
        all.extend(find(&asked).await?);
    }
    Ok(Answer(all))
}
