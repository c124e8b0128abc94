//! Approvals that a request brings: which of them are valid, and that each is used once.

use serde_json::{Value as Json, json};
use tillkeep_http::Caller;
use tillkeep_http::error::{Error, Result};
use tillkeep_model::approvable::Approvable;
use tillkeep_model::permission::Requirement;
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::Tx;
use tillkeep_storage::entity::approval::{Column, Entity, Model};
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};
use uuid::Uuid;

use super::approver::may_approve;
use super::scope::{Scope, digest};

/// The approvals that a request brought.
#[derive(Clone, Debug, Default)]
pub(crate) struct PresentedApprovals(Vec<Model>);

/// Those among them that are good for something.
#[derive(Clone, Debug, Default)]
pub(crate) struct ValidApprovals(Vec<Approval>);

/// An approval that the action it is for will use up.
#[derive(Clone, Debug)]
pub struct Approval {
    row: Model,
    approvable: &'static Approvable,
    approver_name: String,
}

impl PresentedApprovals {
    /// Reads what was kept of `tokens`; unknown ones are none.
    pub(crate) async fn read(conn: &impl ConnectionTrait, tokens: &[String]) -> Result<Self> {
        if tokens.is_empty() {
            return Ok(Self::default());
        }
        let hashes = tokens.iter().map(|token| digest(token.as_bytes()));
        Ok(Self(Entity::find().filter(Column::TokenHash.is_in(hashes)).all(conn).await?))
    }

    /// Those that are good for something: made here, for this caller, at this terminal, by an approver who still may,
    /// unused and not too old. Takes a connection of its own: none may be held meanwhile.
    pub(crate) async fn valid<P: Requirement>(self, caller: &Caller<P>, store_id: Uuid) -> Result<ValidApprovals> {
        let mut good = Vec::new();
        for row in self.0 {
            let Some(approvable) = Approvable::find(&row.permission) else { continue };
            let theirs =
                row.requester_user_id == caller.user_id && caller.terminal_id.as_ref() == Some(&row.terminal_id);
            if !theirs || row.used_at.is_some() || caller.now() >= row.expires_at {
                continue;
            }
            // People are sent home within two minutes too.
            let approver = caller.auth().access_of(row.approver_user_id).await?;
            if let Some(approver) = approver.filter(|person| may_approve(caller.auth(), person, approvable, store_id)) {
                good.push(Approval { approver_name: approver.user.display_name.clone(), approvable, row });
            }
        }
        Ok(ValidApprovals(good))
    }
}

impl ValidApprovals {
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those of one thing, whatever they are for.
    pub(crate) fn all_of(&self, approvable: &'static Approvable) -> impl Iterator<Item = &Approval> {
        self.0.iter().filter(move |approval| approval.approvable == approvable)
    }

    /// The approval of exactly this, else 403.
    pub(crate) fn require(&self, approvable: &'static Approvable, scope: &Scope) -> Result<&Approval> {
        let context = scope.hash()?;
        let fits = |approval: &&Approval| approval.approvable == approvable && approval.row.context_hash == context;
        self.0.iter().find(fits).ok_or_else(|| required(approvable))
    }
}

/// 403: an approver who may do it is needed.
pub(super) fn required(approvable: &Approvable) -> Error {
    let permission = approvable.code;
    let text = format!(
        "this needs {permission}, or an approval of it that is unused, at most 120 s old and for exactly this, made here \
         for you: POST /pos/approvals"
    );
    Error::new(ErrorCode::ApprovalRequired, text).with("approvable", true).with("required", [permission])
}

impl Approval {
    pub const fn approver_id(&self) -> Uuid {
        self.row.approver_user_id
    }

    pub fn approver_name(&self) -> &str {
        &self.approver_name
    }

    pub const fn approvable(&self) -> &'static Approvable {
        self.approvable
    }

    /// Uses it up for the row `id`; whoever comes second is refused, and with it all that its transaction did.
    #[expect(clippy::disallowed_methods, reason = "approvals stay at their store")]
    pub(crate) async fn consume(&self, tx: &Tx, id: Uuid, now: Instant) -> Result<()> {
        let done = Entity::update_many()
            .col_expr(Column::UsedAt, Expr::value(now))
            .col_expr(Column::UsedById, Expr::value(id))
            .filter(Column::Id.eq(self.row.id))
            .filter(Column::UsedAt.is_null())
            .exec(tx)
            .await?;
        if done.rows_affected == 1 {
            return Ok(());
        }
        Err(required(self.approvable))
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
