//! A good request for each POST of both servers, as often as it is wanted: what the sweeps send.

use serde_json::{Value as Json, json};
use tillkeep_model::ids;
use tillkeep_storage::entity::outbox;
use tillkeep_storage::sea_orm::{EntityTrait, PaginatorTrait};
use uuid::Uuid;

use crate::kit::{Server, World};

/// A chain with goods, prices and a drawer, and a user who may do everything.
pub struct Scene {
    pub world: World,
    /// Tokens of the administrator, at headquarters and at the store.
    tokens: [String; 2],
    pub product: Uuid,
    pub register: Uuid,
    pub session: Uuid,
    pub sale: Uuid,
    pub receipt: String,
    pub customer: Uuid,
    pub role: Uuid,
}

/// Where a request goes and what it says.
pub type Request = (String, Json);

fn id_of(row: &Json) -> Uuid {
    row["id"].as_str().expect("an id").parse().expect("a UUID")
}

fn new_product(name: &str) -> Json {
    json!({
        "sku": name, "name": name, "price": 1000, "cost": 600, "minPrice": 700, "barcode": format!("{name}-code"),
        "departmentId": ids::named("department:GENERAL"), "taxGroupId": ids::named("tax_group:NONE"),
    })
}

fn new_hook() -> Json {
    json!({"url": "http://127.0.0.1:9/alerts", "kinds": ["store_silent", "dead_letter"]})
}

fn new_special(name: &str) -> Json {
    let department = ids::named("department:GENERAL");
    json!({"code": name, "name": name, "departmentId": department, "type": "percent_off", "percentBps": 1000, "endDate": "2020-01-01"})
}

impl Scene {
    pub async fn new() -> Self {
        let world = World::new().await;
        let tokens = [world.at_hq().sign_in(world.admin).await, world.at_store().sign_in(world.admin).await];
        let at_hq = async |path: &str, body: Json| world.at_hq().post(&tokens[0], path, body).await.data();
        let at_store = async |path: &str, body: Json| world.at_store().post(&tokens[1], path, body).await.data();
        let bearer = format!("Bearer {}", tokens[0]);
        // Before the product, whose arrival is waited for.
        let unlinked = json!({"allowUnlinkedRefunds": true});
        world.at_hq().call("PATCH", &format!("/stores/{}", world.s01), Some(&bearer), Some(unlinked)).await.data();
        let product = id_of(&at_hq("/products", new_product("TEA")).await);
        let role = id_of(&at_hq("/roles", json!({"code": "empty", "name": "Empty", "permissions": []})).await);
        let price = format!("/store-prices/{}/{product}", world.s01);
        world.at_hq().call("PUT", &price, Some(&bearer), Some(json!({"price": 900}))).await.data();
        crate::kit::until("the product is there", async || {
            world.at_store().get(&tokens[1], &format!("/products/{product}")).await.status == 200
        })
        .await;
        let terminal = json!({"code": "01", "name": "Till", "terminalId": "T1"});
        let register = id_of(&at_store("/registers", terminal).await);
        let session = id_of(&at_store(&format!("/registers/{register}/open"), json!({})).await);
        let goods = json!({"id": Uuid::now_v7(), "productId": product, "quantityChange": 5, "reason": "received", "unitCost": 500});
        at_store("/inventory/adjustments", goods).await;
        let sold = at_store("/pos/sales", cart(product)).await;
        let customer = id_of(&at_store("/customers", json!({"firstName": "Ann"})).await);
        let receipt = sold["receiptNumber"].as_str().expect("a receipt").to_owned();
        // Headquarters has it all, so that no push comes while a test counts its rows.
        crate::kit::until("what the scene did is at headquarters", async || {
            outbox::Entity::find().count(world.store.test_db().reader()).await.expect("a count") == 0
        })
        .await;
        Self { tokens, product, register, session, sale: id_of(&sold), receipt, customer, role, world }
    }

    pub fn token(&self, server: &Server) -> &str {
        &self.tokens[usize::from(server.store_id.is_some())]
    }

    async fn made(&self, server: &Server, path: &str, body: Json) -> Uuid {
        id_of(&server.post(self.token(server), path, body).await.data())
    }

