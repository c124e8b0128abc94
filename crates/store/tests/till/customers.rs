//! Customers made in the store.

use serde_json::{Value as Json, json};
use tillkeep_storage::entity::customer;
use uuid::Uuid;

use crate::kit::{Shop, cart, id, line, rows};

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
