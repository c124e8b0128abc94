//! What headquarters has before the recorded day begins.

use serde_json::{Value as Json, json};
use uuid::Uuid;

use super::day::{CODE, id, store_id};
use crate::kit::Server;

/// The rates of a tax group: one everywhere, and the same in a store of its own when there is one.
pub fn rates(store: Uuid) -> Json {
    let everywhere = json!({"taxRateId": id("rate"), "storeId": null, "sequence": 1, "isCompound": false});
    let there = json!({"taxRateId": id("rate"), "storeId": store, "sequence": 1, "isCompound": false});
    if store.is_nil() { json!([everywhere]) } else { json!([everywhere, there]) }
}

/// A store with what it needs to sell, and another one; the sync token of the first.
pub async fn found(hq: &Server, token: &str) -> String {
    let product = |name: &str, sku: &str, price: i64| {
        json!({
            "id": id(name), "sku": sku, "name": sku, "price": price, "cost": price / 2, "barcodes": [format!("40000{price}")],
            "departmentId": id("food"), "taxGroupId": id("group"),
        })
    };
    let rows = [
        ("/stores", json!({"id": store_id(), "code": CODE, "name": "First", "timezone": "America/New_York"})),
        ("/stores", json!({"id": id("other store"), "code": "S02", "name": "Second", "timezone": "America/New_York"})),
        ("/tax-rates", json!({"id": id("rate"), "code": "NY", "name": "New York", "ratePpm": 88_750})),
        (
            "/tax-groups",
            json!({"id": id("group"), "code": "STD", "name": "Standard", "priceMode": "exclusive", "rates": rates(Uuid::nil())}),
        ),
        ("/departments", json!({"id": id("food"), "code": "FOOD", "name": "Food"})),
        ("/tenders", json!({"id": id("card"), "code": "CARD", "name": "Card", "kind": "card"})),
        (
            "/tenders",
            json!({"id": id("account"), "code": "ACCOUNT", "name": "Account", "kind": "on_account", "requiresCustomer": true}),
        ),
        ("/products", product("tea", "TEA", 450)),
        ("/products", product("cake", "CAKE", 300)),
        (
            "/customers",
            json!({"id": id("known"), "lastName": "Known", "email": "known@example.com", "creditLimit": 20_000}),
        ),
        (
            "/roles",
            json!({"id": id("helper"), "code": "helper", "name": "Helper", "permissions": ["pos.sell", "customers.view"]}),
        ),
        (
            "/specials",
            json!({"id": id("special"), "code": "SPECIAL", "name": "Cake", "productId": id("cake"), "type": "amount_off", "amount": 10, "endDate": "2026-01-31"}),
        ),
        ("/sales-reps", json!({"id": id("rep"), "code": "REP", "name": "Rep"})),
        ("/reasons", json!({"id": id("reason"), "code": "FAIR", "name": "Fair", "kind": "discount"})),
        ("/users", json!({"id": id("cashier"), "username": "casey", "displayName": "C.", "assignments": []})),
    ];
    for (path, body) in rows {
        hq.post(token, path, body).await.data();
    }
    let path = format!("/stores/{}/provision", store_id());
    let provisioned = hq.post(token, &path, json!({})).await.data();
    provisioned["syncToken"].as_str().expect("a token").to_owned()
}
