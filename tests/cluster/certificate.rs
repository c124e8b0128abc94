//! A certificate that a store makes for itself, as a till sees it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::authority::Authority;
use crate::kit::{Process, eventually};

/// `tillkeep store certificate` for the store in `dir`.
fn certificate(dir: &Path, names: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tillkeep"));
    command.args(["store", "certificate", "--data-dir"]).arg(dir).env_clear();
    for name in names {
        command.args(["--name", *name]);
    }
    command.output().expect("the program runs")
}

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).expect("a text")
}

fn refused(output: &Output) -> String {
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr.clone()).expect("a text")
}

fn read(dir: &Path, name: &str) -> String {
    std::fs::read_to_string(dir.join("tls").join(name)).expect("a file")
}

/// What stands behind `NAME=` in what was said.
fn named(said: &str, name: &str) -> String {
    let line = said.lines().find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix('='));
    line.unwrap_or_else(|| panic!("{name} in {said}")).to_owned()
}

/// A store with a token of no store, which nobody signs in to.
fn store(dir: &Path, said: &str) -> Process {
    let token = "e30.eyJzdG9yZUlkIjoiMDE5MDAwMDAtMDAwMC03MDAwLTgwMDAtMDAwMDAwMDAwMDAxIiwic3RvcmVDb2RlIjoiUzAxIiwidHlwZSI6InN0b3JlX3N5bmMifQ.x";
    let (cert, key) = (named(said, "TLS_CERT"), named(said, "TLS_KEY"));
    let environment = [("SYNC_TOKEN", token), ("HQ_URL", "http://127.0.0.1:9"), ("TLS_CERT", &cert), ("TLS_KEY", &key)];
    Process::start("store", dir, &environment)
}

