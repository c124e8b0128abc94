//! Using an approval up, in the transaction of the deed.

use serde_json::{Value as Json, json};
use tillkeep_http::Caller;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::Check;
use tillkeep_model::permission::{APPROVABLE, Requirement};
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::Tx;
use tillkeep_storage::entity::approval::{Column, Entity, Model};
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};
use uuid::Uuid;

use super::scope::digest;
use super::{Scope, may_approve};

/// Approvals that one request may bring.
const MOST: usize = 10;

/// The approvals that a request brought.
#[derive(Clone, Debug, Default)]
pub struct Wallet(Vec<Model>);

/// The good ones among them.
#[derive(Clone, Debug, Default)]
pub struct Purse(Vec<Granted>);

/// An approval that will be used up with the deed.
#[derive(Clone, Debug)]
pub struct Granted {
    row: Model,
    permission: &'static str,
    approver_name: String,
}

impl Wallet {
    /// Reads what was kept of `tokens`; unknown ones are none.
    pub async fn read(conn: &impl ConnectionTrait, tokens: &[String]) -> Result<Self> {
        if tokens.is_empty() {
            return Ok(Self::default());
        }
        let hashes = tokens.iter().map(|token| digest(token.as_bytes()));
        Ok(Self(Entity::find().filter(Column::TokenHash.is_in(hashes)).all(conn).await?))
    }

    /// What can be said of tokens without looking them up.
    pub fn check(tokens: &[String], check: &mut Check) {
        let short = tokens.iter().all(|token| token.len() <= 100);
        check.that(tokens.len() <= MOST && short, "approvals", "must be at most 10 tokens of POST /pos/approvals");
    }

    /// Those that are good for something: made here, for this caller, at this terminal, by somebody who still may, unused
    /// and not too old. Takes a connection of its own: none may be held meanwhile.
    pub async fn judged<P: Requirement>(self, caller: &Caller<P>, store_id: Uuid) -> Result<Purse> {
        let mut good = Vec::new();
        for row in self.0 {
            let Some(permission) = APPROVABLE.into_iter().find(|code| *code == row.permission) else { continue };
            let theirs =
                row.requester_user_id == caller.user_id && caller.terminal_id.as_ref() == Some(&row.terminal_id);
            if !theirs || row.used_at.is_some() || caller.now() >= row.expires_at {
                continue;
            }
            // People are sent home within two minutes too.
            let approver = caller.auth().access_of(row.approver_user_id).await?;
            if let Some(approver) = approver.filter(|person| may_approve(caller.auth(), person, permission, store_id)) {
                good.push(Granted { approver_name: approver.user.display_name.clone(), permission, row });
            }
        }
        Ok(Purse(good))
    }
}

impl Purse {
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those of one permission, whatever they are for.
    pub fn of<'a>(&'a self, permission: &'a str) -> impl Iterator<Item = &'a Granted> {
        self.0.iter().filter(move |granted| granted.permission == permission)
    }

    /// The approval of exactly this, else 403.
    pub fn fill(&self, permission: &'static str, scope: &Scope) -> Result<&Granted> {
        let context = scope.hash()?;
        let fits = |granted: &&Granted| granted.permission == permission && granted.row.context_hash == context;
        self.0.iter().find(fits).ok_or_else(|| required(permission))
    }
}

/// 403: somebody who holds `permission` has to approve.
pub fn required(permission: &'static str) -> Error {
    let text = format!(
        "this needs {permission}, or an approval of it that is unused, at most 120 s old and for exactly this, made here \
         for you: POST /pos/approvals"
    );
    Error::new(ErrorCode::ApprovalRequired, text).with("approvable", true).with("required", [permission])
}

impl Granted {
    pub const fn approver_id(&self) -> Uuid {
        self.row.approver_user_id
    }

    pub const fn permission(&self) -> &'static str {
        self.permission
    }

    /// Uses the approval up for `deed`; whoever comes second is refused, and with it all that its transaction did.
    pub async fn spend(&self, tx: &Tx, deed: Uuid, now: Instant) -> Result<()> {
        let done = Entity::update_many()
            .col_expr(Column::UsedAt, Expr::value(now))
            .col_expr(Column::UsedById, Expr::value(deed))
            .filter(Column::Id.eq(self.row.id))
            .filter(Column::UsedAt.is_null())
            .exec(tx)
            .await?;
        if done.rows_affected == 1 {
            return Ok(());
        }
        Err(required(self.permission))
    }

    /// One entry of `sales.approvals`.
    pub fn to_json(&self) -> Json {
        json!({
            "permission": self.row.permission,
            "approverId": self.row.approver_user_id,
            "approverName": self.approver_name,
            "reason": self.row.reason,
            "at": self.row.created_at,
        })
    }
}
