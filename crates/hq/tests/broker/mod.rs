//! A message broker on a bad line, and behind a lock. What it does has nothing to do with the database.

mod identity;
#[path = "../../../../tests/cluster/kit/proxy.rs"]
#[expect(dead_code, reason = "a broker has fewer faults than the line of a store")]
mod proxy;

use std::fs;
use std::process::Command;
use std::time::Duration;

use tillkeep_hq::notify::Broker;
use tokio::time::timeout;

use self::identity::Identity;
use self::proxy::{Fault, Proxy};
use crate::backoffice::kit::Kit;
use crate::backoffice::nats_server::NatsServer;
use crate::backoffice::notifications::{PATIENCE, broker, notified, site};

/// Makes a broker stand still with its connections, or go on.
fn signal(server: &NatsServer, name: &str) {
    let id = server.child.as_ref().expect("it runs").id().to_string();
    let sent = Command::new("kill").args([name, &id]).status();
    assert!(sent.is_ok_and(|status| status.success()), "nats-server does not hear");
}

#[tokio::test]
async fn a_broker_that_is_slow_or_swallows_everything_changes_no_answer() {
    let server = NatsServer::start_with("");
    let proxy = Proxy::start(&format!("http://{}", server.address())).await;
    let site = site(broker(proxy.url.replacen("http", "nats", 1))).await;
    site.degraded(false).await;
    // A little late is only late.
    proxy.set(Fault::Delay(Duration::from_millis(200)));
    let version = site.change("LATE").await;
    notified(&site.there, "departments", version).await;
    site.degraded(false).await;
    // On a connection that stands nothing comes back: as good as away, and the database is asked.
    signal(&server, "-STOP");
    let version = site.change("FROZEN").await;
    site.degraded(true).await;
    notified(&site.there, "departments", version).await;
    signal(&server, "-CONT");
    site.degraded(false).await;
    // A connection that is taken and never served.
    proxy.set(Fault::HalfOpen);
    site.degraded(true).await;
    let version = site.change("SILENT").await;
    proxy.set(Fault::None);
    site.degraded(false).await;
    notified(&site.there, "departments", version).await;
    let version = site.change("FINE").await;
    notified(&site.there, "departments", version).await;
}

#[tokio::test]
async fn the_broker_is_reached_over_tls_with_a_credentials_file_and_else_not() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = |name: &str| dir.path().join(name);
    let certificate = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    fs::write(path("ca.pem"), certificate.cert.pem()).expect("a file");
    fs::write(path("key.pem"), certificate.signing_key.serialize_pem()).expect("a file");
    let identity = Identity::new();
    fs::write(path("hq.creds"), &identity.credentials).expect("a file");
    let more = format!(
        "tls {{ cert_file: \"{0}/ca.pem\", key_file: \"{0}/key.pem\" }}\n{1}",
        dir.path().display(),
        identity.configuration
    );
    let server = NatsServer::start_with(&more);
    let url = format!("tls://{}", server.address());
    let full =
        Broker { url: url.clone().into(), credentials_file: Some(path("hq.creds")), ca_file: Some(path("ca.pem")) };
    let anonymous = Broker { credentials_file: None, ..full.clone() };
    let stranger = Broker { ca_file: None, ..full.clone() };

    let site = site(full).await;
    site.degraded(false).await;
    let version = site.change("SECRET").await;
    notified(&site.there, "departments", version).await;

    for (broker, why) in [(anonymous, "authorization"), (stranger, "")] {
        let kit = Kit::with_broker(broker).await;
        let mut standing = kit.hq.notifications.standing();
        let refused = standing.wait_for(|standing| {
            standing
                .reason
                .as_deref()
                .is_some_and(|reason| reason.contains("cannot be reached (") && reason.contains(why))
        });
        let refused = timeout(PATIENCE, refused).await.expect("refused in time").expect("a queue").clone();
        let reason = refused.reason.expect("a reason");
        assert!(refused.degraded && !reason.contains("SU"), "{reason}");
    }
}
