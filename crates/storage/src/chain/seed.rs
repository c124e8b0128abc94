//! What every headquarters has: the permissions, the three default roles, a cash tender and one of exchanges, a tax group
//! without rates, a department and reasons. Made at every start when missing, so that a new release brings its new codes.

use std::collections::HashSet;

use sea_orm::sea_query::{Condition, ExprTrait};
use sea_orm::{ColumnTrait, DbErr, EntityTrait, QueryFilter};
use tillkeep_model::permission::{self, ALL, DEFAULT_ROLES};
use tillkeep_model::pricing::TenderKind;
use tillkeep_model::reason;
use tillkeep_model::{Instant, ids};

use crate::db::{Turn, take_turn};
use crate::entity::{
    department, permission as permission_entity, reason as reason_entity, role, role_permission, tax_group, tender,
};
use crate::{Db, Tx};

/// Seeds what is missing; what an operator changed stays.
pub async fn ensure(db: &Db, now: Instant) -> Result<(), DbErr> {
    let mut tx = db.begin().await?;
    take_turn(&tx, Turn::Seed).await?;
    permissions(&mut tx, now).await?;
    first_rows(&mut tx, now).await?;
    exchange_tender(&mut tx, now).await?;
    first_reasons(&mut tx, now).await?;
    tx.commit().await?;
    Ok(())
}

async fn permissions(tx: &mut Tx, now: Instant) -> Result<(), DbErr> {
    let have: HashSet<_> = permission_entity::Entity::find().all(tx).await?.into_iter().map(|row| row.code).collect();
    let new: Vec<&str> = ALL.iter().copied().filter(|code| !have.contains(*code)).collect();
    if new.is_empty() {
        return Ok(());
    }
    let rows = new.iter().map(|code| {
        let (module, action) = code.split_once('.').unwrap_or((code, ""));
        permission_entity::Model {
            id: ids::permission(code),
            code: (*code).to_owned(),
            module: module.to_owned(),
            action: action.to_owned(),
            description: None,
            created_at: now,
            updated_at: now,
        }
    });
    tx.insert_all::<permission_entity::Entity>(rows.collect()).await?;

    let roles: HashSet<_> = role::Entity::find().all(tx).await?.into_iter().map(|row| row.id).collect();
    let mut grants = Vec::new();
    for default in DEFAULT_ROLES {
        let id = ids::role(default.code);
        let known = roles.contains(&id);
        if !known {
            let row = role::Model {
                id,
                code: default.code.to_owned(),
                name: default.name.to_owned(),
                description: Some(default.description.to_owned()),
                is_system: true,
                created_at: now,
                updated_at: now,
                ..role::Model::default()
            };
            tx.insert::<role::Entity>(row).await?;
        }
        // An existing role keeps what an operator made of it; the Administrator always gets the new codes.
        if !known || default.code == permission::ADMINISTRATOR {
            let codes = default.codes().filter(|code| new.contains(code));
            grants
                .extend(codes.map(|code| role_permission::Model { role_id: id, permission_id: ids::permission(code) }));
        }
    }
    tx.insert_all::<role_permission::Entity>(grants).await
}

async fn first_rows(tx: &mut Tx, now: Instant) -> Result<(), DbErr> {
    let cash = tender::Model {
        id: ids::named("tender:CASH"),
        code: "CASH".to_owned(),
        name: "Cash".to_owned(),
        kind: TenderKind::Cash.into(),
        opens_drawer: true,
        counts_in_close: true,
        allows_change: true,
        is_refundable: true,
        is_voidable: true,
        is_active: true,
        created_at: now,
        updated_at: now,
        ..tender::Model::default()
    };
    if tender::Entity::find_by_id(cash.id).one(tx).await?.is_none() {
        tx.insert::<tender::Entity>(cash).await?;
    }
    let none = tax_group::Model {
        id: ids::named("tax_group:NONE"),
        code: "NONE".to_owned(),
        name: "No tax".to_owned(),
        price_mode: "store_default".to_owned(),
        is_active: true,
        created_at: now,
        updated_at: now,
        ..tax_group::Model::default()
    };
    if tax_group::Entity::find_by_id(none.id).one(tx).await?.is_none() {
        tx.insert::<tax_group::Entity>(none).await?;
    }
    let general = department::Model {
        id: ids::named("department:GENERAL"),
        code: "GENERAL".to_owned(),
        name: "General".to_owned(),
        is_active: true,
        created_at: now,
        updated_at: now,
        ..department::Model::default()
    };
    if department::Entity::find_by_id(general.id).one(tx).await?.is_none() {
        tx.insert::<department::Entity>(general).await?;
    }
    Ok(())
}

/// What an exchange is settled with, where no active tender is: it opens no drawer and nobody counts it. One that an
/// operator has switched off stays so.
async fn exchange_tender(tx: &mut Tx, now: Instant) -> Result<(), DbErr> {
    use tender::Column;
    let id = ids::named("tender:EXCHANGE");
    let enough = Condition::any().add(Column::Id.eq(id)).add(
        Column::Kind.eq(TenderKind::Exchange.word()).and(Column::IsActive.eq(true)).and(Column::DeletedAt.is_null()),
    );
    if tender::Entity::find().filter(enough).one(tx).await?.is_some() {
        return Ok(());
    }
    let living = tender::Entity::find().filter(Column::DeletedAt.is_null()).all(tx).await?;
    let is_free = |code: &String| living.iter().all(|tender| tender.code != *code);
    // A chain may have given the code to something else.
    let further = (2..).map(|number| format!("EXCHANGE-{number}"));
    let code = std::iter::once("EXCHANGE".to_owned()).chain(further).find(is_free);
    let row = tender::Model {
        id,
        code: code.unwrap_or_default(),
        name: "Exchange".to_owned(),
        kind: TenderKind::Exchange.into(),
        is_refundable: true,
        is_active: true,
        created_at: now,
        updated_at: now,
        ..tender::Model::default()
    };
    tx.insert::<tender::Entity>(row).await
}

/// What a chain begins with, once: from the first row on the list is its own.
async fn first_reasons(tx: &mut Tx, now: Instant) -> Result<(), DbErr> {
    if reason_entity::Entity::find().one(tx).await?.is_some() {
        return Ok(());
    }
    let rows = (1..).zip(reason::FIRST).map(|(place, first)| reason_entity::Model {
        id: ids::named(&format!("reason:{}:{}", first.kind.word(), first.code)),
        code: first.code.to_owned(),
        name: first.name.to_owned(),
        kind: first.kind.into(),
        needs_note: first.needs_note,
        sort_order: place * 10,
        is_active: true,
        created_at: now,
        updated_at: now,
        ..reason_entity::Model::default()
    });
    tx.insert_all::<reason_entity::Entity>(rows.collect()).await
}
