//! Whether this copy of the store may be the store, as its database knows it. `docs/sync.md`, rule D8.

use tillkeep_storage::{Db, DbErr, Transaction, settings};
use uuid::Uuid;

/// The name under which headquarters refuses this copy: it keeps it over restarts, until it is the store again.
const REFUSED: &str = "refused_instance";
/// A user decided here that this copy is the store.
const TAKE_OVER: &str = "take_over";

/// The name of this process, and whether it may be the store.
pub struct Standing {
    pub instance: Uuid,
    pub refused: bool,
}

/// As the process before it heard it.
pub async fn standing(db: &Db) -> Result<Standing, DbErr> {
    let refused: Option<Uuid> = value(db, REFUSED).await?.and_then(|text| text.parse().ok());
    let taken_over = takes_over(db).await?;
    Ok(Standing { instance: refused.unwrap_or_else(Uuid::new_v4), refused: refused.is_some() && !taken_over })
}

async fn value(db: &Db, key: &str) -> Result<Option<String>, DbErr> {
    Ok(settings::get(db.reader(), key).await?.filter(|text| !text.is_empty()))
}

/// Whether headquarters refused this copy when it was last heard.
pub(crate) async fn is_refused(db: &Db) -> Result<bool, DbErr> {
    Ok(value(db, REFUSED).await?.is_some())
}

/// Whether headquarters still has to hear that this copy is the store.
pub(crate) async fn takes_over(db: &Db) -> Result<bool, DbErr> {
    Ok(value(db, TAKE_OVER).await?.is_some())
}

/// Notes that a user decided for this copy; false when headquarters does not refuse it.
pub async fn take_over(db: &Db) -> Result<bool, DbErr> {
    if !is_refused(db).await? {
        return Ok(false);
    }
    let tx = db.begin().await?;
    settings::set(&tx, TAKE_OVER, "yes").await?;
    tx.commit().await?;
    Ok(true)
}

/// Notes what headquarters said: that it refuses `instance`, or none. What a user decided before that is answered.
pub(crate) async fn note(tx: &Transaction, instance: Option<Uuid>) -> Result<(), DbErr> {
    let refused = instance.map(|instance| instance.to_string()).unwrap_or_default();
    settings::set(tx, REFUSED, &refused).await?;
    settings::set(tx, TAKE_OVER, "").await
}
