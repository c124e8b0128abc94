//! Sign-ins. An access token is good only while its session lives.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "refresh_token_families")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub user_id: Uuid,
    pub store_id: Option<Uuid>,
    pub terminal_id: Option<String>,
    /// The enrolled till that it was opened at.
    pub device_id: Option<Uuid>,
    pub current_jti_hash: Option<String>,
    pub previous_jti_hash: Option<String>,
    pub rotated_at: Option<Instant>,
    pub issued_at: Instant,
    /// When the PIN was set that opened it; with another PIN the session is over, whatever the clocks say.
    pub pin_changed_at: Option<Instant>,
    /// That of the person then.
    pub sessions_valid_from: Option<Instant>,
    pub expires_at: Instant,
    /// The last request of it that a server noted, give or take some minutes.
    pub last_used_at: Option<Instant>,
    pub revoked_at: Option<Instant>,
    pub reason: Option<String>,
    /// When the second factor was shown last at headquarters, or the PIN of whoever has none; no refresh moves it.
    pub factor_at: Option<Instant>,
    /// Opened by a PIN without a name, or by name and PIN of a user with a second factor where none is asked for it.
    #[serde(default)]
    pub by_pin_alone: bool,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
