//! What may be asked of lists that both servers have.

use crate::resource::ListSpec;

pub const TAX_RATES: ListSpec =
    ListSpec { search: &["code", "name"], filters: &[], sort: &["code", "name", "ratePpm", "createdAt"] };

pub const TENDERS: ListSpec = ListSpec {
    search: &["code", "name"],
    filters: &["kind"],
    sort: &["sortOrder", "code", "name", "kind", "createdAt"],
};
