//! What headquarters has now of the rows that documents name.

use std::collections::{BTreeSet, HashMap, HashSet};

use sea_orm::DbErr;
use tillkeep_model::Instant;
use tillkeep_model::receipt::ReceiptNumber;
use tillkeep_model::state::SessionStatus;
use uuid::Uuid;

use crate::db::query;
use crate::document::{Facts, Named, Session};
use crate::many::find_in;
use crate::verify::source::Source;

pub(super) struct NamedRows {
    pub facts: Facts,
    /// The stores of drawers.
    pub drawers: HashMap<Uuid, Uuid>,
    /// The codes of all stores, of closed ones too.
    pub codes: HashMap<Uuid, String>,
    /// Documents of which an envelope was dated later than is believed.
    pub dated: HashSet<Uuid>,
}

impl NamedRows {
    /// What these documents name.
    pub(super) async fn load(source: &Source, documents: &[Uuid], named: &[Named]) -> Result<Self, DbErr> {
        let conn = &source.conn;
        let wanted: BTreeSet<Uuid> = named.iter().flat_map(|named| &named.products).copied().collect();
        let mut products = HashSet::new();
        for row in find_in(conn, "SELECT id FROM products WHERE id IN ($list)", &[], wanted).await? {
            products.insert(row.try_get("", "id")?);
        }
        let wanted: BTreeSet<Uuid> = named.iter().filter_map(|named| named.customer).collect();
        let mut customers = HashMap::new();
        for row in find_in(conn, "SELECT id, deleted_at FROM customers WHERE id IN ($list)", &[], wanted).await? {
            customers.insert(row.try_get("", "id")?, row.try_get::<Option<Instant>>("", "deleted_at")?.is_some());
        }
        let wanted: BTreeSet<Uuid> = named.iter().filter_map(|named| named.session).collect();
        let (mut sessions, mut drawers) = (HashMap::new(), HashMap::new());
        let sql = "SELECT id, store_id, status, first_receipt_number, last_receipt_number FROM register_sessions \
                   WHERE id IN ($list)";
        for row in find_in(conn, sql, &[], wanted).await? {
            let number = |column: &str| -> Result<Option<ReceiptNumber>, DbErr> {
                Ok(row.try_get::<Option<String>>("", column)?.and_then(|text| ReceiptNumber::parse(&text)))
            };
            let receipts = number("first_receipt_number")?.zip(number("last_receipt_number")?);
            let closed = row.try_get::<String>("", "status")? == SessionStatus::Closed;
            drawers.insert(row.try_get("", "id")?, row.try_get("", "store_id")?);
            sessions.insert(row.try_get("", "id")?, Session { closed, receipts });
        }
        let mut codes = HashMap::new();
        for row in query(conn, "SELECT id, code FROM stores", []).await? {
            codes.insert(row.try_get("", "id")?, row.try_get("", "code")?);
        }
        let mut dated = HashSet::new();
        let sql = "SELECT entity_id FROM sync_log WHERE said_at IS NOT NULL AND entity_id IN ($list)";
        for row in find_in(conn, sql, &[], documents.iter().map(Uuid::to_string)).await? {
            dated.extend(row.try_get::<String>("", "entity_id")?.parse::<Uuid>().ok());
        }
        let sql = "SELECT entity_id FROM sync_log_kept WHERE said_at IS NOT NULL AND entity_id IN ($list)";
        for row in find_in(conn, sql, &[], documents.iter().copied()).await? {
            dated.insert(row.try_get("", "entity_id")?);
        }
        let facts = Facts { products, customers, sessions };
        Ok(Self { facts, drawers, codes, dated })
    }
}
