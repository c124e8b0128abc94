//! What no shop can work with is refused by the name of its field; what was stored before a limit can still be edited.

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::{Qty, ids};
use tillkeep_storage::entity::{customer, store_product};
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter};
use uuid::Uuid;

use super::kit::{Kit, Person, general, id_of, untaxed};

fn body(base: &Json, more: &Json) -> Json {
    let mut body = base.clone();
    body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    body
}

#[tokio::test]
async fn what_no_shop_can_work_with_is_refused_by_name() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = json!({"code": "S01", "name": "Harbor Street"});
    let cash = json!({"code": "CASH2", "name": "Cash", "kind": "cash", "isActive": false});
    let product = json!({"sku": "A", "name": "A", "price": 1, "departmentId": general(), "taxGroupId": untaxed()});
    let rule = |prefix: &str| json!({"prefix": prefix, "value": "weight", "pluDigits": 5, "valueDigits": 5});
    let long = json!({"prefix": "21", "value": "weight", "pluDigits": 5, "valueDigits": 6});
    for (path, base, more, field) in [
        ("/stores", &store, json!({"currencyCode": "ZZZ"}), "currencyCode"),
        ("/stores", &store, json!({"currencyCode": "JPY", "currencyExponent": 2}), "currencyExponent"),
        ("/stores", &store, json!({"countryCode": "ZZ"}), "countryCode"),
        ("/stores", &store, json!({"locale": "!!"}), "locale"),
        ("/stores", &store, json!({"locale": "en_US"}), "locale"),
        ("/stores", &store, json!({"scaleBarcodeRules": [rule("21"), rule("21")]}), "scaleBarcodeRules[1].prefix"),
        ("/stores", &store, json!({"scaleBarcodeRules": [long]}), "scaleBarcodeRules[0]"),
        ("/tenders", &cash, json!({"allowsChange": false}), "allowsChange"),
        ("/products", &product, json!({"isWeighed": true}), "quantityDecimals"),
        ("/products", &product, json!({"minPrice": 2}), "minPrice"),
        ("/customers", &json!({"lastName": "Lee"}), json!({"birthDate": "2099-01-01"}), "birthDate"),
        ("/customers", &json!({"lastName": "Lee"}), json!({"countryCode": "ZZ"}), "countryCode"),
        ("/customers", &json!({"lastName": "Lee"}), json!({"email": "lee"}), "email"),
    ] {
        let refused = kit.post(&admin, path, body(base, &more)).await;
        refused.refused(422, "validation");
        refused.names(field);
    }
    // What is asked for instead is taken.
    let rules = json!([rule("2"), rule("21")]);
    let made = kit.post(&admin, "/stores", body(&store, &json!({"currencyCode": "JPY", "scaleBarcodeRules": rules})));
    let made = made.await.data();
    assert_eq!(made["currencyExponent"], 0);
    kit.post(&admin, "/tenders", cash).await.is(201);
    kit.post(&admin, "/products", body(&product, &json!({"isWeighed": true, "quantityDecimals": 3}))).await.is(201);
}

#[tokio::test]
async fn no_row_has_the_id_that_names_nothing() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let named = |more: Json| body(&json!({"id": Uuid::nil(), "code": "X1", "name": "X"}), &more);
    for (path, more) in [
        ("/stores", json!({})),
        ("/departments", json!({})),
        ("/tax-rates", json!({"ratePpm": 1})),
        ("/tax-groups", json!({})),
        ("/tenders", json!({"kind": "card"})),
        ("/roles", json!({"code": "x1"})),
    ] {
        kit.post(&admin, path, named(more)).await.names("id");
    }
    let product = json!({"sku": "A", "name": "A", "price": 1, "departmentId": general(), "taxGroupId": untaxed()});
    kit.post(&admin, "/products", body(&product, &json!({"id": Uuid::nil()}))).await.names("id");
    kit.post(&admin, "/products", body(&product, &json!({"departmentId": Uuid::nil()}))).await.names("departmentId");
    kit.post(&admin, "/customers", json!({"id": Uuid::nil(), "lastName": "Lee"})).await.names("id");
    let user = json!({"id": Uuid::nil(), "username": "lee", "displayName": "Lee"});
    kit.post(&admin, "/users", user).await.names("id");
}

#[tokio::test]
async fn the_decimals_of_a_store_follow_its_currency() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let made = kit.post(&admin, "/stores", json!({"code": "S01", "name": "Harbor Street"})).await.data();
    let one = format!("/stores/{}", id_of(&made));
    assert_eq!(kit.patch(&admin, &one, json!({"currencyCode": "JPY"})).await.data()["currencyExponent"], 0);
    let both = json!({"currencyCode": "KWD", "currencyExponent": 0});
    kit.patch(&admin, &one, both).await.names("currencyExponent");
    kit.patch(&admin, &one, json!({"currencyExponent": 2})).await.names("currencyExponent");
    assert_eq!(kit.patch(&admin, &one, json!({"currencyCode": "KWD"})).await.data()["currencyExponent"], 3);
}

#[tokio::test]
async fn cash_gives_change_and_what_is_weighed_has_decimals_after_an_edit_too() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let cash = format!("/tenders/{}", ids::named("tender:CASH"));
    kit.patch(&admin, &cash, json!({"allowsChange": false})).await.names("allowsChange");
    let apples = kit.product(&admin, "APPLES", json!({"isWeighed": true, "quantityDecimals": 3})).await;
    let apples = format!("/products/{}", id_of(&apples));
    kit.patch(&admin, &apples, json!({"quantityDecimals": 0})).await.names("quantityDecimals");
    kit.patch(&admin, &apples, json!({"quantityDecimals": 0, "isWeighed": false})).await.is(200);
    kit.patch(&admin, &apples, json!({"isWeighed": true})).await.names("quantityDecimals");
}

