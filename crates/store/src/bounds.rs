//! How large what a client sends may be: far above any shop, far below what the arithmetic holds.

use tillkeep_http::error::{Error, Result};
use tillkeep_model::fields::LARGEST;
use uuid::Uuid;

/// Minor units of any amount, in either direction.
pub(crate) const LARGEST_AMOUNT: i64 = LARGEST;

/// The id of a document that moves money or stock. A till that hears no answer sends its request again; without an id it
/// would be done again.
pub(crate) fn document_id(id: Option<Uuid>) -> Result<Uuid> {
    id.filter(|id| !id.is_nil()).ok_or_else(|| {
        let text = "is required: send a UUID that the client makes for this document, and the same one when it sends the \
                    request again";
        Error::field("id", text)
    })
}
