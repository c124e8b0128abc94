//! Ways to pay besides cash and exchanges, which every headquarters has.

use tillkeep_model::pricing::TenderKind;
use tillkeep_model::{Instant, ids};
use tillkeep_storage::entity::tender;

/// The id of the tender with this code, `CASH` included.
fn id(code: &str) -> uuid::Uuid {
    ids::named(&format!("tender:{code}"))
}

pub fn all(at: Instant) -> Vec<tender::Model> {
    let tender = |sort_order, code: &str, name: &str, kind: TenderKind| tender::Model {
        id: id(code),
        created_at: at,
        updated_at: at,
        code: code.to_owned(),
        name: name.to_owned(),
        kind: kind.into(),
        // Nothing lies in the drawer that could be counted for it.
        counts_in_close: kind != TenderKind::OnAccount,
        requires_reference: kind == TenderKind::Check,
        is_refundable: true,
        is_voidable: true,
        requires_customer: kind == TenderKind::OnAccount,
        sort_order,
        // Gift cards wait until something keeps what is left on them.
        is_active: !kind.needs_value_ledger(),
        ..tender::Model::default()
    };
    vec![
        tender(1, "CARD", "Card", TenderKind::Card),
        tender(2, "GIFT", "Gift card", TenderKind::GiftCard),
        tender(3, "CHECK", "Check", TenderKind::Check),
        tender(4, "ACCT", "On account", TenderKind::OnAccount),
    ]
}
