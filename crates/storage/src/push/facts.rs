//! Looking up what documents name: one query for each kind and batch.

use std::collections::{BTreeSet, HashMap, HashSet};

use sea_orm::{ColumnTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use tillkeep_model::Instant;
use tillkeep_model::receipt::ReceiptNumber;
use tillkeep_model::state::SessionStatus;
use uuid::Uuid;

use crate::Tx;
use crate::document::{Facts, Named, Session};
use crate::entity::{customer, product, register_session};
use crate::many::tuples_in;

pub(super) async fn load(tx: &Tx, store: Uuid, named: &[Named]) -> Result<Facts, DbErr> {
    Ok(Facts {
        products: products(tx, named.iter().flat_map(|named| &named.products).copied().collect()).await?,
        customers: customers(tx, named.iter().filter_map(|named| named.customer).collect()).await?,
        sessions: sessions(tx, store, named.iter().filter_map(|named| named.session).collect()).await?,
    })
}

async fn products(tx: &Tx, wanted: HashSet<Uuid>) -> Result<HashSet<Uuid>, DbErr> {
    use product::Column;
    let rows = product::Entity::find().select_only().column(Column::Id);
    Ok(tuples_in(&**tx, rows, Column::Id, wanted).await?.into_iter().collect())
}

/// The customers that HQ has, and whether they are deleted.
///
/// They are locked, in one order: the sale moves their accounts, by which it is decided whether they may be deleted.
async fn customers(tx: &Tx, wanted: BTreeSet<Uuid>) -> Result<HashMap<Uuid, bool>, DbErr> {
    use customer::Column;
    let rows = customer::Entity::find().select_only().columns([Column::Id, Column::DeletedAt]);
    let rows = rows.order_by_asc(Column::Id).lock_exclusive();
    let found: Vec<(Uuid, Option<Instant>)> = tuples_in(&**tx, rows, Column::Id, wanted).await?;
    Ok(found.into_iter().map(|(id, deleted)| (id, deleted.is_some())).collect())
}

/// The drawers of the store: another one's of the same id is not meant.
async fn sessions(tx: &Tx, store: Uuid, wanted: HashSet<Uuid>) -> Result<HashMap<Uuid, Session>, DbErr> {
    use register_session::Column;
    let columns = [Column::Id, Column::Status, Column::FirstReceiptNumber, Column::LastReceiptNumber];
    let rows = register_session::Entity::find().select_only().columns(columns).filter(Column::StoreId.eq(store));
    let found: Vec<(Uuid, String, Option<String>, Option<String>)> = tuples_in(&**tx, rows, Column::Id, wanted).await?;
    let number = |text: Option<String>| text.and_then(|text| ReceiptNumber::parse(&text));
    let session = |(id, status, first, last): (Uuid, String, _, _)| {
        (id, Session { closed: status == SessionStatus::Closed, receipts: number(first).zip(number(last)) })
    };
    Ok(found.into_iter().map(session).collect())
}
