//! Sales as documents, with what belongs to them: as `GET /sales/{id}` shows one, and receivers of sales are told of them. Read in as
//! many statements for a hundred as for one.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;
use tillkeep_storage::DbErr;
use tillkeep_storage::entity::sale::Model;
use tillkeep_storage::entity::{chain_entry, sale_item, sale_payment, user};
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use utoipa::ToSchema;
use uuid::Uuid;

use super::given_back::{self, Half, Refund};

/// A sale with its lines, and what was given back of it since.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SaleDocument)]
pub struct SaleView {
    #[serde(flatten)]
    sale: Model,
    sale_items: Vec<sale_item::Model>,
    sale_payments: Vec<sale_payment::Model>,
    /// Its places in the chain of its register; none of a document from before there were chains.
    chain_entries: Vec<chain_entry::Model>,
    /// The documents that gave something of it back, from whichever store the caller sees.
    refunds: Vec<Refund>,
    /// So many more gave something of it back, in stores that the caller does not see.
    refunds_elsewhere: usize,
    /// The other document of an exchange, when it has arrived.
    exchanged_with: Option<Half>,
    /// Of the user who voided it.
    voided_by_name: Option<String>,
}

impl SaleView {
    pub(crate) const fn id(&self) -> Uuid {
        self.sale.id
    }
}

/// `sales` in their order, for somebody who sees refunds of the stores that `sees` says.
pub(crate) async fn load(
    conn: &impl ConnectionTrait,
    sales: Vec<Model>,
    sees: impl Fn(Uuid) -> bool,
) -> Result<Vec<SaleView>, DbErr> {
    let ids: Vec<Uuid> = sales.iter().map(|sale| sale.id).collect();
    let mut refunds = given_back::refunds(conn, &ids).await?;
    let mut halves = given_back::other_halves(conn, &sales).await?;
    let names = names(conn, &sales).await?;
    let mut items = items(conn, &ids).await?;
    let mut payments = payments(conn, &ids).await?;
    let mut entries = entries(conn, &ids).await?;
    let view = |sale: Model| {
        let mut of_it = refunds.remove(&sale.id).unwrap_or_default();
        let all = of_it.len();
        of_it.retain(|refund| sees(refund.store_id));
        SaleView {
            sale_items: items.remove(&sale.id).unwrap_or_default(),
            sale_payments: payments.remove(&sale.id).unwrap_or_default(),
            chain_entries: entries.remove(&sale.id).unwrap_or_default(),
            refunds_elsewhere: all - of_it.len(),
            refunds: of_it,
            exchanged_with: halves.remove(&sale.id),
            voided_by_name: sale.voided_by.and_then(|user_id| names.get(&user_id).cloned()),
            sale,
        }
    };
    Ok(sales.into_iter().map(view).collect())
}

/// Names of the users who voided these.
async fn names(conn: &impl ConnectionTrait, sales: &[Model]) -> Result<HashMap<Uuid, String>, DbErr> {
    use user::Column;
    let ids: BTreeSet<Uuid> = sales.iter().filter_map(|sale| sale.voided_by).collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows: Vec<(Uuid, String)> = user::Entity::find()
        .select_only()
        .columns([Column::Id, Column::DisplayName])
        .filter(Column::Id.is_in(ids))
        .into_tuple()
        .all(conn)
        .await?;
    Ok(rows.into_iter().collect())
}

async fn items(conn: &impl ConnectionTrait, sales: &[Uuid]) -> Result<HashMap<Uuid, Vec<sale_item::Model>>, DbErr> {
    use sale_item::Column;
    let rows = of_sales::<sale_item::Entity>(conn, sales, Column::SaleId, Column::LineNo).await?;
    Ok(by_sale(rows, |row| row.sale_id))
}

async fn payments(
    conn: &impl ConnectionTrait,
    sales: &[Uuid],
) -> Result<HashMap<Uuid, Vec<sale_payment::Model>>, DbErr> {
    use sale_payment::Column;
    let rows = of_sales::<sale_payment::Entity>(conn, sales, Column::SaleId, Column::LineNo).await?;
    Ok(by_sale(rows, |row| row.sale_id))
}

async fn entries(conn: &impl ConnectionTrait, sales: &[Uuid]) -> Result<HashMap<Uuid, Vec<chain_entry::Model>>, DbErr> {
    use chain_entry::Column;
    let rows = of_sales::<chain_entry::Entity>(conn, sales, Column::SaleId, Column::LineNo).await?;
    Ok(by_sale(rows, |row| row.sale_id))
}

/// Rows of sales, those of each in their order.
async fn of_sales<E: EntityTrait>(
    conn: &impl ConnectionTrait,
    sales: &[Uuid],
    sale_id: E::Column,
    line_no: E::Column,
) -> Result<Vec<E::Model>, DbErr> {
    E::find().filter(sale_id.is_in(sales.iter().copied())).order_by_asc(line_no).all(conn).await
}

fn by_sale<M>(rows: Vec<M>, sale_of: impl Fn(&M) -> Uuid) -> HashMap<Uuid, Vec<M>> {
    let mut found: HashMap<Uuid, Vec<M>> = HashMap::new();
    for row in rows {
        found.entry(sale_of(&row)).or_default().push(row);
    }
    found
}
