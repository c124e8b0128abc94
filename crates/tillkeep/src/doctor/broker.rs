//! The message broker between servers of headquarters, where one is configured.

use std::sync::Arc;

use super::finding::{Checked, Unchecked, ok, warning};
use super::installation::Installation;
use crate::configuration;

pub async fn answers(at: Arc<Installation>) -> Checked {
    let hq = &at.configuration.hq;
    if hq.nats_url.is_empty() {
        return Ok(Vec::new());
    }
    // What is wrong with its settings is said of the configuration.
    let Ok(Some(broker)) = configuration::broker(hq) else {
        return Err(Unchecked::Because("its settings are not sound".to_owned()));
    };
    Ok(vec![match broker.reach().await {
        Ok(()) => ok(format!("{} answers", hq.nats_url)),
        Err(error) => warning(
            format!("{}: {error}", hq.nats_url),
            "see NATS_URL and that the server runs with JetStream (nats-server -js); stores of other servers learn of changes in \
             their next cycle meanwhile",
        ),
    }])
}
