//! Who looks at how a sale was paid, where drawers are closed blind: one sale may be opened, to give money back or to print it again,
//! and each time is a line of the audit log. Whoever opens one after the other adds the drawer up, and it shows.

use serde_json::json;
use tillkeep_http::Caller;
use tillkeep_http::error::Result;
use tillkeep_model::permission::Requirement;
use tillkeep_storage::entity::sale;

use crate::Store;
use crate::act::Log;
use crate::sessions::view::knows;

/// So long a sale is what its cashier has just done: a till shows and prints it, which tells nothing that was not on its screen.
const JUST_MADE_MS: i64 = 5 * 60 * 1000;

/// Counts that the caller is shown `sale`, unless that tells nothing: the caller may close drawers, the store does not close blind,
/// the caller has just made it, or it is of another store. Holds no connection meanwhile, and nor may whoever calls it.
pub(crate) async fn count<P: Requirement>(caller: &Caller<P>, store: &Store, sale: &sale::Model) -> Result<()> {
    let is_just_made =
        sale.cashier_user_id == caller.user_id && caller.now().millis_since(sale.completed_at) <= JUST_MADE_MS;
    if is_just_made || sale.store_id != store.id || knows(caller, store).await? {
        return Ok(());
    }
    let details = json!({"receiptNumber": sale.receipt_number, "registerSessionId": sale.register_session_id});
    let act = store.act(caller, "sale.opened").about("sales", &sale.id);
    act.run(move |_| Box::pin(async move { Ok(((), Log::Line(details))) })).await
}
