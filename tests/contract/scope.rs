//! A user with every permission in one store has none in another one.

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::ids;
use tillkeep_model::permission::ADMINISTRATOR;
use tillkeep_storage::entity::{register_session, sale, store, store_product, sync_log, user, user_store_role};
use tillkeep_storage::sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter};
use uuid::Uuid;

use crate::kit::{Server, World};

/// Rows of store S01 at headquarters that a route can name.
struct Others {
    store: Uuid,
    user: Uuid,
    assignment: Uuid,
    product: Uuid,
    sale: Uuid,
    drawer: Uuid,
    level: Uuid,
    failed: Uuid,
}

impl Others {
    async fn new(world: &World, roles: &[(Uuid, Option<Uuid>)]) -> Self {
        let user = world.person("theirs", None, roles).await;
        let assignment = user_store_role::Entity::find()
            .filter(user_store_role::Column::UserId.eq(user))
            .filter(user_store_role::Column::StoreId.eq(world.s01));
        let assignment = assignment.one(world.hq.db().reader()).await.expect("a read").expect("an assignment").id;
        let token = world.at_hq().sign_in(world.admin).await;
        let product = world.at_hq().post(
            &token,
            "/products",
            json!({
                "sku": "TEA", "name": "Tea", "price": 1000,
                "departmentId": ids::named("department:GENERAL"), "taxGroupId": ids::named("tax_group:NONE"),
            }),
        );
        let product = product.await.data()["id"].as_str().expect("an id").parse().expect("a UUID");
        let sale = sale::Model {
            id: Uuid::now_v7(),
            store_id: world.s01,
            receipt_number: "S01-01-000001".to_owned(),
            ..sale::Model::default()
        };
        let failed = sync_log::Model {
            id: Uuid::now_v7(),
            store_id: world.s01,
            direction: "push".to_owned(),
            entity_type: "sales".to_owned(),
            status: "failed".to_owned(),
            envelope: Some("{}".to_owned()),
            ..sync_log::Model::default()
        };
        let drawer =
            register_session::Model { id: Uuid::now_v7(), store_id: world.s01, ..register_session::Model::default() };
        let level = store_product::Model {
            id: ids::store_product(world.s01, product),
            store_id: world.s01,
            product_id: product,
            ..store_product::Model::default()
        };
        let (sale_id, drawer_id, level_id, failed_id) = (sale.id, drawer.id, level.id, failed.id);
        let tx = world.hq.db().begin().await.expect("a transaction");
        sale.into_active_model().insert(&tx).await.expect("a sale");
        drawer.into_active_model().insert(&tx).await.expect("a drawer");
        level.into_active_model().insert(&tx).await.expect("a level");
        failed.into_active_model().insert(&tx).await.expect("an entry");
        tx.commit().await.expect("a commit");
        let (sale, drawer, level, failed) = (sale_id, drawer_id, level_id, failed_id);
        Self { store: world.s01, user, assignment, product, sale, drawer, level, failed }
    }

    /// `pattern` with the rows of S01 for its parameters.
    fn path(&self, pattern: &str) -> String {
        let id = match pattern.split('/').nth(1).unwrap_or_default() {
            "stores" => self.store,
            "users" => self.user,
            "sales" => self.sale,
            "register-sessions" => self.drawer,
            "sync" => self.failed,
            "products" => self.product,
            "roles" => ids::role("cashier"),
            _ => Uuid::nil(),
        };
        pattern
            .replace("{storeId}", &self.store.to_string())
            .replace("{productId}", &self.product.to_string())
            .replace("{assignmentId}", &self.assignment.to_string())
            .replace("{id}", &id.to_string())
            .replace("{sid}", &Uuid::nil().to_string())
            .replace("{code}", "TEA")
    }

    /// A body that would do something, so that nothing but the scope refuses it.
    fn body(&self, method: &str, pattern: &str) -> Json {
        match (method, pattern) {
            ("PATCH", "/stores/{id}" | "/roles/{id}") => json!({"name": "Mine now"}),
            ("POST", "/stores/{id}/deactivate") => json!({"force": true}),
            ("POST", "/stores/{id}/provision") => json!({"rotate": true}),
            ("PUT", "/store-prices/{storeId}/{productId}") | ("PATCH", "/products/{id}") => json!({"price": 1}),
            ("PATCH", "/users/{id}") => json!({"displayName": "Mine now"}),
            ("POST", "/users/{id}/roles") => json!({"roleId": ids::role(ADMINISTRATOR), "storeId": self.store}),
            ("PUT", "/roles/{id}/permissions") => json!({"permissions": ["users.edit"]}),
            ("POST", "/sync/retry-all") => json!({"storeId": self.store}),
            _ => json!({}),
        }
    }
}

