//! Headquarters prices a cart of a store as its till does.

use serde_json::{Value as Json, json};
use tillkeep_model::ids;

use crate::kit::{World, until};

const SUMS: [&str; 8] = [
    "listAmount",
    "specialDiscount",
    "lineDiscount",
    "cartDiscount",
    "netAmount",
    "taxAmount",
    "totalAmount",
    "taxLines",
];

/// A chain whose store has goods, taxes, specials and a customer of headquarters.
struct Chain {
    world: World,
    tokens: [String; 2],
    goods: Vec<Json>,
    school: Json,
}

impl Chain {
    async fn new() -> Self {
        let world = World::new().await;
        let tokens = [world.at_hq().sign_in(world.admin).await, world.at_store().sign_in(world.admin).await];
        let at_hq = async |path: &str, body: Json| world.at_hq().post(&tokens[0], path, body).await.data();
        let put = async |path: String, body: Json| {
            let bearer = format!("Bearer {}", tokens[0]);
            world.at_hq().call("PUT", &path, Some(&bearer), Some(body)).await.data()
        };
        let rate = at_hq("/tax-rates", json!({"code": "NY", "name": "New York", "ratePpm": 88_750})).await;
        let mut groups = Vec::new();
        for mode in ["exclusive", "inclusive"] {
            let group = at_hq("/tax-groups", json!({"code": mode, "name": mode, "priceMode": mode})).await;
            let rates = json!([{"taxRateId": rate["id"], "storeId": null, "sequence": 1, "isCompound": false}]);
            put(format!("/tax-groups/{}/rates", group["id"].as_str().expect("an id")), rates).await;
            groups.push(group["id"].clone());
        }
        let product = |sku: &str, price: i64, group: &Json, more: Json| {
            let mut body = json!({
                "sku": sku, "name": sku, "price": price, "departmentId": ids::named("department:GENERAL"),
                "taxGroupId": group,
            });
            for (key, value) in more.as_object().expect("an object") {
                body[key] = value.clone();
            }
            body
        };
        let mut goods = Vec::new();
        goods.push(at_hq("/products", product("DEPOSIT", 25, &groups[0], json!({"productType": "deposit"}))).await);
        let charged = json!({"chargeProductId": goods[0]["id"], "minPrice": 900});
        goods.push(at_hq("/products", product("COLA", 1099, &groups[0], charged)).await);
        goods.push(at_hq("/products", product("TEA", 1999, &groups[1], json!({}))).await);
        let weighed = json!({"isWeighed": true, "quantityDecimals": 3, "unitOfMeasure": "kg", "maxDiscountBps": 500});
        goods.push(at_hq("/products", product("NUTS", 2345, &groups[0], weighed)).await);
        let own = |product: &Json| format!("/store-prices/{}/{}", world.s01, product["id"].as_str().expect("an id"));
        put(own(&goods[3]), json!({"isStocked": false})).await;
        let school = at_hq("/customers", json!({"companyName": "City School", "taxExempt": true})).await;
        for (code, more) in [
            (
                "BUNDLE",
                json!({"productId": goods[1]["id"], "type": "multi_buy", "bundleQuantity": 3, "bundlePrice": 2900}),
            ),
            (
                "NUTS",
                json!({"productId": goods[3]["id"], "type": "percent_off", "percentBps": 1250, "isStackable": true}),
            ),
            (
                "SCHOOL",
                json!({"productId": goods[2]["id"], "type": "fixed_price", "fixedPrice": 1500, "requiresCustomer": true}),
            ),
        ] {
            let mut body = json!({"code": code, "name": format!("Special {code}")});
            for (key, value) in more.as_object().expect("an object") {
                body[key] = value.clone();
            }
            at_hq("/specials", body).await;
        }
        put(own(&goods[2]), json!({"price": 1888})).await;
        let chain = Self { world, tokens, goods, school };
        chain.pulled().await;
        chain
    }

