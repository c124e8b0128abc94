//! The text of an answer: rows are texts already when they are read.

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use tillkeep_storage::pull::Page;
use tillkeep_storage::registry::SyncType;
use tillkeep_storage::rows::Unread;
use uuid::Uuid;

use crate::Hq;

pub(super) fn head(entity: &SyncType, since: i64) -> String {
    format!("{{\"entity_type\":\"{}\",\"since_version\":{since},\"rows\":[", entity.name)
}

pub(super) fn tail(page: &Page, epoch: &str, tag: Option<Uuid>, total: Option<i64>, left_out: &[Uuid]) -> String {
    let tag = tag.map(|tag| format!(",\"tag\":\"{tag}\"")).unwrap_or_default();
    let total = total.map(|total| format!(",\"total\":{total}")).unwrap_or_default();
    let ids: Vec<String> = left_out.iter().map(|id| format!("\"{id}\"")).collect();
    let left_out = if ids.is_empty() { String::new() } else { format!(",\"left_out\":[{}]", ids.join(",")) };
    let Page { latest, has_more, .. } = page;
    format!("],\"latest_version\":{latest},\"has_more\":{has_more},\"epoch\":\"{epoch}\"{tag}{total}{left_out}}}")
}

pub(super) fn ids(left_out: &[Unread]) -> impl Iterator<Item = Uuid> {
    left_out.iter().filter_map(|row| row.id)
}

pub(super) fn json(body: Body) -> Response {
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    ([kind], body).into_response()
}

pub(super) fn whole(
    hq: &Hq,
    entity: &SyncType,
    since: i64,
    page: &Page,
    tag: Option<Uuid>,
    total: Option<i64>,
) -> String {
    let mut text = head(entity, since);
    text.push_str(&page.rows.join(","));
    text.push_str(&tail(page, &hq.epoch, tag, total, &ids(&page.left_out).collect::<Vec<_>>()));
    text
}
