//! A finder proposes PINs until one is refused that is not weak: it is another user's. Both ways succeeded once.

use serde_json::{Value, json};
use tillkeep_http::pins;

use crate::kit::{ADMIN, Client, Program, TestCluster, id};

/// A user who makes accounts and gives new PINs, as `kim`.
async fn keeper(chain: &TestCluster) -> (Value, Client) {
    let codes = ["users.view", "users.create", "users.edit", "users.manage_roles"];
    let role = json!({"code": "keeper", "name": "Keeper", "permissions": codes});
    let role = chain.admin.post("/roles", role).await.data()["id"].clone();
    let pin = pins::generate(pins::SHORTEST);
    chain.person("kim", &pin, json!([{"roleId": role}])).await;
    let client = Client::new(&chain.hq.url).sign_in("kim", &pin).await.expect("a sign-in");
    (role, client)
}

/// Account `name`, made by `maker`, proposes `pin`: the answer, and the PIN that was made for it.
async fn proposes(chain: &TestCluster, maker: &Client, role: &Value, name: &str, pin: &str) -> (u16, String) {
    let body = json!({"username": name, "displayName": name, "assignments": [{"roleId": role}]});
    let made = maker.post("/users", body).await.data();
    let first = made["generatedPin"].as_str().expect("a PIN").to_owned();
    let account = Client::new(&chain.hq.url).sign_in(name, &first).await.expect("a sign-in");
    let got = account.post("/auth/change-pin", json!({"currentPin": first, "newPin": pin})).await;
    (got.status.as_u16(), first)
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_hits_upon_an_administrators_pin_does_not_become_that_administrator() {
    let mut chain = TestCluster::new().await;
    let (role, keeper) = keeper(&chain).await;
    let (status, _) = proposes(&chain, &keeper, &role, "finder", ADMIN.1).await;
    assert_eq!(status, 422, "it is another user's, which the finder knows now");
    // They sign in with it, change it before its owner does, and hold everything: not any more.
    let anybody = Client::new(&chain.hq.url);
    let taken = anybody.sign_in(ADMIN.0, ADMIN.1).await;
    if let Some(root) = taken {
        let change = json!({"currentPin": ADMIN.1, "newPin": "605182"});
        root.post("/auth/change-pin", change).await;
        let root = anybody.sign_in(ADMIN.0, "605182").await.expect("the finder's PIN");
        let may = root.get("/auth/me").await.data()["permissions"].as_array().map(Vec::len);
        panic!("the finder is administrator and may {may:?}");
    }
    assert_eq!(chain.admin.get("/auth/me").await.status.as_u16(), 401, "whoever was signed in with it is out");

    // The last administrator comes back by whoever has the machine.
    chain.hq.stop();
    let mut command = std::process::Command::new(Program::This.path());
    command.args(["hq", "--data-dir"]).arg(&chain.hq.dir).args(["reset-pin", ADMIN.0]);
    let output = command.env_clear().output().expect("the program runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let made = text.split(|letter: char| !letter.is_ascii_digit()).find(|word| word.len() == 6).expect("a PIN");
    chain.hq.restart();
    let root = Client::new(&chain.hq.url).sign_in(ADMIN.0, made).await.expect("the new PIN");
    let change = json!({"currentPin": made, "newPin": "926350"});
    assert!(root.post("/auth/change-pin", change).await.status.is_success());
    let root = Client::new(&chain.hq.url).sign_in(ADMIN.0, "926350").await.expect("the own PIN");
    let log = root.get("/audit-log?action=pin.taken").await.data();
    assert_eq!(log[0]["details"]["ended"], "pin", "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn throw_away_accounts_propose_no_more_than_whoever_makes_them() {
    let chain = TestCluster::new().await;
    let (role, keeper) = keeper(&chain).await;
    let mut owned = Vec::new();
    for number in 0..11 {
        let pin = format!("7392{}", 50 + number);
        chain.person(&format!("owner{number}"), &pin, json!([{"roleId": role}])).await;
        owned.push(pin);
    }
    let mut answers = Vec::new();
    for (number, pin) in owned.iter().enumerate() {
        answers.push(proposes(&chain, &keeper, &role, &format!("t{number}"), pin).await.0);
    }
    assert_eq!(answers, [&[422; 10][..], &[429]].concat(), "ten a day for all of them");
    // A new PIN for one of them, and a lifted lock, begin nothing anew.
    let subordinate = id(&keeper.get("/users?search=t3").await.data()[0]);
    let made = keeper.post(&format!("/users/{subordinate}/pin"), json!({})).await.data();
    let first = made["generatedPin"].as_str().expect("a PIN");
    let account = Client::new(&chain.hq.url).sign_in("t3", first).await.expect("a sign-in");
    let change = json!({"currentPin": first, "newPin": owned[10]});
    assert_eq!(account.post("/auth/change-pin", change.clone()).await.refused(429), "too_many_attempts");
    let locks = keeper.get("/auth/locks?pageSize=100").await.data();
    for lock in locks.as_array().expect("a list") {
        assert_eq!(keeper.post("/auth/unlock", json!({"id": lock["id"]})).await.refused(403), "scope", "{lock}");
    }
    assert_eq!(account.post("/auth/change-pin", change).await.refused(429), "too_many_attempts");
    let client = Client::new(&chain.hq.url);
    assert!(client.sign_in("owner10", &owned[10]).await.is_some(), "theirs was not looked at");
}
