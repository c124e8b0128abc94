//! Customers: made here or anywhere else in the chain.

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use serde_json::{Value as Json, json};
use tillkeep_http::describe::{Draft, Listing, Lists, Write};
use tillkeep_http::directory::customers::AllowDuplicate;
pub(crate) use tillkeep_http::directory::customers::buyer;
use tillkeep_http::documents::customer_sales;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{self, Fields, ListSpec};
use tillkeep_http::{Answer, Body, Caller, Created, Id, List};
use tillkeep_model::ErrorCode;
use tillkeep_model::fields::{
    self,
    customer::{UNNAMED, is_named},
};
use tillkeep_model::permission::code::{CustomersCreate, CustomersView, PosSell, ReportsZReport};
use tillkeep_storage::entity::customer::{self, Column, Entity, Model};
use tillkeep_storage::numbers::Given;
use tillkeep_storage::registry::{digits, fold};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use tillkeep_storage::{Tx, duplicates};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::Store;
use crate::act::{Log, record_of_row};
use crate::state::Routes;

const NEW: Fields = Fields::store(&fields::customer::BOOK);

const LIST: ListSpec = ListSpec {
    search: &["customerNumber", "firstName", "lastName", "companyName", "email", "phone", "phoneDigits"],
    filters: &["customerNumber", "email", "phone"],
    sort: &["customerNumber", "lastName", "companyName", "createdAt", "updatedAt"],
};

/// Who sees the customers of a shop: its manager too, with headquarters away.
type See = (CustomersView, ReportsZReport);

/// The list of customers.
pub(crate) struct Customers;

impl Listing for Customers {
    type Row = Entity;
    const SPEC: ListSpec = LIST;
}

/// A new customer.
pub(crate) struct NewCustomer;

impl Write for NewCustomer {
    type Row = Entity;
    const FIELDS: Fields = NEW;
    type More = AllowDuplicate;

    fn name() -> Cow<'static, str> {
        "Customer".into()
    }
}

/// No more of a person than is needed to choose the right one.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CustomerSummary {
    id: Uuid,
    customer_number: String,
    name: String,
    phone_last4: Option<String>,
    tax_exempt: bool,
}

pub(crate) async fn list(caller: Caller<See>, Lists { query, .. }: Lists<Customers>) -> Result<List<Model>> {
    resource::list(caller.reader(), &LIST, &query, Entity::find()).await
}

pub(crate) async fn get(caller: Caller<See>, Id(id): Id) -> Result<Answer<Model>> {
    let row = Entity::find_by_id(id).filter(Column::DeletedAt.is_null()).one(caller.reader()).await?;
    row.map(Answer).ok_or_else(|| Error::not_found("customer"))
}

/// The short form for a till: no more of a person than is needed to choose the right one.
pub(crate) async fn short_list(
    caller: Caller<(PosSell, CustomersView)>,
    Lists { query, .. }: Lists<Customers>,
) -> Result<List<CustomerSummary>> {
    if query.get("search").is_none_or(|search| search.trim().chars().count() < 2) {
        return Err(Error::field("search", "must have at least 2 characters"));
    }
    let usable = Entity::find().filter(Column::IsActive.eq(true)).filter(Column::MergedIntoId.is_null());
    let page = resource::list(caller.reader(), &LIST, &query, usable).await?;
    Ok(page.map(|row: Model| {
        let last4 = row.phone_digits.as_deref().map(|digits| digits[digits.len().saturating_sub(4)..].to_owned());
        CustomerSummary {
            id: row.id,
            name: display_name(&row),
            customer_number: row.customer_number,
            phone_last4: last4,
            tax_exempt: row.tax_exempt,
        }
    }))
}

/// The name on a receipt.
pub(crate) fn display_name(customer: &Model) -> String {
    let person: Vec<&str> =
        [&customer.first_name, &customer.last_name].into_iter().filter_map(|name| name.as_deref()).collect();
    match (&customer.company_name, person.is_empty()) {
        (Some(company), true) => company.clone(),
        _ => person.join(" "),
    }
}

/// Whether the buyer pays no taxes.
pub(crate) fn is_exempt(buyer: Option<&Model>) -> bool {
    buyer.is_some_and(|customer| customer.tax_exempt)
}

record_of_row!(customer, "a customer");

pub(crate) async fn create(
    caller: Caller<CustomersCreate>,
    State(store): State<Arc<Store>>,
    Body(draft): Body<Draft<NewCustomer>>,
) -> Result<Created<Model>> {
    let (body, AllowDuplicate { allow_duplicate }) = draft.parted()?;
    let allowed = allow_duplicate.unwrap_or(false);
    let now = caller.now();
    let mut row: Model = resource::draft(NEW, body.clone(), now)?;
    if !is_named([row.first_name.as_deref(), row.last_name.as_deref(), row.company_name.as_deref()]) {
        let (field, text) = UNNAMED;
        return Err(Error::field(field, text));
    }
    let act = store.act(&caller, "customer.create").creates(row.id, |stored| resource::same(stored, &body));
    if let Some(stored) = act.stored(caller.reader()).await? {
        return Ok(Created { data: stored, new: false });
    }
    row.email_folded = row.email.as_deref().map(fold);
    row.phone_digits = row.phone.as_deref().map(digits);
    row.origin_store_id = Some(store.id);
    let code = store.shop().await?.own()?.code.clone();
    let series = store.numbering().await?.series("customer", "");
    let work = act.run(move |tx| {
        Box::pin(async move {
            if !allowed {
                refuse_duplicate(tx, &row).await?;
            }
            let Given { letter, number } = tx.number(&series).await?;
            row.customer_number = format!("{code}-{letter}{number:06}");
            (row.created_at, row.updated_at) = (tx.now(), tx.now());
            tx.insert(&row).await?;
            let details = json!({"customerNumber": row.customer_number});
            Ok((row, Log::Line(details)))
        })
    });
    work.await
}

/// 409 when a customer with the same telephone or e-mail is there already.
async fn refuse_duplicate(tx: &Tx, row: &Model) -> Result<()> {
    let found = duplicates::of_customer(&**tx, row).await?;
    if found.is_empty() {
        return Ok(());
    }
    let candidates: Vec<Json> = found
        .iter()
        .map(|row| json!({"id": row.id, "customerNumber": row.customer_number, "name": display_name(row)}))
        .collect();
    let text = "a customer with this telephone or e-mail exists; choose that one or send allowDuplicate: true";
    Err(Error::new(ErrorCode::PossibleDuplicate, text).with("candidates", candidates))
}

/// The routes of customers.
pub(crate) fn routes(routes: Routes) -> Routes {
    use ErrorCode::{DocumentTooLarge, IdReused, PossibleDuplicate, StoreNotReady};
    routes
        .get("/pos/customers", short_list)
        .about("Look a customer up by a part of name, number, mail address or telephone.")
        .get("/customers", list)
        .about("List customers, a page at a time.")
        .post("/customers", create)
        .about("Make a new customer.")
        .fails(&[DocumentTooLarge, IdReused, PossibleDuplicate, StoreNotReady])
        .get("/customers/{id}", get)
        .about("One customer, by its id.")
        .get("/customers/{id}/sales", customer_sales::list::<See>)
        .about("What a customer bought, paid and brought back in this store.")
}
