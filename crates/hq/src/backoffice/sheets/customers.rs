//! Customers as a file: `GET /customers?format=csv` and `POST /customers/import`. A customer is known by the number that a server
//! gave; a row without one is somebody new.

mod taken;

use tillkeep_http::describe::{Listing, Lists, More};
use tillkeep_http::documents::csv::{self, Cell, Csv, Listed};
use tillkeep_http::error::Result;
use tillkeep_http::resource::{self, ListSpec, Parts, Query};
use tillkeep_http::{Caller, List};
use tillkeep_model::permission::code::CustomersView;
use tillkeep_storage::Transaction;
use tillkeep_storage::entity::customer::{Entity, Model};

use super::cells::{self, amount, field, own, shown};
use crate::backoffice::plain::Rules;
use crate::backoffice::{chain, files, sought};

pub(super) use taken::import;

/// The columns; `docs/integrate.md` says what stands in them.
const COLUMNS: [cells::Column; 20] = [
    own("customerNumber"),
    field("firstName"),
    field("lastName"),
    field("companyName"),
    field("email"),
    field("phone"),
    field("addressLine1"),
    field("addressLine2"),
    field("city"),
    field("region"),
    field("postalCode"),
    field("countryCode"),
    field("birthDate"),
    field("notes"),
    field("marketingOptIn"),
    field("taxExempt"),
    field("taxExemptNumber"),
    shown("currencyCode"),
    amount("creditLimit"),
    field("isActive"),
];

/// The list of customers.
pub(crate) struct Customers;

impl Listing for Customers {
    type Row = Entity;
    const SPEC: ListSpec = Entity::LIST;
    const LONG: bool = true;
    const MORE: &'static [(&'static str, More)] = &[("format", More::Format)];
}

/// `GET /customers`; as a file all that the list means.
pub(crate) async fn list(
    caller: Caller<CustomersView>,
    Lists { mut query, .. }: Lists<Customers>,
) -> Result<Listed<List<Model>>> {
    if !csv::wanted(&mut query)? {
        let (select, query) = sought::narrowed::<Entity>(caller.reader(), &query).await?;
        return resource::long_list(caller.reader(), &Entity::LIST, &query, select).await.map(Listed::Json);
    }
    let file = file(&caller.snapshot().await?, &query).await?;
    files::kept(&caller, "customers.export", &query).await?;
    Ok(Listed::File(file))
}

async fn file(conn: &Transaction, query: &Query) -> Result<Csv> {
    files::living(query)?;
    let (select, query) = sought::narrowed(conn, query).await?;
    let mut parts = Parts::<Entity>::new(&Entity::LIST, &query, select, csv::CHUNK)?;
    csv::fits(parts.count(conn).await?)?;
    let currency = chain::of_prices(conn).await?;
    let mut file = Csv::new("customers", &COLUMNS.map(|column| column.name));
    loop {
        let rows = parts.next(conn).await?;
        if rows.is_empty() {
            return Ok(file);
        }
        for row in &rows {
            file.row(&cells_of(row, &currency));
        }
    }
}

fn cells_of<'a>(row: &'a Model, currency: &'a (String, i16)) -> [Cell<'a>; COLUMNS.len()] {
    let text = |text: &'a Option<String>| Cell::text(text.as_deref());
    [
        Cell::Text(&row.customer_number),
        text(&row.first_name),
        text(&row.last_name),
        text(&row.company_name),
        text(&row.email),
        text(&row.phone),
        text(&row.address_line1),
        text(&row.address_line2),
        text(&row.city),
        text(&row.region),
        text(&row.postal_code),
        text(&row.country_code),
        text(&row.birth_date),
        text(&row.notes),
        Cell::flag(row.marketing_opt_in),
        Cell::flag(row.tax_exempt),
        text(&row.tax_exempt_number),
        Cell::Text(&currency.0),
        Cell::money(row.credit_limit, currency.1),
        Cell::flag(row.is_active),
    ]
}
