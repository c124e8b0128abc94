//! Customers made in the store.

use serde_json::{Value as Json, json};
use tillkeep_model::ids;
use tillkeep_storage::entity::{customer, role, role_permission};
use uuid::Uuid;

use crate::kit::{Person, Shop, cart, id, line, rows};

#[tokio::test]
async fn a_customer_made_here_has_a_number_of_this_store_and_travels() {
    let shop = Shop::open().await;
    let person = shop.sign_in("administrator").await;
    let request = json!({"id": Uuid::now_v7(), "firstName": "Bo", "phone": "+1 (555) 000-1", "marketingOptIn": true});
    let made = person.post("/customers", request.clone()).await.ok(201);
    assert_eq!((&made["customerNumber"], &made["isActive"]), (&json!("S01-000001"), &json!(true)));
    assert_eq!((&made["originStoreId"], &made["taxExempt"]), (&json!(id("S01")), &json!(false)));
    let entries = shop.outbox().await;
    assert_eq!((entries[0].entity_type.as_str(), entries[0].action.as_str()), ("customers", "create"));
    assert_eq!(serde_json::from_str::<Json>(&entries[0].payload).expect("JSON"), made);
    assert_eq!(person.post("/customers", request.clone()).await.ok(200), made, "the same again");
    let mut other = request;
    other["firstName"] = json!("Bob");
    person.post("/customers", other).await.refused_at(409, "id_reused", "id");
    let company = person.post("/customers", json!({"companyName": "Tiles Ltd"})).await.ok(201);
    assert_eq!(company["customerNumber"], "S01-000002");
    let path = format!("/customers/{}", company["id"].as_str().expect("an id"));
    assert_eq!(person.get(&path).await.ok(200), company);
    assert_eq!(shop.outbox().await.len(), 2);
}

#[tokio::test]
async fn a_customer_who_may_be_there_already_is_made_only_on_demand() {
    let shop = Shop::open().await;
    let person = shop.sign_in("administrator").await;
    for same in [json!({"phone": "555-123-4567"}), json!({"email": "ANN@example.com"})] {
        let mut request = json!({"lastName": "Müller"});
        request.as_object_mut().expect("an object").extend(same.as_object().expect("an object").clone());
        let refusal = person.post("/customers", request.clone()).await.refused(409, "possible_duplicate");
        assert_eq!(refusal["candidates"][0]["customerNumber"], "HQ-000001");
        request["allowDuplicate"] = json!(true);
        person.post("/customers", request).await.ok(201);
    }
    // A number that was refused is not used up.
    assert_eq!(person.post("/customers", json!({"lastName": "Ng"})).await.ok(201)["customerNumber"], "S01-000003");
}

#[tokio::test]
async fn a_store_grants_no_exemption_and_no_credit() {
    let shop = Shop::open().await;
    let person = shop.sign_in("administrator").await;
    for (key, value) in [
        ("taxExempt", json!(true)),
        ("taxExemptNumber", json!("X")),
        ("creditLimit", json!(1)),
        ("accountBalance", json!(1)),
        ("customerNumber", json!("S01-000009")),
        ("isActive", json!(false)),
        ("syncVersion", json!(1)),
        ("email", json!("no-address")),
        ("birthDate", json!("1980-02-30")),
        ("countryCode", json!("us")),
        ("notes", json!("a\0")),
        ("firstName", json!("x".repeat(101))),
        ("id", json!("x")),
        ("allowDuplicate", json!("yes")),
    ] {
        let mut request = json!({"lastName": "Ng"});
        request[key] = value;
        person.post("/customers", request).await.refused_at(422, "validation", key);
    }
    person.post("/customers", json!({"firstName": " "})).await.refused_at(422, "validation", "lastName");
    person.post("/customers", json!({})).await.refused(422, "validation");
}

