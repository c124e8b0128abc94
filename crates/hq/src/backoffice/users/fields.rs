//! What a user must be like, beyond what the rule book says of each field.

use tillkeep_http::error::{Error, Result};
use tillkeep_http::{names, resource};
use tillkeep_model::{ErrorCode, fields};
use tillkeep_storage::Tx;
use tillkeep_storage::entity::user::{Entity, Model};
use tillkeep_storage::registry::fold;

use crate::backoffice::rows::Kind;

pub(super) const KIND: Kind = Kind {
    book: &fields::user::BOOK,
    singular: "user",
    unique: &[("username_folded", ErrorCode::UsernameTaken), ("employeeCode", ErrorCode::Duplicate)],
    hidden: &["pinHash", "pinLookup", "usernameFolded"],
};

/// Completes or refuses a user about to be written.
pub(super) async fn check(tx: &Tx, row: &mut Model) -> Result<()> {
    let name = names::normal(&row.username);
    // A name from before stays good until it is changed.
    if row.username_folded != fold(&row.username) {
        if let Some(flaw) = names::flaw(&name) {
            return Err(Error::field("username", flaw));
        }
        row.username_folded = fold(&name);
        row.username = name;
    }
    if resource::taken::<Entity>(tx, row.id, "username_folded", row.username_folded.as_str()).await? {
        return Err(Error::new(ErrorCode::UsernameTaken, "another user has this name").at("username"));
    }
    Ok(())
}
