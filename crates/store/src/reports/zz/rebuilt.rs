//! After a database was lost its drawers come back from headquarters, and say which ZZ took them: so the reports are put together
//! again from them.

use tillkeep_http::error::Result;
use tillkeep_model::ids;
use tillkeep_storage::entity::register_session::Column;
use tillkeep_storage::entity::zz_report;
use tillkeep_storage::sea_orm::{ColumnTrait, QueryFilter};
use tillkeep_storage::zz_reports;
use uuid::Uuid;

use super::range::{added_up, of_range, row};
use crate::Store;

/// Puts together what is missing; mostly one statement says that nothing is.
pub(super) async fn run(store: &Store) -> Result<()> {
    // What is not here yet is not missing.
    if zz_reports::are_coming_back(store.reader()).await? {
        return Ok(());
    }
    for missing in zz_reports::missing(store.reader()).await? {
        let snapshot = store.snapshot().await?;
        let mark = if missing.register_code.is_some() { Column::ZzNumber } else { Column::StoreZzNumber };
        let sessions = of_range(store.id, missing.register_code.as_deref()).filter(mark.eq(missing.number));
        let sessions = sessions.all(&snapshot).await?;
        let of = missing.register_code.as_deref();
        let taken = zz_reports::taken_before(&snapshot, store.id, of, missing.number).await?;
        let report = added_up(&snapshot, &sessions, taken.known_gaps_before(&sessions)).await?;
        snapshot.commit().await?;
        let Some(last) = sessions.iter().max_by_key(|session| session.closed_at) else { continue };
        let register_id = missing.register_code.is_some().then_some(last.register_id);
        let of = missing.register_code.as_deref().unwrap_or_default();
        let zz = zz_report::Model {
            id: ids::named(&format!("zz:{}:{of}:{}", store.id, missing.number)),
            created_at: last.closed_at.unwrap_or(last.updated_at),
            created_by: Uuid::nil(),
            ..row(&sessions, (register_id, missing.register_code), missing.number, &report)
        };
        store.by_itself(move |tx| Box::pin(async move { zz_reports::keep(tx, zz).await })).await?;
        tracing::info!(number = missing.number, "a ZZ report was put together again from its drawers");
    }
    Ok(())
}
