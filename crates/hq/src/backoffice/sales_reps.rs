//! Sales representatives.

use tillkeep_http::directory::sales_reps::LIST;
use tillkeep_http::error::Result;
use tillkeep_http::resource::{Check, ListSpec};
use tillkeep_model::{ErrorCode, Instant, fields};
use tillkeep_storage::Tx;
use tillkeep_storage::entity::sales_rep::{Entity, Model};
use tillkeep_storage::entity::{store, user};
use uuid::Uuid;

use super::plain;
use super::plain::Rules;
use super::references::lives;
use super::rows::Kind;
use crate::state::Routes;
use tillkeep_model::permission::code::{SalesRepsCreate, SalesRepsDelete, SalesRepsEdit};

impl Rules for Entity {
    const KIND: Kind = Kind {
        book: &fields::sales_rep::BOOK,
        singular: "sales representative",
        unique: &[("code", ErrorCode::DuplicateCode)],
        hidden: &[],
    };

    const LIST: ListSpec = LIST;

    async fn check(tx: &mut Tx, old: Option<&Model>, row: &mut Model, _: Instant) -> Result<()> {
        let is_new = |id: fn(&Model) -> Option<Uuid>| old.is_none_or(|old| id(old) != id(row));
        let mut check = Check::default();
        if let Some(user) = row.user_id.filter(|_| is_new(|row| row.user_id)) {
            check.that(lives::<user::Entity>(tx, user).await?, "userId", "is no user");
        }
        if let Some(store) = row.store_id.filter(|_| is_new(|row| row.store_id)) {
            check.that(lives::<store::Entity>(tx, store).await?, "storeId", "is no store");
        }
        check.finish()
    }

    /// Sales keep the id of who sold, and reports find the deleted row by it.
    async fn deletable(_: &mut Tx, _: &Model, _: Instant) -> Result<()> {
        Ok(())
    }
}

/// The routes that change sales representatives; those that read them are in `tillkeep_http::directory`.
pub(crate) fn routes(routes: Routes) -> Routes {
    use ErrorCode::{DuplicateCode, IdReused, VersionConflict};
    routes
        .post("/sales-reps", plain::create::<Entity, SalesRepsCreate>)
        .about("Make a new sales representative.")
        .fails(&[IdReused, DuplicateCode])
        .patch("/sales-reps/{id}", plain::edit::<Entity, SalesRepsEdit>)
        .about("Change some fields of a sales representative.")
        .fails(&[VersionConflict, DuplicateCode])
        .delete("/sales-reps/{id}", plain::delete::<Entity, SalesRepsDelete>)
        .about("Delete a sales representative, in all stores too.")
        .fails(&[VersionConflict])
}
