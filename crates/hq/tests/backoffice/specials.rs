//! Specials: what may be entered, what is warned of, and which are in force.

use serde_json::{Value as Json, json};
use tillkeep_model::{Instant, ids};
use uuid::Uuid;

use super::kit::{Got, Kit, Person, general, id_of};

fn with(mut body: Json, more: &Json) -> Json {
    for (key, value) in more.as_object().expect("an object") {
        body[key] = value.clone();
    }
    body
}

/// A special on everything of the seeded department.
fn special(code: &str, more: &Json) -> Json {
    with(json!({"code": code, "name": format!("Special {code}"), "departmentId": general()}), more)
}

fn percent(bps: i64) -> Json {
    json!({"type": "percent_off", "percentBps": bps})
}

fn bundle(more: &Json) -> Json {
    with(json!({"type": "multi_buy", "bundleQuantity": 3, "bundlePrice": 1000}), more)
}

async fn make(kit: &Kit, who: &Person, code: &str, more: &Json) -> Json {
    kit.post(who, "/specials", special(code, more)).await.data()
}

#[track_caller]
fn refused(got: &Got, field: &str) {
    got.is(422);
    got.names(field);
}

#[tokio::test]
async fn a_special_has_exactly_the_figures_of_its_type() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let figures = [
        ("percentBps", json!(1000)),
        ("amount", json!(50)),
        ("fixedPrice", json!(850)),
        ("buyQuantity", json!(2)),
        ("getQuantity", json!(1)),
        ("getDiscountBps", json!(10_000)),
        ("bundleQuantity", json!(3)),
        ("bundlePrice", json!(1000)),
    ];
    let types: [(&str, &[&str]); 5] = [
        ("percent_off", &["percentBps"]),
        ("amount_off", &["amount"]),
        ("fixed_price", &["fixedPrice"]),
        ("buy_x_get_y", &["buyQuantity", "getQuantity", "getDiscountBps"]),
        ("multi_buy", &["bundleQuantity", "bundlePrice"]),
    ];
    for (kind, own) in types {
        let whole = || {
            let of = figures.iter().filter(|(field, _)| own.contains(field));
            of.fold(special(kind, &json!({"type": kind})), |body, (field, value)| with(body, &json!({*field: value})))
        };
        for (field, value) in &figures {
            let mut body = whole();
            if own.contains(field) {
                body.as_object_mut().expect("an object").remove(*field);
            } else {
                body[field] = value.clone();
            }
            refused(&kit.post(&admin, "/specials", body).await, field);
        }
        let made = kit.post(&admin, "/specials", whole()).await.data();
        assert_eq!(
            (&made["daysOfWeek"], &made["isActive"], &made["isStackable"]),
            (&json!(127), &json!(true), &json!(false))
        );
        refused(&kit.patch(&admin, &format!("/specials/{}", id_of(&made)), json!({own[0]: null})).await, own[0]);
    }
    for (more, field) in [
        (percent(0), "percentBps"),
        (percent(10_001), "percentBps"),
        (json!({"type": "amount_off", "amount": 0}), "amount"),
        (json!({"type": "fixed_price", "fixedPrice": -1}), "fixedPrice"),
        (json!({"type": "multi_buy", "bundleQuantity": 1, "bundlePrice": 5}), "bundleQuantity"),
        (json!({"type": "buy_x_get_y", "buyQuantity": 0, "getQuantity": 1, "getDiscountBps": 1}), "buyQuantity"),
        (json!({"type": "cashback", "amount": 5}), "type"),
        (json!({"percentBps": 5}), "type"),
        (with(percent(1), &json!({"maxPerSale": 0})), "maxPerSale"),
        (with(percent(1), &json!({"mixGroup": "A"})), "mixGroup"),
        (bundle(&json!({"mixGroup": " A"})), "mixGroup"),
    ] {
        refused(&kit.post(&admin, "/specials", special("X", &more)).await, field);
    }
}

