//! Lists that grow without end, walked by the cursors of their answers.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value as Json, json};

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

#[tokio::test]
async fn a_list_walked_by_cursors_has_the_rows_of_its_pages() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    crowd(&kit, &admin).await;
    for sort in SORTS {
        let all = of(&kit.get(&admin, &format!("/customers?sort={sort}")).await, "firstName");
        assert!(all.len() >= 7, "{all:?}");
        for size in [1, 2, 3] {
            let list = format!("/customers?sort={sort}&pageSize={size}");
            let mut walked = Vec::new();
            let mut got = kit.get(&admin, &list).await;
            for page in 1.. {
                let rows = of(&got, "firstName");
                assert_eq!(got.body["pagination"]["page"], page, "{sort}");
                assert_eq!(got.body["pagination"]["total"], all.len(), "{sort}: of a page by cursor too");
                walked.extend(rows);
                let Some(cursor) = next(&got) else { break };
                got = kit.get(&admin, &format!("{list}&cursor={cursor}")).await;
                got.is(200);
            }
            assert_eq!(walked, all, "{sort}, {size} a page: none empty at the end, none twice");
        }
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
