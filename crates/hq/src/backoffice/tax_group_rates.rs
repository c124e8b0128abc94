//! The rates of a tax group: their rules, and their replacement as a whole.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};
use tillkeep_http::describe;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::Check;
use tillkeep_model::fields::tax::GROUP_RATE;
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::entity::tax_group_rate::{Column, Entity, Model};
use tillkeep_storage::entity::{store, tax_rate};
use tillkeep_storage::sea_orm::sea_query::{CaseStatement, Expr};
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect};
use tillkeep_storage::{DbErr, Tx};
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};
use uuid::Uuid;

use super::references::living;

/// Rates of one group in one store at the most, and compound ones among them.
const MOST: usize = 5;
const MOST_COMPOUND: usize = 2;

/// One rate as it is sent.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = TaxGroupRateInput)]
pub(crate) struct RateInput {
    tax_rate_id: Uuid,
    #[serde(default)]
    store_id: Option<Uuid>,
    #[schema(schema_with = sequence)]
    sequence: i32,
    #[serde(default)]
    is_compound: bool,
}

fn sequence() -> RefOr<Schema> {
    describe::of_book(&GROUP_RATE, "sequence")
}

impl RateInput {
    const fn key(&self) -> (Uuid, Option<Uuid>) {
        (self.tax_rate_id, self.store_id)
    }
}

/// Keeps these rates as they are until the transaction ends. Rates come before groups, as where one is switched off.
pub(super) async fn hold(tx: &Tx, wanted: &[RateInput]) -> Result<()> {
    living::<tax_rate::Entity>(tx, wanted.iter().map(|rate| rate.tax_rate_id)).await?;
    Ok(())
}

/// Refuses rates that cannot be calculated with; `field` is the list's name in the request.
pub(super) async fn check(tx: &Tx, field: &str, wanted: &[RateInput], now: Instant) -> Result<()> {
    let mut check = Check::default();
    hold(tx, wanted).await?;
    let rates: BTreeSet<Uuid> = wanted.iter().map(|rate| rate.tax_rate_id).collect();
    let known: HashMap<Uuid, bool> = tax_rate::Entity::find()
        .filter(tax_rate::Column::Id.is_in(rates))
        .filter(tax_rate::Column::DeletedAt.is_null())
        .all(tx)
        .await?
        .into_iter()
        .map(|row| (row.id, row.is_active))
        .collect();
    check_order(field, wanted, &known, now)?;
    let known_stores = living::<store::Entity>(tx, wanted.iter().filter_map(|rate| rate.store_id)).await?;
    for (index, rate) in wanted.iter().enumerate() {
        let of = |name: &str| format!("{field}[{index}].{name}");
        check.that(known.contains_key(&rate.tax_rate_id), &of("taxRateId"), "is no tax rate").that(
            rate.store_id.is_none_or(|id| known_stores.contains(&id)),
            &of("storeId"),
            "is no store",
        );
    }
    check.finish()
}

/// The rules within each place (everywhere, or one store), which is calculated on its own. `known` says which rates count.
fn check_order(field: &str, wanted: &[RateInput], known: &HashMap<Uuid, bool>, now: Instant) -> Result<()> {
    let mut places: BTreeMap<Option<Uuid>, Vec<(usize, &RateInput)>> = BTreeMap::new();
    for (index, rate) in wanted.iter().enumerate() {
        places.entry(rate.store_id).or_default().push((index, rate));
    }
    let mut check = Check::default();
    for rates in places.values_mut() {
        rates.sort_by_key(|(_, rate)| rate.sequence);
        if rates.len() > MOST || rates.iter().filter(|(_, rate)| rate.is_compound).count() > MOST_COMPOUND {
            let text = format!("a group has at most {MOST} rates in one place, {MOST_COMPOUND} of them compound");
            return Err(Error::new(ErrorCode::TooManyRates, text).at(field));
        }
        // The first of all, and the first of those that are not switched off.
        let counts = |rate: &RateInput| known.get(&rate.tax_rate_id).copied().unwrap_or(true);
        let first = [rates.first(), rates.iter().find(|(_, rate)| counts(rate))];
        if let Some((index, _)) = first.into_iter().flatten().find(|(_, rate)| rate.is_compound) {
            let text = "the first active rate has nothing before it that it could be compound on";
            return Err(Error::new(ErrorCode::FirstRateCompound, text).at(format!("{field}[{index}].isCompound")));
        }
        let (mut sequences, mut ids) = (BTreeSet::new(), BTreeSet::new());
        for (index, rate) in rates {
            let of = |name: &str| format!("{field}[{index}].{name}");
            check
                .by_book(&GROUP_RATE, (&format!("{field}[{index}]."), "sequence"), rate.sequence, now)
                .that(sequences.insert(rate.sequence), &of("sequence"), "is there twice in one place")
                .that(ids.insert(rate.tax_rate_id), &of("taxRateId"), "is there twice in one place");
        }
    }
    check.finish()
}

