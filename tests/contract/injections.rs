//! Words of SQL and of patterns in every parameter and at the sign-in: they are values, and nothing else comes of them.

use serde_json::json;
use tillkeep_http::routes::Protection;
use tillkeep_storage::entity::user;
use tillkeep_storage::sea_orm::{EntityTrait, PaginatorTrait};

use crate::kit::{World, is_tried, path_of};

/// What ends a text, what goes on behind it, and what means something in a pattern or in a place of a value.
const WORDS: [&str; 7] = [
    "' OR '1'='1",
    "x' UNION SELECT pin_hash FROM users --",
    "\"; DROP TABLE users; --",
    "%' ESCAPE '!",
    "\\",
    "$1 ?1 :a {}",
    "../../etc/passwd",
];

fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |text, byte| text + &format!("%{byte:02X}"))
}

#[tokio::test]
async fn words_of_sql_in_any_parameter_are_a_value_that_no_row_has_or_are_refused() {
    let world = World::new().await;
    let (mut named, mut asked, mut searched) = (0, 0, 0);
    for server in &world.servers {
        let token = format!("Bearer {}", server.sign_in(world.admin).await);
        let people = user::Entity::find().count(server.db.reader()).await.expect("a count");
        let gets = server.routes.iter().filter(|route| route.method == "GET");
        for route in gets.filter(|route| matches!(route.protection, Protection::User(_))) {
            for name in route.operation.in_query() {
                named += 1;
                for (_, words) in WORDS.into_iter().enumerate().filter(|(number, _)| is_tried(named + number, 3)) {
                    let path = format!("{}?{name}={}", path_of(&route.full_path()), encoded(words));
                    let got = server.ask("GET", &path, Some(&token), None).await;
                    let what = format!("{} {name} {words:?} at {}: {}", route.path, server.name, got.text);
                    assert!(got.status < 500 && !got.text.contains("$argon2id"), "{what}");
                    asked += 1;
                    if name == "search" && got.status == 200 {
                        assert_eq!(got.body["pagination"]["total"].as_u64().unwrap_or_default(), 0, "{what}");
                        searched += 1;
                    }
                }
            }
        }
        for words in WORDS {
            for body in [json!({"username": words, "pin": "739154"}), json!({"username": "root", "pin": words})] {
                let got = server.call("POST", "/auth/login", None, Some(body)).await;
                assert!([401, 422, 429].contains(&got.status), "{words:?} at {}: {}", server.name, got.text);
            }
        }
        assert_eq!(user::Entity::find().count(server.db.reader()).await.expect("a count"), people, "{}", server.name);
    }
    assert!(asked > 300 && searched > 20, "{asked} {searched}");
}
