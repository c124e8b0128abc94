//! `GET /pos/pictures/{hash}`: the picture of a product. This store has those that were asked for here; another one it fetches
//! from headquarters, and without a line there is none until there is one.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::extract::Segment;
use tillkeep_http::pictures::{OfSize, Picture, is_a_hash, row, unknown};
use tillkeep_http::{Caller, Params};
use tillkeep_model::permission::code::PosSell;
use tillkeep_storage::pictures;
use tokio::sync::Semaphore;

use crate::Store;

/// Pictures that are kept here; some 20 KB each at the most.
const MOST: u64 = 4000;
/// How many are fetched at a time: a till that shows forty asks for all of them at once, over the line that sales go by.
static FETCHES: Semaphore = Semaphore::const_new(4);

pub(crate) async fn picture(
    caller: Caller<PosSell>,
    State(store): State<Arc<Store>>,
    Segment(hash): Segment,
    headers: HeaderMap,
    Params(asked): Params<OfSize>,
) -> Result<Picture> {
    let size = asked.size()?;
    if !is_a_hash(&hash) {
        return Err(unknown());
    }
    let content = match pictures::find(caller.reader(), &hash, size).await? {
        Some(content) => content,
        // Of a product that is here, so that nobody has this server ask for whatever they like.
        None if pictures::is_named(caller.reader(), &hash).await? => fetched(&caller, &store, &hash, size).await?,
        None => return Err(unknown()),
    };
    Picture::new(&headers, (&hash, size), &content, true)
}

/// It comes from headquarters, and is kept.
async fn fetched(caller: &Caller<PosSell>, store: &Store, hash: &str, size: i32) -> Result<String> {
    let _turn = FETCHES.acquire().await.map_err(Error::internal)?;
    // Somebody may have asked for it meanwhile.
    if let Some(content) = pictures::find(caller.reader(), hash, size).await? {
        return Ok(content);
    }
    let jpeg = store.hq.picture(&store.sync, hash, size).await.ok_or_else(unknown)?;
    let picture = row(hash, size, &jpeg, caller.now());
    let content = picture.content.clone();
    let kept = store.by_itself(move |tx| {
        Box::pin(async move {
            pictures::keep(tx, picture).await?;
            pictures::forget_beyond(tx, MOST).await
        })
    });
    if let Err(error) = kept.await {
        tracing::warn!(%error, "a picture is not kept");
    }
    Ok(content)
}
