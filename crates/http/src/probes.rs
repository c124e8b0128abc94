//! Whether the server lives, and whether it can work: its database answers, and it is not about to stop. Outside of permissions and of `/api/v1`.

use serde::Serialize;
use tillkeep_model::ErrorCode;
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::auth::{Gate, HasAuth};
use crate::error::{Error, Result};
use crate::parameters::AnyQuery;
use crate::routes::Routes;

/// The probes.
pub fn routes<S>(routes: Routes<S>) -> Routes<S>
where
    S: HasAuth + Clone + 'static,
{
    routes
        .probe("/health", health)
        .about("Whether the server lives.")
        .probe("/ready", ready)
        .about("Whether requests are to be sent here: the database answers, and the server is not about to stop.")
}

#[derive(Serialize, ToSchema)]
pub struct Health {
    status: &'static str,
    version: &'static str,
}

async fn health(_: AnyQuery) -> Answer<Health> {
    Answer(Health { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

#[derive(Serialize, ToSchema)]
pub struct Readiness {
    status: &'static str,
}

async fn ready(Gate(auth): Gate, _: AnyQuery) -> Result<Answer<Readiness>> {
    let unavailable = |text| Error::new(ErrorCode::Unavailable, text).retry_after(2);
    if auth.leaving.is_cancelled() {
        return Err(unavailable("this server leaves"));
    }
    auth.db.ping().await.map_err(|error| unavailable("the database does not answer").because(error))?;
    Ok(Answer(Readiness { status: "ready" }))
}
