//! What stores ask over HTTP before they give money back, and what people see of claims of which nothing came.
//! `docs/sync.md`, rule U17.

use std::net::SocketAddr;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, header};
use serde_json::{Value as Json, json};
use tillkeep_model::ids;
use uuid::Uuid;

use super::kit::{Got, Kit, Person};

struct Chain {
    kit: Kit,
    admin: Person,
    here: Uuid,
    /// The tokens of both stores.
    tokens: [String; 2],
}

const RECEIPT: &str = "S01-01-000007";

fn sale() -> Uuid {
    ids::named("the sale")
}

fn line() -> Uuid {
    ids::named("the line")
}

fn document(store: Uuid, id: Uuid, action: &str, data: &Json) -> Json {
    json!({
        "store_id": store, "entity_type": "sales", "entity_id": id, "action": action, "data": data,
        "timestamp": if action == "void" { "2026-11-20T13:00:00Z" } else { "2026-11-20T12:00:00Z" },
    })
}

/// Three pieces of something for 30.00.
fn sold(store: Uuid) -> Json {
    let data = json!({
        "id": sale(), "receiptNumber": RECEIPT, "registerCode": "01", "saleType": "sale", "status": "completed",
        "businessDate": "2026-11-20", "startedAt": "2026-11-20T12:00:00Z", "completedAt": "2026-11-20T12:00:00Z",
        "createdAt": "2026-11-20T12:00:00Z", "netAmount": 3000, "totalAmount": 3000,
        "saleItems": [{"id": line(), "lineNo": 1, "productId": ids::named("tea"), "quantity": 3, "unitPrice": 1000,
                       "listAmount": 3000, "netAmount": 3000, "totalAmount": 3000, "costAmount": 1500}],
        "salePayments": [{"id": ids::named("a payment"), "lineNo": 1, "tenderCode": "CASH", "tenderKind": "cash",
                          "amount": 3000, "status": "captured"}],
    });
    document(store, sale(), "create", &data)
}

async fn chain() -> Chain {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (here, there) = (kit.store("S01").await, kit.store("S02").await);
    let tokens = [kit.sync_token(here), kit.sync_token(there)];
    assert_eq!(kit.push(&tokens[0], &[sold(here)]).await[0]["status"], "ok");
    Chain { kit, admin, here, tokens }
}

impl Chain {
    async fn asks(&self, method: &str, token: &str, path: &str, body: Option<Json>) -> Got {
        let peer: SocketAddr = "127.0.0.1:40000".parse().expect("an address");
        let request = Request::builder().method(method).uri(format!("/api/v1/sync/sales/{path}"));
        let request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        let request = request.header(header::CONTENT_TYPE, "application/json").extension(ConnectInfo(peer));
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        self.kit.send_plainly(request.body(body).expect("a request")).await
    }

    async fn claims(&self, token: &str, refund: &str, pieces: i64) -> Got {
        let body = json!({"id": ids::named(refund), "lines": [{"saleItemId": line(), "quantity": pieces}]});
        self.asks("POST", token, &format!("{}/claims", sale()), Some(body)).await
    }
}

#[tokio::test]
async fn a_store_finds_the_sale_of_another_one_by_its_receipt_with_its_costs_and_what_was_given_back() {
    let chain = chain().await;
    let there = chain.tokens[1].as_str();
    for path in [format!("S01/{RECEIPT}"), sale().to_string()] {
        let got = chain.asks("GET", there, &path, None).await;
        got.is(200);
        assert_eq!((&got.body["storeCode"], &got.body["storeId"]), (&json!("S01"), &json!(chain.here)));
        let found = &got.body["sale"];
        assert_eq!((&found["id"], &found["receiptNumber"]), (&json!(sale()), &json!(RECEIPT)));
        assert_eq!(found["saleItems"][0]["costAmount"], 1500, "a refund takes the cost of the line: {}", got.text);
        assert_eq!(found["salePayments"][0]["amount"], 3000);
        assert_eq!(got.body["givenBack"], json!([]));
    }
    chain.claims(there, "back", 2).await.is(200);
    let got = chain.asks("GET", &chain.tokens[0], &sale().to_string(), None).await;
    let claimed = json!([{"saleItemId": line(), "refundId": ids::named("back"), "quantity": 2, "storeCode": "S02"}]);
    assert_eq!(got.body["givenBack"], claimed);
    for path in ["S01/S01-01-000008", "S02/S01-01-000007", &Uuid::nil().to_string()] {
        let got = chain.asks("GET", there, path, None).await;
        got.refused(404, "not_found");
        assert!(got.body["details"][0]["field"].is_string(), "no such route names none: {}", got.text);
    }
}

