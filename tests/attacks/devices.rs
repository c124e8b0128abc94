//! A guesser in the shop's network without a device: no other user waits.

use serde_json::{Value, json};
use tillkeep_storage::Db;
use tillkeep_storage::raw::query;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use uuid::Uuid;

use crate::device::{Device, person};
use crate::kit::{Client, TestCluster, TestStore, eventually, id};

/// Where the tills are, where the guesser is, and a till that was not enrolled.
const TILLS: u8 = 1;
const LAPTOP: u8 = 66;
const ELSEWHERE: u8 = 3;

/// A store with tills 01 and 02, and who may do everything there.
async fn with_two_tills(site: &TestStore) -> (Client, [String; 2]) {
    let admin = site.open_till().await;
    let registers = admin.get("/registers").await.data();
    let second = admin.post("/registers", json!({"code": "02", "name": "Back", "terminalId": "T2"})).await.data();
    (admin, [id(&registers[0]), id(&second)])
}

fn token(answer: &(u16, Value)) -> String {
    assert_eq!(answer.0, 200, "{}", answer.1);
    answer.1["data"]["accessToken"].as_str().expect("a token").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_wrong_pins_without_a_device_make_no_till_wait_and_a_manager_lifts_what_they_blocked() {
    let mut chain = TestCluster::new().await;
    let site = chain.store().await;
    let (_, registers) = with_two_tills(&site).await;
    let cashier = person(&chain, &site, "cash", "cashier").await;
    let leader = person(&chain, &site, "lead", "store_manager").await;
    let url = site.process.url.clone();
    let device = |host| Device::at(host, &url, &site.id);
    let manager = Client::new(&url).with_token(&token(&device(ELSEWHERE).pin(&site.terminal, &leader).await));
    let mut keys = Vec::new();
    for (register, name) in registers.iter().zip(["Front", "Back"]) {
        let body = json!({"registerId": register, "name": name});
        keys.push(manager.post("/devices", body).await.data()["deviceKey"].clone());
    }

    // From an address of their own, and from that of the tills: they plugged into the same switch.
    for host in [LAPTOP, TILLS] {
        let known = (0..96).map(|number| if number % 2 == 0 { site.terminal.clone() } else { "T2".to_owned() });
        let made_up = (0..1000).map(|number| format!("made up {number}"));
        let looked_at = device(host).guesses(known.chain(made_up)).await;
        // Three without a wait; a slow machine lets some of the short waits pass meanwhile.
        assert!((3..=8).contains(&looked_at), "{looked_at} of 1096 were looked at");
    }

    for (key, terminal) in keys.iter().zip([site.terminal.as_str(), "T2"]) {
        token(&device(TILLS).with(key).pin(terminal, &cashier).await);
    }
    token(&device(ELSEWHERE).pin("T2", &cashier).await);

    // One of the guesser's own tries more makes it sure that they are blocked now.
    while device(LAPTOP).pin("T2", "000000000").await.0 == 401 {}
    let locks = manager.get("/auth/locks").await.data();
    let lock = locks.as_array().expect("a list").iter().find(|lock| lock["label"] == "127.0.0.66").expect("a lock");
    assert_eq!(lock["kind"], "unknown_devices");
    assert_eq!(manager.post("/auth/unlock", json!({"id": lock["id"]})).await.status, 204);
    token(&device(LAPTOP).pin("T2", &cashier).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cashier_of_one_till_has_no_way_into_the_drawer_of_another() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1999).await;
    let site = chain.store().await;
    let (admin, registers) = with_two_tills(&site).await;
    site.knows(&admin, &product, None).await;
    let pin = person(&chain, &site, "cash", "cashier").await;
    let url = site.process.url.clone();
    let at_hand = Device::at(TILLS, &url, &site.id);
    let beside = Client::new(&url).with_token(&token(&at_hand.pin("T2", &pin).await));
    let card = admin.get("/tenders").await.data();
    let card =
        card.as_array().expect("a list").iter().find(|tender| tender["code"] == "CARD").expect("card")["id"].clone();
    let sale = |terminal: &str| {
        json!({
            "id": Uuid::now_v7(), "terminalId": terminal, "lines": [{"productId": product, "quantity": 1}],
            "payments": [{"tenderId": card}],
        })
    };
    let sold = async || admin.get("/pos/sales").await.data().as_array().map(Vec::len);
    assert_eq!(beside.post("/pos/sales", sale(&site.terminal)).await.refused(403), "wrong_terminal");
    assert_eq!(sold().await, Some(0));
    let third = json!({"code": "03", "name": "Side", "terminalId": "T3"});
    let third = id(&admin.post("/registers", third).await.data());
    let opened = beside.post(&format!("/registers/{third}/open"), json!({})).await;
    assert_eq!(opened.refused(403), "wrong_terminal");
    let session = id(&admin.get(&format!("/register-sessions/current?terminalId={}", site.terminal)).await.data());
    assert_eq!(beside.post(&format!("/register-sessions/{session}/close"), json!({})).await.refused(403), "forbidden");
    // Their own is theirs.
    beside.post(&format!("/registers/{}/open", registers[1]), json!({})).await.data();
    beside.post("/pos/sales", sale("T2")).await.data();
    assert_eq!(sold().await, Some(1));
}

/// A sign-in with a PIN alone on a connection of its own, without a reader of the answer.
async fn sent(site: &TestStore, terminal: &str, pin: &str) -> TcpStream {
    let address = site.process.url.trim_start_matches("http://");
    let body = json!({"pin": pin, "storeId": site.id, "terminalId": terminal}).to_string();
    let request = format!(
        "POST /api/v1/auth/pin-login HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len(),
    );
    let mut line = TcpStream::connect(address).await.expect("a connection");
    line.write_all(request.as_bytes()).await.expect("sent");
    line
}

#[tokio::test(flavor = "multi_thread")]
async fn guesses_of_clients_that_hang_up_are_judged_all_the_same() {
    let mut chain = TestCluster::new().await;
    let site = chain.store().await;
    let manager = site.open_till().await;
    let mut lines = Vec::new();
    for number in 0..20 {
        lines.push(sent(&site, &format!("T{number}"), "000000000").await);
    }
    // What is hung up on before it is begun is nothing to anybody.
    let conn = Db::open_to_read(&site.process.database()).await.expect("the database");
    eventually("the first one is begun", async || {
        let begun = query(&conn, "SELECT id FROM pin_attempts WHERE kind = 'unknown_devices'", []).await;
        (!begun.expect("rows").is_empty()).then_some(())
    })
    .await;
    drop(lines);
    let lock = eventually("what they guessed is blocked", async || {
        let locks = manager.get("/auth/locks").await.data();
        locks.as_array()?.iter().find(|lock| lock["kind"] == "unknown_devices").cloned()
    })
    .await;
    assert!(lock["wrongToday"].as_i64().is_some_and(|wrong| (3..=8).contains(&wrong)), "{lock}");
}

#[tokio::test(flavor = "multi_thread")]
async fn sign_ins_under_way_when_a_store_is_killed_count_for_nothing() {
    let mut chain = TestCluster::new().await;
    let mut site = chain.store().await;
    let pin = person(&chain, &site, "cash", "cashier").await;
    let database = site.process.database();
    let mut struck = false;
    for _ in 0..10 {
        let mut lines = Vec::new();
        for number in 0..3 {
            lines.push(sent(&site, &format!("T{number}"), &pin).await);
        }
        // Between the moment in which they are let in and that in which they are judged.
        let conn = Db::open_to_read(&database).await.expect("the database");
        let all = "SELECT attempt_id FROM pin_attempts_under_way";
        for _ in 0..1000 {
            struck = !query(&conn, all, []).await.expect("rows").is_empty();
            if struck {
                break;
            }
        }
        site.process.kill();
        struck = struck && !query(&conn, all, []).await.expect("rows").is_empty();
        drop(conn);
        site.process.restart();
        if struck {
            break;
        }
    }
    assert!(struck, "it died while a user's PIN was looked at");
    let answer = Device::at(TILLS, &site.process.url, &site.id).pin("T2", &pin).await;
    token(&answer);
    let conn = Db::open_to_read(&database).await.expect("the database");
    // Those of another address are taken back by the server itself.
    let counted = "SELECT id FROM pin_attempts WHERE wrong_today > 0 OR in_a_row > 0";
    eventually("nothing counts", async || query(&conn, counted, []).await.expect("rows").is_empty().then_some(()))
        .await;
}
