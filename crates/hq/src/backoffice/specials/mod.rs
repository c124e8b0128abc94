//! Specials: what costs less, when and where. `docs/domain.md`, "Specials".

mod floor;
mod mix_group;
mod shape;

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::json;
use tillkeep_http::describe::{Change, Draft, Write};
use tillkeep_http::directory::specials::LIST;
use tillkeep_http::error::Result;
use tillkeep_http::resource::{Check, Fields, ListSpec};
use tillkeep_http::{Answer, Body, Caller, Created, Id};
use tillkeep_model::permission::code::SpecialsManage;
use tillkeep_model::{ErrorCode, Instant, fields};
use tillkeep_storage::Tx;
use tillkeep_storage::entity::product_special::{Entity, Model};
use utoipa::ToSchema;

use super::plain;
use super::plain::Rules;
use super::rows::{self, Kind};
use crate::state::Routes;

impl Rules for Entity {
    const KIND: Kind = Kind {
        book: &fields::special::BOOK,
        singular: "special",
        unique: &[("code", ErrorCode::DuplicateCode)],
        hidden: &[],
    };

    const LIST: ListSpec = LIST;

    async fn check(tx: &mut Tx, old: Option<&Model>, row: &mut Model, _: Instant) -> Result<()> {
        let mut check = Check::default();
        shape::check(&mut check, old, row);
        shape::check_others(tx, &mut check, old, row).await?;
        check.finish()?;
        mix_group::check(tx, old, row).await
    }

    /// Sales have its code and name beside what it took off.
    async fn deletable(_: &mut Tx, _: &Model, _: Instant) -> Result<()> {
        Ok(())
    }
}

/// What is sent again with what was warned of.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Force {
    /// A price below the lowest one of a product is meant.
    force: Option<bool>,
}

/// A special as it is written.
pub(crate) struct Written;

impl Write for Written {
    type Row = Entity;
    const FIELDS: Fields = Entity::KIND.fields();
    type More = Force;

    fn name() -> Cow<'static, str> {
        "Special".into()
    }
}

/// `POST /specials`
async fn create(caller: Caller<SpecialsManage>, Body(draft): Body<Draft<Written>>) -> Result<Created<Model>> {
    caller.everywhere()?;
    let (body, Force { force }) = draft.parted()?;
    let now = caller.now();
    let check = async |tx: &mut Tx, new: &mut Model| {
        Entity::check(tx, None, new, now).await?;
        if force == Some(true) { Ok(()) } else { floor::check(tx, None, new).await }
    };
    rows::create::<Entity, _>(&caller, &Entity::KIND, body, check, async |_, _| Ok(())).await
}

/// `PATCH /specials/{id}`: another type takes the figures of the former one away.
async fn edit(
    caller: Caller<SpecialsManage>,
    Id(id): Id,
    Body(change): Body<Change<Written>>,
) -> Result<Answer<Model>> {
    caller.everywhere()?;
    let (body, Force { force }) = change.parted()?;
    let now = caller.now();
    let sent: BTreeSet<String> = body.keys().cloned().collect();
    let check = async |tx: &mut Tx, old: &Model, new: &mut Model| {
        shape::follow_type(old, new, |field| sent.contains(field));
        Entity::check(tx, Some(old), new, now).await?;
        if force == Some(true) { Ok(()) } else { floor::check(tx, Some(old), new).await }
    };
    rows::change::<Entity, _>(&caller, &Entity::KIND, id, body, check, async |_, _, _| Ok(())).await.map(Answer)
}

/// `POST /specials/{id}/deactivate`
async fn deactivate(caller: Caller<SpecialsManage>, Id(id): Id) -> Result<Answer<Model>> {
    caller.everywhere()?;
    let end = async |_: &mut Tx, old: &Model, new: &mut Model| {
        new.is_active = false;
        Ok(json!({"from": {"isActive": old.is_active}, "to": {"isActive": false}}))
    };
    let kind = &Entity::KIND;
    rows::update::<Entity, _>(&caller, kind, ("deactivate", id), end, async |_, _, _| Ok(())).await.map(Answer)
}

/// The routes that change specials; those that read them are in `tillkeep_http::directory`.
pub(crate) fn routes(routes: Routes) -> Routes {
    use ErrorCode::{BelowMinPrice, DuplicateCode, IdReused, VersionConflict};
    routes
        .post("/specials", create)
        .about("Make a new special.")
        .fails(&[IdReused, DuplicateCode, BelowMinPrice])
        .patch("/specials/{id}", edit)
        .about("Change some fields of a special.")
        .fails(&[VersionConflict, DuplicateCode, BelowMinPrice])
        .post("/specials/{id}/deactivate", deactivate)
        .about("End a special now, in every store where it is in force.")
        .delete("/specials/{id}", plain::delete::<Entity, SpecialsManage>)
        .about("Delete a special, in all stores too.")
        .fails(&[VersionConflict])
}
