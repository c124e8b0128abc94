//! The list. Its order is the dependency order of the specification, section 2.5; `transfers` is an extension.

use tillkeep_model::fields::{self, Book};
use tillkeep_model::state::TransferStatus;

use super::sync_type::{AfterPull, Child, Derived, Scope, SyncType};
use crate::document::{adjustment, customer, order, sale, session, transfer};
use crate::entity;
use crate::rows::{Of, SyncTable};

/// What a store that has nothing yet pulls before all else: without it nobody can sign in there.
pub const FIRST: &[&str] = &["stores", "users", "roles", "permissions", "role_permissions", "user_store_roles"];

/// Types whose rows make sense only together: a store makes visible what it has of them at one moment of headquarters, when all of
/// it is here. `docs/sync.md`, rule D2.
pub const TOGETHER: &[&[&str]] = &[&["tax_rates", "tax_groups", "tax_group_rates"]];

const PULLED: SyncType = SyncType {
    name: "",
    pulled: true,
    push: None,
    scope: Scope::Everyone,
    replace_all: false,
    key: &["id"],
    store_owned: &[],
    untold: &[],
    withheld: &[],
    derived: &[],
    label: None,
    children: &[],
    table: &Of::<entity::store::Entity>::NEW,
    book: None,
    store_may_create: false,
    after_pull: &[],
};

/// The label of what has a name and nothing else to go by.
const NAME: Option<&str> = Some("name");

const fn pulled(name: &'static str, table: &'static dyn SyncTable) -> SyncType {
    SyncType { name, table, ..PULLED }
}

/// A pulled type that people write by a book.
const fn written(book: &'static Book, table: &'static dyn SyncTable) -> SyncType {
    SyncType { book: Some(book), ..pulled(book.table, table) }
}

