//! Lists that grow without end, walked by the cursors of their answers.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value as Json, json};

use tillkeep_hq::backoffice::plain::Rules;
use tillkeep_hq::testing::Databases as _;
use tillkeep_http::resource::{Parts, Query};
use tillkeep_storage::entity::customer;
use tillkeep_storage::raw::sea_orm::EntityTrait;

use super::kit::{Got, Kit, Person};

/// Customers of whom some share a name, and some have no company.
async fn crowd(kit: &Kit, admin: &Person) {
    for (number, (last, company)) in [
        ("Ash", None),
        ("Birch", Some("Zed")),
        ("Ash", Some("Arc")),
        ("Cedar", None),
        ("Ash", Some("Zed")),
        ("Elm", None),
        ("Birch", Some("Arc")),
    ]
    .into_iter()
    .enumerate()
    {
        let customer = json!({"firstName": format!("N{number}"), "lastName": last, "companyName": company});
        kit.post(admin, "/customers", customer).await.is(201);
    }
}

/// Of text, of what may be missing, of instants, and in two directions at once.
const SORTS: [&str; 7] = [
    "companyName",
    "-companyName",
    "lastName,-companyName",
    "-companyName,firstName",
    "-createdAt",
    "customerNumber",
    "-lastName",
];

fn of(got: &Got, key: &str) -> Vec<String> {
    let rows = got.body["data"].as_array().into_iter().flatten();
    rows.map(|row| row[key].as_str().expect("a text").to_owned()).collect()
}

fn next(got: &Got) -> Option<String> {
    got.body["pagination"]["nextCursor"].as_str().map(str::to_owned)
}

/// What is asked for page by page, and by cursors of `size` rows, has the same `key` in each row.
async fn walks(kit: &Kit, admin: &Person, path: &str, sort: &str, key: &str, size: usize) {
    let asked = kit.get(admin, &format!("{path}?sort={sort}&pageSize=200")).await;
    let keys = |got: &Got| -> Vec<Json> {
        got.body["data"].as_array().into_iter().flatten().map(|row| row[key].clone()).collect()
    };
    let all = keys(&asked);
    assert!(all.len() >= 7, "{path}: {all:?}");
    let list = format!("{path}?sort={sort}&pageSize={size}");
    let (mut walked, mut got) = (Vec::new(), kit.get(admin, &list).await);
    for page in 1.. {
        got.is(200);
        assert_eq!(got.body["pagination"]["page"], page, "{sort}");
        assert_eq!(got.body["pagination"]["total"], all.len(), "{sort}: of a page by cursor too");
        walked.extend(keys(&got));
        let Some(cursor) = next(&got) else { break };
        got = kit.get(admin, &format!("{list}&cursor={cursor}")).await;
    }
    assert_eq!(walked, all, "{path} by {sort}, {size} a page: none empty at the end, none twice");
}

#[tokio::test]
async fn a_list_walked_by_cursors_has_the_rows_of_its_pages() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    crowd(&kit, &admin).await;
    for (number, price) in [199, 199, 5, 0, 199, 5, 1].into_iter().enumerate() {
        kit.product(&admin, &format!("P{number}"), json!({"price": price})).await;
    }
    for size in [1, 2, 3] {
        for sort in SORTS {
            walks(&kit, &admin, "/customers", sort, "firstName", size).await;
        }
        for sort in ["price", "-price"] {
            walks(&kit, &admin, "/products", sort, "sku", size).await;
        }
    }
    walks(&kit, &admin, "/audit-log", "-seq", "seq", 5).await;
    walks(&kit, &admin, "/audit-log", "seq", "seq", 4).await;
}

#[tokio::test]
async fn a_list_read_in_parts_has_each_row_once() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    crowd(&kit, &admin).await;
    let list = <customer::Entity as Rules>::LIST;
    for sort in SORTS {
        let all = of(&kit.get(&admin, &format!("/customers?sort={sort}")).await, "firstName");
        for size in [1, 2, 3, 7, 8] {
            let conn = kit.hq.db().snapshot().await.expect("a snapshot");
            let query = Query::from([("sort".to_owned(), sort.to_owned())]);
            let mut parts = Parts::new(&list, &query, customer::Entity::find(), size).expect("a list");
            assert_eq!(parts.count(&conn).await.expect("a number"), all.len() as u64);
            let mut read = Vec::new();
            loop {
                let rows = parts.next(&conn).await.expect("rows");
                if rows.is_empty() {
                    break;
                }
                read.extend(rows.into_iter().filter_map(|row| row.first_name));
                assert!(read.len() <= all.len(), "{sort}, {size} at once: {read:?}");
            }
            assert_eq!(read, all, "{sort}, {size} at once");
        }
    }
}

#[tokio::test]
async fn a_list_as_a_file_is_refused_what_its_pages_are() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    for list in ["/sales", "/register-sessions"] {
        for (field, value) in [("page", "0"), ("pageSize", "abc"), ("cursor", "x")] {
            kit.get(&admin, &format!("{list}?format=csv&{field}={value}")).await.names(field);
        }
    }
}

