//! The settings of this store, its taxes and tenders, its tills and their open drawers: a few rows each.

use std::collections::HashMap;

use tillkeep_http::error::{Error, Result};
use tillkeep_model::state::SessionStatus;
use tillkeep_model::{Bps, ErrorCode};
use tillkeep_storage::entity::{department, reason, register, register_session, sales_rep, store, tender};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use tillkeep_storage::taxes::{self, TaxGroup};
use tillkeep_storage::{Db, DbErr};
use uuid::Uuid;

/// Small tables, whole.
pub struct Shop {
    own: Option<store::Model>,
    pub tax_groups: HashMap<Uuid, TaxGroup>,
    /// Those that are not deleted, as the till shows them.
    pub tenders: Vec<tender::Model>,
    /// Those that are not deleted, by code.
    pub sales_reps: Vec<sales_rep::Model>,
    /// Those that are not deleted, as the till shows them.
    pub reasons: Vec<reason::Model>,
    /// What departments allow to be taken off, by department.
    pub department_limits: HashMap<Uuid, Bps>,
    registers: Vec<register::Model>,
    /// Drawers that are not closed.
    drawers: Vec<register_session::Model>,
}

impl Shop {
    pub(super) async fn load(db: &Db, store: Uuid) -> std::result::Result<Self, DbErr> {
        let conn = db.snapshot().await?;
        Ok(Self {
            own: store::Entity::find_by_id(store).one(&conn).await?,
            tax_groups: taxes::of_store(&conn, Some(store)).await?,
            tenders: tender::Entity::find()
                .filter(tender::Column::DeletedAt.is_null())
                .order_by_asc(tender::Column::SortOrder)
                .order_by_asc(tender::Column::Code)
                .all(&conn)
                .await?,
            sales_reps: sales_rep::Entity::find()
                .filter(sales_rep::Column::DeletedAt.is_null())
                .order_by_asc(sales_rep::Column::Code)
                .all(&conn)
                .await?,
            reasons: reason::Entity::find()
                .filter(reason::Column::DeletedAt.is_null())
                .order_by_asc(reason::Column::Kind)
                .order_by_asc(reason::Column::SortOrder)
                .order_by_asc(reason::Column::Code)
                .all(&conn)
                .await?,
            department_limits: department::Entity::find()
                .filter(department::Column::DeletedAt.is_null())
                .all(&conn)
                .await?
                .into_iter()
                .filter_map(|row| Some((row.id, row.max_discount_bps?)))
                .collect(),
            registers: register::Entity::find().all(&conn).await?,
            drawers: register_session::Entity::find()
                .filter(register_session::Column::Status.ne(SessionStatus::Closed.word()))
                .order_by_desc(register_session::Column::OpenedAt)
                .all(&conn)
                .await?,
        })
    }

    /// This store's own row, with the settings a till works by.
    pub fn own(&self) -> Result<&store::Model> {
        self.own.as_ref().ok_or_else(|| {
            Error::new(ErrorCode::StoreNotReady, "this store has not reached headquarters yet").retry_after(5)
        })
    }

    /// Whether drawers are counted here by people who do not see what should be in them. A store that has not pulled its
    /// settings yet is blind.
    pub fn closes_blind(&self) -> bool {
        self.own.as_ref().is_none_or(|own| own.blind_close)
    }

    /// The register of `terminal`.
    pub fn at_terminal(&self, terminal: &str) -> Option<&register::Model> {
        self.registers.iter().find(|register| register.terminal_id == terminal)
    }

    pub fn register(&self, id: Uuid) -> Option<&register::Model> {
        self.registers.iter().find(|register| register.id == id)
    }

    /// The session of a register that is not closed yet. Where one came back after another was opened it is the newer one.
    pub fn open_at(&self, register_id: Uuid) -> Option<&register_session::Model> {
        self.drawers.iter().find(|session| session.register_id == register_id)
    }
}
