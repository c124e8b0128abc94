//! Products: numbers that name one product, references that exist, and coming back from deletion.

use serde_json::json;
use tillkeep_hq::testing::Databases as _;
use tillkeep_storage::entity::{product, product_barcode};
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use uuid::Uuid;

use super::kit::{Kit, id_of};

async fn codes(kit: &Kit) -> Vec<String> {
    let rows = product_barcode::Entity::find().order_by_asc(product_barcode::Column::Code);
    rows.all(kit.hq.db().reader()).await.expect("codes").into_iter().map(|row| row.code).collect()
}

#[tokio::test]
async fn a_number_names_one_product() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let first = kit.product(&admin, "P1", json!({"barcode": "111", "barcodes": ["222", "333"], "plu": "4011"})).await;
    let second = kit.product(&admin, "P2", json!({"barcode": "444"})).await;
    let path = format!("/products/{}", id_of(&second));
    for (body, code, field) in [
        (json!({"sku": "P1"}), "duplicate_sku", "sku"),
        (json!({"plu": "4011"}), "duplicate", "plu"),
        (json!({"barcode": "111"}), "duplicate_barcode", "barcode"),
        (json!({"barcode": "222"}), "duplicate_barcode", "barcode"),
        (json!({"barcodes": ["111"]}), "duplicate_barcode", "barcodes"),
        (json!({"barcodes": ["555", "333"]}), "duplicate_barcode", "barcodes"),
    ] {
        let got = kit.patch(&admin, &path, body).await;
        got.refused(409, code);
        got.names(field);
    }
    let mut third = json!({"sku": "P3", "name": "Third", "price": 1, "barcodes": ["333"]});
    third["departmentId"] = first["departmentId"].clone();
    third["taxGroupId"] = first["taxGroupId"].clone();
    kit.post(&admin, "/products", third).await.refused(409, "duplicate_barcode");
    assert_eq!(codes(&kit).await, ["111", "222", "333", "444"]);
    kit.patch(&admin, &format!("/products/{}", id_of(&first)), json!({"barcodes": ["333"]})).await.is(200);
    kit.patch(&admin, &path, json!({"barcodes": ["222", "222", "444"]})).await.is(200);
    assert_eq!(codes(&kit).await, ["111", "222", "333", "444"]);
}

#[tokio::test]
async fn a_product_is_found_by_any_of_its_barcodes() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let upc = kit.product(&admin, "P1", json!({"barcode": "012345678905", "barcodes": ["AB-7"]})).await;
    let ean = kit.product(&admin, "P2", json!({"barcode": "0036000291452"})).await;
    for (code, product) in [
        ("012345678905", &upc),
        ("0012345678905", &upc),
        ("AB-7", &upc),
        ("0036000291452", &ean),
        ("036000291452", &ean),
    ] {
        let found = kit.get(&admin, &format!("/products/by-barcode/{code}")).await.data();
        assert_eq!(found["sku"], product["sku"], "{code}");
    }
    for code in ["12345678905", "P1", "%00", "%FF", "ab-7"] {
        kit.get(&admin, &format!("/products/by-barcode/{code}")).await.is(404);
    }
}

