//! Alerts of a headquarters with two servers.

use serde_json::json;
use tillkeep_hq::alerts::{deliver, look};
use tillkeep_hq::testing::Databases as _;
use tillkeep_storage::entity::alert;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use super::another;
use crate::backoffice::alert_hooks::{hook, posted, silent};
use crate::backoffice::kit::Kit;
use crate::backoffice::receiver::Receiver;

#[tokio::test(flavor = "multi_thread")]
async fn of_two_servers_one_tells_of_an_alert() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (other, _) = another(&kit).await;
    let receiver = Receiver::start().await;
    hook(&kit, &admin, &receiver.url(), json!(["store_silent"])).await;
    silent(&kit, "S01").await;
    for _ in 0..3 {
        let (here, there) = tokio::join!(look(&kit.hq), look(&other));
        here.and(there).expect("looks");
        let (here, there) = tokio::join!(deliver(&kit.hq), deliver(&other));
        here.and(there).expect("posts");
    }
    posted(&kit).await;
    assert_eq!(receiver.posted().len(), 1);
    let silent = alert::Entity::find().filter(alert::Column::Kind.eq("store_silent"));
    assert_eq!(silent.all(kit.hq.db().reader()).await.expect("alerts").len(), 1);
    other.stop.cancel();
}
