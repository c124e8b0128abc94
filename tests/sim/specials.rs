//! Specials and discounts: what headquarters makes of them, what people give, and whether the amounts add up.

use serde_json::{Value as Json, json};
use tillkeep_model::ids;
use tillkeep_model::words::SaleType;
use tillkeep_storage::Db;
use tillkeep_storage::entity::{sale, sale_item};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use uuid::Uuid;

use crate::headquarters::product;
use crate::shop::Shop;
use crate::world::World;

/// One of each type, all stackable, so that discounts go on top.
pub const MOST: usize = 5;
/// Amounts of a sale, and what they are called in the figures.
pub const TAKEN_OFF: [(&str, &str); 3] = [
    ("specialDiscount", "sales with specials"),
    ("lineDiscount", "sales with line discounts"),
    ("cartDiscount", "sales with cart discounts"),
];

pub fn id(index: usize) -> Uuid {
    ids::named(&format!("special {index}"))
}

fn figures(index: usize, more: u64) -> Json {
    match index {
        0 => json!({"percentBps": 500 + more}),
        1 => json!({"amount": 10 + more}),
        2 => json!({"fixedPrice": 300 + more}),
        3 => json!({"bundleQuantity": 2, "bundlePrice": 700 + more}),
        _ => json!({"buyQuantity": 1 + more % 3, "getQuantity": 1, "getDiscountBps": 5000}),
    }
}

pub fn made(index: usize) -> Json {
    let kinds = ["percent_off", "amount_off", "fixed_price", "multi_buy", "buy_x_get_y"];
    let mut special = json!({
        "id": id(index), "code": format!("SPECIAL{index}"), "name": format!("Special {index}"), "type": kinds[index],
        "productId": product(index), "isStackable": true,
    });
    merge(&mut special, figures(index, 0));
    special
}

/// Another figure, or an end or a new beginning.
pub fn change(world: &World, index: usize) -> Json {
    let mut change = figures(index, world.up_to(200));
    change["isActive"] = json!(world.up_to(3) > 0);
    change
}

/// What somebody takes off now and then.
pub fn discount(world: &World) -> Json {
    match world.up_to(11) {
        0 => json!({"type": "percent", "bps": 100 + world.up_to(300), "reason": "Sold to a friend"}),
        1 => json!({"type": "amount", "amount": 1 + world.up_to(20), "reasonCode": "staff"}),
        _ => Json::Null,
    }
}

fn merge(into: &mut Json, more: Json) {
    if let (Some(into), Json::Object(more)) = (into.as_object_mut(), more) {
        into.extend(more);
    }
}

/// I2 of amounts: of each sale, what its lines take off is what it takes off, what is left is what is paid, and what specials
/// took off a line is what they say; and headquarters has the same sums of the store as the store.
pub async fn wrong(store: &Db, hq: &Db, shop: &Shop) -> Vec<String> {
    let mut broken = Vec::new();
    let (here, there) = (sums(store, shop, &mut broken).await, sums(hq, shop, &mut broken).await);
    // Sales that one of both has lost are told of by I1 to I3.
    if here.0 == there.0 && here.1 != there.1 {
        broken.push(format!("I2: headquarters has other discounts of {}: {:?} and {:?}", shop.code, here.1, there.1));
    }
    broken
}

/// How many sales, and the sums of list, specials, line and cart discounts, tax and total.
async fn sums(db: &Db, shop: &Shop, broken: &mut Vec<String>) -> (usize, [i64; 6]) {
    let snapshot = db.snapshot().await.expect("a snapshot");
    let sales = sale::Entity::find().filter(sale::Column::StoreId.eq(shop.id)).all(&snapshot).await.expect("sales");
    let items = sale_item::Entity::find().all(&snapshot).await.expect("lines");
    let mut sums = [0; 6];
    for sale in &sales {
        let of_lines = |amount: fn(&sale_item::Model) -> i64| -> i64 {
            items.iter().filter(|item| item.sale_id == sale.id).map(amount).sum()
        };
        let list = of_lines(|item| item.list_amount.0);
        let lines = [
            of_lines(|item| item.special_discount.0),
            of_lines(|item| item.line_discount.0),
            of_lines(|item| item.cart_discount.0),
        ];
        let head = [sale.special_discount.0, sale.line_discount.0, sale.cart_discount.0];
        let told = of_lines(|item| {
            let details = item.special_details.0.as_array().into_iter().flatten();
            details.map(|detail| detail["amount"].as_i64().unwrap_or_default()).sum()
        });
        // Prices are without tax here.
        let is_paid = list - lines.iter().sum::<i64>() == sale.net_amount.0;
        // What comes back is a share of each amount, rounded by itself.
        if sale.sale_type == SaleType::Sale && (lines != head || told != lines[0] || !is_paid) {
            broken.push(format!("I2: the discounts of a sale of {} do not add up", shop.code));
        }
        for (sum, amount) in
            sums.iter_mut().zip([list, head[0], head[1], head[2], sale.tax_amount.0, sale.total_amount.0])
        {
            *sum += amount;
        }
    }
    (sales.len(), sums)
}