/// Rows go to `PostgreSQL` as texts of arrays, in which some letters mean something.
#[tokio::test]
async fn whatever_letters_are_typed_come_back_as_they_were() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    for name in ["\"", "\\", "{}", "NULL", "null", "a,b", "it's", "\\\"", "{\"a\",NULL}", "日本 ä 🛒", "x\ty"] {
        let made = kit.post(&admin, "/customers", json!({"lastName": name, "notes": name})).await;
        made.is(201);
        let id = made.body["data"]["id"].as_str().expect("id").to_owned();
        let read = kit.get(&admin, &format!("/customers/{id}")).await.data();
        assert_eq!((&read["lastName"], &read["notes"]), (&json!(name), &json!(name)));
        assert_eq!(read["firstName"], json!(null), "what is missing is no text");
    }
}

#[tokio::test]
async fn whoever_comes_or_goes_before_a_cursor_moves_nothing_behind_it() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    crowd(&kit, &admin).await;
    let list = "/customers?sort=lastName&pageSize=3";
    let first = kit.get(&admin, list).await;
    let (gone, stay) =
        (first.body["data"][0]["id"].clone(), of(&kit.get(&admin, "/customers?sort=lastName").await, "id"));
    kit.delete(&admin, &format!("/customers/{}", gone.as_str().expect("id"))).await.is(204);
    for name in ["Aaron", "Abel"] {
        kit.post(&admin, "/customers", json!({"lastName": name})).await.is(201);
    }
    let mut walked = of(&first, "id");
    let mut cursor = next(&first);
    while let Some(text) = cursor {
        let got = kit.get(&admin, &format!("{list}&cursor={text}")).await;
        walked.extend(of(&got, "id"));
        cursor = next(&got);
    }
    assert_eq!(walked, stay);
}

#[tokio::test]
async fn a_cursor_that_is_none_of_this_list_is_refused_by_its_name() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    crowd(&kit, &admin).await;
    let cursor = next(&kit.get(&admin, "/customers?sort=lastName&pageSize=2").await).expect("a next page");
    kit.get(&admin, &format!("/customers?sort=lastName&cursor={cursor}")).await.is(200);
    let forged = |sort: &str, last: Json| URL_SAFE_NO_PAD.encode(json!([sort, 2, last]).to_string());
    let on_page = |page: u64| {
        let last = ["Ash", "0192d0c4-7f6e-7000-8000-000000000001"];
        URL_SAFE_NO_PAD.encode(json!(["lastName", page, last]).to_string())
    };
    for query in [
        "cursor=".to_owned(),
        "cursor=7".to_owned(),
        "cursor=%00".to_owned(),
        format!("cursor={}", "A".repeat(5000)),
        format!("cursor={cursor}"),
        format!("sort=-lastName&cursor={cursor}"),
        format!("sort=lastName&page=2&cursor={cursor}"),
        format!("sort=lastName&cursor={}", &cursor[1..]),
        format!("sort=lastName&cursor={}", forged("lastName", json!(["Ash"]))),
        format!("sort=lastName&pageSize=1&cursor={}", on_page(u64::MAX)),
        format!("sort=lastName&pageSize=1&cursor={}", on_page(0)),
        format!("sort=lastName&cursor={}", forged("lastName", json!(["Ash", "no id"]))),
        format!("sort=lastName&cursor={}", forged("lastName", json!(["A\0", "0192d0c4-7f6e-7000-8000-000000000001"]))),
        format!("sort=lastName&cursor={}", forged("lastName", json!([7, "0192d0c4-7f6e-7000-8000-000000000001"]))),
        format!(
            "sort=createdAt&cursor={}",
            forged("createdAt", json!(["then", "0192d0c4-7f6e-7000-8000-000000000001"]))
        ),
    ] {
        kit.get(&admin, &format!("/customers?{query}")).await.names("cursor");
    }
}

#[tokio::test]
async fn every_list_that_says_so_takes_a_cursor_and_no_other_does() {
    const DESCRIPTION: &str = include_str!("../../../../docs/generated/openapi-hq.json");
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let description: Json = serde_json::from_str(DESCRIPTION).expect("the description");
    let mut long = BTreeSet::new();
    for (path, operations) in description["paths"].as_object().expect("paths") {
        let parameters = operations["get"]["parameters"].as_array().into_iter().flatten();
        let names: BTreeSet<&str> = parameters.filter_map(|parameter| parameter["name"].as_str()).collect();
        if path.contains('{') || !names.contains("pageSize") || !names.contains("sort") {
            continue;
        }
        let path = path.trim_start_matches("/api/v1");
        let got = kit.get(&admin, &format!("{path}?cursor=x")).await;
        got.names("cursor");
        let takes = names.contains("cursor");
        assert_eq!(got.body["code"] != "unknown_parameter", takes, "{path}: {}", got.text);
        if takes {
            long.insert(path.to_owned());
        }
    }
    for path in ["/audit-log", "/customers", "/inventory/adjustments", "/products", "/register-sessions", "/sales"] {
        assert!(long.contains(path), "{path} is not among {long:?}");
    }
}
