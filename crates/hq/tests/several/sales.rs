//! Sales told by a headquarters with two servers.

use std::collections::BTreeSet;

use tillkeep_hq::alerts::tell;

use super::another;
use crate::backoffice::kit::Kit;
use crate::backoffice::receiver::{Posted, Receiver};
use crate::backoffice::sale_hooks::{receipts, receiver_of_sales, sold, told};

#[tokio::test(flavor = "multi_thread")]
async fn of_two_servers_one_tells_of_a_sale() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (other, _) = another(&kit).await;
    let store = kit.store("S01").await;
    let receiver = Receiver::start().await;
    let (id, _) = receiver_of_sales(&kit, &admin, &receiver.url(), &[]).await;
    let numbers: Vec<String> = (1..=5).map(|n| format!("S01-01-{n:06}")).collect();
    for number in &numbers {
        kit.push(&kit.sync_token(store), &[sold(store, number)]).await;
        let (here, there) = tokio::join!(tell(&kit.hq), tell(&other));
        here.and(there).expect("rounds");
    }
    // Whichever of them has the lease does it, by itself as well.
    told(&kit, &admin, id).await;
    assert_eq!(receipts(&receiver), numbers, "each once, in their order");
    let posted = receiver.posted();
    let events: BTreeSet<&str> = posted.iter().map(Posted::event).collect();
    assert_eq!(events.len(), posted.len());
    other.stop.cancel();
}
