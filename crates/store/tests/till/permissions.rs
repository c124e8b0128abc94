//! Who may do what on these routes: the three default roles.

use std::collections::BTreeMap;

use serde_json::json;
use tillkeep_http::routes::Protection;
use tillkeep_model::permission::{self, DEFAULT_ROLES};
use tillkeep_store::routes;
use uuid::Uuid;

use crate::kit::Shop;

/// The codes each route asks for, one line for each, as the contract has them.
const EXPECTED: &str = "
GET /pos/bootstrap: pos.sell
GET /pos/products: pos.sell products.view
GET /pos/lookup/{code}: pos.sell products.view inventory.view
GET /pos/customers: pos.sell customers.view
POST /pos/quote: pos.sell
POST /pos/approvals: pos.sell
POST /pos/sales: pos.sell
GET /pos/sales: pos.sell reports.view_local
GET /pos/sales/{id}: pos.sell pos.refund reports.view_local
GET /pos/sales/by-receipt/{receiptNumber}: pos.sell pos.refund reports.view_local
GET /registers: registers.view pos.sell
POST /registers: stores.edit
PATCH /registers/{id}: stores.edit
POST /registers/{id}/open: registers.open pos.sell
GET /register-sessions: registers.view
GET /register-sessions/current: pos.sell registers.view
GET /register-sessions/{id}: registers.view
POST /register-sessions/{id}/close: registers.close reports.z_report pos.sell
GET /inventory: inventory.view
GET /inventory/adjustments: inventory.view
POST /inventory/adjustments: inventory.adjust
GET /inventory/{id}: inventory.view
GET /customers: customers.view
POST /customers: customers.create
GET /customers/{id}: customers.view
GET /products: products.view
GET /products/{id}: products.view
GET /departments: products.view pos.sell
GET /tenders: tenders.view pos.sell
GET /tax-groups: taxes.view pos.sell
";

fn till_routes() -> BTreeMap<(&'static str, &'static str), Vec<&'static str>> {
    let expected = EXPECTED.lines().filter_map(|line| {
        let (route, codes) = line.split_once(": ")?;
        Some((route.split_once(' ')?, codes.split(' ').collect()))
    });
    expected.collect()
}

#[test]
fn every_till_route_asks_for_the_codes_of_the_contract() {
    let served: BTreeMap<_, _> = routes::table()
        .1
        .into_iter()
        .filter_map(|route| match route.protection {
            Protection::User(codes) => Some(((route.method, route.path), codes)),
            _ => None,
        })
        .collect();
    for (route, codes) in till_routes() {
        assert_eq!(served.get(&route), Some(&codes), "{route:?}");
    }
}

#[tokio::test]
async fn each_default_role_may_do_what_it_holds_and_is_told_what_it_lacks() {
    let shop = Shop::open().await;
    for role in DEFAULT_ROLES {
        let person = shop.sign_in(role.code).await;
        for ((method, path), required) in till_routes() {
            let one = Uuid::nil().to_string();
            let path = ["{id}", "{code}", "{receiptNumber}"]
                .iter()
                .fold(path.to_owned(), |path, name| path.replace(name, &one));
            let body = (method != "GET").then(|| json!({}));
            let reply = person.send(method, &path, body).await;
            if permission::satisfied(&required, role.codes()) {
                assert!(![401, 403].contains(&reply.status), "{} {method} {path}: {}", role.code, reply.body);
            } else {
                let refusal = reply.refused(403, "forbidden");
                assert_eq!(refusal["required"], json!(required), "{} {method} {path}", role.code);
            }
        }
    }
}

#[tokio::test]
async fn nobody_gets_in_without_a_token() {
    let shop = Shop::open().await;
    for ((method, path), _) in till_routes() {
        let path = path.replace("{id}", &Uuid::nil().to_string());
        let reply = shop.stranger(method, &path).await;
        assert_eq!((reply.status, reply.body), (401, json!({"success": false, "error": "Unauthorized"})), "{path}");
    }
}