/// The newest versions among all rates that groups ever had: what one of them has moves with each change of its rates,
/// also with one that only takes some away.
pub(super) async fn versions_of(conn: &impl ConnectionTrait, groups: &[Uuid]) -> Result<HashMap<Uuid, i64>, DbErr> {
    let newest = Entity::find()
        .select_only()
        .column(Column::TaxGroupId)
        .column_as(Column::SyncVersion.max(), "sync_version")
        .filter(Column::TaxGroupId.is_in(groups.iter().copied()))
        .group_by(Column::TaxGroupId);
    Ok(newest.into_tuple::<(Uuid, i64)>().all(conn).await?.into_iter().collect())
}

/// Makes `wanted` the rates of the group: tombstones for what is gone, a new version for what differs, nothing for
/// what stays.
pub(super) async fn replace(tx: &mut Tx, group: Uuid, wanted: Vec<RateInput>, now: Instant) -> Result<()> {
    let stored = Entity::find()
        .filter(Column::TaxGroupId.eq(group))
        .filter(Column::DeletedAt.is_null())
        .lock_exclusive()
        .all(tx)
        .await?;
    let mut stored: HashMap<_, _> = stored.into_iter().map(|row| ((row.tax_rate_id, row.store_id), row)).collect();
    let (mut changed, mut new) = (Vec::new(), Vec::new());
    for rate in wanted {
        match stored.remove(&rate.key()) {
            Some(row) if row.sequence == rate.sequence && row.is_compound == rate.is_compound => {}
            Some(row) => changed.push((row.id, rate)),
            None => new.push(rate),
        }
    }
    let gone: Vec<Uuid> = stored.into_values().map(|row| row.id).collect();
    for ids in gone.chunks(1000) {
        tx.update::<Entity>(|rows| {
            rows.col_expr(Column::UpdatedAt, Expr::value(now))
                .col_expr(Column::DeletedAt, Expr::value(Some(now)))
                .filter(Column::Id.is_in(ids.iter().copied()))
        })
        .await?;
    }
    for rows in changed.chunks(500) {
        let (mut sequence, mut compound) = (CaseStatement::new(), CaseStatement::new());
        for (id, rate) in rows {
            sequence = sequence.case(Column::Id.eq(*id), rate.sequence);
            compound = compound.case(Column::Id.eq(*id), rate.is_compound);
        }
        let ids: Vec<Uuid> = rows.iter().map(|(id, _)| *id).collect();
        tx.update::<Entity>(|rows| {
            rows.col_expr(Column::UpdatedAt, Expr::value(now))
                .col_expr(Column::Sequence, sequence.into())
                .col_expr(Column::IsCompound, compound.into())
                .filter(Column::Id.is_in(ids))
        })
        .await?;
    }
    let new = new.into_iter().map(|rate| Model {
        id: Uuid::now_v7(),
        created_at: now,
        updated_at: now,
        tax_group_id: group,
        tax_rate_id: rate.tax_rate_id,
        store_id: rate.store_id,
        sequence: rate.sequence,
        is_compound: rate.is_compound,
        ..Model::default()
    });
    tx.insert_all::<Entity>(new.collect()).await?;
    Ok(())
}
