//! The picture of a product, from the browser that uploads it to the till of a store.

use axum::body::Body;
use axum::http::{Request, header};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use uuid::Uuid;

use crate::good_requests::Scene;
use crate::kit::{Got, Server, until};

/// A PNG of two pixels.
const FILE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAADUlEQVR4nGM4IQcEJwAHIwIJ5FiIOQAAAABJRU5ErkJggg==";

/// Gives a product a picture, as a browser does.
pub async fn upload(server: &Server, token: &str, product: Uuid) -> Got {
    let request = Request::put(format!("/api/v1/products/{product}/picture"))
        .header(header::AUTHORIZATION, format!("Bearer {token}"))
        .header(header::CONTENT_TYPE, "image/png");
    let file = STANDARD.decode(FILE).expect("base64");
    server.send(request.body(Body::from(file)).expect("a request")).await
}

#[tokio::test]
async fn a_picture_that_is_uploaded_at_headquarters_is_fetched_by_the_store_whose_till_asks_for_it() {
    let scene = Scene::new().await;
    let (hq, store) = (scene.world.at_hq(), scene.world.at_store());
    let shown = upload(hq, scene.token(hq), scene.product).await.data();
    let hash = shown["pictureHash"].as_str().expect("a hash");
    let product = format!("/products/{}", scene.product);
    until("the store has heard of it", async || {
        store.get(scene.token(store), &product).await.data()["pictureHash"] == hash
    })
    .await;
    for (query, status) in [("", 200), ("?size=96", 200), ("?size=97", 422)] {
        let got = store.get(scene.token(store), &format!("/pos/pictures/{hash}{query}")).await;
        assert_eq!((got.status, got.text.contains("JFIF")), (status, status == 200), "{query}");
    }
    let unknown = store.get(scene.token(store), &format!("/pos/pictures/{}", "0".repeat(32))).await;
    assert_eq!((unknown.status, unknown.code()), (404, "not_found"));
}
