//! What every headquarters starts with.

use std::collections::BTreeSet;

use tillkeep_model::ids;
use tillkeep_model::permission::ALL;
use tillkeep_model::reason::FIRST;
use tillkeep_storage::entity::{department, permission, reason, role, role_permission, tax_group, tender};
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_storage::{raw, seed, versions};

use crate::kit::{self, Hq, at};

async fn ensure(hq: &Hq) {
    seed::ensure(&hq.db, at(0)).await.expect("the seed");
}

/// The codes of a role.
async fn codes(hq: &Hq, role: &str) -> BTreeSet<String> {
    let sql = "SELECT p.code AS code FROM role_permissions r JOIN permissions p ON p.id = r.permission_id \
               WHERE r.role_id = $1";
    let rows = raw::query(hq.db.reader(), sql, [ids::role(role).into()]).await.expect("the codes");
    rows.iter().map(|row| row.try_get("", "code").expect("a code")).collect()
}

/// Takes codes away as an operator would, or as an older release that never had them.
async fn delete(hq: &Hq, sql: &str, code: &str) {
    let mut tx = hq.db.begin().await.expect("a transaction");
    raw::execute(&tx, sql, [ids::permission(code).into()]).await.expect("a delete");
    tx.touch(kit::entity("role_permissions"));
    tx.commit().await.expect("a commit");
}

#[tokio::test]
async fn a_new_headquarters_has_every_permission_and_the_default_roles() {
    for hq in kit::both().await {
        ensure(&hq).await;
        let rows = permission::Entity::find().all(hq.db.reader()).await.expect("the permissions");
        assert_eq!(rows.len(), ALL.len());
        for row in rows {
            assert_eq!(row.id, ids::permission(&row.code));
            assert_eq!(format!("{}.{}", row.module, row.action), row.code);
        }
        let roles = role::Entity::find().all(hq.db.reader()).await.expect("the roles");
        let names: BTreeSet<_> = roles.iter().map(|role| role.name.as_str()).collect();
        assert_eq!(names, ["Administrator", "Cashier", "Store Manager"].into());
        assert!(roles.iter().all(|role| role.is_system && role.id == ids::role(&role.code)));
        hq.verify().await;
    }
}

#[tokio::test]
async fn the_roles_hold_exactly_what_the_specification_says() {
    for hq in kit::both().await {
        ensure(&hq).await;
        let all: BTreeSet<String> = ALL.iter().map(|code| (*code).to_owned()).collect();
        assert_eq!(codes(&hq, "administrator").await, all);
        let cashier = ["pos.sell", "pos.discount", "reports.x_report", "inventory.view"];
        assert_eq!(codes(&hq, "cashier").await, cashier.map(str::to_owned).into());
        let manager = |code: &&String| match code.split_once('.') {
            Some(("pos" | "inventory" | "transfers", _)) => true,
            Some(("reports", action)) => action != "view_global",
            _ => false,
        };
        assert_eq!(codes(&hq, "store_manager").await, all.iter().filter(manager).cloned().collect());
    }
}

#[tokio::test]
async fn there_is_a_cash_tender_a_group_without_tax_a_department_and_reasons() {
    for hq in kit::both().await {
        ensure(&hq).await;
        let cash = hq.row::<tender::Entity>(ids::named("tender:CASH")).await.expect("a tender");
        assert_eq!((cash.code.as_str(), cash.kind.as_str(), cash.is_active), ("CASH", "cash", true));
        assert!(cash.opens_drawer && cash.allows_change && cash.counts_in_close && cash.is_refundable);
        let none = tax_group::Entity::find().one(hq.db.reader()).await.expect("a read").expect("a group");
        assert_eq!((none.code.as_str(), none.price_mode.as_str()), ("NONE", "store_default"));
        let general = department::Entity::find().one(hq.db.reader()).await.expect("a read").expect("a department");
        assert_eq!(general.code, "GENERAL");
        let reasons = reason::Entity::find().all(hq.db.reader()).await.expect("a read");
        assert_eq!(reasons.len(), FIRST.len());
        assert!(reasons.iter().all(|reason| reason.is_active && reason.sync_version > 0));
        hq.verify().await;
    }
}

