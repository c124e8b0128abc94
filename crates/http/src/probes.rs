//! Whether the server lives, and whether it can work: its database answers, and it is not about to stop. Outside of permissions and of `/api/v1`.

use axum::extract::State;
use serde::Serialize;
use tillkeep_model::{Alarm, ErrorCode};
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::auth::HasAuth;
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
        .probe("/ready", ready::<S>)
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
    /// What an operator has to look at though requests may come; absent when there is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    alarms: Vec<Alarm>,
}

async fn ready<S: HasAuth>(State(server): State<S>, _: AnyQuery) -> Result<Answer<Readiness>> {
    let auth = server.auth();
    let unavailable = |text| Error::new(ErrorCode::Unavailable, text).retry_after(2);
    if auth.leaving.is_cancelled() {
        return Err(unavailable("this server leaves"));
    }
    auth.db.ping().await.map_err(|error| unavailable("the database does not answer").because(error))?;
    Ok(Answer(Readiness { status: "ready", alarms: server.alarms() }))
}
