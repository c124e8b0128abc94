//! What was sold, over all stores.

mod dashboard;

use crate::state::Routes;

/// The routes of reports.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes.get("/reports/dashboard", dashboard::dashboard).about(
        "What each store sold today, what it had sold a week before by the same hour, and how fresh its figures are.",
    )
}
