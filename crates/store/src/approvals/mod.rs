//! A second person says yes: an approver who holds a permission lends it to a caller who does not, for one action at
//! one terminal. It never signs the second person in. `docs/domain.md`, "Manager approval".

mod approver;
mod presented;
mod scope;

pub(crate) use approver::may_approve;
pub(crate) use presented::{Approval, PresentedApprovals, ValidApprovals};
pub(crate) use scope::{CORRECTION, Context, NEW_BALANCE, Scope, Variance, digest};
