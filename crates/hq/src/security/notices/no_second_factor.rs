//! People with rights beyond a store whom nothing but a PIN keeps safe.

use std::collections::HashSet;

use tillkeep_http::auth::SecondFactor;
use tillkeep_http::error::Result;
use tillkeep_storage::{factors, staff};
use uuid::Uuid;

use super::{Asked, Notice};

const KIND: &str = "no_second_factor";

pub(super) async fn find(asked: &Asked<'_>) -> Result<Vec<Notice>> {
    // Where none is asked for, it would change nothing.
    if asked.hq.auth.second_factor == SecondFactor::Off {
        return Ok(Vec::new());
    }
    let conn = asked.caller.reader();
    let beyond: Vec<Uuid> = staff::beyond_a_store(conn).await?.into_iter().collect();
    let have: HashSet<Uuid> = factors::among(conn, &beyond).await?;
    let users = asked.people(beyond.into_iter().filter(|id| !have.contains(id))).await?;
    if users.is_empty() {
        return Ok(Vec::new());
    }
    let text = "These people have rights beyond a store and no second factor: whoever learns the PIN of one has those rights. Each \
                sets one up on the page of the own account.";
    Ok(vec![Notice {
        kind: KIND,
        at: asked.caller.now(),
        count: Some(users.len()),
        users,
        stores: Vec::new(),
        text: text.to_owned(),
    }])
}
