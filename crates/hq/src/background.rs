//! What a server of headquarters does by itself while it runs.

use std::sync::Arc;

use tillkeep_http::auth::housekeeping;
use tillkeep_storage::DbErr;

use crate::sync::upkeep::{pruning, search_texts};
use crate::sync::{dashboard, deliver, judge, rounds, servers};
use crate::{Hq, alerts};

/// Joins the servers that run, and starts every background task.
pub(crate) async fn start(hq: &Arc<Hq>) -> Result<(), DbErr> {
    follow_auth(hq);
    servers::join(hq).await?;
    deliver::start(hq);
    judge::start(hq.clone());
    rounds::start(hq.clone());
    servers::start(hq.clone());
    pruning::start(hq.clone());
    dashboard::start(hq.clone());
    alerts::start(hq);
    search_texts::start(hq.clone());
    housekeeping::start(hq.auth.clone(), hq.leases.clone(), hq.stop.clone());
    Ok(())
}

/// Has the server hear of commits and ended sessions of people. Weak: what the server is made of must not keep the server.
fn follow_auth(hq: &Arc<Hq>) {
    let weak = Arc::downgrade(hq);
    hq.auth.when_committed(move |changes| {
        if let Some(hq) = weak.upgrade() {
            changes.map_or_else(|| hq.note_uncertain_commit(), |changes| hq.announce(changes));
        }
    });
    let weak = Arc::downgrade(hq);
    hq.auth.when_sessions_end(move || {
        if let Some(hq) = weak.upgrade() {
            hq.notifications.sessions_ended();
        }
    });
    let weak = Arc::downgrade(hq);
    hq.auth.when_others_are_followed(move || weak.upgrade().is_none_or(|hq| hq.is_alone() || hq.nodes.are_followed()));
}
