//! Papers on their way to the printers of a store. A job is `printing` on disk before the first byte of it is sent; one whose end
//! nobody saw is `unknown`, and is never sent again by itself.

use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Value};
use tillkeep_model::Instant;
use tillkeep_model::words::{PaperKind, PrintState};
use uuid::Uuid;

use crate::db::{execute, query};
use crate::entity::print_job::{Column, Entity, Model};

/// Whether there is no paper at all.
pub async fn is_empty(conn: &impl ConnectionTrait) -> Result<bool, DbErr> {
    Ok(Entity::find().one(conn).await?.is_none())
}

/// The registers with papers that wait.
pub async fn registers(conn: &impl ConnectionTrait) -> Result<Vec<Uuid>, DbErr> {
    let waiting = Entity::find().filter(Column::State.eq(PrintState::Waiting.word()));
    waiting.select_only().column(Column::RegisterId).distinct().into_tuple().all(conn).await
}

/// The paper of a register that waits longest.
pub async fn next(conn: &impl ConnectionTrait, register_id: Uuid) -> Result<Option<Model>, DbErr> {
    Entity::find()
        .filter(Column::RegisterId.eq(register_id))
        .filter(Column::State.eq(PrintState::Waiting.word()))
        .order_by_asc(Column::CreatedAt)
        .order_by_asc(Column::Id)
        .one(conn)
        .await
}

/// Whether a paper of this sale is there, or on its way. A gift receipt and an invoice are other papers than that of the sale.
pub async fn is_there(conn: &impl ConnectionTrait, sale_id: Uuid, kind: PaperKind) -> Result<bool, DbErr> {
    let alike = match kind {
        PaperKind::Sale | PaperKind::Copy => [PaperKind::Sale, PaperKind::Copy].map(PaperKind::word).to_vec(),
        other => vec![other.word()],
    };
    let papers = Entity::find()
        .filter(Column::SaleId.eq(sale_id))
        .filter(Column::Kind.is_in(alike))
        .filter(Column::State.ne(PrintState::Failed.word()));
    Ok(papers.one(conn).await?.is_some())
}

/// Counts one more copy of a sale's papers, and says which it is.
pub async fn count_copy(conn: &impl ConnectionTrait, sale_id: Uuid) -> Result<i32, DbErr> {
    let sql = "UPDATE sales SET reprint_count = reprint_count + 1 WHERE id = $1 RETURNING reprint_count";
    let rows = query(conn, sql, [sale_id.into()]).await?;
    rows.first().map_or(Ok(0), |row| row.try_get("", "reprint_count"))
}

/// A paper is about to be sent; false when somebody else has it or it waits no more.
pub async fn begin(conn: &impl ConnectionTrait, id: Uuid, now: Instant) -> Result<bool, DbErr> {
    let sql = "UPDATE print_jobs SET state = $1, attempts = attempts + 1, error = NULL, updated_at = $2 \
               WHERE id = $3 AND state = $4";
    let (printing, waiting) = (PrintState::Printing.word(), PrintState::Waiting.word());
    Ok(execute(conn, sql, [printing.into(), now.into(), id.into(), waiting.into()]).await? > 0)
}

/// What came of a paper that was about to be sent.
pub async fn settle(
    conn: &impl ConnectionTrait,
    id: Uuid,
    state: PrintState,
    error: Option<String>,
    now: Instant,
) -> Result<(), DbErr> {
    let sql = "UPDATE print_jobs SET state = $1, error = $2, updated_at = $3 WHERE id = $4 AND state = $5";
    let printing = PrintState::Printing.word();
    execute(conn, sql, [state.word().into(), error.into(), now.into(), id.into(), printing.into()]).await?;
    Ok(())
}

/// A paper that waits cannot be printed.
pub async fn fail(conn: &impl ConnectionTrait, id: Uuid, error: String, now: Instant) -> Result<(), DbErr> {
    let sql = "UPDATE print_jobs SET state = $1, error = $2, updated_at = $3 WHERE id = $4 AND state = $5";
    let (failed, waiting) = (PrintState::Failed.word(), PrintState::Waiting.word());
    execute(conn, sql, [failed.into(), error.into(), now.into(), id.into(), waiting.into()]).await?;
    Ok(())
}

/// A printer could not be reached, or was not ready: the paper waits on.
pub async fn put_off(conn: &impl ConnectionTrait, id: Uuid, error: String, now: Instant) -> Result<(), DbErr> {
    let sql = "UPDATE print_jobs SET attempts = attempts + 1, error = $1, updated_at = $2 WHERE id = $3 AND state = $4";
    execute(conn, sql, [error.into(), now.into(), id.into(), PrintState::Waiting.word().into()]).await?;
    Ok(())
}

/// What was on its way when this server ended: how far it came is not known.
pub async fn forsake(conn: &impl ConnectionTrait, now: Instant) -> Result<u64, DbErr> {
    unseen(conn, PrintState::Printing, "this server ended while it was printed", now).await
}

/// This database is an older copy: what waits in it may have come out since.
pub async fn doubt(conn: &impl ConnectionTrait, now: Instant) -> Result<u64, DbErr> {
    unseen(conn, PrintState::Waiting, "the database was put back while it waited", now).await
}

/// Nobody knows what became of those that are in `state`.
async fn unseen(conn: &impl ConnectionTrait, state: PrintState, why: &str, now: Instant) -> Result<u64, DbErr> {
    let sql = "UPDATE print_jobs SET state = $1, error = $2, updated_at = $3 WHERE state = $4";
    let unknown = PrintState::Unknown.word();
    execute(conn, sql, [unknown.into(), why.into(), now.into(), state.word().into()]).await
}

/// Gives up what waits since before `since`, and of each register what is older than the newest `most`.
pub async fn give_up(conn: &impl ConnectionTrait, since: Instant, most: i64, now: Instant) -> Result<u64, DbErr> {
    let (failed, waiting) = (PrintState::Failed.word(), PrintState::Waiting.word());
    let sql = "UPDATE print_jobs SET state = $1, error = COALESCE(error, $2), updated_at = $3 \
               WHERE state = $4 AND created_at < $5";
    let late = "it was not printed within a day";
    let old = execute(conn, sql, [failed.into(), late.into(), now.into(), waiting.into(), since.into()]).await?;
    let sql = "UPDATE print_jobs SET state = $1, error = COALESCE(error, $2), updated_at = $3 WHERE state = $4 \
               AND (SELECT COUNT(*) FROM print_jobs AS other WHERE other.register_id = print_jobs.register_id \
                    AND other.state = $4 AND other.created_at > print_jobs.created_at) >= $5";
    let many = "too many papers wait for this printer";
    let beyond = execute(conn, sql, [failed.into(), many.into(), now.into(), waiting.into(), most.into()]).await?;
    Ok(old + beyond)
}

/// Forgets what ended before `before`.
pub async fn forget(conn: &impl ConnectionTrait, before: Instant) -> Result<u64, DbErr> {
    let sql = "DELETE FROM print_jobs WHERE state IN ($1, $2, $3) AND updated_at < $4";
    let ended = [PrintState::Printed, PrintState::Unknown, PrintState::Failed];
    let ended = ended.map(|state| Value::from(state.word()));
    execute(conn, sql, ended.into_iter().chain([before.into()])).await
}