#[tokio::test]
async fn seeding_again_changes_nothing_and_moves_no_version() {
    for hq in kit::both().await {
        ensure(&hq).await;
        let before = versions::heads(hq.db.reader()).await.expect("the heads");
        assert!(!before.is_empty());
        ensure(&hq).await;
        assert_eq!(versions::heads(hq.db.reader()).await.expect("the heads"), before);
        assert_eq!(tender::Entity::find().all(hq.db.reader()).await.expect("a read").len(), 2);
    }
}

#[tokio::test]
async fn what_an_operator_changed_stays() {
    for hq in kit::both().await {
        ensure(&hq).await;
        hq.edit::<tender::Entity>(ids::named("tender:CASH"), |row| row.name = "Bargeld".into()).await;
        hq.edit::<department::Entity>(ids::named("department:GENERAL"), |row| row.deleted_at = Some(at(5))).await;
        ensure(&hq).await;
        let cash = hq.row::<tender::Entity>(ids::named("tender:CASH")).await.expect("a tender");
        assert_eq!(cash.name, "Bargeld");
        let general = department::Entity::find().all(hq.db.reader()).await.expect("a read");
        assert_eq!((general.len(), general[0].deleted_at), (1, Some(at(5))));
        hq.verify().await;
    }
}

/// The tenders of exchanges that are active: their codes.
async fn exchanges(hq: &Hq) -> Vec<String> {
    let all = tender::Entity::find().all(hq.db.reader()).await.expect("a read");
    let active = all.into_iter().filter(|row| row.kind == "exchange" && row.is_active && row.deleted_at.is_none());
    active.map(|row| row.code).collect()
}

#[tokio::test]
async fn a_chain_without_an_active_tender_of_exchanges_gets_one_that_opens_no_drawer() {
    for hq in kit::both().await {
        // A chain of an earlier release, which has given the code to something else.
        let other = |code: &str, kind: &str, active: bool| tender::Model {
            id: ids::named(code),
            code: code.into(),
            name: code.into(),
            kind: kind.into(),
            is_active: active,
            created_at: at(0),
            updated_at: at(0),
            ..tender::Model::default()
        };
        hq.insert::<tender::Entity>([other("EXCHANGE", "voucher", true), other("EXCH", "exchange", false)]).await;
        ensure(&hq).await;
        assert_eq!(exchanges(&hq).await, ["EXCHANGE-2"]);
        let made = hq.row::<tender::Entity>(ids::named("tender:EXCHANGE")).await.expect("a tender");
        assert!(made.is_refundable && !made.opens_drawer && !made.counts_in_close && !made.is_voidable);
        ensure(&hq).await;
        assert_eq!(exchanges(&hq).await, ["EXCHANGE-2"]);
        // One that an operator has switched off stays so.
        hq.edit::<tender::Entity>(made.id, |row| row.is_active = false).await;
        ensure(&hq).await;
        assert_eq!(exchanges(&hq).await, Vec::<String>::new());
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_chain_that_has_a_tender_of_exchanges_gets_no_second_one() {
    for hq in kit::both().await {
        let own = tender::Model {
            id: ids::named("own"),
            code: "SWAP".into(),
            name: "Swap".into(),
            kind: "exchange".into(),
            is_active: true,
            created_at: at(0),
            updated_at: at(0),
            ..tender::Model::default()
        };
        hq.insert::<tender::Entity>([own]).await;
        ensure(&hq).await;
        assert_eq!(exchanges(&hq).await, ["SWAP"]);
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_code_taken_from_a_role_stays_taken() {
    for hq in kit::both().await {
        ensure(&hq).await;
        delete(&hq, "DELETE FROM role_permissions WHERE permission_id = $1", "pos.discount").await;
        ensure(&hq).await;
        assert!(!codes(&hq, "cashier").await.contains("pos.discount"));
    }
}

#[tokio::test]
async fn the_administrator_gets_the_codes_of_a_new_release_and_no_other_role_does() {
    for hq in kit::both().await {
        ensure(&hq).await;
        delete(&hq, "DELETE FROM role_permissions WHERE permission_id = $1", "pos.sell").await;
        delete(&hq, "DELETE FROM permissions WHERE id = $1", "pos.sell").await;
        let before = role_permission::Entity::find().all(hq.db.reader()).await.expect("a read").len();
        ensure(&hq).await;
        assert!(codes(&hq, "administrator").await.contains("pos.sell"));
        assert!(!codes(&hq, "cashier").await.contains("pos.sell"));
        let after = role_permission::Entity::find().all(hq.db.reader()).await.expect("a read").len();
        assert_eq!(after, before + 1);
        hq.verify().await;
    }
}
