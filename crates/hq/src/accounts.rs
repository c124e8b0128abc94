//! Accounts that whoever has the machine makes: the first ones, and an administrator when no user can sign in.

use serde_json::json;
use tillkeep_http::Secret;
use tillkeep_http::auth::new_pin::hash_new_pin;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::pins::Hashed;
use tillkeep_model::{Instant, fields, ids};
use tillkeep_storage::entity::{user, user_store_role};
use tillkeep_storage::registry::fold;
use tillkeep_storage::{audit, user_pins};
use uuid::Uuid;

use crate::Hq;

/// A user who can sign in after the first start.
#[derive(Clone, Debug)]
pub struct Account {
    pub username: String,
    pub pin: Secret,
    pub role: &'static str,
}

impl Account {
    fn user(&self, hashed: Hashed, must_change_pin: bool, now: Instant) -> user::Model {
        user::Model {
            id: Uuid::now_v7(),
            username: self.username.clone(),
            username_folded: fold(&self.username),
            display_name: self.username.clone(),
            pin_hash: Some(hashed.hash),
            pin_lookup: Some(hashed.lookup),
            must_change_pin,
            is_active: true,
            created_at: now,
            updated_at: now,
            ..user::Model::default()
        }
    }
}

impl Hq {
    /// Makes an account with one of the default roles, everywhere. An operator's PIN is only checked for its form.
    /// `by` is who makes it, for the audit log.
    pub async fn make_account(&self, account: &Account, must_change_pin: bool, by: &str) -> Result<()> {
        let hashed = self.hash_of_operator(account).await?;
        let (now, digits) = (self.clock.now(), hashed.digits);
        let user = account.user(hashed, must_change_pin, now);
        let id = user.id;
        let role = user_store_role::Model {
            id: Uuid::now_v7(),
            user_id: user.id,
            role_id: ids::role(account.role),
            created_at: now,
            updated_at: now,
            ..user_store_role::Model::default()
        };
        let entry = audit::Entry {
            action: "user.create",
            entity_type: Some(fields::user::BOOK.table),
            entity_id: Some(user.id.to_string()),
            details: json!({"username": user.username, "role": account.role, "by": by}),
            ..audit::Entry::default()
        };
        self.from_the_machine(async |tx| {
            tx.insert::<user::Entity>(user).await?;
            tx.insert::<user_store_role::Entity>(role).await?;
            if must_change_pin {
                user_pins::made(tx, id, None, digits, now).await?;
            } else {
                user_pins::chosen(tx, id, digits).await?;
            }
            Ok::<_, Error>(((), Some(entry)))
        })
        .await
    }

    async fn hash_of_operator(&self, account: &Account) -> Result<Hashed> {
        match hash_new_pin(&self.auth, account.pin.expose()).await {
            Err(_) if is_plain_pin(account.pin.expose()) => {
                tracing::warn!(username = account.username, "this PIN is easy to guess; change it");
                self.auth.pins.hash(account.pin.expose()).await
            }
            hashed => hashed,
        }
    }
}

fn is_plain_pin(pin: &str) -> bool {
    (4..=12).contains(&pin.len()) && pin.bytes().all(|byte| byte.is_ascii_digit())
}
