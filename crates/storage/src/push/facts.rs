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

/// Ids of one statement.
const CHUNK: usize = 5000;

pub(super) async fn load(tx: &Tx, named: &[Named]) -> Result<Facts, DbErr> {
    Ok(Facts {
        products: products(tx, named.iter().flat_map(|named| &named.products).copied().collect()).await?,
        customers: customers(tx, named.iter().filter_map(|named| named.customer).collect()).await?,
        sessions: sessions(tx, named.iter().filter_map(|named| named.session).collect()).await?,
    })
}

async fn products(tx: &Tx, wanted: HashSet<Uuid>) -> Result<HashSet<Uuid>, DbErr> {
    use product::Column;
    let wanted: Vec<Uuid> = wanted.into_iter().collect();
    let mut found = HashSet::new();
    for chunk in wanted.chunks(CHUNK) {
        let rows = product::Entity::find().select_only().column(Column::Id);
        let rows = rows.filter(Column::Id.is_in(chunk.iter().copied()));
        found.extend(rows.into_tuple::<Uuid>().all(&**tx).await?);
    }
    Ok(found)
}

/// The customers that HQ has, and whether they are deleted.
///
/// They are locked, in one order: the sale moves their accounts, by which it is decided whether they may be deleted.
async fn customers(tx: &Tx, wanted: BTreeSet<Uuid>) -> Result<HashMap<Uuid, bool>, DbErr> {
    use customer::Column;
    let wanted: Vec<Uuid> = wanted.into_iter().collect();
    let mut found = HashMap::new();
    for chunk in wanted.chunks(CHUNK) {
        let rows: Vec<(Uuid, Option<Instant>)> = customer::Entity::find()
            .select_only()
            .columns([Column::Id, Column::DeletedAt])
            .filter(Column::Id.is_in(chunk.iter().copied()))
            .order_by_asc(Column::Id)
            .lock_exclusive()
            .into_tuple()
            .all(&**tx)
            .await?;
        found.extend(rows.into_iter().map(|(id, deleted)| (id, deleted.is_some())));
    }
    Ok(found)
}

async fn sessions(tx: &Tx, wanted: HashSet<Uuid>) -> Result<HashMap<Uuid, Session>, DbErr> {
    use register_session::Column;
    let wanted: Vec<Uuid> = wanted.into_iter().collect();
    let mut found = HashMap::new();
    for chunk in wanted.chunks(CHUNK) {
        let rows: Vec<(Uuid, String, Option<String>, Option<String>)> = register_session::Entity::find()
            .select_only()
            .columns([Column::Id, Column::Status, Column::FirstReceiptNumber, Column::LastReceiptNumber])
            .filter(Column::Id.is_in(chunk.iter().copied()))
            .into_tuple()
            .all(&**tx)
            .await?;
        let number = |text: Option<String>| text.and_then(|text| ReceiptNumber::parse(&text));
        found.extend(rows.into_iter().map(|(id, status, first, last)| {
            (id, Session { closed: status == SessionStatus::Closed, receipts: number(first).zip(number(last)) })
        }));
    }
    Ok(found)
}