/// The answer of `/health` to a till that trusts the authorities in this text.
async fn health(url: &str, trusted: &str) -> reqwest::Result<u16> {
    let authority = reqwest::Certificate::from_pem(trusted.as_bytes())?;
    // A connection of its own each time: one that is open shows the certificate of before.
    let till = reqwest::Client::builder().no_proxy().tls_certs_only([authority]).build()?;
    Ok(till.get(format!("{url}/health")).send().await?.status().as_u16())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_shows_a_certificate_of_its_own_making_to_tills_that_trust_its_authority_and_renews_it() {
    let dir = TempDir::new().expect("dir");
    let dir = dir.path();
    let first = said(&certificate(dir, &["till.shop.example", "192.168.77.5"]));
    for word in ["till.shop.example, 192.168.77.5, localhost, 127.0.0.1, ::1", "authority.crt", "SHA-256 "] {
        assert!(first.contains(word), "{word} in {first}");
    }
    for name in ["authority.json", "authority.crt", "store.pem", "store.key"] {
        let about = std::fs::metadata(dir.join("tls").join(name)).expect("it is there");
        assert_eq!(about.permissions().mode() & 0o777, 0o600, "{name}");
    }
    let authority = read(dir, "authority.crt");
    assert!(!authority.contains("PRIVATE KEY") && !read(dir, "store.pem").contains("PRIVATE KEY"));

    let shop = store(dir, &first);
    assert!(shop.url.starts_with("https://127.0.0.1:"), "{}", shop.url);
    assert_eq!(health(&shop.url, &authority).await.expect("trusted"), 200);
    let by_name = shop.url.replace("127.0.0.1", "localhost");
    assert_eq!(health(&by_name, &authority).await.expect("trusted by its name too"), 200);
    let stranger = Authority::new("another shop's").pem;
    assert!(health(&shop.url, &stranger).await.is_err(), "who trusts another authority does not trust this store");
    let anybody = reqwest::Client::builder().no_proxy().build().expect("a client");
    assert!(anybody.get(format!("{}/health", shop.url)).send().await.is_err(), "nor does who trusts none");

    // Renewed: tills see nothing of it, and names are those of before.
    let before = read(dir, "store.pem");
    let second = said(&certificate(dir, &[]));
    assert!(second.contains("till.shop.example, 192.168.77.5"), "{second}");
    assert_eq!(read(dir, "authority.crt"), authority);
    assert_ne!(read(dir, "store.pem"), before);
    eventually("the server shows the new one", async || {
        shop.log().contains("a renewed certificate is in use").then_some(())
    })
    .await;
    assert_eq!(health(&shop.url, &authority).await.expect("trusted still"), 200);

    // What a person lost of it is written again.
    std::fs::remove_file(dir.join("tls/authority.crt")).expect("gone");
    said(&certificate(dir, &["other.shop.example"]));
    assert_eq!(read(dir, "authority.crt"), authority);
}

#[test]
fn a_renewal_keeps_the_names_that_were_found_at_first() {
    let dir = TempDir::new().expect("dir");
    let first = said(&certificate(dir.path(), &[]));
    let kept: serde_json::Value = serde_json::from_str(&read(dir.path(), "authority.json")).expect("JSON");
    let names: Vec<&str> = kept["names"].as_array().expect("names").iter().filter_map(|name| name.as_str()).collect();
    let hosts = |said: &str| {
        let (_, names) = said.split_once("A certificate for ").expect("what it is for");
        names.split_once(", good until").expect("an end").0.to_owned()
    };
    let said_first = hosts(&first);
    assert!(said_first.starts_with(&names.join(", ")), "{said_first}: {names:?}");
    // As on a machine that has moved to another network since.
    let moved = read(dir.path(), "authority.json").replace(names.first().copied().unwrap_or("[]"), "before.example");
    std::fs::write(dir.path().join("tls/authority.json"), &moved).expect("written");
    if !names.is_empty() {
        assert!(hosts(&said(&certificate(dir.path(), &[]))).starts_with("before.example"));
    }
}

#[test]
fn an_authority_that_ended_is_followed_by_another_one_as_the_command_says() {
    let dir = TempDir::new().expect("dir");
    said(&certificate(dir.path(), &["till.shop.example"]));
    let mut kept: serde_json::Value = serde_json::from_str(&read(dir.path(), "authority.json")).expect("JSON");
    kept["validUntil"] = "2020-01-01".into();
    std::fs::write(dir.path().join("tls/authority.json"), kept.to_string()).expect("written");
    let text = refused(&certificate(dir.path(), &[]));
    let folder = dir.path().join("tls");
    assert!(text.contains(&format!("Move the folder {} to another place", folder.display())), "{text}");
    std::fs::rename(&folder, dir.path().join("former")).expect("moved");
    said(&certificate(dir.path(), &["till.shop.example"]));
}

#[test]
fn files_of_somebody_else_stay_as_they_are() {
    let dir = TempDir::new().expect("dir");
    let tls = dir.path().join("tls");
    std::fs::create_dir(&tls).expect("a folder");
    for name in ["store.pem", "store.key", "authority.crt", "authority.json"] {
        std::fs::write(tls.join(name), "of the shop's own").expect("a file");
        let said = refused(&certificate(dir.path(), &[]));
        assert!(said.contains(name) && said.contains("move it"), "{name}: {said}");
        assert_eq!(read(dir.path(), name), "of the shop's own");
        std::fs::remove_file(tls.join(name)).expect("gone");
        assert_eq!(std::fs::read_dir(&tls).expect("a folder").count(), 0, "nothing else was made beside {name}");
    }
    said(&certificate(dir.path(), &[]));
    let authority = read(dir.path(), "authority.json");
    std::fs::write(tls.join("store.pem"), "bought").expect("a file");
    let said = refused(&certificate(dir.path(), &[]));
    assert!(said.contains("store.pem"), "{said}");
    assert_eq!((read(dir.path(), "store.pem"), read(dir.path(), "authority.json")), ("bought".to_owned(), authority));
    let said = refused(&certificate(dir.path(), &["https://till.shop.example"]));
    assert!(said.contains("--name") && said.contains("without https://"), "{said}");
}
