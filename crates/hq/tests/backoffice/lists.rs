//! Lists: pages, order, search, filters, and parameters that are none.

use serde_json::json;
use tillkeep_hq::routes;
use tillkeep_hq::testing::Databases as _;
use tillkeep_http::routes::Protection;
use tillkeep_storage::raw;

use super::kit::{Kit, column};

#[tokio::test]
async fn a_list_comes_in_pages_and_says_how_many_there_are() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    for number in 0..5 {
        kit.product(&admin, &format!("P{number}"), json!({"name": format!("N{number}")})).await;
    }
    let got = kit.get(&admin, "/products?pageSize=2&page=3&sort=-sku").await;
    assert_eq!(got.body["pagination"], json!({"page": 3, "pageSize": 2, "total": 5, "totalPages": 3}));
    assert_eq!(column(&got.data(), "sku"), ["P0"]);
    let beyond = kit.get(&admin, "/products?page=9").await;
    assert_eq!(beyond.body["pagination"]["total"], 5);
    assert_eq!(beyond.data(), json!([]));
}

#[tokio::test]
async fn search_and_filters_narrow_a_list() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let other = kit.post(&admin, "/departments", json!({"code": "FRUIT", "name": "Fruit"})).await.data();
    kit.product(&admin, "A1", json!({"name": "Red Apple", "barcode": "4006381333931", "shortName": "Apl"})).await;
    kit.product(&admin, "B1", json!({"name": "100% Juice", "isActive": false})).await;
    kit.product(&admin, "C1", json!({"name": "Pear", "departmentId": other["id"]})).await;
    kit.product(&admin, "D1", json!({"name": "Kiwi", "plu": "4030", "barcodes": ["5012345678900"]})).await;
    let skus = async |query: &str| {
        let rows = kit.get(&admin, &format!("/products?sort=sku&{query}")).await.data();
        column(&rows, "sku").join(" ")
    };
    assert_eq!(skus("search=aPPle").await, "A1");
    assert_eq!(skus("search=638133").await, "A1", "a part of the barcode");
    assert_eq!(skus("search=apl").await, "A1", "the short name");
    assert_eq!(skus("search=4030").await, "D1", "the number on a scale");
    assert_eq!(skus("search=2345678").await, "D1", "a part of another barcode");
    assert_eq!(skus("search=%25").await, "B1", "a percent sign is a letter like any other");
    assert_eq!(skus("search=_").await, "", "and so is an underscore");
    assert_eq!(skus("active=false").await, "B1");
    assert_eq!(skus(&format!("departmentId={}", other["id"].as_str().expect("id"))).await, "C1");
    assert_eq!(skus("updatedSince=2999-01-01T00:00:00Z").await, "");
}

#[tokio::test]
async fn large_and_small_letters_are_one_to_a_search_in_every_alphabet() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    for (sku, name) in [
        ("A1", "ÄRGER über Öl"),
        ("B1", "Чай чёрный"),
        ("C1", "Straße"),
        ("D1", "arger uber ol"),
        ("E1", "ΓΙΩΡΓΟΣ"),
        ("F1", "νίκος"),
    ] {
        kit.product(&admin, sku, json!({"name": name})).await;
    }
    let found = async |by: &str| {
        for (text, found) in [
            ("ärger ÜBER öl", "A1"),
            ("чАЙ", "B1"),
            ("ЧЁР", "B1"),
            ("STRAßE", "C1"),
            ("ARGER", "D1"),
            ("γιωργος", "E1"),
            ("γιωργοσ", "E1"),
            ("ΝΊΚΟΣ", "F1"),
        ] {
            let rows = kit.get(&admin, &format!("/products?search={}", url_encoded(text))).await.data();
            assert_eq!(column(&rows, "sku"), [found], "{text} by {by}");
        }
    };
    found("the texts").await;
    // Without one of them the columns are looked into.
    let tx = kit.hq.db().begin().await.expect("a transaction");
    let sql = "UPDATE products SET search_text = NULL WHERE sku = 'A1'";
    assert_eq!(raw::execute(&tx, sql, []).await.expect("a statement"), 1);
    tx.commit().await.expect("a commit");
    found("the columns").await;
}

