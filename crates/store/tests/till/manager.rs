//! What the manager of a shop sees of it with headquarters away, and nobody else at a till.

use serde_json::{Value as Json, json};
use tillkeep_model::ids;
use tillkeep_storage::audit;
use tillkeep_storage::entity::{role, role_permission};
use uuid::Uuid;

use crate::kit::{Person, Shop, cart, id, line};

fn rows(listed: &Json) -> &[Json] {
    listed.as_array().map_or(&[], Vec::as_slice)
}

/// Somebody who holds `reports.z_report` and nothing else.
async fn z_reader(shop: &Shop) -> Person {
    let id = ids::role("z_reader");
    let row = role::Model { id, code: "z_reader".into(), name: "Reads Z".into(), ..role::Model::default() };
    shop.insert::<role::Entity>([row]).await;
    let grant = role_permission::Model { role_id: id, permission_id: ids::permission("reports.z_report") };
    shop.insert::<role_permission::Entity>([grant]).await;
    shop.sign_in_at("z_reader", "T3").await
}

#[tokio::test]
async fn a_manager_sees_drawers_customers_and_the_line_of_the_own_shop_and_a_cashier_does_not() {
    let shop = Shop::open_with(|own| own.blind_close = true).await;
    let (manager, cashier) = (shop.sign_in("store_manager").await, shop.sign_in_at("cashier", "T2").await);
    let session = manager.post(&format!("/registers/{}/open", id("register 01")), json!({})).await.ok(201);
    let mut request = cart(json!([line("TEA", 1)]), json!([{"tenderId": id("CASH")}]));
    request["customerId"] = json!(id("HQ-000001"));
    let sold = manager.post("/pos/sales", request).await.ok(201);
    let drawer = format!("/register-sessions/{}", session["id"].as_str().expect("an id"));
    let customer = format!("/customers/{}", id("HQ-000001"));
    let paths = ["/register-sessions", &drawer, "/customers", &customer, "/sync/status", "/sync/outbox", "/audit-log"];
    let bought = format!("{customer}/sales");
    for path in paths.into_iter().chain([bought.as_str()]) {
        cashier.get(path).await.refused(403, "forbidden");
        manager.get(path).await.ok(200);
    }

    assert_eq!(manager.get("/register-sessions").await.ok(200)[0]["id"], session["id"]);
    // Who closes a drawer may know what is in it, before it is closed too.
    let expected = session["openingFloat"].as_i64().expect("a float") + sold["totalAmount"].as_i64().expect("a total");
    assert_eq!(manager.get(&drawer).await.ok(200)["status"], "open");
    assert_eq!(manager.get(&customer).await.ok(200)["customerNumber"], "HQ-000001");
    assert_eq!(manager.get(&bought).await.ok(200)[0]["receiptNumber"], sold["receiptNumber"]);
    assert_eq!(manager.get("/sync/status").await.ok(200)["storeCode"], "S01");
    let waiting = manager.get("/sync/outbox").await.ok(200);
    let kinds: Vec<&str> = rows(&waiting).iter().filter_map(|entry| entry["entityType"].as_str()).collect();
    assert!(kinds.contains(&"sales") && kinds.contains(&"register_sessions"), "{kinds:?}");
    // Seeing them is no right to know what goods cost, nor what makes a PIN.
    let reader = z_reader(&shop).await;
    let mut booked = json!({"id": Uuid::now_v7(), "productId": id("TEA"), "quantityChange": 5, "reason": "received"});
    booked["unitCost"] = json!(7_070_707);
    shop.sign_in("administrator").await.post("/inventory/adjustments", booked).await.ok(201);
    for path in ["/sync/outbox?pageSize=200", "/audit-log?pageSize=200"] {
        let seen = reader.get(path).await.ok(200).to_string();
        assert!(seen.contains("adjust"), "{path} says nothing of the adjustment: {seen}");
        for hidden in ["unitCost", "costAmount", "pinHash", "pinLookup", "7070707"] {
            assert!(!seen.contains(hidden), "{path} shows {hidden}: {seen}");
        }
    }
    let counts = json!({"counts": [{"tenderId": id("CASH"), "amount": expected}]});
    manager.post(&format!("{drawer}/close"), counts).await.ok(200);
    assert_eq!(manager.get(&drawer).await.ok(200)["expectedCash"], expected);

    // Seeing is all: what is done with these stays with who holds its own code.
    manager.post("/sync/now", json!({})).await.refused(403, "forbidden");
    manager.post("/sync/outbox/requeue-all", json!({})).await.refused(403, "forbidden");
    manager.post("/customers", json!({"lastName": "Ng"})).await.refused(403, "forbidden");
    manager.post(&format!("{drawer}/force-close"), json!({"reason": "x"})).await.refused(403, "forbidden");
    for path in ["/users", "/roles", "/permissions"] {
        manager.get(path).await.refused(403, "forbidden");
    }
}

#[tokio::test]
async fn a_manager_sees_what_was_done_in_the_own_shop_and_nothing_that_names_another_one() {
    let shop = Shop::open().await;
    let (manager, administrator) = (shop.sign_in("store_manager").await, shop.sign_in("administrator").await);
    let other = Uuid::now_v7();
    for (action, details) in [
        ("here.named", json!({"storeId": shop.store.id})),
        ("here.unnamed", json!({"reason": "\"storeId\":\"is only said\""})),
        ("here.without", json!({"storeId": null})),
        ("other.named", json!({"storeId": other})),
        ("other.within", json!({"of": {"storeId": other}})),
    ] {
        let tx = shop.store.test_db().begin().await.expect("a transaction");
        let entry = audit::Entry { action, details, ..audit::Entry::default() };
        audit::record(&tx, entry, shop.clock.now()).await.expect("an entry");
        tx.commit().await.expect("a commit");
    }
    let actions = |log: &Json, of: &str| -> Vec<String> {
        let all = rows(log).iter().filter_map(|entry| entry["action"].as_str());
        all.filter(|action| action.starts_with(of)).map(str::to_owned).collect()
    };
    let seen = manager.get("/audit-log").await;
    let here = ["here.without", "here.unnamed", "here.named"];
    assert_eq!(actions(&seen.body["data"], "here."), here);
    assert_eq!(actions(&seen.body["data"], "other."), [""; 0]);
    assert!(!actions(&seen.body["data"], "pin_login").is_empty(), "who signed in here");
    // Asked for by its name it is not there either, nor counted.
    assert_eq!(manager.get("/audit-log?action=other.named").await.ok(200), json!([]));
    let all = administrator.get("/audit-log").await;
    assert_eq!(actions(&all.body["data"], "other."), ["other.within", "other.named"]);
    let total = |reply: &crate::kit::Reply| reply.body["pagination"]["total"].as_u64().expect("a total");
    assert_eq!(total(&all), total(&seen) + 2);
}