pub static ALL: &[SyncType] = &[
    SyncType {
        label: Some("code || ' ' || name"),
        untold: &["first_seen_at"],
        ..written(&fields::store::BOOK, &Of::<entity::store::Entity>::NEW)
    },
    SyncType { label: NAME, ..written(&fields::department::BOOK, &Of::<entity::department::Entity>::NEW) },
    SyncType { label: NAME, ..written(&fields::tax::RATE, &Of::<entity::tax_rate::Entity>::NEW) },
    SyncType { label: NAME, ..written(&fields::tax::GROUP, &Of::<entity::tax_group::Entity>::NEW) },
    written(&fields::tax::GROUP_RATE, &Of::<entity::tax_group_rate::Entity>::NEW),
    pulled("suppliers", &Of::<entity::supplier::Entity>::NEW),
    SyncType { label: NAME, ..written(&fields::tender::BOOK, &Of::<entity::tender::Entity>::NEW) },
    SyncType {
        label: NAME,
        derived: &[Derived { column: "sku_folded", from: "sku", by: fold }],
        after_pull: &[AfterPull::StoreRows],
        ..written(&fields::product::BOOK, &Of::<entity::product::Entity>::NEW)
    },
    SyncType {
        label: Some("display_name"),
        withheld: &["pin_hash", "pin_lookup"],
        derived: &[Derived { column: "username_folded", from: "username", by: fold }],
        store_owned: &["last_login_at"],
        after_pull: &[AfterPull::Permissions, AfterPull::Sessions, AfterPull::Verifiers],
        ..written(&fields::user::BOOK, &Of::<entity::user::Entity>::NEW)
    },
    SyncType {
        label: NAME,
        after_pull: &[AfterPull::Permissions],
        ..written(&fields::user::ROLE, &Of::<entity::role::Entity>::NEW)
    },
    SyncType {
        replace_all: true,
        after_pull: &[AfterPull::Permissions],
        ..pulled("permissions", &Of::<entity::permission::Entity>::NEW)
    },
    SyncType {
        replace_all: true,
        after_pull: &[AfterPull::Permissions],
        key: &["role_id", "permission_id"],
        ..pulled("role_permissions", &Of::<entity::role_permission::Entity>::NEW)
    },
    SyncType {
        after_pull: &[AfterPull::Permissions, AfterPull::Verifiers],
        ..pulled("user_store_roles", &Of::<entity::user_store_role::Entity>::NEW)
    },
    SyncType {
        derived: &[
            Derived { column: "email_folded", from: "email", by: fold },
            Derived { column: "phone_digits", from: "phone", by: digits },
        ],
        label: Some(
            "TRIM(COALESCE(NULLIF(first_name, '') || ' ', '') || COALESCE(NULLIF(last_name, '') || ' ', '') \
             || COALESCE(company_name, ''))",
        ),
        push: Some(&customer::Customer),
        after_pull: &[AfterPull::Charges],
        ..written(&fields::customer::BOOK, &Of::<entity::customer::Entity>::NEW)
    },
    #[cfg(feature = "next-release")]
    pulled("loyalty_tiers", &Of::<entity::loyalty_tier::Entity>::NEW),
    pulled("product_suppliers", &Of::<entity::product_supplier::Entity>::NEW),
    pulled("product_specials", &Of::<entity::product_special::Entity>::NEW),
    pulled("sales_reps", &Of::<entity::sales_rep::Entity>::NEW),
    SyncType {
        scope: Scope::Store,
        key: &["store_id", "product_id"],
        store_owned: &["id", "quantity", "average_cost", "last_sold_at", "last_received_at", "last_counted_at"],
        store_may_create: true,
        ..written(&fields::store_price::BOOK, &Of::<entity::store_product::Entity>::NEW)
    },
    SyncType {
        scope: Scope::Store,
        store_owned: &["receipts", "last_supplier_document"],
        push: Some(&order::Order),
        ..written(&fields::order::ORDER, &Of::<entity::purchase_order::Entity>::NEW)
    },
    SyncType {
        scope: Scope::Store,
        store_owned: &["received_quantity", "cancelled_quantity", "received_cost"],
        push: Some(&order::OrderItem),
        ..written(&fields::order::ITEM, &Of::<entity::purchase_order_item::Entity>::NEW)
    },
    SyncType {
        scope: Scope::Parties,
        children: &[Child {
            key: "transferItems",
            table: &Of::<entity::transfer_item::Entity>::NEW,
            parent: "transfer_id",
            book: &fields::transfer::ITEM,
            kind: "transfer_item",
            replaced_while: &[
                TransferStatus::Draft.word(),
                TransferStatus::Submitted.word(),
                TransferStatus::Approved.word(),
            ],
            most: 5000,
        }],
        push: Some(&transfer::Transfer),
        ..written(&fields::transfer::TRANSFER, &Of::<entity::transfer::Entity>::NEW)
    },
    SyncType {
        pulled: false,
        scope: Scope::Store,
        children: &[
            Child {
                key: "saleItems",
                table: &Of::<entity::sale_item::Entity>::NEW,
                parent: "sale_id",
                book: &fields::sale::ITEM,
                kind: "sale_item",
                replaced_while: &[],
                most: 1000,
            },
            Child {
                key: "salePayments",
                table: &Of::<entity::sale_payment::Entity>::NEW,
                parent: "sale_id",
                book: &fields::sale::PAYMENT,
                kind: "sale_payment",
                replaced_while: &[],
                most: 200,
            },
        ],
        push: Some(&sale::Sale),
        ..written(&fields::sale::SALE, &Of::<entity::sale::Entity>::NEW)
    },
    SyncType {
        pulled: false,
        scope: Scope::Store,
        push: Some(&adjustment::Adjustment),
        ..written(&fields::adjustment::BOOK, &Of::<entity::inventory_adjustment::Entity>::NEW)
    },
    SyncType {
        pulled: false,
        scope: Scope::Store,
        push: Some(&session::RegisterSession),
        ..written(&fields::session::SESSION, &Of::<entity::register_session::Entity>::NEW)
    },
];

/// Unicode case folding without what surrounds a text, so that one person has one name and one product one SKU, whatever
/// the keyboard.
pub fn fold(name: &str) -> String {
    caseless::default_case_fold_str(name.trim())
}

/// The digits of a telephone number, for search.
pub fn digits(phone: &str) -> String {
    phone.chars().filter(char::is_ascii_digit).collect()
}
