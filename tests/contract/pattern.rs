//! A route that asks for any code of a module: no route does today, so that this one stands in the table of the test.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use tillkeep_hq::Hq;
use tillkeep_http::describe::{self, About};
use tillkeep_http::routes::Routes;
use tillkeep_http::{Answer, Caller, layers};
use tillkeep_model::permission::module::Products;
use tillkeep_model::permission::{Any, code::PosSell};
use uuid::Uuid;

use crate::kit::{Server, World};
use crate::matrix;

async fn anything(caller: Caller<Any<Products>>) -> Answer<Vec<String>> {
    Answer(caller.stores().into_iter().flatten().map(|id| id.to_string()).collect())
}

async fn or_selling(_: Caller<(Any<Products>, PosSell)>) -> Answer<bool> {
    Answer(true)
}

/// A role with these codes and a user who has it.
async fn with(world: &World, name: &str, codes: &[&str], store: Option<Uuid>) -> Uuid {
    let admin = world.at_hq().sign_in(world.admin).await;
    let body = json!({"code": name, "name": name, "permissions": codes});
    let role = world.at_hq().post(&admin, "/roles", body).await.data();
    world.person(name, None, &[(role["id"].as_str().expect("an id").parse().expect("a UUID"), store)]).await
}

#[tokio::test]
async fn a_route_may_ask_for_any_code_of_a_module() {
    let world = World::new().await;
    let (router, table) = Routes::<Arc<Hq>>::new()
        .get("/anything", anything)
        .about("For who may do anything with products.")
        .get("/or-selling", or_selling)
        .about("For them and for who sells.")
        .finish();
    // The matrix and the description show the pattern.
    assert_eq!(matrix::needs(&table[0]), "`products.*`");
    assert_eq!(matrix::needs(&table[1]), "`products.*` or `pos.sell`");
    assert_eq!(matrix::marks(&table[0]), "yes | no | no", "Administrator, Cashier, Store Manager");
    assert_eq!(matrix::marks(&table[1]), "yes | yes | yes");
    let about = About { title: "A test", text: "Of a pattern.", examples: "{}" };
    let document: Json = serde_json::from_str(&describe::text(about, &table)).expect("JSON");
    assert_eq!(document["paths"]["/api/v1/anything"]["get"]["x-permissions"], json!(["products.*"]));

    let server = Server {
        name: "hq",
        router: layers::wrap(router.with_state(world.hq.clone())),
        routes: table,
        auth: world.at_hq().auth.clone(),
        db: world.at_hq().db.clone(),
        store_id: None,
    };
    let admin = world.at_hq().sign_in(world.admin).await;
    for (name, codes, store, allowed) in [
        ("viewers", &["products.view"][..], None, true),
        ("deleters", &["products.delete", "pos.sell"], None, true),
        ("viewers_in_one", &["products.view"], Some(world.s01), true),
        // The dot counts, and so does where the pattern begins.
        ("neighbours", &["store_prices.manage", "purchase_orders.view", "pos.sell"], None, false),
        ("nobodies", &[], None, false),
    ] {
        let person = with(&world, name, codes, store).await;
        let token = server.sign_in(person).await;
        let got = server.get(&token, "/anything").await;
        assert_eq!(got.status, if allowed { 200 } else { 403 }, "{name}: {}", got.text);
        if allowed {
            let stores = store.map(|id| id.to_string()).into_iter().collect::<Vec<_>>();
            assert_eq!(got.data(), json!(stores), "{name}: the pattern is held where the code is");
        } else {
            assert_eq!(got.body["required"], json!(["products.*"]), "{name}");
        }
        let sells = codes.contains(&"pos.sell");
        assert_eq!(server.get(&token, "/or-selling").await.status == 200, allowed || sells, "{name}");
        // What is explained is what happens, by the same pattern.
        let question = format!("/permissions/explain?userId={person}&code=products.*");
        let explained = world.at_hq().get(&admin, &question).await.data();
        assert_eq!((&explained["code"], &explained["allowed"]), (&json!("products.*"), &json!(allowed)), "{name}");
        let matching: Vec<&&str> = codes.iter().filter(|code| code.starts_with("products.")).collect();
        assert_eq!(explained["assignments"][0]["matching"], json!(matching), "{name}");
    }
}
