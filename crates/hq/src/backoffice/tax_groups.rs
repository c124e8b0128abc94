//! Tax groups with their rates. The rates are rows of their own, so that a change of one travels alone.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tillkeep_http::describe::{Change, Draft, Lists, Write};
use tillkeep_http::error::Result;
use tillkeep_http::resource::{self, Expected, Fields, ListSpec};
use tillkeep_http::{Answer, Body, Caller, Created, Id, List, Params};
use tillkeep_model::permission::code::{PosSell, TaxesManage, TaxesView};
use tillkeep_model::{ErrorCode, Instant, fields};
use tillkeep_storage::entity::tax_group::{Column, Entity, Model};
use tillkeep_storage::entity::{department, product, tax_group_rate};
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect,
};
use tillkeep_storage::{DbErr, Tx};
use utoipa::ToSchema;
use uuid::Uuid;

use super::conflict::{self, Named};
use super::plain;
use super::plain::{Of, Rules};
use super::references::refuse_in_use;
use super::rows::{self, Kind};
use super::tax_group_rates::{self as rates, RateInput};
use crate::state::Routes;

impl Rules for Entity {
    const KIND: Kind = Kind {
        book: &fields::tax::GROUP,
        singular: "tax group",
        unique: &[("code", ErrorCode::DuplicateCode)],
        hidden: &[],
    };

    const LIST: ListSpec =
        ListSpec { search: &["code", "name"], filters: &["isDefault"], sort: &["code", "name", "createdAt"] };

    async fn check(_: &mut Tx, _: Option<&Model>, _: &mut Model, _: Instant) -> Result<()> {
        Ok(())
    }

    async fn written(tx: &mut Tx, _: Option<&Model>, new: &Model, now: Instant) -> Result<()> {
        if new.is_default { only_default(tx, new, now).await } else { Ok(()) }
    }

    async fn deletable(tx: &mut Tx, row: &Model, now: Instant) -> Result<()> {
        let products = product::Entity::find()
            .filter(product::Column::TaxGroupId.eq(row.id))
            .filter(product::Column::DeletedAt.is_null());
        refuse_in_use(products.count(tx).await?, fields::product::BOOK.table)?;
        let departments = department::Entity::find()
            .filter(department::Column::DefaultTaxGroupId.eq(row.id))
            .filter(department::Column::DeletedAt.is_null());
        refuse_in_use(departments.count(tx).await?, fields::department::BOOK.table)?;
        rates::replace(tx, row.id, Vec::new(), now).await
    }
}

/// There is one default group: the one before is none any more.
async fn only_default(tx: &mut Tx, row: &Model, now: Instant) -> Result<()> {
    // All groups are locked, so that two requests do not both leave their own as the default.
    Entity::find().select_only().column(Column::Id).lock_exclusive().into_tuple::<Uuid>().all(&*tx).await?;
    tx.update::<Entity>(|groups| {
        groups
            .col_expr(Column::IsDefault, Expr::value(false))
            .col_expr(Column::UpdatedAt, Expr::value(now))
            .filter(Column::IsDefault.eq(true))
            .filter(Column::Id.ne(row.id))
            .filter(Column::DeletedAt.is_null())
    })
    .await?;
    Ok(())
}

/// A group as it is answered.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TaxGroupWithRates)]
pub(crate) struct GroupView {
    #[serde(flatten)]
    group: Model,
    rates: Vec<tax_group_rate::Model>,
    /// Rises with each change of the rates, which the version of the group does not: `expectedVersion` of their
    /// replacement.
    rates_version: i64,
}

async fn rates_of(
    conn: &impl ConnectionTrait,
    groups: &[Uuid],
) -> Result<HashMap<Uuid, Vec<tax_group_rate::Model>>, DbErr> {
    use tax_group_rate::Column;
    let rows = tax_group_rate::Entity::find()
        .filter(Column::TaxGroupId.is_in(groups.iter().copied()))
        .filter(Column::DeletedAt.is_null())
        .order_by_asc(Column::StoreId)
        .order_by_asc(Column::Sequence)
        .all(conn)
        .await?;
    let mut by_group: HashMap<Uuid, Vec<_>> = HashMap::new();
    for row in rows {
        by_group.entry(row.tax_group_id).or_default().push(row);
    }
    Ok(by_group)
}

async fn view(conn: &impl ConnectionTrait, group: Model) -> Result<GroupView> {
    let rates = rates_of(conn, &[group.id]).await?.remove(&group.id).unwrap_or_default();
    let rates_version = rates::versions_of(conn, &[group.id]).await?.remove(&group.id).unwrap_or_default();
    Ok(GroupView { group, rates, rates_version })
}

/// A new tax group.
pub(crate) struct NewGroup;

impl Write for NewGroup {
    type Row = Entity;
    const FIELDS: Fields = Entity::KIND.fields();
    type More = Rates;

