//! Suppliers, and their terms for each product.

use tillkeep_model::{Instant, Money, Qty, ids};
use tillkeep_storage::entity::{product, product_supplier, supplier};
use uuid::Uuid;

use super::columns::text;

/// One supplier with the departments it serves.
struct Supplier {
    code: &'static str,
    name: &'static str,
    contact: &'static str,
    /// Before our SKU on its price list.
    prefix: &'static str,
    city: &'static str,
    region: &'static str,
    lead_time_days: i32,
    departments: &'static [&'static str],
}

const SUPPLIERS: [Supplier; 6] = [
    Supplier {
        code: "SUP01",
        name: "Pine Valley Foods",
        contact: "Nadia Okafor",
        prefix: "PVF",
        city: "Albany",
        region: "NY",
        lead_time_days: 4,
        departments: &["GROC", "SNACK"],
    },
    Supplier {
        code: "SUP02",
        name: "Green Acre Growers",
        contact: "Tomas Lind",
        prefix: "GAG",
        city: "Fresno",
        region: "CA",
        lead_time_days: 1,
        departments: &["PROD"],
    },
    Supplier {
        code: "SUP03",
        name: "Lakeshore Creamery",
        contact: "Irene Novak",
        prefix: "LSC",
        city: "Madison",
        region: "WI",
        lead_time_days: 2,
        departments: &["DAIRY"],
    },
    Supplier {
        code: "SUP04",
        name: "Old Mill Kitchens",
        contact: "Paul Abara",
        prefix: "OMK",
        city: "Aurora",
        region: "IL",
        lead_time_days: 1,
        departments: &["BAKE", "CAFE"],
    },
    Supplier {
        code: "SUP05",
        name: "Clearwater Drinks",
        contact: "Sofia Brandt",
        prefix: "CWD",
        city: "Boulder",
        region: "CO",
        lead_time_days: 3,
        departments: &["BEV"],
    },
    Supplier {
        code: "SUP06",
        name: "Northway Household Supply",
        contact: "Amir Castel",
        prefix: "NHS",
        city: "Omaha",
        region: "NE",
        lead_time_days: 7,
        departments: &["HOME", "CARE", "ELEC"],
    },
];

/// Pieces (or kilograms) in a case.
const CASES: [i64; 3] = [6, 12, 24];

pub fn supplier_id(code: &str) -> Uuid {
    ids::named(&format!("supplier:{code}"))
}

/// The code of the supplier that serves `department`.
pub fn of_department(department: &str) -> Option<&'static str> {
    Some(SUPPLIERS.iter().find(|supplier| supplier.departments.contains(&department))?.code)
}

pub fn suppliers(at: Instant) -> Vec<supplier::Model> {
    let row = |(number, supplier): (usize, &Supplier)| supplier::Model {
        id: supplier_id(supplier.code),
        created_at: at,
        updated_at: at,
        code: supplier.code.to_owned(),
        name: supplier.name.to_owned(),
        contact_name: text(supplier.contact),
        email: Some(format!("{}@example.com", supplier.prefix.to_lowercase())),
        phone: Some(format!("(555) 555-01{:02}", 29 + number)),
        address_line1: Some(format!("{number}00 Depot Road")),
        city: text(supplier.city),
        region: text(supplier.region),
        country_code: text("US"),
        account_number: Some(format!("HPM-{number:03}")),
        currency_code: "USD".to_owned(),
        payment_terms_days: 30,
        lead_time_days: supplier.lead_time_days,
        min_order_amount: Money(10_000),
        is_active: true,
        ..supplier::Model::default()
    };
    (1..).zip(&SUPPLIERS).map(row).collect()
}

/// Each product's one supplier, with cases of six, twelve and twenty-four in turn.
pub fn product_suppliers(at: Instant, products: &[product::Model]) -> Vec<product_supplier::Model> {
    let row = |(product, case): (&product::Model, i64)| {
        let supplier =
            SUPPLIERS.iter().find(|supplier| product.default_supplier_id == Some(supplier_id(supplier.code)))?;
        Some(product_supplier::Model {
            id: ids::named(&format!("product_supplier:{}:{}", product.sku, supplier.code)),
            created_at: at,
            updated_at: at,
            product_id: product.id,
            supplier_id: supplier_id(supplier.code),
            supplier_sku: Some(format!("{}-{}", supplier.prefix, product.sku)),
            cost: product.cost,
            case_pack_quantity: Qty::pieces(case),
            min_order_quantity: Qty::pieces(case),
            is_primary: true,
            ..product_supplier::Model::default()
        })
    };
    products.iter().zip(CASES.into_iter().cycle()).filter_map(row).collect()
}
