//! What people do at headquarters is in its audit log.

use axum::body::Body;
use axum::http::{Request, header};
use tillkeep_http::routes::Protection;
use tillkeep_storage::entity::audit_log::{Column, Entity};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};

use crate::good_requests::Scene;
use crate::kit::as_sent;

/// They only reckon.
const PREVIEWS: [&str; 2] = ["/specials/preview", "/taxes/preview"];

#[tokio::test]
async fn what_a_person_does_has_a_line_in_the_audit_log() {
    let scene = Scene::new().await;
    let server = scene.world.at_hq();
    let lines = async || {
        let own = Entity::find().filter(Column::UserId.eq(scene.world.admin));
        own.count(server.db.reader()).await.expect("a count")
    };
    let mut acted = 0;
    let posts = server.routes.iter().filter(|route| route.method == "POST" && !PREVIEWS.contains(&route.path));
    for (place, route) in posts.filter(|route| matches!(route.protection, Protection::User(_))).enumerate() {
        let Some((path, body)) = scene.request(server, route.path, 200 + place).await else { continue };
        let before = lines().await;
        let (kind, text) = as_sent(&path, &body);
        let request = Request::post(format!("/api/v1{path}"))
            .header(header::AUTHORIZATION, format!("Bearer {}", scene.token(server)))
            .header(header::CONTENT_TYPE, kind);
        let got = server.send(request.body(Body::from(text)).expect("a request")).await;
        assert!((200..300).contains(&got.status), "POST {}: {}", route.path, got.text);
        // A row has a line of its own beside that of its file.
        let expected = if route.path.ends_with("/import") { 2 } else { 1 };
        assert_eq!(lines().await, before + expected, "POST {}", route.path);
        acted += 1;
    }
    assert!(acted >= 15, "{acted} routes did something");
}
