//! Tax rates, tax groups and the rates of a group.

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_storage::entity::tax_group_rate;
use tillkeep_storage::sea_orm::EntityTrait;
use uuid::Uuid;

use super::kit::{Kit, Person, general, id_of};

async fn rates(kit: &Kit, admin: &Person, count: usize) -> Vec<Json> {
    let mut ids = Vec::new();
    for number in 0..count {
        let body = json!({"code": format!("R{number}"), "name": "Rate", "ratePpm": 10_000 * (number + 1)});
        ids.push(kit.post(admin, "/tax-rates", body).await.data()["id"].clone());
    }
    ids
}

fn rate(id: &Json, sequence: usize) -> Json {
    json!({"taxRateId": id, "sequence": sequence, "isCompound": false})
}

fn compound(id: &Json, sequence: usize) -> Json {
    json!({"taxRateId": id, "sequence": sequence, "isCompound": true})
}

/// Rate, version and whether it is a tombstone, of every row there ever was.
async fn stored(kit: &Kit) -> Vec<(Uuid, i64, bool)> {
    let rows = tax_group_rate::Entity::find().all(kit.hq.db().reader()).await.expect("rows");
    rows.into_iter().map(|row| (row.tax_rate_id, row.sync_version, row.deleted_at.is_some())).collect()
}

#[tokio::test]
async fn replacing_the_rates_of_a_group_moves_only_what_changed() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let ids = rates(&kit, &admin, 4).await;
    let body =
        json!({"code": "STD", "name": "Standard", "rates": [rate(&ids[0], 1), rate(&ids[1], 2), rate(&ids[2], 3)]});
    let group = kit.post(&admin, "/tax-groups", body).await.data();
    assert_eq!(group["rates"].as_array().map(Vec::len), Some(3));
    let path = format!("/tax-groups/{}/rates", id_of(&group));
    let before = stored(&kit).await;
    let wanted = json!([rate(&ids[0], 1), compound(&ids[2], 2), rate(&ids[3], 3)]);
    let after_put = kit.put(&admin, &path, wanted.clone()).await.data();
    assert_eq!(after_put["syncVersion"], group["syncVersion"], "the group itself did not change");
    let after = stored(&kit).await;
    let of = |rows: &[(Uuid, i64, bool)], id: &Json| {
        *rows.iter().find(|row| json!(row.0) == *id).expect("a row of this rate")
    };
    assert_eq!(of(&before, &ids[0]), of(&after, &ids[0]), "what stays keeps its version");
    assert!(of(&after, &ids[1]).2 && of(&after, &ids[1]).1 > of(&before, &ids[1]).1, "what went is a tombstone");
    assert!(!of(&after, &ids[2]).2 && of(&after, &ids[2]).1 > of(&before, &ids[2]).1, "what changed has a new version");
    assert!(!of(&after, &ids[3]).2, "what is new is there");
    assert_eq!(after.len(), 4);
    kit.put(&admin, &path, wanted).await.is(200);
    assert_eq!(stored(&kit).await, after, "the same again changes nothing");
    let shown: Vec<_> =
        after_put["rates"].as_array().expect("rates").iter().map(|row| row["sequence"].clone()).collect();
    assert_eq!(shown, [json!(1), json!(2), json!(3)]);
    kit.put(&admin, &path, json!([])).await.is(200);
    kit.put(&admin, &path, json!([rate(&ids[0], 1)])).await.is(200);
    assert_eq!(stored(&kit).await.len(), 5, "a rate that comes back is a new row");
}

