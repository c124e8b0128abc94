//! HTTPS from this server itself.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use rcgen::{CertificateParams, DnType, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tillkeep_http::server::{Limits, Tls};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::kit::{Client, HELLO, Server, short};

/// A certificate for localhost called `name`, and its key, as files in `dir`.
fn write_certificate(dir: &Path, name: &str) -> String {
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).expect("params");
    params.distinguished_name.push(DnType::CommonName, name);
    let key = KeyPair::generate().expect("key");
    let cert = params.self_signed(&key).expect("certificate").pem();
    std::fs::write(dir.join("cert.pem"), &cert).expect("write");
    std::fs::write(dir.join("key.pem"), key.serialize_pem()).expect("write");
    cert
}

async fn start() -> (Server, String) {
    let mut cert = String::new();
    let server = Server::start_with(short(), |dir| {
        cert = write_certificate(dir.path(), "first");
        Some(Tls::open(&dir.path().join("cert.pem"), &dir.path().join("key.pem")).expect("files"))
    })
    .await;
    (server, cert)
}

async fn connect(server: &Server, trusted: &str) -> std::io::Result<Client<TlsStream<TcpStream>>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(trusted.as_bytes()).expect("pem")).expect("root");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(server.address).await?;
    let name = ServerName::try_from("localhost").expect("name");
    Ok(Client(TlsConnector::from(Arc::new(config)).connect(name, stream).await?))
}

#[tokio::test]
async fn a_request_over_tls_is_answered_and_the_client_asked_to_stay_there() {
    let (server, cert) = start().await;
    let mut client = connect(&server, &cert).await.expect("trusted");
    client.send(HELLO).await;
    let reply = client.answer().await;
    assert_eq!(
        (reply.status, reply.header("strict-transport-security")),
        (200, Some("max-age=31536000; includeSubDomains"))
    );
    let written = std::fs::read_to_string(server.dir.path().join("address")).expect("address");
    assert!(written.starts_with("https://127.0.0.1:"), "{written}");
}

#[tokio::test]
async fn plain_http_on_the_tls_port_gets_no_answer() {
    let (server, _) = start().await;
    let mut client = server.connect().await;
    client.send(HELLO).await;
    let got = client.rest().await;
    assert!(!String::from_utf8_lossy(&got).contains("HTTP"), "{got:?}");
    let begun = Instant::now();
    assert!(server.connect().await.rest().await.is_empty(), "nor does silence");
    assert!(begun.elapsed() >= short().handshake);
}

#[tokio::test]
async fn a_server_that_stops_waits_for_no_handshake() {
    let dir = tempfile::tempdir().expect("dir");
    let cert = write_certificate(dir.path(), "one");
    let limits = Limits { handshake: std::time::Duration::from_mins(2), ..Limits::default() };
    let tls = Tls::open(&dir.path().join("cert.pem"), &dir.path().join("key.pem")).expect("files");
    let server = Server::start_with(limits.clone(), |_| Some(tls)).await;
    let _silent = server.connect().await;
    // Connections are taken in their order: when the second one is answered, the first one was taken.
    drop(connect(&server, &cert).await.expect("trusted"));
    let begun = Instant::now();
    server.stop().await;
    println!("stopped after {:?}", begun.elapsed());
    assert!(begun.elapsed() < limits.handshake / 2, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_renewed_certificate_is_shown_without_a_restart_and_a_broken_one_is_not() {
    let (server, first) = start().await;
    std::fs::write(server.dir.path().join("cert.pem"), "no certificate").expect("write");
    let other = tempfile::tempdir().expect("dir");
    let second = write_certificate(other.path(), "the second one");
    let begun = Instant::now();
    // Longer than two looks at the files: the broken pair was seen and left aside.
    while begun.elapsed() < std::time::Duration::from_secs(6) {
        assert!(connect(&server, &first).await.is_ok(), "the first one is still shown");
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
    for file in ["cert.pem", "key.pem"] {
        std::fs::copy(other.path().join(file), server.dir.path().join(file)).expect("copy");
    }
    while connect(&server, &second).await.is_err() {
        assert!(begun.elapsed() < std::time::Duration::from_mins(1), "the second one is never shown");
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
    assert!(connect(&server, &first).await.is_err());
}

#[tokio::test]
async fn a_certificate_renewed_while_the_server_starts_is_not_missed() {
    let dir = tempfile::tempdir().expect("dir");
    write_certificate(dir.path(), "the first one");
    let tls = Tls::open(&dir.path().join("cert.pem"), &dir.path().join("key.pem")).expect("files");
    let second = write_certificate(dir.path(), "the second one, with a longer name");
    let server = Server::start_with(short(), |_| Some(tls)).await;
    let begun = Instant::now();
    while connect(&server, &second).await.is_err() {
        assert!(begun.elapsed() < std::time::Duration::from_mins(1), "the second one is never shown");
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
}

#[test]
fn files_that_do_not_work_are_named() {
    let dir = tempfile::tempdir().expect("dir");
    let path = |name: &str| dir.path().join(name);
    let refusal = |cert: &str, key: &str| match Tls::open(&path(cert), &path(key)) {
        Ok(_) => panic!("accepted"),
        Err(error) => error.to_string(),
    };
    write_certificate(dir.path(), "one");
    assert!(refusal("none.pem", "key.pem").contains("tls_cert"), "{}", refusal("none.pem", "key.pem"));
    assert!(refusal("cert.pem", "none.pem").contains("none.pem"));
    assert!(refusal("key.pem", "key.pem").contains("tls_cert"));
    let other = tempfile::tempdir().expect("dir");
    write_certificate(other.path(), "another");
    std::fs::copy(other.path().join("key.pem"), path("other.pem")).expect("copy");
    assert!(refusal("cert.pem", "other.pem").contains("does not fit"), "{}", refusal("cert.pem", "other.pem"));
}