    /// Waits until the store has the last row of each type.
    async fn pulled(&self) {
        let store = self.world.at_store();
        let rows = async |path: String| store.get(&self.tokens[1], &path).await.body["data"].clone();
        let tea = self.goods[2]["id"].as_str().expect("an id");
        until("the store has pulled everything", async || {
            let specials = rows("/specials".into()).await;
            let prices = rows(format!("/store-prices?overriddenOnly=true&productId={tea}")).await;
            let school = self.school["id"].as_str().expect("an id");
            let customer = rows(format!("/customers/{school}")).await;
            specials.as_array().is_some_and(|rows| rows.len() == 3)
                && prices[0]["storePrice"] == 1888
                && customer["taxExempt"] == true
        })
        .await;
    }
}

#[tokio::test]
async fn headquarters_previews_what_the_till_of_the_store_quotes() {
    let chain = Chain::new().await;
    let [_, cola, tea, nuts] = [0, 1, 2, 3].map(|place: usize| chain.goods[place]["id"].clone());
    let percent = |bps: i64| json!({"type": "percent", "bps": bps});
    let carts = [
        json!({"lines": [{"productId": tea, "quantity": 2}]}),
        json!({"lines": [{"productId": cola, "quantity": 7}, {"productId": nuts, "quantity": 1.237}]}),
        json!({"customerId": chain.school["id"], "lines": [{"productId": tea, "quantity": 1}, {"productId": cola, "quantity": 3}]}),
        json!({
            "lines": [
                {"productId": cola, "quantity": 1, "lineDiscount": percent(3000)},
                {"productId": nuts, "quantity": 0.5, "lineDiscount": {"type": "amount", "amount": 101}},
                {"productId": tea, "quantity": 1},
            ],
            "cartDiscount": {"type": "amount", "amount": 333},
        }),
    ];
    for cart in carts {
        let mut asked = cart.clone();
        asked["storeId"] = json!(chain.world.s01);
        let preview = chain.world.at_hq().post(&chain.tokens[0], "/specials/preview", asked).await.data();
        // A till says why, too.
        let mut asked = cart.clone();
        let lines = asked["lines"].as_array_mut().expect("lines").iter_mut();
        for line in lines.filter(|line| !line["lineDiscount"].is_null()) {
            line["lineDiscount"]["reason"] = json!("a torn box");
        }
        if !cart["cartDiscount"].is_null() {
            asked["cartDiscount"]["reason"] = json!("a torn box");
        }
        let mut quote = chain.world.at_store().post(&chain.tokens[1], "/pos/quote", asked).await.data();
        for line in quote["lines"].as_array_mut().expect("lines") {
            line.as_object_mut().expect("a line").remove("lineId");
        }
        for key in SUMS.into_iter().chain(["lines", "taxExempt", "needs", "warnings"]) {
            assert_eq!(preview[key], quote[key], "{key} of {cart}");
        }
        assert!(preview["totalAmount"].as_i64() > Some(0), "{preview}");
    }
}

#[tokio::test]
async fn both_servers_say_the_same_of_what_a_product_costs() {
    let chain = Chain::new().await;
    let s01 = chain.world.s01;
    for product in &chain.goods {
        let id = product["id"].as_str().expect("an id");
        let path = format!("/store-prices/effective?productId={id}&storeId={s01}&at=2026-11-20T14:00:00Z");
        let there = chain.world.at_hq().get(&chain.tokens[0], &path).await.data();
        let here = chain.world.at_store().get(&chain.tokens[1], &path).await.data();
        assert_eq!(here, there);
        let path = format!("/products/by-barcode/{}", product["sku"].as_str().expect("a number"));
        let answers = [
            chain.world.at_hq().get(&chain.tokens[0], &path).await,
            chain.world.at_store().get(&chain.tokens[1], &path).await,
        ];
        assert_eq!(
            answers.map(|got| (got.status, got.code().to_owned())),
            [404, 404].map(|is| (is, "not_found".to_owned()))
        );
    }
}