#[tokio::test]
async fn a_till_sees_no_more_of_a_customer_than_it_needs() {
    let shop = Shop::open().await;
    let cashier = shop.sign_in("cashier").await;
    let found = cashier.get("/pos/customers?search=mill").await.ok(200);
    assert_eq!(
        found,
        json!([{"id": id("HQ-000001"), "customerNumber": "HQ-000001", "name": "Ann Miller", "phoneLast4": "4567",
                "taxExempt": false}])
    );
    assert_eq!(cashier.get("/pos/customers?search=1234567").await.ok(200).as_array().map(Vec::len), Some(1));
    cashier.get("/pos/customers?search=a").await.refused_at(422, "validation", "search");
    cashier.get("/pos/customers").await.refused_at(422, "validation", "search");
    let all = shop.sign_in("administrator").await.get("/customers").await.ok(200);
    assert_eq!(all.as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn a_merged_customer_buys_on_the_terms_of_the_survivor() {
    let shop = Shop::open().await;
    shop.insert::<customer::Entity>([customer::Model {
        merged_into_id: Some(id("HQ-000002")),
        is_active: false,
        ..rows::customer("HQ-000003")
    }])
    .await;
    let person = shop.selling().await;
    let mut request = cart(json!([line("TEA", 1)]), json!([{"tenderId": id("CASH")}]));
    request["customerId"] = json!(id("HQ-000003"));
    let sold = person.post("/pos/sales", request.clone()).await.ok(201);
    assert_eq!((&sold["taxAmount"], &sold["customerName"]), (&json!(0), &json!("City School")));
    assert_eq!(person.post("/pos/sales", request).await.ok(200), sold);
}

/// Tea for Ann Miller.
async fn sells_to_ann(person: &Person) -> Json {
    let mut request = cart(json!([line("TEA", 1)]), json!([{"tenderId": id("CASH")}]));
    request["customerId"] = json!(id("HQ-000001"));
    person.post("/pos/sales", request).await.ok(201)
}

/// A user who sees customers, and nothing else.
async fn clerk(shop: &Shop) -> Person {
    shop.insert::<role::Entity>([role::Model {
        id: ids::role("clerk"),
        code: "clerk".into(),
        name: "Clerk".into(),
        ..role::Model::default()
    }])
    .await;
    let (role_id, permission_id) = (ids::role("clerk"), ids::permission("customers.view"));
    shop.insert::<role_permission::Entity>([role_permission::Model { role_id, permission_id }]).await;
    shop.sign_in("clerk").await
}

fn receipts(rows: &Json) -> Vec<&str> {
    rows.as_array().into_iter().flatten().filter_map(|row| row["receiptNumber"].as_str()).collect()
}

#[tokio::test]
async fn what_a_customer_bought_in_this_store_is_listed_newest_first_with_what_it_comes_to() {
    let shop = Shop::open_with(|own| own.blind_close = false).await;
    let person = shop.selling().await;
    let first = sells_to_ann(&person).await;
    person.sell(json!([line("BREAD", 1)])).await.ok(201);
    sells_to_ann(&person).await;
    let path = format!("/customers/{}/sales", id("HQ-000001"));
    let got = person.get(&path).await;
    assert_eq!(receipts(&got.body["data"]), ["S01-01-000003", "S01-01-000001"], "of nobody else");
    assert_eq!(got.body["data"][0]["storeCode"], "S01");
    let total = first["totalAmount"].as_i64().expect("an amount") * 2;
    let sums = json!([{"currencyCode": "USD", "saleType": "sale", "count": 2, "totalAmount": total}]);
    assert_eq!(got.body["sums"], sums);
    let next = person.get(&format!("{path}?page=2&pageSize=1")).await;
    assert_eq!((receipts(&next.body["data"]), &next.body["sums"]), (vec!["S01-01-000001"], &sums));
    assert_eq!(person.get(&format!("{path}?saleType=refund")).await.ok(200), json!([]));
    person.get(&format!("{path}?businessDateFrom=soon")).await.refused_at(422, "validation", "businessDateFrom");
    person.get(&format!("/customers/{}/sales", Uuid::now_v7())).await.refused(404, "not_found");
    shop.sign_in_at("cashier", "T2").await.get(&path).await.refused(403, "forbidden");

    let seen = clerk(&shop).await.get(&path).await.ok(200);
    assert_eq!((seen.as_array().map(Vec::len), seen[0].get("costAmount")), (Some(2), None));
}

#[tokio::test]
async fn where_a_drawer_is_closed_blind_its_sales_to_a_customer_are_told_when_it_is_closed() {
    let shop = Shop::open_with(|own| own.blind_close = true).await;
    let manager = shop.sign_in("administrator").await;
    let open = format!("/registers/{}/open", id("register 01"));
    let session = manager.post(&open, json!({})).await.ok(201);
    let sold = sells_to_ann(&manager).await;
    let path = format!("/customers/{}/sales", id("HQ-000001"));
    let clerk = clerk(&shop).await;
    let got = clerk.get(&path).await;
    assert_eq!((&got.body["data"], &got.body["sums"]), (&json!([]), &json!([])));
    assert_eq!(receipts(&manager.get(&path).await.ok(200)), ["S01-01-000001"], "who may close it knows");
    let counted = session["openingFloat"].as_i64().expect("a float") + sold["totalAmount"].as_i64().expect("a total");
    let close = format!("/register-sessions/{}/close", session["id"].as_str().expect("an id"));
    manager.post(&close, json!({"counts": [{"tenderId": id("CASH"), "amount": counted}]})).await.ok(200);
    assert_eq!(receipts(&clerk.get(&path).await.ok(200)), ["S01-01-000001"]);
}
