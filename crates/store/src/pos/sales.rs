//! Sales of this store, as they were booked.

use std::sync::Arc;

use axum::extract::State;
use tillkeep_http::describe::{Listing, Lists, More};
use tillkeep_http::documents;
use tillkeep_http::documents::sales::ListedSale;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::extract::Segment;
use tillkeep_http::resource::{self, ListSpec, Query};
use tillkeep_http::{Answer, Caller, Id, List};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::code::{PosRefund, PosSell, ReportsViewLocal};
use tillkeep_model::receipt::ReceiptNumber;
use tillkeep_model::state::SessionStatus;
use tillkeep_storage::entity::{register, register_session, sale};
use tillkeep_storage::fiscal::signatures;
use tillkeep_storage::sea_orm::sea_query::Query as SubQuery;
use tillkeep_storage::sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, Select};
use tillkeep_storage::settings;

use super::opened;
use super::refunds::original::{Original, refunds_of};
use super::refunds::shown::SaleWithRefunds;
use super::sale_document::SaleDocument;
use crate::Store;
use crate::act::{self, Record};
use crate::sessions::view::knows;

const LIST: ListSpec = ListSpec {
    search: &["receiptNumber", "customerName"],
    filters: &[
        "receiptNumber",
        "businessDate",
        "registerSessionId",
        "customerId",
        "status",
        "saleType",
        "cashierUserId",
    ],
    sort: &["createdAt", "receiptNumber", "businessDate", "totalAmount"],
};

/// The list of sales.
pub(crate) struct Sales;

impl Listing for Sales {
    type Row = sale::Entity;
    const SPEC: ListSpec = LIST;
    const LONG: bool = true;
    const MORE: &'static [(&'static str, More)] =
        &[("sessionId", More::Id), ("businessDateFrom", More::Date), ("businessDateTo", More::Date)];
}

pub(crate) async fn list(
    caller: Caller<(PosSell, ReportsViewLocal)>,
    State(store): State<Arc<Store>>,
    Lists { mut query, .. }: Lists<Sales>,
) -> Result<List<ListedSale>> {
    documents::newest_first(&mut query);
    documents::rename(&mut query, "sessionId", "registerSessionId");
    let mut select = all(&store, &query);
    select = documents::business_dates::<sale::Entity>(&mut query, sale::Column::BusinessDate, select)?;
    if !caller.may(&["reports.view_local"]) {
        select = select.filter(in_own_open_session(&caller));
    }
    let knows = knows(&caller, &store).await?;
    let page: List<sale::Model> = resource::long_list(caller.reader(), &LIST, &query, select).await?;
    Ok(page.map(|row| ListedSale::new(row, knows)))
}

/// Every sale here is of this store: it is said only where the index of the numbers begins with it.
fn all(store: &Store, query: &Query) -> Select<sale::Entity> {
    let by_number = |value: &String| value.ends_with("receiptNumber");
    let select = sale::Entity::find();
    if query.contains_key("receiptNumber") || query.get("sort").is_some_and(by_number) {
        select.filter(sale::Column::StoreId.eq(store.id))
    } else {
        select
    }
}

/// The open drawers that are the caller's, that the caller sits at, or has sold into.
fn in_own_open_session<P: tillkeep_model::permission::Requirement>(caller: &Caller<P>) -> Condition {
    use register_session::Column;
    let open = SubQuery::select()
        .column(Column::Id)
        .from(register_session::Entity)
        .and_where(Column::Status.ne(SessionStatus::Closed.word()))
        .to_owned();
    let at_terminal = SubQuery::select()
        .column(register::Column::Id)
        .from(register::Entity)
        .and_where(register::Column::TerminalId.eq(caller.terminal_id.as_deref().unwrap_or_default()))
        .to_owned();
    // Whoever signs in with a name has no terminal to know a drawer by that another user opened.
    let sold_into = SubQuery::select()
        .column(sale::Column::RegisterSessionId)
        .from(sale::Entity)
        .and_where(sale::Column::RegisterSessionId.in_subquery(open.clone()))
        .and_where(sale::Column::CashierUserId.eq(caller.user_id))
        .to_owned();
    let mut own = open;
    own.cond_where(
        Condition::any()
            .add(Column::OwnerId.eq(caller.user_id))
            .add(Condition::all().add(Column::OwnerId.is_null()).add(Column::OpenedBy.eq(caller.user_id)))
            .add(Column::RegisterId.in_subquery(at_terminal))
            .add(Column::Id.in_subquery(sold_into)),
    );
    Condition::all().add(sale::Column::RegisterSessionId.in_subquery(own))
}

