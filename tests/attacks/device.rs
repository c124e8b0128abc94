//! A device at an address of the shop's network, with or without the key of an enrolled till.

use std::net::{IpAddr, Ipv4Addr};

use futures_util::StreamExt;
use serde_json::{Value, json};
use tillkeep_http::pins;

use crate::kit::{TestCluster, TestStore, eventually};

/// Requests that are under way at once.
const AT_ONCE: usize = 64;

pub struct Device {
    http: reqwest::Client,
    url: String,
    store: String,
    key: Option<String>,
}

impl Device {
    /// At 127.0.0.`host`.
    pub fn at(host: u8, url: &str, store: &str) -> Self {
        let address = IpAddr::V4(Ipv4Addr::new(127, 0, 0, host));
        let http = reqwest::Client::builder().no_proxy().local_address(address).build().expect("a client");
        Self { http, url: format!("{url}/api/v1"), store: store.to_owned(), key: None }
    }

    pub fn with(self, key: &Value) -> Self {
        Self { key: key.as_str().map(str::to_owned), ..self }
    }

    /// What a PIN alone is answered, for a store and a till of these names, forwarded for `client`.
    pub async fn forwarded(&self, store: &str, terminal: &str, pin: &str, client: Option<&str>) -> (u16, Value) {
        let body = json!({"pin": pin, "storeId": store, "terminalId": terminal});
        let mut request = self.http.post(format!("{}/auth/pin-login", self.url)).json(&body);
        if let Some(key) = &self.key {
            request = request.header("tillkeep-device", key);
        }
        if let Some(client) = client {
            request = request.header("x-forwarded-for", client);
        }
        let answer = request.send().await.expect("an answer");
        (answer.status().as_u16(), answer.json().await.expect("JSON"))
    }

    pub async fn pin(&self, terminal: &str, pin: &str) -> (u16, Value) {
        self.forwarded(&self.store, terminal, pin, None).await
    }

    /// How many of wrong PINs at made-up tills were looked at, sent as fast as they go.
    pub async fn guesses(&self, terminals: impl Iterator<Item = String>) -> usize {
        let asked = terminals.map(|terminal| async move { self.pin(&terminal, "000000000").await.0 });
        let statuses: Vec<u16> = futures_util::stream::iter(asked).buffer_unordered(AT_ONCE).collect().await;
        assert!(statuses.iter().all(|status| [401, 429].contains(status)), "{statuses:?}");
        statuses.iter().filter(|status| **status == 401).count()
    }
}

/// A user with a default role in a store, and the PIN that they chose, once the store knows it.
pub async fn person(chain: &TestCluster, site: &TestStore, name: &str, role: &str) -> String {
    let roles = chain.admin.get("/roles").await.data();
    let role =
        roles.as_array().expect("a list").iter().find(|row| row["code"] == role).expect("the role")["id"].clone();
    let pin = pins::generate(pins::SHORTEST);
    let user = chain.person(name, &pin, json!([{"roleId": role, "storeId": site.id}])).await;
    let admin = site.admin().await;
    eventually("the store knows them", async || {
        let found = admin.get(&format!("/users/{user}")).await;
        (found.status.is_success()).then_some(())
    })
    .await;
    chain.caught_up(site, &admin).await;
    pin
}
