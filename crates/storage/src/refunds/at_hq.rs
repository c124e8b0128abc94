//! A sale as headquarters has it, with what was given back of it, by the ids that the asking store knows.

use std::collections::{BTreeSet, HashMap};

use sea_orm::{ConnectionTrait, DbErr, Value};
use tillkeep_model::pricing::TenderKind;
use tillkeep_model::state::SaleStatus;
use tillkeep_model::wire::{ClaimLine, GivenBack, PaidBack, SaleAtHq};
use tillkeep_model::words::SaleType;
use tillkeep_model::{Money, Qty};
use uuid::Uuid;

use super::claims;
use super::given::parts;
use crate::db::query;
use crate::document::sale::TYPE;
use crate::entity::refund_claim;
use crate::kept_ids::{self, KeptIds};
use crate::many::find_in;
use crate::{Transaction, pull, registry};

/// The sale that `asking` calls `id`.
pub async fn by_id(conn: &Transaction, asking: Uuid, id: Uuid) -> Result<Option<SaleAtHq>, DbErr> {
    let id = known_as(conn, asking, id).await?;
    sale(conn, asking, id).await
}

/// The sale with this number on its receipt; of several the one that came last.
pub async fn by_number(
    conn: &Transaction,
    asking: Uuid,
    store_code: &str,
    receipt_number: &str,
) -> Result<Option<SaleAtHq>, DbErr> {
    let sql = "SELECT s.id FROM sales s JOIN stores o ON o.id = s.store_id WHERE o.code = $1 AND s.receipt_number = $2 \
               ORDER BY s.received_at DESC, s.id DESC LIMIT 1";
    let rows = query(conn, sql, [store_code.into(), receipt_number.into()]).await?;
    match rows.first().map(|row| row.try_get::<Uuid>("", "id")).transpose()? {
        Some(id) => sale(conn, asking, id).await,
        None => Ok(None),
    }
}

/// The id under which headquarters has, or would have, the sale that `asking` calls `id`.
pub(super) async fn known_as(conn: &impl ConnectionTrait, asking: Uuid, id: Uuid) -> Result<Uuid, DbErr> {
    Ok(kept_ids::kept(conn, asking, TYPE, [id]).await?.get(&id).copied().unwrap_or(id))
}

async fn sale(conn: &Transaction, asking: Uuid, id: Uuid) -> Result<Option<SaleAtHq>, DbErr> {
    let Some(entity) = registry::find(TYPE) else { return Ok(None) };
    let mut rows = entity.table.having(conn, "id", &[id], false).await?;
    let Some(store_id) = rows.first().and_then(|row| row.uuid("store_id")) else { return Ok(None) };
    let mut left_out = Vec::new();
    let mut children = pull::children(conn, entity, &mut rows, &mut left_out).await?;
    let Some(text) = pull::texts(&rows, &mut children, entity)?.pop() else { return Ok(None) };
    let names = KeptIds::of_store(conn, asking).await?;
    let text = names.as_sent(text);
    let sale = serde_json::from_str(&text).map_err(|error| DbErr::Json(error.to_string()))?;
    let store_code = codes(conn, BTreeSet::from([store_id])).await?.remove(&store_id).unwrap_or_default();
    let given_back = given_back(conn, &names, id, None).await?;
    let paid_back = paid_back(conn, &names, id).await?;
    Ok(Some(SaleAtHq { sale, store_id, store_code, given_back, paid_back }))
}

/// What was given back of a sale, and is about to be, but for the claim `but`, by the `names` of the asking store.
pub(super) async fn given_back(
    conn: &impl ConnectionTrait,
    names: &KeptIds,
    sale: Uuid,
    but: Option<Uuid>,
) -> Result<Vec<GivenBack>, DbErr> {
    let (parts, claims) = (parts(conn, [sale]).await?, claims::of_sale(conn, sale).await?);
    let claims = claims.into_iter().filter(|claim| Some(claim.id) != but);
    let claims: Vec<refund_claim::Model> = claims.collect();
    let stores = parts.iter().map(|part| part.store).chain(claims.iter().map(|claim| claim.store_id)).collect();
    let codes = codes(conn, stores).await?;
    let code = |store: Uuid| codes.get(&store).cloned().unwrap_or_default();
    let mut all = Vec::new();
    for part in parts {
        let Some((line, quantity)) = part.of_line else { continue };
        all.push(GivenBack {
            sale_item_id: names.sent(line),
            refund_id: names.sent(part.refund),
            quantity,
            receipt_number: Some(part.receipt),
            store_code: code(part.store),
        });
    }
    for claim in claims {
        for ClaimLine { sale_item_id, quantity } in claims::lines(&claim) {
            all.push(GivenBack {
                sale_item_id: names.sent(sale_item_id),
                refund_id: claim.id,
                quantity,
                receipt_number: None,
                store_code: code(claim.store_id),
            });
        }
    }
    all.sort_by_key(|given| (given.sale_item_id, given.refund_id));
    Ok(all)
}

/// What the refunds of a sale gave back to tenders, by the `names` of the asking store.
pub(super) async fn paid_back(
    conn: &impl ConnectionTrait,
    names: &KeptIds,
    sale: Uuid,
) -> Result<Vec<PaidBack>, DbErr> {
    let sql = "SELECT r.id AS refund, p.tender_id AS tender, p.tender_code AS code, p.tender_kind AS kind, \
               p.amount AS amount, r.cash_rounding AS rounding \
               FROM sales r JOIN sale_payments p ON p.sale_id = r.id \
               WHERE r.sale_type = $1 AND r.status <> $2 AND r.original_sale_id = $3 ORDER BY r.id, p.line_no";
    let values: [Value; 3] = [SaleType::Refund.word().into(), SaleStatus::Voided.word().into(), sale.into()];
    let rows = query(conn, sql, values).await?;
    let (mut all, mut rounded) = (Vec::with_capacity(rows.len()), BTreeSet::new());
    for row in rows {
        let refund: Uuid = row.try_get("", "refund")?;
        let kind: String = row.try_get("", "kind")?;
        // What rounding gave or kept is in the first cash of a refund.
        let is_rounded = kind == TenderKind::Cash && rounded.insert(refund);
        let rounding: i64 = if is_rounded { row.try_get("", "rounding")? } else { 0 };
        let amount: i64 = row.try_get("", "amount")?;
        all.push(PaidBack {
            refund_id: names.sent(refund),
            tender_id: row.try_get("", "tender")?,
            tender_code: row.try_get("", "code")?,
            amount: Money(rounding.saturating_sub(amount)),
        });
    }
    Ok(all)
}

/// How much of each line was given back or is about to be.
pub(super) fn of_lines(given: &[GivenBack]) -> HashMap<Uuid, i128> {
    let mut sums = HashMap::new();
    for GivenBack { sale_item_id, quantity: Qty(quantity), .. } in given {
        *sums.entry(*sale_item_id).or_default() += i128::from(*quantity);
    }
    sums
}

async fn codes(conn: &impl ConnectionTrait, stores: BTreeSet<Uuid>) -> Result<HashMap<Uuid, String>, DbErr> {
    let rows = find_in(conn, "SELECT id, code FROM stores WHERE id IN ($list)", &[], stores).await?;
    rows.iter().map(|row| Ok((row.try_get("", "id")?, row.try_get("", "code")?))).collect()
}
