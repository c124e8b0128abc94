//! Why a user may or may not: the roles, assignments and patterns that decide.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tillkeep_model::permission::code::RolesView;
use tillkeep_model::permission::{ALL, matches, module_of};
use tillkeep_storage::entity::role;
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder};
use utoipa::ToSchema;
use uuid::Uuid;

use super::roles::codes_of;
use crate::Answer;
use crate::auth::people::of_caller;
use crate::auth::{Access, Caller};
use crate::error::{Error, Result};
use crate::extract::Params;

/// `?userId=&code=&storeId=`
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Question {
    user_id: Uuid,
    /// A code, or a pattern such as `products.*`.
    code: String,
    /// Without a store: in any of them, as a token without a store counts.
    store_id: Option<Uuid>,
}

/// An assignment and what it says to the question.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ground {
    role_id: Uuid,
    role_code: String,
    role_name: String,
    /// The store of the assignment; null is everywhere.
    store_id: Option<Uuid>,
    /// Whether the assignment counts where it was asked for.
    counts: bool,
    /// The codes of the role that the question matches.
    matching: BTreeSet<String>,
}

/// The answer with its grounds.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    user_id: Uuid,
    username: String,
    code: String,
    store_id: Option<Uuid>,
    allowed: bool,
    /// One sentence for people.
    reason: String,
    /// An inactive or deleted user may do nothing, whatever their roles are.
    user_active: bool,
    /// With a PIN that must be changed, nothing else can be done before that.
    must_change_pin: bool,
    assignments: Vec<Ground>,
    /// Where no role of theirs holds it: the roles that do, one of which would have to be given.
    would_give: Vec<Giver>,
}

/// A role that holds what was asked for.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RoleThatWouldGive)]
pub struct Giver {
    role_id: Uuid,
    code: String,
    name: String,
}

/// `GET /permissions/explain?userId=&code=&storeId=`
pub async fn explain(caller: Caller<RolesView>, Params(question): Params<Question>) -> Result<Answer<Explanation>> {
    if !ALL.contains(&question.code.as_str()) && !is_pattern(&question.code) {
        return Err(Error::field(
            "code",
            "is no permission; GET /permissions lists them, and module.* stands for all of one",
        ));
    }
    if let Some(store_id) = question.store_id {
        caller.at_store(store_id)?;
    }
    let user = of_caller(&caller, question.user_id).await?;
    let access = caller.auth().access_of(user.id).await?.ok_or_else(|| Error::not_found("user"))?;
    let mut answer = explained(&access, question, caller.auth().must_change_pin(&access));
    if !answer.assignments.iter().any(|ground| ground.counts && !ground.matching.is_empty()) {
        answer.would_give = givers(caller.reader(), &answer.code).await?;
    }
    Ok(Answer(answer))
}

/// The living roles that hold `code`, or something that the pattern matches, by name.
async fn givers(conn: &impl ConnectionTrait, code: &str) -> Result<Vec<Giver>> {
    let roles = role::Entity::find()
        .filter(role::Column::DeletedAt.is_null())
        .order_by_asc(role::Column::Name)
        .order_by_asc(role::Column::Id)
        .all(conn)
        .await?;
    let codes = codes_of(conn, roles.iter().map(|role| role.id)).await?;
    let holds = |role: &role::Model| codes.get(&role.id).is_some_and(|held| held.iter().any(|one| matches(code, one)));
    let giver = |role: role::Model| Giver { role_id: role.id, code: role.code, name: role.name };
    Ok(roles.into_iter().filter(holds).map(giver).collect())
}

/// `module.*` of a module that exists.
fn is_pattern(text: &str) -> bool {
    text.strip_suffix(".*").is_some_and(|module| ALL.iter().any(|code| module_of(code) == module))
}

fn explained(access: &Access, question: Question, must_change_pin: bool) -> Explanation {
    let grounds = access.assignments.iter().map(|assignment| Ground {
        role_id: assignment.role_id,
        role_code: assignment.role_code.clone(),
        role_name: assignment.role_name.clone(),
        store_id: assignment.store_id,
        counts: Access::counts(assignment, question.store_id),
        matching: assignment.codes.iter().filter(|code| matches(&question.code, code)).cloned().collect(),
    });
    let grounds: Vec<Ground> = grounds.collect();
    let held = access.may(&[&question.code], question.store_id);
    let allowed = access.is_active() && !must_change_pin && held;
    let deciding: Vec<&str> = grounds
        .iter()
        .filter(|ground| ground.counts && !ground.matching.is_empty())
        .map(|ground| ground.role_name.as_str())
        .collect();
    let elsewhere = grounds.iter().any(|ground| !ground.counts && !ground.matching.is_empty());
    let reason = if !access.is_active() {
        "the user is not active".to_owned()
    } else if !held && elsewhere {
        "a role of this user holds it, but in another store".to_owned()
    } else if !held {
        "no role of this user holds it".to_owned()
    } else if must_change_pin {
        "the user has to change the PIN first".to_owned()
    } else {
        format!("it comes with: {}", deciding.join(", "))
    };
    Explanation {
        user_id: access.user.id,
        username: access.user.username.clone(),
        code: question.code,
        store_id: question.store_id,
        allowed,
        reason,
        user_active: access.is_active(),
        must_change_pin: access.user.must_change_pin,
        assignments: grounds,
        would_give: Vec::new(),
    }
}
