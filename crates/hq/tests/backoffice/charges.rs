//! Charges: what is sold with a product, as a deposit is.

use serde_json::json;
use uuid::Uuid;

use super::kit::{Kit, id_of};

#[tokio::test]
async fn a_charge_is_a_deposit_or_a_service_of_a_fixed_price_without_a_charge_of_its_own() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let deposit = kit.product(&admin, "DEP", json!({"productType": "deposit", "price": 25})).await;
    let cola = kit.product(&admin, "COLA", json!({"chargeProductId": deposit["id"]})).await;
    assert_eq!(cola["chargeProductId"], deposit["id"]);
    let milk = kit.product(&admin, "MILK", json!({})).await;
    let path = format!("/products/{}", id_of(&milk));
    let wrong = [
        kit.product(&admin, "W1", json!({})).await,
        kit.product(&admin, "W2", json!({"productType": "deposit", "isActive": false})).await,
        kit.product(&admin, "W3", json!({"productType": "service", "isOpenPrice": true})).await,
        kit.product(&admin, "W4", json!({"productType": "deposit", "isWeighed": true, "quantityDecimals": 3})).await,
        kit.product(&admin, "W5", json!({"productType": "deposit", "chargeProductId": deposit["id"]})).await,
    ];
    let gone = kit.product(&admin, "GONE", json!({"productType": "deposit"})).await;
    kit.delete(&admin, &format!("/products/{}", id_of(&gone))).await.is(204);
    let ids = wrong.iter().chain([&gone, &milk]).map(|row| row["id"].clone()).chain([json!(Uuid::now_v7())]);
    for id in ids {
        let got = kit.patch(&admin, &path, json!({"chargeProductId": id})).await;
        got.is(422);
        got.names("chargeProductId");
    }
    // No chain from the other side either.
    let other = kit.product(&admin, "OTHER", json!({"productType": "deposit"})).await;
    let chain = json!({"chargeProductId": other["id"]});
    kit.patch(&admin, &format!("/products/{}", id_of(&deposit)), chain).await.names("chargeProductId");
    // What has a charge is sold in whole units.
    let loose = json!({"chargeProductId": deposit["id"], "quantityDecimals": 2});
    kit.patch(&admin, &path, loose).await.names("chargeProductId");
    let path = format!("/products/{}", id_of(&cola));
    kit.patch(&admin, &path, json!({"quantityDecimals": 1})).await.names("chargeProductId");
    kit.patch(&admin, &path, json!({"quantityDecimals": 1, "chargeProductId": null})).await.is(200);
}

#[tokio::test]
async fn a_charge_that_is_in_use_stays_one() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let deposit = kit.product(&admin, "DEP", json!({"productType": "deposit", "price": 25})).await;
    let path = format!("/products/{}", id_of(&deposit));
    let cola = kit.product(&admin, "COLA", json!({"chargeProductId": deposit["id"]})).await;
    for body in [
        json!({"isActive": false}),
        json!({"productType": "standard"}),
        json!({"isOpenPrice": true}),
        json!({"isWeighed": true, "quantityDecimals": 3}),
    ] {
        let got = kit.patch(&admin, &path, body).await;
        got.refused(409, "in_use");
        assert_eq!(got.body["products"][0]["sku"], "COLA", "{}", got.text);
    }
    let got = kit.delete(&admin, &path).await;
    got.refused(409, "in_use");
    assert!(got.text.contains("COLA"), "{}", got.text);
    kit.patch(&admin, &path, json!({"price": 30, "name": "Bottle"})).await.is(200);
    let user = format!("/products/{}", id_of(&cola));
    kit.patch(&admin, &user, json!({"chargeProductId": null})).await.is(200);
    kit.delete(&admin, &path).await.is(204);
    kit.patch(&admin, &user, json!({"chargeProductId": deposit["id"]})).await.names("chargeProductId");
}

#[tokio::test]
async fn only_what_has_no_price_of_its_own_is_named_at_the_till() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let misc = kit.product(&admin, "MISC", json!({"isOpenPrice": true, "namedAtTill": true})).await;
    assert_eq!(misc["namedAtTill"], true);
    let path = format!("/products/{}", id_of(&misc));
    kit.patch(&admin, &path, json!({"isOpenPrice": false})).await.names("namedAtTill");
    kit.patch(&admin, &path, json!({"isOpenPrice": false, "namedAtTill": false})).await.is(200);
    kit.patch(&admin, &path, json!({"namedAtTill": true})).await.names("namedAtTill");
}

#[tokio::test]
async fn a_typed_price_is_at_most_ten_thousand_units_of_the_currency_unless_a_store_says_otherwise() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    for (code, currency, most) in [("A1", "USD", 1_000_000), ("A2", "JPY", 10_000), ("A3", "KWD", 10_000_000)] {
        let made =
            kit.post(&admin, "/stores", json!({"code": code, "name": code, "currencyCode": currency})).await.data();
        assert_eq!((&made["maxOpenPrice"], &made["reasonsRequired"]), (&json!(most), &json!(false)), "{currency}");
    }
    let none = json!({"code": "A4", "name": "A4", "maxOpenPrice": null, "reasonsRequired": true});
    let none = kit.post(&admin, "/stores", none).await.data();
    assert_eq!((&none["maxOpenPrice"], &none["reasonsRequired"]), (&json!(null), &json!(true)));
    let path = format!("/stores/{}", id_of(&none));
    let set = kit.patch(&admin, &path, json!({"maxOpenPrice": 5000})).await.data();
    assert_eq!(set["maxOpenPrice"], 5000);
    kit.patch(&admin, &path, json!({"maxOpenPrice": -1})).await.names("maxOpenPrice");
    let yen = kit.patch(&admin, &path, json!({"currencyCode": "JPY"})).await.data();
    assert_eq!(yen["maxOpenPrice"], 5000, "what somebody set stays");
    let plain = kit.post(&admin, "/stores", json!({"code": "A5", "name": "A5"})).await.data();
    let yen = kit.patch(&admin, &format!("/stores/{}", id_of(&plain)), json!({"currencyCode": "JPY"})).await.data();
    assert_eq!(yen["maxOpenPrice"], 10_000, "what nobody set follows the currency");
}
