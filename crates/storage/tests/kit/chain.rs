//! A small chain: two stores, two products, one customer's worth of master data.

use tillkeep_model::{Cost, Instant, Money, Qty, ids};
use tillkeep_storage::entity::{department, product, purchase_order, store, supplier, tax_group};
use tillkeep_storage::envelope::Sender;
use tillkeep_storage::registry::fold;
use uuid::Uuid;

use super::{Hq, at};

pub struct Chain {
    pub first: Sender,
    pub second: Sender,
    pub tea: Uuid,
    pub rice: Uuid,
}

impl Chain {
    pub async fn found(hq: &Hq) -> Self {
        hq.insert::<store::Entity>([store("S01"), store("S02")]).await;
        hq.insert::<department::Entity>([department()]).await;
        hq.insert::<tax_group::Entity>([tax_group()]).await;
        hq.insert::<product::Entity>([product("TEA", 1999), product("RICE", 500)]).await;
        Self { first: sender("S01"), second: sender("S02"), tea: id("product:TEA"), rice: id("product:RICE") }
    }
}

pub fn id(name: &str) -> Uuid {
    ids::named(name)
}

pub fn sender(code: &str) -> Sender {
    Sender::of_store(id(code), code.to_owned())
}

fn made() -> Instant {
    at(-86_400)
}

pub fn store(code: &str) -> store::Model {
    store::Model {
        id: id(code),
        code: code.to_owned(),
        name: code.to_owned(),
        is_active: true,
        created_at: made(),
        updated_at: made(),
        ..store::Model::default()
    }
}

pub fn department() -> department::Model {
    department::Model {
        id: id("department"),
        code: "GROC".to_owned(),
        name: "Grocery".to_owned(),
        is_active: true,
        created_at: made(),
        updated_at: made(),
        ..department::Model::default()
    }
}

pub fn tax_group() -> tax_group::Model {
    tax_group::Model {
        id: id("tax_group"),
        code: "STD".to_owned(),
        name: "Standard".to_owned(),
        created_at: made(),
        updated_at: made(),
        ..tax_group::Model::default()
    }
}

pub fn product(sku: &str, price: i64) -> product::Model {
    product::Model {
        id: id(&format!("product:{sku}")),
        sku: sku.to_owned(),
        sku_folded: fold(sku),
        name: sku.to_owned(),
        department_id: id("department"),
        tax_group_id: id("tax_group"),
        price: Money(price),
        cost: Cost(Money(price / 2)),
        reorder_point: Qty::pieces(5),
        track_stock: true,
        is_active: true,
        created_at: made(),
        updated_at: made(),
        ..product::Model::default()
    }
}

pub fn supplier() -> supplier::Model {
    supplier::Model {
        id: id("supplier"),
        code: "SUP".to_owned(),
        name: "Supplier".to_owned(),
        created_at: made(),
        updated_at: made(),
        ..supplier::Model::default()
    }
}

pub fn order(number: &str, store_id: Uuid, status: &str) -> purchase_order::Model {
    purchase_order::Model {
        id: id(number),
        po_number: number.to_owned(),
        store_id,
        supplier_id: id("supplier"),
        status: status.to_owned(),
        synced: true,
        created_at: made(),
        updated_at: made(),
        ..purchase_order::Model::default()
    }
}
