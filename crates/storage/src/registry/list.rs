//! The list. Its order is the dependency order of the specification, section 2.5; `transfers` is an extension.

use tillkeep_model::fields::{self, Book};
use tillkeep_model::state::Document;

use super::owners::{adjustments, customers, nothing, order_items, orders, sales, sessions, transfers};
use super::{Beyond, Child, Derived, Flow, Of, Scope, SyncTable, SyncType};
use crate::entity;

const PULLED: SyncType = SyncType {
    name: "",
    flow: Flow::Pull,
    scope: Scope::Everyone,
    whole: false,
    key: &["id"],
    kept: &[],
    withheld: &[],
    derived: &[],
    children: &[],
    table: &Of::<entity::store::Entity>::NEW,
    book: None,
    owned: nothing,
    beyond: Beyond::Refuse,
    parent: None,
    document: None,
    shared: false,
    number: None,
    lists: &[],
    push_order: 0,
    local_rows: false,
};

const fn pulled(name: &'static str, table: &'static dyn SyncTable) -> SyncType {
    SyncType { name, table, ..PULLED }
}

/// A pulled type that people write by a book.
const fn written(book: &'static Book, table: &'static dyn SyncTable) -> SyncType {
    SyncType { book: Some(book), ..pulled(book.table, table) }
}

pub static ALL: &[SyncType] = &[
    written(&fields::store::BOOK, &Of::<entity::store::Entity>::NEW),
    written(&fields::department::BOOK, &Of::<entity::department::Entity>::NEW),
    written(&fields::tax::RATE, &Of::<entity::tax_rate::Entity>::NEW),
    written(&fields::tax::GROUP, &Of::<entity::tax_group::Entity>::NEW),
    written(&fields::tax::GROUP_RATE, &Of::<entity::tax_group_rate::Entity>::NEW),
    pulled("suppliers", &Of::<entity::supplier::Entity>::NEW),
    written(&fields::tender::BOOK, &Of::<entity::tender::Entity>::NEW),
    SyncType {
        derived: &[Derived { column: "sku_folded", from: "sku", by: fold }],
        ..written(&fields::product::BOOK, &Of::<entity::product::Entity>::NEW)
    },
    SyncType {
        withheld: &["pin_hash", "pin_lookup"],
        derived: &[Derived { column: "username_folded", from: "username", by: fold }],
        kept: &["last_login_at"],
        ..written(&fields::user::BOOK, &Of::<entity::user::Entity>::NEW)
    },
    written(&fields::user::ROLE, &Of::<entity::role::Entity>::NEW),
    SyncType { whole: true, ..pulled("permissions", &Of::<entity::permission::Entity>::NEW) },
    SyncType {
        whole: true,
        key: &["role_id", "permission_id"],
        ..pulled("role_permissions", &Of::<entity::role_permission::Entity>::NEW)
    },
    pulled("user_store_roles", &Of::<entity::user_store_role::Entity>::NEW),
    SyncType {
        flow: Flow::Both,
        derived: &[
            Derived { column: "email_folded", from: "email", by: fold },
            Derived { column: "phone_digits", from: "phone", by: digits },
        ],
        owned: customers,
        number: Some("customer_number"),
        push_order: 1,
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
        kept: &["id", "quantity", "average_cost", "last_sold_at", "last_received_at", "last_counted_at"],
        local_rows: true,
        ..written(&fields::store_price::BOOK, &Of::<entity::store_product::Entity>::NEW)
    },
    SyncType {
        flow: Flow::Both,
        scope: Scope::Store,
        owned: orders,
        document: Some(Document::PurchaseOrder),
        shared: true,
        number: Some("po_number"),
        lists: &["receipts"],
        push_order: 3,
        kept: &["receipts", "last_supplier_document"],
        ..written(&fields::order::ORDER, &Of::<entity::purchase_order::Entity>::NEW)
    },
    SyncType {
        flow: Flow::Both,
        scope: Scope::Store,
        owned: order_items,
        parent: Some(("purchase_orders", "purchase_order_id")),
        push_order: 4,
        kept: &["received_quantity", "cancelled_quantity", "received_cost"],
        ..written(&fields::order::ITEM, &Of::<entity::purchase_order_item::Entity>::NEW)
    },
    SyncType {
        flow: Flow::Both,
        scope: Scope::Parties,
        owned: transfers,
        document: Some(Document::Transfer),
        shared: true,
        number: Some("transfer_number"),
        lists: &["receipts"],
        children: &[Child {
            key: "transferItems",
            table: &Of::<entity::transfer_item::Entity>::NEW,
            parent: "transfer_id",
            book: &fields::transfer::ITEM,
            kind: "transfer_item",
            replaced_while: &["draft", "submitted", "approved"],
            most: 5000,
        }],
        push_order: 5,
        ..written(&fields::transfer::TRANSFER, &Of::<entity::transfer::Entity>::NEW)
    },
    SyncType {
        flow: Flow::Push,
        scope: Scope::Store,
        owned: sales,
        beyond: Beyond::Cut,
        document: Some(Document::Sale),
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
        push_order: 6,
        ..written(&fields::sale::SALE, &Of::<entity::sale::Entity>::NEW)
    },
    SyncType {
        flow: Flow::Push,
        scope: Scope::Store,
        owned: adjustments,
        beyond: Beyond::Cut,
        push_order: 7,
        ..written(&fields::adjustment::BOOK, &Of::<entity::inventory_adjustment::Entity>::NEW)
    },
    SyncType {
        flow: Flow::Push,
        scope: Scope::Store,
        owned: sessions,
        beyond: Beyond::Cut,
        document: Some(Document::RegisterSession),
        push_order: 2,
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
