//! Ids: version 7 for new rows (made by the server that creates them), version 5 for rows that two servers must name
//! alike without talking to each other.

use uuid::{Uuid, uuid};

/// Namespace of every version 5 id: v5(DNS, `store-hq-pos.demo`).
pub const NAMESPACE: Uuid = uuid!("d07ac67d-689e-5306-af98-a42fde962571");

/// The id that everybody derives for `name`, such as `permission:products.view`.
#[must_use]
pub fn named(name: &str) -> Uuid {
    Uuid::new_v5(&NAMESPACE, name.as_bytes())
}

#[must_use]
pub fn permission(code: &str) -> Uuid {
    named(&format!("permission:{code}"))
}

#[must_use]
pub fn role(code: &str) -> Uuid {
    named(&format!("role:{code}"))
}

/// The row of one product in one store: made by the store when it pulls products and by headquarters on its own.
#[must_use]
pub fn store_product(store_id: Uuid, product_id: Uuid) -> Uuid {
    named(&format!("spd:{store_id}:{product_id}"))
}

/// A line of a document whose sender gave it no id.
#[must_use]
pub fn line(document_id: Uuid, kind: &str, line_no: i32) -> Uuid {
    named(&format!("{kind}:{document_id}:{line_no}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vector_g01_both_sides_derive_the_same_ids() {
        assert_eq!(Uuid::new_v5(&Uuid::NAMESPACE_DNS, b"store-hq-pos.demo"), NAMESPACE);
        assert_eq!(permission("products.view").to_string(), "07ce8252-5d5e-5054-b835-422419b66d76");
        assert_eq!(named("store:S01").to_string(), "f53ea0bd-27d0-5f7d-a892-f7d89659248e");
    }
}
