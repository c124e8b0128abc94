//! The wire as it is read and written.

use super::*;

#[test]
fn snake_case_rows_are_read_like_camel_case_ones() {
    let mut row = serde_json::json!({"receipt_number": "S01-01-000001", "store_id": "x", "totalAmount": 1});
    let row = row.as_object_mut().expect("object");
    normalise_keys(row);
    assert_eq!(row.keys().collect::<Vec<_>>(), ["receiptNumber", "storeId", "totalAmount"]);
}

#[test]
fn what_could_not_be_stored_is_read_as_it_was_written_and_stays_short() {
    let written = |types: &[(&str, &str)]| {
        unstored::write(&types.iter().map(|(name, why)| ((*name).to_owned(), (*why).to_owned())).collect())
    };
    let read =
        |text: &str| unstored::read(text).map(|(name, why)| (name.to_owned(), why.to_owned())).collect::<Vec<_>>();
    let pair = |name: &str, why: &str| (name.to_owned(), why.to_owned());
    assert_eq!(read(&written(&[])), []);
    let two = written(&[("products", "no, it: cannot\nbe"), ("tenders", "")]);
    assert_eq!(read(&two), [pair("products", "no; it: cannot be"), pair("tenders", "")]);
    assert_eq!(read("products,,tenders"), [pair("products", ""), pair("tenders", "")]);
    let long = "x".repeat(5000);
    let many: Vec<String> = (0..21).map(|number| format!("type{number}")).collect();
    let all: Vec<(&str, &str)> = many.iter().map(|name| (name.as_str(), long.as_str())).collect();
    assert_eq!(read(&written(&all)).len(), 21);
    assert!(written(&all).len() < 1300 && written(&all[..1]).len() < 130);
}

#[test]
fn why_a_connection_ended_is_kept_and_reported_by_one_name() {
    for ended in Ended::ALL {
        assert_eq!(Ended::parse(ended.as_str()), Some(ended));
        assert_eq!(serde_json::to_value(ended).expect("json"), ended.as_str());
    }
    assert_eq!(Ended::parse("gone"), None);
}

#[test]
fn the_messages_of_the_socket_are_the_specification_s() {
    let notify = HqMessage::Notify { entity_type: "products".into(), latest_version: Some(7) };
    assert_eq!(
        serde_json::to_value(notify).expect("json"),
        serde_json::json!({"type": "sync:notify", "entityType": "products", "latestVersion": 7})
    );
    let auth = StoreMessage::read(r#"{"type":"auth","sync_token":"t"}"#).expect("auth");
    assert!(matches!(auth, StoreMessage::Auth { sync_token } if sync_token == "t"));
    let beat = r#"{"type":"heartbeat","storeCode":"S01","uptime":12.5,"timestamp":"2026-11-20T12:00:00Z"}"#;
    assert!(StoreMessage::read(r#"["auth","t"]"#).is_err(), "a list is no message");
    assert!(matches!(StoreMessage::read(beat), Ok(StoreMessage::Heartbeat(beat)) if beat.store_code == "S01"));
}
