//! What a second person approves of a cart is that cart, as it was shown; and who approved what is kept.

use serde_json::{Value as Json, json};
use tillkeep_model::{Bps, Money, ids};
use tillkeep_storage::entity::{role, role_permission};
use uuid::Uuid;

use super::again::changed;
use super::market::label;
use super::{approval, cash, ends, less, list, off, product, quoted, sends, special, specials, weighed, with};
use crate::kit::{Person, Shop, cart, id, line, people};

const PRICE: &str = "pos.price.override";
const DISCOUNT: &str = "pos.discount";
const BEYOND: &str = "pos.discount.override_max";

struct Scene {
    shop: Shop,
    cashier: Person,
    pin: String,
    manager: Uuid,
}

impl Scene {
    /// A store in which a tenth may be taken off, a cashier at the till, and a manager beside.
    async fn set() -> Self {
        let shop = Shop::open_with(|own| {
            (own.max_line_discount_bps, own.max_cart_discount_bps) = (Bps(1000), Bps(1000));
        })
        .await;
        shop.selling().await;
        sends(&shop, [product("CAKE", 2000), product("ROLL", 100), product("PIE", 10_000)]).await;
        sends(&shop, [weighed("PLUM", 599, "4012")]).await;
        let cashier = shop.sign_in("cashier").await;
        let (manager, pin) = people::person(&shop, "store_manager").await;
        Self { shop, cashier, pin, manager }
    }

    async fn sell(&self, cart: Json, approvals: impl IntoIterator<Item = Json>) -> crate::kit::Reply {
        let approvals: Vec<Json> = approvals.into_iter().collect();
        self.cashier.post("/pos/sales", with(cart, "approvals", approvals)).await
    }
}

fn cake(discount: Json) -> Json {
    with(line("CAKE", 1), "lineDiscount", discount)
}

#[tokio::test]
async fn an_approval_carries_no_other_discount_label_customer_or_total() {
    let scene = Scene::set().await;
    let scanned = json!({"productId": id("PLUM"), "code": label("20", "04012", 741)});
    let request = cart(json!([cake(off(2000)), scanned, line("ROLL", 3)]), cash());
    let request = with(request, "customerId", json!(id("HQ-000001")));
    let token = approval(&scene.cashier, &scene.pin, BEYOND, &request).await;
    let mut more = request.clone();
    more["lines"].as_array_mut().expect("lines").push(line("ROLL", 1));
    let mut fewer = request.clone();
    fewer["lines"].as_array_mut().expect("lines").pop();
    let mut others = vec![more, fewer];
    for (pointer, value) in [
        ("/lines/0/lineDiscount/bps", json!(2500)),
        ("/lines/0/lineDiscount/bps", json!(1500)),
        ("/lines/0/lineDiscount/reason", json!("another box")),
        // As much money, said otherwise.
        ("/lines/0/lineDiscount", less(400)),
        ("/lines/0/quantity", json!(2)),
        ("/lines/0/productId", json!(id("PIE"))),
        ("/lines/1/code", json!(label("20", "04012", 742))),
        ("/lines/1/code", json!(label("21", "04012", 741))),
        ("/lines/1/lineDiscount", less(50)),
        ("/lines/2/lineDiscount", off(1000)),
        ("/cartDiscount", less(1)),
        ("/customerId", Json::Null),
        ("/customerId", json!(id("HQ-000002"))),
    ] {
        others.push(changed(&request, pointer, value));
    }
    for other in others {
        let refusal = scene.sell(other.clone(), [token.clone()]).await;
        assert_eq!(refusal.body["required"], json!([BEYOND]), "{other}: {}", refusal.body);
        refusal.refused(403, "discount_limit_exceeded");
    }
    // A price that is another one now makes another total, though the discount is the same.
    scene.shop.change_product("ROLL", |row| row.price.0 = 101).await;
    scene.sell(request.clone(), [token.clone()]).await.refused(403, "discount_limit_exceeded");
    scene.shop.change_product("ROLL", |row| row.price.0 = 100).await;
    let sold = scene.sell(request, [token]).await.ok(201);
    assert_eq!(sold["saleItems"][0]["discountApprovedBy"], json!(scene.manager));
}