    /// The request number `n` of `route` when its rows are there; `None` for a route that needs more than a row.
    pub async fn request(&self, server: &Server, route: &str, n: usize) -> Option<Request> {
        let here = route.to_owned();
        let name = format!("N{n}");
        let coded = json!({"code": name, "name": name});
        let of = |id: Uuid| route.replace("{id}", &id.to_string());
        let new_store = async || self.made(server, "/stores", coded.clone()).await;
        let new_user = async || self.made(server, "/users", json!({"username": name, "displayName": name})).await;
        Some(match (server.name, route) {
            ("hq", "/departments" | "/tax-groups" | "/stores" | "/sales-reps") => (here, coded),
            ("hq", "/reasons") => (here, json!({"code": name, "name": name, "kind": "discount"})),
            ("hq", "/specials/preview") => {
                let lines = json!([{"productId": self.product, "quantity": 1}]);
                (here, json!({"storeId": self.world.s01, "lines": lines}))
            }
            ("hq", "/specials") => (here, new_special(&name)),
            // Nobody listens there, which is an answer too.
            ("hq", "/alert-hooks") => (here, new_hook()),
            ("hq", "/alert-hooks/{id}/test" | "/alert-hooks/{id}/rotate-secret") => {
                (of(self.made(server, "/alert-hooks", new_hook()).await), json!({}))
            }
            ("hq", "/specials/{id}/deactivate") => {
                (of(self.made(server, "/specials", new_special(&name)).await), json!({}))
            }
            ("hq", "/tax-rates") => (here, json!({"code": name, "name": name, "ratePpm": 1})),
            ("hq", "/tenders") => (here, json!({"code": name, "name": name, "kind": "card"})),
            ("hq", "/roles") => (here, json!({"code": name.to_lowercase(), "name": name, "permissions": []})),
            ("hq", "/stores/{id}/activate" | "/stores/{id}/allow-pin-key" | "/stores/{id}/provision") => {
                (of(new_store().await), json!({}))
            }
            ("hq", "/stores/{id}/deactivate" | "/stores/{id}/revoke-token") => {
                let store = new_store().await;
                server.post(self.token(server), &format!("/stores/{store}/provision"), json!({})).await.data();
                (of(store), json!({}))
            }
            ("hq", "/products") => (here, new_product(&name)),
            ("hq", "/products/import") => {
                let row = format!("{name};Tea {name};GENERAL;NONE;19,99");
                (here, json!(format!("sku;name;departmentCode;taxGroupCode;price\r\n{row}\r\n")))
            }
            ("hq", "/customers/import") => (here, json!(format!("lastName\n{name}\n"))),
            ("hq", "/store-prices/import") => {
                (here, json!(format!("storeCode,sku,price\nS01,TEA,{}.{:02}\n", n / 100 + 20, n % 100)))
            }
            ("hq", "/products/{id}/restore") => {
                let product = self.made(server, "/products", new_product(&name)).await;
                let bearer = format!("Bearer {}", self.token(server));
                server.call("DELETE", &format!("/products/{product}"), Some(&bearer), None).await;
                (of(product), json!({}))
            }
            ("hq", "/users") => (here, json!({"username": name, "displayName": name})),
            ("hq", "/users/{id}/roles") => (of(new_user().await), json!({"roleId": self.role})),
            ("hq", "/users/{id}/deactivate") => (of(new_user().await), json!({})),
            ("hq", "/users/{id}/activate") => {
                let user = new_user().await;
                server.post(self.token(server), &format!("/users/{user}/deactivate"), json!({})).await.data();
                (of(user), json!({}))
            }
            ("hq", "/auth/factors/totp" | "/auth/factors/passkeys") => (here, json!({"name": name})),
            (_, "/taxes/preview") => (here, json!({"taxGroupId": ids::named("tax_group:NONE"), "amount": 1000})),
            (_, "/customers") => (here, json!({"firstName": name})),
            ("store", "/registers") => {
                (here, json!({"code": format!("{:02}", n % 90 + 10), "name": name, "terminalId": name}))
            }
            ("store", "/devices") => (here, json!({"registerId": self.register, "name": name})),
            ("store", "/registers/{id}/open") => (of(self.new_register(server, n).await), json!({})),
            ("store", "/safe/movements") => {
                (here, json!({"id": Uuid::now_v7(), "type": "deposit", "amount": 100, "slipNumber": name}))
            }
            ("store", "/inventory/adjustments") => {
                let body = json!({"id": Uuid::now_v7(), "productId": self.product, "quantityChange": 1, "reason": "received", "unitCost": 500});
                (here, body)
            }
            ("store", "/pos/sales") => (here, cart(self.product)),
            ("store", "/pos/sales/{id}/buyer") => (of(self.sale), json!({"name": name})),
            ("store", "/pos/quote" | "/pos/discounts/validate") => {
                let lines = json!([{"productId": self.product, "quantity": 1}]);
                (here, json!({"terminalId": "T1", "lines": lines}))
            }
            ("store", "/reports/zz") => (here, self.zz(server, n).await),
            ("store", "/registers/{id}/no-sale") => {
                let register = self.new_register(server, n).await;
                self.made(server, &format!("/registers/{register}/open"), json!({})).await;
                (of(register), json!({"id": Uuid::now_v7(), "reason": "change for a customer"}))
            }
            ("store", _) if route.starts_with("/register-sessions/") => {
                return self.of_a_drawer(server, route, n).await;
            }
            ("store", _) => return self.of_a_sale(server, route).await,
            _ => return None,
        })
    }

