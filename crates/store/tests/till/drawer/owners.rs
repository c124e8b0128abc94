//! Whose drawer it is.

use serde_json::{Value as Json, json};
use tillkeep_storage::entity::register;

use super::{Drawer, counted};
use crate::kit::{line, people, rows};

#[tokio::test]
async fn a_drawer_is_handed_on_and_whose_it_was_is_kept() {
    let drawer = Drawer::open().await;
    let administrator = drawer.shop.sign_in("administrator").await;
    let (second, third) =
        (people::person(&drawer.shop, "cashier").await, people::person(&drawer.shop, "cashier").await);
    let to = |user: uuid::Uuid| json!({"userId": user});
    drawer.does("reassign", to(second.0)).await.refused(403, "forbidden");
    let same = administrator.post(&drawer.act("reassign"), to(drawer.cashier.user_id)).await.ok(200);
    assert_eq!((&same["owners"], &same["ownerId"]), (&json!([]), &Json::Null), "it is theirs already");
    administrator.post(&drawer.act("reassign"), to(second.0)).await.ok(200);
    let session = administrator.post(&drawer.act("reassign"), to(third.0)).await.ok(200);
    assert_eq!((&session["ownerId"], &session["openedBy"]), (&json!(third.0), &json!(drawer.cashier.user_id)));
    let owners: Vec<&Json> = session["owners"].as_array().expect("owners").iter().map(|row| &row["userId"]).collect();
    assert_eq!(owners, [&json!(second.0), &json!(third.0)]);
    assert!(
        session["owners"].as_array().expect("owners").iter().all(|row| row["byUserId"] == json!(administrator.user_id))
    );
    assert_eq!((&session["counts"], &session["status"]), (&Json::Null, &json!("open")), "nothing is counted");
    let details: Vec<Json> =
        drawer.shop.audited("session.reassign").await.into_iter().map(|line| line.details.0).collect();
    assert_eq!((&details[0]["from"], &details[0]["to"]), (&json!(drawer.cashier.user_id), &json!(second.0)));
    assert_eq!(details.len(), 2);

    for nobody in [json!({"userId": uuid::Uuid::now_v7()}), json!({})] {
        administrator.post(&drawer.act("reassign"), nobody).await.refused_at(422, "validation", "userId");
    }
    administrator.post(&drawer.act("close"), json!({"counts": counted(20_000)})).await.ok(200);
    administrator.post(&drawer.act("reassign"), to(second.0)).await.refused(409, "session_closed");
}

#[tokio::test]
async fn the_sales_of_a_drawer_are_its_owners_to_see_from_then_on() {
    let drawer = Drawer::open().await;
    drawer.shop.insert::<register::Entity>([rows::register("02", "T2")]).await;
    let other = people::person(&drawer.shop, "cashier").await;
    let opener = drawer.shop.sign_in_with(&people::person(&drawer.shop, "cashier").await, "T2").await;
    drawer.manager().await.sell(json!([line("BREAD", 1)])).await.ok(201);
    let administrator = drawer.shop.sign_in("administrator").await;
    let numbers = async |person: &crate::kit::Person| {
        person.get("/pos/sales").await.ok(200).as_array().map(Vec::len).expect("sales")
    };
    administrator.post(&drawer.act("reassign"), json!({"userId": opener.user_id})).await.ok(200);
    assert_eq!(numbers(&opener).await, 1, "at another till");
    administrator.post(&drawer.act("reassign"), json!({"userId": other.0})).await.ok(200);
    assert_eq!(numbers(&opener).await, 0, "it is another's now");
    let other = drawer.shop.sign_in_with(&other, "T2").await;
    assert_eq!(numbers(&other).await, 1);
}
