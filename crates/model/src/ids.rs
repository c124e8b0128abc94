//! Ids: version 7 for new rows (made by the server that creates them), version 5 for rows that two servers must name
//! alike without talking to each other.

use uuid::{Builder, Uuid, uuid};

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

/// A line of a document to which its sender gave no id.
#[must_use]
pub fn line(document_id: Uuid, kind: &str, line_no: i32) -> Uuid {
    named(&format!("{kind}:{document_id}:{line_no}"))
}

/// The id under which headquarters keeps what `whole` (a store, or a document) calls `sent`, when another one has used that id
/// before.
#[must_use]
pub fn elsewhere(whole: Uuid, sent: Uuid) -> Uuid {
    named(&format!("elsewhere:{whole}:{sent}"))
}

/// `named`, the id that something has by its name, beside `whole`, which it is a part of: it begins with the time of that
/// one, so that the rows of one document stand together in every index and those of the next behind them. The rest is that
/// of the name, and the version is 8. A whole with an id without a time leaves the name as it is.
#[must_use]
pub fn beside(whole: Uuid, named: Uuid) -> Uuid {
    if whole.get_version_num() != 7 {
        return named;
    }
    let mut bytes = named.into_bytes();
    bytes[..6].copy_from_slice(&whole.as_bytes()[..6]);
    Builder::from_custom_bytes(bytes).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_document_rise_with_it_are_the_same_each_time_and_differ() {
        let sales: Vec<Uuid> =
            (1..=50_u8).map(|n| Uuid::from_u128((u128::from(n) << 80) | (0x7abc_8000 << 48))).collect();
        let lines = |sale: Uuid| (1..=9).map(move |number| beside(sale, line(sale, "sale_item", number)));
        for pair in sales.windows(2) {
            assert!(lines(pair[0]).max() < lines(pair[1]).min(), "{pair:?}");
        }
        let all: Vec<Uuid> = sales.iter().flat_map(|sale| lines(*sale)).collect();
        let distinct: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
        assert_eq!(all, sales.iter().flat_map(|sale| lines(*sale)).collect::<Vec<_>>());
        assert!(all.iter().all(|id| (id.get_version_num(), id.get_variant()) == (8, uuid::Variant::RFC4122)));
        let drawn = Uuid::from_u128(0x1234_4000_8000_0000 << 64);
        let name = line(drawn, "sale_item", 1);
        assert_eq!(beside(drawn, name), name);
    }

    #[test]
    fn vector_g01_both_sides_derive_the_same_ids() {
        assert_eq!(Uuid::new_v5(&Uuid::NAMESPACE_DNS, b"store-hq-pos.demo"), NAMESPACE);
        assert_eq!(permission("products.view").to_string(), "07ce8252-5d5e-5054-b835-422419b66d76");
        assert_eq!(named("store:S01").to_string(), "f53ea0bd-27d0-5f7d-a892-f7d89659248e");
    }
}