    /// A ZZ of a register whose drawer was closed.
    async fn zz(&self, server: &Server, n: usize) -> Json {
        let register = self.new_register(server, n).await;
        let session = self.made(server, &format!("/registers/{register}/open"), json!({})).await;
        let close = format!("/register-sessions/{session}/force-close");
        server.post(self.token(server), &close, json!({"reason": "nobody counts it"})).await.data();
        json!({"id": Uuid::now_v7(), "registerId": register})
    }

    /// Gives the register of the scene a printer that prints nothing.
    async fn plug_in(&self, server: &Server) {
        let printer = json!({"printer": {"address": "127.0.0.1:9", "width": 42, "codePage": "PC437"}});
        let bearer = format!("Bearer {}", self.token(server));
        server.call("PATCH", &format!("/registers/{}", self.register), Some(&bearer), Some(printer)).await;
    }

    /// The requests of a store about a drawer that is open.
    async fn of_a_drawer(&self, server: &Server, route: &str, n: usize) -> Option<Request> {
        let tenders = server.get(self.token(server), "/tenders").await.data();
        let counted = tenders.as_array().into_iter().flatten().filter(|tender| tender["countsInClose"] == true);
        let counts: Json = counted.map(|tender| json!({"tenderId": tender["id"], "amount": 0})).collect();
        let body = match route {
            "/register-sessions/{id}/close" => json!({"counts": counts, "acceptVariance": true}),
            "/register-sessions/{id}/count" => json!({"counts": counts}),
            "/register-sessions/{id}/cash-movements" => {
                json!({"id": Uuid::now_v7(), "type": "paid_in", "amount": 100, "reason": "found on the floor"})
            }
            "/register-sessions/{id}/force-close" => json!({"reason": "nobody counts it"}),
            "/register-sessions/{id}/reassign" => {
                let users = server.get(self.token(server), "/users").await.data();
                let active = users.as_array().into_iter().flatten().find(|user| user["isActive"] == true);
                json!({"userId": active?["id"]})
            }
            _ => return None,
        };
        let register = self.new_register(server, n).await;
        let session = self.made(server, &format!("/registers/{register}/open"), json!({})).await;
        Some((route.replace("{id}", &session.to_string()), body))
    }