#[tokio::test]
async fn another_type_takes_the_figures_of_the_former_one_away() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let made = make(&kit, &admin, "A", &percent(1000)).await;
    let path = format!("/specials/{}", id_of(&made));
    let now = kit.patch(&admin, &path, json!({"type": "amount_off", "amount": 50})).await.data();
    assert_eq!((&now["percentBps"], &now["amount"]), (&json!(null), &json!(50)));
    let both = json!({"type": "percent_off", "percentBps": 5, "amount": 50});
    refused(&kit.patch(&admin, &path, both).await, "amount");
    refused(&kit.patch(&admin, &path, json!({"type": "multi_buy"})).await, "bundleQuantity");
}

#[tokio::test]
async fn a_special_is_on_one_product_or_one_department_that_is_there_and_can_have_it() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let tea = kit.product(&admin, "TEA", json!({})).await;
    let on = |more: Json| with(json!({"code": "A", "name": "A", "type": "percent_off", "percentBps": 1000}), &more);
    refused(&kit.post(&admin, "/specials", on(json!({}))).await, "productId");
    let both = on(json!({"productId": tea["id"], "departmentId": general()}));
    refused(&kit.post(&admin, "/specials", both).await, "departmentId");
    for field in ["productId", "departmentId", "storeId"] {
        let body = with(on(json!({"productId": tea["id"]})), &json!({field: Uuid::now_v7()}));
        refused(&kit.post(&admin, "/specials", body).await, field);
    }
    let open = kit.product(&admin, "OPEN", json!({"isOpenPrice": true})).await;
    let deposit = kit.product(&admin, "DEP", json!({"productType": "deposit"})).await;
    kit.product(&admin, "COLA", json!({"chargeProductId": deposit["id"]})).await;
    for product in [&open, &deposit] {
        refused(&kit.post(&admin, "/specials", on(json!({"productId": product["id"]}))).await, "productId");
    }
    let nuts = kit.product(&admin, "NUTS", json!({"isWeighed": true, "quantityDecimals": 3})).await;
    let group = json!({"code": "B", "name": "B", "productId": nuts["id"]});
    refused(&kit.post(&admin, "/specials", bundle(&group)).await, "type");
    kit.post(&admin, "/specials", on(json!({"productId": nuts["id"]}))).await.is(201);
    kit.post(&admin, "/specials", on(json!({"productId": tea["id"]}))).await.refused(409, "duplicate_code");
    let made =
        kit.post(&admin, "/specials", with(on(json!({"productId": tea["id"]})), &json!({"code": "C"}))).await.data();
    let path = format!("/specials/{}", id_of(&made));
    refused(&kit.patch(&admin, &path, json!({"departmentId": general()})).await, "departmentId");
    kit.patch(&admin, &path, json!({"departmentId": general(), "productId": null})).await.is(200);
}

#[tokio::test]
async fn a_window_begins_before_it_ends_and_has_both_times_or_none() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    for (window, field) in [
        (json!({"startDate": "2026-11-21", "endDate": "2026-11-20"}), "endDate"),
        (json!({"startDate": "2026-02-30"}), "startDate"),
        (json!({"endDate": "21.11.2026"}), "endDate"),
        (json!({"startTime": "16:00"}), "endTime"),
        (json!({"endTime": "18:00"}), "startTime"),
        (json!({"startTime": "16:00", "endTime": "24:00"}), "endTime"),
        (json!({"startTime": "4:00", "endTime": "05:00"}), "startTime"),
        (json!({"daysOfWeek": 0}), "daysOfWeek"),
        (json!({"daysOfWeek": 128}), "daysOfWeek"),
    ] {
        refused(&kit.post(&admin, "/specials", special("X", &with(percent(1000), &window))).await, field);
    }
    let night = json!({"startDate": "2026-11-20", "endDate": "2026-11-20", "startTime": "22:00", "endTime": "02:00"});
    let made = make(&kit, &admin, "NIGHT", &with(percent(1000), &night)).await;
    let path = format!("/specials/{}", id_of(&made));
    refused(&kit.patch(&admin, &path, json!({"endDate": "2026-11-19"})).await, "endDate");
    refused(&kit.patch(&admin, &path, json!({"endTime": null})).await, "endTime");
    kit.patch(&admin, &path, json!({"startTime": null, "endTime": null})).await.is(200);
}

