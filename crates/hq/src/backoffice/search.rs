//! One search over everything: of each kind what the caller may see, a few of each, and never for long.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::{Answer, Caller, Params};
use tillkeep_model::permission::SignedIn;
use tillkeep_model::{Instant, Money};
use tillkeep_storage::DbErr;
use tillkeep_storage::entity::{customer, product, store, user, user_store_role};
use tillkeep_storage::reports::found::{self, Called, Receipt};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, QueryTrait};
use tokio::time::timeout;
use tokio::try_join;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::scope::OfReports;
use crate::state::Routes;

/// A kind that takes longer is left out, and named.
const LONGEST: Duration = Duration::from_secs(2);
/// Letters of what is looked for.
const LEAST: usize = 2;
const MOST: usize = 100;

/// Who sees receipts is who lists sales, and so of the other kinds.
const RECEIPTS: &[&str] = &["reports.view_global", "reports.view_local"];
const PRODUCTS: &[&str] = &["products.view"];
const CUSTOMERS: &[&str] = &["customers.view"];
const STORES: &[&str] = &["stores.view"];
const PEOPLE: &[&str] = &["users.view"];

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = SearchQuery)]
struct Query {
    /// The end of a receipt number (3 letters or more), or a part of a name, code or number (2 or more), in any case.
    #[schema(min_length = 1, max_length = 100)]
    q: String,
}