#[tokio::test]
async fn what_is_found_follows_each_change_of_a_row_and_needs_no_text_that_is_kept_of_it() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let tea = kit.product(&admin, "T1", json!({"name": "ЧАЙ"})).await;
    kit.product(&admin, "T2", json!({"name": "Milk"})).await;
    let skus = async |text: &str| {
        let rows = kit.get(&admin, &format!("/products?search={}", url_encoded(text))).await.data();
        column(&rows, "sku").join(" ")
    };
    assert_eq!((skus("чай").await.as_str(), skus("КОФЕ").await.as_str()), ("T1", ""));
    let path = format!("/products/{}", tea["id"].as_str().expect("an id"));
    kit.patch(&admin, &path, json!({"name": "Кофе"})).await.is(200);
    assert_eq!((skus("чай").await.as_str(), skus("КОФЕ").await.as_str()), ("", "T1"));
    assert_eq!(skus("t1\nкофе").await, "", "nothing is found across two columns");
    let tx = kit.hq.db().begin().await.expect("a transaction");
    let sql = "UPDATE products SET search_text = NULL WHERE sku = 'T1'";
    assert_eq!(raw::execute(&tx, sql, []).await.expect("a statement"), 1);
    tx.commit().await.expect("a commit");
    assert_eq!((skus("кОФЕ").await.as_str(), skus("mil").await.as_str()), ("T1", "T2"));
    let csv = kit.get(&admin, &format!("/products?format=csv&search={}", url_encoded("КОФЕ"))).await;
    assert!(csv.text.contains("T1") && !csv.text.contains("T2"), "{}", csv.text);
}

fn url_encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect::<Vec<_>>().concat()
}

#[tokio::test]
async fn what_is_missing_sorts_before_everything() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    for (name, company) in [("1", json!("Zoe Ltd")), ("2", json!(null)), ("3", json!("Ada Ltd"))] {
        kit.post(&admin, "/customers", json!({"lastName": name, "companyName": company})).await.is(201);
    }
    for (sort, order) in [("companyName", ["2", "3", "1"]), ("-companyName", ["1", "3", "2"])] {
        let rows = kit.get(&admin, &format!("/customers?sort={sort}")).await.data();
        assert_eq!(column(&rows, "lastName"), order, "{sort}");
    }
}

#[tokio::test]
async fn an_unknown_parameter_returns_nothing_but_its_name() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    // What is a list, and what is not: those come without pagination.
    for route in routes::table(&[]).1 {
        let listed = route.method == "GET" && !route.path.contains('{') && !route.path.starts_with("/sync");
        if !listed || !matches!(route.protection, Protection::User(_)) {
            continue;
        }
        if kit.get(&admin, route.path).await.body["pagination"].is_null() {
            continue;
        }
        let with = async |query: &str| kit.get(&admin, &format!("{}?{query}", route.path)).await;
        let unknown = with("isActve=true").await;
        unknown.refused(422, "unknown_parameter");
        unknown.names("isActve");
        for (field, value) in [
            ("page", "0"),
            ("page", "x"),
            ("pageSize", "201"),
            ("pageSize", "-1"),
            ("sort", "pinHash"),
            ("includeDeleted", "perhaps"),
            ("updatedSince", "yesterday"),
            ("updatedSince", "%00"),
        ] {
            with(&format!("{field}={value}")).await.names(field);
        }
    }
}

#[tokio::test]
async fn a_filter_value_that_cannot_be_is_refused() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    for (path, field) in [
        ("/products?departmentId=7", "departmentId"),
        ("/products?search=%00", "search"),
        ("/sales?status=%00", "status"),
        ("/sales?businessDateFrom=2026-02-30", "businessDateFrom"),
        ("/sales?businessDateTo=yesterday", "businessDateTo"),
        ("/sales?storeId=S01", "storeId"),
        ("/sales?active=true", "active"),
        ("/users?storeId=S01", "storeId"),
        ("/tax-groups?isDefault=1", "isDefault"),
        ("/store-prices?overriddenOnly=si", "overriddenOnly"),
        ("/store-prices?search=%00", "search"),
    ] {
        kit.get(&admin, path).await.names(field);
    }
}

#[tokio::test]
async fn a_wrong_uuid_in_a_query_of_people_is_422_that_names_it_on_every_route() {
    const DESCRIPTION: &str = include_str!("../../../../docs/generated/openapi-hq.json");
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let description: serde_json::Value = serde_json::from_str(DESCRIPTION).expect("the description");
    let mut tried = 0;
    for (path, operations) in description["paths"].as_object().expect("paths") {
        let ask = &operations["get"];
        let Some(path) = path.strip_prefix("/api/v1").filter(|path| !path.contains('{')) else { continue };
        // What stores ask has its own rules, and a stream begins before its query is read.
        if ask["security"][0].get("userToken").is_none() || path.ends_with("/stream") {
            continue;
        }
        for parameter in ask["parameters"].as_array().into_iter().flatten() {
            let name = parameter["name"].as_str().expect("a name");
            if parameter["in"] == "query" && parameter["schema"]["format"] == "uuid" {
                let got = kit.get(&admin, &format!("{path}?{name}=nonsense")).await;
                got.refused(422, "validation");
                got.names(name);
                tried += 1;
            }
        }
    }
    assert!(tried > 20, "{tried}");
    kit.get(&admin, "/permissions/explain?code=users.view").await.refused(422, "validation");
}
