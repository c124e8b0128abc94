//! Who may work in the test store.

use tillkeep_model::permission::DEFAULT_ROLES;
use tillkeep_model::{ids, permission};
use tillkeep_storage::entity::{permission as permission_row, role, role_permission, user, user_store_role};
use uuid::Uuid;

use super::Shop;

/// The permissions and the three default roles, as they are pulled.
pub async fn roles(shop: &Shop) {
    shop.insert::<permission_row::Entity>(permission::ALL.iter().map(|code| permission_row::Model {
        id: ids::permission(code),
        code: (*code).to_owned(),
        module: permission::module_of(code).to_owned(),
        ..permission_row::Model::default()
    }))
    .await;
    for default in DEFAULT_ROLES {
        shop.insert::<role::Entity>([role::Model {
            id: ids::role(default.code),
            code: default.code.into(),
            name: default.name.into(),
            ..role::Model::default()
        }])
        .await;
        let grants = default.codes().map(|code| role_permission::Model {
            role_id: ids::role(default.code),
            permission_id: ids::permission(code),
        });
        shop.insert::<role_permission::Entity>(grants).await;
    }
}

/// A new user with one default role at this store, and the PIN.
pub async fn person(shop: &Shop, role: &str) -> (Uuid, String) {
    let user_id = Uuid::now_v7();
    let pin = format!("{:09}", user_id.as_u128() % 1_000_000_000);
    let hashed = shop.store.auth.pins.hash(&pin).await.expect("a hash");
    shop.insert::<user::Entity>([user::Model {
        id: user_id,
        username: format!("{role}-{user_id}"),
        username_folded: format!("{role}-{user_id}"),
        display_name: format!("A {role}"),
        pin_hash: Some(hashed.hash),
        pin_lookup: Some(hashed.lookup),
        is_active: true,
        ..user::Model::default()
    }])
    .await;
    shop.insert::<user_store_role::Entity>([user_store_role::Model {
        id: Uuid::now_v7(),
        user_id,
        role_id: ids::role(role),
        store_id: Some(shop.store.id),
        ..user_store_role::Model::default()
    }])
    .await;
    (user_id, pin)
}