/// At most five of each kind; a kind that the caller may not see is empty.
#[derive(Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SearchFound)]
struct Found {
    /// Whose number ends so, the newest first.
    receipts: Vec<FoundReceipt>,
    products: Vec<FoundProduct>,
    customers: Vec<FoundCustomer>,
    stores: Vec<FoundStore>,
    people: Vec<FoundPerson>,
    /// Kinds of which there was no answer in time.
    incomplete: Vec<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct FoundReceipt {
    id: Uuid,
    receipt_number: String,
    store_id: Uuid,
    store_code: Option<String>,
    sale_type: String,
    status: String,
    business_date: String,
    completed_at: Instant,
    total_amount: Money,
    currency_code: String,
    currency_exponent: Option<i16>,
}

impl From<Receipt> for FoundReceipt {
    fn from(found: Receipt) -> Self {
        Self {
            id: found.id,
            receipt_number: found.receipt_number,
            store_id: found.store,
            store_code: found.store_code,
            sale_type: found.sale_type,
            status: found.status,
            business_date: found.business_date,
            completed_at: found.completed_at,
            total_amount: found.total,
            currency_code: found.currency_code,
            currency_exponent: found.currency_exponent,
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct FoundProduct {
    id: Uuid,
    sku: String,
    name: String,
    barcode: Option<String>,
    is_active: bool,
}

impl From<product::Model> for FoundProduct {
    fn from(row: product::Model) -> Self {
        Self { id: row.id, sku: row.sku, name: row.name, barcode: row.barcode, is_active: row.is_active }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct FoundCustomer {
    id: Uuid,
    customer_number: String,
    first_name: Option<String>,
    last_name: Option<String>,
    company_name: Option<String>,
    phone: Option<String>,
    is_active: bool,
}

impl From<customer::Model> for FoundCustomer {
    fn from(row: customer::Model) -> Self {
        Self {
            id: row.id,
            customer_number: row.customer_number,
            first_name: row.first_name,
            last_name: row.last_name,
            company_name: row.company_name,
            phone: row.phone,
            is_active: row.is_active,
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct FoundStore {
    id: Uuid,
    code: String,
    name: String,
    city: Option<String>,
    is_active: bool,
}

impl From<store::Model> for FoundStore {
    fn from(row: store::Model) -> Self {
        Self { id: row.id, code: row.code, name: row.name, city: row.city, is_active: row.is_active }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct FoundPerson {
    id: Uuid,
    username: String,
    display_name: String,
    employee_code: Option<String>,
    is_active: bool,
}

impl From<user::Model> for FoundPerson {
    fn from(row: user::Model) -> Self {
        Self {
            id: row.id,
            username: row.username,
            display_name: row.display_name,
            employee_code: row.employee_code,
            is_active: row.is_active,
        }
    }
}

/// `GET /search`
async fn search(caller: Caller<SignedIn>, Params(query): Params<Query>) -> Result<Answer<Found>> {
    let text = query.q.trim();
    let letters = text.chars().count();
    if letters == 0 || letters > MOST || text.contains('\0') {
        return Err(Error::field("q", format!("must have 1 to {MOST} characters, NUL not among them")));
    }
    if letters < LEAST {
        return Ok(Answer(Found::default()));
    }
    let (receipts, products, customers, stores, people) = try_join!(
        asked(&caller, RECEIPTS, receipts(&caller, text)),
        asked(&caller, PRODUCTS, products(&caller, text)),
        asked(&caller, CUSTOMERS, customers(&caller, text)),
        asked(&caller, STORES, stores(&caller, text)),
        asked(&caller, PEOPLE, people(&caller, text)),
    )?;
    let mut incomplete = Vec::new();
    Ok(Answer(Found {
        receipts: shown("receipts", receipts, &mut incomplete),
        products: shown("products", products, &mut incomplete),
        customers: shown("customers", customers, &mut incomplete),
        stores: shown("stores", stores, &mut incomplete),
        people: shown("people", people, &mut incomplete),
        incomplete,
    }))
}

/// What was found in time, if the caller may see any of it.
async fn asked<T>(
    caller: &Caller<SignedIn>,
    codes: &[&str],
    work: impl Future<Output = Result<Vec<T>, DbErr>>,
) -> Result<Option<Vec<T>>> {
    if !caller.may(codes) {
        return Ok(Some(Vec::new()));
    }
    match timeout(LONGEST, work).await {
        Ok(found) => Ok(Some(found?)),
        Err(_) => Ok(None),
    }
}

fn shown<T, S: From<T>>(kind: &str, found: Option<Vec<T>>, incomplete: &mut Vec<String>) -> Vec<S> {
    let Some(found) = found else {
        incomplete.push(kind.to_owned());
        return Vec::new();
    };
    found.into_iter().map(S::from).collect()
}

async fn receipts(caller: &Caller<SignedIn>, text: &str) -> Result<Vec<Receipt>, DbErr> {
    let scope = OfReports::sales(caller).await?;
    found::receipts(caller.reader(), scope.stores(), text).await
}

async fn products(caller: &Caller<SignedIn>, text: &str) -> Result<Vec<product::Model>, DbErr> {
    use product::Column;
    let looked_into = [Column::Sku, Column::Name, Column::ShortName, Column::Barcode, Column::Plu];
    let wanted: Called<'_, product::Entity> = Called {
        id: Column::Id,
        code: Column::Sku,
        name: Column::Name,
        looked_into: &looked_into,
        deleted: Column::DeletedAt,
    };
    found::newest_rows(caller.reader(), &wanted, text).await
}

async fn customers(caller: &Caller<SignedIn>, text: &str) -> Result<Vec<customer::Model>, DbErr> {
    use customer::Column;
    let looked_into = [
        Column::CustomerNumber,
        Column::FirstName,
        Column::LastName,
        Column::CompanyName,
        Column::Email,
        Column::Phone,
        Column::PhoneDigits,
    ];
    let wanted: Called<'_, customer::Entity> = Called {
        id: Column::Id,
        code: Column::CustomerNumber,
        name: Column::LastName,
        looked_into: &looked_into,
        deleted: Column::DeletedAt,
    };
    found::newest_rows(caller.reader(), &wanted, text).await
}

async fn stores(caller: &Caller<SignedIn>, text: &str) -> Result<Vec<store::Model>, DbErr> {
    use store::Column;
    let mut select = store::Entity::find();
    if let Some(stores) = caller.access.stores(STORES, caller.store_id) {
        select = select.filter(Column::Id.is_in(stores));
    }
    let looked_into = [Column::Code, Column::Name, Column::City];
    let wanted: Called<'_, store::Entity> = Called {
        id: Column::Id,
        code: Column::Code,
        name: Column::Name,
        looked_into: &looked_into,
        deleted: Column::DeletedAt,
    };
    found::rows(caller.reader(), select, &wanted, text).await
}

/// People are seen by whoever sees them in the list of users: those with a role in one of the stores.
async fn people(caller: &Caller<SignedIn>, text: &str) -> Result<Vec<user::Model>, DbErr> {
    use user::Column;
    use user_store_role::Column as Given;
    let mut select = user::Entity::find();
    if let Some(stores) = caller.access.stores(PEOPLE, caller.store_id) {
        let staff = user_store_role::Entity::find()
            .select_only()
            .column(Given::UserId)
            .filter(Given::DeletedAt.is_null())
            .filter(Given::StoreId.is_in(stores));
        select = select.filter(Column::Id.in_subquery(staff.into_query()));
    }
    let looked_into = [Column::Username, Column::DisplayName, Column::EmployeeCode, Column::Email, Column::Phone];
    let wanted: Called<'_, user::Entity> = Called {
        id: Column::Id,
        code: Column::Username,
        name: Column::DisplayName,
        looked_into: &looked_into,
        deleted: Column::DeletedAt,
    };
    found::rows(caller.reader(), select, &wanted, text).await
}

/// The route of the search.
pub(super) fn routes(routes: Routes) -> Routes {
    routes.get("/search", search).about("Receipts, products, customers, stores and people by a few letters.")
}
