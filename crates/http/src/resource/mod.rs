//! What every kind of row has in common on the way in and out: lists with search, filter and sort by white list; a
//! draft or a change read from JSON, where an unknown or read-only key is refused by its name.

mod check;
mod columns;
mod drafts;
mod lists;
mod outdated;
mod query;
mod sought;

pub use check::Check;
pub use columns::taken;
pub(crate) use drafts::take;
pub use drafts::{Fields, changed, draft, same};
pub use lists::{Parts, counted_list, list, long_list, page_keys};
pub use outdated::{Expected, refuse_outdated, take_expected_version};
pub use query::{ListSpec, MAX_VALUE, Query, check_value, narrowed, search, selected, take_flag, take_id};
pub use sought::{PRODUCT_SEARCH, products_with};
