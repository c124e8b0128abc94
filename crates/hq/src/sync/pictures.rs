//! `GET /sync/pictures/{hash}`: a store fetches the picture of a product when a till asks for it first. An extension.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use tillkeep_http::Params;
use tillkeep_http::error::Result;
use tillkeep_http::extract::Segment;
use tillkeep_http::pictures::{OfSize, Picture, is_a_hash, unknown};
use tillkeep_storage::pictures;

use super::store_caller::StoreCaller;
use crate::Hq;

pub(super) async fn picture(
    _: StoreCaller,
    State(hq): State<Arc<Hq>>,
    Segment(hash): Segment,
    headers: HeaderMap,
    Params(asked): Params<OfSize>,
) -> Result<Picture> {
    let size = asked.size()?;
    if !is_a_hash(&hash) {
        return Err(unknown());
    }
    let content = pictures::find(hq.sync_db().reader(), &hash, size).await?.ok_or_else(unknown)?;
    Picture::new(&headers, (&hash, size), &content, true)
}
