//! The head of a paper: the store, and whom an invoice names.

use tillkeep_http::documents::shop::Address;
pub(super) use tillkeep_http::documents::shop::shop;
use tillkeep_model::paper::Buyer;
use tillkeep_storage::entity::{customer, sale, store};

use super::buyer::Typed;
use crate::customers::display_name;

/// Whom an invoice names: who was typed in, else the customer.
pub(super) fn buyer(sale: &sale::Model, customer: Option<&customer::Model>, store: &store::Model) -> Option<Buyer> {
    if let Some(typed) = Typed::of(sale) {
        let lines = typed.address.iter().flat_map(|address| address.lines()).map(str::trim);
        let address = lines.filter(|line| !line.is_empty()).map(str::to_owned).collect();
        return Some(Buyer { name: typed.name, address, tax_number: typed.tax_number });
    }
    let customer = customer?;
    let address = Address {
        lines: [&customer.address_line1, &customer.address_line2],
        postal_code: &customer.postal_code,
        city: &customer.city,
        region: &customer.region,
        country_code: customer.country_code.as_deref().unwrap_or(&store.country_code),
    };
    let person = display_name(customer);
    let name = customer.company_name.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| person.clone());
    // Of one that was forgotten nothing is left to name.
    if name.is_empty() {
        return None;
    }
    // A person of a company stands below its name.
    let of_company = (person != name).then_some(person).filter(|person| !person.is_empty());
    let address = of_company.into_iter().chain(address.lines()).collect();
    Some(Buyer { name, address, tax_number: customer.tax_exempt_number.clone() })
}
