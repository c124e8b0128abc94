//! `?search=` of products and customers: along the texts that their rows are looked for by, which no store has.

use tillkeep_http::error::Result;
use tillkeep_http::resource::{self, Query};
use tillkeep_storage::sea_orm::{ConnectionTrait, EntityTrait, QueryFilter, Select};
use tillkeep_storage::sought;

/// The rows that `query` looks for, and what else it asks about them. Where a row has no text yet, or what is sought cannot be
/// in one, it is left to look into the columns.
pub(super) async fn narrowed<E: EntityTrait>(conn: &impl ConnectionTrait, query: &Query) -> Result<(Select<E>, Query)> {
    let (mut select, mut rest) = (E::find(), query.clone());
    if let (Some(text), Some(sought)) = (query.get("search"), sought::of(E::default().table_name())) {
        resource::check_value("search", text)?;
        if sought.answers(conn, text).await? {
            select = select.filter(sought.contains(text));
            rest.remove("search");
        }
    }
    Ok((select, rest))
}
