//! What both servers take with a new customer.

use serde::Deserialize;
use utoipa::ToSchema;

/// What is sent again with a customer who looks like one that is there, when it is another one all the same.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AllowDuplicate {
    pub allow_duplicate: Option<bool>,
}