#[tokio::test]
async fn an_approval_does_not_outlive_a_special_that_ends_or_begins() {
    let scene = Scene::set().await;
    let stackable = |code: &str| special(code, "CAKE", |row| row.is_stackable = true);
    specials(&scene.shop, [stackable("DAY")]).await;
    let request = cart(json!([cake(off(1500))]), cash());
    let before = approval(&scene.cashier, &scene.pin, BEYOND, &request).await;
    ends(&scene.shop, "DAY").await;
    scene.sell(request.clone(), [before.clone()]).await.refused(403, "discount_limit_exceeded");
    let between = approval(&scene.cashier, &scene.pin, BEYOND, &request).await;
    specials(
        &scene.shop,
        [special("OTHER", "CAKE", |row| (row.percent_bps, row.is_stackable) = (Some(Bps(2000)), true))],
    )
    .await;
    scene.sell(request.clone(), [before, between]).await.refused(403, "discount_limit_exceeded");
    let now = approval(&scene.cashier, &scene.pin, BEYOND, &request).await;
    assert_eq!(scene.sell(request, [now]).await.ok(201)["totalAmount"], 1360);
}

/// Somebody who may sell and nothing else.
async fn seller(shop: &Shop) -> Person {
    shop.insert::<role::Entity>([role::Model {
        id: ids::role("seller"),
        code: "seller".into(),
        name: "Seller".into(),
        ..role::Model::default()
    }])
    .await;
    let permission_id = ids::permission("pos.sell");
    shop.insert::<role_permission::Entity>([role_permission::Model { role_id: ids::role("seller"), permission_id }])
        .await;
    shop.store.auth.invalidate();
    shop.sign_in("seller").await
}

#[tokio::test]
async fn of_three_people_each_is_noted_for_what_each_approved() {
    let mut scene = Scene::set().await;
    scene.cashier = seller(&scene.shop).await;
    let shop = &scene.shop;
    let mut people_beside = Vec::new();
    for _ in 0..2 {
        people_beside.push(people::person(shop, "store_manager").await);
    }
    let overridden = with(with(line("PIE", 1), "unitPriceOverride", 9000), "overrideReason", "a dent");
    let within = with(line("ROLL", 10), "lineDiscount", off(500));
    let request = cart(json!([overridden, within, cake(off(3000)), line("ROLL", 1)]), cash());
    let asked = [(PRICE, scene.manager, scene.pin.clone())]
        .into_iter()
        .chain([DISCOUNT, BEYOND].into_iter().zip(&people_beside).map(|(code, (who, pin))| (code, *who, pin.clone())));
    let (mut tokens, mut approvers) = (Vec::new(), Vec::new());
    for (permission, who, pin) in asked {
        tokens.push(approval(&scene.cashier, &pin, permission, &request).await);
        approvers.push((permission, who));
    }
    assert_eq!(quoted(&scene.cashier, &request).await["requiredPermissions"], json!([PRICE, DISCOUNT, BEYOND]));
    for (place, (permission, _)) in approvers.iter().enumerate() {
        let mut some = tokens.clone();
        some.remove(place);
        let refusal = scene.sell(request.clone(), some).await;
        assert_eq!((refusal.status, &refusal.body["required"]), (403, &json!([permission])));
    }
    tokens.reverse();
    let sold = scene.sell(request, tokens).await.ok(201);
    let [price, discount, beyond] = [0, 1, 2].map(|place: usize| json!(approvers[place].1));
    let noted: Vec<(&Json, &Json)> = list(&sold, "saleItems")
        .iter()
        .map(|item| (&item["overrideApprovedBy"], &item["discountApprovedBy"]))
        .collect();
    let none = &Json::Null;
    assert_eq!(noted, [(&price, none), (none, &discount), (none, &beyond), (none, none)]);
    let kept: Vec<(&Json, &Json)> =
        list(&sold, "approvals").iter().map(|row| (&row["permission"], &row["approverId"])).collect();
    assert_eq!(kept, [(&json!(PRICE), &price), (&json!(DISCOUNT), &discount), (&json!(BEYOND), &beyond)]);
    for (action, who) in [("sale.price_override", &price), ("sale.discount", &beyond)] {
        let rows = shop.audited(action).await;
        assert_eq!((rows.len(), json!(rows[0].approver_id)), (1, who.clone()), "{action}");
        assert_eq!(rows[0].user_id, Some(scene.cashier.user_id));
    }
}