#[tokio::test]
async fn a_row_from_before_a_limit_is_edited_but_for_the_field_beyond_it() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let made = kit.post(&admin, "/customers", json!({"lastName": "Lee"})).await.data();
    let (id, path) = (id_of(&made), format!("/customers/{}", id_of(&made)));
    let phone = "5".repeat(60);
    let tx = kit.hq.db().begin().await.expect("begin");
    customer::Entity::update_many()
        .col_expr(customer::Column::Phone, Expr::value(phone.clone()))
        .col_expr(customer::Column::Email, Expr::value("nobody"))
        .col_expr(customer::Column::LastName, Expr::value(" "))
        .filter(customer::Column::Id.eq(id))
        .exec(&tx)
        .await
        .expect("an update");
    tx.commit().await.expect("commit");
    assert_eq!(kit.patch(&admin, &path, json!({"city": "Bonn"})).await.data()["phone"], json!(phone));
    // A page sends the whole form: what stays as it is, is no change.
    let form = json!({"city": "Köln", "phone": phone, "email": "nobody", "lastName": " "});
    assert_eq!(kit.patch(&admin, &path, form).await.data()["city"], "Köln");
    kit.patch(&admin, &path, json!({"phone": "6".repeat(51)})).await.names("phone");
    kit.patch(&admin, &path, json!({"email": "somebody"})).await.names("email");
    kit.patch(&admin, &path, json!({"lastName": "  "})).await.names("lastName");
    kit.patch(&admin, &path, json!({"phone": "6".repeat(50), "lastName": "Lee"})).await.is(200);
}

#[tokio::test]
async fn a_product_is_deleted_when_no_store_has_any_of_it() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let made = kit.product(&admin, "TEA", json!({})).await;
    let (id, path) = (id_of(&made), format!("/products/{}", id_of(&made)));
    let row = store_product::Model {
        id: ids::store_product(store, id),
        store_id: store,
        product_id: id,
        quantity: Qty(-500),
        ..store_product::Model::default()
    };
    let tx = kit.hq.db().begin().await.expect("begin");
    row.into_active_model().insert(&tx).await.expect("a level");
    tx.commit().await.expect("commit");
    kit.delete(&admin, &path).await.refused(409, "in_use");
    kit.get(&admin, &path).await.is(200);
    let tx = kit.hq.db().begin().await.expect("begin");
    let gone = store_product::Entity::update_many().col_expr(store_product::Column::Quantity, Expr::value(Qty::ZERO));
    gone.exec(&tx).await.expect("an update");
    tx.commit().await.expect("commit");
    kit.delete(&admin, &path).await.is(204);
}

async fn rate(kit: &Kit, admin: &Person, code: &str) -> String {
    let made = kit.post(admin, "/tax-rates", json!({"code": code, "name": code, "ratePpm": 50_000})).await.data();
    id_of(&made).to_string()
}

fn link(rate: &str, sequence: i32, compound: bool) -> Json {
    json!({"taxRateId": rate, "sequence": sequence, "isCompound": compound})
}

#[tokio::test]
async fn no_tax_group_is_left_with_a_compound_rate_as_its_first() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (gst, pst, more) =
        (rate(&kit, &admin, "GST").await, rate(&kit, &admin, "PST").await, rate(&kit, &admin, "M").await);
    let rates = json!([link(&gst, 1, false), link(&pst, 2, true)]);
    let group = kit.post(&admin, "/tax-groups", json!({"code": "QC", "name": "Québec", "rates": rates})).await.data();
    let of = |rate: &str| format!("/tax-rates/{rate}");
    let off = json!({"isActive": false});
    let refused = kit.patch(&admin, &of(&gst), off.clone()).await;
    refused.refused(422, "first_rate_compound");
    refused.names("isActive");
    assert!(refused.text.contains("QC"), "{}", refused.text);
    // The second one may go, and the first one after it; then only the second cannot come back alone.
    kit.patch(&admin, &of(&pst), off.clone()).await.is(200);
    kit.patch(&admin, &of(&gst), off.clone()).await.is(200);
    kit.patch(&admin, &of(&pst), json!({"isActive": true})).await.refused(422, "first_rate_compound");
    kit.patch(&admin, &of(&gst), json!({"isActive": true})).await.is(200);
    kit.patch(&admin, &of(&pst), json!({"isActive": true})).await.is(200);
    // Nor is a rate that is switched off the first of a new list.
    kit.patch(&admin, &of(&more), off).await.is(200);
    let path = format!("/tax-groups/{}/rates", id_of(&group));
    let rates = json!([link(&more, 1, false), link(&pst, 2, true)]);
    kit.put(&admin, &path, rates).await.refused(422, "first_rate_compound");
    kit.put(&admin, &path, json!([link(&more, 1, false), link(&gst, 2, false), link(&pst, 3, true)])).await.is(200);
}

#[tokio::test]
async fn of_two_rates_switched_off_at_once_the_one_that_a_compound_rate_needs_stays() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two, top) = (rate(&kit, &admin, "A").await, rate(&kit, &admin, "B").await, rate(&kit, &admin, "C").await);
    let rates = json!([link(&one, 1, false), link(&two, 2, false), link(&top, 3, true)]);
    kit.post(&admin, "/tax-groups", json!({"code": "G", "name": "G", "rates": rates})).await.is(201);
    let off = async |rate: &str| kit.patch(&admin, &format!("/tax-rates/{rate}"), json!({"isActive": false})).await;
    let (first, second) = tokio::join!(off(&one), off(&two));
    let mut statuses = [first.status, second.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 422], "{} {}", first.text, second.text);
}
