//! Customers and sales representatives, all invented.

use tillkeep_model::{Bps, Instant, Money, ids};
use tillkeep_storage::entity::{customer, sales_rep};
use tillkeep_storage::registry;

use super::columns::text;
use super::names::full_name;
use super::stores::{self, CODES};
use super::users;

/// Who has number 0 among the customers; the staff stand before them.
const FIRST_CUSTOMER: usize = 200;
const CUSTOMERS: usize = 30;
/// Number and company of the customers that pay no tax.
const TAX_EXEMPT: [(usize, &str); 2] = [(11, "Harbor Point School"), (12, "Pine Street Shelter")];
/// The last customer was entered twice; this is the row that counts.
const SURVIVOR: usize = 1;

fn customer_id(number: usize) -> uuid::Uuid {
    ids::named(&format!("customer:{}", customer_number(number)))
}

fn customer_number(number: usize) -> String {
    format!("HQ-{number:06}")
}

pub fn customers(at: Instant) -> Vec<customer::Model> {
    (1..=CUSTOMERS).map(|number| customer(at, number)).collect()
}

fn customer(at: Instant, number: usize) -> customer::Model {
    let duplicate = number == CUSTOMERS;
    let person = if duplicate { SURVIVOR } else { number };
    let (first, last) = full_name(FIRST_CUSTOMER + person);
    let exempt = TAX_EXEMPT.iter().find(|(exempt, _)| *exempt == number);
    let phone = format!("(212) 555-01{person:02}");
    let email = format!("{}.{}@example.com", first.to_lowercase(), last.to_lowercase());
    customer::Model {
        id: customer_id(number),
        created_at: at,
        updated_at: at,
        customer_number: customer_number(number),
        first_name: text(first),
        last_name: text(last),
        company_name: exempt.map(|(_, company)| (*company).to_owned()),
        email_folded: Some(registry::fold(&email)),
        email: Some(email),
        phone_digits: Some(registry::digits(&phone)),
        phone: Some(phone),
        address_line1: Some(format!("{number} Orchard Lane")),
        city: text("New York"),
        region: text("NY"),
        postal_code: text("10004"),
        country_code: text("US"),
        notes: duplicate.then(|| format!("Entered twice, see {}", customer_number(SURVIVOR))),
        marketing_opt_in: number.is_multiple_of(3),
        tax_exempt: exempt.is_some(),
        tax_exempt_number: exempt.map(|_| format!("EX-{number:05}")),
        credit_limit: if number.is_multiple_of(6) && !duplicate { Money(50_000) } else { Money::ZERO },
        merged_into_id: duplicate.then(|| customer_id(SURVIVOR)),
        is_active: !duplicate,
        // At headquarters there is nothing left to send.
        synced: true,
        ..customer::Model::default()
    }
}

/// Four representatives: three of a store (of the first ones when there are fewer than three), one of all stores. The
/// first is also the manager of the first store.
pub fn sales_reps(at: Instant, stores: usize) -> Vec<sales_rep::Model> {
    let rep = |number: usize, store: Option<usize>, commission, basis: &str| {
        let (first, last) = full_name(FIRST_CUSTOMER + CUSTOMERS + number);
        let name = format!("{first} {last}");
        sales_rep::Model {
            id: ids::named(&format!("sales_rep:REP{number:02}")),
            created_at: at,
            updated_at: at,
            code: format!("REP{number:02}"),
            name: if number == 1 { users::manager_name(0) } else { name },
            user_id: (number == 1).then(|| users::id("manager1")),
            store_id: store.map(|index| stores::id(CODES[index % stores.max(1)])),
            email: Some(format!("rep{number:02}@example.com")),
            phone: Some(format!("(212) 555-01{:02}", 39 + number)),
            commission_bps: Bps(commission),
            commission_basis: basis.to_owned(),
            is_active: true,
            ..sales_rep::Model::default()
        }
    };
    vec![
        rep(1, Some(0), 250, "net_sales"),
        rep(2, Some(1), 250, "net_sales"),
        rep(3, Some(2), 300, "net_sales"),
        rep(4, None, 300, "profit"),
    ]
}
