//! Customers of headquarters.

use serde_json::json;
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::Money;
use tillkeep_storage::entity::customer;
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use uuid::Uuid;

use super::kit::{Kit, column, id_of};

#[tokio::test]
async fn a_customer_has_a_number_of_headquarters_and_a_name_of_some_kind() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    for (number, body) in [
        ("HQ-000001", json!({"firstName": "Ann"})),
        ("HQ-000002", json!({"lastName": "Lee"})),
        ("HQ-000003", json!({"companyName": "Lee & Co", "phone": "(212) 555-0142", "isActive": true})),
    ] {
        let row = kit.post(&admin, "/customers", body).await.data();
        assert_eq!(row["customerNumber"], number);
        assert_eq!(row["isActive"], true);
    }
    kit.post(&admin, "/customers", json!({"email": "ann@example.com"})).await.names("lastName");
    kit.post(&admin, "/customers", json!({"firstName": "  "})).await.names("lastName");
    kit.post(&admin, "/customers", json!({"firstName": "A", "customerNumber": "X"})).await.names("customerNumber");
    kit.post(&admin, "/customers", json!({"firstName": "A", "accountBalance": 1})).await.names("accountBalance");
    kit.post(&admin, "/customers", json!({"firstName": "A", "birthDate": "1990-02-30"})).await.names("birthDate");
    kit.post(&admin, "/customers", json!({"firstName": "A", "countryCode": "usa"})).await.names("countryCode");
    kit.post(&admin, "/customers", json!({"firstName": "A", "creditLimit": -1})).await.names("creditLimit");
}

#[tokio::test]
async fn the_same_telephone_or_mail_address_is_a_question_before_it_is_a_second_customer() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let ann = json!({"firstName": "Ann", "phone": "(212) 555-0142", "email": "ann@example.com"});
    let first = kit.post(&admin, "/customers", ann).await.data();
    for same in [
        json!({"firstName": "Anna", "phone": "212 555 0142"}),
        json!({"firstName": "Anna", "email": "ANN@example.com"}),
    ] {
        let refused = kit.post(&admin, "/customers", same.clone()).await;
        refused.refused(409, "possible_duplicate");
        assert_eq!(refused.body["candidates"][0]["id"], first["id"]);
        let mut allowed = same;
        allowed["allowDuplicate"] = json!(true);
        kit.post(&admin, "/customers", allowed).await.is(201);
    }
    kit.post(&admin, "/customers", json!({"firstName": "Bob", "phone": "", "email": ""})).await.is(201);
    kit.post(&admin, "/customers", json!({"firstName": "Cy", "phone": "", "email": ""})).await.is(201);
    kit.post(&admin, "/customers", json!({"firstName": "D", "allowDuplicate": "yes"})).await.names("allowDuplicate");
    let refused = kit.post(&admin, "/customers", json!({"firstName": "E", "phone": "2125550142"})).await;
    assert!(refused.body["candidates"].as_array().expect("list").len() > 1);
    // A refusal takes no number: they have no gaps.
    let next = kit.post(&admin, "/customers", json!({"firstName": "F"})).await.data();
    assert_eq!(next["customerNumber"], "HQ-000006");
    // Letters beyond ASCII have capitals too.
    kit.post(&admin, "/customers", json!({"firstName": "Eva", "email": "EVA@BÄCKER.example"})).await.is(201);
    let again = json!({"firstName": "Eva", "email": "eva@bäcker.example"});
    kit.post(&admin, "/customers", again).await.refused(409, "possible_duplicate");
}

#[tokio::test]
async fn a_deleted_customer_is_no_duplicate() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let body = json!({"firstName": "Ann", "phone": "555-0142"});
    let first = kit.post(&admin, "/customers", body.clone()).await.data();
    kit.delete(&admin, &format!("/customers/{}", id_of(&first))).await.is(204);
    kit.get(&admin, &format!("/customers/{}", id_of(&first))).await.is(404);
    kit.post(&admin, "/customers", body).await.is(201);
}

#[tokio::test]
async fn the_digits_of_a_telephone_number_follow_it() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let made = kit.post(&admin, "/customers", json!({"firstName": "Ann", "phone": "555-0142"})).await.data();
    let one = format!("/customers/{}", id_of(&made));
    assert_eq!(kit.row::<customer::Entity>(id_of(&made)).await.phone_digits.as_deref(), Some("5550142"));
    let changed = kit.patch(&admin, &one, json!({"phone": "+1 555 0199"})).await.data();
    assert!(changed.get("phoneDigits").is_none() && changed.get("synced").is_none());
    let row = kit.row::<customer::Entity>(id_of(&made)).await;
    assert_eq!((row.phone_digits.as_deref(), row.synced), (Some("15550199"), true));
    let found = kit.get(&admin, "/customers?search=5550199").await.data();
    assert_eq!(column(&found, "firstName"), ["Ann"]);
    kit.patch(&admin, &one, json!({"phone": null})).await.is(200);
    assert_eq!(kit.row::<customer::Entity>(id_of(&made)).await.phone_digits, None);
    kit.get(&admin, &format!("/customers/{}", Uuid::now_v7())).await.is(404);
}

#[tokio::test]
async fn a_customer_who_owes_is_not_deleted() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let id = id_of(&kit.post(&admin, "/customers", json!({"firstName": "Ann"})).await.data());
    let owes = async |amount: i64| {
        let tx = kit.hq.db().begin().await.expect("a transaction");
        let balance = Expr::value(Money(amount));
        let rows = customer::Entity::update_many().col_expr(customer::Column::AccountBalance, balance);
        rows.filter(customer::Column::Id.eq(id)).exec(&tx).await.expect("an update");
        tx.commit().await.expect("a commit");
    };
    owes(1500).await;
    kit.delete(&admin, &format!("/customers/{id}")).await.refused(409, "in_use");
    owes(0).await;
    kit.delete(&admin, &format!("/customers/{id}")).await.is(204);
}
