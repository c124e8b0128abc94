//! People who did not come in time to change the PIN that was made for them: a manager gives them a new one, or lets
//! them go.

use tillkeep_http::error::Result;

use super::{Asked, Notice};

const KIND: &str = "first_pin_expired";

pub(super) async fn find(asked: &Asked<'_>) -> Result<Vec<Notice>> {
    let over = asked.hq.auth.expired_first_pins().await?;
    let users = asked.people(over.into_iter().map(|user| user.id)).await?;
    if users.is_empty() {
        return Ok(Vec::new());
    }
    let text = "The first PINs of these people are over: they were not changed in time. Give each who still comes a new one on their page, and \
                deactivate the others.";
    Ok(vec![Notice {
        kind: KIND,
        at: asked.caller.now(),
        count: Some(users.len()),
        users,
        stores: Vec::new(),
        text: text.to_owned(),
    }])
}
