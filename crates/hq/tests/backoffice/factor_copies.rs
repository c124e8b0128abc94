//! A headquarters that was put back from an older copy takes no code that was used since.

use serde_json::json;
use tillkeep_hq::testing::Databases as _;
use tillkeep_storage::entity::{factor_use, recovery_code, second_factor};
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_storage::sea_orm::sea_query::Expr;

use super::factors::{chief, login, noted, set_up, signed_in};
use super::kit::Kit;

const HERE: &str = "192.0.2.1";

/// The tables of second factors as they were before a code was used.
async fn older_copy(kit: &Kit, uses: i64) {
    let tx = kit.hq.db().begin().await.expect("begin");
    factor_use::Entity::update_many()
        .col_expr(factor_use::Column::Uses, Expr::value(uses))
        .exec(&tx)
        .await
        .expect("uses");
    let unused: Option<tillkeep_model::Instant> = None;
    recovery_code::Entity::update_many()
        .col_expr(recovery_code::Column::UsedAt, Expr::value(unused))
        .exec(&tx)
        .await
        .expect("codes");
    let never: Option<i64> = None;
    second_factor::Entity::update_many()
        .col_expr(second_factor::Column::LastStep, Expr::value(never))
        .exec(&tx)
        .await
        .expect("steps");
    tx.commit().await.expect("commit");
}

async fn uses(kit: &Kit) -> i64 {
    tillkeep_storage::factors::uses(kit.hq.db().reader()).await.expect("a number")
}

#[tokio::test]
async fn a_restored_headquarters_takes_no_code_that_was_used_since() {
    let kit = Kit::new().await;
    let (_, id) = chief(&kit).await;
    let (app, codes) = set_up(&kit, &signed_in(id, login(&kit, json!({}), HERE).await)).await;
    let before = uses(&kit).await;
    assert!(before > 0, "a database with a factor can be told from a copy of it");
    let code = app.code(&kit, 0);
    login(&kit, json!({"code": code}), HERE).await.is(200);
    login(&kit, json!({"code": codes[0]}), HERE).await.is(200);
    older_copy(&kit, before).await;
    for used in [&code, &codes[0], &codes[1]] {
        login(&kit, json!({"code": used}), HERE).await.refused(401, "invalid_credentials");
        kit.clock.advance(5_000);
    }
    assert_eq!(noted(&kit, "factor.distrust").await.len(), 1);
    // What the app makes from then on is good, and new recovery codes are.
    kit.clock.advance(60_000);
    let chief = signed_in(id, login(&kit, json!({"code": app.code(&kit, 0)}), HERE).await);
    assert_eq!(kit.get(&chief, "/auth/factors").await.data()["recoveryCodesLeft"], json!(0));
    let new = kit.post(&chief, "/auth/factors/recovery-codes", json!({})).await.data();
    login(&kit, json!({"code": new["recoveryCodes"][0]}), HERE).await.is(200);
}

#[tokio::test]
async fn a_file_database_that_comes_without_what_stood_beside_it_is_a_copy() {
    let mut kit = Kit::new().await;
    if kit.settings.database_url.is_some() {
        // Several servers share it, and one that is new knows nothing: `hq new-epoch` says that it was restored.
        return;
    }
    let (_, id) = chief(&kit).await;
    let (_, codes) = set_up(&kit, &signed_in(id, login(&kit, json!({}), HERE).await)).await;
    kit.restart().await;
    login(&kit, json!({"code": codes[0]}), HERE).await.is(200);
    std::fs::remove_file(kit.settings.data_dir.join("second-factor.uses")).expect("a file");
    kit.restart().await;
    kit.clock.advance(60_000);
    login(&kit, json!({"code": codes[1]}), HERE).await.refused(401, "invalid_credentials");
    assert_eq!(noted(&kit, "factor.distrust").await.len(), 1);
}