#[tokio::test]
async fn a_deleted_product_frees_its_numbers_and_comes_back_only_if_they_are_free() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let first = kit.product(&admin, "P1", json!({"barcode": "111", "plu": "4011"})).await;
    let path = format!("/products/{}", id_of(&first));
    kit.delete(&admin, &path).await.is(204);
    kit.get(&admin, &path).await.is(404);
    kit.get(&admin, "/products/by-barcode/111").await.is(404);
    let restore = format!("{path}/restore");
    let second = kit.product(&admin, "P1", json!({})).await;
    kit.call(&admin, "POST", &restore, None).await.refused(409, "duplicate_sku");
    let other = format!("/products/{}", id_of(&second));
    kit.patch(&admin, &other, json!({"sku": "P2", "barcode": "111"})).await.is(200);
    kit.call(&admin, "POST", &restore, None).await.refused(409, "duplicate_barcode");
    kit.patch(&admin, &other, json!({"barcode": null, "plu": "4011"})).await.is(200);
    kit.call(&admin, "POST", &restore, None).await.refused(409, "duplicate");
    kit.patch(&admin, &other, json!({"plu": null})).await.is(200);
    let back = kit.call(&admin, "POST", &restore, None).await.data();
    assert!(back["deletedAt"].is_null());
    assert!(back["syncVersion"].as_i64() > first["syncVersion"].as_i64());
    assert_eq!(kit.get(&admin, "/products/by-barcode/111").await.data()["sku"], "P1");
    assert_eq!(kit.call(&admin, "POST", &restore, None).await.data()["syncVersion"], back["syncVersion"]);
    kit.call(&admin, "POST", &format!("/products/{}/restore", Uuid::now_v7()), None).await.is(404);
}

#[tokio::test]
async fn a_product_from_before_a_rule_comes_back_as_it_was() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let loose = kit.product(&admin, "P1", json!({"isWeighed": true, "quantityDecimals": 3})).await;
    let tx = kit.hq.db().begin().await.expect("begin");
    product::Entity::update_many()
        .col_expr(product::Column::QuantityDecimals, Expr::value(0))
        .filter(product::Column::Id.eq(id_of(&loose)))
        .exec(&tx)
        .await
        .expect("a row from before");
    tx.commit().await.expect("a commit");
    let path = format!("/products/{}", id_of(&loose));
    kit.delete(&admin, &path).await.is(204);
    let back = kit.call(&admin, "POST", &format!("{path}/restore"), None).await.data();
    assert_eq!((&back["isWeighed"], &back["quantityDecimals"]), (&json!(true), &json!(0)));
}

#[tokio::test]
async fn what_a_product_points_to_must_be_there() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let gone = kit.post(&admin, "/departments", json!({"code": "OLD", "name": "Old"})).await.data();
    kit.delete(&admin, &format!("/departments/{}", id_of(&gone))).await.is(204);
    let product = kit.product(&admin, "P1", json!({})).await;
    let path = format!("/products/{}", id_of(&product));
    kit.patch(&admin, &path, json!({"departmentId": gone["id"]})).await.names("departmentId");
    kit.patch(&admin, &path, json!({"taxGroupId": Uuid::now_v7()})).await.names("taxGroupId");
    kit.patch(&admin, &path, json!({"defaultSupplierId": Uuid::now_v7()})).await.names("defaultSupplierId");
    let own = product["departmentId"].as_str().expect("id");
    kit.delete(&admin, &format!("/departments/{own}")).await.refused(409, "in_use");
}

#[tokio::test]
async fn a_product_out_of_bounds_is_refused_by_field() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let product = kit.product(&admin, "P1", json!({"price": 500})).await;
    let path = format!("/products/{}", id_of(&product));
    for (field, value) in [
        ("sku", json!("")),
        ("price", json!(-1)),
        ("price", json!(12.5)),
        ("price", json!(1_000_000_000_001_i64)),
        ("cost", json!(-1)),
        ("minPrice", json!(501)),
        ("quantityDecimals", json!(4)),
        ("quantityDecimals", json!(40_000)),
        ("maxDiscountBps", json!(10_001)),
        ("plu", json!("401")),
        ("plu", json!("40a11")),
        ("barcode", json!("")),
        ("barcode", json!("12 34")),
        ("barcodes", json!("111")),
        ("barcodes", json!(vec!["1"; 51])),
        ("shortName", json!("x".repeat(25))),
        ("productType", json!("thing")),
        ("ageRestriction", json!(-1)),
        ("reorderPoint", json!("0.30000000000000004")),
        ("departmentId", json!(null)),
        ("quantity", json!(1)),
    ] {
        let got = kit.patch(&admin, &path, json!({field: value})).await;
        got.is(422);
        got.names(field);
    }
    kit.patch(&admin, &path, json!({"barcodes": ["1", 111]})).await.names("barcodes[1]");
    kit.patch(&admin, &path, json!({"tags": [{"a": 1}]})).await.names("tags[0]");
    kit.post(&admin, "/products", json!({"sku": "P2"})).await.names("departmentId");
    let weighed = json!({"quantityDecimals": 3, "reorderPoint": 1.237, "tags": ["fresh"], "maxDiscountBps": null});
    let changed = kit.patch(&admin, &path, weighed).await.data();
    assert_eq!(changed["reorderPoint"], 1.237);
}

