//! A second person says yes: somebody who holds a permission lends it to somebody who does not, for one action at one
//! terminal. It never signs the second person in. `docs/domain.md`, "Manager approval".

mod approver;
mod grant;
mod presented;
mod scope;

pub(crate) use presented::{Approval, PresentedApprovals, ValidApprovals};
pub(crate) use scope::Scope;
pub(crate) use scope::digest;

use crate::state::Routes;
use tillkeep_model::ErrorCode;

/// The route of approvals.
pub(crate) fn routes(routes: Routes) -> Routes {
    use ErrorCode::{
        ApproverLacksPermission, Conflict, PinLocked, StoreNotReady, TooManyRequests, WrongPin, WrongTerminal,
    };
    routes
        .post("/pos/approvals", grant::grant)
        .about("A second person says yes with a PIN: a token for one action at this terminal.")
        .fails(&[WrongPin, PinLocked, TooManyRequests, ApproverLacksPermission, Conflict, StoreNotReady, WrongTerminal])
}