#[tokio::test]
async fn more_than_is_left_is_refused_with_who_has_the_rest_until_it_is_let_go() {
    let chain = chain().await;
    let [here, there] = [0, 1].map(|place: usize| chain.tokens[place].as_str());
    let got = chain.claims(here, "one", 2).await;
    got.is(200);
    assert_eq!(got.body, json!({"known": true, "givenBack": []}));
    let got = chain.claims(there, "two", 2).await;
    got.refused(409, "over_refund");
    assert_eq!(
        (&got.body["givenBack"][0]["storeCode"], &got.body["givenBack"][0]["quantity"]),
        (&json!("S01"), &json!(2))
    );
    let let_go = format!("{}/claims/{}", sale(), ids::named("one"));
    chain.asks("DELETE", there, &let_go, None).await.is(204);
    chain.claims(there, "two", 2).await.refused(409, "over_refund");
    chain.asks("DELETE", here, &let_go, None).await.is(204);
    chain.claims(there, "two", 2).await.is(200);
    chain.asks("DELETE", here, &let_go, None).await.is(204);
    let bad = json!({"id": ids::named("bad"), "lines": [{"saleItemId": line(), "quantity": 0}]});
    let got = chain.asks("POST", there, &format!("{}/claims", sale()), Some(bad)).await;
    got.refused(422, "validation");
    got.names("lines[0].quantity");
}

#[tokio::test]
async fn nothing_is_claimed_of_a_sale_that_was_voided_and_a_sale_that_is_not_here_is_claimed_all_the_same() {
    let chain = chain().await;
    let mut void = sold(chain.here)["data"].clone();
    void["status"] = json!("voided");
    void["salePayments"][0]["status"] = json!("voided");
    let void = document(chain.here, sale(), "void", &void);
    assert_eq!(chain.kit.push(&chain.tokens[0], &[void]).await[0]["status"], "ok");
    chain.claims(&chain.tokens[1], "back", 1).await.refused(409, "sale_voided");
    let body = json!({"id": ids::named("early"), "lines": [{"saleItemId": line(), "quantity": 1}]});
    let path = format!("{}/claims", ids::named("a sale to come"));
    let got = chain.asks("POST", &chain.tokens[0], &path, Some(body)).await;
    got.is(200);
    assert_eq!(got.body, json!({"known": false, "givenBack": []}));
}

#[tokio::test]
async fn a_person_s_token_asks_nothing_of_it_and_sees_claims_that_are_a_day_old() {
    let chain = chain().await;
    let person = chain.admin.token.clone();
    for (method, path) in
        [("GET", format!("S01/{RECEIPT}")), ("GET", sale().to_string()), ("POST", format!("{}/claims", sale()))]
    {
        let got = chain.asks(method, &person, &path, Some(json!({}))).await;
        assert_eq!((got.status, &got.body["error"]), (401, &json!("Invalid sync token type")), "{}", got.text);
    }
    chain.claims(&chain.tokens[1], "back", 2).await.is(200);
    let open = async |name: &str| {
        let who = chain.kit.person(name, &[("administrator", None)]).await;
        chain.kit.get(&who, "/refund-claims").await.data()
    };
    chain.kit.clock.advance(23 * 3_600_000);
    assert_eq!(open("eve").await, json!([]));
    chain.kit.clock.advance(3_600_001);
    let shown = open("bob").await;
    let claim = &shown[0];
    assert_eq!(shown.as_array().map(Vec::len), Some(1), "{shown}");
    assert_eq!((&claim["storeCode"], &claim["receiptNumber"]), (&json!("S02"), &json!(RECEIPT)));
    assert_eq!((&claim["id"], &claim["saleId"]), (&json!(ids::named("back")), &json!(sale())));
    assert_eq!(claim["lines"], json!([{"saleItemId": line(), "quantity": 2}]));
    let clerk = chain.kit.person("clerk", &[("cashier", Some(chain.here))]).await;
    chain.kit.get(&clerk, "/refund-claims").await.refused(403, "forbidden");
    let path = format!("/refund-claims/{}", ids::named("back"));
    // It is of the other store.
    let local = chain.kit.person("mia", &[("administrator", Some(chain.here))]).await;
    assert_eq!(chain.kit.get(&local, "/refund-claims").await.data(), json!([]));
    chain.kit.delete(&local, &path).await.refused(403, "scope");
    // Somebody who may edit stores drops it.
    chain.kit.delete(&clerk, &path).await.refused(403, "forbidden");
    let dan = chain.kit.person("dan", &[("administrator", None)]).await;
    chain.kit.delete(&dan, &path).await.is(204);
    chain.kit.delete(&dan, &path).await.refused(404, "not_found");
    assert_eq!(chain.kit.get(&dan, "/refund-claims").await.data(), json!([]));
}
