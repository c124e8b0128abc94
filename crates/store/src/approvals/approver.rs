//! Who may approve what.

use tillkeep_http::auth::{Access, Auth};
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
pub(crate) fn may_approve(auth: &Auth, person: &Access, permission: &'static str, store_id: Uuid) -> bool {
    person.is_active() && !auth.must_change_pin(person) && person.may(holders(permission), Some(store_id))
}

#[cfg(test)]
mod tests {
    use tillkeep_model::permission::APPROVABLE;

    #[test]
    fn every_code_that_can_be_approved_has_its_holders() {
        assert!(APPROVABLE.iter().all(|code| super::holders(code).contains(code)));
    }
}
