//! What drawers were over and short, over time: `GET /reports/variance`.

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::Money;
use tillkeep_storage::entity::{register_session, store};
use tillkeep_storage::raw::sea_orm::{ActiveModelTrait, IntoActiveModel, Set};
use uuid::Uuid;

use super::kit::{Kit, Person, column};

/// A closed drawer that was so much over or short; by force, when nobody knows.
struct Closed {
    store: Uuid,
    day: &'static str,
    opened_by: Uuid,
    owner: Option<Uuid>,
    variance: Option<i64>,
}

async fn close(kit: &Kit, number: i32, closed: Closed) {
    let row = register_session::Model {
        id: Uuid::now_v7(),
        store_id: closed.store,
        register_code: "01".into(),
        session_number: number,
        status: "closed".into(),
        business_date: closed.day.into(),
        opened_by: closed.opened_by,
        owner_id: closed.owner,
        forced: closed.variance.is_none(),
        cash_variance: closed.variance.map(Money),
        ..register_session::Model::default()
    };
    let tx = kit.hq.db().begin().await.expect("begin");
    row.into_active_model().insert(&tx).await.expect("drawer");
    tx.commit().await.expect("commit");
}

async fn in_euros(kit: &Kit, id: Uuid) {
    let mut row = kit.row::<store::Entity>(id).await.into_active_model();
    row.currency_code = Set("EUR".into());
    let tx = kit.hq.db().begin().await.expect("begin");
    row.update(&tx).await.expect("a store");
    tx.commit().await.expect("commit");
}

async fn asked(kit: &Kit, who: &Person, more: &str) -> Json {
    kit.get(who, &format!("/reports/variance?from=2026-11-01&to=2026-11-30{more}")).await.data()
}

#[tokio::test]
async fn what_is_over_hides_nothing_that_is_short_and_currencies_are_never_added() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (mia, tom) = (kit.person("mia", &[]).await.id, kit.person("tom", &[]).await.id);
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    in_euros(&kit, two).await;
    let drawer = |store, day, opened_by, owner, variance| Closed { store, day, opened_by, owner, variance };
    for (number, closed) in [
        drawer(one, "2026-11-02", mia, None, Some(500)),
        drawer(one, "2026-11-02", mia, Some(tom), Some(-700)),
        drawer(one, "2026-11-03", tom, None, None),
        drawer(one, "2026-11-03", mia, None, Some(0)),
        drawer(two, "2026-11-03", mia, None, Some(-40)),
        drawer(one, "2026-12-01", mia, None, Some(9999)),
    ]
    .into_iter()
    .enumerate()
    {
        close(&kit, i32::try_from(number).expect("few") + 1, closed).await;
    }
    let sums = |row: &Json| {
        let keys = ["currencyCode", "closes", "forced", "counted", "variance", "absolute", "over", "short"];
        json!(keys.map(|key| row[key].clone()))
    };
    let days = asked(&kit, &admin, "").await;
    assert_eq!(column(&days["rows"], "businessDate"), ["2026-11-02", "2026-11-03", "2026-11-03"]);
    assert_eq!(sums(&days["rows"][0]), json!(["USD", 2, 0, 2, -200, 1200, 500, -700]));
    assert_eq!(sums(&days["rows"][1]), json!(["EUR", 1, 0, 1, -40, 40, 0, -40]));
    assert_eq!(sums(&days["rows"][2]), json!(["USD", 2, 1, 1, 0, 0, 0, 0]), "nobody knows what a forced one had");
    let totals = days["totals"].as_array().expect("a list").iter().map(sums).collect::<Vec<_>>();
    assert_eq!(totals, [json!(["EUR", 1, 0, 1, -40, 40, 0, -40]), json!(["USD", 4, 1, 3, -200, 1200, 500, -700])]);

    let people = asked(&kit, &admin, "&groupBy=person").await;
    assert_eq!(column(&people["rows"], "userName"), ["mia", "mia", "tom"]);
    assert_eq!(sums(&people["rows"][1]), json!(["USD", 2, 0, 2, 500, 500, 500, 0]));
    assert_eq!(sums(&people["rows"][2]), json!(["USD", 2, 1, 1, -700, 700, 0, -700]), "it was given to tom");
    let stores = asked(&kit, &admin, "&groupBy=store").await;
    assert_eq!(column(&stores["rows"], "storeCode"), ["S01", "S02"]);
    assert_eq!(stores["totals"], days["totals"]);
    let alone = asked(&kit, &admin, &format!("&groupBy=store&storeId={two}")).await;
    assert_eq!(column(&alone["rows"], "storeCode"), ["S02"]);
    let of_tom = asked(&kit, &admin, &format!("&userId={tom}&storeId={one}")).await;
    assert_eq!(column(&of_tom["rows"], "businessDate"), ["2026-11-02", "2026-11-03"], "one person over time");
    assert_eq!(sums(&of_tom["rows"][0]), json!(["USD", 1, 0, 1, -700, 700, 0, -700]));
    assert_eq!(sums(&of_tom["totals"][0]), json!(["USD", 2, 1, 1, -700, 700, 0, -700]));
}

#[tokio::test]
async fn a_range_that_cannot_be_is_refused_by_its_field() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    for (query, field) in [
        ("from=2026-11-01", "to"),
        ("from=soon&to=2026-11-02", "from"),
        ("from=2026-11-02&to=2026-11-01", "to"),
        ("from=2025-01-01&to=2026-11-01", "to"),
        ("from=2026-11-01&to=2026-11-02&groupBy=hour", "groupBy"),
    ] {
        kit.get(&admin, &format!("/reports/variance?{query}")).await.names(field);
    }
    assert_eq!(asked(&kit, &admin, "").await["rows"], json!([]));
}

#[tokio::test]
async fn the_code_of_a_report_goes_as_far_as_the_right_to_see_reports() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    for (number, store) in [(1, one), (2, two)] {
        let drawer = Closed { store, day: "2026-11-02", opened_by: admin.id, owner: None, variance: Some(-5) };
        close(&kit, number, drawer).await;
    }
    kit.role(&admin, "reporter", &["reports.z_report"]).await;
    kit.role(&admin, "local", &["reports.view_local"]).await;
    let ada = kit.person("ada", &[("reporter", None), ("local", Some(one))]).await;
    let rows = asked(&kit, &ada, "&groupBy=store").await["rows"].clone();
    assert_eq!(column(&rows, "storeCode"), ["S01"]);
    let there = format!("/reports/variance?from=2026-11-01&to=2026-11-30&storeId={two}");
    kit.get(&ada, &there).await.refused(403, "scope");
    let bob = kit.person("bob", &[("local", None)]).await;
    kit.get(&bob, &there).await.refused(403, "forbidden");
}