#[tokio::test]
async fn the_rates_of_a_group_are_replaced_from_the_version_that_was_read() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let ids = rates(&kit, &admin, 2).await;
    let group = json!({"code": "STD", "name": "Standard", "rates": [rate(&ids[0], 1), rate(&ids[1], 2)]});
    let group = kit.post(&admin, "/tax-groups", group).await.data();
    let path = format!("/tax-groups/{}/rates", id_of(&group));
    let put =
        async |version: &Json, rates: Json| kit.put(&admin, &format!("{path}?expectedVersion={version}"), rates).await;
    let before = &group["ratesVersion"];
    // One is only taken away: no living rate has a new version.
    let fewer = put(before, json!([rate(&ids[0], 1)])).await.data();
    assert!(fewer["ratesVersion"].as_i64() > before.as_i64());
    assert_eq!(fewer["syncVersion"], group["syncVersion"], "the group itself does not travel");
    let late = put(before, json!([])).await;
    late.refused(409, "version_conflict");
    assert_eq!(late.body["current"]["rates"], fewer["rates"], "the present rates are shown");
    assert_eq!(late.body["changedBy"]["name"], "admin", "and who made them so");
    let listed = kit.get(&admin, "/tax-groups?search=STD").await.data();
    assert_eq!(listed[0]["ratesVersion"], fewer["ratesVersion"]);
    let other = |sequence: usize| json!([rate(&ids[1], sequence)]);
    let (one, other) = tokio::join!(put(&fewer["ratesVersion"], other(1)), put(&fewer["ratesVersion"], other(2)));
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409], "{} {}", one.text, other.text);
}

#[tokio::test]
async fn rates_that_cannot_be_calculated_with_are_refused() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let ids = rates(&kit, &admin, 6).await;
    let store = kit.store("S01").await;
    let group = kit.post(&admin, "/tax-groups", json!({"code": "STD", "name": "Standard"})).await.data();
    let path = format!("/tax-groups/{}/rates", id_of(&group));
    let put = async |wanted: Json| kit.put(&admin, &path, wanted).await;
    let first = put(json!([compound(&ids[0], 1)])).await;
    first.refused(422, "first_rate_compound");
    first.names("rates[0].isCompound");
    put(json!([compound(&ids[1], 1), rate(&ids[0], 2)])).await.refused(422, "first_rate_compound");
    let six: Vec<Json> = ids.iter().enumerate().map(|(index, id)| rate(id, index + 1)).collect();
    put(json!(six)).await.refused(422, "too_many");
    let compounds = json!([rate(&ids[0], 1), compound(&ids[1], 2), compound(&ids[2], 3), compound(&ids[3], 4)]);
    put(compounds).await.refused(422, "too_many");
    put(json!([rate(&ids[0], 1), rate(&ids[1], 1)])).await.names("rates[1].sequence");
    put(json!([rate(&ids[0], 1), rate(&ids[0], 2)])).await.names("rates[1].taxRateId");
    put(json!([rate(&ids[0], 0)])).await.names("rates[0].sequence");
    put(json!([rate(&json!(Uuid::now_v7()), 1)])).await.names("rates[0].taxRateId");
    put(json!([{"taxRateId": ids[0], "storeId": Uuid::now_v7(), "sequence": 1}])).await.names("rates[0].storeId");
    put(json!([{"taxRateId": ids[0], "sequence": 1, "compound": true}])).await.is(422);
    put(json!({"rates": []})).await.is(422);
    // Each place is calculated on its own.
    let here = |id: &Json, sequence: usize| json!({"taxRateId": id, "storeId": store, "sequence": sequence});
    put(json!([rate(&ids[0], 1), here(&ids[0], 1), here(&ids[1], 2)])).await.is(200);
    let refused = json!({"code": "BAD", "name": "Bad", "rates": [compound(&ids[0], 1)]});
    kit.post(&admin, "/tax-groups", refused).await.refused(422, "first_rate_compound");
    let groups = kit.get(&admin, "/tax-groups?search=BAD").await.data();
    assert_eq!(groups, json!([]), "nothing is left of a refused group");
}

#[tokio::test]
async fn there_is_one_default_group() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let first = json!({"code": "A", "name": "A", "isDefault": true, "priceMode": "inclusive"});
    let first = kit.post(&admin, "/tax-groups", first).await.data();
    let second = kit.post(&admin, "/tax-groups", json!({"code": "B", "name": "B"})).await.data();
    kit.patch(&admin, &format!("/tax-groups/{}", id_of(&second)), json!({"isDefault": true})).await.is(200);
    let groups = kit.get(&admin, "/tax-groups?isDefault=true").await.data();
    assert_eq!(super::kit::column(&groups, "code"), ["B"]);
    let all = kit.get(&admin, "/tax-groups?search=A&sort=code").await.data();
    assert!(all[0]["syncVersion"].as_i64() > first["syncVersion"].as_i64(), "the stores learn of both");
    kit.post(&admin, "/tax-groups", json!({"code": "C", "name": "C", "priceMode": "gross"})).await.names("priceMode");
}

