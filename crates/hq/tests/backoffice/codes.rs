//! Codes of products: those of packs beside those of pieces, and what looks misread.

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_storage::entity::product_barcode;
use tillkeep_storage::sea_orm::{EntityTrait, QueryOrder};

use super::kit::{Kit, general, id_of, untaxed};

fn tea(more: &Json) -> Json {
    let mut body = json!({
        "sku": "TEA", "name": "Tea", "price": 1000, "departmentId": general(), "taxGroupId": untaxed(),
    });
    for (key, value) in more.as_object().expect("an object") {
        body[key] = value.clone();
    }
    body
}

async fn indexed(kit: &Kit) -> Vec<String> {
    let rows = product_barcode::Entity::find().order_by_asc(product_barcode::Column::Code);
    rows.all(kit.hq.db().reader()).await.expect("codes").into_iter().map(|row| row.code).collect()
}

#[tokio::test]
async fn a_code_of_a_pack_is_sent_among_the_others_and_stands_apart() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let case = json!({"code": "CASE", "quantity": 6, "price": 5400});
    let tray = json!({"code": "TRAY", "quantity": 24});
    let body = tea(&json!({"barcode": "ONE", "barcodes": ["TWO", case], "packs": [tray]}));
    let made = kit.post(&admin, "/products", body).await.data();
    assert_eq!((&made["barcodes"], &made["packs"]), (&json!(["TWO"]), &json!([tray, case])));
    assert_eq!(indexed(&kit).await, ["CASE", "ONE", "TRAY", "TWO"]);
    assert_eq!(kit.get(&admin, "/products/by-barcode/CASE").await.data()["sku"], "TEA");
    let path = format!("/products/{}", id_of(&made));
    let kept = kit.patch(&admin, &path, json!({"barcodes": ["THREE"]})).await.data();
    assert_eq!(
        kept["packs"],
        json!([tray, case]),
        "what an answer shows as barcodes takes no pack away when it is sent again"
    );
    let other = kit.patch(&admin, &path, json!({"barcodes": ["THREE", case]})).await.data();
    assert_eq!((&other["barcodes"], &other["packs"]), (&json!(["THREE"]), &json!([case])));
    assert_eq!(indexed(&kit).await, ["CASE", "ONE", "THREE"]);
    kit.delete(&admin, &path).await.is(204);
    assert!(indexed(&kit).await.is_empty());
    kit.call(&admin, "POST", &format!("{path}/restore"), None).await.is(200);
    assert_eq!(indexed(&kit).await, ["CASE", "ONE", "THREE"]);
}

#[tokio::test]
async fn a_code_of_a_pack_is_no_other_code_of_any_product() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.product(
        &admin,
        "MILK",
        json!({"barcode": "MAIN", "barcodes": ["ALSO"], "packs": [{"code": "CRATE", "quantity": 12}]}),
    )
    .await;
    let made = kit.post(&admin, "/products", tea(&json!({"barcode": "0036000291452"}))).await.data();
    let path = format!("/products/{}", id_of(&made));
    for (body, field) in [
        (json!({"packs": [{"code": "MAIN", "quantity": 6}]}), "packs"),
        (json!({"packs": [{"code": "ALSO", "quantity": 6}]}), "packs"),
        (json!({"packs": [{"code": "CRATE", "quantity": 6}]}), "packs"),
        (json!({"barcodes": ["CRATE"]}), "barcodes"),
        (json!({"barcode": "CRATE"}), "barcode"),
        // Its own, in another form and in the same.
        (json!({"packs": [{"code": "036000291452", "quantity": 6}]}), "packs"),
        (json!({"packs": [{"code": "A", "quantity": 6}, {"code": "A", "quantity": 12}]}), "packs"),
        (json!({"barcodes": ["A"], "packs": [{"code": "A", "quantity": 6}]}), "packs"),
    ] {
        let got = kit.patch(&admin, &path, body).await;
        got.refused(409, "duplicate_barcode");
        got.names(field);
    }
    for (body, field) in [
        (json!({"packs": [{"code": "A", "quantity": 0}]}), "packs[0].quantity"),
        (json!({"packs": [{"code": "A", "quantity": 1.5}]}), "packs[0].quantity"),
        (json!({"packs": [{"code": "A"}]}), "packs[0].quantity"),
        (json!({"packs": [{"code": "A B", "quantity": 6}]}), "packs[0].code"),
        (json!({"packs": [{"code": "A", "quantity": 6, "price": -1}]}), "packs[0].price"),
        (json!({"packs": [{"code": "A", "quantity": 6, "size": 1}]}), "packs[0].size"),
        (json!({"barcodes": [{"quantity": 6}]}), "packs[0].code"),
        (json!({"packs": {}}), "packs"),
        (json!({"packs": 7, "barcodes": [{"code": "A", "quantity": 6}]}), "packs"),
    ] {
        let got = kit.patch(&admin, &path, body).await;
        got.is(422);
        got.names(field);
    }
}

#[tokio::test]
async fn a_wrong_check_digit_is_a_warning_for_whoever_asks_to_be_warned() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    for (body, field) in [
        (json!({"barcode": "5012345678901"}), "barcode"),
        (json!({"barcodes": ["AB", "036000291453"]}), "barcodes[1]"),
        (json!({"packs": [{"code": "10012345678901", "quantity": 6}]}), "packs[0].code"),
        (json!({"barcodes": [{"code": "96385075", "quantity": 6}]}), "packs[0].code"),
    ] {
        let mut asked = body;
        asked["force"] = json!(false);
        let got = kit.post(&admin, "/products", tea(&asked)).await;
        got.refused(422, "bad_check_digit");
        got.names(field);
        assert!(got.text.contains("force"), "{}", got.text);
    }
    let body = tea(&json!({"barcode": "5012345678901"}));
    let made = kit.post(&admin, "/products", body).await.data();
    let path = format!("/products/{}", id_of(&made));
    kit.patch(&admin, &path, json!({"name": "What is there already is not asked about again", "force": false}))
        .await
        .is(200);
    kit.patch(&admin, &path, json!({"barcode": null, "barcodes": ["5012345678901"], "force": false})).await.is(200);
    kit.patch(&admin, &path, json!({"barcode": "4006381333932", "force": false})).await.refused(422, "bad_check_digit");
    kit.patch(&admin, &path, json!({"barcode": "4006381333932", "force": true})).await.is(200);
    // Short numbers, and codes of the shop's own, have none.
    kit.patch(&admin, &path, json!({"barcodes": ["111", "4011", "1234567890", "TEA-12345678"], "force": false}))
        .await
        .is(200);
    kit.patch(&admin, &path, json!({"force": "yes"})).await.names("force");
}
