//! Second factors at two servers of one headquarters, which share nothing but the database.

use std::net::SocketAddr;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, header};
use serde_json::{Value as Json, json};

use super::{another, answered};
use crate::backoffice::factors::{PIN, chief, login, noted, set_up, signed_in};
use crate::backoffice::kit::{Kit, Person};
use crate::backoffice::passkeys::{Authenticator, ORIGIN};

const HERE: &str = "192.0.2.1";

async fn post(router: &Router, who: Option<&Person>, path: &str, body: Json) -> (u16, Json) {
    let mut request = Request::post(format!("/api/v1{path}"))
        .header(header::CONTENT_TYPE, "application/json")
        .extension(ConnectInfo(SocketAddr::from(([192, 0, 2, 2], 40_000))));
    if let Some(who) = who {
        request = request.header(header::AUTHORIZATION, format!("Bearer {}", who.token));
    }
    answered(router, request.body(Body::from(body.to_string())).expect("a request")).await
}

async fn login_at(router: &Router, more: Json) -> (u16, Json) {
    let mut body = json!({"username": "chief", "pin": PIN});
    for (key, value) in more.as_object().into_iter().flatten() {
        body[key] = value.clone();
    }
    post(router, None, "/auth/login", body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_servers_that_are_shown_one_code_or_answer_at_one_moment_one_takes_it() {
    let kit = Kit::new().await;
    let (_, id) = chief(&kit).await;
    let chief = signed_in(id, login(&kit, json!({}), HERE).await);
    let (app, codes) = set_up(&kit, &chief).await;
    let authenticator = Authenticator::new("localhost");
    authenticator.set_up(&kit, &chief, "key").await;
    let (_other, elsewhere) = another(&kit).await;
    let mut shown_so_far = noted(&kit, "factor.used").await.len();
    for round in 0..3 {
        let asked = login(&kit, json!({}), HERE).await.body["challenge"].clone();
        let shown = authenticator.shown(&asked["passkey"], ORIGIN, round + 1);
        let code = &codes[usize::try_from(round).expect("small")];
        kit.clock.advance(5_000);
        let bodies: [&dyn Fn() -> Json; 3] = [
            &|| json!({"challenge": asked["id"], "passkey": shown}),
            // The one of this moment.
            &|| json!({"code": app.code(&kit, 0)}),
            &|| json!({"code": code}),
        ];
        for body in bodies {
            let body = body();
            let (here, there) = tokio::join!(login(&kit, body.clone(), HERE), login_at(&elsewhere, body));
            shown_so_far += 1;
            let let_in = [here.status, there.0].iter().filter(|status| **status == 200).count();
            assert_eq!(let_in, 1, "{} {} {} {}", here.status, here.text, there.0, there.1);
            assert_eq!(noted(&kit, "factor.used").await.len(), shown_so_far);
            kit.clock.advance(60_000);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confirmation_at_one_server_is_good_at_the_other_at_once() {
    let kit = Kit::new().await;
    let (_, id) = chief(&kit).await;
    let chief = signed_in(id, login(&kit, json!({}), HERE).await);
    let (_other, elsewhere) = another(&kit).await;
    kit.clock.advance(16 * 60_000);
    let role = |code: &str| json!({"code": code, "name": code, "permissions": []});
    let (status, said) = post(&elsewhere, Some(&chief), "/roles", role("one")).await;
    assert_eq!((status, &said["code"]), (403, &json!("second_factor_stale")));
    kit.post(&chief, "/auth/confirm", json!({"pin": PIN})).await.is(200);
    let (status, said) = post(&elsewhere, Some(&chief), "/roles", role("one")).await;
    assert_eq!(status, 201, "{said}");
}
