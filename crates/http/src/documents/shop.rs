//! The head of a paper: the store as it is named there, on receipts and on reports of both servers.

use tillkeep_model::paper::Shop;
use tillkeep_storage::entity::store;

/// Where the city stands before its postal code, behind the region.
const CITY_FIRST: &[&str] = &["AU", "CA", "US"];

/// The store on its papers.
#[must_use]
pub fn shop(store: &store::Model) -> Shop {
    let address = Address {
        lines: [&store.address_line1, &store.address_line2],
        postal_code: &store.postal_code,
        city: &store.city,
        region: &store.region,
        country_code: &store.country_code,
    };
    Shop {
        name: store.name.clone(),
        legal_name: store.legal_name.clone().filter(|name| *name != store.name),
        tax_number: store.tax_registration_no.clone(),
        address: address.lines(),
        phone: store.phone.clone(),
        header: store.receipt_header.clone(),
        footer: store.receipt_footer.clone(),
    }
}

/// An address in parts.
pub struct Address<'a> {
    pub lines: [&'a Option<String>; 2],
    pub postal_code: &'a Option<String>,
    pub city: &'a Option<String>,
    pub region: &'a Option<String>,
    pub country_code: &'a str,
}

impl Address<'_> {
    /// The lines of it, as they are written in its country.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let joined = |parts: &[&Option<String>], between: &str| {
            let said = parts.iter().filter_map(|part| part.as_deref()).filter(|part| !part.is_empty());
            said.collect::<Vec<_>>().join(between)
        };
        let place = if CITY_FIRST.contains(&self.country_code) {
            let region = joined(&[self.region, self.postal_code], " ");
            joined(&[self.city, &Some(region)], ", ")
        } else {
            joined(&[self.postal_code, self.city], " ")
        };
        let streets = self.lines.iter().filter_map(|line| line.as_deref()).map(str::to_owned);
        streets.chain([place]).filter(|line| !line.is_empty()).collect()
    }
}