    fn name() -> Cow<'static, str> {
        "TaxGroup".into()
    }
}

/// The rates that are sent with a new group.
#[derive(Deserialize, ToSchema)]
pub(crate) struct Rates {
    rates: Option<Vec<RateInput>>,
}

pub(crate) async fn list(
    caller: Caller<(TaxesView, PosSell)>,
    Lists { query, .. }: Lists<Of<Entity>>,
) -> Result<List<GroupView>> {
    let conn = caller.snapshot().await?;
    let groups = resource::long_list(&conn, &Entity::LIST, &query, Entity::find()).await?;
    let ids: Vec<Uuid> = groups.rows.iter().map(|group| group.id).collect();
    let (mut rates, mut versions) = (rates_of(&conn, &ids).await?, rates::versions_of(&conn, &ids).await?);
    Ok(groups.map(|group: Model| GroupView {
        rates: rates.remove(&group.id).unwrap_or_default(),
        rates_version: versions.remove(&group.id).unwrap_or_default(),
        group,
    }))
}

pub(crate) async fn create(
    caller: Caller<TaxesManage>,
    Body(draft): Body<Draft<NewGroup>>,
) -> Result<Created<GroupView>> {
    caller.everywhere()?;
    let now = caller.now();
    let (body, Rates { rates: wanted }) = draft.parted()?;
    let wanted = wanted.unwrap_or_default();
    let check = async |tx: &mut Tx, new: &mut Model| Entity::check(tx, None, new, now).await;
    let after = async |tx: &mut Tx, new: &Model| {
        rates::check(tx, "rates", &wanted, now).await?;
        rates::replace(tx, new.id, wanted, now).await?;
        Entity::written(tx, None, new, now).await
    };
    let Created { data, new } = rows::create::<Entity, _>(&caller, &Entity::KIND, body, check, after).await?;
    Ok(Created { data: view(caller.reader(), data).await?, new })
}

pub(crate) async fn edit(
    caller: Caller<TaxesManage>,
    Id(id): Id,
    Body(body): Body<Change<Of<Entity>>>,
) -> Result<Answer<GroupView>> {
    caller.everywhere()?;
    let now = caller.now();
    let check = async |tx: &mut Tx, old: &Model, new: &mut Model| Entity::check(tx, Some(old), new, now).await;
    let after = async |tx: &mut Tx, old: &Model, new: &Model| Entity::written(tx, Some(old), new, now).await;
    let group = rows::change::<Entity, _>(&caller, &Entity::KIND, id, body.keys, check, after).await?;
    view(caller.reader(), group).await.map(Answer)
}

/// `PUT /tax-groups/{id}/rates`: whole replacement. What stays as it is keeps its version.
pub(crate) async fn put_rates(
    caller: Caller<TaxesManage>,
    Id(id): Id,
    Params(Expected { expected_version }): Params<Expected>,
    Body(wanted): Body<Vec<RateInput>>,
) -> Result<Answer<GroupView>> {
    caller.everywhere()?;
    let mut act = caller.begin().await?;
    rates::hold(&act, &wanted).await?;
    // The group is locked: its rates are replaced by one request at a time.
    let group = rows::find_to_change::<Entity>(&act, &Entity::KIND, id).await?;
    let now = view(&**act, group.clone()).await?;
    // Of its rates there is no moment: that of the group is of the group alone.
    let named = Named { entity_type: Entity::KIND.name(), id: Some(id), changed_at: None };
    let current = || Ok(serde_json::to_value(&now)?);
    conflict::refuse_outdated(&act, &named, (expected_version, now.rates_version), current).await?;
    rates::check(&act, "rates", &wanted, caller.now()).await?;
    let details = json!({"rates": wanted});
    rates::replace(&mut act, id, wanted, caller.now()).await?;
    act.done(rows::entry(&caller, "tax_group.rates", Entity::KIND.name(), id, details)).await?;
    view(caller.reader(), group).await.map(Answer)
}

/// The routes of tax groups.
pub(crate) fn routes(routes: Routes) -> Routes {
    use ErrorCode::{DuplicateCode, FirstRateCompound, IdReused, InUse, TooManyRates, VersionConflict};
    routes
        .get("/tax-groups", list)
        .about("List tax groups with their rates.")
        .post("/tax-groups", create)
        .about("Make a tax group, with its rates.")
        .fails(&[IdReused, DuplicateCode, FirstRateCompound, TooManyRates])
        .patch("/tax-groups/{id}", edit)
        .about("Change some fields of a tax group.")
        .fails(&[VersionConflict, DuplicateCode])
        .put("/tax-groups/{id}/rates", put_rates)
        .about("Replace the rates of a tax group.")
        .fails(&[VersionConflict, FirstRateCompound, TooManyRates])
        .delete("/tax-groups/{id}", plain::delete::<Entity, TaxesManage>)
        .about("Delete a tax group, in all stores too.")
        .fails(&[VersionConflict, InUse])
}
