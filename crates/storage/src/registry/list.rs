//! The list. Its order is the dependency order of the specification, section 2.5; `transfers` is an extension.

use tillkeep_model::state::Document;

use super::owners::{adjustments, customers, nothing, order_items, orders, sales, sessions, transfers};
use super::{Child, Derived, Flow, Of, Scope, SyncTable, SyncType};
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
    owned: nothing,
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

pub static ALL: &[SyncType] = &[
    pulled("stores", &Of::<entity::store::Entity>::NEW),
    pulled("departments", &Of::<entity::department::Entity>::NEW),
    pulled("tax_rates", &Of::<entity::tax_rate::Entity>::NEW),
    pulled("tax_groups", &Of::<entity::tax_group::Entity>::NEW),
    pulled("tax_group_rates", &Of::<entity::tax_group_rate::Entity>::NEW),
    pulled("suppliers", &Of::<entity::supplier::Entity>::NEW),
    pulled("tenders", &Of::<entity::tender::Entity>::NEW),
    SyncType {
        derived: &[Derived { column: "sku_folded", from: "sku", by: fold }],
        ..pulled("products", &Of::<entity::product::Entity>::NEW)
    },
    SyncType {
        withheld: &["pin_hash", "pin_lookup"],
        derived: &[Derived { column: "username_folded", from: "username", by: fold }],
        kept: &["last_login_at"],
        ..pulled("users", &Of::<entity::user::Entity>::NEW)
    },
    pulled("roles", &Of::<entity::role::Entity>::NEW),
    SyncType { whole: true, ..pulled("permissions", &Of::<entity::permission::Entity>::NEW) },
    SyncType {
        whole: true,
        key: &["role_id", "permission_id"],
        ..pulled("role_permissions", &Of::<entity::role_permission::Entity>::NEW)
    },
    pulled("user_store_roles", &Of::<entity::user_store_role::Entity>::NEW),
    SyncType {
        flow: Flow::Both,
        derived: &[Derived { column: "phone_digits", from: "phone", by: digits }],
        owned: customers,
        number: Some("customer_number"),
        push_order: 1,
        ..pulled("customers", &Of::<entity::customer::Entity>::NEW)
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
        ..pulled("store_product_dynamic", &Of::<entity::store_product::Entity>::NEW)
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
        ..pulled("purchase_orders", &Of::<entity::purchase_order::Entity>::NEW)
    },
    SyncType {
        flow: Flow::Both,
        scope: Scope::Store,
        owned: order_items,
        parent: Some(("purchase_orders", "purchase_order_id")),
        push_order: 4,
        kept: &["received_quantity", "cancelled_quantity", "received_cost"],
        ..pulled("purchase_order_items", &Of::<entity::purchase_order_item::Entity>::NEW)
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
            kind: "transfer_item",
            replaced_while: &["draft", "submitted", "approved"],
        }],
        push_order: 5,
        ..pulled("transfers", &Of::<entity::transfer::Entity>::NEW)
    },
    SyncType {
        flow: Flow::Push,
        scope: Scope::Store,
        owned: sales,
        document: Some(Document::Sale),
        children: &[
            Child {
                key: "saleItems",
                table: &Of::<entity::sale_item::Entity>::NEW,
                parent: "sale_id",
                kind: "sale_item",
                replaced_while: &[],
            },
            Child {
                key: "salePayments",
                table: &Of::<entity::sale_payment::Entity>::NEW,
                parent: "sale_id",
                kind: "sale_payment",
                replaced_while: &[],
            },
        ],
        push_order: 6,
        ..pulled("sales", &Of::<entity::sale::Entity>::NEW)
    },
    SyncType {
        flow: Flow::Push,
        scope: Scope::Store,
        owned: adjustments,
        push_order: 7,
        ..pulled("inventory_adjustments", &Of::<entity::inventory_adjustment::Entity>::NEW)
    },
    SyncType {
        flow: Flow::Push,
        scope: Scope::Store,
        owned: sessions,
        document: Some(Document::RegisterSession),
        push_order: 2,
        ..pulled("register_sessions", &Of::<entity::register_session::Entity>::NEW)
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
