//! How everything is that tills are told of.

use serde::Serialize;
use tillkeep_model::state::SessionStatus;
use tillkeep_storage::DbErr;
use tillkeep_storage::entity::{register, register_session};
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder};

use crate::Store;
use crate::printers::Printer;
use crate::state::{DrawerNews, LineNews, ParkedNews, PrinterNews};

#[derive(Serialize)]
pub(super) struct Snapshot {
    line: LineNews,
    /// Those that are not closed.
    drawers: Vec<DrawerNews>,
    parked: ParkedNews,
    /// Of the registers that have one.
    printers: Vec<PrinterNews>,
}

impl Snapshot {
    pub(super) async fn load(store: &Store, conn: &impl ConnectionTrait) -> Result<Self, DbErr> {
        use register_session::Column;
        let open = register_session::Entity::find()
            .filter(Column::Status.ne(SessionStatus::Closed.word()))
            .order_by_asc(Column::RegisterCode)
            .all(conn)
            .await?;
        let registers = register::Entity::find().order_by_asc(register::Column::Code).all(conn).await?;
        let with_printer = registers.iter().filter(|register| Printer::of(register).is_some());
        let state = |id| PrinterNews { register_id: id, state: store.printers.state(id).state };
        Ok(Self {
            line: store.line_news(conn).await?,
            drawers: open.iter().map(DrawerNews::of).collect(),
            parked: ParkedNews::load(conn).await?,
            printers: with_printer.map(|register| state(register.id)).collect(),
        })
    }
}