    /// The requests of a store about a sale that was made, or that bring one back.
    async fn of_a_sale(&self, server: &Server, route: &str) -> Option<Request> {
        let here = route.to_owned();
        let of = |id: Uuid| route.replace("{id}", &id.to_string());
        Some(match route {
            "/pos/sales/{id}/refunds" => {
                let sold = server.post(self.token(server), "/pos/sales", cart(self.product)).await.data();
                let items = json!([{"saleItemId": sold["saleItems"][0]["id"], "quantity": 1}]);
                let body = json!({"id": Uuid::now_v7(), "terminalId": "T1", "items": items, "reason": "too small"});
                (of(id_of(&sold)), body)
            }
            "/pos/sales/{id}/void" => {
                let sold = server.post(self.token(server), "/pos/sales", cart(self.product)).await.data();
                (of(id_of(&sold)), json!({"terminalId": "T1", "reason": "the wrong tin"}))
            }
            "/pos/exchanges" => {
                let sold = server.post(self.token(server), "/pos/sales", cart(self.product)).await.data();
                let items = json!([{"saleItemId": sold["saleItems"][0]["id"], "quantity": 1}]);
                let lines = json!([{"productId": self.product, "quantity": 1}]);
                let body = json!({
                    "terminalId": "T1", "sale": {"id": Uuid::now_v7(), "lines": lines},
                    "refund": {"id": Uuid::now_v7(), "saleId": sold["id"], "items": items, "reason": "too small"},
                });
                (here, body)
            }
            "/pos/parked-carts" => (here, self.to_park()),
            "/pos/parked-carts/{id}/resume" => {
                (of(self.made(server, "/pos/parked-carts", self.to_park()).await), json!({"terminalId": "T1"}))
            }
            "/pos/refunds" => {
                let items = json!([{"productId": self.product, "quantity": 1}]);
                let body = json!({
                    "id": Uuid::now_v7(), "terminalId": "T1", "items": items, "reason": "too small",
                    "payments": [{"tenderId": ids::named("tender:CASH")}],
                });
                (here, body)
            }
            "/pos/sales/{id}/prints" => (of(self.sale), json!({"id": Uuid::now_v7(), "to": "browser"})),
            "/pos/prints" => {
                self.plug_in(server).await;
                (here, json!({"id": Uuid::now_v7(), "report": "x", "sessionId": self.session}))
            }
            "/pos/prints/{id}/again" => {
                self.plug_in(server).await;
                let asked = json!({"id": Uuid::now_v7(), "to": "browser"});
                (of(self.made(server, &format!("/pos/sales/{}/prints", self.sale), asked).await), json!({}))
            }
            _ => return None,
        })
    }

    /// A cart that is put aside.
    fn to_park(&self) -> Json {
        let lines = json!([{"productId": self.product, "quantity": 1}]);
        json!({"id": Uuid::now_v7(), "cart": {"terminalId": "T1", "lines": lines}})
    }

    async fn new_register(&self, server: &Server, n: usize) -> Uuid {
        let body = json!({"code": format!("{:02}", n % 90 + 10), "name": "Till", "terminalId": format!("N{n}")});
        self.made(server, "/registers", body).await
    }

    /// The path of a `GET` with rows that are there.
    pub fn path(&self, route: &str) -> String {
        let ids = [
            ("/products/", self.product),
            ("/pos/sales/", self.sale),
            ("/sales/", self.sale),
            ("/register-sessions/", self.session),
            ("/customers/", self.customer),
            ("/roles/", self.role),
            ("/stores/", self.world.s01),
            ("/users/", self.world.admin),
            ("/departments/", ids::named("department:GENERAL")),
        ];
        let id = ids.iter().find(|(begin, _)| route.starts_with(begin)).map_or(Uuid::nil(), |(_, id)| *id);
        let path = route
            .replace("{code}", "TEA-code")
            .replace("{receiptNumber}", &self.receipt)
            .replace("{productId}", &self.product.to_string())
            .replace("{sessionId}", &self.session.to_string())
            .replace("{id}", &id.to_string());
        match route {
            "/store-prices/effective" => format!("{path}?productId={}&storeId={}", self.product, self.world.s01),
            "/pos/bootstrap" | "/register-sessions/current" | "/reports/x" => format!("{path}?terminalId=T1"),
            _ => path,
        }
    }
}

fn cart(product: Uuid) -> Json {
    json!({
        "id": Uuid::now_v7(), "terminalId": "T1", "lines": [{"productId": product, "quantity": 1}],
        "payments": [{"tenderId": ids::named("tender:CASH")}],
    })
}
