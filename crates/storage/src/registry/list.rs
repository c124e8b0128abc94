//! The list. Its order is the dependency order of the specification, section 2.5, and the one in which documents are applied,
//! given back and exported: what is named stands before what names it. `transfers` is an extension.

use tillkeep_model::fields::{self, Book};
use tillkeep_model::state::TransferStatus;

use super::arrival::Arrival;
use super::sync_type::{Child, Derived, Scope, SyncType};
use crate::document::{adjustment, customer, order, sale, session, transfer};
use crate::entity;
use crate::rows::{Of, SyncTable};

/// What a store that has nothing yet pulls before all else: without it no user can sign in there.
pub const FIRST: &[&str] = &["stores", "users", "roles", "permissions", "role_permissions", "user_store_roles"];

/// Types with rows that make sense only together: a store makes visible what it has of them at one moment of headquarters, when all of
/// it is here. `docs/sync.md`, rule D2.
pub const TOGETHER: &[&[&str]] = &[&["tax_rates", "tax_groups", "tax_group_rates"], &["product_specials"]];

const PULLED: SyncType = SyncType {
    name: "",
    pulled: true,
    push: None,
    scope: Scope::Everyone,
    replace_all: false,
    key: &["id"],
    store_owned: &[],
    unannounced: &[],
    withheld: &[],
    derived: &[],
    label: None,
    children: &[],
    table: &Of::<entity::store::Entity>::NEW,
    book: None,
    store_may_create: false,
    arrival: Arrival::NOTHING,
};

/// Who may do what is read again.
const RIGHTS: Arrival = Arrival { forgets: &[|memory| memory.forget_permissions()], ..Arrival::NOTHING };

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
        unannounced: &["first_seen_at"],
        arrival: Arrival { forgets: &[|memory| memory.forget_stores()], ..Arrival::NOTHING },
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
        arrival: Arrival {
            before: &[|products| products.note_goods()],
            written: &[|products| products.write_goods()],
            reloaded: &[|products| products.forget_stray_codes()],
            ..Arrival::NOTHING
        },
        ..written(&fields::product::BOOK, &Of::<entity::product::Entity>::NEW)
    },
    SyncType {
        label: Some("display_name"),
        withheld: &["pin_hash", "pin_lookup"],
        derived: &[Derived { column: "username_folded", from: "username", by: fold }],
        store_owned: &["last_login_at"],
        arrival: Arrival {
            before: &[|people| people.keep_verifiers()],
            after: &[|people| people.forget_verifiers(), |people| people.end_sessions()],
            forgets: &[|memory| memory.forget_permissions(), |memory| memory.forget_people()],
            ..Arrival::NOTHING
        },
        ..written(&fields::user::BOOK, &Of::<entity::user::Entity>::NEW)
    },
    SyncType { label: NAME, arrival: RIGHTS, ..written(&fields::user::ROLE, &Of::<entity::role::Entity>::NEW) },
    SyncType { replace_all: true, arrival: RIGHTS, ..pulled("permissions", &Of::<entity::permission::Entity>::NEW) },
    SyncType {
        replace_all: true,
        arrival: RIGHTS,
        key: &["role_id", "permission_id"],
        ..pulled("role_permissions", &Of::<entity::role_permission::Entity>::NEW)
    },
    SyncType {
        arrival: Arrival { after: &[|roles| roles.forget_verifiers()], ..RIGHTS },
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
        push: Some(&customer::CUSTOMER),
        arrival: Arrival {
            complete: &[|customers| customers.settle_charges()],
            awaited: Some(|store| store.has_open_charges()),
            ..Arrival::NOTHING
        },
        ..written(&fields::customer::BOOK, &Of::<entity::customer::Entity>::NEW)
    },
    SyncType {
        pulled: false,
        scope: Scope::Store,
        push: Some(&session::REGISTER_SESSION),
        ..written(&fields::session::SESSION, &Of::<entity::register_session::Entity>::NEW)
    },
    #[cfg(feature = "next-release")]
    pulled("loyalty_tiers", &Of::<entity::loyalty_tier::Entity>::NEW),
    pulled("product_suppliers", &Of::<entity::product_supplier::Entity>::NEW),
    SyncType { label: NAME, ..written(&fields::special::BOOK, &Of::<entity::product_special::Entity>::NEW) },
    SyncType { label: NAME, ..written(&fields::sales_rep::BOOK, &Of::<entity::sales_rep::Entity>::NEW) },
    SyncType { label: NAME, ..written(&fields::reason::BOOK, &Of::<entity::reason::Entity>::NEW) },
    SyncType {
        scope: Scope::Store,
        key: &["store_id", "product_id"],
        store_owned: &["id", "quantity", "average_cost", "last_sold_at", "last_received_at", "last_counted_at"],
        store_may_create: true,
        arrival: Arrival { before: &[|rows| rows.start_levels()], ..Arrival::NOTHING },
        ..written(&fields::store_price::BOOK, &Of::<entity::store_product::Entity>::NEW)
    },
    SyncType {
        scope: Scope::Store,
        store_owned: &["receipts", "last_supplier_document"],
        push: Some(&order::ORDER),
        ..written(&fields::order::ORDER, &Of::<entity::purchase_order::Entity>::NEW)
    },
    SyncType {
        scope: Scope::Store,
        store_owned: &["received_quantity", "cancelled_quantity", "received_cost"],
        push: Some(&order::ORDER_ITEM),
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
            grows: false,
            most: 5000,
        }],
        push: Some(&transfer::TRANSFER),
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
                grows: false,
                most: 1000,
            },
            Child {
                key: "salePayments",
                table: &Of::<entity::sale_payment::Entity>::NEW,
                parent: "sale_id",
                book: &fields::sale::PAYMENT,
                kind: "sale_payment",
                replaced_while: &[],
                grows: false,
                most: 200,
            },
            Child {
                key: "chainEntries",
                table: &Of::<entity::chain_entry::Entity>::NEW,
                parent: "sale_id",
                book: &fields::sale::CHAIN_ENTRY,
                kind: "chain_entry",
                replaced_while: &[],
                // A void has one of its own.
                grows: true,
                most: 10,
            },
        ],
        push: Some(&sale::SALE),
        ..written(&fields::sale::SALE, &Of::<entity::sale::Entity>::NEW)
    },
    SyncType {
        pulled: false,
        scope: Scope::Store,
        push: Some(&adjustment::ADJUSTMENT),
        ..written(&fields::adjustment::BOOK, &Of::<entity::inventory_adjustment::Entity>::NEW)
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