#[tokio::test]
async fn upc_a_and_ean_13_are_one_code_and_skus_are_compared_without_case_and_blanks() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let first =
        kit.product(&admin, "Stra\u{df}e", json!({"barcode": "012345678905", "barcodes": ["0036000291452"]})).await;
    let second = kit.product(&admin, "P2", json!({"barcode": "444"})).await;
    let path = format!("/products/{}", id_of(&second));
    for (body, code, field) in [
        (json!({"sku": "STRASSE"}), "duplicate_sku", "sku"),
        (json!({"sku": " stra\u{df}e "}), "duplicate_sku", "sku"),
        (json!({"barcode": "0012345678905"}), "duplicate_barcode", "barcode"),
        (json!({"barcodes": ["0012345678905"]}), "duplicate_barcode", "barcodes"),
        (json!({"barcode": "036000291452"}), "duplicate_barcode", "barcode"),
        (json!({"barcodes": ["7", "036000291452"]}), "duplicate_barcode", "barcodes"),
        // Both forms in one product.
        (json!({"barcode": "999999999993", "barcodes": ["0999999999993"]}), "duplicate_barcode", "barcode"),
        (json!({"barcodes": ["999999999993", "0999999999993"]}), "duplicate_barcode", "barcodes"),
    ] {
        let got = kit.patch(&admin, &path, body.clone()).await;
        got.refused(409, code);
        got.names(field);
        let mut new = json!({"sku": "P3", "name": "Third", "price": 1});
        for key in ["departmentId", "taxGroupId"] {
            new[key] = first[key].clone();
        }
        new.as_object_mut().expect("an object").extend(body.as_object().expect("an object").clone());
        kit.post(&admin, "/products", new).await.refused(409, code);
    }
    // A code as it was given stays as it was given, and its own product may change its form.
    let first_path = format!("/products/{}", id_of(&first));
    let changed = kit.patch(&admin, &first_path, json!({"sku": " STRASSE", "barcode": "0012345678905"})).await.data();
    assert_eq!((&changed["sku"], &changed["barcode"]), (&json!(" STRASSE"), &json!("0012345678905")));
    assert!(changed.get("skuFolded").is_none());
}

#[tokio::test]
async fn of_two_products_with_one_code_or_sku_at_once_one_is_stored() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let model = kit.product(&admin, "P0", json!({})).await;
    let new = |sku: &str, barcode: &str| {
        json!({
            "sku": sku, "barcode": barcode, "name": sku, "price": 1,
            "departmentId": model["departmentId"], "taxGroupId": model["taxGroupId"],
        })
    };
    for round in 0..4 {
        for (one, other, code) in [
            (
                new(&format!("A{round}"), &format!("01234567890{round}")),
                new(&format!("B{round}"), &format!("001234567890{round}")),
                "duplicate_barcode",
            ),
            (
                new(&format!("Same{round}"), &format!("a{round}")),
                new(&format!("SAME{round} "), &format!("b{round}")),
                "duplicate_sku",
            ),
        ] {
            let (one, other) = tokio::join!(kit.post(&admin, "/products", one), kit.post(&admin, "/products", other));
            let refused = if one.status == 201 { &other } else { &one };
            assert!(one.status == 201 || other.status == 201, "{} {}", one.text, other.text);
            refused.refused(409, code);
        }
    }
}
