//! A thief who found out the PIN of an administrator with a second factor.

use serde_json::{Value, json};
use tillkeep_http::routes::Protection;
use tillkeep_model::permission;
use totp_rs::{Builder, Secret};

use crate::device::Device;
use crate::kit::{ADMIN, Client, TestCluster, eventually};

/// The code of an app at this moment.
fn code(secret: &Value) -> String {
    let secret = Secret::try_from_base32(secret.as_str().expect("a secret")).expect("base32");
    let app = Builder::new().with_secret(secret).with_account_name("root").build().expect("an app");
    app.generate_current().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pin_of_an_administrator_with_a_second_factor_opens_nothing_beyond_a_store() {
    let mut chain = TestCluster::new().await;
    let site = chain.store().await;
    let begun = chain.admin.post("/auth/factors/totp", json!({})).await.data();
    let path = format!("/auth/factors/totp/{}", begun["id"].as_str().expect("an id"));
    chain.admin.post(&path, json!({"code": code(&begun["secret"])})).await.data();

    let stranger = Client::new(&chain.hq.url);
    let by_name = stranger.post("/auth/login", json!({"username": ADMIN.0, "pin": ADMIN.1})).await;
    assert_eq!(by_name.refused(401), "second_factor_required");
    assert!(!by_name.text.contains("Token"), "{}", by_name.text);

    let (status, found) = Device::at(1, &chain.hq.url, &site.id).pin("T1", ADMIN.1).await;
    assert_eq!(status, 200, "{found}");
    let finder = stranger.with_token(found["data"]["accessToken"].as_str().expect("a token"));
    let mut tried = 0;
    for route in tillkeep_hq::routes::table(&[]).1 {
        let Protection::User(codes) = &route.protection else { continue };
        let is_beyond = !codes.is_empty() && codes.iter().all(|code| permission::is_beyond_a_store(code));
        if !is_beyond {
            continue;
        }
        let path = route.path.split('/').map(|part| if part.starts_with('{') { site.id.as_str() } else { part });
        let path = path.collect::<Vec<_>>().join("/");
        let method = route.method.parse().expect("a method");
        let body = (!["GET", "DELETE"].contains(&route.method)).then(|| json!({}));
        let got = finder.call(method, &path, body).await;
        assert_eq!(got.refused(403), "forbidden", "{} {}", route.method, route.path);
        tried += 1;
    }
    assert!(tried > 50, "only {tried} routes");
    // Nor does the PIN give itself a second factor, or take the one away.
    assert_eq!(finder.post("/auth/factors/totp", json!({})).await.refused(403), "second_factor_stale");
    assert_eq!(finder.post("/auth/confirm", json!({"pin": ADMIN.1})).await.refused(401), "second_factor_required");
    // At the store it is a PIN as ever, once there is a line to ask headquarters: no user is asked for more at a till.
    let till = Device::at(1, &site.process.url, &site.id);
    let said = eventually("the PIN opens the till", async || {
        let (status, said) = till.pin(&site.terminal, ADMIN.1).await;
        (status == 200).then_some(said)
    });
    let token = said.await["data"]["accessToken"].as_str().expect("a token").to_owned();
    let here = Client::new(&site.process.url).with_token(&token);
    here.get("/auth/me").await.data();
}
