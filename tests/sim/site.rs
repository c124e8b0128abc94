//! What headquarters and stores have in common: a directory that outlives the server, copies of it, and a user who is
//! signed in without the cost of a PIN.

use std::fs;
use std::path::{Path, PathBuf};

use axum::Router;
use axum::body::Body;
use axum::http::{Request, header};
use http_body_util::BodyExt;
use serde_json::Value as Json;
use tillkeep_http::Auth;
use tillkeep_http::tokens::{ACCESS, AccessClaims};
use tillkeep_storage::entity::session;
use tillkeep_storage::sea_orm::{ActiveModelTrait, IntoActiveModel};
use tillkeep_storage::{Db, DbErr};
use tower::ServiceExt;
use uuid::Uuid;

/// Longer than any run, however the clocks jump.
const LONG_MS: i64 = 100 * 365 * 24 * 3_600_000;

/// An access token of a new session of `user_id`.
pub async fn sign_in(auth: &Auth, db: &Db, user_id: Uuid, store_id: Option<Uuid>) -> Result<String, DbErr> {
    let now = auth.clock.now();
    let row = session::Model {
        id: Uuid::now_v7(),
        user_id,
        store_id,
        issued_at: now,
        expires_at: now.plus_millis(LONG_MS),
        factor_at: Some(now),
        ..session::Model::default()
    };
    let claims = AccessClaims {
        user_id,
        username: "tester".to_owned(),
        store_id,
        terminal_id: None,
        kind: ACCESS.to_owned(),
        sid: row.id,
        iat: now.millis() / 1000,
        exp: (now.millis() + LONG_MS) / 1000,
        jti: Uuid::now_v7(),
    };
    let tx = db.begin().await?;
    row.into_active_model().insert(&tx).await?;
    tx.commit().await?;
    Ok(auth.tokens.sign_access(&claims).expect("a key"))
}

/// A request of a person; the status and the JSON of the answer.
pub async fn call(router: &Router, token: &str, method: &str, path: &str, body: Option<Json>) -> (u16, Json) {
    let request = Request::builder()
        .method(method)
        .uri(format!("/api/v1{path}"))
        .header(header::AUTHORIZATION, format!("Bearer {token}"))
        .header(header::CONTENT_TYPE, "application/json");
    let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
    let answer = router.clone().oneshot(request.body(body).expect("a request")).await.expect("an answer");
    let status = answer.status().as_u16();
    let bytes = answer.into_body().collect().await.expect("a body").to_bytes();
    (status, serde_json::from_slice(&bytes).unwrap_or_default())
}

/// What to say of an answer in the log.
pub fn outcome((status, body): &(u16, Json)) -> String {
    format!("{status} {}", body["code"].as_str().unwrap_or_default())
}

/// The files of the database in `dir`, while its server is closed, and that of its last numbers: the whole disk is
/// restored, so that headquarters alone knows what was given since.
fn files(dir: &Path) -> Vec<PathBuf> {
    ["tillkeep.db", "tillkeep.db-wal", "tillkeep.db-shm", "numbers"].iter().map(|name| dir.join(name)).collect()
}

/// Keeps a copy of the database in `dir`.
pub fn copy(dir: &Path) {
    let aside = dir.join("copy");
    fs::create_dir_all(&aside).expect("a directory");
    put(dir, &aside);
}

/// Puts the database in `dir` back to its copy; false when there is none.
pub fn restore(dir: &Path) -> bool {
    let aside = dir.join("copy");
    let there = aside.join("tillkeep.db").exists();
    if there {
        put(&aside, dir);
    }
    there
}

/// Removes the database in `dir`.
pub fn remove(dir: &Path) {
    for file in files(dir) {
        drop(fs::remove_file(file));
    }
}

fn put(from: &Path, to: &Path) {
    remove(to);
    for (from, to) in files(from).iter().zip(files(to)) {
        if from.exists() {
            fs::copy(from, to).expect("a copy");
        }
    }
}

/// Closes a database after its server is gone.
pub async fn close(db: Db) {
    db.close().await.expect("the database closes");
}
