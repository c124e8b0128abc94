//! Customers, as headquarters makes and edits them. Stores make their own and push them.

use std::borrow::Cow;

use serde_json::{Value as Json, json};
use tillkeep_http::describe::{Draft, Write};
use tillkeep_http::directory::customers::AllowDuplicate;
use tillkeep_http::documents::customer_sales;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{Fields, ListSpec};
use tillkeep_http::{Body, Caller, Created};
use tillkeep_model::fields::{
    self,
    customer::{UNNAMED, is_named},
};
use tillkeep_model::permission::code::CustomersCreate;
use tillkeep_model::{ErrorCode, Instant, Money};
use tillkeep_storage::entity::customer::{Entity, Model};
use tillkeep_storage::registry::{digits, fold};
use tillkeep_storage::{Tx, accounts, duplicates};

use super::plain;
use super::plain::Rules;
use super::rows::{self, Kind};
use crate::customer_numbers::next_number;
use crate::state::Routes;
use tillkeep_model::permission::code::{CustomersEdit, CustomersView};

impl Rules for Entity {
    const KIND: Kind = Kind { book: &fields::customer::BOOK, singular: "customer", unique: &[], hidden: &[] };

    const LIST: ListSpec = ListSpec {
        search: &["customerNumber", "firstName", "lastName", "companyName", "email", "phone", "phoneDigits"],
        filters: &["customerNumber", "email", "originStoreId", "taxExempt"],
        sort: &["customerNumber", "lastName", "firstName", "companyName", "createdAt", "updatedAt"],
    };

    async fn check(_: &mut Tx, old: Option<&Model>, row: &mut Model, _: Instant) -> Result<()> {
        complete(old, row)
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

/// Fills in what follows from the other columns, and refuses who is called nothing.
pub(super) fn complete(old: Option<&Model>, row: &mut Model) -> Result<()> {
    row.email_folded = row.email.as_deref().map(fold);
    row.phone_digits = row.phone.as_deref().map(digits).filter(|digits| !digits.is_empty());
    // Born at headquarters or known to it: there is no store left to notify.
    row.synced = true;
    if old.is_none_or(|old| names(old) != names(row)) && !is_named(names(row)) {
        let (field, text) = UNNAMED;
        return Err(Error::field(field, text));
    }
    Ok(())
}

fn names(row: &Model) -> [Option<&str>; 3] {
    [row.first_name.as_deref(), row.last_name.as_deref(), row.company_name.as_deref()]
}

/// A new customer.
pub(crate) struct NewCustomer;

impl Write for NewCustomer {
    type Row = Entity;
    const FIELDS: Fields = Entity::KIND.fields();
    type More = AllowDuplicate;

    fn name() -> Cow<'static, str> {
        "Customer".into()
    }
}

/// `POST /customers`
pub(crate) async fn create(
    caller: Caller<CustomersCreate>,
    Body(draft): Body<Draft<NewCustomer>>,
) -> Result<Created<Model>> {
    let (body, AllowDuplicate { allow_duplicate }) = draft.parted()?;
    let allowed = allow_duplicate.unwrap_or(false);
    let now = caller.now();
    let check = async |tx: &mut Tx, row: &mut Model| {
        Entity::check(tx, None, row, now).await?;
        if !allowed {
            refuse_duplicate(tx, row).await?;
        }
        row.customer_number = next_number(tx).await?;
        // Stores may have sold to a customer with this id whom headquarters did not have.
        let owed: i128 = accounts::of_stored_sales(tx, &[row.id]).await?.into_iter().map(|(_, owed)| owed).sum();
        row.account_balance = Money::from_wide(owed);
        Ok(())
    };
    rows::create::<Entity, _>(&caller, &Entity::KIND, body, check, async |_, _| Ok(())).await
}

/// The same mail address or telephone number is most likely the same person; only a person can tell.
async fn refuse_duplicate(tx: &Tx, row: &Model) -> Result<()> {
    let found = duplicates::of_customer(&**tx, row).await?;
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
pub(crate) fn routes(routes: Routes) -> Routes {
    use ErrorCode::{IdReused, InUse, PossibleDuplicate, StoreNotReady, VersionConflict};
    routes
        .get("/customers/{id}", plain::get::<Entity, CustomersView>)
        .about("One customer, by its id.")
        .get("/customers/{id}/sales", customer_sales::list::<CustomersView>)
        .about("What a customer bought, paid and brought back, in all stores.")
        .post("/customers", create)
        .about("Make a new customer.")
        .fails(&[IdReused, PossibleDuplicate, StoreNotReady])
        .patch("/customers/{id}", plain::edit::<Entity, CustomersEdit>)
        .about("Change some fields of a customer.")
        .fails(&[VersionConflict])
        .delete("/customers/{id}", plain::delete::<Entity, CustomersEdit>)
        .about("Delete a customer, in all stores too.")
        .fails(&[VersionConflict, InUse])
}