#[tokio::test]
async fn the_active_specials_of_a_mix_group_are_one_deal() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let tea = kit.product(&admin, "TEA", json!({})).await;
    let first = make(&kit, &admin, "A", &bundle(&json!({"mixGroup": "HOT"}))).await;
    let on_tea = |code: &str, more: &Json| {
        with(special(code, &bundle(&json!({"mixGroup": "HOT", "departmentId": null, "productId": tea["id"]}))), more)
    };
    for (more, field) in [
        (json!({"bundlePrice": 900}), "bundlePrice"),
        (json!({"bundleQuantity": 4}), "bundleQuantity"),
        (json!({"maxPerSale": 2}), "maxPerSale"),
        (json!({"priority": 5}), "priority"),
        (json!({"isStackable": true}), "isStackable"),
        (json!({"requiresCustomer": true}), "requiresCustomer"),
        (
            json!({
                "type": "buy_x_get_y", "bundleQuantity": null, "bundlePrice": null, "buyQuantity": 2, "getQuantity": 1,
                "getDiscountBps": 10_000,
            }),
            "type",
        ),
    ] {
        refused(&kit.post(&admin, "/specials", on_tea("B", &more)).await, field);
    }
    let second = kit.post(&admin, "/specials", on_tea("B", &json!({"startDate": "2026-01-01"}))).await.data();
    let other = json!({"mixGroup": "COLD", "bundlePrice": 900});
    kit.post(&admin, "/specials", on_tea("C", &other)).await.is(201);
    let [first, second] = [&first, &second].map(|row| format!("/specials/{}", id_of(row)));
    refused(&kit.patch(&admin, &second, json!({"bundlePrice": 900})).await, "bundlePrice");
    kit.patch(&admin, &second, json!({"name": "What is no part of the deal"})).await.is(200);
    // One after the other, with the rest of the group switched off.
    kit.call(&admin, "POST", &format!("{first}/deactivate"), None).await.is(200);
    kit.patch(&admin, &second, json!({"bundlePrice": 900})).await.is(200);
    refused(&kit.patch(&admin, &first, json!({"isActive": true})).await, "bundlePrice");
    kit.patch(&admin, &first, json!({"isActive": true, "bundlePrice": 900})).await.is(200);
}

#[tokio::test]
async fn a_price_below_the_lowest_of_a_product_is_taken_only_when_it_is_meant() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    let tea = kit.product(&admin, "TEA", json!({"price": 1000, "minPrice": 800})).await;
    kit.product(&admin, "FREE", json!({"price": 1000})).await;
    kit.put(&admin, &format!("/store-prices/{two}/{}", id_of(&tea)), json!({"price": 850})).await.is(200);
    let on_tea = |more: &Json| with(json!({"departmentId": null, "productId": tea["id"], "storeId": one}), more);
    let off = |more: Json| with(json!({"type": "amount_off"}), &more);
    for (more, field) in [
        (on_tea(&percent(2010)), "percentBps"),
        (on_tea(&off(json!({"amount": 201}))), "amount"),
        (on_tea(&json!({"type": "fixed_price", "fixedPrice": 799})), "fixedPrice"),
        // Each of three costs 3.33 then; each of two half of its price.
        (on_tea(&json!({"type": "multi_buy", "bundleQuantity": 3, "bundlePrice": 1000})), "bundleQuantity"),
        (
            on_tea(&json!({"type": "buy_x_get_y", "buyQuantity": 1, "getQuantity": 1, "getDiscountBps": 10_000})),
            "buyQuantity",
        ),
        // In a store with a price of its own, or in some store.
        (with(on_tea(&off(json!({"amount": 51}))), &json!({"storeId": two})), "amount"),
        (with(on_tea(&off(json!({"amount": 51}))), &json!({"storeId": null})), "amount"),
        (off(json!({"amount": 51})), "amount"),
    ] {
        let got = kit.post(&admin, "/specials", special("X", &more)).await;
        got.refused(422, "below_min_price");
        got.names(field);
        assert!(got.text.contains("TEA") && got.text.contains("force"), "{}", got.text);
    }
    for (code, more) in [
        ("A", on_tea(&percent(2000))),
        ("B", on_tea(&off(json!({"amount": 200})))),
        ("C", with(on_tea(&off(json!({"amount": 50}))), &json!({"storeId": null}))),
        ("D", on_tea(&json!({"type": "fixed_price", "fixedPrice": 800}))),
        ("E", on_tea(&bundle(&json!({"bundlePrice": 2400})))),
    ] {
        make(&kit, &admin, code, &more).await;
    }
    let meant = with(on_tea(&percent(5000)), &json!({"force": true}));
    let meant = make(&kit, &admin, "F", &meant).await;
    assert_eq!(meant.get("force"), None);
    let path = format!("/specials/{}", id_of(&meant));
    kit.patch(&admin, &path, json!({"name": "What was meant once is not asked again"})).await.is(200);
    kit.patch(&admin, &path, json!({"percentBps": 6000})).await.refused(422, "below_min_price");
    kit.patch(&admin, &path, json!({"percentBps": 6000, "force": true})).await.is(200);
}

