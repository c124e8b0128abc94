//! Customers, as headquarters makes and edits them. Stores make their own and push them.

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::State;
use serde_json::{Value as Json, json};
use tillkeep_http::describe::{Draft, Write};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{self, Check, Fields, ListSpec};
use tillkeep_http::{Body, Caller, Created};
use tillkeep_model::permission::code::CustomersCreate;
use tillkeep_model::{ErrorCode, Instant, Money};
use tillkeep_storage::entity::customer::{Column, Entity, Model};
use tillkeep_storage::registry::digits;
use tillkeep_storage::sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QuerySelect};
use tillkeep_storage::{Tx, accounts, series};
use utoipa::ToSchema;

use super::LARGEST;
use super::plain;
use super::plain::Rules;
use super::rows::{self, Kind};
use crate::Hq;
use crate::routes::Routes;
use tillkeep_model::permission::code::{CustomersEdit, CustomersView};

/// Possible duplicates named in a refusal at the most.
const NAMED: u64 = 5;

impl Rules for Entity {
    const KIND: Kind = Kind {
        name: "customers",
        singular: "customer",
        fields: Fields {
            writable: &[
                "firstName",
                "lastName",
                "companyName",
                "email",
                "phone",
                "addressLine1",
                "addressLine2",
                "city",
                "region",
                "postalCode",
                "countryCode",
                "birthDate",
                "notes",
                "marketingOptIn",
                "taxExempt",
                "taxExemptNumber",
                "creditLimit",
                "isActive",
            ],
            required: &[],
        },
        defaults: |_| json!({"isActive": true}),
        unique: &[],
        hidden: &[],
    };

    const LIST: ListSpec = ListSpec {
        search: &["customerNumber", "firstName", "lastName", "companyName", "email", "phone", "phoneDigits"],
        filters: &["customerNumber", "email", "originStoreId", "taxExempt"],
        sort: &["customerNumber", "lastName", "firstName", "companyName", "createdAt", "updatedAt"],
    };

    async fn check(_: &mut Tx, _: Option<&Model>, row: &mut Model, _: Instant) -> Result<()> {
        row.phone_digits = row.phone.as_deref().map(digits).filter(|digits| !digits.is_empty());
        // Born at headquarters or known to it: there is nobody left to tell.
        row.synced = true;
        let named = [&row.first_name, &row.last_name, &row.company_name];
        let named = named.into_iter().flatten().any(|name| !name.trim().is_empty());
        let country = |code: &str| code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_uppercase());
        let mut check = Check::default();
        for (value, field, max) in [
            (&row.first_name, "firstName", 100),
            (&row.last_name, "lastName", 100),
            (&row.company_name, "companyName", 200),
            (&row.email, "email", 200),
            (&row.phone, "phone", 40),
            (&row.address_line1, "addressLine1", 200),
            (&row.address_line2, "addressLine2", 200),
            (&row.city, "city", 100),
            (&row.region, "region", 100),
            (&row.postal_code, "postalCode", 20),
            (&row.notes, "notes", 4000),
            (&row.tax_exempt_number, "taxExemptNumber", 50),
        ] {
            check.optional(value.as_deref(), field, max);
        }
        check
            .that(named, "lastName", "a customer needs a first name, a last name or a company name")
            .that(row.country_code.as_deref().is_none_or(country), "countryCode", "must be a country code such as US")
            .that(
                row.birth_date.as_deref().is_none_or(resource::is_date),
                "birthDate",
                "must be a date like 1990-01-31",
            )
            .range(row.credit_limit.0, "creditLimit", 0..=LARGEST)
            .finish()
    }

    async fn deletable(_: &mut Tx, row: &Model, _: Instant) -> Result<()> {
        if row.account_balance == Money::ZERO {
            return Ok(());
        }
        let text =
            format!("{} minor units are on the account of this customer; settle them first", row.account_balance.0);
        Err(Error::new(ErrorCode::InUse, text).at("accountBalance"))
    }
}

/// A new customer.
pub struct NewCustomer;

impl Write for NewCustomer {
    type Row = Entity;
    const FIELDS: Fields = Entity::KIND.fields;
    type More = Anyway;

    fn name() -> Cow<'static, str> {
        "Customer".into()
    }
}

/// What is sent again with a customer who looks like one that is there.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "read key by key, with the row")]
pub struct Anyway {
    allow_duplicate: Option<bool>,
}

/// `POST /customers`
pub async fn create(
    caller: Caller<CustomersCreate>,
    State(hq): State<Arc<Hq>>,
    Body(Draft { keys: mut body, .. }): Body<Draft<NewCustomer>>,
) -> Result<Created<Model>> {
    let allowed = resource::take(&mut body, "allowDuplicate")?.unwrap_or(false);
    let now = caller.now();
    let check = async |tx: &mut Tx, row: &mut Model| {
        Entity::check(tx, None, row, now).await?;
        if !allowed {
            refuse_duplicate(tx, row).await?;
        }
        row.customer_number = format!("HQ-{:06}", series::next(tx, "customer").await?);
        // Stores may have sold to somebody with this id whom headquarters did not have.
        let owed: i128 = accounts::of_stored_sales(tx, &[row.id]).await?.into_iter().map(|(_, owed)| owed).sum();
        row.account_balance = Money::from_wide(owed);
        Ok(())
    };
    rows::create::<Entity, _>(&hq, &caller, &Entity::KIND, body, check, async |_, _| Ok(())).await
}

/// The same mail address or telephone number is most likely the same person; only a person can tell.
async fn refuse_duplicate(tx: &Tx, row: &Model) -> Result<()> {
    let mut same = Condition::any();
    if let Some(email) = row.email.as_deref().map(str::trim).filter(|email| !email.is_empty()) {
        same = same.add(Column::Email.is_in([email.to_owned(), email.to_lowercase()]));
    }
    if let Some(digits) = &row.phone_digits {
        same = same.add(Column::PhoneDigits.eq(digits));
    }
    if same.is_empty() {
        return Ok(());
    }
    let found = Entity::find().filter(same).filter(Column::DeletedAt.is_null()).limit(NAMED).all(tx).await?;
    if found.is_empty() {
        return Ok(());
    }
    let candidates: Vec<Json> = found
        .iter()
        .map(|row| {
            json!({
                "id": row.id, "customerNumber": row.customer_number, "firstName": row.first_name,
                "lastName": row.last_name, "companyName": row.company_name,
            })
        })
        .collect();
    let text = "there is a customer with this mail address or telephone number; send allowDuplicate if this is another";
    Err(Error::new(ErrorCode::PossibleDuplicate, text).with("candidates", candidates))
}

/// The routes of customers.
pub fn routes(routes: Routes) -> Routes {
    use ErrorCode::{IdReused, InUse, PossibleDuplicate, StoreNotReady, VersionConflict};
    routes
        .get("/customers", plain::list::<Entity, CustomersView>)
        .about("List customers.")
        .get("/customers/{id}", plain::get::<Entity, CustomersView>)
        .about("One customer.")
        .post("/customers", create)
        .about("Make a customer.")
        .fails(&[IdReused, PossibleDuplicate, StoreNotReady])
        .patch("/customers/{id}", plain::edit::<Entity, CustomersEdit>)
        .about("Change a customer.")
        .fails(&[VersionConflict])
        .delete("/customers/{id}", plain::delete::<Entity, CustomersEdit>)
        .about("Delete a customer.")
        .fails(&[VersionConflict, InUse])
}
