//! Customers. A store cannot grant an exemption from tax, nor credit.

use super::{Book, By, country, email, flag, flag_on, money, phone, shape, shaped, text};

pub static BOOK: Book = Book {
    table: "customers",
    fields: &[
        text("customerNumber", 50).by(By::Maker),
        text("firstName", 100).by(By::Anyone),
        text("lastName", 100).by(By::Anyone),
        text("companyName", 200).by(By::Anyone),
        email("email").by(By::Anyone),
        phone("phone").by(By::Anyone),
        text("addressLine1", 200).by(By::Anyone),
        text("addressLine2", 200).by(By::Anyone),
        text("city", 100).by(By::Anyone),
        text("region", 100).by(By::Anyone),
        text("postalCode", 20).by(By::Anyone),
        country("countryCode").by(By::Anyone),
        shaped("birthDate", 10, &shape::BIRTH_DATE).by(By::Anyone),
        text("notes", 4000).by(By::Anyone),
        flag("marketingOptIn").by(By::Anyone),
        flag("taxExempt"),
        text("taxExemptNumber", 50),
        money("creditLimit"),
        flag_on("isActive"),
    ],
    server: &[
        "id",
        "created_at",
        "updated_at",
        "deleted_at",
        "sync_version",
        "email_folded",
        "phone_digits",
        "search_text",
        "account_balance",
        "origin_store_id",
        "merged_into_id",
        "synced",
        "flags",
    ],
};

/// Whether a customer is called anything.
pub fn is_named(names: [Option<&str>; 3]) -> bool {
    names.into_iter().flatten().any(|name| !name.trim().is_empty())
}

/// What is said to a customer without a name, and at which field.
pub const UNNAMED: (&str, &str) = ("lastName", "a customer needs a first name, a last name or a company name");