/// Everything of S01 that another user might change.
async fn of_s01(world: &World, others: &Others) -> String {
    let conn = world.hq.db().reader();
    let store = store::Entity::find_by_id(others.store).one(conn).await.expect("a read").expect("a store");
    let user = user::Entity::find_by_id(others.user).one(conn).await.expect("a read").expect("a user");
    let roles = user_store_role::Entity::find().filter(user_store_role::Column::UserId.eq(others.user));
    let roles = roles.all(conn).await.expect("a read");
    let failed = sync_log::Entity::find_by_id(others.failed).one(conn).await.expect("a read");
    format!("{store:?} {user:?} {roles:?} {failed:?}")
}

#[tokio::test]
async fn an_administrator_of_one_store_changes_nothing_of_another_and_sees_nothing_of_it() {
    let world = World::new().await;
    let others = Others::new(&world, &[(ids::role("cashier"), Some(world.s01))]).await;
    let local = world.person("local", None, &[(ids::role(ADMINISTRATOR), Some(world.s02))]).await;
    let server: &Server = world.at_hq();
    let before = of_s01(&world, &others).await;
    let secrets =
        [others.store, others.user, others.assignment, others.sale, others.drawer, others.level, others.failed];
    let secrets = secrets.map(|id| id.to_string());
    for (route, _) in server.user_routes().filter(|(route, _)| !route.path.starts_with("/auth/")) {
        let authorization = format!("Bearer {}", server.sign_in(local).await);
        let body = (!["GET", "DELETE"].contains(&route.method)).then(|| others.body(route.method, route.path));
        let got = server.call(route.method, &others.path(route.path), Some(&authorization), body).await;
        let what = format!("{} {}: {} {}", route.method, route.path, got.status, got.text);
        let names_theirs =
            ["/stores/{", "/users/{", "/sales/{", "/sync/retry", "/sync/resolve", "/sync/errors/{", "/store-prices/{"];
        if names_theirs.iter().any(|prefix| route.path.starts_with(prefix)) {
            assert!([403, 404].contains(&got.status), "{what}");
        }
        if route.method == "GET" {
            assert!(!secrets.iter().any(|secret| got.text.contains(secret)), "{what}");
        }
        assert_eq!(of_s01(&world, &others).await, before, "{what}");
    }
}

#[tokio::test]
async fn a_user_of_two_stores_is_not_changed_by_the_administrator_of_one() {
    let world = World::new().await;
    let both = [(ids::role("cashier"), Some(world.s01)), (ids::role("cashier"), Some(world.s02))];
    let others = Others::new(&world, &both).await;
    let local = world.person("local", None, &[(ids::role(ADMINISTRATOR), Some(world.s02))]).await;
    let server = world.at_hq();
    let before = of_s01(&world, &others).await;
    let routes = server.user_routes().filter(|(route, _)| route.path.starts_with("/users/{") && route.method != "GET");
    for (route, _) in routes.filter(|(route, _)| route.path != "/users/{id}/roles") {
        let authorization = format!("Bearer {}", server.sign_in(local).await);
        let body = (route.method != "DELETE").then(|| others.body(route.method, route.path));
        let got = server.call(route.method, &others.path(route.path), Some(&authorization), body).await;
        assert!([403, 404].contains(&got.status), "{} {}: {} {}", route.method, route.path, got.status, got.text);
        assert_eq!(of_s01(&world, &others).await, before, "{} {}", route.method, route.path);
    }
}

