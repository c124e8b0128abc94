//! What people who look after accounts should know.

mod notices;

use crate::state::Routes;

/// The routes of this room.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes.get("/security/notices", notices::list).about(
        "What weakens the accounts of this chain now, for the dashboard: each with people and stores, and a text.",
    )
}
