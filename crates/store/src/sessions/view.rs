//! Who may know the figures of a drawer of this store.

use tillkeep_http::Caller;
use tillkeep_http::documents::drawers::MAY_CLOSE;
use tillkeep_http::error::Result;
use tillkeep_model::permission::Requirement;

use crate::Store;

/// Whether the caller may know what should be in a drawer. A store that has not pulled its settings yet is blind.
pub(crate) async fn knows<P: Requirement>(caller: &Caller<P>, store: &Store) -> Result<bool> {
    Ok(caller.may(MAY_CLOSE) || !store.shop().await?.closes_blind())
}