#[tokio::test]
async fn who_approved_what_is_owed_approved_no_discount() {
    let scene = Scene::set().await;
    let (other, pin) = people::person(&scene.shop, "store_manager").await;
    let on_account = |discount: Json| {
        let cart = cart(json!([with(line("PIE", 1), "lineDiscount", discount)]), json!([{"tenderId": id("ACCOUNT")}]));
        with(cart, "customerId", json!(id("HQ-000001")))
    };
    let owed = async |request: &Json, amount: i64| {
        let hash = quoted(&scene.cashier, request).await["cartHash"].clone();
        let context = json!({"cartHash": hash, "onAccountAmount": amount});
        let body = json!({"permission": BEYOND, "pin": pin, "reason": "pays on Monday", "context": context});
        scene.cashier.post("/pos/approvals", body).await.ok(201)["token"].clone()
    };
    let small = on_account(off(500));
    let token = owed(&small, 9500).await;
    let sold = scene.sell(small, [token]).await.ok(201);
    assert_eq!(sold["saleItems"][0]["discountApprovedBy"], Json::Null);
    let large = on_account(off(2000));
    let tokens = [owed(&large, 8000).await, approval(&scene.cashier, &scene.pin, BEYOND, &large).await];
    scene.sell(large.clone(), [tokens[0].clone()]).await.refused(403, "discount_limit_exceeded");
    scene.sell(large.clone(), [tokens[1].clone()]).await.refused(403, "credit_limit_exceeded");
    let sold = scene.sell(large, tokens).await.ok(201);
    assert_eq!(sold["saleItems"][0]["discountApprovedBy"], json!(scene.manager));
    let approvers = async |action: &str| -> Vec<Option<Uuid>> {
        scene.shop.audited(action).await.into_iter().map(|row| row.approver_id).collect()
    };
    assert_eq!(approvers("sale.credit_override").await, [Some(other), Some(other)]);
    assert_eq!(approvers("sale.discount").await, [None, Some(scene.manager)], "the first one needed nobody");
}

#[tokio::test]
async fn a_quote_names_for_each_thing_what_it_needs_and_whether_an_approval_would_do() {
    let scene = Scene::set().await;
    let overridden = with(with(line("PIE", 1), "unitPriceOverride", 9000), "overrideReason", "a dent");
    let request = cart(json!([overridden, cake(off(3000))]), cash());
    let request = with(request, "cartDiscount", less(10));
    let needs = |quote: &Json| -> Vec<(Json, String, String, bool)> {
        let text = |need: &Json, key: &str| need[key].as_str().expect("a text").to_owned();
        list(quote, "needs")
            .iter()
            .map(|need| {
                assert_eq!(need["approvable"], true);
                (need["lineNo"].clone(), text(need, "deed"), text(need, "permission"), need["held"] == true)
            })
            .collect()
    };
    let expected = |all: bool| {
        [
            (json!(1), "changed_price", PRICE, all),
            (json!(2), "line_discount", DISCOUNT, true),
            (json!(2), "beyond_limit", BEYOND, all),
            (Json::Null, "cart_discount", DISCOUNT, true),
        ]
        .map(|(line, deed, code, held)| (line, deed.to_owned(), code.to_owned(), held))
    };
    assert_eq!(needs(&quoted(&scene.cashier, &request).await), expected(false));
    let manager = scene.shop.sign_in("store_manager").await;
    assert_eq!(needs(&quoted(&manager, &request).await), expected(true));
    scene.shop.change_product("CAKE", |row| row.min_price = Some(tillkeep_model::Cost(Money(1500)))).await;
    let quote = quoted(&scene.cashier, &request).await;
    let below: Vec<_> = needs(&quote).into_iter().filter(|need| need.1 == "below_floor").collect();
    let both = [PRICE, BEYOND].map(|code| (json!(2), "below_floor".to_owned(), code.to_owned(), false));
    assert_eq!(below, both);
}
