//! Reasons: what tills offer to choose from. `docs/domain.md`, "Reasons".

use tillkeep_http::directory::reasons::LIST;
use tillkeep_http::error::Result;
use tillkeep_http::resource::ListSpec;
use tillkeep_model::{ErrorCode, Instant, fields};
use tillkeep_storage::Tx;
use tillkeep_storage::entity::reason::{Entity, Model};

use super::plain;
use super::plain::Rules;
use super::rows::Kind;
use crate::state::Routes;
use tillkeep_model::permission::code::StoresEdit;

impl Rules for Entity {
    const KIND: Kind = Kind {
        book: &fields::reason::BOOK,
        singular: "reason",
        unique: &[("kind, code", ErrorCode::CodeTaken)],
        hidden: &[],
    };

    const LIST: ListSpec = LIST;

    async fn check(_: &mut Tx, _: Option<&Model>, _: &mut Model, _: Instant) -> Result<()> {
        Ok(())
    }

    /// Documents have its code and its name: they stay readable without it.
    async fn deletable(_: &mut Tx, _: &Model, _: Instant) -> Result<()> {
        Ok(())
    }
}

/// The routes that change reasons; those that read them are in `tillkeep_http::directory`.
pub(crate) fn routes(routes: Routes) -> Routes {
    use ErrorCode::{CodeTaken, IdReused, VersionConflict};
    routes
        .post("/reasons", plain::create::<Entity, StoresEdit>)
        .about("Make a new reason.")
        .fails(&[IdReused, CodeTaken])
        .patch("/reasons/{id}", plain::edit::<Entity, StoresEdit>)
        .about("Change some fields of a reason.")
        .fails(&[VersionConflict, CodeTaken])
        .delete("/reasons/{id}", plain::delete::<Entity, StoresEdit>)
        .about("Delete a reason, in all stores too.")
        .fails(&[VersionConflict])
}
