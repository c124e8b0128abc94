//! What was sold, over all stores, and what their drawers came to.

mod best_sellers;
mod closed;
mod currencies;
mod dashboard;
mod hours;
mod journal;
mod paper;
mod posting;
mod trend;
mod variance;
mod z;
mod zz;

use tillkeep_model::ErrorCode;

use crate::state::Routes;

/// The routes of reports.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .get("/reports/dashboard", dashboard::dashboard)
        .about("What each store sold today, what it had sold a week before by the same hour, and how fresh its figures are.")
        .get("/reports/hours", hours::hours)
        .about("What was sold in each hour of a day, beside the week before and the average of four weeks.")
        .get("/reports/trend", trend::trend)
        .about("What each store sold on each of the last days, and all of them together.")
        .get("/reports/best-sellers", best_sellers::best_sellers)
        .about("The products that sold best, less what came back.")
        .get("/reports/z", z::list)
        .about("List the reports of closed drawers of all stores.")
        .get("/reports/z/{sessionId}", z::get)
        .about("The report of one closed drawer, as its store made it, as JSON, text or page.")
        .fails(&[ErrorCode::SessionOpen])
        .get("/reports/zz", zz::list)
        .about("List the reports of several drawers, of registers and of whole stores.")
        .get("/reports/zz/{storeId}/{zzNumber}", zz::get)
        .about("One report of several drawers, reckoned from the reports of those, as JSON, text or page.")
        .get("/reports/variance", variance::variance)
        .about("How much cash drawers were over and short, by day, person or store.")
        .get("/reports/journal", journal::get)
        .about("The journal of business days for bookkeepers: debits and credits of each store, as JSON or as a file.")
}
