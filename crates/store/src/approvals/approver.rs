//! Who may approve what.

use tillkeep_http::auth::{Access, Auth};
use tillkeep_model::approvable::Approvable;
use uuid::Uuid;

/// Whether a user may approve this in this store now. Who has to change a PIN has to only while that is possible.
pub(crate) fn may_approve(auth: &Auth, person: &Access, approvable: &Approvable, store_id: Uuid) -> bool {
    person.is_active() && !auth.must_change_pin(person) && person.may(approvable.holders, Some(store_id))
}
