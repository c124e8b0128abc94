//! What both servers show of the people and stores of the chain: headquarters its own rows, a store its copy. Writing
//! them is for headquarters alone.

pub mod audit_log;
pub mod explain;
pub mod roles;
pub mod stores;
pub mod users;

use crate::auth::HasAuth;
use crate::routes::Routes;

/// The reading routes.
pub fn routes<S>(routes: Routes<S>) -> Routes<S>
where
    S: HasAuth + Clone + 'static,
{
    routes
        .get("/stores", stores::list)
        .get("/users", users::list)
        .get("/users/{id}", users::get)
        .get("/users/{id}/roles", users::assignments)
        .get("/roles", roles::list)
        .get("/roles/{id}", roles::get)
        .get("/permissions", roles::permissions)
        .get("/permissions/explain", explain::explain)
        .get("/audit-log", audit_log::list)
}