#[tokio::test]
async fn what_is_in_use_is_not_deleted() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let ids = rates(&kit, &admin, 1).await;
    let body = json!({"code": "STD", "name": "Standard", "rates": [rate(&ids[0], 1)]});
    let group = kit.post(&admin, "/tax-groups", body).await.data();
    let (of_rate, of_group) =
        (format!("/tax-rates/{}", ids[0].as_str().expect("id")), format!("/tax-groups/{}", id_of(&group)));
    kit.delete(&admin, &of_rate).await.refused(409, "in_use");
    let product = kit.product(&admin, "P1", json!({"taxGroupId": group["id"]})).await;
    kit.delete(&admin, &of_group).await.refused(409, "in_use");
    kit.delete(&admin, &format!("/products/{}", id_of(&product))).await.is(204);
    let department = format!("/departments/{}", general());
    kit.patch(&admin, &department, json!({"defaultTaxGroupId": group["id"]})).await.is(200);
    kit.delete(&admin, &of_group).await.refused(409, "in_use");
    kit.patch(&admin, &department, json!({"defaultTaxGroupId": null})).await.is(200);
    kit.delete(&admin, &of_group).await.is(204);
    assert!(stored(&kit).await.iter().all(|row| row.2), "its rates go with it");
    kit.delete(&admin, &of_rate).await.is(204);
}

#[tokio::test]
async fn a_rate_is_between_nothing_and_all_of_it() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    for (ppm, status) in [(0, 201), (1_000_000, 201), (-1, 422), (1_000_001, 422), (3_000_000_000_i64, 422)] {
        let body = json!({"code": format!("R{ppm}"), "name": "Rate", "ratePpm": ppm});
        let got = kit.post(&admin, "/tax-rates", body).await;
        got.is(status);
        if status == 422 {
            got.names("ratePpm");
        }
    }
}

#[tokio::test]
async fn a_preview_takes_the_rates_of_the_store_and_its_way_to_write_prices() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (here, there) = (kit.store("S01").await, kit.store("S02").await);
    kit.patch(&admin, &format!("/stores/{there}"), json!({"pricesIncludeTax": true})).await.is(200);
    let ids = rates(&kit, &admin, 3).await;
    let mut own = rate(&ids[2], 1);
    own["storeId"] = json!(there);
    let body = json!({"code": "STD", "name": "Standard", "rates": [rate(&ids[0], 1), compound(&ids[1], 2), own]});
    let group = id_of(&kit.post(&admin, "/tax-groups", body).await.data());
    let preview = async |more: Json| {
        let mut body = json!({"taxGroupId": group, "amount": 1000});
        body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        kit.post(&admin, "/taxes/preview", body).await
    };
    let sums = |data: &Json| [&data["net"], &data["tax"], &data["total"]].map(|sum| sum.as_i64().expect("a sum"));
    // 1 % of 1000, and 2 % of 1010.
    for place in [json!({}), json!({"storeId": here})] {
        let data = preview(place).await.data();
        assert_eq!((sums(&data), &data["priceIncludesTax"]), ([1000, 30, 1030], &json!(false)), "{data}");
        let taken: Vec<_> =
            data["taxes"].as_array().expect("taxes").iter().map(|tax| tax["taxAmount"].clone()).collect();
        assert_eq!(taken, [10, 20]);
    }
    // 3 % of that store alone, inside of the price.
    let data = preview(json!({"storeId": there, "quantity": 2})).await.data();
    assert_eq!((sums(&data), &data["priceIncludesTax"]), ([1942, 58, 2000], &json!(true)), "{data}");
    assert_eq!(data["taxes"].as_array().map(Vec::len), Some(1));
    preview(json!({"storeId": Uuid::nil()})).await.names("storeId");
    preview(json!({"taxGroupId": Uuid::nil()})).await.names("taxGroupId");
    let manager = kit.person("mia", &[("administrator", Some(here))]).await;
    let asked = json!({"taxGroupId": group, "amount": 1000, "storeId": there});
    kit.post(&manager, "/taxes/preview", asked).await.refused(403, "scope");
}
