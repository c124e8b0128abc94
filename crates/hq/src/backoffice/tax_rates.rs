//! Tax rates.

use std::collections::BTreeSet;

use tillkeep_http::directory::lists;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::ListSpec;
use tillkeep_model::{ErrorCode, Instant, fields};
use tillkeep_storage::Tx;
use tillkeep_storage::entity::tax_rate::{self, Entity, Model};
use tillkeep_storage::entity::{tax_group, tax_group_rate};
use tillkeep_storage::sea_orm::{
    ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait,
};
use uuid::Uuid;

use super::plain;
use super::plain::Rules;
use super::references::refuse_in_use;
use super::rows::Kind;
use crate::state::Routes;
use tillkeep_model::permission::code::{TaxesManage, TaxesView};

impl Rules for Entity {
    const KIND: Kind = Kind {
        book: &fields::tax::RATE,
        singular: "tax rate",
        unique: &[("code", ErrorCode::DuplicateCode)],
        hidden: &[],
    };

    const LIST: ListSpec = lists::TAX_RATES;

    async fn check(tx: &mut Tx, old: Option<&Model>, row: &mut Model, _: Instant) -> Result<()> {
        // A new rate is in no group yet.
        if old.is_some_and(|old| old.is_active != row.is_active) { keep_first_rates(tx, row).await } else { Ok(()) }
    }

    async fn deletable(tx: &mut Tx, row: &Model, _: Instant) -> Result<()> {
        let used = tax_group_rate::Entity::find()
            .filter(tax_group_rate::Column::TaxRateId.eq(row.id))
            .filter(tax_group_rate::Column::DeletedAt.is_null())
            .count(tx)
            .await?;
        refuse_in_use(used, "rates of tax groups")
    }
}

/// Refuses to switch a rate on or off when a group would then begin with a compound rate in some place: it would be
/// taken on nothing, and too little tax be paid.
async fn keep_first_rates(tx: &Tx, row: &Model) -> Result<()> {
    use tax_group_rate::Column;
    let with_this = tax_group_rate::Entity::find()
        .select_only()
        .column(Column::TaxGroupId)
        .filter(Column::TaxRateId.eq(row.id))
        .filter(Column::DeletedAt.is_null());
    // Locked, as by whoever replaces their rates: of two rates of one group, one is switched off after the other.
    let groups = tax_group::Entity::find()
        .filter(tax_group::Column::Id.in_subquery(with_this.into_query()))
        .order_by_asc(tax_group::Column::Id)
        .lock_exclusive()
        .all(tx)
        .await?;
    let links = tax_group_rate::Entity::find()
        .filter(Column::TaxGroupId.is_in(groups.iter().map(|group| group.id)))
        .filter(Column::DeletedAt.is_null())
        .order_by_asc(Column::Sequence)
        .all(tx)
        .await?;
    let ids = links.iter().map(|link| link.tax_rate_id);
    let rates = Entity::find().filter(tax_rate::Column::Id.is_in(ids)).all(tx).await?;
    let counts = |id: Uuid| {
        if id == row.id { row.is_active } else { rates.iter().any(|rate| rate.id == id && rate.is_active) }
    };
    let mut places = BTreeSet::new();
    let first = links.iter().filter(|link| counts(link.tax_rate_id));
    let mut first = first.filter(|link| places.insert((link.tax_group_id, link.store_id)));
    let Some(wrong) = first.find(|link| link.is_compound) else { return Ok(()) };
    let group = groups.iter().find(|group| group.id == wrong.tax_group_id);
    let text = format!(
        "then tax group {} would begin with a compound rate, which has nothing before it to be compound on; change the \
         rates of that group first",
        group.map(|group| group.code.as_str()).unwrap_or_default()
    );
    Err(Error::new(ErrorCode::FirstRateCompound, text).at("isActive"))
}

/// The routes of tax rates.
pub(crate) fn routes(routes: Routes) -> Routes {
    use ErrorCode::{DuplicateCode, FirstRateCompound, IdReused, InUse, VersionConflict};
    routes
        .get("/tax-rates", plain::list::<Entity, TaxesView>)
        .about("List tax rates, a page at a time.")
        .post("/tax-rates", plain::create::<Entity, TaxesManage>)
        .about("Make a new tax rate.")
        .fails(&[IdReused, DuplicateCode])
        .patch("/tax-rates/{id}", plain::edit::<Entity, TaxesManage>)
        .about("Change some fields of a tax rate.")
        .fails(&[VersionConflict, DuplicateCode, FirstRateCompound])
        .delete("/tax-rates/{id}", plain::delete::<Entity, TaxesManage>)
        .about("Delete a tax rate, in all stores too.")
        .fails(&[VersionConflict, InUse])
}