#[tokio::test]
async fn a_store_lets_no_user_in_with_roles_in_another_one_alone() {
    let world = World::new().await;
    let stranger = world.person("stranger", Some("482915"), &[(ids::role(ADMINISTRATOR), Some(world.s02))]).await;
    let server = world.at_store();
    let body = json!({"pin": "482915", "storeId": world.s01, "terminalId": "T1"});
    assert_eq!(server.call("POST", "/auth/pin-login", None, Some(body)).await.code(), "invalid_credentials");
    let body = json!({"username": "stranger", "pin": "482915"});
    assert_eq!(server.call("POST", "/auth/login", None, Some(body)).await.code(), "invalid_credentials");
    let body = json!({"pin": "482915", "storeId": world.s02, "terminalId": "T1"});
    assert_eq!(server.call("POST", "/auth/pin-login", None, Some(body)).await.code(), "wrong_store");
    // Even a session of that person opens nothing that needs a code.
    let token = server.sign_in(stranger).await;
    for (route, _) in server.user_routes().filter(|(_, codes)| !codes.is_empty()) {
        let got = server.try_route(route, Some(&token)).await;
        assert_eq!((got.status, got.code()), (403, "forbidden"), "{} {}", route.method, route.path);
    }
}

#[tokio::test]
async fn a_role_taken_away_is_gone_with_the_next_request_at_headquarters_and_with_the_pull_at_the_store() {
    let world = World::new().await;
    let person = world.person("mia", None, &[(ids::role("store_manager"), Some(world.s01))]).await;
    let tokens = [world.at_hq().sign_in(person).await, world.at_store().sign_in(person).await];
    assert_eq!(world.at_hq().get(&tokens[0], "/stores").await.status, 200);
    assert_eq!(world.at_store().get(&tokens[1], "/inventory").await.status, 200);
    let admin = format!("Bearer {}", world.at_hq().sign_in(world.admin).await);
    let roles = world.at_hq().call("GET", &format!("/users/{person}/roles"), Some(&admin), None).await.data();
    let path = format!("/users/{person}/roles/{}", roles[0]["id"].as_str().expect("an id"));
    assert_eq!(world.at_hq().call("DELETE", &path, Some(&admin), None).await.status, 204);
    assert_eq!(world.at_hq().get(&tokens[0], "/stores").await.code(), "forbidden");
    let refused = async || world.at_store().get(&tokens[1], "/inventory").await.code() == "forbidden";
    crate::kit::until("the store refuses too", refused).await;
}

#[tokio::test]
async fn a_session_at_a_store_ends_for_good_when_its_person_is_sent_home() {
    let world = World::new().await;
    let person = world.person("mia", None, &[(ids::role("store_manager"), Some(world.s01))]).await;
    let token = world.at_store().sign_in(person).await;
    let status = async || world.at_store().get(&token, "/auth/me").await.status;
    assert_eq!(status().await, 200);
    let admin = world.at_hq().sign_in(world.admin).await;
    let set = async |what: &str| world.at_hq().post(&admin, &format!("/users/{person}/{what}"), json!({})).await.status;
    assert_eq!(set("deactivate").await, 200);
    crate::kit::until("the store refuses", async || status().await == 401).await;
    // Back again, with the roles and the PIN of before: the old session stays over, as it does at headquarters.
    assert_eq!(set("activate").await, 200);
    let active = async || {
        let row = user::Entity::find_by_id(person).one(world.store.test_db().reader()).await.expect("a read");
        row.is_some_and(|row| row.is_active)
    };
    crate::kit::until("the store has them back", active).await;
    let again = world.at_store().sign_in(person).await;
    let let_in = async || world.at_store().get(&again, "/auth/me").await.status == 200;
    crate::kit::until("a new session is good", let_in).await;
    assert_eq!(status().await, 401);
}

#[tokio::test]
async fn all_sessions_of_a_user_end_at_headquarters_at_once_and_at_the_store_with_the_pull() {
    let world = World::new().await;
    let person = world.person("mia", None, &[(ids::role("store_manager"), Some(world.s01))]).await;
    let tokens = [world.at_hq().sign_in(person).await, world.at_store().sign_in(person).await];
    let at_store = async || world.at_store().get(&tokens[1], "/auth/me").await.status;
    assert_eq!((world.at_hq().get(&tokens[0], "/auth/me").await.status, at_store().await), (200, 200));
    let admin = format!("Bearer {}", world.at_hq().sign_in(world.admin).await);
    let ended = world.at_hq().call("DELETE", &format!("/users/{person}/sessions"), Some(&admin), None).await;
    assert_eq!(ended.status, 204, "{}", ended.text);
    assert_eq!(world.at_hq().get(&tokens[0], "/auth/me").await.status, 401);
    crate::kit::until("the store refuses", async || at_store().await == 401).await;
    let again = world.at_store().sign_in(person).await;
    assert_eq!(world.at_store().get(&again, "/auth/me").await.status, 200, "a new session is good");
}
