//! Closed drawers as reports show them: with the names of their stores and of the people who had them.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;
use tillkeep_model::z::{Header, ZReport, ZRow};
use tillkeep_model::{Instant, Money};
use tillkeep_storage::Connection;
use tillkeep_storage::entity::register_session::Model;
use tillkeep_storage::entity::{store, user};
use tillkeep_storage::sea_orm::{ColumnTrait, DbErr, EntityTrait, QueryFilter, QuerySelect};
use utoipa::ToSchema;
use uuid::Uuid;

/// The names that reports need: stores by their ids, and people.
#[derive(Default)]
pub(super) struct Named {
    pub(super) stores: HashMap<Uuid, store::Model>,
    people: HashMap<Uuid, String>,
}

impl Named {
    /// Of these stores, and of these people.
    pub(super) async fn load(conn: &Connection, stores: BTreeSet<Uuid>, people: BTreeSet<Uuid>) -> Result<Self, DbErr> {
        let stores = store::Entity::find().filter(store::Column::Id.is_in(stores)).all(conn).await?;
        let people: Vec<(Uuid, String)> = user::Entity::find()
            .select_only()
            .columns([user::Column::Id, user::Column::DisplayName])
            .filter(user::Column::Id.is_in(people))
            .into_tuple()
            .all(conn)
            .await?;
        let stores = stores.into_iter().map(|store| (store.id, store)).collect();
        Ok(Self { stores, people: people.into_iter().collect() })
    }

    /// Of these drawers.
    pub(super) async fn of(conn: &Connection, rows: &[Model]) -> Result<Self, DbErr> {
        let people = rows.iter().flat_map(|row| [Some(row.opened_by), Some(row.owner()), row.closed_by]).flatten();
        Self::load(conn, rows.iter().map(|row| row.store_id).collect(), people.collect()).await
    }

    pub(super) fn person(&self, id: Uuid) -> Option<String> {
        self.people.get(&id).cloned()
    }

    pub(super) fn store_code(&self, id: Uuid) -> String {
        self.stores.get(&id).map(|store| store.code.clone()).unwrap_or_default()
    }

    pub(super) fn currency(&self, store: Uuid) -> (String, i16) {
        let store = self.stores.get(&store);
        store.map(|store| (store.currency_code.clone(), store.currency_exponent)).unwrap_or_default()
    }

    /// The report of a closed drawer. Those of earlier releases do not say whose it is: the drawer does.
    pub(super) fn report(&self, session: &Model) -> Option<ZReport> {
        let report = session.z_report()?;
        if report.version >= ZReport::VERSION {
            return Some(report);
        }
        let header = Header {
            opened_by_name: self.person(session.opened_by).unwrap_or_default(),
            closed_by_name: session.closed_by.and_then(|id| self.person(id)).unwrap_or_default(),
            ..session.header()
        };
        Some(ZReport { header, ..report })
    }
}

/// One drawer for a report of several.
pub(super) fn z_row(session: &Model, names: &Named) -> ZRow {
    let mut row = session.z_row(names.report(session).unwrap_or_default());
    if row.cashier.is_empty() {
        row.cashier = names.person(session.owner()).unwrap_or_default();
    }
    row
}

/// A closed drawer in a list of reports.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ZOfStore)]
#[expect(clippy::struct_field_names, reason = "the names on the wire")]
pub(super) struct Closed {
    session_id: Uuid,
    store_id: Uuid,
    store_code: String,
    currency_code: String,
    currency_exponent: i16,
    register_id: Uuid,
    register_code: String,
    session_number: i32,
    business_date: String,
    opened_by: Uuid,
    opened_by_name: Option<String>,
    opened_at: Instant,
    /// Whose drawer it was at its close.
    owner_id: Uuid,
    owner_name: Option<String>,
    closed_by: Option<Uuid>,
    closed_by_name: Option<String>,
    closed_at: Option<Instant>,
    /// Closed without a count: what was in it is not known.
    forced: bool,
    /// Of its report: 2, or 1 of earlier releases, which said less.
    version: i32,
    sale_count: i64,
    refund_count: i64,
    void_count: i64,
    net_amount: Money,
    tax_amount: Money,
    total_amount: Money,
    expected_cash: Option<Money>,
    counted_cash: Option<Money>,
    cash_variance: Option<Money>,
    running_total: Option<Money>,
    /// Of the report of its register that has it, once there is one.
    zz_number: Option<i32>,
    /// Of the report of the whole store that has it.
    store_zz_number: Option<i32>,
    /// What is to be looked at: those of headquarters, and those of the report itself.
    flags: Vec<String>,
}

impl Closed {
    pub(super) fn new(session: Model, report: &ZReport, names: &Named) -> Self {
        let (currency_code, currency_exponent) = names.currency(session.store_id);
        let owner_id = session.owner();
        let mut flags: Vec<String> = serde_json::from_value(session.flags.0.clone()).unwrap_or_default();
        let said: Vec<String> = report.flags.iter().filter(|flag| !flags.contains(flag)).cloned().collect();
        flags.extend(said);
        Self {
            session_id: session.id,
            store_id: session.store_id,
            store_code: names.store_code(session.store_id),
            currency_code,
            currency_exponent,
            register_id: session.register_id,
            register_code: session.register_code,
            session_number: session.session_number,
            business_date: session.business_date,
            opened_by: session.opened_by,
            opened_by_name: names.person(session.opened_by),
            opened_at: session.opened_at,
            owner_id,
            owner_name: names.person(owner_id),
            closed_by: session.closed_by,
            closed_by_name: session.closed_by.and_then(|id| names.person(id)),
            closed_at: session.closed_at,
            forced: session.forced,
            version: report.version,
            sale_count: report.sale_count,
            refund_count: report.refund_count,
            void_count: report.void_count,
            net_amount: report.net_amount,
            tax_amount: report.tax_amount,
            total_amount: report.total_amount,
            expected_cash: session.expected_cash,
            counted_cash: session.counted_cash,
            cash_variance: session.cash_variance,
            running_total: session.running_total,
            zz_number: session.zz_number,
            store_zz_number: session.store_zz_number,
            flags,
        }
    }
}
