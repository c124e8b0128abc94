//! A second person says yes: somebody who holds a permission lends it to somebody who does not, for one deed at one
//! terminal. It never signs the second person in. `docs/domain.md`, "Manager approval".

mod grant;
mod scope;
mod spend;

pub use scope::{Scope, cart_hash};
pub use spend::{Granted, Purse, Wallet};

use crate::routes::Routes;
use tillkeep_http::auth::{Access, Auth};
use tillkeep_model::ErrorCode;
use uuid::Uuid;

/// Whoever may do it themselves may approve it: for most codes that is the code, but a drawer is also closed by whoever
/// holds the report of it.
fn holders(permission: &'static str) -> &'static [&'static str] {
    match permission {
        "pos.discount" => &["pos.discount"],
        "pos.discount.override_max" => &["pos.discount.override_max"],
        "pos.price.override" => &["pos.price.override"],
        "pos.void" => &["pos.void"],
        "pos.refund" => &["pos.refund"],
        "registers.open" => &["registers.open"],
        "registers.close" => &["registers.close", "reports.z_report"],
        // A code that nobody holds: what is not in this list cannot be approved.
        _ => &["-"],
    }
}

/// Whether somebody may approve `permission` in this store now. Who has to change a PIN has to only while that is possible.
fn may_approve(auth: &Auth, person: &Access, permission: &'static str, store_id: Uuid) -> bool {
    let barred = person.user.must_change_pin && auth.can_change_pins();
    person.is_active() && !barred && person.may(holders(permission), Some(store_id))
}

/// The route of approvals.
pub fn routes(routes: Routes) -> Routes {
    use ErrorCode::{
        ApproverLacksPermission, Conflict, PinLocked, StoreNotReady, TooManyRequests, WrongPin, WrongTerminal,
    };
    routes
        .post("/pos/approvals", grant::grant)
        .about("A second person says yes with a PIN: a token for one deed at this terminal.")
        .fails(&[WrongPin, PinLocked, TooManyRequests, ApproverLacksPermission, Conflict, StoreNotReady, WrongTerminal])
}

#[cfg(test)]
mod tests {
    use tillkeep_model::permission::APPROVABLE;

    #[test]
    fn every_code_that_can_be_approved_has_its_holders() {
        assert!(APPROVABLE.iter().all(|code| super::holders(code).contains(code)));
    }
}