pub(crate) async fn get(
    caller: Caller<(PosSell, PosRefund, ReportsViewLocal)>,
    State(store): State<Arc<Store>>,
    Id(id): Id,
) -> Result<Answer<SaleWithRefunds>> {
    let snapshot = caller.snapshot().await?;
    let found: Option<SaleDocument> = act::find(&snapshot, id).await?;
    let Some(document) = found else {
        // Not taken: but only of the database that it was sent to.
        return Err(not_found().with("database", settings::epoch(&snapshot).await?));
    };
    let signatures = signatures::of_sale(&snapshot, id).await?;
    let refunds = refunds_of(&snapshot, id).await?;
    snapshot.commit().await?;
    opened::count(&caller, &store, &document.sale).await?;
    Ok(Answer(SaleWithRefunds::here(document, refunds, signatures)))
}

/// Of a number that is not here headquarters is asked: it is of another store, or was lost with a database.
pub(crate) async fn by_receipt(
    caller: Caller<(PosSell, PosRefund, ReportsViewLocal)>,
    State(store): State<Arc<Store>>,
    Segment(number): Segment,
) -> Result<Answer<SaleWithRefunds>> {
    let snapshot = caller.snapshot().await?;
    let sale = sale::Entity::find()
        .filter(sale::Column::StoreId.eq(store.id))
        .filter(sale::Column::ReceiptNumber.eq(number.as_str()))
        .one(&snapshot)
        .await?;
    if let Some(sale) = sale {
        let refunds = refunds_of(&snapshot, sale.id).await?;
        let signatures = signatures::of_sale(&snapshot, sale.id).await?;
        let document = SaleDocument::load(&snapshot, sale).await?;
        snapshot.commit().await?;
        opened::count(&caller, &store, &document.sale).await?;
        return Ok(Answer(SaleWithRefunds::here(document, refunds, signatures)));
    }
    snapshot.commit().await?;
    let Some(receipt) = ReceiptNumber::parse(&number) else { return Err(not_found()) };
    let found = Original::by_receipt(&caller, &store, &number).await.map_err(|error| {
        // A number of this store's own: headquarters is asked for what was lost here.
        let is_own = receipt.store_code == store.code;
        if is_own && error.code() == ErrorCode::HqUnreachable { not_found() } else { error }
    })?;
    Ok(Answer(SaleWithRefunds::elsewhere(found)))
}

pub(super) fn not_found() -> Error {
    Error::new(ErrorCode::SaleNotFound, "this store has no such sale")
}

#[cfg(test)]
mod tests {
    use tillkeep_http::cursor;
    use tillkeep_storage::sea_orm::{Order, QuerySelect, QueryTrait};

    use super::super::tests::plan;
    use super::*;

    /// With a hundred thousand sales that is 10 to 40 ms in place of 400 to 1 700.
    #[tokio::test]
    async fn what_the_list_of_sales_asks_about_stands_in_an_index() {
        let newest_first = [sale::Column::CreatedAt, sale::Column::Id].map(|column| (column, Order::Desc)).to_vec();
        let far_back = cursor::after(&sale::Model::default(), "-createdAt", 2000, &newest_first);
        for (key, value) in [
            ("page", "2000"),
            ("cursor", &far_back),
            ("search", "0001"),
            ("status", "completed"),
            ("saleType", "refund"),
            ("cashierUserId", "0192d0c4-7f6e-7000-8000-000000000001"),
            ("sort", "totalAmount"),
            ("sort", "-businessDate"),
        ] {
            let mut query = Query::from([(key.to_owned(), value.to_owned())]);
            documents::newest_first(&mut query);
            let all = resource::narrowed(&LIST, &query, sale::Entity::find()).expect("a list");
            let (page, _) = resource::page_keys(&LIST, &query, all.clone()).expect("a page");
            let counted = all.select_only().expr(sale::Column::Id.count()).into_query();
            for select in [&page, &counted] {
                let plan = plan(select).await;
                assert!(plan[0].contains("COVERING INDEX"), "{key}={value}: {plan:?}");
            }
            if key == "cursor" {
                // Those before it are passed over in the index, and not read.
                let plan = plan(&page).await;
                assert!(plan[0].contains("created_at<?"), "{plan:?}");
            }
        }
    }
}
