//! `POST /users`: a user, their PIN and their first roles, together or not at all.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tillkeep_http::auth::new_pin::set_pin;
use tillkeep_http::describe::{Draft, Write};
use tillkeep_http::directory::users::{UserDetail, detail};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::Fields;
use tillkeep_http::{Body, Caller, Created};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::Fresh;
use tillkeep_model::permission::code::UsersCreate;
use tillkeep_storage::Tx;
use tillkeep_storage::entity::user::{Entity, Model};
use utoipa::ToSchema;

use super::assignments::{self, Grant};
use super::fields::{KIND, check};
use super::pin;
use crate::backoffice::rows;

/// A new user; a PIN that was made here is shown this once.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewUser {
    #[serde(flatten)]
    user: UserDetail,
    /// To be changed at the first sign-in.
    #[serde(skip_serializing_if = "Option::is_none")]
    generated_pin: Option<String>,
}

/// A new user.
pub(super) struct Newcomer;

impl Write for Newcomer {
    type Row = Entity;
    const FIELDS: Fields = KIND.fields();
    type More = FirstAssignments;

    fn name() -> Cow<'static, str> {
        "User".into()
    }
}

/// What a new user starts with, besides a PIN that is made.
#[derive(Deserialize, ToSchema)]
pub(super) struct FirstAssignments {
    assignments: Option<Vec<Grant>>,
}

pub(super) async fn create(
    caller: Caller<Fresh<UsersCreate>>,
    Body(mut draft): Body<Draft<Newcomer>>,
) -> Result<Created<NewUser>> {
    pin::refuse_chosen(draft.keys.remove("pin").is_some())?;
    let (body, FirstAssignments { assignments: wanted }) = draft.parted()?;
    let wanted = wanted.unwrap_or_default();
    check_wanted(&caller, &wanted)?;
    let (generated_pin, hashed) = pin::generate(caller.auth()).await?;
    let now = caller.now();
    let by = pin::maker(&caller).await?;
    let check = async |tx: &mut Tx, new: &mut Model| {
        check(tx, new).await?;
        assignments::check(tx, &caller, "assignments", &wanted).await
    };
    let after = async |tx: &mut Tx, new: &Model| {
        assignments::insert(tx, new.id, &wanted, now).await?;
        set_pin(caller.auth(), tx, new.id, &hashed, Some(by), now).await
    };
    let Created { data, new } = rows::create::<Entity, _>(&caller, &KIND, body, check, after).await?;
    let user = detail(&caller, data).await?;
    // Of a repeated request only the first one set a PIN.
    Ok(Created { data: NewUser { user, generated_pin: new.then_some(generated_pin) }, new })
}

fn check_wanted(caller: &Caller<Fresh<UsersCreate>>, wanted: &[Grant]) -> Result<()> {
    const MANAGE: &[&str] = &["users.manage_roles"];
    if !wanted.is_empty() && !caller.may(MANAGE) {
        return Err(Error::forbidden(MANAGE));
    }
    if wanted.iter().collect::<BTreeSet<_>>().len() < wanted.len() {
        return Err(Error::new(ErrorCode::Duplicate, "a role is there twice in one place").at("assignments"));
    }
    // Without a role in one of their stores the creator would not see the user again.
    if wanted.is_empty() && caller.stores().is_some() {
        return Err(Error::field("assignments", "give a role in one of the stores where you may create users"));
    }
    Ok(())
}