#[tokio::test]
async fn lists_show_the_specials_of_a_store_of_a_product_and_of_a_moment() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let one =
        kit.post(&admin, "/stores", json!({"code": "NY", "name": "NY", "timezone": "America/New_York"})).await.data();
    let (one, two) = (id_of(&one), kit.store("S02").await);
    let tea = kit.product(&admin, "TEA", json!({})).await;
    let own = kit.post(&admin, "/departments", json!({"code": "OWN", "name": "Own"})).await.data();
    let milk = kit.product(&admin, "MILK", json!({"departmentId": own["id"]})).await;
    let on_tea = json!({"departmentId": null, "productId": tea["id"], "priority": 7});
    let evening = json!({"startTime": "16:00", "endTime": "18:00", "storeId": one});
    make(&kit, &admin, "ALL", &percent(1000)).await;
    make(&kit, &admin, "TEA", &with(percent(1000), &on_tea)).await;
    make(&kit, &admin, "EVENING", &with(percent(1000), &evening)).await;
    make(&kit, &admin, "TWO", &with(percent(1000), &json!({"storeId": two}))).await;
    make(&kit, &admin, "OFF", &with(percent(1000), &json!({"isActive": false}))).await;
    make(&kit, &admin, "PAST", &with(percent(1000), &json!({"endDate": "2026-11-19"}))).await;
    let gone = make(&kit, &admin, "GONE", &percent(1000)).await;
    kit.delete(&admin, &format!("/specials/{}", id_of(&gone))).await.is(204);
    let codes = async |path: String| {
        let got = kit.get(&admin, &path).await.data();
        let codes = got.as_array().expect("a list").iter().map(|row| row["code"].as_str().expect("a code").to_owned());
        codes.collect::<Vec<String>>()
    };
    // Five in the afternoon of a Friday in New York, and ten in the evening in London.
    let at = "2026-11-20T22:00:00Z";
    assert_eq!(codes("/specials?sort=code".into()).await, ["ALL", "EVENING", "OFF", "PAST", "TEA", "TWO"]);
    assert_eq!(codes("/specials?sort=code&active=false".into()).await, ["OFF"]);
    assert_eq!(codes("/specials?sort=code&type=multi_buy".into()).await, [""; 0]);
    let of_two = codes(format!("/specials?sort=code&storeId={two}")).await;
    assert_eq!(of_two, ["ALL", "OFF", "PAST", "TEA", "TWO"]);
    let for_tea = codes(format!("/specials?sort=code&productId={}&active=true", id_of(&tea))).await;
    assert_eq!(for_tea, ["ALL", "EVENING", "PAST", "TEA", "TWO"]);
    assert_eq!(codes(format!("/specials?productId={}", id_of(&milk))).await, [""; 0]);
    let then = codes(format!("/specials?sort=code&storeId={one}&at={at}")).await;
    assert_eq!(then, ["ALL", "EVENING", "TEA"], "by the clock of that store");
    let somewhere = codes(format!("/specials?sort=code&active=true&at={at}")).await;
    assert_eq!(somewhere, ["ALL", "EVENING", "TEA", "TWO"], "each by the clock of its store");
    let nowhere = codes("/specials?sort=code&at=2026-11-20T17:00:00Z".to_owned()).await;
    assert_eq!(nowhere, ["ALL", "TEA", "TWO"], "five in the afternoon is not yet in New York");
    let page = kit.get(&admin, &format!("/specials?sort=code&storeId={one}&at={at}&pageSize=2&page=2")).await;
    assert_eq!((&page.body["data"][0]["code"], &page.body["pagination"]["total"]), (&json!("TEA"), &json!(3)));
    let active = codes(format!("/specials/active?storeId={one}&at={at}")).await;
    assert_eq!(active, ["TEA", "ALL", "EVENING"], "the highest priority first");
    let later = codes(format!("/specials/active?storeId={one}&at=2026-11-20T23:00:00Z")).await;
    assert_eq!(later, ["TEA", "ALL"]);
    assert!(codes(format!("/specials/active?storeId={one}")).await.len() >= 2, "now");
    for (path, field) in [
        ("/specials/active".to_owned(), "storeId"),
        (format!("/specials/active?storeId={}", Uuid::now_v7()), "storeId"),
        (format!("/specials?storeId={one}&at=noon"), "at"),
        (format!("/specials?productId={}", Uuid::now_v7()), "productId"),
    ] {
        refused(&kit.get(&admin, &path).await, field);
    }
    let clerk = kit.person("clerk", &[("store_manager", Some(two))]).await;
    kit.get(&clerk, &format!("/specials/active?storeId={two}&at={at}")).await.is(200);
    kit.get(&clerk, &format!("/specials/active?storeId={one}&at={at}")).await.refused(403, "scope");
    let viewer =
        json!({"id": ids::role("viewer"), "code": "viewer", "name": "Viewer", "permissions": ["specials.view"]});
    kit.post(&admin, "/roles", viewer).await.is(201);
    let viewer = kit.person("viewer", &[("viewer", Some(two))]).await;
    let theirs = kit.get(&viewer, &format!("/specials?sort=code&at={at}")).await.data();
    let theirs: Vec<_> = theirs.as_array().expect("a list").iter().map(|row| row["code"].as_str()).collect();
    assert_eq!(theirs, [Some("ALL"), Some("TEA"), Some("TWO")], "of the store that they see");
}

#[tokio::test]
async fn a_special_that_is_ended_is_sent_to_stores_and_so_is_one_that_is_deleted() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let made = make(&kit, &admin, "A", &percent(1000)).await;
    let path = format!("/specials/{}", id_of(&made));
    let ended = kit.call(&admin, "POST", &format!("{path}/deactivate"), None).await.data();
    assert_eq!(ended["isActive"], false);
    assert!(ended["syncVersion"].as_i64() > made["syncVersion"].as_i64());
    let again = kit.call(&admin, "POST", &format!("{path}/deactivate"), None).await.data();
    assert_eq!(again["syncVersion"], ended["syncVersion"], "ended is ended");
    kit.delete(&admin, &path).await.is(204);
    let listed = kit.get(&admin, "/specials?includeDeleted=true").await.data();
    assert!(listed[0]["syncVersion"].as_i64() > ended["syncVersion"].as_i64());
    assert!(Instant::parse(listed[0]["deletedAt"].as_str().expect("a time")).is_some());
    kit.call(&admin, "POST", &format!("{path}/deactivate"), None).await.is(404);
    kit.patch(&admin, &path, json!({"name": "B"})).await.is(404);
}
